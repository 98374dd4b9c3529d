"""Pictures of an audience: a code and a tray for who presents, where the server was told to take them."""

from io import BytesIO

import cv2
import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from pages.views.common import access
from pages.views.common.access import audience_lacks
from pages.views.common.page_head import code_svg
from pages.views.probe_lab.lab_state import Upload, shared
from tests.pages.opening import LAB, Open, texts

ADDRESS = "https://lab.example.org/probe_lab?source=upload&give=yes"
ABOUT = {"item": "frog-1-10-20", "probes": "vflip", "evaluators": "conse-lite0", "present": "yes"}


@pytest.fixture
def switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("AUDIENCE", "yes"), ("VIEWER_UPLOADS", "yes"), ("PUBLIC_URL", "https://lab.example.org")):
        monkeypatch.setenv(f"INVARISCOPE_{name}", value)


def png(seed: int) -> bytes:
    buffer = BytesIO()
    Image.fromarray(np.random.default_rng(seed).integers(0, 255, (60, 80, 3), np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def give(app: AppTest, seed: int) -> AppTest:
    return app.file_uploader[0].set_value((f"phone-{seed}.png", png(seed), "image/png")).run()


def keys(app: AppTest) -> list[str]:
    return [str(each.key) for each in app.button if each.key]


def test_the_code_is_read_as_the_address() -> None:
    svg = code_svg(ADDRESS)
    resvg = pytest.importorskip("resvg_py")
    drawn = np.asarray(Image.open(BytesIO(bytes(resvg.svg_to_bytes(svg_string=svg, width=400, dpi=96)))).convert("RGB"))
    assert cv2.QRCodeDetector().detectAndDecode(drawn)[0] == ADDRESS


def test_nothing_of_it_is_there_unless_it_is_switched_on(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INVARISCOPE_AUDIENCE", raising=False)
    app = open_page(LAB, **ABOUT)
    assert "lab.audience.again" not in keys(app)
    phone = give(open_page(LAB, source="upload", give="yes", probes="vflip", evaluators=""), 1)
    assert "given to whoever presents" not in texts(phone)
    assert not shared().uploads.given()


@pytest.mark.usefixtures("switched_on")
def test_what_is_uploaded_by_the_code_alone_is_given_and_opened_from_the_tray(open_page: Open) -> None:
    give(open_page(LAB, source="upload", probes="vflip", evaluators=""), 1)
    assert not shared().uploads.given()
    phone = give(open_page(LAB, source="upload", give="yes", probes="vflip", evaluators=""), 2)
    assert not phone.exception
    assert "given to whoever presents" in texts(phone)
    ((key, name, _),) = shared().uploads.given()
    assert name == "phone-2.png"

    app = open_page(LAB, **ABOUT)
    assert ADDRESS in texts(app).replace("\\", "")
    app.button(key=f"lab.audience.open.{key}").click().run()
    assert not app.exception
    assert app.query_params["upload"] == key
    assert "80 × 60 px" in texts(app)


@pytest.mark.usefixtures("switched_on")
def test_the_presenter_takes_a_picture_from_the_tray(open_page: Open) -> None:
    pixels = np.zeros((40, 40, 3), np.uint8)
    shared().uploads.put("9" * 32, Upload.of("x.png", pixels, ()), name="x.png", size=pixels.nbytes, owner="a phone")
    shared().uploads.give("9" * 32)
    app = open_page(LAB, **ABOUT)
    app.button(key=f"lab.audience.remove.{'9' * 32}").click().run()
    assert not shared().uploads.given()
    assert f"lab.audience.open.{'9' * 32}" not in keys(app.run())


@pytest.mark.usefixtures("switched_on")
def test_what_is_still_to_be_set_is_named_in_the_place_of_the_code(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert audience_lacks() == ()
    monkeypatch.delenv("INVARISCOPE_PUBLIC_URL")
    monkeypatch.delenv("INVARISCOPE_VIEWER_UPLOADS")
    assert audience_lacks() == ("INVARISCOPE_PUBLIC_URL=https://…", "INVARISCOPE_VIEWER_UPLOADS=yes")
    app = open_page(LAB, **ABOUT)
    assert "No phone could give a picture yet" in texts(app)


@pytest.mark.usefixtures("switched_on")
def test_a_viewer_sees_neither_code_nor_tray(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_local", lambda: False)
    app = open_page(LAB, **ABOUT)
    assert not app.exception
    assert "lab.present.clean" in keys(app)
    assert "lab.audience.again" not in keys(app)

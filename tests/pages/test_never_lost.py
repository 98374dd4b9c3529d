"""What a reader chose on a page is there when they come back to it by the menu, until they start over."""

from streamlit.testing.v1 import AppTest

from core.features.feature import address
from core.settings import cache_dir
from pages.views.probe_lab.lab_state import shared
from tests.pages.opening import LAB, WORDS, Open, texts
from tests.pages.test_probe_lab import png, upload


def away_and_back(app: AppTest, page: str = LAB) -> AppTest:
    """To another page and back, as by the menu: its links ask for nothing."""
    for each in (WORDS, page):
        app.query_params.clear()
        app.switch_page(address(each)[0]).run()
    return app


def test_a_page_opened_by_the_menu_is_as_it_was_left(open_page: Open) -> None:
    app = open_page(LAB, subject="free", caption="a quiet street", probes="hflip", evaluators="", box="5,5,20,20")
    app = away_and_back(app)
    assert not app.exception
    assert app.text_area(key="lab.caption").value == "a quiet street"
    assert app.text_input(key="lab.box").value == "5,5,20,20"
    assert app.query_params["probes"] == "hflip"


def test_the_menus_link_to_the_page_that_is_open_changes_nothing(open_page: Open) -> None:
    app = open_page(LAB, probes="hflip", evaluators="")
    app.query_params.clear()
    app.run()
    assert app.query_params["probes"] == "hflip"


def test_a_link_that_asks_for_something_is_followed_to_the_letter(open_page: Open) -> None:
    app = open_page(LAB, subject="free", caption="a quiet street", probes="hflip", evaluators="")
    app.query_params.clear()
    app.switch_page(address(WORDS)[0]).run()
    app.query_params.clear()
    app.query_params["evaluators"] = ""
    app.switch_page(address(LAB)[0]).run()
    assert "caption" not in app.query_params
    assert app.session_state["lab.subject"] == "template"


def test_starting_over_lasts_too(open_page: Open) -> None:
    app = open_page(LAB, subject="free", caption="a quiet street", probes="hflip", evaluators="")
    app.button(key="lab.reset").click()
    app.session_state["lab.evaluators"] = []
    app.run()
    app.session_state["lab.evaluators"] = []
    app = away_and_back(app)
    assert "quiet" not in texts(app)
    assert "caption" not in app.query_params


def test_an_upload_outlives_the_server(open_page: Open) -> None:
    app = upload(open_page(LAB, evaluators="", probes="vflip"), png())
    key = app.query_params["upload"]
    assert (cache_dir() / "lab_uploads" / key).is_file()
    shared.clear()  # as a server that was started anew
    again = open_page(LAB, source="upload", upload=key, evaluators="", probes="vflip")
    assert "80 × 60 px" in texts(again)
    assert not again.warning
    (cache_dir() / "lab_uploads" / key).unlink()
    shared.clear()
    gone = open_page(LAB, source="upload", upload=key, evaluators="", probes="vflip")
    assert "keeps one for a day" in texts(gone)

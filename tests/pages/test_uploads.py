"""Uploads belong to their session: each has a quota, and a newcomer takes nobody's picture."""

from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from streamlit.runtime.caching import cache_resource_api
from streamlit.testing.v1 import AppTest

from core.errors import NotAvailable
from pages.views.common import reader_uploads
from pages.views.common.reader_uploads import AWAY_S, LEAVING, Uploads, let_go
from pages.views.probe_lab.lab_state import SESSION_PICTURES, shared
from tests.pages.opening import LAB, Open, texts

MB = 1 << 20


class Clock:
    now = 0.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


def shelf(clock: Clock | None = None, *, each: int = 2, each_mb: float = 10, total_mb: float = 20) -> Uploads[str]:
    return Uploads(each=each, each_mb=each_mb, total_mb=total_mb, idle_s=60, clock=clock or Clock())


def test_a_session_loses_its_own_oldest_and_nobody_elses() -> None:
    uploads = shelf()
    uploads.put("x", "X", name="x.png", size=MB, owner="other")
    assert [uploads.put(key, key, name=f"{key}.png", size=MB, owner="me") for key in "abc"] == [(), (), ("a.png",)]
    assert [uploads.get(key, owner="me") for key in "abc"] == [None, "b", "c"]
    assert uploads.get("x", owner="other") == "X"


def test_the_bytes_of_a_session_are_bounded_too() -> None:
    uploads = shelf(each=9)
    for key in "abc":
        uploads.put(key, key, name=key, size=4 * MB, owner="me")
    assert [uploads.get(key, owner="me") for key in "abc"] == [None, "b", "c"]
    assert uploads.taken == 8 * MB


def test_a_newcomer_is_refused_where_all_is_in_use_and_nothing_changes() -> None:
    uploads = shelf(each=1)
    for number in range(2):
        uploads.put(str(number), "X", name="x", size=10 * MB, owner=str(number))
    with pytest.raises(NotAvailable, match=r"uploads take 20 MB of the server's 20 MB; try mine\.png"):
        uploads.put("new", "N", name="mine.png", size=MB, owner="newcomer")
    assert [uploads.get(str(number), owner=str(number)) for number in range(2)] == ["X", "X"]
    assert uploads.put("2", "Y", name="y", size=10 * MB, owner="1") == ("x",)  # its own makes room


def test_what_nobody_looked_at_for_long_makes_room() -> None:
    clock = Clock()
    uploads = shelf(clock, each=1)
    uploads.put("gone", "G", name="g", size=10 * MB, owner="left")
    uploads.put("here", "H", name="h", size=10 * MB, owner="stays")
    clock.now = 59
    assert uploads.get("here", owner="stays") == "H"
    clock.now = 70
    uploads.put("new", "N", name="n", size=10 * MB, owner="new")
    assert [uploads.get(key, owner=owner) for key, owner in (("gone", "left"), ("here", "stays"), ("new", "new"))] == [
        None,
        "H",
        "N",
    ]


def test_a_picture_of_two_sessions_stays_while_one_holds_it() -> None:
    uploads = shelf(each=1)
    uploads.put("a", "A", name="a", size=MB, owner="first")
    uploads.put("a", "A", name="a", size=MB, owner="second")
    uploads.put("b", "B", name="b", size=MB, owner="first")
    assert uploads.get("a", owner="second") == "A"
    assert uploads.taken == 2 * MB


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 30), st.integers(0, 12), st.booleans()), max_size=80))
def test_no_order_of_uploads_goes_over_a_bound_or_takes_from_another(
    moves: list[tuple[int, int, int, bool]],
) -> None:
    uploads = shelf(each=3)
    sizes: dict[str, int] = {}
    for owner, key, size, looks in moves:
        name, who = str(key), str(owner)
        others = {each for each, held in uploads._held.items() if set(held.seen) - {who}}
        if looks:
            uploads.get(name, owner=who)
        elif size <= 10:
            sizes.setdefault(name, size * MB)
            try:
                uploads.put(name, name, name=name, size=sizes[name], owner=who)
            except NotAvailable:
                assert uploads.taken > 0
        assert others <= set(uploads._held)
        assert uploads.taken <= 20 * MB
        own = [held for held in uploads._held.values() if who in held.seen]
        assert len(own) <= 3
        assert sum(held.size for held in own) <= 10 * MB


def test_the_sentence_names_what_made_room() -> None:
    assert let_go((), most=6, most_mb=20) == ""
    assert "6 uploads, at most 20 MB: a.png made room" in let_go(("a.png",), most=6, most_mb=20)


def picture(seed: int) -> bytes:
    buffer = BytesIO()
    Image.fromarray(np.random.default_rng(seed).integers(0, 255, (30, 40, 3), np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def bring(app: AppTest, seed: int) -> str:
    app.file_uploader[0].set_value((f"photo{seed}.png", picture(seed), "image/png")).run()
    assert not app.exception
    return str(app.query_params["upload"])


def test_seventeen_other_uploads_leave_the_first_sessions_picture(open_page: Open) -> None:
    first = open_page(LAB, evaluators="", probes="vflip", source="upload")
    key = bring(first, 0)
    second = open_page(LAB, evaluators="", probes="vflip", source="upload")
    for seed in range(1, 18):
        bring(second, seed)
    assert "made room for the new one" in texts(second)
    assert f"photo{17 - SESSION_PICTURES}" in texts(second).replace("\\", "")
    first.run()
    assert first.query_params["upload"] == key
    assert "40 × 30 px" in texts(first)
    reloaded = open_page(LAB, evaluators="", probes="vflip", source="upload", upload=key)
    assert "40 × 30 px" in texts(reloaded)


def test_a_bad_picture_is_decoded_once_and_its_sentence_stays(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    from pages.views.probe_lab import lab_picture as source

    app = open_page(LAB, evaluators="", probes="vflip", source="upload")
    app.file_uploader[0].set_value(("bad.png", b"not an image", "image/png")).run()
    monkeypatch.setattr(source, "decode_stranger", None)
    app.run()
    assert not app.exception
    assert "bad\\.png" in app.error[0].value


def test_what_somebody_who_left_held_alone_goes_unless_they_come_back_or_it_was_given() -> None:
    clock = Clock()
    uploads = shelf(clock, each=4)
    for key in "abcd":
        uploads.put(key, key, name=key, size=MB, owner="left")
    uploads.get("b", owner="stays")
    uploads.give("c")
    uploads.leave("left")
    clock.now = AWAY_S - 1
    assert uploads.get("d", owner="left") == "d", "back after a lost connection"
    assert uploads.taken == 4 * MB
    clock.now = AWAY_S + 1
    assert [uploads.get(key, owner="stays") for key in "abcd"] == [None, "b", "c", "d"]
    assert uploads.taken == 3 * MB


def test_a_session_that_ends_leaves_what_it_brought_and_what_was_made_of_it(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = bring(open_page(LAB, evaluators="", probes="vflip", source="upload"), 0)
    assert not shared().uploads._left
    assert [bench.image_key[:32] for bench in shared().benches._values.values()] == [key]
    for session in [each for each in cache_resource_api._resource_caches._function_caches if each is not None]:
        cache_resource_api.clear_session_cache(session)
    assert len(shared().uploads._left) == len(shared().painted._left) == 1
    monkeypatch.setattr(reader_uploads, "AWAY_S", -1.0)
    LEAVING.tidy()  # nobody else comes
    assert not shared().uploads.taken
    assert not shared().benches._values

"""Bad input costs nothing else: a sentence at the field that caused it, and the page stays."""

import shutil
from pathlib import Path

import pytest

from core.settings import runs_dir
from pages.views.probe_lab.lab_state import CAPTION_LIMIT
from tests.pages.opening import CALIBRATION, COMPARE, FAILURES, FLIP_RISK, LAB, OVERVIEW, RESULTS, Open, said


@pytest.mark.parametrize("words", [10_000, 2_000_000])
def test_a_caption_without_end_is_bounded_and_told_at_its_field(open_page: Open, words: int) -> None:
    app = open_page(LAB, evaluators="blind-length", probes="vflip", subject="free", caption="A frog.")
    pictures = len(app.get("imgs"))
    app.text_area(key="lab.caption").set_value("word " * words).run()
    assert not app.exception
    (told,) = (each.value for each in app.error)
    assert f"{5 * words:,} characters, and at most {CAPTION_LIMIT:,} are scored" in told
    assert len(app.text_area(key="lab.caption").value) == CAPTION_LIMIT
    assert len(app.get("imgs")) == pictures
    app.text_area(key="lab.caption").set_value("A frog.").run()
    assert not app.error


@pytest.mark.parametrize("page", [RESULTS, FAILURES, OVERVIEW, COMPARE, FLIP_RISK, CALIBRATION])
def test_a_run_that_is_removed_while_it_is_looked_at_is_a_sentence_and_the_others_stay(
    open_page: Open, own_folder: None, scoped: Path, page: str
) -> None:
    app = open_page(page, run="second")
    assert not app.exception
    shutil.rmtree(runs_dir() / "second")
    app.run()
    assert not app.exception
    told = " ".join(each.value for each in app.warning).replace("\\", "")
    assert "No run 'second' is open" in told
    assert "the usual choice is shown instead" in told
    assert "an item counts once" in said(app)
    assert not app.error

"""A figure that is not of the page's own scope is signed, collected and taken home as what it is."""

from collections.abc import Iterable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.settings import results_dir
from core.stories.story import Slide, stories
from tests.analysis.broken_runs import rows_of, write_broken
from tests.analysis.made_runs import audited, scores_of, write_run
from tests.pages.opening import CONTRAST, FLIP_RISK, OVERVIEW, UNFOLDED, Open, collected, said


@pytest.fixture(autouse=True)
def _own_runs(own_folder: object, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))


def _mine(corpus: str, evaluators: Iterable[str] = ("e",)) -> None:
    """A run of one half of an audit, on template captions."""
    probes = ("vflip", "hflip", "rotate-5", "null:shift1")
    rows = [row for name in evaluators for row in audited(*probes, items=40, evaluator=name, corpus=corpus)]
    write_run(results_dir() / "mine", rows, corpus={"name": corpus})


def _figure(app: AppTest, end: str) -> str:
    """Name of the first figure whose stem ends so, as it is collected."""
    keys = [each.key.removeprefix("collect.") for each in app.button if (each.key or "").startswith("collect.figure.")]
    return next(key for key in keys if key.endswith(end))


def _kept(app: AppTest, figure: str) -> Slide:
    """The slide that a figure makes, in the story that is there already, if one is."""
    if not stories():
        return collected(app, figure)
    app.button(key=f"collect.{figure}").click().run()
    app.button(key="collect.save").click().run()
    assert not app.exception
    return stories()[0].read().slides[-1]


def test_no_run_of_another_corpus_stands_in_for_the_one_that_is_read(open_page: Open) -> None:
    _mine("mine")
    write_broken(results_dir() / "broken", rows_of(("e",), items=20))
    app = open_page(OVERVIEW, run="mine", **UNFOLDED)
    assert not app.exception
    told = said(app)
    assert "Half of the question is open" in told
    assert "what is chosen above" not in told
    assert "typically drops when the meaning breaks" not in told
    assert "e was not tested on broken meanings." in told
    (rows,) = (each.value for each in app.dataframe if "Broken meaning" in each.value)
    assert rows["Broken meaning"].tolist() == ["was not tested on broken meanings"]
    slide = _kept(app, _figure(app, "overview-plane"))
    assert "run mine" in slide.of
    assert [row[0] for row in slide.rows] == ["e"]


def test_a_run_that_stands_in_shows_the_scope_s_evaluators_and_is_what_its_figure_is_signed_as(open_page: Open) -> None:
    _mine("c", ("e", "own"))
    write_broken(results_dir() / "broken", rows_of(("e", "truth")))
    app = open_page(OVERVIEW, run="mine", **UNFOLDED)
    assert not app.exception
    told = said(app)
    assert "Of run broken, captions from the corpus (en): what is chosen above has no wrong captions" in told
    assert told.count("truth") == told.count("Run broken has truth, run mine has not.") == 1
    (rows,) = (each.value for each in app.dataframe if "Broken meaning" in each.value)
    said_of = dict(zip(rows["Metric"], rows["Broken meaning"], strict=True))
    assert set(said_of) == {"e", "own"}
    assert set(said_of.values()) == {"was not tested on broken meanings"}
    assert "e was not tested" not in told  # beside what another run tells of it
    glance = _kept(app, _figure(app, "evaluators-at-a-glance"))
    assert "run mine" in glance.of
    assert "run broken" in glance.of
    slide = _kept(app, _figure(app, "overview-plane"))
    assert [row[0].split(" · ")[0] for row in slide.rows] == ["e"]
    assert "run broken, corpus c, caption human" in slide.of
    assert "mine" not in slide.of
    assert "|runs:broken|" in slide.signature
    assert "evaluators:e@" in slide.signature


def test_an_evaluator_of_another_make_does_not_stand_in_under_the_same_name(open_page: Open) -> None:
    _mine("c")
    told = [{"name": "e", "spec": {"score_range": [0.0, 1.0]}, "fingerprint": {"key": "another"}}]
    write_broken(results_dir() / "broken", rows_of(("e",)), evaluators=told)
    assert "what is chosen above" not in said(open_page(OVERVIEW, run="mine"))


def test_a_test_with_its_own_caption_is_collected_as_of_that_caption(open_page: Open) -> None:
    rows = [{**row, "subject": "template"} for row in rows_of(("e",), probes=["identity", "vflip", "swapped:near"])]
    for row in rows:
        if row["probe"] == "swapped:near":
            row["family"] = "misplaced"
    write_broken(results_dir() / "r", [*rows_of(("e",), probes=["identity", "vflip", "denied"]), *rows])
    app = open_page(CONTRAST, subject="human", test="misplaced", of="e")
    matrix = next(key for each in app.button if (key := each.key or "").startswith("collect.figure."))
    every = _kept(app, matrix.removeprefix("collect."))
    assert "caption human" in every.of
    assert "caption template" in every.of
    slide = _kept(app, _figure(app, "-misplaced"))
    assert "caption template" in slide.of
    assert "caption human" not in slide.of
    assert "|subject:template|" in slide.signature


def test_a_flip_risk_of_two_captions_of_a_picture_is_collected_as_of_both(open_page: Open) -> None:
    rng = np.random.default_rng(0)
    rows = [
        row
        for subject, clean in zip(("template", "human"), rng.uniform(0.2, 0.9, (2, 80)), strict=True)
        for row in scores_of(
            ["identity", "vflip"], 80, lambda _, item, of=clean: of[item] + rng.normal(0, 0.05), subject=subject
        )
    ]
    write_run(results_dir() / "r", rows)
    slide = _kept(open_page(FLIP_RISK), "figure.flip-risk")
    assert "caption template" in slide.of
    assert "caption human" in slide.of
    assert len(slide.signature.splitlines()) == 2

"""Every figure of the app says whether its marks open what they stand for; none pretends."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from core.analysis.scope import narrow
from core.charts.interactive import plot
from core.charts.spec import COLUMNS, Figure
from core.features.human.people_figures import ALL_PAIRS, reanalysis_dots
from core.settings import ROOT
from pages.views.common import page_drawings
from pages.views.common.open_runs import present, store
from pages.views.human_validation.study_reading import with_all_opened
from tests.pages.opening import CALIBRATION, OVERVIEW, UNFOLDED, Open, marks_that_open, told

NOTHING = {
    "study.outcomes": "answers of people",
    "study.kappa_map": "two annotators",
    "study.competence": "an annotator",
    "study.comparisons": "what a study asked of a family",
    "study.powered": "a rate over a run",
    "suites.agreement": "judgements of a suite",
    "selfcheck.figure": "metrics that are planted",
    "systems.scales": "every caption of a corpus",
    "flip.turned": "pairs of captions of one picture",
    "lab.curve.*": "one picture, shown beside it",
    "video.edits": "one video, shown beside it",
    "calib.*": "harms and drops together",
    "calib.every.*": "a strength, for all pairs of a split",
}
"""Figure drawn by a page whose marks open nothing -> what they stand for, which no page of pairs has."""


def drawn() -> Iterator[tuple[str, set[str]]]:
    """Key of every figure that a page draws, and the names of what else it is given."""
    for path in sorted((ROOT / "pages").rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call) or getattr(call.func, "id", "") not in ("draw", "draw_figure"):
                continue
            given = {each.arg: each.value for each in call.keywords if each.arg}
            if "alt" not in given:
                continue
            key = ast.unparse(given["key"]).removeprefix("f").strip("'\"")
            yield key.partition("{")[0] + ("*" if "{" in key else ""), set(given)


def test_a_figure_of_a_page_is_wired_or_stands_for_no_pairs() -> None:
    found = dict(drawn())
    assert len(found) > 20
    assert {key for key, given in found.items() if not given & {"clicked", "picked"}} == {*NOTHING}


def test_a_mark_that_opens_nothing_does_not_say_click() -> None:
    frame = pd.DataFrame([("a", "s", "", 1.0, 0.5, 2.0, 7), ("b", "s", "", 1.0, 0.5, 2.0, 7)], columns=list(COLUMNS))
    figure = Figure("f", "", "", frame.assign(opens=["", json.dumps({"families": "b"})]), "x")
    silent, opens = plot(figure, clicks=True).data[0].hovertext
    assert "click" not in silent
    assert "click for its pairs" in opens
    (trace,) = plot(figure).data
    assert trace.customdata is None
    assert not [each for each in trace.hovertext if "click" in each]


@pytest.mark.usefixtures("demo")
def test_over_a_whole_run_the_medians_of_all_pairs_open_them() -> None:
    rows = pd.DataFrame(
        {
            "evaluator": "e",
            "axis": "spatial",
            "family": ["rotation"],
            "analysis": "without",
            "n_all": 9,
            "n_kept": 8,
            "median_all": 1.0,
            "low_all": 0.0,
            "high_all": 2.0,
            "median_kept": 1.0,
            "low_kept": 0.0,
            "high_kept": 2.0,
        }
    )
    figure = with_all_opened(reanalysis_dots(rows), narrow(store(present())).only())
    links = dict(zip(figure.frame["series"], figure.frame["opens"], strict=True))
    assert json.loads(links[ALL_PAIRS]) == {
        "evaluators": "e",
        "families": "rotation",
        "run": "demo",
        "corpus": "demo",
        "subject": "template",
        "language": "en",
    }
    assert [link for name, link in links.items() if name != ALL_PAIRS] == [""]


def test_what_marks_open_is_read_once_however_many_open_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read, asked = json.loads, []
    monkeypatch.setattr(page_drawings.json, "loads", lambda text: asked.append(text) or read(text))
    row = (1.0, 0.5, 2.0, 7)
    marks = pd.DataFrame([("e", "vflip", "", *row), ("e", "rotation", "", *row)] * 50, columns=list(COLUMNS))
    opens = [json.dumps({"families": name}) for name in marks["series"]]
    assert page_drawings.with_titles(Figure("f", "", "", marks.assign(opens=opens), "x")).names
    assert sorted(asked) == sorted(set(opens))


SELECTIONS = (
    [],
    {},
    {"points": 5},
    {"points": []},
    {"points": [3]},
    *({"points": [{"customdata": each}]} for each in ("x", "[1]", "{}", '{"evaluators": 3}', ["x"], {"a": 1}, 1e400)),
)


@pytest.mark.parametrize(("page", "chart"), [(OVERVIEW, "overview.glance.axes"), (CALIBRATION, "calib.measured.dots")])
def test_what_no_mark_of_the_figure_opens_opens_nothing(open_page: Open, demo: Path, page: str, chart: str) -> None:
    """A browser may say anything of what was clicked."""
    app = open_page(page, **UNFOLDED if page == OVERVIEW else {})
    links = len(app.get("page_link"))
    assert marks_that_open(app, chart)
    for selection in SELECTIONS:
        after = told(app, chart, selection)
        assert not after.exception, selection
        assert len(after.get("page_link")) == links, selection

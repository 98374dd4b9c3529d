"""Every table and figure of paper A can be shown from what ships: runs of two corpora, and the example of a suite."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from core.__main__ import app
from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.table import ScoreTable
from core.corpora.demo import demo_dir, pictures_of
from core.features.suites.suite_result import stored
from core.report.document import Table, headline
from core.report.kept_results import suite_tables
from core.settings import ROOT, results_dir
from core.store.store import Store
from tests.report.test_build import PAPER_FIGURES, PAPER_TABLES

RUNS = ("demo", "demo-scenes")
OF_SUITES = {"Table 17"}
"""Made where an evaluator is held to a suite with its calibrator."""


def numbered(paper: str) -> str:
    """Counterpart in paper A, such as ``Figure 12`` for either of its halves; empty of another paper's."""
    found = re.match(r"(Table|Figure) \d+", paper)
    return found.group() if found else ""


@pytest.fixture(scope="module")
def table() -> Iterator[ScoreTable]:
    with Store.open([results_dir() / run for run in RUNS]) as store:
        yield read_table(store)


def test_two_shipped_runs_fill_every_table_and_figure_that_is_of_runs(table: ScoreTable) -> None:
    filled, evaluators = set[str](), set(table.evaluators)
    for question in catalogue(table):
        figures = [each for each in question.figures if numbered(each.paper)]
        if not numbered(question.paper) and not figures:
            continue
        assert not question.needs(table), question.id
        answer = question.compute(table.view(), Options())
        if name := numbered(question.paper):
            shown = headline(Table(question.id, question.title, question.note, answer, question.columns))
            assert shown is not None, question.id
            known = answer[np.isfinite(answer[shown.name].astype(float))]
            assert evaluators >= set(known["evaluator"]) > {"conse-lite0"}, question.id
            assert question.section != "corpora" or "demo-scenes" in set(known["corpus"]), question.id
            filled.add(name)
        for figure in figures:
            drawn = figure.figure(answer).frame
            known = drawn[np.isfinite(drawn["value"].astype(float))]
            assert len(known), figure.id
            assert question.section != "corpora" or set(known["series"]) == set(RUNS), figure.id
            filled.add(numbered(figure.paper))
    assert filled == (PAPER_TABLES | PAPER_FIGURES) - OF_SUITES


def test_the_example_of_a_suite_fills_the_preferences_before_and_after_a_calibration(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model, pictures = tmp_path / "calibrator.json", pictures_of(demo_dir()) / "images"
    learnt = ["calibrate", "learn", results_dir() / "demo", "--evaluator", "conse-lite0", "--reading", "orbit"]
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    held = ["suite", ROOT / "assets" / "examples" / "demo-foils.json", pictures, "--calibrator", model]
    for command in ([*learnt, "--families", "horizontal-flip", "-o", model], held):
        done = CliRunner().invoke(app, [str(each) for each in command], catch_exceptions=False)
        assert done.exit_code == 0, done.output
    made = {each.id: each for each in suite_tables(stored()[0], ["conse-lite0"]).tables}
    assert {made["T17"].paper} == OF_SUITES
    (row,) = made["T17"].frame.to_dict("records")
    assert row["n"] == 27
    for side in ("before", "after"):
        assert row[f"{side}_low"] <= row[side] <= row[f"{side}_high"]
    assert row["change"] == pytest.approx(row["after"] - row["before"])
    assert set(made["C11"].frame["suite"]) == {"Demo foils"}
    assert "S-caparena" not in made

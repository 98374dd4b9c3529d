"""Scores of both signs: % change is withheld of all of them, with a word, and never told of the positive ones alone."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.overview import fairness_card, family_contrasts, not_on_card, worst_findings
from core.analysis.questions import Options, catalogue
from core.analysis.questions.artefacts import filtered_moves
from core.analysis.questions.controls import sentences
from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.features.compare.two_sides import compare
from core.report.build import build
from core.report.report_files import markdown
from core.statistics.changes import WITHHELD
from core.statistics.comparisons import compare as compare_sides
from core.store.store import Store
from tests.analysis.made_runs import write_run
from tests.analysis.test_degenerate_questions import noise, rows

BELOW, BOTH = "below", "both"
SIGNS = {BELOW: lambda probe, item: -0.5 + 0.1 * noise(probe, item), BOTH: lambda probe, item: 0.1 * noise(probe, item)}
"""The same scores moved: all of them negative, and about half of them."""


def opened(folder: Path, kind: str, *, corpora: tuple[str, ...] = ("c", "d")) -> Store:
    for corpus in corpora:
        write_run(folder / kind / corpus, rows(SIGNS[kind], 24, corpus), corpus={"name": corpus})
    return Store.open(folder / kind)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ScoreTable]:
    folder, found = tmp_path_factory.mktemp("signs"), {}
    for kind in SIGNS:
        with opened(folder, kind) as store:
            found[kind] = read_table(store)
    return found


def test_every_question_tells_what_it_tells_of_negative_scores_and_no_more(tables: dict[str, ScoreTable]) -> None:
    """Each Δ is the same; where the scores that are all negative have no number, those of both signs have none."""
    asked = 0
    for question in catalogue(tables[BELOW]):
        if question.needs(tables[BELOW]):
            continue
        below, both = (question.compute(tables[kind].view(), Options()) for kind in SIGNS)
        assert len(below) == len(both), question.id
        for column in below.select_dtypes("number"):
            told = both[column].notna() & below[column].isna()
            if column.startswith(
                ("after", "ratio")
            ):  # what a calibration takes away is 0 but for the rounding of its samples
                told &= both[column].abs() > 1e-12
            assert not told.any(), (question.id, column)
        asked += 1
    assert asked > 30


def test_a_slice_of_positive_scores_is_withheld_like_the_whole(tmp_path: Path) -> None:
    """Animals score above 0 and all others below: a choice of animals alone brings no percent back."""
    made = rows(lambda probe, item: (-0.5 if item % 3 else 0.5) + 0.1 * noise(probe, item), 24, "c")
    with Store.open(write_run(tmp_path / "r", made, corpus={"name": "c"})) as store:
        table = read_table(store)
    animals = table.view(Slice(categories=("animal",)))
    assert (table.clean("e")[animals.items] > 0).all()
    found = family_contrasts(animals)
    assert len(found) > 1
    assert found["median_percent"].isna().all()
    assert found["note"].str.contains("% change withheld: other baselines of this evaluator are negative").all()


def test_the_table_names_who_it_is_withheld_of(tables: dict[str, ScoreTable]) -> None:
    said = tables[BOTH].withheld_said()
    assert said.startswith("% change is withheld of e on c, e on d: some baseline scores are negative")
    assert tables[BOTH].withheld("e", "c")
    positive = np.abs(tables[BOTH].scores)
    whole = ScoreTable(
        **{
            **{
                name: getattr(tables[BOTH], name)
                for name in (
                    "scope",
                    "evaluators",
                    "probes",
                    "items",
                    "baselines",
                    "stored",
                    "inside",
                    "accepted",
                    "upheld",
                    "diagnostics",
                )
            },
            "scores": positive,
        }
    )
    assert whole.withheld_said() == ""


def test_overview_card_and_blur_control_say_why_there_is_no_number(tmp_path: Path) -> None:
    with opened(tmp_path, BOTH, corpora=("c",)) as store:
        view = read_table(store).view()
        assert fairness_card(view).empty
        assert worst_findings(store, view).empty
        assert "% change withheld" in " ".join(not_on_card(family_contrasts(view)))
        assert sentences(view) == {"e": f"Blur control: {WITHHELD}."}
        said = markdown(build(store))
    assert "Of no family is a change in percent known: some of its baseline scores are negative." in said


def test_both_sides_of_a_comparison_of_right_and_wrong_have_no_percent() -> None:
    right = np.linspace(-0.1, 0.9, 30)
    found = compare_sides(right, right - 0.05)
    assert np.isnan([found.median_drop.estimate, found.drop.estimate]).all()
    assert found.median_drop.note == found.drop.note == WITHHELD
    assert found.failure.estimate == 0


def test_composites_of_both_signs_have_a_word_and_no_median() -> None:
    scores = np.array([np.linspace(-0.1, 0.9, 40), np.linspace(0, 1, 40)])
    measured = {"seam_ratio": np.linspace(0, 1, 80).reshape(2, 40), "bg_delta": np.zeros((2, 40))}
    found = pd.DataFrame(filtered_moves(scores, measured))
    assert found["median_percent"].isna().all()
    assert set(found["note"]) == {WITHHELD}
    assert "nothing to drop" not in set(found["direction"])


def test_sides_of_a_comparison_are_withheld_too(tables: dict[str, ScoreTable]) -> None:
    table = tables[BOTH].only("c")
    flips, blur = Slice(families=("vertical-flip",)), Slice(families=("blur",), controls=True)
    found = compare(table.view(flips), table.view(blur))
    assert found["difference"].isna().all()
    assert found["note"].str.contains("side A: % change withheld; side B: % change withheld").all()

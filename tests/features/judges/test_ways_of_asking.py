"""A judge beside its variants, and jurors beside each other, worked out anew from the raw rows."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.analysis.questions import Options, Question, catalogue
from core.analysis.reading import read_table
from core.analysis.table import ScoreTable
from core.evaluators.network.rubrics import find_rubric
from core.statistics.agreement import agreement
from core.store.store import Store
from tests.analysis.made_runs import raw, scores_of, write_run

BASE = "judge:m@judge"
ITEMS = 40
RNG = np.random.default_rng(3)
TRUE = RNG.integers(2, 9, ITEMS)
AGAIN = TRUE + RNG.choice([-1, 0, 0, 0, 1], ITEMS)
FIVE = np.clip(np.round(TRUE / 2.5) + 1, 1, 5) - (np.arange(ITEMS) % 2)
WORDS = TRUE + np.where(np.arange(ITEMS) % 3 == 0, 2, 1)
JUDGES: Mapping[str, tuple[np.ndarray, tuple[float, float]]] = {
    BASE: (TRUE, (0, 10)),
    f"{BASE}~repeat-2": (AGAIN, (0, 10)),
    f"{BASE}~scale-5": (FIVE, (1, 5)),
    f"{BASE}~paraphrase-1": (WORDS, (0, 10)),
    "judge:other@judge": (AGAIN, (0, 10)),
}


def write(folder: Path, judges: Mapping[str, tuple[np.ndarray, tuple[float, float]]], more: Sequence[str] = ()) -> Path:
    rows: list[dict[str, Any]] = []
    for name, (scores, _) in judges.items():
        for probe in ("identity", *more):
            moved = 0.0 if probe == "identity" else 0.5
            rows += scores_of(
                (probe,), ITEMS, lambda _, place, at=scores, by=moved: float(at[place]) + by, evaluator=name
            )
    told = [{"name": name, "spec": {"score_range": list(ends)}} for name, (_, ends) in judges.items()]
    return write_run(folder, rows, evaluators=told)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Store]:
    with Store.open(write(tmp_path / "r", JUDGES)) as store:
        yield store


def asked(table: ScoreTable, id_: str) -> Question | None:
    return next((each for each in catalogue(table) if each.id == id_), None)


def answer(table: ScoreTable, id_: str) -> pd.DataFrame:
    question = asked(table, id_)
    assert question is not None
    assert question.needs(table) == ""
    return question.compute(table.view(), Options())


def test_a_variant_is_held_to_its_base_on_one_scale_and_to_the_question_asked_again(
    opened: Store, tmp_path: Path
) -> None:
    found = answer(read_table(opened), "S-judge-ways").set_index("way")
    rows = raw(tmp_path / "r")
    clean = rows[rows["probe"] == "identity"].pivot_table(index="item", columns="evaluator", values="score")
    share = pd.DataFrame({name: (clean[name] - low) / (high - low) for name, (_, (low, high)) in JUDGES.items()})
    again = 100 * (share[f"{BASE}~repeat-2"] - share[BASE])
    assert set(found.index) == {"repeat-2", "scale-5", "paraphrase-1"}
    for way in ("scale-5", "paraphrase-1"):
        shift, row = 100 * (share[f"{BASE}~{way}"] - share[BASE]), found.loc[way]
        assert row["n_items"] == ITEMS
        assert row["shift"] == pytest.approx(shift.median())
        assert row["size"] == pytest.approx(shift.abs().median())
        assert row["size_low"] <= row["size"] <= row["size_high"]
        assert row["band"] == pytest.approx(again.abs().median())
        over = (shift.abs() > again.abs()) + 0.5 * (shift.abs() == again.abs())
        assert row["further"] == pytest.approx(100 * over.mean())
        assert row["rho"] == pytest.approx(stats.spearmanr(share[f"{BASE}~{way}"], share[BASE]).statistic)
        assert (row["against"], row["claim"]) == ("the same question again", "more than the same question again")
    assert found.loc["repeat-2", "against"] == ""  # nothing to hold it to: no invisible edits, no other repeat


def test_without_a_repeat_the_band_is_invisible_edits_on_the_scale_of_the_base(tmp_path: Path) -> None:
    judges = {name: JUDGES[name] for name in (BASE, f"{BASE}~paraphrase-1")}
    with Store.open(write(tmp_path / "r", judges, ("null:shift1",))) as store:
        (row,) = (each for _, each in answer(read_table(store), "S-judge-ways").iterrows())
    assert (row["against"], row["claim"]) == ("invisible edits", "more than invisible edits")
    assert row["band"] == pytest.approx(5.0)  # half a point of ten


def test_a_variant_that_changes_nothing_is_no_further_than_the_band_and_ties_count_half(tmp_path: Path) -> None:
    judges = dict.fromkeys((BASE, f"{BASE}~repeat-2", f"{BASE}~picture-last"), (TRUE, (0.0, 10.0)))
    with Store.open(write(tmp_path / "r", judges)) as store:
        found = answer(read_table(store), "S-judge-ways").set_index("way")
    row = found.loc["picture-last"]
    assert (row["size"], row["further"], row["rho"]) == (0, 50, pytest.approx(1))
    assert not row["claim"].startswith("more")


def test_imported_judges_are_told_apart_in_the_same_way_and_others_are_not_asked(tmp_path: Path) -> None:
    judges = {f"{name}@imported": JUDGES[name] for name in (BASE, f"{BASE}~scale-5")}
    with Store.open(write(tmp_path / "r", judges)) as store:
        assert list(answer(read_table(store), "S-judge-ways")["base"]) == [f"{BASE}@imported"]
    alone = {name: JUDGES[name] for name in (f"{BASE}~scale-5", "judge:other@judge")}
    with Store.open(write(tmp_path / "alone", alone)) as store:
        table = read_table(store)
        assert asked(table, "S-judge-ways") is None
        assert asked(table, "S-jurors") is None


def test_jurors_are_held_to_the_measures_of_peoples_votes(opened: Store) -> None:
    found = answer(read_table(opened), "S-jurors").set_index("measure")
    counts = np.zeros((ITEMS, 11))
    for item in range(ITEMS):
        for scores in (TRUE, AGAIN):
            counts[item, int(scores[item])] += 1
    expected = agreement(counts, ordinal=True)
    assert set(found["jurors"]) == {f"{BASE}, judge:other@judge"}
    assert found.loc["percent agreement", "estimate"] == pytest.approx((TRUE == AGAIN).mean())
    assert found.loc["Krippendorff α", "estimate"] == pytest.approx(expected.alpha.estimate)
    assert (found["n_items"].unique().tolist(), found["n_votes"].unique().tolist()) == ([ITEMS], [2 * ITEMS])


@pytest.mark.parametrize("ends", [(0.0, 100.0), (0.0, 1.0)], ids=["fine", "shares"])
def test_judges_on_finer_scales_are_left_to_rank_correlations(tmp_path: Path, ends: tuple[float, float]) -> None:
    scores = TRUE * 10 if ends[1] == 100 else TRUE / 10
    with Store.open(write(tmp_path / "r", {"judge:a@x": (scores, ends), "judge:b@x": (scores, ends)})) as store:
        assert asked(read_table(store), "S-jurors") is None


def test_what_was_asked_stands_beside_the_evaluators_and_the_figure_has_a_mark_a_variant(tmp_path: Path) -> None:
    asked_of = find_rubric("judge~scale-5")[1]
    told = [
        {"name": BASE, "spec": {"score_range": [0, 10]}},
        {"name": f"{BASE}~scale-5", "spec": {"score_range": [1, 5]}, "fingerprint": {"settings": asked_of.settings}},
        {
            "name": "e@imported",
            "spec": {"score_range": [1, 5]},
            "imported": {"rubric": asked_of.model_dump(mode="json")},
        },
    ]
    rows = [
        row
        for name in (BASE, f"{BASE}~scale-5", "e@imported")
        for row in scores_of(("identity",), ITEMS, lambda _, place: float(1 + place % 5), evaluator=name)
    ]
    with Store.open(write_run(tmp_path / "r", rows, evaluators=told)) as store:
        table = read_table(store)
        found = answer(table, "S0").set_index("evaluator")["asked"]
        ways = asked(table, "S-judge-ways")
        assert ways is not None
        figure = ways.figures[0].figure(ways.compute(table.view(), Options()))
    assert found[BASE] == ""
    assert found[f"{BASE}~scale-5"] == found["e@imported"]
    assert found["e@imported"].startswith("1.0 to 5.0; picture first; temperature 0.0; asked for time 1: You judge how")
    assert "Give one whole number from 1 to 5" in found["e@imported"]
    assert figure.id == "F-judge-ways"

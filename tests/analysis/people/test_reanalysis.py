"""Contrasts without what people refused, against pandas on the raw rows; votes as a slice."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.reading import read_table
from core.analysis.scores import Memo
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.errors import InvalidInput
from core.features.human.kinds import ACCEPTABILITY
from core.features.human.reanalysis import BOTH_FULLY_CORRECT, WITHOUT_ONE_SIDED, reanalyse
from core.features.human.sampling import draw_sample, family_strata
from core.features.human.studies import Study
from core.features.human.study_outcomes import item_outcomes
from core.features.human.votes import verdicts, vote_table
from core.settings import results_dir
from core.statistics.bootstrap import median_bca
from core.store.store import Store
from tests.analysis import two_sources
from tests.analysis.made_runs import raw, scores_of, shifts, write_run
from tests.features.human.small_study import items, make, vote_versions

OUTCOMES = ["corpus", "item", "probe", "subject", "outcome", "fully_correct"]


@pytest.fixture(scope="module")
def table(store: Store) -> ScoreTable:
    return read_table(store)


@pytest.fixture
def flips(tmp_path: Path, store: Store) -> Study:
    """Two people refuse 4 of 20 flips, and call 5 more not fully correct."""
    sample = draw_sample(store, "demo", kind=ACCEPTABILITY, total=20, seed=1, strata=family_strata(["vertical-flip"]))
    study = make(tmp_path, items=sample.items)
    people = study.invite(["", ""])
    for number, item in enumerate(each for each in sample.items if not each.attention):
        for name in people:
            variant = 0 if number < 4 else 1 if number < 9 else 2
            vote_versions(study, name, item.id, original=2, variant=variant, preferred="tie")
    return study


@pytest.mark.parametrize("scope", ["studied", "run"])
def test_the_reanalyses_are_the_medians_without_what_people_refused(
    table: ScoreTable, flips: Study, scope: str
) -> None:
    found = reanalyse(table, item_outcomes(vote_table(flips)), scope=scope)
    assert (found.n_pairs, found.dropped) == (20, {WITHOUT_ONE_SIDED: 4, BOTH_FULLY_CORRECT: 9})
    ids = [item.item for item in flips.definition.items if not item.attention]
    rows = shifts(raw())
    rows = rows[rows["probe"] == "vflip"].dropna(subset="percent")
    assert set(found.table["evaluator"]) == set(rows["evaluator"])
    for name, refused in ((WITHOUT_ONE_SIDED, ids[:4]), (BOTH_FULLY_CORRECT, ids[:9])):
        for row in found.table[found.table["analysis"] == name].itertuples():
            own = rows[rows["evaluator"] == row.evaluator]
            base = own[own["item"].isin(ids)] if scope == "studied" else own
            kept = base[~base["item"].isin(refused)]
            assert row.median_all == pytest.approx(base["percent"].median())
            assert row.median_kept == pytest.approx(kept["percent"].median())
            assert (row.n_all, row.n_kept) == (len(base), len(kept))
            assert row.change == pytest.approx(row.median_kept - row.median_all)
            kept = kept.sort_values("item")
            interval = median_bca(kept["percent"], groups=two_sources.numbers(kept["item"]))
            assert (row.low_kept, row.high_kept) == pytest.approx((interval.low, interval.high))
    changes = found.table.groupby("analysis")["change"].apply(lambda each: each.abs().max())
    assert found.largest_change(BOTH_FULLY_CORRECT) == changes[BOTH_FULLY_CORRECT]


def test_a_direction_that_flips_is_counted(table: ScoreTable, flips: Study) -> None:
    outcomes = item_outcomes(vote_table(flips))
    rows = shifts(raw())
    rows = rows[(rows["probe"] == "vflip") & (rows["evaluator"] == "conse-lite0")]
    rising = set(rows[rows["percent"] > 0]["item"])
    falls = outcomes.assign(outcome=["both" if item in rising else "one" for item in outcomes["item"]])
    found = reanalyse(table, falls)
    row = found.table[
        (found.table["evaluator"] == "conse-lite0") & (found.table["analysis"] == WITHOUT_ONE_SIDED)
    ].iloc[0]
    assert row["median_kept"] > 0
    assert row["flips"] == (row["median_all"] < 0)


def test_changes_that_are_all_equal_have_no_interval_and_a_study_of_one_vote_an_item_has_no_reanalysis(
    table: ScoreTable, flips: Study
) -> None:
    still = replace(table, scores=np.where(np.isnan(table.scores), np.nan, 0.5), kept=Memo())
    rows = reanalyse(still, item_outcomes(vote_table(flips)), scope="run").table
    assert len(rows)
    assert rows[["low_all", "high_all", "low_kept", "high_kept"]].isna().all(axis=None)
    assert rows["note"].str.contains("all values are equal: no interval").all()
    votes = vote_table(flips)
    with pytest.raises(InvalidInput, match="no pair has two votes yet"):
        reanalyse(table, item_outcomes(votes[votes["annotator"] == votes["annotator"].iloc[0]]))


def outcome(item: str, probe: str, said: str, *, subject: str = "template", fully: bool = False) -> dict[str, object]:
    return dict(zip(OUTCOMES, ("c", item, probe, subject, said, fully), strict=True))


def made(folder: Path) -> ScoreTable:
    """Six items: a flip moves them by -30, -20, -10, 10, 20, 30 %; turning by -5 and by +5 % for every item."""
    moved = {
        "vflip": lambda item: (-30, -20, -10, 10, 20, 30)[item],
        "rotate-5": lambda item: -5,
        "rotate+5": lambda item: 5,
        "identity": lambda item: 0,
        "null:shift1": lambda item: 1,
    }
    rows = scores_of(list(moved), 6, lambda probe, item: 1 + moved[probe](item) / 100)
    with Store.open(write_run(folder / "r", rows)) as store:
        return read_table(store)


def test_a_flip_of_the_sign_and_its_size_by_hand(tmp_path: Path) -> None:
    said = [outcome(f"i{place:03d}", "vflip", "one" if place < 3 else "both", fully=place > 3) for place in range(5)]
    found = reanalyse(made(tmp_path), pd.DataFrame(said))
    assert (found.n_pairs, found.dropped) == (5, {WITHOUT_ONE_SIDED: 3, BOTH_FULLY_CORRECT: 4})
    assert found.table["family"].tolist() == ["vertical-flip"] * 2
    one, fully = found.table.to_dict("records")
    assert (one["median_all"], one["median_kept"], one["change"]) == pytest.approx((-10.0, 15.0, 25.0))
    assert one["flips"]
    assert (fully["n_kept"], fully["median_kept"]) == (1, pytest.approx(20.0))
    assert math.isnan(fully["low_kept"])
    assert (found.flips(WITHOUT_ONE_SIDED), found.largest_change(WITHOUT_ONE_SIDED)) == (1, pytest.approx(25.0))
    # a sign of three items is no direction: their median has no interval
    assert (one["direction"], one["note"]) == (
        "unclear",
        "all: no interval (n = 5, below 10); kept: no interval (n = 2, below 10)",
    )
    assert found.turned(WITHOUT_ONE_SIDED) == 0


def test_a_direction_turns_only_where_the_interval_of_what_is_kept_lies_on_the_other_side(tmp_path: Path) -> None:
    """Of 40 items 25 fall by about 30 % and 15 rise by about 10 %; people refuse the 25, then 14 of them."""
    rows = scores_of(
        ["identity", "vflip"],
        40,
        lambda probe, item: 1.0 if probe == "identity" else 0.7 + item / 1000 if item < 25 else 1.1 + item / 1000,
    )
    with Store.open(write_run(tmp_path / "r", rows)) as store:
        table = read_table(store)
    for refused, direction, flips in (
        (25, "turned", True),
        (14, "unclear", True),
        (0, "nothing to drop", False),
    ):
        said = [outcome(f"i{place:03d}", "vflip", "one" if place < refused else "both") for place in range(40)]
        found = reanalyse(table, pd.DataFrame(said))
        row = found.table.set_index("analysis").loc[WITHOUT_ONE_SIDED]
        assert (row["direction"], bool(row["flips"])) == (direction, flips), refused
        assert found.turned(WITHOUT_ONE_SIDED) == (direction == "turned")
        assert ("would have shown" in row["power"]) == (direction == "unclear")


def test_a_pair_and_not_an_item_falls_out(tmp_path: Path) -> None:
    """Of item 0 the turn by -5 is refused: its median turn is +5 alone in the run."""
    found = reanalyse(made(tmp_path), pd.DataFrame([outcome("i000", "rotate-5", "one")]), scope="run")
    rows = found.table.set_index("analysis")
    assert set(found.table["family"]) == {"rotation"}
    assert rows.loc[WITHOUT_ONE_SIDED, ["n_all", "n_kept"]].tolist() == [6, 6]
    assert rows["median_all"].tolist() == pytest.approx([0.0, 0.0])
    studied = reanalyse(made(tmp_path / "again"), pd.DataFrame([outcome("i000", "rotate-5", "one")]))
    assert studied.table["median_all"].tolist() == pytest.approx([-5.0, -5.0])
    assert studied.table["n_kept"].tolist() == [0, 0]
    assert np.isnan(studied.table["change"]).all()
    assert studied.flips(WITHOUT_ONE_SIDED) == 0
    assert math.isnan(studied.largest_change(WITHOUT_ONE_SIDED))


def test_pairs_of_another_subject_corpus_item_or_probe_are_left_out(tmp_path: Path) -> None:
    table = made(tmp_path)
    own = [outcome("i000", "vflip", "both")]
    strange = [
        outcome("i001", "vflip", "one", subject="human"),
        outcome("nobody", "vflip", "one"),
        outcome("i001", "nothing", "one"),
        outcome("i002", "vflip", "one") | {"corpus": "d"},
    ]
    found, alone = (reanalyse(table, pd.DataFrame(said)) for said in (own + strange, own))
    assert (found.n_pairs, found.dropped) == (1, {WITHOUT_ONE_SIDED: 0, BOTH_FULLY_CORRECT: 1})
    assert found.table["direction"].tolist() == ["nothing to drop", ""]
    pd.testing.assert_frame_equal(found.table, alone.table)
    with pytest.raises(InvalidInput, match="scored no pair of this study with the template caption"):
        reanalyse(table, pd.DataFrame(strange))


def test_a_study_of_null_edits_alone_is_about_no_family(tmp_path: Path) -> None:
    found = reanalyse(made(tmp_path), pd.DataFrame([outcome("i000", "null:shift1", "one")]))
    assert (found.n_pairs, found.dropped) == (1, {WITHOUT_ONE_SIDED: 1, BOTH_FULLY_CORRECT: 1})
    assert found.table.empty
    assert {"family", "analysis", "n_all", "change", "flips"} <= set(found.table.columns)
    assert math.isnan(found.largest_change(WITHOUT_ONE_SIDED))
    assert found.flips(WITHOUT_ONE_SIDED) == 0


def test_a_study_that_has_nothing_to_do_with_the_run_is_one_sentence(table: ScoreTable, tmp_path: Path) -> None:
    study = make(tmp_path, items=items(6))
    for name in study.invite(["", ""]):
        vote_versions(study, name, "0001", original=2, variant=2, preferred="tie")
    outcomes = item_outcomes(vote_table(study))
    assert len(outcomes)
    with pytest.raises(InvalidInput, match="run 'demo' scored no pair"):
        reanalyse(table, outcomes)
    with pytest.raises(InvalidInput, match="run 'demo' scored no pair"):
        reanalyse(table, item_outcomes(vote_table(make(tmp_path / "empty"))))
    with pytest.raises(InvalidInput, match="scope"):
        reanalyse(table, outcomes, scope="all")


def test_a_slice_of_accepted_pairs_holds_only_those_that_enough_people_accepted(flips: Study) -> None:
    ids = [item.item for item in flips.definition.items if not item.attention]
    with Store.open(results_dir(), verdicts=verdicts([flips])) as store:
        view = read_table(store).view(Slice(accepted=2 / 3))
    names = view.table.items["item"].to_numpy()
    left = {
        (family, str(name))
        for family, probes in view.families().items()
        for name in names[(view.changes("conse-lite0", probes).n_shifts > 0) & view.items]
    }
    assert left == {("vertical-flip", item) for item in ids[4:]}

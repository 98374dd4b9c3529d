import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.features.human.judged_comparisons import BESIDE, BESIDE_COLUMNS, asked_of_people, with_baseline
from core.features.human.kinds import ACCEPTABILITY, PAIRED_RATING, SINGLE
from core.features.human.studies import Study
from core.features.human.study_outcomes import (
    aggregates,
    disagreements,
    item_outcomes,
    study_agreement,
    study_kappas,
    vote_rates,
)
from core.features.human.votes import vote_table
from core.probes.base import FALSITY
from core.report.build import build
from core.store.store import Store
from tests.analysis.broken_runs import ITEMS, facts_of, rows_of, write_broken
from tests.features.human.small_study import comparisons, items, make, vote, vote_versions

VOTES = {  # item -> (original, variant, preferred) of three annotators
    "0001": [(2, 2, "tie"), (2, 2, "tie"), (2, 1, "original")],
    "0002": [(2, 0, "original"), (2, 0, "original"), (2, 2, "tie")],
    "0003": [(0, 0, "tie"), (0, 0, "tie"), (0, 1, "variant")],
    "0004": [(2, 1, "variant"), (1, 1, "tie"), (1, 2, "original")],
}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = make(tmp_path, items=items(6, attention=1))
    people = made.invite(["", "", ""])
    for item, rows in VOTES.items():
        for name, (original, variant, preferred) in zip(people, rows, strict=True):
            vote_versions(made, name, item, original=original, variant=variant, preferred=preferred)
    vote_versions(made, people[0], "0005", original=2, variant=2, preferred="tie")
    vote_versions(made, people[0], "0007", original=0, variant=2, preferred="variant")
    return made


def test_majorities_of_two_thirds_by_hand(study: Study) -> None:
    table = item_outcomes(vote_table(study)).set_index("id")
    assert table["outcome"].to_dict() == {"0001": "both", "0002": "one", "0003": "none", "0004": "both"}
    assert table["preference"].to_dict() == {
        "0001": "tie",
        "0002": "original",
        "0003": "tie",
        "0004": "no majority",
    }
    assert table["fully_correct"].to_dict() == {"0001": True, "0002": False, "0003": False, "0004": False}
    assert table.loc["0002", "accepted"] == pytest.approx(1 / 3)
    assert table.loc["0003", "accepted_variant"] == pytest.approx(1 / 3)


def test_two_votes_that_differ_are_no_majority(tmp_path: Path) -> None:
    study = make(tmp_path)
    ada, bo = study.invite(["", ""])
    vote_versions(study, ada, "0001", original=2, variant=0, preferred="original")
    vote_versions(study, bo, "0001", original=2, variant=2, preferred="tie")
    row = item_outcomes(vote_table(study)).iloc[0]
    assert (row["outcome"], row["preference"]) == ("no majority", "no majority")


def test_aggregates_by_hand_leave_attention_items_and_single_votes_out(study: Study) -> None:
    found = aggregates(vote_table(study))
    shares = {name: each.estimate for name, each in found.outcomes.items()}
    assert shares == {"both": 0.5, "one": 0.25, "none": 0.25, "no majority": 0.0}
    assert (found.n_items, found.n_short) == (4, 1)
    assert found.majority_tie.estimate == 0.5
    assert found.both_fully_correct.estimate == 0.25
    # 0001 and 0002 lean to the original, 0003 to the variant, 0004 has a vote for each
    assert (found.variant_preferred.estimate, found.variant_preferred.n) == (1 / 3, 3)
    assert found.balance_p == pytest.approx(1.0)
    assert set(found.table()["n"]) == {4, 3}


def test_more_people_of_the_same_votes_narrow_no_interval_below_that_of_the_items_and_move_no_p(study: Study) -> None:
    votes = thrice(study)
    again = [votes.assign(annotator=votes["annotator"] + f"-{copy}") for copy in range(5)]
    once, often = aggregates(votes), aggregates(pd.concat([votes, *again], ignore_index=True))
    one, many = once.table(), often.table()
    pd.testing.assert_frame_equal(one[["what", "share", "n"]], many[["what", "share", "n"]])
    for row in many[many["n"] == 12].itertuples():
        low, high = proportion_confint(round(12 * row.share), 12, method="wilson")
        assert row.high - row.low >= high - low
    assert once.balance_p == often.balance_p
    assert once.n_items == often.n_items


def test_an_item_leans_where_more_of_its_votes_do_ties_aside(study: Study) -> None:
    leans = item_outcomes(vote_table(study)).set_index("id")["leans"].to_dict()
    assert leans == {"0001": "original", "0002": "original", "0003": "variant", "0004": "tie"}


def test_shares_have_intervals_about_people_too_and_the_balance_an_exact_sign_test(study: Study) -> None:
    found = aggregates(thrice(study))
    for share, successes in ((found.outcomes["both"], 6), (found.majority_tie, 6), (found.both_fully_correct, 3)):
        low, high = proportion_confint(successes, 12, method="wilson")
        assert share.low <= low < high <= share.high
    everywhere = found.outcomes["no majority"]
    assert everywhere.low == 0.0 < everywhere.high  # none of few is not known to be none of all
    assert "people like these 3 annotators" in found.about


def test_while_votes_come_in_intervals_are_wider_and_nothing_is_tested() -> None:
    votes = leaning(40)
    last, live = aggregates(votes), aggregates(votes, live=True)
    wider = live.table()["high"] - live.table()["low"] > last.table()["high"] - last.table()["low"]
    assert wider.all()
    assert math.isnan(live.balance_p)
    assert last.balance_p > 0
    assert "however often you look" in live.about


@pytest.mark.parametrize("people", ["a", "ab"])
def test_of_one_or_two_annotators_shares_have_no_interval_and_the_page_says_why(people: str) -> None:
    votes = leaning(40)
    found = aggregates(votes[votes["annotator"].isin(list(people))])
    table = found.table()
    assert table[["low", "high"]].isna().all(axis=None)
    assert "takes 3 annotators to tell" in found.about
    told = vote_rates(votes[votes["annotator"].isin(list(people))], ACCEPTABILITY)
    assert told["low"].isna().all()
    named = "1 annotator" if people == "a" else "2 annotators"
    assert list(told["note"]) == [f"{named} cannot tell how far people differ, 3 can"]
    more = "2 more annotators" if people == "a" else "1 more annotator"
    assert told["more"].iloc[0] == f"{told['note'].iloc[0]}: {more} would give an interval."


def test_rates_of_votes_are_their_means_and_say_what_would_halve_their_interval(study: Study) -> None:
    row = vote_rates(vote_table(study), ACCEPTABILITY).iloc[0]
    # both versions accepted: 3 of 3, 1 of 3, 0 of 3, 3 of 3
    assert (row["question"], row["n"], row["n_votes"], row["annotators"]) == (
        "votes that accept both versions",
        4,
        12,
        3,
    )
    assert row["rate"] == pytest.approx(100 * 7 / 12)
    row = vote_rates(thrice(study), ACCEPTABILITY).iloc[0]
    assert row["rate"] == pytest.approx(100 * 7 / 12)
    assert row["of_items"] + row["of_people"] + row["of_rest"] == pytest.approx(100)
    assert "would halve this interval" in row["more"]
    lenient = leaning(60)
    strict = lenient["annotator"] == "a"
    lenient.loc[strict, ["original", "variant"]] = 0.0
    found = vote_rates(lenient, ACCEPTABILITY).iloc[0]
    assert found["of_people"] > 60
    assert "no number of items alone would" in found["more"]


def test_of_few_items_no_number_of_a_study_has_an_interval(study: Study) -> None:
    votes = vote_table(study)
    shares, rates = aggregates(votes).table(), vote_rates(votes, ACCEPTABILITY)
    agreed = study_agreement(votes, ACCEPTABILITY)[0].percent
    assert shares["low"].isna().all()
    assert rates["low"].isna().all()
    assert math.isnan(agreed.low)
    few = "no interval (n = 4, below 10)"
    assert set(shares.loc[shares["n"] == 4, "note"]) == {*rates["note"], agreed.note} == {few}
    assert rates["more"].iloc[0] == "No interval (n = 4, below 10): 6 more items would give an interval."


def test_a_share_of_items_and_a_share_of_votes_are_not_called_the_same(study: Study) -> None:
    votes = vote_table(study)
    shares, rates = aggregates(votes).table(), vote_rates(votes, ACCEPTABILITY)
    assert shares.set_index("what").loc["a majority accepts both", "share"] == 0.5
    assert rates.set_index("question").loc["votes that accept both versions", "rate"] == pytest.approx(100 * 7 / 12)


def thrice(study: Study) -> pd.DataFrame:
    """The items of VOTES three times over, each with a source of its own."""
    votes = vote_table(study)
    return of_sources(votes[votes["id"].isin(VOTES)], 3).assign(source="")


def of_sources(votes: pd.DataFrame, copies: int = 4) -> pd.DataFrame:
    """Every item of some votes as so many items of one source."""
    return pd.concat(
        [
            votes.assign(id=votes["id"] + f"-{copy}", item=votes["item"] + f"-{copy}", source="cut of " + votes["item"])
            for copy in range(copies)
        ],
        ignore_index=True,
    )


def leaning(n: int, seed: int = 3) -> pd.DataFrame:
    """Votes of three annotators on so many items; most prefer the variant."""
    rng, rows = np.random.default_rng(seed), []
    for place in range(n):
        p = rng.beta(2, 2)
        for name in "abc":
            yes = rng.random(2) < p
            answer = {"original": 2.0 * yes[0], "variant": 2.0 * yes[1]}
            rows.append(
                {
                    "id": f"{place:04d}",
                    "item": f"i{place:03d}",
                    "annotator": name,
                    **answer,
                    "preferred": "variant" if rng.random() < 0.65 else "original",
                }
            )
    about = {
        "corpus": "c",
        "probe": "vflip",
        "baseline": "identity",
        "subject": "template",
        "axis": "spatial",
        "family": "vertical-flip",
        "stratum": "s",
        "source": "",
        "second_source": "",
        "attention": False,
        "directional": False,
        "comment": "",
    }
    return pd.DataFrame(rows).assign(**about)


def test_items_of_one_source_are_one_unit_of_every_share_and_of_the_balance() -> None:
    votes = leaning(40)
    alone, together = aggregates(votes), aggregates(of_sources(votes))
    blind = aggregates(of_sources(votes).assign(source=""))
    assert (together.n_items, blind.n_items) == (160, 160)
    assert together.balance_p == alone.balance_p
    assert blind.balance_p < alone.balance_p
    one, four, apart = (each.table().set_index("what") for each in (alone, together, blind))
    np.testing.assert_allclose(four["share"], one["share"])
    widths = [each["high"] - each["low"] for each in (one, four, apart)]
    assert (widths[1] >= widths[0] - 1e-9).all()
    assert (widths[2] < widths[0]).all()


def test_agreement_and_kappas_count_the_sources_of_items() -> None:
    votes = leaning(40)
    alone, together = (study_agreement(each, ACCEPTABILITY) for each in (votes, of_sources(votes)))
    blind = study_agreement(of_sources(votes).assign(source=""), ACCEPTABILITY)
    for one, four, apart in zip(alone, together, blind, strict=True):
        assert four.n_items == apart.n_items == 160
        for name in ("percent", "gwet", "fleiss", "alpha"):
            own, same, narrow = (getattr(each, name) for each in (one, four, apart))
            # α knows that so many more votes leave less to chance: by 1/960 here
            assert same.estimate == pytest.approx(own.estimate, abs=0.01)
            assert (same.low, same.high) == pytest.approx((own.low, own.high), abs=0.02)
            assert narrow.high - narrow.low < 0.6 * (own.high - own.low)
    pairs, repeated = study_kappas(votes, ACCEPTABILITY), study_kappas(of_sources(votes), ACCEPTABILITY)
    assert repeated["n"].tolist() == [4 * n for n in pairs["n"]]
    np.testing.assert_allclose(repeated[["kappa", "low", "high"]], pairs[["kappa", "low", "high"]], atol=1e-9)


def test_fifteen_items_judged_in_both_versions_are_fifteen_units_of_a_kappa() -> None:
    found = study_kappas(leaning(15), ACCEPTABILITY)
    assert set(found["n"]) == {30}
    assert found[["low", "high"]].isna().all(axis=None)
    assert set(found["note"]) == {"no interval (30 items of 15 sources, below 30)"}
    few = study_agreement(of_sources(leaning(9)), ACCEPTABILITY)[0]
    assert few.n_items == 36
    assert few.percent.note == "no interval (36 items of 9 sources, below 10)"


def test_a_study_without_votes_has_words_and_no_numbers(tmp_path: Path) -> None:
    votes = vote_table(make(tmp_path))
    found = aggregates(votes)
    assert found.n_items == 0
    assert math.isnan(found.balance_p)
    assert found.majority_tie.note == "no values"
    assert all("two votes" in row["note"] for each in study_agreement(votes, ACCEPTABILITY) for row in each.rows())
    assert study_kappas(votes, ACCEPTABILITY).empty
    assert disagreements(votes).empty


def test_agreement_counts_both_versions_of_an_item(study: Study) -> None:
    acceptability, preference = study_agreement(vote_table(study), ACCEPTABILITY)
    assert (acceptability.n_items, acceptability.n_votes) == (4, 24)
    # pairs that agree, original then variant, item by item: 3+1, 3+1, 3+1, 1+1 of 3 each
    assert acceptability.percent.estimate == pytest.approx(14 / 24)
    assert preference.percent.estimate == pytest.approx((1 + 1 + 1 + 0) / 12)


def test_weighted_kappas_are_over_the_versions_both_judged(study: Study) -> None:
    table = study_kappas(vote_table(study), ACCEPTABILITY)
    assert set(table["n"]) == {8}
    assert len(table) == 3


@pytest.mark.parametrize("kind", [SINGLE, PAIRED_RATING])
def test_the_other_kinds_have_agreement_too(tmp_path: Path, kind: object) -> None:
    study = make(tmp_path, kind=kind.name)  # type: ignore[attr-defined]
    for name in study.invite(["", ""]):
        for item in ("0001", "0002"):
            vote(study, name, item)
    found = study_agreement(vote_table(study), study.definition.asked)
    assert found[0].n_items == 2
    assert len(found) == (1 if kind is SINGLE else 2)


def test_disagreements_come_worst_first_and_unanimous_items_stay_out(study: Study) -> None:
    found = disagreements(vote_table(study))
    assert found["id"].tolist()[0] == "0004"
    assert "0005" not in set(found["id"])
    assert found["disagreement"].is_monotonic_decreasing


KINDS = {"kind": ["near", "far"]}
LOST = {"i001": "tie", "i003": "variant"}
"""Comparisons of ``swapped`` whose right side the majority does not prefer; people prefer all others."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    probes = ["identity", "vflip", "denied", "swapped:near"]
    return write_broken(tmp_path / "demo", rows_of(("e", "flat"), probes=probes), facts=facts_of(["denied"], KINDS))


def _study(parent: Path, name: str, count: int) -> Study:
    study = make(parent, name, items=comparisons(count))
    for person in study.invite(["", "", ""]):
        for item in study.definition.items:
            vote_versions(study, person, item.id, original=2, variant=0, preferred=LOST.get(item.item, "original"))
    return study


def _rates(table: ScoreTable, id_: str = "C-rates", chosen: Slice | None = None):
    asked = next(each for each in catalogue(table) if each.id == id_)
    return asked, asked.compute(table.view(chosen), Options())


def test_people_fail_where_two_thirds_do_not_prefer_the_right_side(folder: Path, tmp_path: Path) -> None:
    study = _study(tmp_path, "sides", 24)
    with Store.open(folder) as store:
        table = read_table(store)
        asked, rates = _rates(table)
        found = with_baseline(rates, table.view(), [study]).set_index(["evaluator", "label"])
    for evaluator in ("e", "flat"):
        assert found.loc[(evaluator, "denied"), ["people", "n_people"]].tolist() == [0, 12]
        row = found.loc[(evaluator, "swapped")]
        assert (row["people"], row["n_people"]) == (pytest.approx(100 * 2 / 12), 12)
        low, high = proportion_confint(2, 12, method="wilson")  # each of the twelve is of its own source
        assert 0 < row["people_low"] < 100 * low < 100 * high < row["people_high"] < 100  # people are a sample too
        assert found.loc[[(evaluator, "denied: near"), (evaluator, "denied: far")], "people"].isna().all()
    shown = [each.name for each in asked_of_people(asked, found).columns]
    assert shown.index("people") == shown.index("ties") + 1
    # the rest is as it was
    same = found.reset_index()[list(rates.columns)]
    assert same.equals(rates)


def test_where_only_known_falsities_count_people_are_asked_of_those_alone(tmp_path: Path) -> None:
    facts = facts_of(["denied"], {FALSITY: ["checked", "by-rule", "by-rule", "by-rule"]})  # every fourth item
    run = write_broken(tmp_path / "demo", rows_of(("e",), probes=["identity", "vflip", "denied"]), facts=facts)
    study = _study(tmp_path, "sides", 24)
    with Store.open(run) as store:
        table = read_table(store)
        _, rates = _rates(table)
        found = [with_baseline(rates, table.view(), [study], known=known) for known in (False, True)]
    judged = [each.set_index("label").loc["denied", "n_people"] for each in found]
    assert judged == [12, 6]  # every second item is of this family


def test_the_study_that_judged_most_counts_and_a_slice_holds(folder: Path, tmp_path: Path) -> None:
    few, many = _study(tmp_path, "few", 4), _study(tmp_path, "many", 12)
    with Store.open(folder) as store:
        table = read_table(store)
        _, rates = _rates(table)
        found = with_baseline(rates, table.view(), [few, many]).set_index(["evaluator", "label"])
        assert found.loc[("e", "swapped"), "n_people"] == 6
        small = table.view(Slice(coverage_bins=("none",)))
        assert with_baseline(rates, small, [few, many]).columns.tolist() == rates.columns.tolist()


def test_without_a_study_of_the_run_nothing_is_added(folder: Path, tmp_path: Path) -> None:
    other = make(tmp_path, "elsewhere", run="another", items=comparisons(4))
    with Store.open(folder) as store:
        table = read_table(store)
        asked, rates = _rates(table)
        for studies in ([], [other]):
            found = with_baseline(rates, table.view(), studies)
            assert found is rates
            assert asked_of_people(asked, found) is asked


def test_the_report_has_the_column_beside_both_tables_of_rates(folder: Path, tmp_path: Path) -> None:
    study = _study(tmp_path, "sides", 12)
    with Store.open(folder) as store:
        report = build(store, studies=[study], figures=False)
        bare = build(store, figures=False)
    for id_ in BESIDE:
        table = next(each for each in report.tables if each.id == id_)
        assert [each for each in table.columns if each in BESIDE_COLUMNS] == list(BESIDE_COLUMNS)
        assert len({*table.frame.loc[table.frame["family"] == "swapped", "people"].dropna()}) == 1
        assert not set(BESIDE_COLUMNS) & set(next(each for each in bare.tables if each.id == id_).columns)
    assert len(table.frame) <= 2 * ITEMS

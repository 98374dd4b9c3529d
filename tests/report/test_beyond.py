"""People's votes and the text encoders in the report are those of their pages."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.facts import MAY_BE_TRUE, may_be_true
from core.analysis.reading import read_table
from core.analysis.scope import narrow
from core.analysis.table import ScoreTable
from core.features.human.creation import create_study
from core.features.human.judged_comparisons import evaluator_rows, judged_comparisons, people_rows
from core.features.human.kinds import ACCEPTABILITY
from core.features.human.mace import study_competence
from core.features.human.powered_votes import powered_rows, what_more_votes_buy
from core.features.human.reanalysis import reanalyse
from core.features.human.sampling import family_strata
from core.features.human.studies import Study
from core.features.human.study_outcomes import (
    accepted_by_people,
    aggregates,
    item_outcomes,
    study_agreement,
    study_kappas,
    vote_rates,
)
from core.features.human.votes import vote_table
from core.report.beyond import NOT_ASKED, Beyond, beyond
from core.report.build import build
from core.report.document import Report
from core.report.fairness_card import card_report
from core.report.pair_slides import furthest
from core.statistics.bootstrap import LEAST_N
from core.store.store import Store
from tests.analysis.broken_runs import rows_of, write_broken
from tests.features.human.small_study import comparisons, items, make, vote_versions
from tests.pages.test_little_on_pages import offences


@pytest.fixture(scope="module")
def table(demo: Store) -> ScoreTable:
    return read_table(demo)


def named(found: Beyond, id_: str) -> pd.DataFrame:
    return next(each for each in found.tables if each.id == id_).frame


@pytest.fixture
def study(tmp_path: Path, table: ScoreTable) -> Study:
    """Three people on four vertical flips of the shipped run; of one only the original is accepted."""
    shown = [replace(each, item=str(name)) for each, name in zip(items(4), table.items["item"], strict=False)]
    made = make(tmp_path, items=tuple(shown))
    for name in made.invite(["", "", ""]):
        for place, item in enumerate(shown):
            vote_versions(
                made,
                name,
                item.id,
                original=2,
                variant=0 if place == 0 else 2,
                preferred="original" if place == 0 else "tie",
            )
    return made


def test_votes_are_reported_as_the_page_shows_them(table: ScoreTable, study: Study) -> None:
    found = beyond(table, studies=[study])
    votes = vote_table(study)
    assert found.studied
    shares = aggregates(votes, live=True).table()
    told = named(found, "S-human-outcomes")
    np.testing.assert_allclose(told["share"], 100 * shares["share"])
    np.testing.assert_allclose(told["low"], 100 * shares["low"])
    assert set(told["study"]) == {study.id}
    rows = pd.DataFrame([row for each in study_agreement(votes, ACCEPTABILITY) for row in each.rows()])
    pd.testing.assert_frame_equal(named(found, "S-human-agreement").drop(columns="study"), rows)
    rates = vote_rates(votes, ACCEPTABILITY, live=True)
    pd.testing.assert_frame_equal(named(found, "S-human-rates").drop(columns="study"), rates)
    again = reanalyse(table, item_outcomes(votes)).table
    pd.testing.assert_frame_equal(named(found, "S-human-scores")[list(again.columns)], again)
    assert not {each.id for each in found.missing} & {each.id for each in found.tables}


def test_an_odd_study_is_left_out_with_its_reason_and_the_others_are_reported(
    table: ScoreTable, study: Study, tmp_path: Path
) -> None:
    odd = make(tmp_path / "odd", "odd", items=study.definition.items, strata=(("no such stratum", 1, 0, 1),))
    for name in odd.invite(["", ""]):
        vote_versions(odd, name, odd.definition.items[0].id, original=2, variant=2, preferred="tie")
    alone = beyond(table, studies=[odd])
    assert not alone.tables
    assert alone.studies == []
    assert "study odd is left out" in next(each for each in alone.missing if each.id == "S-human-powered").reason
    both = beyond(table, studies=[odd, study])
    assert set(named(both, "S-human-outcomes")["study"]) == {study.id}
    assert both.studies == [study]


def test_rates_over_all_pairs_are_reported_as_the_page_shows_them(
    tmp_path: Path, demo: Store, table: ScoreTable
) -> None:
    drawn = create_study(
        demo,
        "demo",
        study_id="rates",
        title="t",
        kind="acceptability",
        total=24,
        per_item=1,
        attention_rate=0.0,
        seed=1,
        parent=tmp_path,
        strata=family_strata(["vertical-flip", "rotation"]),
    )
    assert "S-human-powered" in {each.id for each in beyond(table, studies=[drawn]).missing}
    (ada,) = drawn.invite([""])
    for place, item in enumerate(drawn.definition.items):
        vote_versions(drawn, ada, item.id, original=2, variant=2 * (place % 2), preferred="tie")
    found = beyond(table, studies=[drawn])
    told, rows = named(found, "S-human-powered"), powered_rows(drawn, table)
    pd.testing.assert_frame_equal(told[list(rows.columns)], rows)
    assert list(told["bought"]) == [what_more_votes_buy(row) for row in rows.to_dict("records")]
    figure = next(each for each in found.figures if each.id == "S-human-powered-rates")
    assert set(figure.frame["series"]) == {"votes alone", "joined with scores"}
    assert {"rates, " + name for name in rows["question"]} == set(figure.frame["panel"])


def test_the_agreement_of_two_annotators_is_a_map_that_names_nobody(table: ScoreTable, study: Study) -> None:
    found, votes = beyond(table, studies=[study]), vote_table(study)
    pairs, told = study_kappas(votes, ACCEPTABILITY), named(found, "S-human-kappa")
    assert len(told) == 3  # of three annotators
    assert set(told["one"]) | set(told["other"]) == {"A1", "A2", "A3"}
    np.testing.assert_allclose(sorted(told["kappa"]), sorted(pairs["kappa"]))
    assert not set(pairs["one"]) & set(told["one"])
    figure = next(each for each in found.figures if each.id == "S-human-kappa-map")
    assert (figure.id, figure.kind, len(figure.frame)) == ("S-human-kappa-map", "map", 6)
    cell = {(row["label"], row["series"]): row["value"] for row in figure.frame.to_dict("records")}
    for row in told.to_dict("records"):
        assert cell[row["one"], row["other"]] == cell[row["other"], row["one"]] == pytest.approx(row["kappa"])


def test_competence_is_reported_without_names_and_beside_majorities(table: ScoreTable, study: Study) -> None:
    found, own = beyond(table, studies=[study]), study_competence(vote_table(study), ACCEPTABILITY)
    told = named(found, "S-human-competence")
    assert set(told["annotator"]) == {"A1", "A2", "A3"}
    np.testing.assert_allclose(told["competence"], own.people["competence"])
    np.testing.assert_allclose(told["with_others"], own.people["with_others"])
    pd.testing.assert_frame_equal(named(found, "S-human-answers").drop(columns="study"), own.answers)
    assert "S-human-competence-dots" in {each.id for each in found.figures}


def test_people_s_ratings_stand_below_the_means_of_both_sides(tmp_path: Path) -> None:
    """Everybody finds the right side fully correct and the wrong one wrong: 1 and 0 of the scale."""
    folder = write_broken(tmp_path / "demo", rows_of(("e",), probes=["identity", "denied", "swapped:near"]))
    study = make(tmp_path, items=comparisons(4))
    for name in study.invite(["", ""]):
        for item in study.definition.items:
            vote_versions(study, name, item.id, original=2, variant=0, preferred="original")
    with Store.open(folder) as store:
        report = build(store, studies=[study])
    frame = next(each.frame for each in report.tables if each.id == "C24")
    asked = {item.family for item in study.definition.items}
    people = frame[frame["evaluator"] == f"people, study {study.id}"].set_index("family")
    assert set(people.index) == asked & set(frame["family"])
    assert len(people)
    assert set(zip(people["mean_right"], people["mean_wrong"], people["corpus"], strict=True)) == {(1.0, 0.0, "c")}
    assert all("rated higher in 100 %" in note for note in people["note"])
    assert len(frame) == len(people) + 2


def test_what_people_say_of_comparisons_stands_beside_the_evaluators_on_the_same_ones(tmp_path: Path) -> None:
    folder = write_broken(tmp_path / "demo", rows_of(("e", "flat")))
    with Store.open(folder) as store:
        own = read_table(store)
    study = make(tmp_path, items=comparisons(4))
    for name in study.invite(["", ""]):
        for item in study.definition.items:
            vote_versions(study, name, item.id, original=2, variant=0, preferred="original")
    found = beyond(own, studies=[study])
    judged, _ = judged_comparisons(vote_table(study), ACCEPTABILITY)
    told = named(found, "S-human-comparisons").drop(columns="study")
    pd.testing.assert_frame_equal(told, people_rows(judged))
    told = named(found, "S-human-failures").drop(columns="study")
    pd.testing.assert_frame_equal(told, evaluator_rows(judged, [own]))
    elsewhere = make(tmp_path, "elsewhere", items=tuple(replace(each, subject="template") for each in comparisons(4)))
    for name in elsewhere.invite(["", ""]):
        vote_versions(elsewhere, name, "0001", original=2, variant=0, preferred="original")
    reasons = {each.id: each.reason for each in beyond(own, studies=[elsewhere]).missing}
    assert "no comparison of this scope" in reasons["S-human-comparisons"]


def test_without_a_study_of_these_runs_the_report_says_that_nobody_was_asked(tmp_path: Path, table: ScoreTable) -> None:
    elsewhere = make(tmp_path, run="another")
    for studies in ((), (elsewhere,)):
        found = beyond(table, studies=studies)
        reasons = {each.id: each.reason for each in found.missing}
        assert "no study was run" in reasons["S-human-outcomes"]
        assert not found.studied
    empty = beyond(table, studies=[make(tmp_path, "empty")])
    assert "has no vote yet" in {each.id: each.reason for each in empty.missing}["S-human-scores"]


def test_a_study_of_pairs_that_the_scope_does_not_hold_names_why_the_scores_cannot_be_read_again(
    tmp_path: Path, table: ScoreTable
) -> None:
    made = make(tmp_path)
    for name in made.invite(["", ""]):
        vote_versions(made, name, "0001", original=2, variant=2, preferred="tie")
    found = beyond(table, studies=[made])
    assert "scored no pair of this study" in {each.id: each.reason for each in found.missing}["S-human-scores"]
    assert len(named(found, "S-human-outcomes"))


def test_geometry_is_of_every_text_encoder_that_can_be_asked(demo_report: Report) -> None:
    shown = next(each for each in demo_report.tables if each.id == "S-geometry")
    words = next(each for each in demo_report.details if each.id == "S-geometry-words").frame
    assert set(shown.frame["evaluator"]) == {"conse-lite0", "conse-lite2"}
    assert set(shown.frame["level"]) == {"word", "phrase"}
    assert "grounding-judge: it has no text encoder" in shown.note
    rows = shown.frame[(shown.frame["family"] != "all") & (shown.frame["level"] == "word")]
    assert len(rows) >= 4
    for row in rows.itertuples():
        own = words[
            (words["evaluator"] == row.evaluator) & (words["level"] == "word") & (words["family"] == row.family)
        ]
        assert row.n == len(own)
        assert row.rho == pytest.approx(own["projection"].corr(own["median_percent"], method="spearman"))
    open_ = rows[rows["p"] >= 0.05]
    assert len(open_)
    assert open_["said"].str.contains("No link is found between").all()
    assert (
        open_.loc[open_["n"] >= 7, "said"]
        .str.contains("would be found 80 % of the time; a weaker one may be missed")
        .all()
    )
    assert "said" in [each.name for each in shown.columns]


def test_without_asking_the_encoders_the_geometry_is_named_as_not_given(table: ScoreTable) -> None:
    assert {each.id: each.reason for each in beyond(table).missing}["S-geometry"] == NOT_ASKED


def test_the_other_families_of_words_are_crossed_with_what_is_shown_too(demo_report: Report) -> None:
    ids = {each.id for each in demo_report.tables}
    assert {"S16", "S16-economic", "S16-gender", "S16-emotion"} <= ids
    for name in ("economic", "gender"):
        made = next(each for each in demo_report.tables if each.id == f"S16-{name}")
        # the verdict of a row and its corrected p stand beside each other, and so does where they differ
        assert {"drift", "p_holm", "m_tests", "conflict"} <= {column.name for column in made.columns}
        frame = made.frame
        assert set(frame["family"]) == {name}


def test_a_word_that_people_accept_is_known_on_the_card_and_among_the_furthest_pairs(
    demo: Store, table: ScoreTable, tmp_path: Path
) -> None:
    shown = [replace(each, family="cultural") for each in items(12)]
    made = make(tmp_path, items=tuple(shown), run=table.scope.run)
    for name in made.invite(["", "", ""]):
        for item in shown:
            vote_versions(made, name, item.id, original=2, variant=2, preferred="tie")
    scope, unsure = narrow(demo), f"cultural \\([^)]*{MAY_BE_TRUE}"
    card = card_report(demo, scope)
    assert re.search(unsure, card) is not None
    known = card_report(demo, scope, studies=[made])
    assert re.search(unsure, known) is None
    assert "people accept both captions of 12 of 12 items (study pilot)" in known
    assert "(study " not in card
    words = may_be_true(table, accepted_by_people([made], table.scope.run_ids))
    assert words == may_be_true(table) - {"cultural"}
    told = furthest(demo, scope, most=200, studies=[made])
    named = table.families()["cultural"]
    assert any(f"probe {probe};" in slide.of for slide in told.slides for probe in named)
    assert not any("may be true" in said for slide in told.slides for said in slide.said)


@pytest.mark.parametrize(("items_asked", "accepts"), [(4, 4), (LEAST_N - 1, LEAST_N - 1), (12, 7)])
def test_a_word_stays_one_that_may_be_true_until_enough_items_show_that_people_accept_it(
    table: ScoreTable, tmp_path: Path, items_asked: int, accepts: int
) -> None:
    shown = [replace(each, family="cultural") for each in items(items_asked)]
    made = make(tmp_path, items=tuple(shown), run=table.scope.run)
    for name in made.invite(["", "", ""]):
        for place, item in enumerate(shown):
            variant = 2 if place < accepts else 0
            vote_versions(made, name, item.id, original=2, variant=variant, preferred="tie")
    assert accepted_by_people([made], table.scope.run_ids) == {}
    assert "cultural" in may_be_true(table, accepted_by_people([made], table.scope.run_ids))


def test_the_report_names_the_study_by_which_a_word_is_known(demo: Store, tmp_path: Path) -> None:
    shown = [replace(each, family="cultural") for each in items(12)]
    made = make(tmp_path, items=tuple(shown), run="demo")
    for name in made.invite(["", "", ""]):
        for item in shown:
            vote_versions(made, name, item.id, original=2, variant=2, preferred="tie")
    told = build(demo, narrow(demo), whole=False, figures=False, studies=[made]).opening
    assert "Of cultural, people accept both captions of 12 of 12 items (study pilot)." in told.audited


@pytest.mark.parametrize("count", [1, 30])
def test_of_one_annotator_nothing_is_claimed_and_every_table_says_why(
    tmp_path: Path, table: ScoreTable, count: int
) -> None:
    shown = [replace(each, item=str(name)) for each, name in zip(items(count), table.items["item"], strict=False)]
    made = make(tmp_path, items=tuple(shown))
    for place, item in enumerate(shown):
        (ada,) = made.state().annotators or made.invite([""])
        vote_versions(made, ada, item.id, original=2, variant=place % 3, preferred="variant")
    found = beyond(table, studies=[made])
    frames = [each.frame for each in found.tables]
    assert list(offences("one item", " ".join(each.note for each in found.tables), frames)) == []
    rates, agreement = named(found, "S-human-rates"), named(found, "S-human-agreement")
    assert rates[["low", "high"]].isna().all(axis=None)
    assert rates["note"].str.startswith("1 annotator cannot tell how far people differ").all()
    assert agreement["estimate"].isna().all()
    assert set(agreement["note"]) == {"no item has two votes"}
    why = {each.id: each.reason for each in found.missing}
    for name in ("outcomes", "kappa", "competence", "answers", "scores"):
        assert re.search(r"no item .* two votes|no two annotators|no pair has two votes", why[f"S-human-{name}"]), name
    assert accepted_by_people([made], table.scope.run_ids) == {}, "one person's yes leaves no word accepted"

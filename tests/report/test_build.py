"""What a report holds, what it says that it cannot hold, and whether its numbers are those of the analysis."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.analysis.scope import Scope
from core.errors import InvalidInput
from core.features.feature import parts
from core.features.suites.suite_result import added
from core.report.build import build
from core.report.document import Report, cells
from core.report.kept_results import suite_tables
from core.store.store import Store
from tests.analysis.made_runs import audited, score, write_run
from tests.analysis.suites.made import calibrated, pascal_result

PAPER_TABLES = {f"Table {number}" for number in range(2, 18)}
PAPER_FIGURES = {f"Figure {number}" for number in range(2, 16)}

Open = Callable[..., Store]


def papers(report: Report) -> set[str]:
    everything = [*report.tables, *report.figures, *report.missing]
    return {found.group() for each in everything if (found := re.match(r"(Table|Figure) \d+", each.paper))}


def table(report: Report, id_: str) -> pd.DataFrame:
    return next(each for each in report.tables if each.id == id_).frame


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Open]:
    """A store of runs written by hand: id of a run -> its rows."""
    opened: list[Store] = []

    def make(**runs: list[dict[str, Any]]) -> Store:
        folder = tmp_path / f"s{len(opened)}"
        for name, rows in runs.items():
            write_run(folder / name, rows, corpus={"name": rows[0]["corpus"]})
        opened.append(Store.open(folder))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


@pytest.mark.parametrize("which", ["demo_report", "several_report"])
def test_every_table_and_figure_of_the_paper_is_made_or_named_with_a_reason(
    which: str, request: pytest.FixtureRequest
) -> None:
    report: Report = request.getfixturevalue(which)
    assert papers(report) == PAPER_TABLES | PAPER_FIGURES
    assert all(each.reason for each in report.missing)


def test_one_corpus_lacks_what_compares_corpora_and_several_do_not(demo_report: Report, several_report: Report) -> None:
    across = {"T9", "T10", "T11", "T12", "F9", "F10"}
    unasked = {
        "occupational",
        "natural-cultural",
        "natural-economic",
        "natural-gender",
        "natural-emotion",
        "natural-occupational",
        "gender-colloquial",
        "natural-gender-colloquial",
        "resampling",
        "compression",
        "caption-form",
        "verbosity",
        "typographic",
    }
    people = {
        "S-human-outcomes",
        "S-human-agreement",
        "S-human-rates",
        "S-human-scores",
        "S-human-comparisons",
        "S-human-failures",
        "S-human-kappa",
        "S-human-powered",
        "S-human-competence",
        "S-human-answers",
    }
    elsewhere = {each.name for each in parts().values() if each.reason}
    directional = {
        "C-rates",
        "C-matrix",
        "C1",
        "C2",
        "C3",
        "C5",
        "C16",
        "C18",
        "C19",
        "C20",
        "C21",
        "C21-drops",
        "C22",
        "C23",
        "C24",
        "C24-sides",
        "C25",
        "C27",
        "C28",
        "C29",
        "C29-effects",
        "C-selectivity",
        "C-selective",
        "C-plane",
        "C-hidden-cells",
        "C-hidden",
        "C-crossed",
        "C-object",
        "C-object-drops",
        "C-object-scores",
        "C-sets",
        "C-sweep",
        "C-sweep-curves",
        "C2-languages",
        "C2-by-language",
        "C1-languages",
        "C-rewards",
        "C18-differences",
        "C11-siblings",
        "C20-along",
        "C17",
        "C-nested",
        "C21-both",
        "C21-both-orders",
    }
    natural = {"S32", "S33", "S34", "S35", "F-natural", "F-natural-order"}
    places = {
        "F-distance",
        "F-places",
        "S19-map",
        "S19-lean",
        "S31",
        "S36",
        "F-length",
        "S-text",
        "F-text",
        "S-chroma",
        "F-chroma",
    }
    suites = {"C4", "T17", "C9", "C10", "C11", "C12", "S-suite-decisions", "S-suite-ranks", "S-caparena"}
    suites |= {"S-two-pictures", "S-suite-risks"}
    turned = {"S-turned", "F-turned"}  # each picture has one caption here
    nowhere = turned | suites | natural | places | {f"S-{name}" for name in unasked} | people | elsewhere | directional
    assert {each.id for each in demo_report.missing} == across | nowhere | {"F-corpora"}
    # nothing was left out, no text encoder is asked, and no cell of category and coverage has enough items
    assert {each.id for each in several_report.missing} == nowhere | {
        "S13",
        "S-geometry",
        "S-reposition-ground",
        "S25",
        "F-filling",
        "S-slices",
        "F-slices",
        "S37",
        "S-ties",
    }
    assert across <= {each.id for each in (*several_report.tables, *several_report.figures)}


@pytest.mark.parametrize("which", ["demo_report", "several_report"])
def test_ids_are_unique_and_no_table_is_empty(which: str, request: pytest.FixtureRequest) -> None:
    report: Report = request.getfixturevalue(which)
    ids = [each.id for each in (*report.tables, *report.figures, *report.details)]
    assert len(ids) == len(set(ids))
    for each in (*report.tables, *report.details):
        assert len(each.frame) > 0, each.id
        assert each.note
        assert {column.name for column in each.columns} <= set(each.frame), each.id
        assert all(len(row) == len(each.columns) for row in cells(each))
    for figure in report.figures:
        assert {"label", "series", "panel", "value", "low", "high", "n"} <= set(figure.frame), figure.id


def test_every_number_with_an_interval_has_its_n(demo_report: Report) -> None:
    for each in demo_report.tables:
        if any(column.low for column in each.columns):
            names = {column.name for column in each.columns}
            assert names & {"n", "n_items"}, each.id


def test_intervals_hold_their_estimate(demo_report: Report) -> None:
    for each in demo_report.tables:
        for column in each.columns:
            if column.low and not column.to:
                frame = each.frame.dropna(subset=[column.low])
                assert (frame[column.low] <= frame[column.name] + 1e-9).all(), each.id
                assert (frame[column.name] <= frame[column.high] + 1e-9).all(), each.id


def test_corpora_are_pooled_in_tables_3_and_4_alone(several_report: Report) -> None:
    for each in (*several_report.tables, *several_report.details):
        if "corpus" in each.frame:
            assert ("all" in set(each.frame["corpus"])) == (each.id in ("T3", "T4")), each.id
            assert ("“all”" in each.note) == (each.id in ("T3", "T4")), each.id
    for each in several_report.short:
        if each.id in ("T3", "T4"):
            assert "Rows of 2 more corpora and all together are in the data" in each.note


def test_flip_risk_has_a_row_for_every_corpus(several_report: Report) -> None:
    found = table(several_report, "T13")
    families = {corpus: set(rows["label"]) for corpus, rows in found.groupby("corpus")}
    assert set(families) == {"made-up-a", "made-up-b", "made-up-c"}
    assert len(set(map(frozenset, families.values()))) == 1
    assert found["n_items"].max() <= 60


def test_the_paper_s_contrasts_that_no_score_is_of_are_named(made: Open) -> None:
    report = build(made(r=audited("vflip", "hflip", "rotate-5")), figures=False)
    found = next(each for each in report.tables if each.id == "T13")
    assert found.frame["label"].tolist() == ["vertical flip", "horizontal-flip", "rotation"]
    assert found.frame["of"].tolist() == ["contrast and whole family", "whole family", "whole family"]
    assert found.note.endswith(
        "Left out, for no score here is of it: bottom right vs top left; rotation by ±10°; cultural vs neutral; cheap, "
        "expensive vs neutral."
    )


def test_what_is_missing_names_the_family_and_the_command_that_makes_it(made: Open) -> None:
    """Rotations alone answer table 4, and leave figure 3 and the societal gaps without a row."""
    turned = {"rotate-5": "rotate-10", "rotate+5": "rotate+10"}
    rows = [{**row, "probe": turned.get(row["probe"], row["probe"])} for row in audited("rotate-5", "rotate+5")]
    report = build(made(r=rows))
    reasons = {each.id: each.reason for each in report.missing}
    assert "an object moved to the top left and to the bottom right; an audit with it" in reasons["F3"]
    assert reasons["F3"].endswith("--probes reposition-TL,reposition-BR")
    assert "no run has words before a noun; an audit with it" in reasons["T15"]
    assert {"T4", "T14"} <= {each.id for each in report.tables}
    assert "audit a second one beside it" in reasons["F12b"]


def test_calibration_is_reported_on_the_split_that_it_did_not_learn_from(demo_report: Report) -> None:
    found = table(demo_report, "T16")
    assert found["n"].max() < 252
    assert np.isfinite(found[["before", "after"]].to_numpy(float)).all()


def test_a_run_without_any_score_of_the_scope_is_refused(demo: Store) -> None:
    with pytest.raises(InvalidInput, match="no run 'x' is open; there are: demo"):
        build(demo, Scope(runs=("x",)))
    with pytest.raises(InvalidInput, match="no subject 'human' is open; there are: template"):
        build(demo, Scope(subject="human"))
    with Store.open([]) as empty, pytest.raises(InvalidInput, match="no run has a score"):
        build(empty)


def test_an_edit_of_the_other_caption_is_said_to_be_left_out_and_not_to_be_absent(made: Open) -> None:
    """A caption probe beside --subject human files its pairs under the template."""
    human = audited("vflip", "hflip", subject="human")
    both = made(r=human + audited("gender:boy", subject="template", seed=1))
    report = build(both, Scope(subject="human"), figures=False)
    assert table(report, "T3")["n_items"].tolist() == [24]
    reason = next(each.reason for each in report.missing if each.id == "S4")
    assert reason == ("not in this scope: gender words; choose run r, caption template (not human)")
    assert "subject human" in report.about["Captions"]
    assert "Left out" in report.about
    assert "subject:human" in report.signature
    other = build(both, Scope(subject="template"), figures=False)
    assert len(table(other, "S4")) == 2
    assert "caption human (not template)" in next(each.reason for each in other.missing if each.id == "T3")


def test_of_two_runs_of_a_corpus_one_is_reported_and_the_other_named(made: Open) -> None:
    store = made(one=audited("vflip"), two=audited("vflip", "hflip", seed=3))
    report = build(store, whole=False, figures=False)
    assert "two" in report.about["Runs"]
    assert "left out one" in report.about["Left out"]
    assert "|runs:two|" in report.signature
    assert "|runs:one|" in build(store, Scope(runs=("one",)), whole=False, figures=False).signature


def test_a_family_that_nobody_named_here_appears_by_itself(made: Open) -> None:
    hats = {f"hat-{size}": {"axis": "spatial", "family": "hats", "baseline": "identity"} for size in ("small", "large")}
    oaths = {
        f"oath:{word}": {"axis": "lexical", "family": "oaths", "baseline": "identity", "modifier": word}
        for word in ("dash", "drat")
    }
    rows = audited("vflip")
    for place, (name, about) in enumerate({**hats, **oaths}.items()):
        rng = np.random.default_rng(place)
        rows += [
            score(f"i{item:03d}", name, float(rng.uniform(0.2, 0.9)), coverage=0.05 + item / 40, **about)
            for item in range(24)
        ]
    report = build(made(r=rows))
    assert set(table(report, "S-hats")["label"]) == {"hat-small", "hat-large"}
    assert set(table(report, "S-oaths")["label"]) == {"dash", "drat"}
    assert {"S-hats-levels", "S-oaths-levels"} <= {each.id for each in report.tables}
    assert {"F-hats", "F-oaths", "F-lexical"} <= {each.id for each in report.figures}
    assert {"hats", "oaths", "vertical-flip"} <= set(table(report, "S1")["label"])
    assert {"hats", "oaths"} <= set(table(report, "T13")["family"])


def test_the_digest_in_the_signature_follows_the_scores_and_nothing_else(made: Open) -> None:
    def digits(**runs: list[dict[str, Any]]) -> str:
        return build(made(**runs), whole=False, figures=False).signature.rpartition(":")[2]

    rows = audited("vflip")
    assert digits(r=rows) == digits(r=rows[::-1])
    assert digits(r=rows) != digits(r=audited("vflip", seed=9))


def test_a_report_holds_the_suites_of_its_evaluators_and_of_no_others(made: Open, tmp_path: Path) -> None:
    result = pascal_result(tmp_path / "suite", "e", "another")
    result = added(result, calibrated(result.reached[0]))
    report = build(made(r=audited("vflip")), suites=[result], figures=False)
    held = {each.id: each for each in report.tables}
    assert {"T17", "C10", "S-suite-decisions"} <= set(held)
    lacks = {each.id for each in report.missing}
    assert lacks & {"T17", "C10", "S-suite-decisions", "S-suite-ranks", "S-caparena"} == {
        "S-suite-ranks",
        "S-caparena",
    }
    assert held["T17"].paper == "Table 17"
    assert held["T17"].frame[["suite", "evaluator", "n", "change"]].to_numpy().tolist() == [["Pascal-50S", "e", 48, 0]]
    assert set(held["C10"].frame["evaluator"]) == {"e", "e, calibrated (c.json, orbit, λ = 0.5)"}
    for name in ("T17", "C10", "S-suite-decisions"):
        assert cells(held[name])


def test_metrics_of_references_stand_beside_the_evaluators_of_a_report_and_never_alone(tmp_path: Path) -> None:
    both, alone = (
        pascal_result(tmp_path / f"{at}", *names) for at, names in enumerate((("e", "cider-d"), ("cider-d",)))
    )
    held = {each.id: each.frame for each in suite_tables([both], {"e"}).tables}
    assert set(held["C10"]["evaluator"]) == {"e", "cider-d"}
    assert set(held["T17"]["evaluator"]) == {"e"}
    assert not suite_tables([alone], {"e"}).tables

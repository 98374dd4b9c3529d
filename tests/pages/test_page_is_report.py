"""A page's number is the report's and the card's, whichever captions were held and however many runs a corpus has."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
import streamlit as st

from core.analysis.facts import MAY_BE_TRUE
from core.analysis.flip_cells import IQR
from core.analysis.flip_shifts import SAME
from core.analysis.overview import picked_of
from core.analysis.questions import Options, catalogue
from core.analysis.scope import Narrowed, Scope, narrow
from core.analysis.slices import Slice
from core.analysis.verdicts import reached, told_from_null
from core.report.build import build
from core.report.document import Report, number
from core.report.fairness_card import card_report
from core.settings import results_dir
from pages.views.common.open_runs import Signature, card, families, present, risks, scores, store
from pages.views.common.shown_answers import answer, questions
from tests.analysis.made_runs import SHIPPED, audited, write_run
from tests.pages.opening import Open, unfolded

EDITS = ("vflip", "hflip", "rotate-5", "rotate+5", "blur-1", "null:shift1")
WORDS = ("gender:boy", "gender:girl")


SUBJECTS = {"template": EDITS + WORDS, "human": EDITS, "both": ()}
"""What an audit can hold, with its probes: images under both captions, words under the template."""

STORED = [(held, runs) for held in SUBJECTS for runs in (1, 2)]
"""Captions held and runs of the corpus."""


def audit_of(held: str, *, seed: int, items: int) -> list[dict]:
    """Rows of two evaluators under the captions held; no two have one score."""
    return [
        row
        for place, name in enumerate(("e", "f"))
        for turn, subject in enumerate(("template", "human") if held == "both" else (held,))
        for row in audited(
            *SUBJECTS[subject], seed=seed + place + 5 * turn, subject=subject, evaluator=name, items=items
        )
    ]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Signature]:
    """The store over some runs of a corpus, (captions held, how many runs), or over the shipped one."""
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    st.cache_data.clear()
    st.cache_resource.clear()
    if request.param == "shipped":
        results_dir().mkdir(parents=True)
        (results_dir() / "demo").symlink_to(SHIPPED, target_is_directory=True)
    else:
        held, runs = request.param
        for place in range(runs):
            rows = audit_of(held, seed=10 * place, items=24 - 4 * place)
            write_run(results_dir() / f"run-{place}", rows, corpus={"name": "c"})
    yield present()
    st.cache_data.clear()
    st.cache_resource.clear()


def assert_same(files: Signature, scope: Narrowed, report: Report) -> set[str]:
    """Ids of the questions whose answer on the page is the frame in the report."""
    written = {each.id: each.frame for each in (*report.tables, *report.details)}
    drawn = {each.id: each.frame for each in report.figures}
    compared = set()
    for id_, question in questions(files, scope).items():
        if question.needs(scores(files, scope)):
            assert id_ not in written
            continue
        frame = answer(files, scope, Slice(), id_, Options())
        if question.columns and len(frame):
            pd.testing.assert_frame_equal(frame, written[id_], obj=id_)
            compared.add(id_)
        for drawing in question.figures if len(frame) else ():
            figure = drawing.figure(frame).frame
            if len(figure):
                pd.testing.assert_frame_equal(figure, drawn[drawing.id], obj=drawing.id)
    assert_card(files, scope, written)
    return compared


def whose(risk: pd.Series, apart: float, *, digits: int) -> str:
    return f"; different pictures {number(apart, digits=digits)}" if risk["pairs"] == SAME else ", different pictures"


ADJUSTED = ("drift", "scatter", "conflict", "direction", "detectable", "needed", "note", "than_null", "null_detectable")
"""What follows from an interval."""

PICKED = ("n_families", "worst_in", "alike")


def assert_card(files: Signature, scope: Narrowed, written: dict[str, pd.DataFrame]) -> None:
    """Hold the card of the page and the printed one to the report's rows of the same families."""
    seen, keys = scope.only(), ["evaluator", "axis", "family"]
    of_report = written["S1"].assign(family=written["S1"]["label"]).set_index(keys)
    flips, gaps = (rows[rows["of"] != "paper’s contrast"].set_index(keys) for rows in (written["T13"], written["S24"]))
    at_gap = flips[["iqr_risk", "iqr_low", "iqr_high"]]
    shown, risk = card(files, seen).set_index(keys), risks(files, seen).set_index([*keys, "unit"])
    every = families(files, seen).set_index(keys)
    for frame in (every, shown):
        same = [each for each in frame.columns if each in of_report.columns]
        assert {"median_abs_percent", "abs_low", "n_items", "p_holm", "drift", "conflict", "beyond"} <= set(same)
        if frame is shown:  # the worst of some: its intervals and claims allow for the picking, and so are wider
            alone = of_report.loc[frame.index]
            for end in (each for each in same if each.endswith("low") and frame[each].notna().any()):
                assert (frame[end].isna() | (frame[end] <= alone[end] + 1e-9)).all(), end
                high = f"{end[:-3]}high"
                assert (frame[high].isna() | (frame[high] >= alone[high] - 1e-9)).all(), high
            same = [each for each in same if each not in ADJUSTED and not each.endswith(("low", "high"))]
        pd.testing.assert_frame_equal(frame[same], of_report.loc[frame.index, same], check_dtype=False)
    for key in shown.index:
        own = risk.loc[(*key, IQR)]
        allows(100 * own[["risk", "low", "high"]].astype(float), at_gap.loc[key])
        allows(own[["evidence", "evidence_low", "evidence_high"]], gaps.loc[key, ["value", "low", "high"]])
    assert sorted(printed(card_report(store(files), scope))) == sorted(
        [
            [
                evaluator,
                axis,
                f"{family} ({picked_of(row['n_families'], row['worst_in'], row['alike'])}"
                f"{f'; {MAY_BE_TRUE}' if axis == 'societal' else ''})",
                said(row[["median_abs_percent", "abs_low", "abs_high"]], digits=2),
                str(row["n_items"]),
                said(100 * (mine := risk.loc[(evaluator, axis, family, IQR)])[["risk", "low", "high"]], digits=1)
                + whose(mine, 100 * mine["apart_risk"], digits=1),
                number(flips.loc[(evaluator, axis, family), "iqr_null_risk"], digits=1),
                said(mine[["evidence", "evidence_low", "evidence_high"]], digits=3)
                + whose(mine, mine["apart_evidence"], digits=3),
                claimed(row),
            ]
            for (evaluator, axis, family), row in (
                of_report.loc[shown.index].assign(**shown[[*PICKED, *ADJUSTED, "abs_low", "abs_high"]]).iterrows()
            )
        ]
    )


def allows(picked: pd.Series, alone: pd.Series) -> None:
    """Hold a number of the worst family to the report's: the same, with an interval that allows for the picking."""
    (value, low, high), (same, least, most) = picked.astype(float), alone.astype(float)
    assert value == pytest.approx(same, nan_ok=True)
    assert pd.isna(low) == pd.isna(least)
    assert pd.isna(low) or (low <= least + 1e-9 and high >= most - 1e-9)


def said(interval: pd.Series, *, digits: int) -> str:
    value, low, high = (number(each, digits=digits) for each in interval)
    if pd.isna(interval.iloc[1]):
        return value if pd.isna(interval.iloc[0]) else f"{value} (no interval)"
    return f"{value} [{low}, {high}]"


def claimed(row: pd.Series) -> str:
    shown = row["direction"] or reached(row["drift"], row["detectable"], row["needed"])
    drifts = f"{row['drift']} ({shown})" if shown else row["drift"]
    said = told_from_null(row["than_null"], row["null_detectable"])
    null = f"{row['than_null']} ({said})" if said else row["than_null"]
    return "; ".join(filter(None, (drifts, row["scatter"], null, row["conflict"])))


class Printed(HTMLParser):
    """Rows of the tables of a card, each behind the name of its evaluator."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside, self.evaluator, self.table = "", "", False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.inside, self.table = tag, self.table or tag == "table"
        if tag == "tr":
            self.rows.append([self.evaluator])

    def handle_data(self, data: str) -> None:
        if self.inside == "b" and self.table:
            self.evaluator = data
            self.rows[-1][0] = data
        elif self.inside == "td":
            self.rows[-1].append(data)

    def handle_endtag(self, tag: str) -> None:
        self.inside, self.table = "", self.table and tag != "table"


def printed(document: str) -> list[list[str]]:
    parser = Printed()
    parser.feed(document)
    return [row for row in parser.rows if len(row) > 1]


@pytest.mark.parametrize("files", STORED, indirect=True, ids=[f"{held}, runs {runs}" for held, runs in STORED])
def test_the_page_shows_what_the_report_writes_and_the_card_states(
    files: Signature, request: pytest.FixtureRequest
) -> None:
    held = re.sub(r".*\[(\w+),.*", r"\1", request.node.name)
    for subject in ("template", "human") if held == "both" else (held,):
        scope = narrow(store(files), Scope(subject="human" if (held, subject) == ("both", "human") else None))
        assert scope.runs == (("c", "run-0"),)
        assert scope.subject == subject
        compared = assert_same(files, scope, build(store(files), scope))
        assert {"T3", "T5", "T13", "S1", "S1-spatial", "S11", "S14", "S15-coverage", "S-rotation"} <= compared
        assert ("S4" in compared) == (scope.subject == "template")


@pytest.mark.parametrize("files", [("both", 2)], indirect=True)
def test_another_run_of_the_corpus_gives_the_numbers_of_that_run_on_both(files: Signature) -> None:
    other = narrow(store(files), Scope(runs=("run-1",), subject="human"))
    assert "T3" in assert_same(files, other, build(store(files), other))
    usual = answer(files, narrow(store(files), Scope(subject="human")), Slice(), "T3", Options())
    assert not usual.equals(answer(files, other, Slice(), "T3", Options()))


@pytest.mark.parametrize("files", ["shipped"], indirect=True)
def test_the_shipped_run_reads_the_same_on_page_and_in_report(files: Signature, demo_report: Report) -> None:
    scope = narrow(store(files))
    compared = assert_same(files, scope, demo_report)
    asked = catalogue(scores(files, scope))
    table = scores(files, scope)
    assert compared == {each.id for each in asked if each.columns and not each.needs(table)}


@pytest.mark.parametrize("files", [("both", 1)], indirect=True)
def test_fewer_evaluators_change_no_number_of_those_that_stay(files: Signature) -> None:
    whole, one = (narrow(store(files), Scope(subject="template", evaluators=names)) for names in ((), ("f",)))
    for id_ in ("S1", "T3", "S4", "S-rotation", "T13", "S2"):
        if questions(files, whole)[id_].needs(scores(files, whole)):
            continue
        every, own = (answer(files, scope, Slice(), id_, Options()) for scope in (whole, one))
        kept = every[every["evaluator"] == "f"].reset_index(drop=True)
        pd.testing.assert_frame_equal(kept, own, obj=id_)


@pytest.mark.usefixtures("demo")
def test_the_difference_to_trust_is_that_of_the_report(open_page: Open, demo_report: Report) -> None:
    """Both leave out families of words that the picture may support: the interval allows for as many others."""
    shown = unfolded(open_page("flip_risk")).dataframe[1].value.set_index("evaluator")
    for name, row in shown.iterrows():
        assert f"[{row['low']:.3g}, {row['high']:.3g}]" in " ".join(demo_report.opening.evaluators[name])

"""A page's number is the report's: every question, whichever subject is held and however many runs a corpus has."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import streamlit as st

from core.analysis.questions import Options, catalogue
from core.analysis.scope import Narrowed, Scope, narrow
from core.analysis.slices import Slice
from core.report.build import build
from core.settings import results_dir
from pages.views.common.runs import Signature, present, scores, store
from pages.views.results.data import answer, questions
from tests.analysis.made_runs import SHIPPED, audited, write_run

EDITS = ("vflip", "hflip", "rotate-5", "rotate+5", "blur-1", "null:shift1")
WORDS = ("gender:boy", "gender:girl")


def both_subjects(seed: int, *, evaluators: tuple[str, ...] = ("e", "f"), items: int = 24) -> list[dict]:
    """An audit of images under both captions, of words under the template."""
    return [
        row
        for place, name in enumerate(evaluators)
        for subject, probes in (("template", EDITS + WORDS), ("human", EDITS))
        for row in audited(*probes, seed=seed + place, subject=subject, evaluator=name, items=items)
    ]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Signature]:
    """The store over one run of a corpus, over two, or over the shipped one."""
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    st.cache_data.clear()
    st.cache_resource.clear()
    if request.param == "shipped":
        results_dir().mkdir(parents=True)
        (results_dir() / "demo").symlink_to(SHIPPED, target_is_directory=True)
    else:
        for place in range(request.param):
            rows = both_subjects(10 * place, items=24 - 4 * place)
            write_run(results_dir() / f"run-{place}", rows, corpus={"name": "c"})
    yield present()
    st.cache_data.clear()
    st.cache_resource.clear()


def assert_same(files: Signature, scope: Narrowed) -> set[str]:
    """Ids of the questions whose answer on the page is the frame in the report."""
    report = build(store(files), scope)
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
    return compared


@pytest.mark.parametrize("files", [1, 2], indirect=True, ids=["one run", "two runs"])
@pytest.mark.parametrize("subject", ["template", "human"])
def test_the_page_shows_what_the_report_writes(files: Signature, subject: str) -> None:
    scope = narrow(store(files), Scope(subject=subject))
    assert scope.runs == (("c", "run-0"),)
    compared = assert_same(files, scope)
    assert {"T3", "T5", "T13", "S1", "S1-spatial", "S11", "S14", "S15-coverage", "S-rotation"} <= compared
    assert ("S4" in compared) == (subject == "template")


@pytest.mark.parametrize("files", [2], indirect=True)
def test_another_run_of_the_corpus_gives_the_numbers_of_that_run_on_both(files: Signature) -> None:
    other = narrow(store(files), Scope(runs=("run-1",), subject="human"))
    assert "T3" in assert_same(files, other)
    usual = answer(files, narrow(store(files), Scope(subject="human")), Slice(), "T3", Options())
    assert not usual.equals(answer(files, other, Slice(), "T3", Options()))


@pytest.mark.parametrize("files", ["shipped"], indirect=True)
def test_the_shipped_run_reads_the_same_on_page_and_in_report(files: Signature) -> None:
    scope = narrow(store(files))
    compared = assert_same(files, scope)
    asked = catalogue(scores(files, scope))
    table = scores(files, scope)
    assert compared == {each.id for each in asked if each.columns and not each.needs(table)}


@pytest.mark.parametrize("files", [1], indirect=True)
def test_fewer_evaluators_change_no_number_of_those_that_stay(files: Signature) -> None:
    whole, one = (narrow(store(files), Scope(subject="template", evaluators=names)) for names in ((), ("f",)))
    for id_ in ("S1", "T3", "S4", "S-rotation", "T13", "S2"):
        if questions(files, whole)[id_].needs(scores(files, whole)):
            continue
        every, own = (answer(files, scope, Slice(), id_, Options()) for scope in (whole, one))
        kept = every[every["evaluator"] == "f"].reset_index(drop=True)
        pd.testing.assert_frame_equal(kept, own, obj=id_)

"""What a mark opens: the pairs that it stands for, and no others."""

import json
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from core.analysis.questions import Options, catalogue, columns
from core.analysis.questions.columns import opening, openings
from core.analysis.reading import read_table
from core.analysis.scope import Narrowed, Scope, narrow
from core.analysis.slices import Slice, where
from core.store.store import Store
from tests.analysis.two_corpora import split_shipped

SHIPPED = Path(__file__).parents[2] / "data" / "results"


def kept(link: dict[str, str]) -> Slice:
    """The slice that Failures makes of a link."""
    many = ("evaluators", "families", "probes", "modifiers", "categories", "coverage_bins")
    assert set(link) <= {*many, "corpus", "controls"}
    return Slice(
        **{name: tuple(link[name].split(",")) for name in many if name in link}, controls=link.get("controls") == "yes"
    )


NOTHING = {
    "F3": "the same object in two places", "F-composites": "the same", "F-blur": "two edits of an item",
    "F-filling": "two fills of a hole", "F-chroma": "two files of a picture", "F-text": "two pictures of an item",
    "F-coverage": "a curve of unedited scores", "F-map": "unedited scores", "F5": "unedited scores",
    "F6": "unedited scores", "F13": "items", "F-distance": "a curve along a distance",
    "F-length": "a curve along a length", "F-natural": "two words of an item",
    "F-natural-order": "two orders of the evaluators", "C-plane": "nuisance and signal",
    "C-selective": "drops and harms",
    "C1-languages": "every test of a language", "C2-by-language": "a mean of languages", "C5": "scores in bins",
    "C22": "scores in bins", "C-object-scores": "scores in bins", "C20-along": "a curve along a share",
    "C21-both-orders": "four captions of an item", "C29-effects": "four pictures of an item",
    "F-turned": "pairs of captions of a picture", "F12a": "a curve along λ", "F12b": "a curve along λ",
}  # fmt: skip
"""Figure whose marks stand for no one set of pairs -> what they stand for."""


@pytest.mark.whole
def test_every_mark_of_the_shipped_runs_opens_exactly_its_items_or_stands_for_no_one_set_of_pairs() -> None:
    opened, silent = set[str](), set[str]()
    for run in sorted(each.parent for each in SHIPPED.glob("*/manifest.json")):
        with Store.open(run) as store:
            scope = narrow(store, Scope()).only()
            table = read_table(store, scope)
            items = cache(lambda link, store=store, scope=scope: _items(store, scope, json.loads(link)))
            for question in catalogue(table):
                silent |= {drawing.id for drawing in question.figures if not drawing.opens}
                drawings = [each for each in question.figures if each.opens and not each.needs(table)]
                if question.needs(table) or not drawings:
                    continue
                frame = question.compute(table.view(), Options())
                for drawing in drawings:
                    figure = drawing.figure(frame)
                    assert "opens" not in figure.data
                    if figure.frame.empty:
                        continue
                    links = [*zip(figure.frame["opens"], figure.frame["n"], strict=True)]
                    assert any(link for link, _ in links), drawing.id
                    opened.add(drawing.id)
                    for link, n in links:
                        if link and "test" not in json.loads(link):
                            assert n in items(link), (drawing.id, link)
    assert silent == {*NOTHING}
    assert opened >= {
        "F-spatial",
        "F-societal",
        "F2",
        "F4",
        "F-rotation",
        "F-shifts-coverage",
        "F7",
        "F8",
        "F15",
        "F-shown",
        "F11",
        "F-evidence",
        "F-strength-blur",
    }


def _items(store: Store, scope: Narrowed, link: dict[str, str]) -> set[int]:
    """How many items a link opens: those with a change in percent, and those with any."""
    found, params = where(scope, kept(link), None)
    counted = "count(distinct case when s.percent is not null then s.item end) as known, count(distinct s.item) as all_"
    return {*map(int, store.query(f"select {counted} from shifts s {found} and s.delta is not null", params).iloc[0])}


def test_a_row_without_anything_to_open_opens_nothing() -> None:
    row = {"evaluator": "e", "corpus": "c", "family": "", "probe": "vflip"}
    assert opening(row, {"families": "family"}) == ""
    assert json.loads(opening(row, {"families": "family", "probes": "probe"})) == {
        "evaluators": "e",
        "corpus": "c",
        "probes": "vflip",
    }


def test_a_row_of_all_corpora_together_opens_nothing() -> None:
    row = {"evaluator": "e", "corpus": "all", "label": "blur", "tests": ""}
    assert opening(row, {"families": "label"}) == ""
    assert json.loads(opening({**row, "corpus": "c"}, {"families": "label"}))["controls"] == "yes"


@pytest.mark.parametrize("label", ["plain (control)", "plain"])
def test_a_control_is_named_as_its_word(label: str) -> None:
    row = {"evaluator": "e", "corpus": "c", "label": label, "tests": "words", "family": "economic"}
    told = json.loads(opening(row, {"families": "family", "modifiers": "label"}))
    assert told == {"evaluators": "e", "corpus": "c", "families": "economic", "modifiers": "plain"}


def test_a_mark_of_one_of_several_corpora_opens_its_items_there(tmp_path: Path) -> None:
    split_shipped(tmp_path)
    with Store.open(tmp_path) as store:
        table = read_table(store, narrow(store, Scope()))
        asked = {
            drawing.id: (question, drawing)
            for question in catalogue(table)
            for drawing in question.figures
            if drawing.id in ("F-corpora", "F9", "F10")
        }
        assert set(asked) == {"F-corpora", "F9", "F10"}
        for question, drawing in asked.values():
            marks = drawing.figure(question.compute(table.view(), Options())).frame
            assert len(marks)
            for opens, n in zip(marks["opens"], marks["n"], strict=True):
                link = json.loads(opens)
                scope = narrow(store, Scope(corpus=link["corpus"])).only()
                assert n in _items(store, scope, link), (drawing.id, link)


def test_rows_that_open_the_same_are_asked_once_and_each_opens_what_it_does_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [
        ("e", "c", family, gap, tests)
        for family in ("a", "b (control)", "")
        for gap in (1.5, float("nan"))
        for tests in ("t", "")
    ]
    frame = pd.DataFrame(rows * 3, columns=["evaluator", "corpus", "family", "gap", "tests"])
    frame = pd.concat([frame, frame.assign(corpus="all corpora")], ignore_index=True)
    opens = {"families": "family", "axes": "=spatial"}
    alone = [opening(row, opens) for row in frame.to_dict("records")]
    assert len(set(alone)) > 3
    asked = []
    monkeypatch.setattr(columns, "opening", lambda row, opens: asked.append(row) or opening(row, opens))
    assert openings(frame, opens) == alone
    assert len(asked) == 2 * 3 * 2

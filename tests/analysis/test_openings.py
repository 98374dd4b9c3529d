"""What a mark opens: the pairs that it stands for, and no others."""

import json
from pathlib import Path

import pytest

from core.analysis.questions import Options, catalogue
from core.analysis.questions.columns import opening
from core.analysis.reading import read_table
from core.analysis.scope import Scope, narrow
from core.analysis.slices import Slice, where
from core.store.store import Store

SHIPPED = Path(__file__).parents[2] / "data" / "results"


def kept(link: dict[str, str]) -> Slice:
    """The slice that Failures makes of a link."""
    many = ("evaluators", "families", "probes", "modifiers", "categories", "coverage_bins")
    assert set(link) <= {*many, "corpus", "controls"}
    return Slice(
        **{name: tuple(link[name].split(",")) for name in many if name in link}, controls=link.get("controls") == "yes"
    )


def test_every_mark_of_the_shipped_run_opens_exactly_its_items() -> None:
    with Store.open(SHIPPED / "demo") as store:
        scope = narrow(store, Scope(corpus="demo")).only()
        table = read_table(store, scope)
        opened = set[str]()
        for question in catalogue(table):
            if question.needs(table) or not any(drawing.opens for drawing in question.figures):
                continue
            frame = question.compute(table.view(), Options())
            for drawing in question.figures:
                marks = drawing.figure(frame).frame
                if not drawing.opens:
                    continue
                assert "opens" not in drawing.figure(frame).data
                opened.add(question.id)
                for link, n in zip(marks["opens"], marks["n"], strict=True):
                    found, params = where(scope, kept(json.loads(link)))
                    items = store.query(
                        f"select count(distinct s.item) from shifts s {found} and s.percent is not null", params
                    )
                    assert items.iloc[0, 0] == n, (question.id, link)
    assert opened >= {"S1-spatial", "S1-societal", "T3", "T4", "S-rotation", "S15-coverage", "S15-category", "T7", "S5"}


def test_a_row_of_all_corpora_together_opens_nothing() -> None:
    row = {"evaluator": "e", "corpus": "all", "label": "blur", "tests": ""}
    assert opening(row, {"families": "label"}) == ""
    assert json.loads(opening({**row, "corpus": "c"}, {"families": "label"}))["controls"] == "yes"


@pytest.mark.parametrize("label", ["plain (control)", "plain"])
def test_a_control_is_named_as_its_word(label: str) -> None:
    row = {"evaluator": "e", "corpus": "c", "label": label, "tests": "words", "family": "economic"}
    told = json.loads(opening(row, {"families": "family", "modifiers": "label"}))
    assert told == {"evaluators": "e", "corpus": "c", "families": "economic", "modifiers": "plain"}

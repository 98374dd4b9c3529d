"""No published table without its independent recomputation: a new question fails here until it has one."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.analysis.questions import Question, catalogue
from core.analysis.reading import read_table
from core.store.store import Store
from tests.analysis.made_runs import audited, write_run
from tests.analysis.recomputed import RECOMPUTED

HERE = Path(__file__).parent
REGISTERED = {(file, test): ids for file, tests in RECOMPUTED.items() for test, ids in tests.items()}


@pytest.fixture(scope="module")
def asked(store: Store) -> dict[Question, str]:
    """Every question, and why the shipped run cannot answer it."""
    table = read_table(store)
    return {each: each.needs(table) for each in catalogue(table)}


def test_every_question_of_the_shipped_run_has_its_recomputation(asked: dict[Question, str]) -> None:
    shown = {each.id for each in asked if each.columns or each.figures}
    answered = {each.id for each, why in asked.items() if each.id in shown and not why}
    known = Counter(id_ for ids in REGISTERED.values() for id_ in ids)
    assert not answered - set(known), "work these out anew from the raw Parquet, and enter the test in recomputed.py"
    assert not set(known) - shown, "no such question; take it out of recomputed.py"
    assert not [id_ for id_, times in known.items() if times > 1]


def test_a_question_that_nobody_recomputed_is_found(tmp_path: Path) -> None:
    told = {"family": "squint", "axis": "object"}
    rows = audited("vflip", items=4) + [
        {**row, **told, "probe": "squint"} for row in audited("vflip", items=4) if row["probe"] == "vflip"
    ]
    with Store.open(write_run(tmp_path / "r", rows)) as store:
        asked = {each.id for each in catalogue(read_table(store))}
    assert "S1-object" in asked - {id_ for ids in REGISTERED.values() for id_ in ids}


@pytest.mark.parametrize(("file", "test"), REGISTERED, ids=[test for _, test in REGISTERED])
def test_an_entry_names_a_test_that_asks_its_questions(file: str, test: str) -> None:
    defined = [
        each
        for each in ast.parse((HERE / file).read_text(encoding="utf-8")).body
        if isinstance(each, ast.FunctionDef) and each.name == test
    ]
    assert defined, f"{file} has no {test}"
    said = [re.compile(each) for each in _texts(defined[0])]
    for id_ in REGISTERED[file, test]:
        assert any(each.fullmatch(id_) for each in said), f"{test} never asks for {id_}"


def _texts(function: ast.FunctionDef) -> Iterator[str]:
    """Patterns of the texts that a function writes, its decorators included; ``.+`` for what is put into them."""
    for node in ast.walk(function):
        if isinstance(node, ast.JoinedStr) and any(isinstance(part, ast.Constant) for part in node.values):
            yield "".join(
                re.escape(part.value) if isinstance(part, ast.Constant) and isinstance(part.value, str) else ".+"
                for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield re.escape(node.value)

"""No cell that came from data is a formula in a spreadsheet, numbers stay numbers, and texts are read back exactly."""

import ast
import csv
import io
from collections.abc import Iterator

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.settings import ROOT
from core.store.text_files import csv_text, exact, guarded

FORMULAS = [
    "=1+1",
    '=HYPERLINK("http://evil.example","a cat")',
    "+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1,1)",
    "\t=1+1",
    "\r=1+1",
    "\0=1",
    " =1+1",
    "\n=1+1",
    "＝1+1",
    "-",
    "- a dog on a rug",
    "'=1+1",
    "''@x",
]
HARMLESS = ["a cat", "", "it's =1", "'tis a cat", "-1.5", "+2", "-3e-05", "-4,5", "-12 %", "−2.0", "1=1", "a@b", "ünï"]


def runs_in_a_spreadsheet(cell: str) -> bool:
    """What OWASP names: a first character that makes a formula, whatever blanks stand before it."""
    try:
        float(cell)
    except ValueError:
        return cell[:1] in tuple("=+-@\t\r\0") or cell.strip()[:1] in tuple("=+-@＝＋－＠")
    return False


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_a_text(text: str) -> None:
    assert guarded(text).startswith("'")
    assert not runs_in_a_spreadsheet(guarded(text))
    assert exact(guarded(text)) == text


def test_a_carriage_return_within_a_text_begins_no_row() -> None:
    table = pd.DataFrame({"caption": ["a cat\r=1+1", "a dog"], "n": [1, 2]})
    rows = list(csv.reader(io.StringIO(csv_text(table), newline="")))
    assert rows == [["caption", "n"], ["a cat\r'=1+1", "1"], ["a dog", "2"]]
    assert b'"a cat\r\'=1+1"' in csv_text(table).encode()


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_none_stays_as_it_is(text: str) -> None:
    assert guarded(text) == text
    assert exact(text) == text


SPLIT = ["a;=1+1", "a cat;\t =1+1", "a\n@x", 'a";=1+1', "a;'=1;b", ";;-1+1", "1;=2", "a\t＝1", 'a; "=1+1"']


@pytest.mark.parametrize("delimiter", [";", "\t"])
@pytest.mark.parametrize("text", [*FORMULAS, *SPLIT])
def test_a_reader_that_splits_elsewhere_meets_no_formula(text: str, delimiter: str) -> None:
    """A spreadsheet of a country whose lists have semicolons, given a CSV of commas: first column and later ones."""
    written = csv_text(pd.DataFrame({"n": [1], "caption": [text], "other": [text]}))
    for line in written.replace("\r", "\n").split("\n"):
        for cell in line.split(delimiter):
            assert not runs_in_a_spreadsheet(cell.lstrip('"')) or cell == "-1", (line, cell)
    assert exact(guarded(text)) == text


@given(st.text(alphabet=st.sampled_from("=+-@'\"\t\r\n\0 1.,;e%aü＝"), max_size=8))
def test_every_text_comes_back_and_none_is_a_formula(text: str) -> None:
    assert exact(guarded(text)) == text
    number = guarded(text) == text and any(each.isdigit() for each in text)
    assert number or not runs_in_a_spreadsheet(guarded(text))


def test_every_cell_and_every_name_of_a_csv_is_guarded_and_numbers_are_not() -> None:
    table = pd.DataFrame({"caption": FORMULAS, "delta": [-0.5] * len(FORMULAS), "=evaluator": ["null"] * len(FORMULAS)})
    table["kind"] = pd.Categorical(FORMULAS)
    rows = list(csv.reader(io.StringIO(csv_text(table), newline="")))
    assert rows[0] == ["caption", "delta", "'=evaluator", "kind"]
    for row, text in zip(rows[1:], FORMULAS, strict=True):
        assert row == [guarded(text), "-0.5", "'null'", guarded(text)]


WRITERS = {
    "core/store/text_files.py": "guards what every page and command writes",
    "core/audit/region_files.py": "ids for a program that finds regions: exact",
    "core/features/training/train_command.py": "numbers of a training",
}
"""Module of core or pages that writes CSV by itself -> what it writes."""


def writers() -> Iterator[str]:
    for room in ("core", "pages"):
        for path in sorted((ROOT / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                name = node.attr if isinstance(node, ast.Attribute) else ""
                of = ast.unparse(node.value) if isinstance(node, ast.Attribute) else ""
                if name in ("to_csv", "to_excel", "ExcelWriter") or (of == "csv" and name in ("writer", "DictWriter")):
                    yield path.relative_to(ROOT).as_posix()


def test_nobody_writes_a_csv_of_its_own() -> None:
    assert set(writers()) == set(WRITERS), "write it with core.store.text_files.csv_text, or say here why not"

"""What is written as a whole file, and no cell of it that came from data is a formula in a spreadsheet."""

import ast
import csv
import io
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.audit.run import Progress, ProgressFile, read_progress
from core.errors import StoreError
from core.settings import ROOT
from core.store.text_files import csv_text, exact, guarded, remove_leftovers, write_text
from core.writing import write_whole


def test_a_name_that_a_reader_takes_for_nothing_is_still_a_name() -> None:
    names = ["null", "NA", "None", "nan", "n/a", "blur", "none", None, ""]
    table = pd.DataFrame({"family": names, "kind": pd.Categorical(["null"] * 9), "value": [0.1] * 8 + [None]})
    read = pd.read_csv(io.StringIO(csv_text(table)))
    assert read["family"].isna().tolist() == [False] * 7 + [True, True]
    assert read["family"].tolist()[:7] == ["invisible edits", "'NA'", "'None'", "'nan'", "'n/a'", "blur", "none"]
    assert set(read["kind"]) == {"'null'"}
    assert read["value"].isna().sum() == 1
    assert table["family"].tolist()[0] == "null"


def test_digits_are_those_asked_for() -> None:
    assert csv_text(pd.DataFrame({"x": [1 / 3], "n": [3]}), digits=4) == "x,n\n0.3333,3\n"
    assert csv_text(pd.DataFrame({"x": [1 / 3]})) == "x\n0.3333333333333333\n"


def test_a_link_under_a_guessed_temporary_name_leads_writing_nowhere(tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("mine", encoding="utf-8")
    for name in (f".out.txt.{os.getpid()}-{threading.get_ident()}.tmp", f".out.txt.{os.getpid()}.tmp"):
        (tmp_path / name).symlink_to(other)
    write_text(tmp_path / "out.txt", "new")
    ProgressFile(tmp_path / "out.txt")(Progress("loading", 0, 9, 0.0, None, 0, 1))
    assert other.read_text(encoding="utf-8") == "mine"


def test_what_is_being_written_lies_where_nobody_else_may_look(tmp_path: Path) -> None:
    seen = []

    def write(temporary: Path) -> None:
        assert not temporary.exists()
        seen.append((temporary.parent, stat.S_IMODE(temporary.parent.stat().st_mode)))
        temporary.write_text("x", encoding="utf-8")

    for _ in range(2):
        write_whole(tmp_path / "out.txt", write)
    (first, mode), (second, _) = seen
    assert first.parent == second.parent == tmp_path
    assert first != second
    assert mode == 0o700
    assert [each.name for each in tmp_path.iterdir()] == ["out.txt"]
    with pytest.raises(StoreError, match="cannot be written"):
        write_whole(tmp_path / "out.txt", lambda temporary: (temporary / "no" / "folder").write_text("x"))
    assert [each.name for each in tmp_path.iterdir()] == ["out.txt"]


def test_a_target_that_becomes_a_link_while_it_is_written_is_not_replaced(tmp_path: Path) -> None:
    def write(temporary: Path) -> None:
        temporary.write_text("x", encoding="utf-8")
        (tmp_path / "out.txt").symlink_to(tmp_path / "other.txt")

    with pytest.raises(StoreError, match="outputs follow no link"):
        write_whole(tmp_path / "out.txt", write)
    assert (tmp_path / "out.txt").is_symlink()


def test_progress_is_told_to_a_plain_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    tell = ProgressFile(path, every_s=0)
    tell(Progress("loading", 0, 9, 0.0, None, 0, 1))
    told = read_progress(path)
    assert told is not None
    assert told.phase == "loading"
    path.unlink()
    path.symlink_to(tmp_path / "other.json")
    tell(Progress("scoring", 1, 9, 0.0, None, 0, 1))
    assert path.is_symlink()
    assert not (tmp_path / "other.json").exists()


def test_what_a_kill_left_is_removed_and_no_link_is_followed(tmp_path: Path) -> None:
    run, kept = tmp_path / "run", tmp_path / "kept"
    (run / "scores" / ".a.parquet.x.tmp").mkdir(parents=True)
    (run / "scores" / ".a.parquet.x.tmp" / "a.parquet").write_bytes(b"half")
    (run / ".b.json.1.tmp").write_bytes(b"half")
    kept.mkdir()
    (kept / "file").write_bytes(b"whole")
    (run / ".c.y.tmp").symlink_to(kept)
    remove_leftovers(run)
    assert [each.name for each in run.rglob("*")] == ["scores"]
    assert (kept / "file").read_bytes() == b"whole"


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

"""What is written as a whole file: texts of a CSV are texts again when a usual reader reads them."""

import io
import os
import stat
import threading
from pathlib import Path

import pandas as pd
import pytest

from core.audit.run import Progress
from core.errors import StoreError
from core.jobs.progress import ProgressFile, read_progress
from core.store.text_files import csv_text, remove_leftovers, write_text
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

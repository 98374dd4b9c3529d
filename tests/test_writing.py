"""A file or a folder is the old or the new one, whole, whatever ends its writer; the living are left alone."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.errors import StoreError
from core.writing import LEFTOVER, sweep, write_bytes, write_folder_whole, write_whole

DIES = """
import os, sys, time
from pathlib import Path
from core.writing import write_folder_whole, write_whole

def folder(new):
    (new / "report.md").write_text("new")
    told()

def file(path):
    path.write_text("new")
    told()

def told():
    print("there", flush=True)
    time.sleep(60)

if sys.argv[1] == "folder":
    write_folder_whole(Path(sys.argv[2]), folder)
else:
    write_whole(Path(sys.argv[2]), file)
"""


def writing(kind: str, path: Path) -> "subprocess.Popen[str]":
    """A process that is in the midst of writing."""
    process = subprocess.Popen([sys.executable, "-c", DIES, kind, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "there\n"
    return process


def killed(process: "subprocess.Popen[str]") -> None:
    process.kill()
    with process:
        assert process.wait() == -signal.SIGKILL


def content(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def two(new: Path) -> None:
    (new / "report.md").write_text("new")
    (new / "data").mkdir()
    (new / "data" / "S1.csv").write_text("new")


def old(folder: Path) -> None:
    (folder / "data").mkdir(parents=True)
    for name in ("report.md", "mine.txt", "data/S2.csv"):
        (folder / name).write_text("old")


@pytest.mark.parametrize("stands", [False, True])
def test_a_killed_folder_is_the_old_one_and_the_next_writer_sweeps(tmp_path: Path, stands: bool) -> None:
    out = tmp_path / "out"
    if stands:
        old(out)
    before = content(tmp_path)
    process = writing("folder", out)
    sweep(tmp_path)
    assert list(tmp_path.glob(f".*{LEFTOVER}/new")), "its writer lives"
    killed(process)
    assert content(tmp_path / "out") == {name.removeprefix("out/"): text for name, text in before.items()}
    write_folder_whole(out, two)
    kept = {"mine.txt": "old", "data/S2.csv": "old"} if stands else {}
    assert content(tmp_path) == {
        f"out/{name}": text for name, text in {"report.md": "new", "data/S1.csv": "new", **kept}.items()
    }


def test_a_killed_file_is_the_old_one_and_the_next_process_sweeps(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    killed(writing("file", tmp_path / "a.txt"))
    assert (tmp_path / "a.txt").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2
    lives = writing("file", tmp_path / "b.txt")  # another file of the folder, in its own process
    assert [path.name.split(".")[1] for path in tmp_path.glob(f".*{LEFTOVER}")] == ["b"]
    killed(lives)


@pytest.mark.parametrize(
    ("standing", "left"), [("kept", ["data", "mine.txt", "report.md"]), ("replaced", ["data", "report.md"])]
)
@pytest.mark.parametrize("here", [False, True])
def test_what_stands_is_kept_or_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, standing: str, left: list[str], here: bool
) -> None:
    out = tmp_path / "out"
    old(out)
    out.chmod(0o750)
    if here:
        monkeypatch.chdir(out)  # the current folder keeps its place
    inode = out.stat().st_ino
    write_folder_whole(Path() if here else out, two, standing=standing)  # type: ignore[arg-type]
    assert sorted(path.name for path in out.iterdir()) == left
    assert (out / "data" / "S2.csv").exists() == (standing == "kept")
    assert (out / "report.md").read_text() == "new"
    assert (out.stat().st_mode & 0o777, out.stat().st_ino == inode) == (0o750, here)


def test_a_folder_that_was_filled_meanwhile_is_left_as_it_is(tmp_path: Path) -> None:
    def late(new: Path) -> None:
        two(new)
        old(tmp_path / "out")

    with pytest.raises(StoreError, match="holds files; choose another folder"):
        write_folder_whole(tmp_path / "out", late, standing="refused")
    assert set(content(tmp_path / "out").values()) == {"old"}


def test_a_folder_put_aside_by_one_that_was_killed_then_gets_its_name_back(tmp_path: Path) -> None:
    old(tmp_path / f".out.x{LEFTOVER}" / "old" / "out")
    (tmp_path / f".out.x{LEFTOVER}" / "new").mkdir()
    write_bytes(tmp_path / "other.txt", b"")
    assert content(tmp_path / "out")["mine.txt"] == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.txt", "out"]


@pytest.mark.parametrize("at", range(5))
def test_a_disk_that_fills_up_while_a_folder_is_synced_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    old(tmp_path / "out")
    before, calls = content(tmp_path), [0]

    def sync(_: int) -> None:
        calls[0] += 1
        if calls[0] > at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", sync)
    with pytest.raises(StoreError, match="the disk is full; free some space and start again"):
        write_folder_whole(tmp_path / "out", two)
    after = content(tmp_path)
    assert after == before or {after["out/report.md"], after["out/data/S1.csv"]} == {"new"}
    assert not list(tmp_path.glob(f".*{LEFTOVER}"))


def half_footer(path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), path)
    path.write_bytes(path.read_bytes()[:-3])


def nothing(path: Path) -> None:
    """A library that says nothing, and has written nothing."""


@pytest.mark.parametrize("write", [half_footer, nothing])
def test_a_table_that_cannot_be_opened_again_takes_no_name(tmp_path: Path, write: Callable[[Path], None]) -> None:
    (tmp_path / "a.parquet").write_text("old")
    with pytest.raises(StoreError, match="cannot be written"):
        write_whole(tmp_path / "a.parquet", write)
    assert content(tmp_path) == {"a.parquet": "old"}

"""Whatever a command is pointed at, it ends at once with a sentence: never a bug, never a wait."""

import inspect
import os
import re
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from core.__main__ import app
from core.commands._shared import Code
from core.corpora.registry import catalogue
from core.errors import InvalidInput
from tests.commands.calling import Invoke


def leaves(group: TyperGroup, before: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from leaves(command, f"{before}{name} ")
        else:
            yield before + name, command


def path_options() -> list[tuple[str, str]]:
    """Every option and argument of every command that takes a path."""
    return [
        (name, each.name)
        for name, command in leaves(get_command(app))  # type: ignore[arg-type]
        for each in inspect.signature(command.callback).parameters.values()
        if "Path" in str(each.annotation)
    ]


def test_the_options_that_take_a_path_are_found() -> None:
    assert len(path_options()) > 40
    assert ("audit", "root") in path_options()


@pytest.mark.parametrize(("command", "option"), path_options())
def test_no_option_takes_a_path_of_the_kernel(command: str, option: str) -> None:
    callback = dict(leaves(get_command(app)))[command].callback  # type: ignore[arg-type]
    for value in (Path("/proc/self"), [Path("here"), Path("/dev/zero")]):
        with pytest.raises(InvalidInput, match="where the system shows itself"):
            callback(**{option: value})


COMMANDS = (
    "suite {x} {folder}", "score {x} {folder}", "score {captions} {x}", "score {captions} {folder} --references {x}",
    "leaderboard {x} --images {folder}", "leaderboard A={x} --images {folder}", "import-scores {x}",
    "video show {x}", "video idf {x} -o {out}", "runs {x}", "report {x} -o {out}",
    "publish {x} -o {out}.duckdb", "export-pairs {x} -o {out}",
    "corpora show folder --root {folder} --option captions={x}",
    "corpora show folder --root {folder} --option boxes={x}", "calibrate apply {x} demo -o {out}.csv", "check {x}:Name",
    "evaluators show clipscore@{x}", "evaluators get clipscore --weights {x}", "audit --idf {x} --dry-run",
    "regions extract {x} --out {out}", "train pr-mcs --weights {x} --out {out}",
    "train mcs --sentences {x} --student {folder} --out {out}", "train mcs --corpus demo --student {x} --out {out}",
    "train mcs --corpus demo --teacher {x} --student {folder} --out {out}", "study import none {x}",
    *(f"corpora show {loader.name} --root {{x}}" for loader in catalogue() if loader.needs_root),
)  # fmt: skip


def deep(folder: Path) -> Path:
    path = folder / "deep.json"
    path.write_text("[" * 100_000)
    return path


def columns(folder: Path) -> Path:
    path = folder / "columns.csv"
    path.write_text(",".join(f"c{number}" for number in range(20_000)) + "\n1\n")
    return path


def written(name: str, content: bytes) -> Any:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return write


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.json")
    return folder / "pipe.json"


def listening(folder: Path) -> Path:
    path = folder / "s.json"
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(path))
    return path


def link(target: str) -> Any:
    def write(folder: Path) -> Path:
        path = folder / f"link{len(target)}.json"
        path.symlink_to(target)
        return path

    return write


def circle(folder: Path) -> Path:
    path = folder / "circle.json"
    path.symlink_to(path)
    return path


HOSTILE: Mapping[str, Any] = {
    "a device": lambda _: Path("/dev/zero"),
    "a link to a device": link("/dev/zero"),
    "a pipe": pipe,
    "a link to a folder of the kernel": link("/proc"),
    "a socket": listening,
    "the kernel's": lambda _: Path("/sys/kernel"),
    "a link to itself": circle,
    "nothing": lambda folder: folder / "nothing.json",
    "a long name": lambda folder: folder / ("x" * 5000),
    "an empty file": written("empty.json", b""),
    "no text": written("binary.json", bytes(range(256)) * 40),
    "deep JSON": deep,
    "a number of JSON": written("number.json", b"9" * 10_000),
    "columns": columns,
    "nulls": written("nulls.csv", b"\0" * 5000),
    "a picture": written("a.png", b"\x89PNG\r\n\x1a\n" + bytes(100)),
    "a folder": lambda folder: folder,
}


REFUSED = (
    "a device",
    "a link to a device",
    "a pipe",
    "a socket",
    "the kernel's",
    "a link to a folder of the kernel",
    "a link to itself",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_input_is_a_bug(invoke: Invoke, command: str, tmp_path: Path) -> None:
    for number, (kind, make) in enumerate(HOSTILE.items()):
        place = tmp_path / str(number)
        (place / "folder").mkdir(parents=True)
        (place / "captions.json").write_text('{"a": "A cat."}')
        known = {"x": make(place), "captions": place / "captions.json"}
        known |= {name: place / name for name in ("folder", "out")}
        result = invoke(*(word.format(**known) for word in command.split()))
        told = result.output + (result.stderr or "")
        assert result.exit_code in (Code.OK, Code.FAILURES, Code.BAD_INPUT, Code.NOT_AVAILABLE), (kind, told)
        if kind in REFUSED:
            assert result.exit_code in (Code.BAD_INPUT, Code.NOT_AVAILABLE), (kind, told)
        assert "Traceback" not in told
        assert all(len(line) < 2000 for line in told.splitlines() if line.startswith("error:")), kind


def test_a_device_that_is_not_here_is_told_with_those_that_are(invoke: Invoke) -> None:
    trainings = ("train pr-mcs", "train mcs --student none --out none", "train pac-s++ --positives none --out none")
    for words in (
        "audit --device cuda:77 --dry-run",
        "evaluators show blind-length --device toaster",
        *(f"{each} --device cuda:77" for each in trainings),
    ):
        result = invoke(*words.split())
        assert result.exit_code == Code.NOT_AVAILABLE
        assert re.search(r"there is no device '\S+' on this machine, which has cpu", result.output + result.stderr)

"""Every option that names an output refuses what is no regular file or folder before any work; - is standard output."""

import csv
import io
import json
import os
import re
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer

from core.__main__ import app
from core.commands import _outputs
from core.corpora.demo import demo_dir, pictures_of
from core.errors import InvalidInput, StoreError
from core.settings import ROOT
from core.writing import check_file, check_folder, why_not_file, write_whole
from tests.commands.calling import Invoke

NAMES = {"--output", "-o", "--out", "--sweep", "--save_per_instance", "--export-pairs", "--progress-file", "--html"}
TOLD = re.compile(r"\b[Ww]rit(?:e|ten)\b|\bGets\b|\bthis file\b|Folder of runs")
CALLBACKS = (_outputs.file, _outputs.text, _outputs.folder, _outputs.folder_above)
READS = {("score", "--called")}
"""Options whose help speaks of writing and that name no file."""


def parameters() -> Iterator[tuple[tuple[str, ...], object]]:
    def walk(command: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
        for name, each in getattr(command, "commands", {}).items():
            yield from walk(each, (*path, name))
        if not hasattr(command, "commands"):
            yield from ((path, parameter) for parameter in command.params)  # type: ignore[attr-defined]

    return walk(typer.main.get_command(app), ())


def told_of(parameter: object) -> object:
    return getattr(getattr(parameter, "type_descriptor", None), "parameter_info", None)


def takes_a_path(parameter: object) -> bool:
    return "Path" in str(getattr(getattr(parameter, "type_descriptor", None), "annotation", ""))


OUTPUTS = [
    (path, parameter)
    for path, parameter in parameters()
    if takes_a_path(parameter) and (set(parameter.opts) & NAMES or TOLD.search(str(getattr(parameter, "help", ""))))  # type: ignore[attr-defined]
]
IDS = [f"{' '.join(path)} {max(parameter.opts, key=len)}" for path, parameter in OUTPUTS]  # type: ignore[attr-defined]


def test_the_outputs_are_found() -> None:
    assert len(OUTPUTS) >= 20
    assert {"publish --output", "report --output", "study export --output", "calibrate learn --sweep"} <= set(IDS)


@pytest.mark.parametrize(("path", "parameter"), OUTPUTS, ids=IDS)
def test_every_output_has_a_callback_that_checks_it(path: tuple[str, ...], parameter: object) -> None:
    assert getattr(told_of(parameter), "callback", None) in CALLBACKS


def pipe(place: Path) -> Path:
    os.mkfifo(place / "pipe")
    return place / "pipe"


def link(place: Path) -> Path:
    (place / "kept").write_text("kept", encoding="utf-8")
    (place / "link").symlink_to(place / "kept")
    return place / "link"


def listener(place: Path) -> Path:
    there = os.open(place, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as opened:  # a long path is none for a socket
        opened.bind(f"/proc/self/fd/{there}/socket")
    os.close(there)
    return place / "socket"


def own_folder(place: Path) -> Path:
    (place / "folder").mkdir()
    return place / "folder"


def link_to_folder(place: Path) -> Path:
    (place / "folder").mkdir()
    (place / "way").symlink_to(place / "folder")
    return place / "way"


def link_within(place: Path) -> Path:
    (place / "elsewhere").mkdir()
    (place / "folder").mkdir()
    (place / "folder" / "data").symlink_to(place / "elsewhere")
    return place / "folder"


def own_file(place: Path) -> Path:
    (place / "kept").write_text("kept", encoding="utf-8")
    return place / "kept"


NO_FILES: dict[str, Callable[[Path], Path]] = {
    "a pipe": pipe,
    "a link": link,
    "a socket": listener,
    "a folder": own_folder,
}
NO_FOLDERS: dict[str, Callable[[Path], Path]] = {
    "a pipe": pipe,
    "a link to a folder": link_to_folder,
    "a link that leads out": link_within,
    "a file": own_file,
}


def content(place: Path) -> dict[str, object]:
    return {
        path.relative_to(place).as_posix(): (path.lstat().st_mode, path.read_text("utf-8") if path.is_file() else None)
        for path in sorted(place.rglob("*"))
    }


@pytest.mark.parametrize(("path", "parameter"), OUTPUTS, ids=IDS)
def test_every_command_refuses_what_is_no_output_and_leaves_it_alone(
    invoke: Invoke, tmp_path: Path, path: tuple[str, ...], parameter: object
) -> None:
    callback = getattr(told_of(parameter), "callback", None)
    tried = NO_FILES if callback in (_outputs.file, _outputs.text) else NO_FOLDERS
    if callback is _outputs.folder_above:
        tried = {"a pipe": pipe, "a file": own_file}
    for name, make in tried.items():
        place = tmp_path / name
        place.mkdir()
        output = make(place)
        before = content(place)
        found = invoke(*path, *others(path, parameter), max(parameter.opts, key=len), str(output))  # type: ignore[attr-defined]
        assert found.exit_code == 2, (name, found.output)
        assert str(place) in found.stderr, name
        assert re.search(r"name (a|another|the) (file|folder)|name another|take it away", found.stderr), name
        assert content(place) == before


def others(path: tuple[str, ...], parameter: object) -> list[str]:
    """The other required values of a command: any, since the output is refused first."""
    given: list[str] = []
    for each, other in parameters():
        if each == path and other is not parameter and getattr(other, "required", False):
            name = max(other.opts, key=len)  # type: ignore[attr-defined]
            given += [name, "x"] if name.startswith("-") else ["x"]
    return given


@pytest.mark.parametrize(("path", "parameter"), OUTPUTS, ids=IDS)
def test_standard_output_is_for_single_texts(invoke: Invoke, path: tuple[str, ...], parameter: object) -> None:
    if getattr(told_of(parameter), "callback", None) is _outputs.text:
        assert "standard output" in str(getattr(parameter, "help", "")), "its help says that - is one"
        return
    found = invoke(*path, *others(path, parameter), max(parameter.opts, key=len), "-")  # type: ignore[attr-defined]
    assert found.exit_code == 2
    assert "- is standard output, and this output is" in found.stderr
    assert not Path("-").exists()


def test_a_device_is_refused_by_name() -> None:
    for name in ("/dev/full", "/dev/null", "/dev/zero"):
        assert f"{name} is a device" in str(why_not_file(Path(name)))
    with pytest.raises(InvalidInput, match="is a device"):
        check_file(Path("/dev/full"))
    with pytest.raises(InvalidInput, match="is no folder"):
        check_folder(Path("/dev/full"))


@pytest.mark.parametrize("how", NO_FILES)
def test_no_file_of_the_product_takes_the_place_of_what_is_none(tmp_path: Path, how: str) -> None:
    output = NO_FILES[how](tmp_path)
    before = content(tmp_path)
    with pytest.raises(StoreError, match="name "):
        write_whole(output, lambda temporary: temporary.write_text("new", encoding="utf-8") and None)
    assert content(tmp_path) == before


def test_a_link_inside_that_stays_inside_is_no_reason(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert check_folder(tmp_path) == tmp_path
    assert check_file(tmp_path / "new") == tmp_path / "new"


def test_a_run_folder_that_is_a_link_is_not_written_through(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "r").symlink_to(tmp_path / "elsewhere")
    found = invoke(
        "audit",
        "--corpus",
        "demo",
        "--limit",
        "1",
        "--probes",
        "null",
        "--evaluators",
        "blind-length",
        "--out",
        str(tmp_path / "runs"),
        "--run-id",
        "r",
    )
    assert found.exit_code == 2
    assert "is a link to" in found.stderr
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.fixture
def scored(tmp_path: Path) -> tuple[Path, Path]:
    """A file of candidates and its pictures."""
    names = ["apple", "cat"]
    images = tmp_path / "images"
    images.mkdir()
    chosen = sorted((pictures_of(demo_dir()) / "images").glob("*"))[: len(names)]
    for name, path in zip(names, chosen, strict=True):
        shutil.copy(path, images / f"{name}{path.suffix}")
    file = tmp_path / "candidates.json"
    file.write_text(json.dumps({name: f"There is {name}." for name in names}), encoding="utf-8")
    return file, images


def test_with_a_dash_standard_output_holds_the_file_and_nothing_else(invoke: Invoke, scored: tuple[Path, Path]) -> None:
    candidates, images = (str(each) for each in scored)
    plain = invoke("score", candidates, images, "--evaluator", "blind-length")
    found = invoke("score", candidates, images, "--evaluator", "blind-length", "-o", "-")
    assert found.exit_code == 0
    assert set(json.loads(found.stdout)["per_item"]) == {"apple", "cat"}
    assert plain.stdout.strip() in found.stderr  # what it said there
    each = invoke("score", candidates, images, "--evaluator", "blind-length", "--save_per_instance", "-")
    assert set(json.loads(each.stdout)) == {"apple", "cat"}
    both = invoke("score", candidates, images, "--evaluator", "blind-length", "-o", "-", "--save_per_instance", "-")
    assert both.exit_code == 2
    assert "- is given for two outputs" in both.stderr


def test_a_calibrator_and_its_shifts_go_through_a_pipe(invoke: Invoke, tmp_path: Path) -> None:
    demo = str(ROOT / "data" / "results" / "demo")
    learn = ("calibrate", "learn", demo, "--evaluator", "conse-lite0", "--families", "rotation")
    model = invoke(*learn, "-o", "-")
    assert model.exit_code == 0, model.stderr
    (tmp_path / "model.json").write_text(model.stdout, encoding="utf-8")
    rows = invoke("calibrate", "apply", str(tmp_path / "model.json"), demo, "-o", "-")
    assert rows.exit_code == 0, rows.stderr
    told = list(csv.DictReader(io.StringIO(rows.stdout)))
    assert len(told) > 100
    assert {each["family"] for each in told} == {"rotation"}
    sweep = list(csv.DictReader(io.StringIO(invoke(*learn, "--sweep", "-").stdout)))
    assert len(sweep) >= 21
    assert len({len(row) for row in sweep}) == 1


def test_document_frequencies_go_through_a_pipe(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "captions.txt").write_text("a cat\na dog on a cat\n", encoding="utf-8")
    found = invoke("video", "idf", str(tmp_path / "captions.txt"), "-o", "-")
    assert found.exit_code == 0, found.stderr
    assert json.loads(found.stdout)["sentences"] == 2
    assert "2 captions" in found.stderr

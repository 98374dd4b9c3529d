"""Hostile text files, each given to the command that reads such a file."""

import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from PIL import Image
from typer.testing import CliRunner

from core.__main__ import app
from core.commands._shared import Code
from core.errors import InvalidInput
from core.evaluators.calibrated import Calibrator
from core.features.human.exchange import export_votes
from core.features.human.studies import Study
from siege.material import EVALUATOR, RUN, Material, copied, data_folder
from siege.text_files import BYTES, changed, lines
from siege.trials import Finding, Tally

Files = Iterator[tuple[str, bytes]]

ENDLESS = "cat " * 2_000_000
"""A caption of two million words."""


def run(tally: Tally, seed: int, *, quick: bool) -> None:
    """Give every hostile file to its command."""
    count = 2 if quick else 14
    rng = random.Random(f"{seed}/texts")
    with data_folder() as data:
        made = Material(data)
        images = _images(data.parent / "images")
        for kind, (files, read) in _kinds(made, images, rng, count).items():
            for number, (name, content) in enumerate(_all(files, quick=quick)):
                tally.attempt(f"{kind}: {name}", partial(read, content, data.parent / f"hostile-{kind}-{number}"))


def _all(files: Files, *, quick: bool) -> Files:
    yield from list(BYTES.items())[:: 8 if quick else 1]
    yield from files


def _kinds(
    made: Material, images: Path, rng: random.Random, count: int
) -> dict[str, tuple[Files, Callable[[bytes, Path], None]]]:
    """Kind of file -> hostile ones, and what gives one to its command."""
    captions = {f"{number}": f"a cat {number}" for number in range(3)}
    table = [["image", "caption", "label"], *([f"{number}.png", "a cat", "cat"] for number in range(3))]
    suite = {
        "flickr8k": [
            {"image": f"{number}.png", "caption": "a cat", "human": number, "references": ["a cat"]}
            for number in range(3)
        ]
    }
    held = {"flickr8k": [{"image": "0.png", "caption": ENDLESS, "human": 1, "references": ["a cat"]}]}
    endless = {
        "captions.csv": f'image,caption,label\n0.png,"{ENDLESS}",cat\n'.encode(),
        "candidates.json": json.dumps({**captions, "1": ENDLESS}).encode(),
        "suite": json.dumps(held).encode(),
    }
    votes = json.loads(export_votes(Study(made.study), "json"))
    manifest = json.loads((made.run / "manifest.json").read_text(encoding="utf-8"))
    study = json.loads((made.study / "study.json").read_text(encoding="utf-8"))
    del study["sha256"]  # by which every change would be refused alike
    kinds: dict[str, tuple[Files, Callable[[bytes, Path], None]]] = {
        "captions.csv": (lines(table, rng, count), partial(_folder, images)),
        "candidates.json": (changed(captions, rng, count), partial(_candidates, images)),
        "suite": (changed(suite, rng, count), partial(_suite, images)),
        "votes": (changed(votes, rng, count), _votes),
        "calibrator.json": (changed(_calibrator(), rng, count), partial(_calibrated, made.run)),
        "manifest.json": (changed(manifest, rng, count), partial(_manifest, made.run)),
        "study.json": (changed(study, rng, count), partial(_study, made.study)),
    }
    for kind, content in endless.items():
        files, read = kinds[kind]
        kinds[kind] = chain([("two million words", content)], files), read
    return kinds


def _images(folder: Path) -> Path:
    folder.mkdir()
    for number in range(3):
        Image.new("RGB", (64, 48), (80 * number, 10, 10)).save(folder / f"{number}.png")
    return folder


def _calibrator() -> Any:
    return Calibrator(
        evaluator="colours",
        reading="orbit",
        strength=0.5,
        weights={"vertical-flip": 1.0},
        shifts={"vertical-flip": {"vflip": 0.1}},
        family_shifts={"vertical-flip": 0.1},
        ridge=1.0,
    ).model_dump(mode="json")


def command(*words: object, may: tuple[int, ...] = (Code.OK, Code.FAILURES, Code.BAD_INPUT)) -> None:
    """Call a command of the program in this process.

    Raises:
        InvalidInput: with its sentence, where the command refused what it was given.
        Finding: if it ended otherwise than a command may, or without a word.
    """
    found = CliRunner().invoke(app, [str(word) for word in words])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    if found.exit_code not in may:
        raise Finding("traceback", f"exit code {found.exit_code}: {found.output[-300:]}")
    if found.exit_code == Code.BAD_INPUT:
        said = found.stderr.strip().splitlines()
        if not said:
            raise Finding("silent", "it was refused without a word")
        raise InvalidInput(said[-1][-1000:])


def _put(content: bytes, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def _folder(images: Path, content: bytes, away: Path) -> None:
    copied(images, away)
    _put(content, away / "captions.csv")
    command("corpora", "show", "folder", "--root", away)


def _candidates(images: Path, content: bytes, away: Path) -> None:
    command("score", _put(content, away / "candidates.json"), images, "--evaluator", EVALUATOR)


def _suite(images: Path, content: bytes, away: Path) -> None:
    command("suite", _put(content, away / "flickr8k.json"), images, "--evaluator", EVALUATOR, "--no-keep")


def _votes(content: bytes, away: Path) -> None:
    command("study", "import", "siege", _put(content, away / "votes.json"))


def _calibrated(run: Path, content: bytes, away: Path) -> None:
    path = _put(content, away / "calibrator.json")
    command("calibrate", "apply", path, run, "-o", away / "out.csv")


def _manifest(run: Path, content: bytes, away: Path) -> None:
    copied(run, away / RUN)
    _put(content, away / RUN / "manifest.json")
    command("verify", away / RUN)


def _study(study: Path, content: bytes, away: Path) -> None:
    folder = copied(study, study.with_name(away.name))
    _put(content, folder / "study.json")
    command("study", "agreement", folder.name)

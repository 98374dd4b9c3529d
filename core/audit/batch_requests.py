"""A judge's questions about exported pairs as an offline batch, in shards.

``batch/NAME-digest/`` of the export has ``judge.json`` and ``requests-00001.jsonl``, ``requests-00002.jsonl``, …; what
an answer is known by (``custom_id``) is made of the question alone (:func:`question_of`).
"""

import json
import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, get_args

import cv2
import numpy as np

from core.audit.pair_folder import PairFolder
from core.corpora.images import encode_png
from core.corpora.score_files import GivenPair, pair_id
from core.errors import InvalidInput, StoreError
from core.evaluators.base import Evaluator
from core.evaluators.metrics.judge import LONGEST_SIDE, OnDemand, sent
from core.evaluators.network.asking import data_url
from core.evaluators.network.batch import BatchJudge
from core.evaluators.references import NO_REFERENCE
from core.writing import write_folder_whole

BATCHES = "batch"
JUDGE = "judge.json"
FORMAT = 1

Kind = Literal["openai", "vllm"]
KINDS: tuple[Kind, ...] = get_args(Kind)

MOST_LINES = 50_000
MOST_BYTES: dict[Kind, int] = {"openai": 200_000_000, "vllm": 2_000_000_000}
"""Most of one file: what OpenAI's endpoint takes; ``vllm run-batch`` has no such bound."""

_HELD = 8
"""Pictures that are held as text: pairs of one picture stand close together."""


@dataclass(frozen=True, slots=True)
class Written:
    """A batch on disk."""

    judge: BatchJudge
    folder: Path
    requests: int
    shards: int
    bytes: int


def batch_judge(kind: type[Evaluator]) -> BatchJudge:
    """The judge of an evaluator. Raises InvalidInput if it is none that a model and a rubric make."""
    if not issubclass(kind, OnDemand) or kind.made is None:
        raise InvalidInput(f"{kind.spec.name} is no judge:MODEL@RUBRIC; a batch asks judges that say both")
    return BatchJudge(kind.spec.name, kind.model, kind.made, LONGEST_SIDE, kind.spec.languages)


def write_batch(
    folder: PairFolder,
    judge: BatchJudge,
    kind: Kind,
    *,
    most_lines: int = MOST_LINES,
    most_bytes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Written:
    """Write a judge's questions about every pair of an export; what was written for it before is replaced.

    A question is asked once, however many pairs it is of: those of a rubric that shows no picture differ in their
    captions alone.

    Args:
        folder: complete.
        kind: ``openai`` puts each picture into its line; ``vllm`` names its file, which vLLM reads where
            ``--allowed-local-media-path`` allows it. Pictures that must be made smaller are put into the line by both.
        most_lines, most_bytes: of one file.
        progress: called with (pairs done, pairs in all).

    Raises InvalidInput if the pairs are of videos, nothing can be asked, or one request is larger than a file may be;
    StoreError if it cannot be written.
    """
    most = MOST_BYTES[kind] if most_bytes is None else most_bytes
    if most_lines < 1 or most < 1:
        raise InvalidInput(f"a file of a batch has at least one line and one byte, got {most_lines} and {most}")
    shards = _Shards(most_lines, most)
    total = int(folder.told["counts"]["pairs"])

    def fill(new: Path) -> None:
        seen, pictures = set[str](), _Pictures(folder.path, kind)
        for place, pair in enumerate(folder.pairs()):
            question, references = question_of(judge, pair)
            if question not in seen and not unasked(judge, pair):
                seen.add(question)
                picture = "" if judge.rubric.picture == "none" else pictures.address(pair.image)
                shards.add(new, judge.line(question, pair.caption, references, picture))
            if progress is not None:
                progress(place + 1, total)
        shards.close()
        if not seen:
            raise InvalidInput(f"{judge.name} can be asked about no pair of the export: {unasked(judge, pair)}")
        told = {
            "format": FORMAT,
            "kind": kind,
            "pairs": folder.digest,
            "name": judge.name,
            "model": judge.model,
            "rubric": judge.rubric.model_dump(mode="json"),
            "side": judge.side,
            "languages": judge.languages,
            "requests": len(seen),
        }
        (new / JUDGE).write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    name = re.sub(r"[^A-Za-z0-9.]+", "-", judge.name.partition(":")[2]).strip("-.")[:100]
    place = folder.path / BATCHES / f"{name}-{judge.digest}"
    write_folder_whole(place, fill, standing="replaced", sync=False)
    return Written(judge, place, shards.lines, shards.number, shards.bytes)


def question_of(judge: BatchJudge, pair: GivenPair) -> tuple[str, tuple[str, ...]]:
    """Name of what a judge is asked about a pair, made of all that it is shown, and the references that it is shown."""
    references = pair.references if judge.rubric.takes_references else ()
    picture = "" if judge.rubric.picture == "none" else Path(pair.image).stem
    return pair_id(picture, pair.caption, "", references), references


def unasked(judge: BatchJudge, pair: GivenPair) -> str:
    """Why a judge is not asked about a pair; empty where it is."""
    if judge.languages and pair.language not in judge.languages:
        return f"{judge.name} reads {', '.join(judge.languages)} and not {pair.language}"
    if judge.rubric.takes_references and not pair.references:
        return NO_REFERENCE.format(name=judge.name)
    return ""


class _Shards:
    """The files of a batch; one is open at a time."""

    def __init__(self, most_lines: int, most_bytes: int) -> None:
        self._most = (most_lines, most_bytes)
        self._file: BinaryIO | None = None
        self._held = (0, 0)
        self.number = self.lines = self.bytes = 0

    def add(self, folder: Path, line: bytes) -> None:
        if len(line) > self._most[1]:
            raise InvalidInput(
                f"one question has {len(line):,} bytes and a file may have {self._most[1]:,}; allow larger files"
            )
        full = self._held[0] + 1 > self._most[0] or self._held[1] + len(line) > self._most[1]
        if self._file is None or full:
            self.close()
            self.number += 1
            self._file, self._held = (folder / f"requests-{self.number:05d}.jsonl").open("wb"), (0, 0)
        self._file.write(line)
        self._held = (self._held[0] + 1, self._held[1] + len(line))
        self.lines, self.bytes = self.lines + 1, self.bytes + len(line)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class _Pictures:
    """Addresses of exported pictures as they are sent, the last few held."""

    def __init__(self, root: Path, kind: Kind) -> None:
        self._root, self._kind = root, kind
        self._held: OrderedDict[str, str] = OrderedDict()

    def address(self, image: str) -> str:
        if image not in self._held:
            self._held[image] = self._made(self._root / image)
            if len(self._held) > _HELD:
                self._held.popitem(last=False)
        self._held.move_to_end(image)
        return self._held[image]

    def _made(self, path: Path) -> str:
        if path.is_dir():
            raise InvalidInput("a judge is asked about pictures, and this export is of videos")
        try:
            png = path.read_bytes()
        except OSError as error:
            raise StoreError(f"{path} cannot be read ({error.strerror}); export the pairs again") from error
        if max(_size(png)) > LONGEST_SIDE:
            png = encode_png(sent(_pixels(png)))
        elif self._kind == "vllm":
            return path.absolute().as_uri()
        return data_url(png)


def _size(png: bytes) -> tuple[int, int]:
    """Width and height in px, from the header that every PNG has."""
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def _pixels(png: bytes) -> np.ndarray:
    found = cv2.imdecode(np.frombuffer(png, dtype=np.uint8), cv2.IMREAD_COLOR)
    if found is None:
        raise StoreError("a picture of the export is damaged; export the pairs again")
    return np.asarray(cv2.cvtColor(found, cv2.COLOR_BGR2RGB))

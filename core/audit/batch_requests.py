"""A judge's questions about exported pairs as an offline batch, in shards, and its answers read back as scores.

``batch/NAME-digest/`` of the export has ``judge.json`` and ``requests-00001.jsonl``, ``requests-00002.jsonl``, …; what
an answer is known by (``custom_id``) is made of the question alone (:func:`question_of`).
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

import cv2
import numpy as np
from pydantic import ValidationError

from core.audit.imports import Imported
from core.audit.pair_folder import PairFolder
from core.corpora.images import encode_png
from core.corpora.ordinary_paths import ordinary
from core.corpora.score_files import GivenPair, ScoreFile, pair_id
from core.errors import InvalidInput, StoreError, first_line
from core.evaluators.base import Evaluator
from core.evaluators.metrics.judge import LONGEST_SIDE, OnDemand, sent
from core.evaluators.network.asking import BatchAnswer, BatchJudge, data_url, read_answer, read_custom_id
from core.evaluators.network.endpoint import prices_of
from core.evaluators.network.rubrics import Rubric
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

_HELD = 8  # pictures that are held as text: pairs of one picture stand close together
MOST_ANSWER = 1_000_000  # bytes of one line of answers


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
    ``folder``: complete.
    ``kind``: ``openai`` puts each picture into its line; ``vllm`` names its file, which vLLM reads where
    ``--allowed-local-media-path`` allows it. Pictures that must be made smaller are put into the line by both.
    ``most_lines``, ``most_bytes``: of one file. ``progress``: called with (pairs done, pairs in all).
    Raises InvalidInput if the pairs are of videos, nothing can be asked, or one request is larger than a file may be;
    StoreError if it cannot be written."""
    most = MOST_BYTES[kind] if most_bytes is None else most_bytes
    if most_lines < 1 or most < 1:
        raise InvalidInput(f"a file of a batch has at least one line and one byte, got {most_lines} and {most}")
    shards = _Shards(most_lines, most)
    total = int(folder.told["counts"]["pairs"])

    def fill(new: Path) -> None:
        seen, address = set[str](), lru_cache(_HELD)(partial(_address, folder.path, kind))
        for place, pair in enumerate(folder.pairs()):
            question, references = question_of(judge, pair)
            if question not in seen and not unasked(judge, pair):
                seen.add(question)
                picture = "" if judge.rubric.picture == "none" else address(pair.image)
                shards.add(new, judge.line(question, pair.caption, references, picture))
            if progress is not None:
                progress(place + 1, total)
        shards.close()
        if not seen:
            raise InvalidInput(f"{judge.name} can be asked about no pair of the export: {unasked(judge, pair)}")
        asked = {"name": judge.name, "model": judge.model, "rubric": judge.rubric.model_dump(mode="json")}
        limits = {"side": judge.side, "languages": judge.languages, "requests": len(seen)}
        told = {"format": FORMAT, "kind": kind, "pairs": folder.digest, **asked, **limits}
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


def _address(root: Path, kind: Kind, image: str) -> str:
    path = root / image
    if path.is_dir():
        raise InvalidInput("a judge is asked about pictures, and this export is of videos")
    try:
        png = path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror}); export the pairs again") from error
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))  # as in every PNG's header
    if max(width, height) <= LONGEST_SIDE:
        return path.absolute().as_uri() if kind == "vllm" else data_url(png)
    found = cv2.imdecode(np.frombuffer(png, dtype=np.uint8), cv2.IMREAD_COLOR)
    if found is None:
        raise StoreError("a picture of the export is damaged; export the pairs again")
    return data_url(encode_png(sent(np.asarray(cv2.cvtColor(found, cv2.COLOR_BGR2RGB)))))


@dataclass(slots=True)
class Counts:
    """What came back for one judge."""

    asked: int = 0  # questions of the batch
    answered: int = 0  # that have a score
    failed: int = 0  # whose answers hold none
    doubled: int = 0  # answers beyond each question's first
    differing: int = 0  # of those with a score, the ones with another score than the answer that counts
    # read, written: tokens
    read: int = 0
    written: int = 0
    unknown: int = 0  # answers that do not say theirs
    cost: float | None = None  # at the prices that are set; None where they are not
    why: str = ""  # the first reason of a failed one, by its question

    @property
    def missing(self) -> int:
        """Questions without any answer."""
        return self.asked - self.answered - self.failed

    def sentences(self) -> list[str]:
        """What a reader must know, a sentence each."""
        found = [f"{self.answered:,} of {self.asked:,} questions have a score."]
        if self.missing:
            found.append(f"Missing: {_questions(self.missing)} no answer in the files; the pairs have no score.")
        if self.failed:
            found.append(f"Failed: {_questions(self.failed)} an answer without a score, such as: {self.why}.")
        if self.doubled:
            other = f", {self.differing:,} of them with another score" if self.differing else ""
            found.append(f"Doubled: {self.doubled:,} answers beyond the first{other}; the earliest score counts.")
        if self.read or self.written:
            cost = f", {self.cost:.4g} at the prices that are set" if self.cost is not None else ""
            found.append(f"Cost: {self.read:,} tokens read and {self.written:,} written{cost}.")
        if self.unknown:
            found.append(f"Unknown cost: {self.unknown:,} answers do not say their tokens.")
        return found


@dataclass(frozen=True, slots=True)
class Answers:
    """All that came back."""

    imported: tuple[Imported, ...]  # judge by judge, for :func:`core.audit.imports.import_scores`
    counts: dict[str, Counts]  # by the judge's name
    foreign: int  # answers to no question of this export's batches
    unreadable: int  # lines that are no answers
    silent: tuple[str, ...]  # judges whose batch none of the files answers


def read_batches(files: Sequence[Path], folder: PairFolder) -> Answers:
    """Read answers to the batches of an export, in whatever order and number of files they came.
    Of several answers to one question the earliest that holds a score counts.
    Raises InvalidInput if a file cannot be read, a line of it is too long, the export has no batch, or no answer is to
    one of its questions; StoreError if a batch's description is damaged."""
    batches = [_Batch(judge, kind) for judge, kind in _judges(folder)]
    if not batches:
        raise InvalidInput(f"{folder.path} has no batch; write one with export-pairs --batch, then import its answers")
    by_digest = {each.judge.digest: each for each in batches}
    digest, foreign, unreadable = hashlib.sha256(), 0, 0
    for line in _lines(files, digest.update):
        try:
            told, custom_id = read_custom_id(line)
        except InvalidInput:
            unreadable += 1
            continue
        batch = by_digest.get(custom_id.rpartition("-")[2])
        if batch is None:
            foreign += 1
        else:
            batch.add(custom_id.rpartition("-")[0], told)
    name = files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more"
    heard = [each for each in batches if each.best]
    for each in heard:
        each.settle(folder)
        foreign += each.strange
    if not any(each.counts.answered for each in heard):
        raise InvalidInput(
            f"{name}: no answer holds a score of a question of {folder.path}; {foreign:,} are of other questions, "
            f"{unreadable:,} lines are no answers{''.join(f', {each.counts.why}' for each in heard if each.counts.why)}"
        )
    heard = [each for each in heard if each.counts.answered]
    imported = tuple(each.imported(folder, name, digest.hexdigest()) for each in heard)
    silent = tuple(each.judge.name for each in batches if each not in heard)
    return Answers(imported, {each.judge.name: each.counts for each in heard}, foreign, unreadable, silent)


def _lines(files: Iterable[Path], update: Callable[[bytes], None]) -> Iterator[bytes]:
    for path in files:
        try:
            with ordinary(path).open("rb") as file:
                for line in iter(lambda: file.readline(MOST_ANSWER + 1), b""):
                    if len(line) > MOST_ANSWER:
                        raise InvalidInput(f"{path}: a line has more than {MOST_ANSWER:,} bytes, which no answer has")
                    update(line)
                    if line.strip():
                        yield line
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {error.strerror or error}; check the file") from error


def _judges(folder: PairFolder) -> Iterator[tuple[BatchJudge, str]]:
    for path in sorted((folder.path / BATCHES).glob(f"*/{JUDGE}")):
        try:
            told = json.loads(path.read_bytes())
            rubric = Rubric.model_validate_json(json.dumps(told["rubric"]))
            languages = tuple(map(str, told["languages"]))
            judge = BatchJudge(str(told["name"]), str(told["model"]), rubric, int(told["side"]), languages)
            kind, pairs = str(told["kind"]), told["pairs"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError, ValidationError) as error:
            raise StoreError(f"{path} cannot be read ({first_line(error)}); write the batch again") from error
        if pairs != folder.digest or told.get("format") != FORMAT:
            raise StoreError(f"{path} is of other pairs, or of another version; write the batch again")
        yield judge, kind


@dataclass(slots=True, eq=False)
class _Batch:
    """Answers to the questions of one judge: the best of each question, and what is counted."""

    judge: BatchJudge
    kind: str
    best: dict[str, BatchAnswer] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)
    strange: int = 0
    _seen: set[tuple[str, str]] = field(default_factory=set)

    def add(self, question: str, told: dict[str, Any]) -> None:
        answer, counts = read_answer(told, self.judge), self.counts
        before = self.best.get(question)
        if before is not None:
            counts.doubled += 1
            if None not in (before.score, answer.score) and before.score != answer.score:
                counts.differing += 1
        if before is None or answer.rank < before.rank:
            self.best[question] = answer
        known = (question, answer.id)
        if not answer.id or known not in self._seen:  # a file that was given twice was paid for once
            self._seen.add(known)
            if answer.tokens is not None:
                counts.read += answer.tokens[0]
                counts.written += answer.tokens[1]
            elif answer.score is not None:
                counts.unknown += 1

    def settle(self, folder: PairFolder) -> None:
        """Count the questions, drop answers to none of them, and price what was read and written."""
        asked = {question_of(self.judge, pair)[0] for pair in folder.pairs() if not unasked(self.judge, pair)}
        strange = self.best.keys() - asked
        self.strange = len(strange)
        for question in strange:
            del self.best[question]
        failed = sorted(question for question, answer in self.best.items() if answer.score is None)
        counts = self.counts
        counts.asked, counts.failed = len(asked), len(failed)
        counts.answered = len(self.best) - len(failed)
        counts.why = self.best[failed[0]].why if failed else ""
        price_in, price_out = prices_of(self.judge.model)
        if price_in is not None and price_out is not None:
            counts.cost = (price_in * counts.read + price_out * counts.written) / 1e6

    def imported(self, folder: PairFolder, name: str, sha256: str) -> Imported:
        scores, reasons = dict[str, float](), dict[str, str]()
        for pair in folder.pairs():
            answer = self.best.get(question_of(self.judge, pair)[0])
            why = unasked(self.judge, pair) or (answer.why if answer else "")
            if answer is not None and answer.score is not None and not why:
                scores[pair.id] = answer.score
            elif why:
                scores[pair.id], reasons[pair.id] = math.nan, why
        rubric, counts = self.judge.rubric, self.counts
        told = {name: getattr(counts, name) for name in ("asked", "answered", "failed", "doubled", "read", "written")}
        return Imported(
            self.judge.name,
            self.judge.told(self.kind),
            (rubric.low, rubric.high),
            ScoreFile(name, sha256, "", scores, reasons),
            {
                "batch": {**told, "missing": counts.missing, "cost": counts.cost},
                "rubric": rubric.model_dump(mode="json"),
            },
        )


def _questions(count: int) -> str:
    return "1 question has" if count == 1 else f"{count:,} questions have"

"""The answers to a judge's offline batches: in any order, in any number of files, partly, twice, for several judges."""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.audit.batch_requests import BATCHES, FORMAT, JUDGE, question_of, unasked
from core.audit.imports import Imported
from core.audit.pair_folder import PairFolder
from core.corpora.ordinary_paths import ordinary
from core.corpora.score_files import ScoreFile
from core.errors import InvalidInput, StoreError
from core.evaluators.network.batch import BatchAnswer, BatchJudge, read_answer, read_custom_id
from core.evaluators.network.endpoint import prices_of
from core.evaluators.network.rubrics import Rubric

MOST_ANSWER = 1_000_000
"""Bytes of one line of answers."""


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
    one of its questions; StoreError if a batch's description is damaged.
    """
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
            raise StoreError(f"{path} cannot be read ({str(error).splitlines()[0]}); write the batch again") from error
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
            self._pay(answer)

    def _pay(self, answer: BatchAnswer) -> None:
        if answer.tokens is not None:
            self.counts.read += answer.tokens[0]
            self.counts.written += answer.tokens[1]
        elif answer.score is not None:
            self.counts.unknown += 1

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

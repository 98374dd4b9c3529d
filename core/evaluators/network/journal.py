"""Answers that were paid for: appended line by line, each on the disk before its score is used.

A line is a checksum and a JSON object. A line that was cut off by a kill, or damaged, is passed over; what stands
before and after it counts.
"""

import hashlib
import json
import logging
import os
import threading
from collections.abc import Iterable
from pathlib import Path

from filelock import FileLock

from core.errors import ScoringStopped
from core.evaluators.network.answer import MOST_TOKENS, Verdict, read_verdict
from core.evaluators.network.asking import SEED

_log = logging.getLogger("invariscope.judge")
_DIGITS = 16


def request_key(*, rubric: str, model: str, pair: str, longest_side: int) -> str:
    """Return the sha256, in hex, of all that an answer depends on.

    Args:
        rubric: hash of the rubric.
        model: what is asked.
        pair: hashes of picture and caption; see :func:`core.evaluators.cache.pair_key`.
        longest_side: in px, at which the picture is sent.
    """
    asked = {"rubric": rubric, "model": model, "pair": pair, "side": longest_side, "seed": SEED, "tokens": MOST_TOKENS}
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


class Journal:
    """Scores by :func:`request_key`; safe between threads and processes, and across a kill.

    Args:
        path: the file, made with the first answer; None: in memory only.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._scores: dict[str, float] = {}
        self._read = 0
        """Bytes of the file that are in ``_scores``: whole lines, what others append is still to come."""

    def scores(self, keys: Iterable[str]) -> dict[str, float]:
        """Return the scores that are known, by key; what another process appended meanwhile is read, too."""
        with self._lock:
            self._catch_up()
            return {key: self._scores[key] for key in keys if key in self._scores}

    def check(self) -> None:
        """Find out whether an answer can be kept, before one is paid for.

        Raises:
            ScoringStopped: where it cannot.
        """
        self._append(b"")

    def add(self, key: str, verdict: Verdict) -> None:
        """Keep one answer; on return it is on the disk.

        Raises:
            ScoringStopped: where it cannot be written, so that no more is paid for.
        """
        told = json.dumps({"key": key, "answer": verdict.model_dump_json()}, sort_keys=True)
        with self._lock:
            self._scores[key] = verdict.score
            self._append(f"{_checksum(told)} {told}\n".encode())

    def _append(self, line: bytes) -> None:
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self.path}.lock"), self.path.open("a+b") as file:
                if line and not _ends_with_newline(file.fileno()):
                    line = b"\n" + line  # somebody was killed in the middle of a line
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise ScoringStopped(
                f"the judge's answers cannot be kept in {self.path} ({error.strerror or error}); free space or set "
                "INVARISCOPE_DATA, then resume: nothing more is asked, and what was kept is not asked again"
            ) from error

    def _catch_up(self) -> None:
        if self.path is None or not self.path.is_file():
            return
        with self.path.open("rb") as file:
            file.seek(self._read)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._read += len(line)
                self._take(line)

    def _take(self, line: bytes) -> None:
        checksum, _, told = line.decode("utf-8", "replace").strip().partition(" ")
        if not checksum:
            return
        if checksum != _checksum(told):
            _log.warning("%s: a damaged line is passed over; its pair is asked again", self.path)
            return
        kept = json.loads(told)
        self._scores[kept["key"]] = read_verdict(kept["answer"]).score


def _ends_with_newline(file: int) -> bool:
    size = os.fstat(file).st_size
    return size == 0 or os.pread(file, 1, size - 1) == b"\n"


def _checksum(told: str) -> str:
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]

"""What a job does that measures a calibration: the fields that a page fills in, and a command line."""

import re
import shlex
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from core import settings
from core.errors import InvalidInput
from core.jobs.progress import read_progress
from core.jobs.request import first_problem
from core.store.manifest import check_run_id, list_runs


class MeasureRequest(BaseModel):
    """One calibration to be measured; made by :func:`measure_request`.

    Args:
        kind: tells it from an audit.
        run: id of the run that the calibration is learnt from, or path of a run folder or a published file.
        evaluator: whose scores are calibrated.
        reading: of orbits; what is scored is the same for both.
        weights: likewise.
        families: calibrated for.
        subject, language: of the captions.
        run_id: name of the job; None: made when it is started.
        device: where the evaluator runs; None: the best there is.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: Literal["measure"] = "measure"
    run: str = Field(min_length=1)
    evaluator: str = Field(min_length=1)
    reading: Literal["orbit", "absolute"] = "orbit"
    weights: Literal["uniform", "sensitivity", "each", "oracle"] = "uniform"
    families: tuple[str, ...] = Field(min_length=1)
    subject: str = "template"
    language: str = "en"
    run_id: str | None = None
    device: str | None = None

    @field_validator("run_id")
    @classmethod
    def _safe_id(cls, run_id: str | None) -> str | None:
        return None if run_id is None else check_run_id(run_id)

    @field_validator("run", "evaluator", "subject", "language")
    @classmethod
    def _no_option(cls, word: str) -> str:
        if word.startswith("-"):
            raise ValueError("it must not begin with a dash")
        return word

    @field_validator("families")
    @classmethod
    def _words(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        bad = [name for name in names if not name or re.search(r"[\s,]", name) or name.startswith("-")]
        if bad:
            raise ValueError(f"families are words without comma, got {bad[0]!r}")
        return names

    @property
    def told(self) -> tuple[str, ...]:
        """What it does, in words."""
        return (f"calibration of {self.evaluator} measured", f"run {self.run}", f"families {', '.join(self.families)}")

    @property
    def unit(self) -> str:
        """What its progress counts."""
        return "picture"

    def arguments(self, *, resume: bool = False) -> list[str]:
        """Words after ``python -m core`` that measure; the same call goes on where an earlier one ended."""
        words = ["calibrate", "learn", self.run, "--evaluator", self.evaluator, "--families", ",".join(self.families)]
        words += ["--reading", self.reading, "--weights", self.weights, "--subject", self.subject]
        words += ["--language", self.language, "--measure", "--again"]
        return words + (["--device", self.device] if self.device is not None else [])

    def shell(self, *, resume: bool = False) -> str:
        """The command to paste in a shell: every word quoted as the shell needs it."""
        usual = settings.data_dir().absolute() == settings.usual_data_dir()
        where = [] if usual else ["env", f"INVARISCOPE_DATA={settings.data_dir().absolute()}"]
        return shlex.join([*where, "python", "-m", "core", *self.arguments(resume=resume)])

    def command(self, progress: Path, *, resume: bool = False) -> list[str]:
        """The process to start, as a list: no shell reads it.

        Args:
            progress: file that the measurement tells its progress in.
            resume: go on with it.
        """
        named = ["--job", str(self.run_id), "--progress-file", str(progress)]
        return [sys.executable, "-m", "core", *self.arguments(resume=resume), *named]

    def check(self) -> None:
        """Find out cheaply what would stop the measurement at once.

        Raises:
            InvalidInput: if there is no such run.
        """
        if not Path(self.run).exists() and self.run not in {run.id for run in list_runs()}:
            raise InvalidInput(f"no run {self.run!r} is here; measure a calibration of a run that is")

    def named(self, taken: Iterable[str] = ()) -> "MeasureRequest":
        """Return the request with a name for its job; one is made of run and time where there is none.

        Args:
            taken: ids that a made one must not be.
        """
        if self.run_id is not None:
            return self
        run = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(self.run).stem).strip("-._")[:50] or "run"
        first = f"measure-{run}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
        names = (first, *(f"{first}-{number}" for number in range(2, 1000)))
        return self.model_copy(update={"run_id": next(name for name in names if name not in set(taken))})

    def is_complete(self, progress: Path) -> bool:
        """Whether the measurement is on the disk: only then does its process say that it is complete."""
        told = read_progress(progress)
        return told is not None and told.phase == "complete"

    def same(self, other: object) -> bool:
        """Whether another request scores the same pictures."""
        if not isinstance(other, MeasureRequest):
            return False
        own = {"run_id": None, "reading": "orbit", "weights": "uniform"}
        return self.model_copy(update=own) == other.model_copy(update=own)


def measure_request(**fields: Any) -> MeasureRequest:
    """Make a request of what a reader chose.

    Raises:
        InvalidInput: naming the field.
    """
    try:
        return MeasureRequest(**fields)
    except ValidationError as error:
        raise InvalidInput(first_problem(error)) from error

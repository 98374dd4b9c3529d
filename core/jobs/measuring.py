"""What a job does that measures a calibration: the fields that a page fills in, and a command line."""

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from core.errors import InvalidInput
from core.jobs.one_command import OneCommand
from core.jobs.request import first_problem
from core.store.manifest import list_runs


class MeasureRequest(OneCommand):
    """One calibration to be measured; made by :func:`measure_request`.

    Args:
        kind: tells it from an audit.
        run: id of the run that the calibration is learnt from, or path of a run folder or a published file.
        evaluator: whose scores are calibrated.
        reading: of orbits; what is scored is the same for both.
        weights: likewise.
        families: calibrated for.
        subject, language: of the captions.
    """

    kind: Literal["measure"] = "measure"
    run: str = Field(min_length=1)
    evaluator: str = Field(min_length=1)
    reading: Literal["orbit", "absolute"] = "orbit"
    weights: Literal["uniform", "sensitivity", "each", "oracle"] = "uniform"
    families: tuple[str, ...] = Field(min_length=1)
    subject: str = "template"
    language: str = "en"

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

    @property
    def keeps(self) -> bool:
        """Whether what was done stays when it is stopped, and need not be done again."""
        return True

    @property
    def stem(self) -> str:
        """What a name that is made begins with."""
        return f"measure-{Path(self.run).stem}"

    def arguments(self, *, resume: bool = False) -> list[str]:
        """Words after ``python -m core`` that measure; the same call goes on where an earlier one ended."""
        words = ["calibrate", "learn", self.run, "--evaluator", self.evaluator, "--families", ",".join(self.families)]
        words += ["--reading", self.reading, "--weights", self.weights, "--subject", self.subject]
        words += ["--language", self.language, "--measure", "--again"]
        return words + (["--device", self.device] if self.device is not None else [])

    def check(self) -> None:
        """Find out cheaply what would stop the measurement at once.

        Raises:
            InvalidInput: if there is no such run.
        """
        if not Path(self.run).exists() and self.run not in {run.id for run in list_runs()}:
            raise InvalidInput(f"no run {self.run!r} is here; measure a calibration of a run that is")

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

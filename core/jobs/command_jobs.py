"""Jobs that end with their one command: weights fetched, a calibration measured, evaluators held to a suite."""

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from core.audit.request import first_problem
from core.errors import InvalidInput
from core.evaluators.references import BY_WORDS
from core.evaluators.registry import find
from core.evaluators.weights.fetched import Published
from core.jobs.request import OneCommand, check_available, check_file, check_folder
from core.store.manifest import list_runs

SHARE = "%"
"""Unit of a progress that is a share: sets of weights tell bytes or files, and a publisher may not say how many."""


class GetRequest(OneCommand):
    """Weights to be fetched, as ``python -m core evaluators get`` does; made by :func:`get_request`.

    Args:
        kind: tells it from an audit.
        name: of a published evaluator.
    """

    kind: Literal["get"] = "get"
    name: str = Field(min_length=1)

    @field_validator("name")
    @classmethod
    def _no_option(cls, word: str) -> str:
        if word.startswith("-"):
            raise ValueError("it must not begin with a dash")
        return word

    @property
    def told(self) -> tuple[str, ...]:
        """What it does, in words."""
        return (f"weights of {self.name}",)

    @property
    def unit(self) -> str:
        """What its progress counts."""
        return SHARE

    @property
    def keeps(self) -> bool:
        """Whether what was done stays when it is stopped: a file that was cut off goes on where it stopped."""
        return True

    @property
    def stem(self) -> str:
        """What a name that is made begins with."""
        return f"get-{self.name}"

    def arguments(self, *, resume: bool = False) -> list[str]:
        """Words after ``python -m core``; the same call goes on where an earlier one ended."""
        return ["evaluators", "get", self.name]

    def check(self) -> None:
        """Find out cheaply what would stop it at once.

        Raises:
            UnknownName: for an unknown evaluator.
            InvalidInput: for one without weights to fetch.
        """
        if not issubclass(find(self.name), Published):
            raise InvalidInput(f"{self.name} has no weights to fetch; choose a published evaluator that is not here")


def get_request(**fields: Any) -> GetRequest:
    """Make a request of what a reader chose.

    Raises:
        InvalidInput: naming the field.
    """
    try:
        return GetRequest(**fields)
    except ValidationError as error:
        raise InvalidInput(first_problem(error)) from error


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


class SuiteRequest(OneCommand):
    """Evaluators to be held to one suite; made by :func:`suite_request`.

    Args:
        kind: tells it from an audit.
        files: of the suite, absolute.
        images: folders of its pictures, absolute.
        evaluators: registered names, or metrics that read references alone.
        keep_self_references: of Flickr8k, keep ratings of an image's own references.
    """

    kind: Literal["suite"] = "suite"
    files: tuple[str, ...] = Field(min_length=1)
    images: tuple[str, ...] = Field(min_length=1)
    evaluators: tuple[str, ...] = Field(min_length=1)
    keep_self_references: bool = False

    @field_validator("files", "images")
    @classmethod
    def _absolute(cls, paths: tuple[str, ...]) -> tuple[str, ...]:
        if bad := [path for path in paths if not Path(path).is_absolute()]:
            raise ValueError(f"paths are absolute, got {bad[0]!r}")
        return paths

    @field_validator("evaluators")
    @classmethod
    def _words(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if bad := [name for name in names if not name or "," in name or name.startswith("-")]:
            raise ValueError(f"evaluators are names without comma, got {bad[0]!r}")
        return names

    @property
    def told(self) -> tuple[str, ...]:
        """What it does, in words."""
        return (f"suite {', '.join(Path(each).name for each in self.files)}", f"by {', '.join(self.evaluators)}")

    @property
    def unit(self) -> str:
        """What its progress counts."""
        return "caption"

    @property
    def keeps(self) -> bool:
        """Whether what was done stays when it is stopped: a suite is kept once it is whole."""
        return False

    @property
    def stem(self) -> str:
        """What a name that is made begins with."""
        return f"suite-{Path(self.files[0]).stem}"

    def arguments(self, *, resume: bool = False) -> list[str]:
        """Words after ``python -m core``; ``resume`` changes nothing."""
        words = ["suite", self.files[0], *self.images]
        words += [word for each in self.files[1:] for word in ("--also", each)]
        words += ["--evaluator", ",".join(self.evaluators)]
        words += ["--keep-self-references"] if self.keep_self_references else []
        return words + (["--device", self.device] if self.device is not None else [])

    def check(self) -> None:
        """Find out cheaply, before a job is made, what would stop it at once.

        Raises:
            UnknownName: for an unknown evaluator.
            InvalidInput: for a file or a folder that is not there.
            NotAvailable: for an evaluator that is not on this machine.
        """
        for path in self.files:
            check_file(path)
        for path in self.images:
            check_folder(path)
        check_available(tuple(name for name in self.evaluators if name not in BY_WORDS))


def suite_request(**fields: Any) -> SuiteRequest:
    """Make a request of what a reader chose.

    Raises:
        InvalidInput: naming the field.
    """
    try:
        return SuiteRequest(**fields)
    except ValidationError as error:
        raise InvalidInput(first_problem(error)) from error

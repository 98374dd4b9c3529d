"""Jobs that end with their one command: weights fetched, a calibration measured, evaluators held to a suite.

What a job does that checks a metric: the fields that a page fills in, a command line, and the report it leaves.
"""

import re
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from core import settings
from core.audit.request import first_problem
from core.errors import InvalidInput, StoreError
from core.evaluators.references import BY_WORDS
from core.evaluators.registry import find
from core.evaluators.weights.fetched import Published
from core.jobs.request import OneCommand, absolute, check_file, check_folder
from core.probes.registry import select
from core.statistics.selectivity import check_distance
from core.store.run_files import list_runs

SHARE = "%"
"""Unit of a progress that is a share: sets of weights tell bytes or files, and a publisher may not say how many."""

MOST_BYTES = 5_000_000  # of a report that is read


def _no_option(word: str | None) -> str | None:
    if word is not None and word.startswith("-"):
        raise ValueError("it must not begin with a dash")
    return word


def _plain_names(names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    if bad := [name for name in names if not name.strip() or "," in name or name.startswith("-")]:
        raise ValueError(f"{info.field_name} are names without comma, got {bad[0]!r}")
    return names


def _check_run(run: str, do: str) -> None:
    if not Path(run).exists() and run not in {each.id for each in list_runs()}:
        raise InvalidInput(f"no run {run!r} is here; {do} a run that is")


class GetRequest(OneCommand):
    """Weights to be fetched, as ``python -m core evaluators get`` does."""

    unit: ClassVar[str] = SHARE
    keeps: ClassVar[bool] = True  # a file that was cut off goes on where it stopped
    kind: Literal["get"] = "get"  # tells it from an audit
    name: str = Field(min_length=1)  # of a published evaluator

    _options = field_validator("name")(_no_option)

    @property
    def told(self) -> tuple[str, ...]:
        return (f"weights of {self.name}",)

    @property
    def stem(self) -> str:
        return f"get-{self.name}"

    def arguments(self, *, resume: bool = False) -> list[str]:
        return ["evaluators", "get", self.name]

    def check(self) -> None:
        """Find out cheaply what would stop it at once; raises UnknownName for an unknown evaluator, and InvalidInput
        for one without weights to fetch."""
        if not issubclass(find(self.name), Published):
            raise InvalidInput(f"{self.name} has no weights to fetch; choose a published evaluator that is not here")


class MeasureRequest(OneCommand):
    """One calibration to be measured."""

    unit: ClassVar[str] = "picture"
    keeps: ClassVar[bool] = True

    kind: Literal["measure"] = "measure"  # tells it from an audit
    # id of the run that the calibration is learnt from, or path of a run folder or a published file
    run: str = Field(min_length=1)
    evaluator: str = Field(min_length=1)  # whose scores are calibrated
    reading: Literal["orbit", "absolute"] = "orbit"  # of orbits; what is scored is the same for both
    weights: Literal["uniform", "sensitivity", "each", "oracle"] = "uniform"  # likewise
    families: tuple[str, ...] = Field(min_length=1)  # calibrated for
    # subject, language: of the captions
    subject: str = "template"
    language: str = "en"

    _options = field_validator("run", "evaluator", "subject", "language")(_no_option)

    @field_validator("families")
    @classmethod
    def _words(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        bad = [name for name in names if not name or re.search(r"[\s,]", name) or name.startswith("-")]
        if bad:
            raise ValueError(f"families are words without comma, got {bad[0]!r}")
        return names

    @property
    def told(self) -> tuple[str, ...]:
        return (f"calibration of {self.evaluator} measured", f"run {self.run}", f"families {', '.join(self.families)}")

    @property
    def stem(self) -> str:
        return f"measure-{Path(self.run).stem}"

    def arguments(self, *, resume: bool = False) -> list[str]:
        words = ["calibrate", "learn", self.run, "--evaluator", self.evaluator, "--families", ",".join(self.families)]
        words += ["--reading", self.reading, "--weights", self.weights, "--subject", self.subject]
        words += ["--language", self.language, "--measure", "--again"]
        return words + (["--device", self.device] if self.device is not None else [])

    def check(self) -> None:
        """Find out cheaply what would stop the measurement at once; raises InvalidInput if there is no such run."""
        _check_run(self.run, "measure a calibration of")

    def same(self, other: object) -> bool:
        """Whether another request scores the same pictures."""
        if not isinstance(other, MeasureRequest):
            return False
        own = {"run_id": None, "reading": "orbit", "weights": "uniform"}
        return self.model_copy(update=own) == other.model_copy(update=own)


class SuiteRequest(OneCommand):
    """Evaluators to be held to one suite."""

    unit: ClassVar[str] = "caption"
    keeps: ClassVar[bool] = False  # a suite is kept once it is whole
    kind: Literal["suite"] = "suite"  # tells it from an audit
    files: tuple[str, ...] = Field(min_length=1)  # of the suite, absolute
    images: tuple[str, ...] = Field(min_length=1)  # folders of its pictures, absolute
    evaluators: tuple[str, ...] = Field(min_length=1)  # registered names, or metrics that read references alone
    keep_self_references: bool = False  # of Flickr8k, keep ratings of an image's own references
    # id of a run of these evaluators, or its path, whose edits say how easily a comparison turns; None: of none
    run: str | None = None

    _options = field_validator("run")(_no_option)

    @field_validator("files", "images")
    @classmethod
    def _absolute(cls, paths: tuple[str, ...]) -> tuple[str, ...]:
        if bad := [path for path in paths if not Path(path).is_absolute()]:
            raise ValueError(f"paths are absolute, got {bad[0]!r}")
        return paths

    _words = field_validator("evaluators")(_plain_names)

    @property
    def told(self) -> tuple[str, ...]:
        return (f"suite {', '.join(Path(each).name for each in self.files)}", f"by {', '.join(self.evaluators)}")

    @property
    def stem(self) -> str:
        return f"suite-{Path(self.files[0]).stem}"

    def arguments(self, *, resume: bool = False) -> list[str]:
        words = ["suite", self.files[0], *self.images]
        words += [word for each in self.files[1:] for word in ("--also", each)]
        words += ["--evaluator", ",".join(self.evaluators)]
        words += ["--keep-self-references"] if self.keep_self_references else []
        words += ["--run", self.run] if self.run is not None else []
        return words + (["--device", self.device] if self.device is not None else [])

    def check(self) -> None:
        """Find out cheaply what would stop it at once: an unknown evaluator (UnknownName) or one that is not here
        (NotAvailable), and a file, a folder or a run that is not there (InvalidInput)."""
        for path in self.files:
            check_file(path)
        for path in self.images:
            check_folder(path)
        if self.run is not None:
            _check_run(self.run, "name")
        for name in self.evaluators:
            if name not in BY_WORDS:
                find(name).check_available()


class CheckRequest(OneCommand):
    """One metric to be checked, as ``python -m core check`` does; made by :func:`check_request`."""

    unit: ClassVar[str] = "item"
    keeps: ClassVar[bool] = False  # a check is one report
    kind: Literal["check"] = "check"  # tells it from an audit
    evaluator: str = Field(min_length=1)  # a name, or ``path/to/file.py:Name``, absolute
    # most that a family may change the score, median |% change| in percent
    threshold: float = Field(default=5.0, gt=0, allow_inf_nan=False)
    items: int = Field(default=24, ge=3)  # of the demo corpus
    probes: tuple[str, ...] = ()  # names, families or axes; empty: the usual ones
    strict: bool = False  # whether an undecided family fails
    directional: bool = False  # whether edits that break the meaning are tried too
    # with these, most comparisons in percent that a family may fail
    failures_at_most: float = Field(default=50.0, ge=0, le=100)
    # with these, how far above the metric's own chance, at most 0.5; None: told and not judged
    selectivity_at_least: float | None = Field(default=None, ge=0, le=1)

    _options = field_validator("evaluator")(_no_option)

    _words = field_validator("probes")(_plain_names)

    @property
    def told(self) -> tuple[str, ...]:
        probes = (f"probes {', '.join(self.probes)}",) if self.probes else ()
        return (f"check of {self.evaluator}", f"{self.items} items", f"threshold {self.threshold:g} %", *probes)

    @property
    def stem(self) -> str:
        return f"check-{self.evaluator.rpartition(':')[2]}"

    @property
    def report(self) -> Path:
        """Where its report lies once it is complete."""
        return settings.checks_dir() / f"{self.run_id}.json"

    def arguments(self, *, resume: bool = False) -> list[str]:
        words = ["check", self.evaluator, "--threshold", f"{self.threshold:g}", "--items", str(self.items)]
        words += ["--probes", ",".join(self.probes)] if self.probes else []
        words += ["--strict"] if self.strict else []
        words += ["--directional"] if self.directional else []
        words += ["--failures-at-most", f"{self.failures_at_most:g}"] if self.directional else []
        least = self.selectivity_at_least
        return words + (["--selectivity-at-least", f"{least:g}"] if least is not None else [])

    def command(self, progress: Path, *, resume: bool = False) -> list[str]:
        """The process to start, which writes its report too; see :class:`core.jobs.request.OneCommand`."""
        self.report.parent.mkdir(parents=True, exist_ok=True)
        return [*super().command(progress, resume=resume), "--output", str(self.report.absolute())]

    def check(self) -> None:
        """Find out cheaply what would stop it at once: an unknown evaluator or probe (UnknownName), an evaluator that
        is not here (NotAvailable), a file or a distance from chance that cannot be used (InvalidInput)."""
        check_distance(self.selectivity_at_least)
        if self.probes:
            select(self.probes)
        find(self.evaluator).check_available()


def check_request(**fields: Any) -> CheckRequest:
    """Make a request of what a reader chose; raises InvalidInput naming the field."""
    return CheckRequest.of(**{**fields, "evaluator": absolute(str(fields.get("evaluator", "")))})


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Sized(_Read):
    """A number with its 95 % interval; None where there is none, ``note`` says why."""

    estimate: float | None
    low: float | None
    high: float | None
    n: int
    note: str = ""


class Promise(_Read):
    """One promise of an evaluator, kept or broken."""

    check: str
    passed: bool
    detail: str


class Shift(_Read):
    """How far a family of harmless edits moves the metric: median |% change| and median % change."""

    family: str
    verdict: str
    size: Sized
    shift: Sized
    missing: int
    direction: str = ""


class Compared(_Read):
    """Failures and ties of a family that breaks the meaning, as shares."""

    failure: Sized
    ties: Sized
    n: int


class Failures(_Read):
    """How often the metric fails to see one kind of broken meaning."""

    family: str
    verdict: str
    found: Compared
    missing: int


class Selective(_Read):
    """The probability that a broken meaning costs more than a harmless edit, and beside its chance."""

    value: Sized
    chance: float | None
    above: Sized


class Breaks(_Read):
    """What the metric does where the meaning breaks."""

    families: tuple[Failures, ...]
    selectivity: Selective | None
    most: float
    least_above: float | None = None


class Without(_Read):
    """Edited pairs without a score, of how many, and why the first has none."""

    count: int = 0
    pairs: int = 0
    why: str = ""


class CheckReport(_Read):
    """What ``python -m core check`` found, as it wrote it."""

    evaluator: str
    contract: tuple[Promise, ...]
    families: tuple[Shift, ...]
    items: int
    threshold: float
    failure: str
    broken: Breaks | None
    passed: bool
    undecided: tuple[str, ...]
    unscored: Without = Without()
    source: dict[str, Any] = Field(default_factory=dict)
    ignores: tuple[str, ...] = ()


def read_report(path: Path) -> CheckReport:
    """Read a report; raises StoreError if it is missing or was changed by somebody."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InvalidInput(f"it has more than {MOST_BYTES} bytes")
        return CheckReport.model_validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        why = first_problem(error) if isinstance(error, ValidationError) else str(error)
        raise StoreError(f"{path} cannot be read ({why}); check the metric again") from error

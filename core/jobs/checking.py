"""What a job does that checks a metric: the fields that a page fills in, a command line, and the report it leaves."""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from core import settings
from core.audit.request import first_problem
from core.errors import InvalidInput, StoreError
from core.jobs.request import OneCommand, absolute, check_available
from core.probes.registry import select
from core.statistics.selectivity import check_distance

MOST_BYTES = 5_000_000
"""Of a report that is read."""


class CheckRequest(OneCommand):
    """One metric to be checked, as ``python -m core check`` does; made by :func:`check_request`.

    Args:
        kind: tells it from an audit.
        evaluator: a name, or ``path/to/file.py:Name``, absolute.
        threshold: most that a family may change the score, median |% change| in percent.
        items: of the demo corpus.
        probes: names, families or axes; empty: the usual ones.
        strict: whether an undecided family fails.
        directional: whether edits that break the meaning are tried too.
        failures_at_most: with these, most comparisons in percent that a family may fail.
        selectivity_at_least: with these, how far above the metric's own chance, at most 0.5; None: told and not judged.
    """

    kind: Literal["check"] = "check"
    evaluator: str = Field(min_length=1)
    threshold: float = Field(default=5.0, gt=0, allow_inf_nan=False)
    items: int = Field(default=24, ge=3)
    probes: tuple[str, ...] = ()
    strict: bool = False
    directional: bool = False
    failures_at_most: float = Field(default=50.0, ge=0, le=100)
    selectivity_at_least: float | None = Field(default=None, ge=0, le=1)

    @field_validator("evaluator")
    @classmethod
    def _no_option(cls, word: str) -> str:
        if word.startswith("-"):
            raise ValueError("it must not begin with a dash")
        return word

    @field_validator("probes")
    @classmethod
    def _words(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if bad := [name for name in names if not name.strip() or "," in name or name.startswith("-")]:
            raise ValueError(f"probes are names without comma, got {bad[0]!r}")
        return names

    @property
    def told(self) -> tuple[str, ...]:
        """What it does, in words."""
        probes = (f"probes {', '.join(self.probes)}",) if self.probes else ()
        return (f"check of {self.evaluator}", f"{self.items} items", f"threshold {self.threshold:g} %", *probes)

    @property
    def unit(self) -> str:
        """What its progress counts."""
        return "item"

    @property
    def keeps(self) -> bool:
        """Whether what was done stays when it is stopped: a check is one report."""
        return False

    @property
    def stem(self) -> str:
        """What a name that is made begins with."""
        return f"check-{self.evaluator.rpartition(':')[2]}"

    @property
    def report(self) -> Path:
        """Where its report lies once it is complete."""
        return settings.checks_dir() / f"{self.run_id}.json"

    def arguments(self, *, resume: bool = False) -> list[str]:
        """Words after ``python -m core``; ``resume`` changes nothing."""
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
        """Find out cheaply, before a job is made, what would stop it at once.

        Raises:
            UnknownName: for an unknown evaluator or probe.
            InvalidInput: for a file, or a distance from chance, that cannot be used.
            NotAvailable: for an evaluator that is not on this machine.
        """
        check_distance(self.selectivity_at_least)
        if self.probes:
            select(self.probes)
        check_available((self.evaluator,))


def check_request(**fields: Any) -> CheckRequest:
    """Make a request of what a reader chose.

    Raises:
        InvalidInput: naming the field.
    """
    try:
        return CheckRequest(**{**fields, "evaluator": absolute(str(fields.get("evaluator", "")))})
    except ValidationError as error:
        raise InvalidInput(first_problem(error)) from error


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


def read_report(path: Path) -> CheckReport:
    """Read a report.

    Raises:
        StoreError: if it is missing or was changed by somebody.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InvalidInput(f"it has more than {MOST_BYTES} bytes")
        return CheckReport.model_validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        why = first_problem(error) if isinstance(error, ValidationError) else str(error)
        raise StoreError(f"{path} cannot be read ({why}); check the metric again") from error

"""The catalogue of published evaluators in ``assets/evaluators``: editable, checked, read without torch."""

import math
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from core.errors import InvalidInput, UnknownName
from core.evaluators.base import E, evaluator
from core.settings import assets_dir

Precision = Literal["float32", "float16", "bfloat16"]
PRECISIONS: Mapping[str, Precision] = MappingProxyType({"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"})
"""How a reference writes a precision behind an evaluator's name, as in ``clipscore:bf16``."""
HALVES: tuple[Precision, ...] = ("float16", "bfloat16")  # in half the bytes of single precision
NO_PREFIX = "no-prefix"  # how a reference says that nothing stands before the caption, as in ``clipscore:no-prefix``
_BYTES: dict[Precision, int] = {"float32": 4, "float16": 2, "bfloat16": 2}
Setting = float | bool | str | list[float]
_Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
_Revision = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
_Web = Annotated[str, StringConstraints(pattern=r"^https://[^\s]+$")]
_Text = Annotated[str, StringConstraints(min_length=1)]
_Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}$")]
_FileName = Annotated[str, StringConstraints(pattern=r"^[\w+][\w.+-]*(/[\w+][\w.+-]*)*$")]
M = TypeVar("M", bound=BaseModel)


class Entry(BaseModel):
    """A record of a file that somebody edits."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class WeightFile(Entry):
    """One file of a set of weights."""

    name: _FileName  # relative path in the set's folder
    sha256: _Sha256 | None = None  # what the publisher says that its bytes hash to; None where nothing is published
    optional: bool = False  # whether the set works without it: newer tools leave some files out


class Weights(Entry):
    """A set of weights and where it comes from.
    ``id``: name of its file in ``assets/evaluators/weights`` and of its folder on disk.
    ``kind``: ``hub`` (a repository of the Hugging Face hub), ``https`` (one file), ``page`` (only a person can fetch it
    there), ``unpublished`` (announced at ``url``, and no address is given), ``made`` (no public weights: ``command``
    makes them here). ``revision``: commit of the hub's repository; None where none could be verified."""

    id: _Text
    title: _Text
    kind: Literal["hub", "https", "page", "unpublished", "made"]
    repository: str | None = None
    revision: _Revision | None = None
    url: _Web | None = None
    command: str | None = None
    licence: _Text
    note: str = ""
    files: Annotated[tuple[WeightFile, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _complete(self) -> "Weights":
        needed = {"hub": "repository", "made": "command"}.get(self.kind, "url")
        if getattr(self, needed) is None:
            raise ValueError(f"kind {self.kind!r} needs {needed!r}")
        if self.kind == "https" and len(self.files) != 1:
            raise ValueError(f"kind 'https' is one file, got {len(self.files)}")
        if self.revision is not None and self.kind != "hub":
            raise ValueError("a revision belongs to kind 'hub'")
        return self

    @property
    def where(self) -> str:
        """Address for a person."""
        if self.kind == "hub":
            return f"https://huggingface.co/{self.repository}/tree/{self.revision or 'main'}"
        return self.url or self.command or ""


class PrecisionPlan(Entry):
    """Number format on each kind of device."""

    cpu: Precision = "float32"
    gpu: Precision

    def on(self, device: str) -> Precision:
        """Number format on a device such as ``cpu`` or ``cuda:1``."""
        return self.cpu if device.startswith("cpu") else self.gpu


class Description(Entry):
    """A published evaluator as its file in ``assets/evaluators`` describes it."""

    name: _Text
    title: _Text
    summary: _Text
    family: _Text
    backbone: _Text
    weights: Annotated[tuple[str, ...], Field(min_length=1)]
    optional_weights: tuple[str, ...] = ()  # sets of weights that it can do without, and does more with
    score_range: Annotated[tuple[float, ...], Field(min_length=1, max_length=2)]
    parameters: Annotated[int, Field(gt=0)]  # of all its networks together
    higher_is_better: bool = True
    needs_references: bool = False
    languages: tuple[_Language, ...] = ()  # that it reads, as its publisher says; empty: unknown
    source: _Text
    licence: _Text
    precision: PrecisionPlan
    settings: dict[str, Setting] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _ordered(self) -> "Description":
        if len(self.score_range) == 2 and self.score_range[0] >= self.score_range[1]:
            raise ValueError(f"score_range must rise, got {list(self.score_range)}")
        return self

    def memory_mb(self, device: str) -> float:
        """Memory of the weights on a device, in MB."""
        return self.parameters * _BYTES[self.precision.on(device)] / 2**20

    @property
    def size(self) -> str:
        """What its files take, in a sentence: the number format is the publisher's choice."""
        return (
            f"Files that hold its {self.parameters:,} parameters at four bytes each take {4e-9 * self.parameters:.1f} "
            "GB, at two bytes half of it; the publisher says which when they are asked for."
        )

    def number(self, setting: str, default: float) -> float:
        """A setting that is a number."""
        value = self.settings.get(setting, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidInput(f"setting {setting!r} of evaluator {self.name!r} must be a number, got {value!r}")
        return float(value)

    def triple(self, setting: str, default: tuple[float, float, float]) -> tuple[float, float, float]:
        """A setting that is three numbers, one a colour channel."""
        value = self.settings.get(setting, list(default))
        if not isinstance(value, list) or len(value) != 3:
            raise InvalidInput(f"setting {setting!r} of evaluator {self.name!r} must be three numbers, got {value!r}")
        return value[0], value[1], value[2]


def described(name: str) -> Any:
    """Decorator that marks a class as the published evaluator of that name.
    Raises InvalidInput if its file in the catalogue is missing or wrong."""
    entry = description(name)

    def mark(cls: E) -> E:
        cls.entry = entry  # type: ignore[attr-defined]
        return evaluator(**spec_fields(entry))(cls)

    return mark


def spec_fields(entry: Description) -> dict[str, Any]:
    """What the evaluator's spec takes from its description."""
    low, high = entry.score_range[0], entry.score_range[1] if len(entry.score_range) == 2 else None
    same = ("name", "title", "summary", "family", "source", "licence", "higher_is_better", "languages")
    return {
        **{field: getattr(entry, field) for field in same},
        "score_range": (low, high),
        "memory_mb": math.ceil(entry.memory_mb("cpu")),
        "offline": False,
        "takes_references": entry.needs_references,
    }


def description(name: str) -> Description:
    """Read the file of one evaluator. Raises UnknownName if the catalogue has no such evaluator.
    Raises InvalidInput if the file is not of the catalogue's form; one sentence for each mistake."""
    entry: Description = read_entry(assets_dir() / "evaluators", "evaluator", "name", name, Description)
    return entry


def weights(identifier: str) -> Weights:
    """Read the file of one set of weights; raises as :func:`description` does."""
    entry: Weights = read_entry(assets_dir() / "evaluators" / "weights", "set of weights", "id", identifier, Weights)
    return entry


@cache
def read_entry(folder: Path, what: str, key: str, name: str, model: type[M]) -> M:
    """Read a file of a folder, ``NAME.toml``, whose name is the field ``key``; raises as :func:`description`."""
    path = folder / f"{name}.toml"
    if "/" in name or not path.is_file():
        known = ", ".join(sorted(each.stem for each in folder.glob("*.toml")))
        raise UnknownName(f"the catalogue has no {what} {name!r}; it has {known or 'none'}")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is not TOML: {error}; correct it") from error
    try:
        return model.model_validate({**content, key: name})
    except ValidationError as error:
        mistakes = (
            f"{path}: {'.'.join(map(str, each['loc'])) or 'the file'}: {each['msg']}"
            + ("" if each["type"] == "missing" or not each["loc"] else f", got {each['input']!r}")
            + "."
            for each in error.errors()
        )
        raise InvalidInput(" ".join(mistakes)) from error

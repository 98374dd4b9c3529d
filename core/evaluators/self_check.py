"""Does an evaluator give the values that its publisher prints for the publisher's own pictures and captions?"""

import json
import math
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from core import settings
from core.corpora.caption_tables import read_references
from core.corpora.images import read_image
from core.errors import InvariscopeError, NotAvailable
from core.evaluators.base import Evaluator
from core.evaluators.references import Referenced
from core.evaluators.weights.catalogue import Entry, read_entry
from core.evaluators.weights.download import download
from core.file_contents import known_sha256
from core.writing import write_bytes

HOST = "https://raw.githubusercontent.com"  # serves any file of a public repository at a commit
_MOST_EXAMPLE_BYTES = 2 << 20  # largest file of an example that is fetched
_Path = Annotated[str, StringConstraints(pattern=r"^[\w-]+(/[\w-]+)*\.[a-z]+$")]
_Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class PublishedValue(Entry):
    """A mean score that a publisher prints."""

    evaluator: str
    captions: _Path  # file of ``{image: caption}``
    value: float  # on the evaluator's own scale


class Example(Entry):
    """Pictures with captions in a publisher's repository."""

    id: str  # name of its file in ``assets/evaluators/examples`` and of its folder on disk
    title: str
    repository: Annotated[str, StringConstraints(pattern=r"^[\w-]+/[\w.-]+$")]  # ``owner/name`` at GitHub
    commit: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]  # at which the files are read
    images: Annotated[dict[str, _Path], Field(min_length=1)]  # path by image id
    references: _Path  # file of ``{image: [captions]}``
    files: dict[_Path, _Sha256]  # SHA-256 by path of every file that is read
    published: Annotated[tuple[PublishedValue, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _complete(self) -> "Example":
        named = {*self.images.values(), self.references, *(each.captions for each in self.published)}
        if named != set(self.files):
            raise ValueError(f"files must name what is read and nothing else: {sorted(named ^ set(self.files))}")
        return self

    def of(self, evaluator: str) -> tuple[PublishedValue, ...]:
        """The values that are printed for an evaluator."""
        return tuple(each for each in self.published if each.evaluator == evaluator)


def example_of(evaluator: str) -> Example | None:
    """The publisher's example that has values for an evaluator; None where there is none."""
    return next((each for each in examples() if each.of(evaluator)), None)


def examples() -> tuple[Example, ...]:
    """Every example, by name. Raises InvalidInput if a file is not of the form of an example; one sentence."""
    return _read(settings.assets_dir() / "evaluators" / "examples")


@cache
def _read(folder: Path) -> tuple[Example, ...]:
    stems = [path.stem for path in sorted(folder.glob("*.toml"))]
    return tuple(read_entry(folder, "example of a publisher", "id", stem, Example) for stem in stems)


TOLERANCE = 0.003  # largest difference from a printed value: two versions of Pillow resize a picture so far apart
KEPT = "self-checks.json"  # in the folder of weights: the last result of every evaluator
AGAIN = "python -m core doctor --published"  # the command that checks every evaluator that is ready
Outcome = Literal["passed", "failed", "not checked"]


class Reading(BaseModel):
    """One printed value and ours; ``here`` is None where there was no score."""

    model_config = ConfigDict(frozen=True)

    captions: str
    published: float
    here: float | None

    @property
    def agrees(self) -> bool:
        """Whether ours lies within TOLERANCE of the printed one."""
        return self.here is not None and abs(self.here - self.published) <= TOLERANCE


class SelfCheck(BaseModel):
    """The result for one evaluator."""

    model_config = ConfigDict(frozen=True)

    evaluator: str
    fingerprint: str  # key of the evaluator that was checked
    checked: str  # time in UTC, ISO 8601
    readings: tuple[Reading, ...] = ()  # empty where nothing could be checked
    reason: str = ""  # why not; empty otherwise

    @property
    def outcome(self) -> Outcome:
        """A check that could not be made is no pass."""
        if not self.readings:
            return "not checked"
        return "passed" if all(each.agrees for each in self.readings) else "failed"

    @property
    def told(self) -> str:
        """The result in a sentence without its full stop."""
        if not self.readings:
            return f"{self.evaluator} was not checked against its publisher's example: {self.reason}"
        values = ", ".join(
            f"{'no score' if each.here is None else format(each.here, '.4f')} (published {each.published:.4f})"
            for each in self.readings
        )
        held = "agrees with" if self.outcome == "passed" else f"differs by more than {TOLERANCE:g} from"
        return f"{self.evaluator} {held} its publisher's example: {values}"


def self_check(evaluator: Evaluator) -> SelfCheck | None:
    """Score the publisher's own pictures and captions and keep the result; None where nothing was published. Without a
    network, the example is read from this machine where it was fetched before. What could not be checked is not kept:
    it takes no earlier result away. ``evaluator``: loaded; the caller holds its lease."""
    name = evaluator.spec.name
    known = example_of(name)
    if known is None:
        return None
    now = datetime.now(UTC).isoformat(timespec="seconds")
    begun = SelfCheck(evaluator=name, fingerprint=evaluator.fingerprint.key, checked=now)
    folder = settings.weights_dir() / "examples" / known.id
    try:
        for file, sha256 in known.files.items():
            path = folder / file
            if not (path.is_file() and known_sha256(path) == sha256):
                path.parent.mkdir(parents=True, exist_ok=True)
                url = f"{HOST}/{known.repository}/{known.commit}/{file}"
                download(url, path, sha256=sha256, most_bytes=_MOST_EXAMPLE_BYTES)
    except NotAvailable as error:
        return begun.model_copy(update={"reason": str(error)})
    names, readings = list(known.images), []
    references = read_references(folder / known.references)
    for each in known.of(name):
        captions = read_references(folder / each.captions)
        try:
            images = [read_image(folder / known.images[image]).pixels for image in names]
            people = [list(references[image]) for image in names]
            others = [people] if isinstance(evaluator, Referenced) else []
            mean = float(np.mean(evaluator.score(images, [captions[image][0] for image in names], *others)))
        except InvariscopeError:
            mean = math.nan
        here = mean if math.isfinite(mean) else None
        readings.append(Reading(captions=each.captions, published=each.value, here=here))
    found = begun.model_copy(update={"readings": tuple(readings)})
    every = {**remembered(), name: found}
    text = json.dumps({each: told.model_dump(mode="json") for each, told in every.items()}, indent=2, sort_keys=True)
    write_bytes(settings.weights_dir() / KEPT, f"{text}\n".encode())
    return found


def remembered() -> dict[str, SelfCheck]:
    """The last result of every evaluator on this machine; one that cannot be read is not there."""
    path = settings.weights_dir() / KEPT
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    found: dict[str, SelfCheck] = {}
    for name, record in content.items() if isinstance(content, dict) else ():
        try:
            found[name] = SelfCheck.model_validate(record)
        except ValidationError:
            continue
    return found


def for_manifest(evaluator: Evaluator) -> dict[str, Any] | None:
    """What a run's manifest says of the check; None where the publisher prints no values for this evaluator. A result
    counts for the weights, the precision and the library versions that it was found with, and for no others."""
    name = evaluator.spec.name
    if example_of(name) is None:
        return None
    found = remembered().get(name)
    if found is None or found.fingerprint != evaluator.fingerprint.key:
        return {"outcome": "not checked", "reason": f"not with this fingerprint; check it with: {AGAIN}"}
    return {
        "outcome": found.outcome,
        "tolerance": TOLERANCE,
        **found.model_dump(mode="json", include={"checked", "readings"}),
    }

"""The file of a measurement: what the evaluator said of some pairs, of their variants, and of the variants of both.

It holds scores and no calibrated number: every weighting, every strength and both readings over orbits follow from it
(:mod:`core.features.calibration.measured`). Files lie in ``data/calibrations/<run>/``, beside the runs, and are hostile
until checked, like everything from outside. Results that ship bring theirs along, in
``data/results/<run>/calibrations/``.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from core import settings
from core.audit.plan import Plan, make_plan
from core.audit.request import AuditRequest
from core.corpora.images import pixel_hash
from core.corpora.schema import Corpus
from core.corpora.versioned_files import first_wrong
from core.errors import InvalidInput, ProbeRejected, StoreError
from core.evaluators.calibrated import edit_alone, orbit_probes
from core.file_contents import Stamps, stamps
from core.probes.base import ENGLISH, IDENTITY, Edits, Expectation, Probe, Subject, Variant
from core.probes.pairs import Pairs
from core.probes.scene import Scene
from core.store.run_files import Run, check_run_id
from core.store.text_files import write_json

LARGEST = 256 << 20  # most bytes of a measurement that are read

Name = Annotated[str, Field(max_length=500)]
Score = Annotated[float, Field(allow_inf_nan=False)] | None


class Measurement(BaseModel):
    """Scores of one evaluator on composed variants."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1  # of this file format
    run: Name  # id of the run that the calibration was learnt from
    run_key: Name = ""  # what that run was made of, as its manifest says
    run_created: Name = ""  # when that run was begun
    corpus: Name  # of the items
    evaluator: Name  # whose scores these are
    fingerprint: Name = ""  # of the evaluator
    subject: Name  # of the captions
    language: Name  # of the captions
    families: dict[Name, Annotated[list[Name], Field(min_length=1)]] = Field(min_length=1)  # probes by family
    items: Annotated[list[Name], Field(min_length=1)]  # ids
    scores: dict[Name, list[Score]]  # by name of the composition, a score an item; None where it has none
    images: int = Field(ge=0)  # unique pictures that were scored
    seconds: float = Field(ge=0, allow_inf_nan=False)  # that the scoring took
    made: Name  # when, UTC

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if set(self.scores) != set(compositions(self.families)):
            raise ValueError("scores must name every composition of the probes, and nothing else")
        if any(len(values) != len(self.items) for values in self.scores.values()):
            raise ValueError("every composition needs one score an item")
        if len(set(self.items)) < len(self.items):
            raise ValueError("every item is there once")
        return self

    def of(self, name: str) -> np.ndarray:
        """Scores of a composition, float64 [n]; NaN where there is none."""
        return np.array(self.scores[name], dtype=np.float64)


def compositions(families: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Every name that a measurement has scores of: the unedited pair, its variants, and the variants of both."""
    probes = [probe for names in families.values() for probe in names]
    return (IDENTITY, *probes, *(composed(first, second) for first in (IDENTITY, *probes) for second in probes))


def folder_of(run_id: str) -> Path:
    """Where new measurements of a run go."""
    return settings.calibrations_dir() / check_run_id(run_id)


def _files(run_id: str) -> list[Path]:
    """Of a run, the user's own and those that ship with it."""
    shipped = settings.results_dir() / check_run_id(run_id) / "calibrations"
    return [path for folder in (folder_of(run_id), shipped) for path in sorted(folder.glob("*.json"))]


def place(found: Measurement) -> Path:
    """Where a measurement lies: one file for an evaluator, what was edited, and the captions."""
    parts = [found.run_key, found.fingerprint, found.corpus, found.subject, found.language, found.families]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", found.evaluator).strip("-._")[:60] or "evaluator"
    return folder_of(found.run) / f"{stem}-{digest}.json"


def write(found: Measurement) -> Path:
    """Write a measurement and return where; raises StoreError if it cannot be, and what stood there still stands."""
    path = place(found)
    write_json(path, found.model_dump(mode="json"))
    return path


def read(path: Path) -> Measurement:
    """Read and check a measurement; raises StoreError if it is no measurement."""
    try:
        if path.stat().st_size > LARGEST:
            raise StoreError(f"{path} is larger than {LARGEST >> 20} MB and is left out; measure again")
        return Measurement.model_validate_json(path.read_bytes())
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}; check the file") from error
    except ValidationError as error:
        raise StoreError(f"{path} is no measurement: {first_wrong(error)}; remove it and measure again") from error


def read_all(run_id: str) -> tuple[tuple[Measurement, ...], tuple[str, ...]]:
    """Every measurement of a run, the latest first, and a sentence for each file that is none."""
    found, problems = [], []
    for path in _files(run_id):
        try:
            found.append(read(path))
        except StoreError as error:
            problems.append(str(error))
    return tuple(sorted(found, key=lambda each: each.made, reverse=True)), tuple(problems)


def stamp(run_id: str) -> Stamps:
    """What a reader's copy of :func:`read_all` depends on: path, size and time of every file."""
    return stamps(_files(run_id))


def about(run: Run) -> tuple[str, str]:
    """What a measurement keeps of its run: its key, and when it was begun."""
    return str(run.manifest.get("key") or ""), str(run.manifest.get("created") or "")


# Variants of variants, planned as an audit: what the calibrated score of a variant is made of.
#
# The calibrated evaluator (:mod:`core.evaluators.calibrated`) scores a pair with the variants of its picture, whatever
# the picture is. So the calibrated score of a variant needs the variants of that variant. Here they are probes, e.g.
# ``vflip>rotate+5`` (first flipped, then turned) and ``identity>vflip``, each edited as the calibrated evaluator edits
# a picture of which it knows nothing; an audit scores them as it scores any probe, shard by shard and resumable.
def composed(first: str, second: str) -> str:
    """Name of what the second probe makes of what the first one made; the first may be IDENTITY."""
    return f"{first}>{second}"


def uncomposable(families: Mapping[str, Sequence[str]]) -> str:
    """Why the variants of some families' (family -> probes) variants cannot be made; empty where they can."""
    can, wrong = _sorted_out(families)
    if not wrong:
        return ""
    others = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    told = f"calibrate for {', '.join(can)} alone" if can else "calibrate for families of the whole picture"
    return f"the variants of its variants cannot be made: {wrong[0]}{others}; {told}"


def composable(families: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Those of some families (family -> probes) whose variants' variants can be made."""
    return tuple(_sorted_out(families)[0])


def _sorted_out(families: Mapping[str, Sequence[str]]) -> tuple[list[str], list[str]]:
    wrong, can = [], []
    for name, names in families.items():
        try:
            orbit_probes(name, names)
            can.append(name)
        except InvalidInput as error:
            wrong.append(str(error))
    return can, wrong


def composed_plan(
    corpus: Corpus,
    items: Sequence[str],
    families: Mapping[str, Sequence[str]],
    *,
    evaluator: str,
    subject: str,
    language: str = ENGLISH,
    seed: int,
) -> Plan:
    """Plan the audit that scores some items, their variants, and the variants of both, with the seed of the run that
    was learnt from; raises InvalidInput if a family's variants have no variants, or the corpus lacks an item."""
    if why := uncomposable(families):
        raise InvalidInput(why)
    probes = [probe for name, names in families.items() for probe in orbit_probes(name, names)]
    wanted = set(items)
    kept = tuple(item for item in corpus.items if item.id in wanted)
    if len(kept) < len(wanted):
        raise InvalidInput(
            f"{len(wanted) - len(kept)} of {len(wanted)} items are not in corpus {corpus.name!r} as it is "
            "read here; name its folder and options as the audit did"
        )
    names, of = [probe.name for probe in probes], {"languages": (language,), "seed": seed}
    asked = AuditRequest.of(corpus=corpus.name, evaluators=(evaluator,), probes=names, subject=subject, **of)
    plan = make_plan(replace(corpus, items=kept, rejected=()), asked)
    firsts: tuple[Probe | None, ...] = (None, *probes)
    return replace(plan, probes=(*probes, *(_then(first, second, seed) for first in firsts for second in probes)))


def images_to_score(items: int, probes: int) -> int:
    """Pictures that a measurement scores, at most: two flips in a row give the picture back, which is scored once."""
    return items * (1 + probes) ** 2


def _then(first: Probe | None, second: Probe, seed: int) -> Probe:
    """The second probe on what the first one makes; None: on the unedited picture."""
    name = composed(IDENTITY if first is None else first.name, second.name)

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:  # noqa: ARG001  # has streams of its own
        pixels = scene.pixels
        if first is not None:
            made = Pairs(scene.item, pixels, seed=seed).make(first)
            if isinstance(made, ProbeRejected):
                raise made
            pixels = pixels if made.pixels is None else made.pixels
        try:
            return Variant(name, edit_alone(second, pixel_hash(pixels), pixels))
        except InvalidInput as error:
            raise ProbeRejected("probe-failed", str(error)) from error

    family = second.family if first is None else f"{first.family}>{second.family}"
    told = f"{second.name} of what {IDENTITY if first is None else first.name} makes."
    probe = Probe(name, second.axis, family, Expectation.INVARIANT, Edits.IMAGE, told, make, default=False)
    return replace(probe, framewise=second.framewise and (first is None or first.framewise))

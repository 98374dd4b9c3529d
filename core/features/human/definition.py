"""What a study asks about: fixed when it is created, and never changed.

Sides and versions: what was said of A and B is said of the original and the variant.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from core.errors import InvalidInput, StoreError
from core.features.human.kinds import PREFERENCE, RATING, SIDES, TIE, Kind, kind_of
from core.probes.base import ENGLISH, IDENTITY, Expectation
from core.seeds import stream

DEFINITION = "study.json"
DIGEST = "sha256"  # entry of ``study.json`` that tells damage
SCHEMA_VERSION = 1
ORIGINAL, VARIANT = "original", "variant"
"""Versions of an item; of a comparison the original is the right side, the variant the wrong one."""

ATTENTION = "attention"  # stratum of the items with a known answer

_Made = TypeVar("_Made")
_STUDY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


@dataclass(frozen=True, slots=True)
class StudyItem:
    """One thing that is put in front of annotators."""

    id: str  # within the study; says nothing of what is shown
    corpus: str  # name of the corpus
    item: str  # id of the item in it
    probe: str  # what made the variant; an attention item has ``identity``
    baseline: str  # probe of the original: ``identity``, or the neutral control of a modified caption
    subject: str  # which caption is held, as in the scores
    edits: str  # ``image`` or ``caption``: which half of the pair the probe changes
    original_caption: str  # caption of the original
    variant_caption: str  # caption of the variant; the same where the image is edited
    axis: str  # of the probe
    family: str  # of the probe
    stratum: str  # which part of the sample it was drawn for; ATTENTION for an item with a known answer
    shows: str = "pair"  # ``pair``, or the one version that a study of single images shows
    pixels_sha256: str | None = None  # hash of the item's image in the run, or None
    expectation: str = Expectation.INVARIANT.value  # what the probe claims of the score, as in the scores
    language: str = ENGLISH  # of the captions, as in the scores
    rank: int = 0  # which of the item's captions in that language, from 0
    # what several items share (a cut-out, else the image); None: nothing is known to be shared
    source: str | None = None
    second_source: str | None = None  # a source that crosses the first (a background); None: none is named

    @property
    def attention(self) -> bool:
        """Whether the right answer is known: the variant's caption names what the picture does not show.

        No probe made such an item, so that no drawn pair can be taken for one, whatever its family is called.
        """
        return self.stratum == ATTENTION and self.probe == IDENTITY

    @property
    def directional(self) -> bool:
        """Whether it is a comparison: the original is its right side, the variant its wrong one."""
        return self.expectation == Expectation.DIRECTIONAL.value and not self.attention

    def caption(self, version: str) -> str:
        """Caption of ``original`` or ``variant``."""
        return self.original_caption if version == ORIGINAL else self.variant_caption


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example of the instructions: a picture, a caption, the right answer and why."""

    corpus: str
    item: str
    caption: str
    value: int
    why: str


@dataclass(frozen=True, slots=True)
class Definition:
    """Everything about a study that is fixed when it is created."""

    id: str  # name of its folder
    title: str  # for the coordinator; annotators never see it
    kind: str  # name of one of :data:`core.features.human.kinds.KINDS`
    created: str  # UTC
    run: str  # id of the run that was sampled
    run_seed: int  # seed of that run: with it the pictures are made again
    root: str | None  # folder of the corpus as the run told it, or None
    seed: int  # seed of the sample, of the side orders and of the assignment
    per_item: int  # annotators wanted for each item
    attention_rate: float  # share of attention items among what an annotator sees, in [0, 0.5]
    items: tuple[StudyItem, ...]  # what is annotated
    strata: tuple[tuple[str, int, int, int], ...] = ()  # rows of (stratum, target, available, taken)
    examples: tuple[Example, ...] = ()  # worked examples for the instructions
    # loader, folder and options of the corpus as the run told them; empty in a study that is older
    read_with: Mapping[str, Any] = field(default_factory=dict)

    @property
    def asked(self) -> Kind:
        """The kind itself."""
        return kind_of(self.kind)

    def left_version(self, annotator: str, item: str) -> str:
        """Which version stands left (A) for one annotator and item: random, and the same whenever it is asked."""
        shown = self.item(item).shows
        if shown != "pair":
            return shown
        return (ORIGINAL, VARIANT)[int(stream(self.seed, "side", annotator, item).integers(2))]

    def item(self, item_id: str) -> StudyItem:
        """Return an item of the study by its id; raises InvalidInput if the study has no such item."""
        for item in self.items:
            if item.id == item_id:
                return item
        raise InvalidInput(f"study {self.id!r} has no item {item_id[:40]!r}; it has {len(self.items)}")

    def to_json(self) -> dict[str, Any]:
        """As ``study.json`` holds it, with the digest of all the rest."""
        told = {"schema_version": SCHEMA_VERSION, **asdict(self)}
        return {**told, DIGEST: _digest(told)}


def _digest(told: Mapping[str, Any]) -> str:
    """SHA-256 of a definition as canonical JSON, without the digest that stands in it."""
    rest = {name: value for name, value in told.items() if name != DIGEST}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def check_study_id(study_id: str) -> str:
    """Return a study id that is safe as the name of a folder; raises InvalidInput for anything else."""
    if not _STUDY_ID.fullmatch(study_id):
        raise InvalidInput(
            f"a study id has 1 to 60 letters, digits, dots, dashes or underscores, got {study_id[:80]!r}"
        )
    return study_id


def read_definition(folder: Path) -> Definition:
    """Read ``study.json`` of a study's folder; raises StoreError if there is none, it is broken, or a newer Invariscope
    wrote it."""
    path = Path(folder) / DEFINITION
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise StoreError(f"{folder} is no study: it has no {DEFINITION}; create one first") from error
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(
            f"{path} cannot be read ({error}); restore it from a copy: the votes beside it need it"
        ) from error
    try:
        return _from_json(told, path)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise StoreError(f"{path} is no study of Invariscope ({error}); restore it from a copy") from error


def _from_json(told: Any, path: Path) -> Definition:
    if not isinstance(told, dict):
        raise TypeError("it holds no object")
    version = told["schema_version"]
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise StoreError(f"{path} was written with schema {version!r}, this Invariscope reads up to {SCHEMA_VERSION}")
    if told.get(DIGEST, digest := _digest(told)) != digest:  # studies that are older have none
        raise StoreError(f"{path} is not as it was when the study was created; restore it from a copy")
    values = {each.name: told[each.name] for each in fields(Definition) if each.name != "read_with"}
    values["read_with"] = told.get("read_with", {})
    if not isinstance(values["read_with"], dict):
        raise TypeError("read_with must be an object")
    values["items"] = tuple(_of_types(StudyItem(**each)) for each in values["items"])
    values["examples"] = tuple(_of_types(Example(**each)) for each in values["examples"])
    values["strata"] = tuple((str(name), int(a), int(b), int(c)) for name, a, b, c in values["strata"])
    ids = [item.id for item in values["items"]]
    if not ids or len(set(ids)) < len(ids):
        raise ValueError("it has no items, or names one twice")
    if all(item.attention for item in values["items"]):
        raise ValueError("all of its items have a known answer, and none is asked about")
    kind_of(values["kind"])
    check_study_id(values["id"])
    return _of_types(Definition(**values))


def _of_types(made: _Made) -> _Made:
    """What was made of a file, if its texts and numbers are what its class says; TypeError naming the first that is
    not."""
    for name, kind in get_type_hints(type(made)).items():
        value = getattr(made, name)
        plain = kind in (str, int, float, str | None)
        fits = isinstance(value, int | float if kind is float else kind) if plain else True
        if not fits or (isinstance(value, bool) and plain):
            raise TypeError(f"{name} must be {getattr(kind, '__name__', kind)}, got {value!r:.60}")
        if isinstance(value, int | float) and not 0 <= value < 2**63:
            raise ValueError(f"{name} must be a number from 0, got {value!r:.60}")
    return made


def resolve(item: StudyItem, left: str, answers: dict[str, Any]) -> dict[str, Any]:
    """(original, variant, preferred): what was said (question -> answer) of the sides, said of the versions, of which
    ``left`` stood left; None where it was not asked."""
    found: dict[str, Any] = {ORIGINAL: None, VARIANT: None, "preferred": None}
    if item.shows != "pair":
        return {**found, item.shows: answers.get(RATING)}
    versions = {SIDES[0]: left, SIDES[1]: VARIANT if left == ORIGINAL else ORIGINAL}
    for side, version in versions.items():
        found[version] = answers.get(side)
    preferred = answers.get(PREFERENCE)
    found["preferred"] = TIE if preferred == TIE else versions.get(preferred) if preferred is not None else None
    return found

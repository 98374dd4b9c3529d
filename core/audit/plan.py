"""What an audit will do, before it does it: which variants, how many calls, in which shards."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core import settings
from core.audit.schema import SCHEMA_VERSION
from core.corpora.schema import Corpus, Item
from core.errors import InvalidInput
from core.evaluators.base import BATCH_SIZE
from core.evaluators.registry import find
from core.probes.base import BASE_CAPTION, IDENTITY, LENGTH_MATCHED, Edits, Probe
from core.probes.registry import catalogue, select
from core.probes.tables import lexicons_fingerprint
from core.seeds import RUN_SEED

SUBJECTS = ("template", "human")
"""Which caption is held while the image is edited: the template of the label, or the first English caption."""

SUBJECT_CHOICES = {"template": ("template",), "human": ("human",), "both": SUBJECTS}
"""What a reader chooses -> the subjects it means."""

SHARD_ITEMS = 24
"""Items a shard: what a kill can cost at most."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run needs, counted before any image is read; rejections make it less.

    Args:
        images: unedited and edited images, at most.
        captions: unique captions, at most.
        pairs: (image, caption) pairs for each evaluator, at most.
        rows: rows of the scores table, at most.
    """

    items: int
    images: int
    captions: int
    pairs: int
    rows: int

    def seconds(self, per_image: Mapping[str, float]) -> float:
        """Duration at a measured number of seconds an image for each evaluator (see a manifest's ``speed``)."""
        return self.images * sum(per_image.values())


@dataclass(frozen=True, slots=True)
class Plan:
    """Corpus × probes × evaluators, ready to run; made by :func:`make_plan`.

    Args:
        root: folder that the items' image paths are told relative to.
        evaluators: references, as given.
        batch_size: most images in one call; None: as many as the evaluators ask for once they are loaded.
    """

    corpus: Corpus
    root: Path | None
    probes: tuple[Probe, ...]
    evaluators: tuple[str, ...]
    subjects: tuple[str, ...]
    seed: int = RUN_SEED
    limit: int | None = None
    shard_items: int = SHARD_ITEMS
    batch_size: int | None = None

    @property
    def group_images(self) -> int:
        """Most images that are held together for the evaluators."""
        return BATCH_SIZE if self.batch_size is None else self.batch_size

    @property
    def image_probes(self) -> tuple[Probe, ...]:
        """Probes that edit the image."""
        return tuple(probe for probe in self.probes if probe.edits is Edits.IMAGE)

    @property
    def caption_probes(self) -> tuple[Probe, ...]:
        """Probes that edit the caption."""
        return tuple(probe for probe in self.probes if probe.edits is Edits.CAPTION)

    @property
    def identity_subjects(self) -> tuple[str, ...]:
        """Subjects of the unedited image: edited captions need the template's row beside them."""
        return tuple(name for name in SUBJECTS if name in self.subjects or (name == "template" and self.caption_probes))

    @property
    def shards(self) -> tuple[tuple[Item, ...], ...]:
        """The items, in order, in the chunks that are written together."""
        items = self.corpus.items
        return tuple(items[start : start + self.shard_items] for start in range(0, len(items), self.shard_items))

    def cost(self) -> Cost:
        """Count the work."""
        items = self.corpus.items
        labels = {item.label for item in items if item.label}
        own = {item.captions["en"][0] for item in items if "human" in self.subjects and item.captions.get("en")}
        subjects = len(self.identity_subjects)
        pairs = len(items) * (subjects + len(self.image_probes) * len(self.subjects) + len(self.caption_probes))
        return Cost(
            items=len(items),
            images=len(items) * (1 + len(self.image_probes)),
            captions=len(own) + len(labels) * (len(self.caption_probes) + ("template" in self.identity_subjects)),
            pairs=pairs,
            rows=pairs * len(self.evaluators),
        )

    def fingerprint(self) -> str:
        """Short digest of everything that decides the scores, evaluators' fingerprints aside."""
        parts = {
            "schema": SCHEMA_VERSION,
            "corpus": corpus_fingerprint(self.corpus),
            "probes": [describe_probe(probe) for probe in self.probes],
            "lexicons": lexicons_fingerprint(),
            "subjects": self.subjects,
            "seed": self.seed,
            "shard_items": self.shard_items,
            "batch_size": self.group_images,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def make_plan(
    corpus: Corpus,
    *,
    evaluators: Sequence[str],
    probes: Sequence[str] = ("default",),
    subjects: Sequence[str] = ("template",),
    root: Path | None = None,
    seed: int = RUN_SEED,
    limit: int | None = None,
    shard_items: int = SHARD_ITEMS,
    batch_size: int | None = None,
) -> Plan:
    """Plan an audit. The probes that others are compared with are added by themselves.

    Args:
        corpus: items, with what its loader left out.
        evaluators: registered names or ``path/to/file.py:Name``.
        probes: names, families, axes, ``default`` or ``all``.
        subjects: of SUBJECTS.
        root: folder of the corpus; None: the folder that all its images share.
        limit: take only the first items.
        batch_size: most images in one call; None: as many as the evaluators ask for once they are loaded.

    Raises:
        UnknownName: for an unknown evaluator or probe.
        InvalidInput: for an empty corpus or choice, or a number out of its range.
    """
    for name, value in (("limit", limit), ("shard_items", shard_items), ("batch_size", batch_size)):
        if value is not None and value < 1:
            raise InvalidInput(f"{name} must be at least 1, got {value}")
    unknown = [subject for subject in subjects if subject not in SUBJECTS]
    if unknown or not subjects:
        raise InvalidInput(f"subjects must be among {', '.join(SUBJECTS)}, got {', '.join(unknown) or 'none'}")
    if not evaluators:
        raise InvalidInput("no evaluator is chosen; list them with: python -m core evaluators")
    names = [find(reference).spec.name for reference in evaluators]
    if len(set(names)) < len(names):
        raise InvalidInput(f"each evaluator can be chosen once, got {', '.join(names)}")
    if not corpus.items:
        raise InvalidInput(f"corpus {corpus.name!r} has no items to audit; {len(corpus.rejected)} were left out")
    ids = [item.id for item in corpus.items]
    if len(set(ids)) < len(ids):
        raise InvalidInput(f"corpus {corpus.name!r} names item {_repeated(ids)!r} twice; ids must be unique")
    return Plan(
        corpus=replace(corpus, items=corpus.items[:limit]),
        root=common_root(corpus) if root is None else Path(root),
        probes=with_baselines(select(probes)),
        evaluators=tuple(evaluators),
        subjects=tuple(subject for subject in SUBJECTS if subject in subjects),
        seed=seed,
        limit=limit,
        shard_items=shard_items,
        batch_size=batch_size,
    )


def with_baselines(probes: Sequence[Probe]) -> tuple[Probe, ...]:
    """Return the probes with those that they are compared with, in catalogue order.

    Raises:
        InvalidInput: if a family has no neutral control to compare with.
    """
    known = catalogue()
    wanted = {probe.name: probe for probe in probes}
    queue = list(probes)
    while queue:
        probe = queue.pop()
        if probe.baseline == IDENTITY:
            continue
        if probe.baseline == LENGTH_MATCHED:
            needed = [each for each in known if each.family == probe.family and each.control]
            if not needed:
                raise InvalidInput(f"probe {probe.name!r} needs a neutral control in family {probe.family!r}; add one")
        else:
            needed = [known.get(BASE_CAPTION if probe.baseline == BASE_CAPTION else probe.baseline)]
        for each in needed:
            if each.name not in wanted:
                wanted[each.name] = each
                queue.append(each)
    order = {name: rank for rank, name in enumerate(known.names())}
    return tuple(sorted(wanted.values(), key=lambda probe: order.get(probe.name, len(order))))


def describe_probe(probe: Probe) -> dict[str, Any]:
    """A probe as a plain dictionary, for manifests."""
    return {
        "name": probe.name, "axis": probe.axis.value, "family": probe.family, "expectation": probe.expectation.value,
        "edits": probe.edits.value, "baseline": probe.baseline, "modifier": probe.modifier, "control": probe.control,
        "summary": probe.summary, "source": probe.source,
    }  # fmt: skip


def corpus_fingerprint(corpus: Corpus) -> str:
    """sha256 over the items' ids, labels, captions, boxes, masks and recorded hashes; not over where they lie."""
    digest = hashlib.sha256(corpus.name.encode())
    for item in corpus.items:
        box = None if item.box is None else (item.box.x, item.box.y, item.box.width, item.box.height)
        mask = None if item.mask is None else hashlib.sha256(item.mask.counts).hexdigest()
        captions = {language: list(texts) for language, texts in item.captions.items()}
        parts = (
            item.id, item.width, item.height, item.label, item.category, box, mask, captions,
            item.bytes_sha256, item.pixels_sha256,
        )  # fmt: skip
        digest.update(json.dumps(parts, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


def common_root(corpus: Corpus) -> Path | None:
    """Deepest folder that holds every image of the corpus, or None for images in memory."""
    paths = [str(Path(item.image_path).absolute().parent) for item in corpus.items if item.image_path is not None]
    try:
        return Path(os.path.commonpath(paths)) if paths else None
    except ValueError:  # two drives
        return None


def told_path(path: Path) -> str:
    """A path as it may be shown to others: relative to the checkout where it lies inside."""
    absolute = Path(path).absolute()
    inside = absolute.is_relative_to(settings.ROOT)
    return absolute.relative_to(settings.ROOT).as_posix() if inside else str(path)


def _repeated(ids: Sequence[str]) -> str:
    seen: set[str] = set()
    for each in ids:
        if each in seen:
            break
        seen.add(each)
    return each

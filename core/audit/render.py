"""From items to images and pairs, in groups that fit one call of an evaluator."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.audit.batches import group_bytes
from core.audit.plan import Plan
from core.corpora.images import DecodedImage, read_item
from core.corpora.schema import Item
from core.errors import InvariscopeError, ProbeRejected
from core.evaluators.references import references_of
from core.probes.base import HUMAN, IDENTITY, Probe, Subject
from core.probes.pairs import Draft, LeftOut, Pairs, subjects_of


@dataclass(slots=True)
class Piece:
    """What one image of an item brings: its pixels, its pairs, or the reason why there are none.

    Args:
        opened: the item with its decoded image, in the item's first piece.
        variants: images dealt with, rejected ones included: the unit of progress.
    """

    pixels: np.ndarray | None = None
    drafts: list[Draft] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    opened: tuple[Item, DecodedImage] | None = None
    variants: int = 1


@dataclass(slots=True)
class Group:
    """Images, at most a batch of them, with the pairs that they are part of."""

    images: dict[str, np.ndarray] = field(default_factory=dict)
    drafts: list[Draft] = field(default_factory=list)
    items: list[tuple[Item, DecodedImage]] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    variants: int = 0
    bytes: int = 0

    def add(self, piece: Piece) -> None:
        """Take a piece in; an image that is already here is kept once."""
        for draft in piece.drafts:
            if draft.image_key not in self.images:
                assert piece.pixels is not None
                self.images[draft.image_key] = piece.pixels
                self.bytes += piece.pixels.nbytes
        self.drafts += piece.drafts
        self.left_out += piece.left_out
        self.variants += piece.variants
        if piece.opened is not None:
            self.items.append(piece.opened)


def render(plan: Plan, items: Sequence[Item]) -> Iterator[Group]:
    """Render every variant of the items, in order; groups depend on nothing but the plan and the items."""
    group, most = Group(), group_bytes(plan)
    for item in items:
        for piece in _pieces(plan, item):
            group.add(piece)
            if len(group.images) >= plan.group_images or group.bytes >= most:
                yield group
                group = Group()
    if group.variants:
        yield group


def references(draft: Draft) -> tuple[str, ...]:
    """The item's captions by people beside the subject caption, in its language."""
    subject = draft.subject
    return references_of(
        draft.item.captions, subject.caption if subject.name == HUMAN else "", language=subject.language
    )


def _pieces(plan: Plan, item: Item) -> Iterator[Piece]:
    """The item's own image with every caption, then one piece for each edited image."""
    whole = 1 + len(plan.image_probes)
    subjects, reasons = _subjects(plan, item)
    if not any(subjects.values()):
        told = "; ".join(reason.detail for lacking in reasons.values() for reason in lacking)
        yield Piece(left_out=[LeftOut(item.id, None, "no-caption", told)], variants=whole)
        return
    try:
        image = read_item(item)
    except (InvariscopeError, OSError) as error:
        code = "missing-image" if item.image_path and not item.image_path.exists() else "unreadable-image"
        yield Piece(left_out=[LeftOut(item.id, None, code, _text(plan, str(error)))], variants=whole)
        return
    pairs = Pairs(item, image.pixels, seed=plan.seed, image_key=image.pixels_sha256)
    own = [pairs.unedited(subject) for held in subjects.values() for subject in held]
    left_out = [LeftOut(item.id, IDENTITY, each.code, each.detail) for lacking in reasons.values() for each in lacking]
    first = Piece(image.pixels, own, left_out, (item, image))
    for probe in plan.caption_probes:
        edited = _edited(plan, pairs, probe, subjects)
        first.drafts += edited.drafts
        first.left_out += edited.left_out
        for name in plan.subjects_of(probe):  # a probe that has nothing to edit says so itself
            lacking = () if subjects[name] else reasons[name]
            first.left_out += [LeftOut(item.id, probe.name, each.code, each.detail) for each in lacking]
    yield first
    for probe in plan.image_probes:
        yield _edited(plan, pairs, probe, subjects)


def _edited(plan: Plan, pairs: Pairs, probe: Probe, subjects: Mapping[str, Sequence[Subject]]) -> Piece:
    edited = pairs.edited(probe, [each for name in plan.subjects_of(probe) for each in subjects[name]])
    left_out = [LeftOut(pairs.item.id, probe.name, each.code, _text(plan, each.detail)) for each in edited.reasons]
    return Piece(edited.pixels, list(edited.drafts), left_out)


def _subjects(plan: Plan, item: Item) -> tuple[dict[str, tuple[Subject, ...]], dict[str, tuple[ProbeRejected, ...]]]:
    """The captions of an item by name of the subject, and why some are missing, likewise."""
    found = {
        name: subjects_of(item, name, languages=plan.languages, captions_each=plan.captions_each)
        for name in plan.identity_subjects
    }
    return {name: each[0] for name, each in found.items()}, {name: each[1] for name, each in found.items()}


def _text(plan: Plan, told: str) -> str:
    """A text on one line, without the folder that the corpus happens to lie in."""
    text = " ".join(told.encode(errors="backslashreplace").decode().split())
    return text if plan.root is None else text.replace(f"{plan.root.absolute()}/", "").replace(f"{plan.root}/", "")

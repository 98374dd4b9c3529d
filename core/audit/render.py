"""From items to images and pairs, in groups that fit one call of an evaluator, and how large these are."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from pathlib import Path

import numpy as np

from core.audit.plan import Plan
from core.corpora.images import DecodedImage
from core.corpora.item_pictures import read_item
from core.corpora.schema import Item
from core.errors import InvalidInput, InvariscopeError, ProbeRejected
from core.evaluators.memory import MB
from core.evaluators.references import references_of
from core.evaluators.scoring import BATCH_BYTES
from core.probes.base import HUMAN, IDENTITY, Probe, Subject
from core.probes.pairs import Draft, LeftOut, Pairs, subjects_of
from core.store.run_files import MANIFEST, read_run

LEAST_BYTES, MOST_BYTES = 128 * MB, BATCH_BYTES


def group_bytes(plan: Plan) -> int:
    """Bytes of pixels after which a group of images is closed, however few they are. 1 MB for each image that a group
    may have, but 128 to 256 MB in all. A group overruns it by one image at most, and a run has at most three groups in
    memory: one that is scored, one that waits and one that is filled."""
    return min(max(plan.group_images * MB, LEAST_BYTES), MOST_BYTES)


def settle(plan: Plan, asked: Sequence[int], *, begun: int | None = None) -> tuple[Plan, Mapping[str, int]]:
    """Decide the sizes of a run that leaves them to its evaluators.
    ``asked``: the evaluators' ``full_batch``, in the plan's order.
    ``begun``: images a group in the run that is resumed, which forms the same groups again; None: a new run.
    Returns the plan with its number of images a group, and the size of a batch for each evaluator's reference.
    Raises InvalidInput if an evaluator asks for less than one."""
    if plan.batch_size is not None:
        return plan, dict.fromkeys(plan.evaluators, plan.batch_size)
    for reference, size in zip(plan.evaluators, asked, strict=True):
        if size < 1:
            raise InvalidInput(f"evaluator {reference} asks for batches of {size}; its full_batch must be at least 1")
    images = max(asked) if begun is None else begun
    batches = {reference: min(size, images) for reference, size in zip(plan.evaluators, asked, strict=True)}
    return replace(plan, batch_size=images), batches


@dataclass(frozen=True, slots=True)
class Begun:
    """What a run that is resumed keeps to.
    ``images``: images a group; None: a new run, or it does not say. ``threads``: for one operation."""

    images: int | None = None
    threads: int | None = None


def begun_with(folder: Path) -> Begun:
    """Read how the run in a folder was begun; nothing where there is no run.
    Raises StoreError if there is a manifest that cannot be read."""
    if not (folder / MANIFEST).exists():
        return Begun()
    told = read_run(folder).manifest
    images, threads = (told.get(name) for name in ("batch_size", "threads"))
    return Begun(*(each if type(each) is int and each > 0 else None for each in (images, threads)))


_Subjects = Mapping[str, Sequence[Subject]]
_Reasons = Mapping[str, Sequence[ProbeRejected]]


@dataclass(frozen=True, slots=True)
class Opened:
    """An item whose image was read, with the hashes of its file and of its pixels."""

    item: Item
    bytes_sha256: str
    pixels_sha256: str


@dataclass(slots=True)
class Piece:
    """What one image of an item brings: its pixels, its pairs, or the reason why there are none.
    ``opened``: in the item's first piece, once its image was read.
    ``variants``: images dealt with, rejected ones included: the unit of progress."""

    pixels: np.ndarray | None = None
    drafts: list[Draft] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    opened: Opened | None = None
    variants: int = 1


@dataclass(slots=True)
class Group:
    """Images, at most a batch of them, with the pairs that they are part of."""

    images: dict[str, np.ndarray] = field(default_factory=dict)
    drafts: list[Draft] = field(default_factory=list)
    items: list[Opened] = field(default_factory=list)
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

    def shows(self, piece: Piece) -> bool:
        """Whether the images of a piece, at least one, are all here already."""
        return bool(piece.drafts) and all(draft.image_key in self.images for draft in piece.drafts)


def render(plan: Plan, items: Sequence[Item]) -> Iterator[Group]:
    """Render every variant of the items; groups depend on nothing but the plan and the items. Items come in their
    order, but those that show one picture come together, edit by edit: what is the same for them stands in one group,
    however many they are, so that an evaluator that remembers no more than the last image encodes it once."""
    group, most = Group(), group_bytes(plan)
    same: dict[tuple[Path | None, str, tuple[int, ...]], list[Item]] = {}  # a file and its frames; without, one alone
    for item in items:
        same.setdefault((item.image_path, "" if item.image_path else item.id, item.frames), []).append(item)
    for piece in chain.from_iterable(_together(plan, each) for each in same.values()):
        full = len(group.images) >= plan.group_images or group.bytes >= most
        if full and not group.shows(piece):
            yield group
            group = Group()
        group.add(piece)
    if group.variants:
        yield group


def all_groups(plan: Plan, shards: Iterable[Sequence[Item]]) -> Iterator[Group | None]:
    """Groups of some shards, one shard after the other; None closes each."""
    for items in shards:
        yield from render(plan, items)
        yield None


def drafts_of_captions(plan: Plan, item: Item) -> list[Draft]:
    """The pairs of an item's own image, without reading it: what captions a run will ask for. An edit of a caption that
    looks at the pixels may say another one once they are there; the image's hash is empty."""
    subjects, reasons = _subjects(plan, item)
    shape = (*((len(item.frames),) if item.frames else ()), item.height, item.width, 3)
    try:
        pairs = Pairs(item, np.broadcast_to(np.uint8(0), shape), seed=plan.seed, image_key="")
    except InvariscopeError:  # rendering it will say why
        return []
    return _unedited(plan, pairs, subjects, reasons).drafts


def references(draft: Draft) -> tuple[str, ...]:
    """The item's captions by people beside the subject caption, in its language."""
    subject = draft.subject
    return references_of(
        draft.item.captions, subject.caption if subject.name == HUMAN else "", language=subject.language
    )


def _together(plan: Plan, items: Sequence[Item]) -> Iterator[Piece]:
    """The pieces of items that show one picture, edit by edit; the file is decoded once."""
    last: list[DecodedImage] = []

    def read(item: Item) -> DecodedImage:
        image = read_item(item, decoded=last[0] if last else None)
        last[:] = [image]
        return image

    for pieces in zip_longest(*(_pieces(plan, item, read) for item in items)):
        yield from (piece for piece in pieces if piece is not None)


def _pieces(plan: Plan, item: Item, read: Callable[[Item], DecodedImage]) -> Iterator[Piece]:
    """The item's own image with every caption, then one piece for each edited image."""
    whole = 1 + len(plan.image_probes)
    subjects, reasons = _subjects(plan, item)
    if not any(subjects.values()):
        told = "; ".join(reason.detail for lacking in reasons.values() for reason in lacking)
        yield Piece(left_out=[LeftOut(item.id, None, "no-caption", told)], variants=whole)
        return
    try:
        image = read(item)
    except (InvariscopeError, OSError) as error:
        code = "missing-image" if item.image_path and not item.image_path.exists() else "unreadable-image"
        yield Piece(left_out=[LeftOut(item.id, None, code, _text(plan, str(error)))], variants=whole)
        return
    pairs = Pairs(item, image.pixels, seed=plan.seed, image_key=image.pixels_sha256)
    first = _unedited(plan, pairs, subjects, reasons)
    first.opened = Opened(item, image.bytes_sha256, image.pixels_sha256)
    yield first
    for probe in plan.image_probes:
        yield _edited(plan, pairs, probe, subjects)


def _unedited(plan: Plan, pairs: Pairs, subjects: _Subjects, reasons: _Reasons) -> Piece:
    item = pairs.item
    own = [pairs.unedited(subject) for held in subjects.values() for subject in held]
    left_out = [LeftOut(item.id, IDENTITY, each.code, each.detail) for lacking in reasons.values() for each in lacking]
    first = Piece(pairs.pixels, own, left_out)
    for probe in plan.caption_probes:
        edited = _edited(plan, pairs, probe, subjects)
        first.drafts += edited.drafts
        first.left_out += edited.left_out
        for name in plan.subjects_of(probe):  # a probe that has nothing to edit says so itself
            lacking = () if subjects[name] else reasons[name]
            first.left_out += [LeftOut(item.id, probe.name, each.code, each.detail) for each in lacking]
    return first


def _edited(plan: Plan, pairs: Pairs, probe: Probe, subjects: _Subjects) -> Piece:
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

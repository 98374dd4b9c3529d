"""From items to images and pairs, in groups that fit one call of an evaluator."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from core.audit.batches import group_bytes
from core.audit.plan import Plan
from core.corpora.images import DecodedImage, pixel_hash, read_item
from core.corpora.schema import Item, Mask
from core.errors import InvariscopeError, ProbeRejected
from core.evaluators.references import references_of
from core.probes.base import Probe, Variant
from core.probes.captions import base_caption
from core.probes.scene import Scene
from core.seeds import stream

_NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Draft:
    """A row of the scores table before it is scored.

    Args:
        probe: None for the unedited image with the subject caption.
        image_key: hash of the pixels that are scored.
        mask: the object in those pixels, where it is known.
    """

    item: Item
    probe: Probe | None
    subject: str
    caption: str
    image_key: str
    mask: Mask | None
    diagnostics: Mapping[str, float] = field(default_factory=lambda: _NOTHING)

    @property
    def references(self) -> tuple[str, ...]:
        """The item's captions by people beside its subject caption."""
        human = self.item.captions.get("en", ())
        return references_of(self.item.captions, human[0] if self.subject == "human" and human else "")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An item (probe is None), or one probe of it, that has no scores, and why."""

    item: str
    probe: str | None
    code: str
    detail: str


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


def _pieces(plan: Plan, item: Item) -> Iterator[Piece]:
    """The item's own image with every caption, then one piece for each edited image."""
    whole = 1 + len(plan.image_probes)
    subjects, left_out = _subject_captions(plan, item)
    if not subjects:
        reasons = "; ".join(each.detail for each in left_out)
        yield Piece(left_out=[LeftOut(item.id, None, "no-caption", reasons)], variants=whole)
        return
    try:
        image = read_item(item)
    except (InvariscopeError, OSError) as error:
        code = "missing-image" if item.image_path and not item.image_path.exists() else "unreadable-image"
        yield Piece(left_out=[LeftOut(item.id, None, code, _text(plan, error))], variants=whole)
        return
    scene = Scene(item, image.pixels)
    own = [Draft(item, None, name, text, image.pixels_sha256, item.mask) for name, text in subjects.items()]
    first = Piece(image.pixels, own, left_out, (item, image))
    for probe in plan.caption_probes:
        variant = _make(plan, probe, scene, left_out)
        if variant is not None:
            caption = variant.caption if variant.caption is not None else subjects["template"]
            first.drafts.append(Draft(item, probe, "template", caption, image.pixels_sha256, item.mask))
    yield first
    for probe in plan.image_probes:
        yield _edited(plan, probe, scene, image, {name: subjects[name] for name in plan.subjects if name in subjects})


def _edited(plan: Plan, probe: Probe, scene: Scene, image: DecodedImage, subjects: Mapping[str, str]) -> Piece:
    piece = Piece()
    variant = _make(plan, probe, scene, piece.left_out)
    if variant is None:
        return piece
    same = variant.pixels is None
    piece.pixels = image.pixels if variant.pixels is None else variant.pixels
    key = image.pixels_sha256 if same else pixel_hash(piece.pixels)
    mask = scene.item.mask if same and variant.object_mask is None else variant.object_mask
    piece.drafts = [
        Draft(
            scene.item,
            probe,
            name,
            text if variant.caption is None else variant.caption,
            key,
            mask,
            variant.diagnostics,
        )
        for name, text in subjects.items()
    ]
    return piece


def _subject_captions(plan: Plan, item: Item) -> tuple[dict[str, str], list[LeftOut]]:
    captions: dict[str, str] = {}
    left_out = []
    for name in plan.identity_subjects:
        try:
            captions[name] = _storable(item, _template(item) if name == "template" else _human(item))
        except ProbeRejected as error:
            left_out.append(LeftOut(item.id, "identity", error.code, error.detail))
    return captions, left_out


def _template(item: Item) -> str:
    try:
        if item.label is not None:
            return base_caption(item.label)
    except InvariscopeError as error:
        raise ProbeRejected("no-label", f"item {item.id!r}: {error}") from error
    raise ProbeRejected("no-label", f"item {item.id!r} has no label to make a template caption of")


def _human(item: Item) -> str:
    texts = item.captions.get("en", ())
    if not texts:
        raise ProbeRejected("no-human-caption", f"item {item.id!r} has no English caption")
    return texts[0]


def _storable(item: Item, caption: str) -> str:
    try:
        caption.encode()
    except UnicodeEncodeError as error:
        raise ProbeRejected("bad-caption", f"item {item.id!r}: its caption {caption!a} is no valid Unicode") from error
    return caption


def _make(plan: Plan, probe: Probe, scene: Scene, left_out: list[LeftOut]) -> Variant | None:
    item = scene.item
    try:
        return probe.make(scene, stream(plan.seed, item.id, probe.name))
    except ProbeRejected as error:
        left_out.append(LeftOut(item.id, probe.name, error.code, error.detail))
    except Exception as error:  # a stranger's probe may raise anything; it costs this variant alone
        detail = f"probe {probe.name!r} failed on item {item.id!r}: {type(error).__name__}: {_text(plan, error)}"
        left_out.append(LeftOut(item.id, probe.name, "probe-failed", detail))
    return None


def _text(plan: Plan, error: Exception) -> str:
    """The error's text without the folder that the corpus happens to lie in."""
    text = " ".join(str(error).encode(errors="backslashreplace").decode().split())
    return text if plan.root is None else text.replace(f"{plan.root.absolute()}/", "").replace(f"{plan.root}/", "")

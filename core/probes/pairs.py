"""The one engine of pairs: what probes make of an item and its subject captions, and what each is compared with.

The audit, the Probe lab, two systems, calibrated evaluators and replays of a stored pair all make their pairs here,
so that a pair is the same wherever it is made. It lies in this room, and not beside the audit, because calibrated
evaluators make variants too and no evaluator may import an audit.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

import numpy as np

from core.corpora.images import pixel_hash
from core.corpora.schema import Item, Mask
from core.errors import InvalidInput, ProbeRejected
from core.probes import registry
from core.probes.base import (
    ENGLISH,
    FRAMES,
    HUMAN,
    IDENTITY,
    LENGTH_MATCHED,
    TEMPLATE,
    Construction,
    Edits,
    Probe,
    Subject,
    Variant,
)
from core.probes.scene import Scene
from core.probes.words.insertion import PREFIX, length_matched_in
from core.probes.words.mentions import place_named
from core.probes.words.templates import base_caption, length_matched
from core.registry import STRANGERS
from core.seeds import RUN_SEED, stream


@dataclass(frozen=True, slots=True)
class Draft:
    """A pair before it is scored."""

    item: Item
    probe: Probe | None  # None for the unedited image with the subject caption
    subject: Subject  # the caption that is held, or that the probe edited
    caption: str  # the text to score
    image_key: str  # hash of the pixels to score
    mask: Mask | None  # the object in those pixels, where it is known
    # diagnostics, facts, notes: see :class:`core.probes.base.Variant`
    diagnostics: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    facts: Mapping[str, str | float] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An item (probe is None), or one probe of it, that has no scores, and why."""

    item: str
    probe: str | None
    code: str  # of :mod:`core.probes.rejections`
    detail: str


@dataclass(frozen=True, slots=True)
class Edited:
    """What one probe makes of an item."""

    pixels: np.ndarray | None  # of every draft; None where there is none
    drafts: tuple[Draft, ...]  # one a subject that the probe could be applied to
    reasons: tuple[ProbeRejected, ...] = ()  # why it could not be applied, each once


class Pairs:
    """The pairs of one item. Nothing is kept, so that an item with many probes needs no more memory than one.
    ``item``: its width and height are those of ``pixels``. ``pixels``: uint8 RGB [H, W, 3], of a video [T, H, W, 3].
    ``seed``: of the run; the same seed gives the same variants.
    ``image_key``: hash of ``pixels``; None: worked out when it is needed."""

    def __init__(self, item: Item, pixels: np.ndarray, *, seed: int = RUN_SEED, image_key: str | None = None) -> None:
        self.item = item
        self.seed = seed
        self.scene = Scene(item, pixels)
        self._image_key = image_key

    @property
    def pixels(self) -> np.ndarray:
        """The unedited image, uint8 RGB [H, W, 3], or the frames of the video, [T, H, W, 3], read-only."""
        return self.scene.pixels

    @property
    def image_key(self) -> str:
        """Hash of the unedited image."""
        if self._image_key is None:
            self._image_key = pixel_hash(self.pixels)
        return self._image_key

    def make(self, probe: Probe, subject: Subject | None = None) -> Variant | ProbeRejected:
        """Return the variant of a probe, or why the probe cannot be applied; nothing is raised.
        The random stream is that of (seed, item, probe), or of the name that the probe shares its draws under. A
        caption other than the first English one has its own stream; an edited image has not, so that every
        subject is held beside the same pixels.
        ``subject``: None: an edit of the image, which reads no caption."""
        held = NO_CAPTION if subject is None else subject
        own = () if probe.edits is Edits.IMAGE or held.is_first else (held.language, str(held.rank))
        draw = partial(stream, self.seed, self.item.id, probe.draws or probe.name, *own)
        try:
            if subject is None and probe.edits is not Edits.IMAGE:
                raise ProbeRejected("no-caption", f"probe {probe.name!r} edits a caption and none is given")
            if self.item.frames and probe.edits is Edits.IMAGE and probe.needs != FRAMES:
                if not probe.framewise:
                    told = f"probe {probe.name!r} edits one picture and item {self.item.id!r} is a video"
                    raise ProbeRejected("not-of-videos", told)
                still = replace(self.item, frames=())
                # each frame from the beginning of the stream, so that all are edited alike
                made = [probe.make(Scene(still, frame), held, draw()) for frame in self.pixels]
                return replace(made[0], pixels=np.stack([each.pixels for each in made if each.pixels is not None]))
            return probe.make(self.scene, held, draw())
        except ProbeRejected as rejection:
            return rejection.to_keep()
        except STRANGERS as error:  # a stranger's probe may raise anything; it costs this variant alone
            told = f"{type(error).__name__}: {' '.join(str(error).split())}"
            return ProbeRejected("probe-failed", f"probe {probe.name!r} failed on item {self.item.id!r}: {told}")

    def image(self, variant: Variant | None) -> tuple[str, np.ndarray]:
        """Return (pixel hash, pixels) of a variant; None, or a variant of the caption, has the item's own image."""
        if variant is None or variant.pixels is None:
            return self.image_key, self.pixels
        return pixel_hash(variant.pixels), variant.pixels

    def object_mask(self, variant: Variant | None) -> Mask | None:
        """Return where the object is in a variant's image, if that is known."""
        if variant is None or (variant.pixels is None and variant.object_mask is None):
            return self.item.mask
        return variant.object_mask

    def unedited(self, subject: Subject) -> Draft:
        """The item's own image with a subject caption."""
        own = MappingProxyType(self.item.own)
        return Draft(self.item, None, subject, subject.caption, self.image_key, self.item.mask, facts=own)

    def edited(self, probe: Probe, subjects: Sequence[Subject]) -> Edited:
        """Apply a probe: an edited image stands beside every subject it holds, a caption is edited for each."""
        if not subjects:
            return Edited(None, ())
        if probe.edits is Edits.IMAGE:
            subjects = [subject for subject in subjects if subject.name in probe.held]
            if not subjects:
                told = f"probe {probe.name!r} is true beside the {' and '.join(probe.held)} caption alone"
                return Edited(None, (), (ProbeRejected("other-subject", told),))
            moving = bool(self.item.frames)
            untrue = {subject: reason for subject in subjects if (reason := _untrue(probe, subject, moving=moving))}
            subjects = [subject for subject in subjects if subject not in untrue]
            if not subjects:
                return Edited(None, (), tuple(untrue.values()))
            made = self.make(probe, subjects[0])
            if isinstance(made, ProbeRejected):
                return Edited(None, (), (made, *untrue.values()))
            key, pixels = self.image(made)
            held = tuple(self._draft(probe, each, made, key) for each in subjects)
            return Edited(pixels, held, tuple(untrue.values()))
        variants = [(subject, self.make(probe, subject)) for subject in subjects]
        drafts = [
            self._draft(probe, subject, made, self.image_key) for subject, made in variants if isinstance(made, Variant)
        ]
        reasons = {(made.code, made.detail): made for _, made in variants if isinstance(made, ProbeRejected)}
        return Edited(self.pixels, tuple(drafts), tuple(reasons.values()))

    def baseline(self, draft: Draft, *, count_tokens: Callable[[str], int | None] | None = None) -> tuple[str, str]:
        """Name and caption of what an edited draft is compared with: the unedited image, the same subject.
        Raises InvariscopeError if there is none."""
        name = baseline_name(draft, count_tokens=count_tokens)
        if name is None or name == IDENTITY:
            return IDENTITY, draft.subject.caption
        made = self.make(registry.catalogue().get(name), draft.subject)
        if isinstance(made, ProbeRejected):
            raise made
        return name, draft.subject.caption if made.caption is None else made.caption

    def _draft(self, probe: Probe, subject: Subject, made: Variant, key: str) -> Draft:
        caption = subject.caption if made.caption is None else made.caption
        mask = self.object_mask(made)
        read = self.item.label_by  # a label of the source needs no word: runs of before know no other
        facts = MappingProxyType({**made.facts, LABEL_BY: read}) if read else made.facts
        return Draft(self.item, probe, subject, caption, key, mask, made.diagnostics, facts, made.notes)


LABEL_BY = "label_by"
"""Key under which the facts of a variant name the tagger that read the item's label off its caption."""

NO_CAPTION = Subject(TEMPLATE, ENGLISH, 0, "")
"""What an edit of the image is told where no caption is known: it reads none."""


def baseline_name(draft: Draft, *, count_tokens: Callable[[str], int | None] | None = None) -> str | None:
    """Name the probe whose row a draft is compared with; None for the unedited image itself.
    ``count_tokens``: of the evaluator; decides between neutral controls of the same length.
    Raises InvariscopeError if a modified caption has no neutral control."""
    if draft.probe is None:
        return None
    if draft.probe.baseline != LENGTH_MATCHED:
        return draft.probe.baseline
    label = draft.item.label or ""
    if draft.probe.construction is Construction.INSERTED:
        family = draft.probe.family.removeprefix(PREFIX)
        return length_matched_in(draft.subject.caption, draft.caption, label, family, count_tokens=count_tokens)
    return length_matched(draft.probe.family, draft.caption, label, count_tokens=count_tokens)


def _untrue(probe: Probe, subject: Subject, *, moving: bool) -> ProbeRejected | None:
    """Why a human caption is not held beside an edited image: it names a place that the edit changes."""
    human, caption = subject.name == HUMAN, subject.caption
    word = place_named(caption, subject.language, probe.moves, moving=moving) if human else ""
    told = f"{caption!r} names a place ({word}) that probe {probe.name!r} changes, so it would no longer be true"
    return ProbeRejected("caption-names-place", told) if word else None


def subjects_of(
    item: Item, name: str, *, languages: Iterable[str] = (ENGLISH,), captions_each: int = 1
) -> tuple[tuple[Subject, ...], tuple[ProbeRejected, ...]]:
    """The captions of an item under one name of a subject, and why one is missing.
    ``name``: ``template``, which is English, or ``human``.
    ``captions_each``: most captions of a language, the first ones."""
    found: list[Subject] = []
    reasons: list[ProbeRejected] = []
    for language in (ENGLISH,) if name == TEMPLATE else languages:
        try:
            texts = (_template(item),) if name == TEMPLATE else _human(item, language)[:captions_each]
            found += [Subject(name, language, rank, _storable(item, text)) for rank, text in enumerate(texts)]
        except ProbeRejected as rejection:
            reasons.append(rejection.to_keep())
    return tuple(found), tuple(reasons)


def subject_of(item: Item, caption: str) -> Subject:
    """Say of a caption that somebody chose which of an item's it is; a text of his own counts as English."""
    for language in dict.fromkeys((ENGLISH, *item.captions)):
        texts = item.captions.get(language, ())
        if caption in texts:
            return Subject(HUMAN, language, texts.index(caption), caption)
    return Subject(HUMAN, ENGLISH, 0, caption)


def _template(item: Item) -> str:
    if item.label is None:
        raise ProbeRejected("no-label", f"item {item.id!r} has no label to make a template caption of")
    try:
        return base_caption(item.label)
    except InvalidInput as error:
        raise ProbeRejected("no-label", f"item {item.id!r}: {error}") from error


def _human(item: Item, language: str) -> tuple[str, ...]:
    texts = item.captions.get(language, ())
    if not texts:
        wanted = "English caption" if language == ENGLISH else f"caption in language {language!r}"
        raise ProbeRejected("no-human-caption", f"item {item.id!r} has no {wanted}")
    return texts


def _storable(item: Item, caption: str) -> str:
    try:
        caption.encode()
    except UnicodeEncodeError as error:
        raise ProbeRejected("bad-caption", f"item {item.id!r}: its caption {caption!a} is no valid Unicode") from error
    return caption

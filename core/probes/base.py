"""What a probe is: one controlled edit of an item, with the claim it puts to the test."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np

from core.corpora.schema import Box, Mask
from core.probes.scene import Scene

TEMPLATE, HUMAN = SUBJECTS = ("template", "human")
"""Which caption is held while the image is edited: the template of the label, or one that a person wrote."""

ENGLISH = "en"  # language of the template, and of a caption whose language nobody named
FRAMES = "frames"  # field of an item that an edit of a video's frames needs

IDENTITY = "identity"  # name of the unedited image with the subject caption: the baseline of every image edit
BASE_CAPTION = "base"  # name of the template ``There is a [object].``: the bare caption beside every modified one
LENGTH_MATCHED = "length-matched"  # baseline of a modified caption: its family's neutral control closest in length


class Axis(StrEnum):
    """The axes of the audit.
    ``surface`` holds what surrounds the content: how a picture was saved and shrunk, letters written into it, how a
    sentence is dressed. ``null`` holds invisible edits: the noise floor."""

    SPATIAL = "spatial"
    OBJECT = "object"
    SOCIETAL = "societal"
    LEXICAL = "lexical"
    SEMANTIC = "semantic"
    SURFACE = "surface"
    NULL = "null"


class Expectation(StrEnum):
    """What a probe claims of the score.
    ``invariant``: it must not move; ``directional``: it must drop, so a variant that scores at least as high as its
    baseline is a failure; ``response``: variant and baseline are both true, so how the score answers is reported and
    nothing is a failure (paper D, 4.3: number and size of the mentioned objects)."""

    INVARIANT = "invariant"
    DIRECTIONAL = "directional"
    RESPONSE = "response"


class Edits(StrEnum):
    """Which half of the pair a probe changes."""

    IMAGE = "image"
    CAPTION = "caption"


class Construction(StrEnum):
    """What an edited caption is made of.
    ``caption``: the subject caption, rewritten; ``template``: ``There is a [object].``, or another sentence that is
    made of labels alone; ``inserted``: the subject caption with one word before the object's noun; ``corpus``: a
    caption of the corpus that was searched for the words of the probe."""

    CAPTION = "caption"
    TEMPLATE = "template"
    INSERTED = "inserted"
    CORPUS = "corpus"


@dataclass(frozen=True, slots=True)
class Subject:
    """A caption of an item that is held while the image is edited, or that a probe edits."""

    name: str  # of SUBJECTS
    language: str  # ISO 639-1 code
    rank: int  # which of the item's captions in that language, from 0
    caption: str

    @property
    def is_first(self) -> bool:
        """Whether it is the first English one of its name: what every run has."""
        return self.language == ENGLISH and self.rank == 0


FALSITY = "falsity"
"""Fact of a variant that breaks the meaning: how sure it is that its wrong side is wrong; not told by every probe."""

VERIFIED, PRESUMED = "verified", "presumed"  # values of FALSITY that more than one probe gives

KNOWN_WRONG = (VERIFIED, "checked")
"""Values of FALSITY by which annotations say that the wrong side is wrong: in words, or by the object's pixels."""


@dataclass(frozen=True, slots=True)
class Variant:
    """The (image, caption) pair that a probe makes of an item."""

    probe: str
    # edited image, uint8 RGB [H, W, 3], of a video [T, H, W, 3], of the item's size but where it was shrunk
    # (``width`` and ``height`` of the facts); None where the item's own image stands
    pixels: np.ndarray | None = None
    caption: str | None = None  # edited caption; None where the subject caption stands
    object_box: Box | None = None  # where the object is in the variant's image, in pixels
    object_mask: Mask | None = None  # likewise as a mask of the variant's size
    # measured side effects, e.g. ``bg_delta``, ``seam_energy``, ``seam_ratio``.
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # sentences for the reader, e.g. how often a placement was redrawn.
    # what was done, for tables: e.g. which word was put in, how often a placement was redrawn.
    facts: Mapping[str, str | float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("diagnostics", "facts"):  # read-only, whoever made them
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))


Maker = Callable[[Scene, Subject, np.random.Generator], Variant]


@dataclass(frozen=True, slots=True)
class Probe:
    """One registered probe."""

    name: str  # unique, e.g. ``rotate+10``, ``reposition-BR``, ``cultural:African``.
    axis: Axis
    family: str  # the set of probes with one meaning, e.g. ``rotation``, ``cultural``.
    expectation: Expectation
    edits: Edits
    summary: str  # one sentence for a tooltip: what changes and what must not
    make_function: Maker
    baseline: str = IDENTITY  # IDENTITY, BASE_CAPTION or LENGTH_MATCHED
    modifier: str | None = None  # the word that a caption edit adds, else None
    control: bool = False  # whether the probe is a control of its family (blur, neutral adjectives, invisible edits)
    source: str = ""  # paper and section
    default: bool = True  # whether the paper's grid includes it
    # names of the subjects that an edit of the caption edits, and is filed under with its baseline; without meaning
    # for an edit of the image
    subjects: tuple[str, ...] = (TEMPLATE,)
    # name under which its random stream is drawn; probes of one name draw the same numbers for an item, as the points
    # of a sweep must. Empty: the probe's own name.
    draws: str = ""
    # where it is not empty, the probe is chosen by this word or its own name, and neither by family nor axis: a point
    # of a sweep, another reading of the same edit. Headline probes of a family have none.
    selector: str = ""
    # names of the subjects that an edited image stands beside; without meaning for an edit of the caption
    held: tuple[str, ...] = SUBJECTS
    # places of the picture that an edited image changes, of :data:`core.probes.words.mentions.PLACES`: beside a human
    # caption that names one it does not stand, since the caption is then no longer true
    moves: tuple[str, ...] = ()
    # field of :class:`core.corpora.schema.Item` that an item must hold, e.g. ``rivals``; where no item of a corpus
    # does, a group of probes leaves it out. Empty: nothing.
    needs: str = ""
    # that reads the captions, of :data:`core.probes.words.taggers.TAGGERS`, where it is not the default; empty for
    # every other probe
    tagger: str = ""
    declares: Construction | None = None  # what its captions are made of, where ``subjects`` do not say it
    # a further draw of a family's headline edit, which counts with it; without meaning without a selector
    redrawn: bool = False
    # whether an edit of the image is also one of a video, of each frame alike: it draws nothing and needs no object
    framewise: bool = False
    # whether it changes the order of a video's frames alone: an evaluator that knows no order is not asked
    reorders: bool = False

    @property
    def construction(self) -> Construction | None:
        """What the edited caption is made of; None for an edit of the image.
        A probe that edits the template alone is made of it; any other rewrites its subject, unless it declares more."""
        if self.edits is Edits.IMAGE:
            return None
        return self.declares or (Construction.TEMPLATE if self.subjects == (TEMPLATE,) else Construction.CAPTION)

    def make(self, scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        """Apply the probe. The scene is never changed; the same stream gives the same variant.
        A caption that shouts goes on shouting: an edit that also changed the case would show two changes as one.
        ``rng``: of this item, probe and caption (see :meth:`core.probes.pairs.Pairs.make`).
        Raises ProbeRejected with the reason, where the probe cannot be applied to this item."""
        made = self.make_function(scene, subject, rng)
        rewritten = self.construction in (Construction.CAPTION, Construction.INSERTED)
        if made.caption and rewritten and subject.caption.isupper():
            return replace(made, caption=made.caption.upper())
        return made


def probe(
    *,
    name: str,
    axis: Axis,
    family: str,
    edits: Edits,
    summary: str,
    expectation: Expectation = Expectation.INVARIANT,
    **more: Any,
) -> Callable[[Maker], Probe]:
    """Mark ``def make(scene, subject, rng) -> Variant`` as a probe; the module attribute becomes the Probe.
    ``more``: further fields of :class:`Probe`, e.g. ``source``."""
    return lambda function: Probe(name, axis, family, expectation, edits, summary, function, **more)


def picture_probe(
    name: str,
    family: str,
    summary: str,
    make: Maker,
    *,
    axis: Axis = Axis.SPATIAL,
    expectation: Expectation = Expectation.INVARIANT,
    default: bool = False,
    **more: Any,
) -> Probe:
    """Make a probe of the picture, which is no part of the paper's grid where nothing else is said.
    ``more``: further fields of :class:`Probe`."""
    return Probe(name, axis, family, expectation, Edits.IMAGE, summary, make, default=default, **more)


def caption_probe(
    name: str,
    family: str,
    summary: str,
    make: Maker,
    *,
    axis: Axis = Axis.SEMANTIC,
    expectation: Expectation = Expectation.DIRECTIONAL,
    subjects: tuple[str, ...] = (HUMAN,),
    **more: Any,
) -> Probe:
    """Make a probe of a caption that is no part of the paper's grid; it asks for a drop where nothing else is said.
    ``more``: further fields of :class:`Probe`."""
    return Probe(
        name, axis, family, expectation, Edits.CAPTION, summary, make, default=False, subjects=subjects, **more
    )

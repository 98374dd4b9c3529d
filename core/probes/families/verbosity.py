"""Harmless words around a caption: *In this image we can see …*. Length without content.

The words are data: ``assets/surface/wrappers.csv``. Every one says that there is a picture and nothing of what it
shows, so a score must not move; ``words`` in the facts tells how many it adds, for the curve over length. Some take any
caption, others only a noun phrase: *A photo of there is a dog* is refused.
"""

import re
from types import MappingProxyType

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import SUBJECTS, Axis, Edits, Probe, Subject, Variant, probe
from core.probes.scene import Scene
from core.probes.words.caption_words import holds_clause
from core.probes.words.changes import check_english
from core.probes.words.dressing import PHRASE, Wrapper, wrappers

_SIGNS = re.compile(r"[.!?;:,]|\b(?:photo|photograph|picture|image|shot|view)\b", re.IGNORECASE)


def is_phrase(caption: str) -> bool:
    """Whether a caption is one noun phrase, as *A dog on a bench.*: it reads on after *we can see*.

    One that speaks of the picture already (*A photo of a dog*) does not.
    """
    inner = caption.strip().removesuffix(".")
    begins = inner.split(maxsplit=1)[0].casefold() if inner.split() else "there"
    return not begins.startswith(("there", "this", "these")) and not _SIGNS.search(inner) and not holds_clause(inner)


def _wrapped(wrapper: Wrapper) -> Probe:
    name = f"verbosity:{wrapper.name}"
    around = f"{wrapper.before} …{'' if wrapper.after[:1] in ('', ',') else ' '}{wrapper.after}".strip()

    @probe(
        name=name,
        axis=Axis.SURFACE,
        family="verbosity",
        edits=Edits.CAPTION,
        summary=f"Words that say nothing of the picture stand around the caption: {around!r}.",
        source="length without content; the prefix of CLIPScore among them",
        default=False,
        subjects=SUBJECTS,
    )
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        caption = check_english(subject)
        if wrapper.takes == PHRASE and not is_phrase(caption):
            told = f"{caption!r} is no noun phrase, so it does not read on beside {around!r}"
            raise ProbeRejected("no-phrase", told)
        facts = MappingProxyType({"words": float(wrapper.words)})
        return Variant(name, caption=wrapper.around(caption), facts=facts)

    return make


WRAPPED = tuple(_wrapped(each) for each in wrappers())

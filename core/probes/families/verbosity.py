"""Harmless words around a caption: *In this image we can see …*. Length without content.

The words are data: ``assets/surface/wrappers.csv``. Every one says that there is a picture and nothing of what it
shows, so a score must not move; ``words`` in the facts tells how many it adds, for the curve over length. Some take any
caption, others only a noun phrase or only a sentence: *A photo of there is a dog* is refused, as is *The image shows
that a dog on a bench*.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

import numpy as np

from core.errors import InvalidInput, ProbeRejected
from core.probes.base import SUBJECTS, Axis, Expectation, Probe, Subject, Variant, caption_probe
from core.probes.scene import Scene
from core.probes.tables import read_table
from core.probes.words.caption_language import check_english
from core.probes.words.caption_words import closed_words, holds_clause
from core.probes.words.grammar import within_sentence
from core.settings import assets_dir

PHRASE, SENTENCE, ANY = "phrase", "sentence", "any"
"""What a wrapper takes: noun phrases alone, sentences alone, or both."""


@dataclass(frozen=True, slots=True)
class Wrapper:
    """Words around a caption that say that there is a picture, and nothing of what it shows."""

    name: str
    takes: str  # PHRASE, where the caption must be a noun phrase, SENTENCE, where it must be a sentence, or ANY
    before: str
    after: str

    @property
    def words(self) -> int:
        """How many words it adds."""
        return sum(any(map(str.isalpha, each)) for each in f"{self.before} {self.after}".split())

    def around(self, caption: str) -> str:
        """Return the caption between the words.

        >>> Wrapper("w", PHRASE, "In this image we can see", ", as shown").around("A dog on a bench.")
        'In this image we can see a dog on a bench, as shown.'
        """
        text = caption.strip()
        stop = "." if text.endswith(".") else ""
        inner = text.removesuffix(".").rstrip()
        inner = within_sentence(inner) if self.before and not self.before.endswith(":") else inner
        blank = " " if self.after and not self.after.startswith(",") else ""
        return f"{self.before} {inner}".strip() + blank + self.after + stop


@cache
def wrappers(path: Path | None = None) -> tuple[Wrapper, ...]:
    """Read ``assets/surface/wrappers.csv``, the shortest first.
    Raises InvalidInput naming the line that adds no word, or stands twice."""
    found: dict[str, Wrapper] = {}
    table = path or assets_dir() / "surface" / "wrappers.csv"
    for row in read_table(table, ("name", "takes", "before", "after")):
        wrapper = Wrapper(
            row.required("name"), row.one_of("takes", (PHRASE, SENTENCE, ANY)), row["before"], row["after"]
        )
        if not wrapper.words:
            row.fail("neither before nor after holds a word; write one, or remove the line")
        if wrapper.name in found:
            row.fail(f"the name {wrapper.name!r} stands twice; keep one line")
        found[wrapper.name] = wrapper
    if not found:
        raise InvalidInput("wrappers.csv holds no line; write one wrapper, or restore it from the repository")
    return tuple(sorted(found.values(), key=lambda each: (each.words, each.name)))


_SIGNS = re.compile(r"[.!?;:]|\b(?:photo|photograph|picture|image|shot|view)\b", re.IGNORECASE)

_RELATIVE = re.compile(r"\b(?:that|which|who|whom|whose|where|what)\b", re.IGNORECASE)
"""The verb after one of these may be the only one: *A cat that is black* is no sentence."""

_BESIDE = re.compile(r"\b(?:while|as|because|until)\b", re.IGNORECASE)
"""The verb after one of these is not the sentence's own: *Donuts on a belt while people work*."""

_PLACED = frozenset({"in", "on", "at", "under", "near", "beside", "behind", "against", "between", "above", "below"})
"""What a further part of a list of noun phrases may begin with, beside a determiner: *…, in a pasture*."""


def is_phrase(caption: str) -> bool:
    """Whether a caption is a noun phrase, as *A dog on a bench.*, or a list of some: it reads on after *we can see*.
    A list's further parts begin with a determiner, a number or a word of place (*A dog on the left, two hens on the
    right, in a pasture*). One that speaks of the picture already (*A photo of a dog*) does not read on."""
    inner = caption.strip().removesuffix(".")
    return (
        not _opening(inner).startswith(("there", "this", "these"))
        and not _SIGNS.search(inner)
        and all(map(_goes_on, inner.split(",")[1:]))
        and not holds_clause(inner)
    )


def is_sentence(caption: str) -> bool:
    """Whether a caption is one sentence, as *A dog runs.* or *There is a dog.*: it reads on after *we can see that*.
    *Can* alone makes none (*A garbage can in a field*), nor does a verb that a relative clause may hold."""
    inner = caption.strip().removesuffix(".")
    if not inner or _SIGNS.search(inner) or "," in inner:
        return False
    if _opening(inner) in ("there", "there's", "this", "these"):
        return True
    main = _BESIDE.split(inner)[0]
    return not _RELATIVE.search(inner) and holds_clause(re.sub(r"\bcan\b", "", main), sure=True)


def _opening(text: str) -> str:
    return text.split(maxsplit=1)[0].casefold() if text.split() else "there"


def _goes_on(part: str) -> bool:
    first = _opening(part.strip().removeprefix("and "))
    return first in _PLACED or closed_words(first, ("determiners",))


_MISSED = MappingProxyType(
    {PHRASE: (is_phrase, "no-phrase", "no noun phrase"), SENTENCE: (is_sentence, "no-sentence", "no sentence")}
)
"""What a wrapper takes -> the test, and the code and words of a caption that fails it."""


def _wrapped(wrapper: Wrapper) -> Probe:
    name = f"verbosity:{wrapper.name}"
    around = f"{wrapper.before} …{'' if wrapper.after[:1] in ('', ',') else ' '}{wrapper.after}".strip()

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        caption = check_english(subject)
        if wrapper.takes in _MISSED:
            fits, code, what = _MISSED[wrapper.takes]
            if not fits(caption):
                raise ProbeRejected(code, f"{caption!r} is {what}, so it does not read on beside {around!r}")
        return Variant(name, caption=wrapper.around(caption), facts={"words": float(wrapper.words)})

    return caption_probe(
        name,
        "verbosity",
        f"Words that say nothing of the picture stand around the caption: {around!r}.",
        make,
        axis=Axis.SURFACE,
        expectation=Expectation.INVARIANT,
        source="length without content; 'A photo depicts', the prefix of CLIPScore and PAC-S, among them",
        subjects=SUBJECTS,
    )


WRAPPED = tuple(_wrapped(each) for each in wrappers())

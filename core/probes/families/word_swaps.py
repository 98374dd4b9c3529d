"""Colours and numbers: one word of a human caption swapped for another.

A colour before a noun gives way to one that no caption of the item names. Its falsity is *presumed*: the object may
have two colours. Where the noun mentions a category of which one instance is annotated, with a mask, and hardly a
pixel inside it has the new colour, it is *checked*. ``colour-word:object`` puts an object of the picture that the
caption does not name in the place of the same colour (*a bench bus* for *a red bus*): no colour at all, so that it is
wrong whatever the colours are. What may be a compound with the noun (*orange tree*, *sink cabinets*) stands for none.
That object is there, elsewhere, which is why its falsity is called *grounded*. A number word before the mention of an
annotated category, whose instances are as many, gives way to one that is one or two larger, since of four dogs *two
dogs* is true as well; it is *verified* where the source marks all, and left out where a crowd of the category is
annotated.
Source: paper D, 4.2 (its colour and number questions, to which the name of an object is always a wrong answer).
"""

import cv2
import numpy as np

from core.errors import ProbeRejected
from core.probes.base import FALSITY, PRESUMED, VERIFIED, Maker, Probe, Subject, Variant, caption_probe
from core.probes.scene import Scene
from core.probes.words.articles import sounded
from core.probes.words.caption_language import check_english
from core.probes.words.caption_words import Word, core_text, join, noun_phrases, words
from core.probes.words.categories import annotated, looked_for, usual_category
from core.probes.words.english import colours, listed
from core.probes.words.grammar import Number, capital_like, in_number, number_of
from core.probes.words.mentions import mentions, unnamed

_HUES = (
    ("red", 0, 8),
    ("orange", 8, 21),
    ("yellow", 21, 34),
    ("green", 34, 86),
    ("blue", 86, 130),
    ("purple", 130, 150),
    ("pink", 150, 172),
    ("red", 172, 180),
)
"""Names with their hues, half open, in OpenCV's halves of a degree."""

_BLACK_BELOW = 50  # value, 0 to 255, below which a pixel is black
_GREY_BELOW = 40  # saturation, 0 to 255, below which a pixel is white or gray
_WHITE_FROM = 190  # value from which a pixel without saturation is white
_BROWN_BELOW = 170  # value below which an orange, a yellow or a red of middling saturation is brown


def colour_shares(pixels: np.ndarray, mask: np.ndarray) -> dict[str, float]:
    """Share of an object's pixels by colour name; empty where the mask is.
    The rules are coarse, and shade and light move a pixel from one name to another: they serve to say that a colour is
    *not* there, never that it is.
    ``pixels``: uint8 RGB [H, W, 3]. ``mask``: boolean [H, W]."""
    inside = pixels[mask].reshape(-1, 1, 3)
    if not len(inside):
        return {}
    hue, saturation, value = (channel.ravel() for channel in cv2.split(cv2.cvtColor(inside, cv2.COLOR_RGB2HSV)))
    names = np.full(len(hue), "", dtype="U6")
    for name, low, high in _HUES:
        names[(hue >= low) & (hue < high)] = name
    warm = np.isin(names, ("red", "orange", "yellow"))
    names[warm & (value < _BROWN_BELOW) & (saturation < 200)] = "brown"
    names[(names == "orange") & (value < _BROWN_BELOW)] = "brown"
    names[(names == "red") & (saturation < 120) & (value >= _BROWN_BELOW)] = "pink"
    names[saturation < _GREY_BELOW] = "gray"
    names[(saturation < _GREY_BELOW) & (value >= _WHITE_FROM)] = "white"
    names[value < _BLACK_BELOW] = "black"
    found, counts = np.unique(names, return_counts=True)
    return {str(name): float(count / len(names)) for name, count in zip(found, counts, strict=True)}


NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
"""Number words, from 2 on: *one* would ask for the singular."""
CHECKED_BELOW = 0.02  # share of an object's pixels of the new colour below which its absence counts as checked


def with_word(found: tuple[Word, ...], place: int, word: str) -> str:
    """Write a caption with another word in one place, its capital and a preceding *a* or *an* refitted."""
    old = found[place]
    texts = [each.text for each in found]
    texts[place] = old.lead + capital_like(word, old.core) + old.trail
    if place:
        texts[place - 1] = sounded(found[place - 1], word)
    return join(texts)


def _colour(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    found, place = _colour_place(subject, rng)
    texts = (subject.caption, *scene.item.captions.get("en", ()))
    said = {word.core.casefold() for text in texts for word in words(text)}
    said |= {"gray"} if "grey" in said else set()
    left = [word for word in colours() if word not in said and word != "grey"]
    if not left:
        raise ProbeRejected("no-replacement", "the captions of the item name every colour")
    chosen = left[int(rng.integers(len(left)))]
    facts: dict[str, str | float] = {"kind": "colour", "replaced": found[place].core.casefold(), "by": chosen}
    mask, falsity = _mask_of(scene, subject.caption, place + 1), PRESUMED
    if mask is not None:
        share = colour_shares(scene.pixels, mask).get(chosen, 0.0)
        facts, falsity = facts | {"share_of_new": share}, "checked" if share < CHECKED_BELOW else PRESUMED
    facts[FALSITY] = falsity
    return Variant("colour-word", caption=with_word(found, place, chosen), facts=facts)


def _object(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    found, place = _colour_place(subject, rng)
    there = [label for label in unnamed(scene.item, subject.caption) if number_of(label) is Number.SINGULAR]
    noun = next(core_text(found, *each, "en") for each in noun_phrases(found, "en") if each[0] == place + 1)
    left = [label for label in there if not may_be_compound(label, noun)]
    if not left:
        told = f"{subject.caption!r} names every object that is annotated but those that may tell of {noun!r}"
        raise ProbeRejected("no-replacement", told)
    chosen = left[int(rng.integers(len(left)))]
    facts: dict[str, str | float] = {"kind": "object", "replaced": found[place].core.casefold(), "by": chosen}
    facts |= {"among": float(len(left)), "falsity": "grounded"}
    return Variant("colour-word:object", caption=with_word(found, place, chosen), facts=facts)


def may_be_compound(label: str, noun: str) -> bool:
    """Whether an object before a noun may tell of the noun: *orange tree*, *dog poodle*, *kitchen wall*.
    So do a colour and a thing of the noun's kind, and whatever stands before a part, a sign or a container."""
    head = in_number(noun, many=False).casefold().split(" ")[-1]
    kind = usual_category(noun)
    return label in colours() or head in listed("belong") or (kind is not None and kind == usual_category(label))


def _colour_place(subject: Subject, rng: np.random.Generator) -> tuple[tuple[Word, ...], int]:
    """Draw one of the colours of a caption that stand before a noun; return its words and the place."""
    found = words(check_english(subject))
    begins = {first for first, _ in noun_phrases(found, "en")}
    places = [
        index
        for index, word in enumerate(found)
        if word.core.casefold() in colours() and not word.trail and index + 1 in begins
    ]
    if not places:
        raise ProbeRejected("no-colour-word", f"no colour stands before a noun in {subject.caption!r}")
    return found, places[int(rng.integers(len(places)))]


def _mask_of(scene: Scene, caption: str, place: int) -> np.ndarray | None:
    """Mask of the only instance of the category that is mentioned at a word; None where that is not known."""
    label = next((each.label for each in mentions(caption) if each.first == place), None)
    own = [(scene.item.label, scene.item.mask)]
    masks = [mask for name, mask in [*own, *((each.label, each.mask) for each in scene.item.others)] if name == label]
    if label is None or len(masks) != 1 or masks[0] is None:
        return None
    array = masks[0].to_array()
    return array if array.any() and array.shape == scene.pixels.shape[:2] else None


def _number(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    caption = check_english(subject)
    found = words(caption)
    counts = annotated(scene.item)
    crowds = {other.label for other in scene.item.others if other.crowd}
    right = [
        each
        for each in mentions(caption)
        if each.first
        and each.many
        and each.label not in crowds
        and found[each.first - 1].core.casefold() == _word_of(counts[each.label])
    ]
    if not right:
        raise ProbeRejected("no-number-word", f"{caption!r} counts no annotated category as it is annotated")
    mention = right[int(rng.integers(len(right)))]
    count = counts[mention.label]
    left = [other for other in (count + 1, count + 2) if _word_of(other)]
    if not left:
        raise ProbeRejected("no-replacement", f"no number word above {count} is known")
    chosen = left[int(rng.integers(len(left)))]
    facts: dict[str, str | float] = {"replaced": str(_word_of(count)), "by": str(_word_of(chosen))}
    facts |= {"category": mention.label, "count": float(count), "said": float(chosen)}
    facts[FALSITY] = VERIFIED if mention.label in looked_for(scene.item.looked_for) else PRESUMED
    edited = with_word(found, mention.first - 1, str(_word_of(chosen)))
    return Variant("number-word", caption=edited, facts=facts)


def _word_of(count: int) -> str | None:
    return NUMBERS[count - 2] if 2 <= count < 2 + len(NUMBERS) else None


def _probe(name: str, summary: str, make: Maker) -> Probe:
    family = name.partition(":")[0]
    return caption_probe(name, family, summary, make, source="paper D, 4.2", draws=family)


SWAPS = (
    _probe("colour-word", "A colour in a human caption gives way to one that no caption of the item names.", _colour),
    _probe(
        "colour-word:object",
        "A colour in a human caption gives way to an object of the picture that the caption does not name.",
        _object,
    ),
    _probe("number-word", "A right number in a human caption gives way to one that is larger by one or two.", _number),
)

"""Sentences about composed items: what is there, on what ground, where in the picture, how much of it.

All four are known of a composed item, so its sentence is true by construction. The words are data: noun phrases
(``nouns.csv``), places (``places.csv``) and one grammar (``grammar.csv``) in ``assets/demo``, a column a language.
Noun phrases carry their article and stand as singular subjects, places are whole adverbials: no word has to agree
with another one, so a sentence is only put together and never inflected.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter

from core.corpora.schema import Mask
from core.errors import BadCorpus

Texts = Mapping[str, Mapping[str, str]]
"""Name of a phrase -> language -> text."""

WHERE = ("left", "right", "top", "bottom", "middle")
"""Where the centre of the object's box lies: see :func:`where`."""

SHARES = (
    (0.14, "small"), (0.27, "fifth"), (0.42, "third"), (0.58, "half"), (0.85, "most"), (1.0, "all"),
)  # fmt: skip
"""Upper end, inclusive, of the share of the picture's pixels that an object has, and what the share is called."""

FILLING = ("most", "all")
"""Shares of which no place in the picture is said: the object is everywhere."""

_PATTERNS = {"placed": {"where", "noun", "place", "share"}, "filling": {"noun", "place", "share"}}


@dataclass(frozen=True, slots=True)
class Grammar:
    """The words that sentences are made of.

    Args:
        nouns: by label, or by stamp where a stamp shows more than its label says.
        places: by background.
        phrases: ``pattern:…``, ``where:…`` and ``share:…``.
    """

    nouns: Texts
    places: Texts
    phrases: Texts

    def __post_init__(self) -> None:
        wanted = [*(f"pattern:{name}" for name in _PATTERNS), *(f"where:{name}" for name in WHERE)]
        wanted += [f"share:{name}" for _, name in SHARES]
        if set(self.phrases) != set(wanted):
            raise BadCorpus(f"grammar.csv must have the lines {', '.join(wanted)}, got {', '.join(self.phrases)}")
        for name, fields in _PATTERNS.items():
            for language, text in self.phrases[f"pattern:{name}"].items():
                _check_pattern(text, fields, f"grammar.csv, pattern:{name}, column {language}")

    def sentences(self, *, label: str, stamp: str, background: str, mask: Mask) -> dict[str, tuple[str, ...]]:
        """Say in every language what a composed picture shows.

        Args:
            mask: of the object, in the picture's size.

        Returns:
            One sentence a language.

        Raises:
            BadCorpus: if there is no noun phrase for the label or no phrase for the background.
        """
        noun = self.nouns.get(stamp) or self.nouns.get(label)
        if noun is None:
            raise BadCorpus(f"nouns.csv has no noun phrase for label {label!r} or stamp {stamp!r}; write it")
        if background not in self.places:
            raise BadCorpus(f"places.csv has no phrase for background {background!r}; write it")
        size = share(mask)
        pattern = self.phrases["pattern:filling" if size in FILLING else "pattern:placed"]
        place, covered, position = self.places[background], self.phrases[f"share:{size}"], self.phrases[where_key(mask)]
        return {
            language: (
                capital(
                    text.format(
                        noun=noun[language], place=place[language], share=covered[language], where=position[language]
                    )
                ),
            )
            for language, text in pattern.items()
        }


def where(mask: Mask) -> str:
    """Say where an object is: the third of the frame that holds the centre of its box.

    Left and right are said first, so ``top``, ``bottom`` and ``middle`` are of the third between them.

    Raises:
        BadCorpus: if the mask is empty.
    """
    box = mask.box
    if box is None:
        raise BadCorpus("an object without a pixel is nowhere in the picture; leave its item out")
    across, down = box.centre[0] / mask.width, box.centre[1] / mask.height
    if not 1 / 3 <= across <= 2 / 3:
        return "left" if across < 1 / 3 else "right"
    if not 1 / 3 <= down <= 2 / 3:
        return "top" if down < 1 / 3 else "bottom"
    return "middle"


def where_key(mask: Mask) -> str:
    """Name of the phrase of :func:`where`."""
    return f"where:{where(mask)}"


def share(mask: Mask) -> str:
    """Say how much of the picture an object's own pixels are: one of the names in SHARES."""
    covered = mask.area / (mask.width * mask.height)
    return next(name for most, name in SHARES if covered <= most)


def _check_pattern(text: str, fields: set[str], where_it_is: str) -> None:
    try:
        found = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    except ValueError as error:
        raise BadCorpus(f"{where_it_is}: {text!r} is no pattern ({error})") from error
    if sorted(found) != sorted(fields):
        raise BadCorpus(f"{where_it_is}: {text!r} must name each of {', '.join(sorted(fields))} once")


def capital(text: str) -> str:
    """Return a text that begins with a capital letter."""
    return text[0].upper() + text[1:]

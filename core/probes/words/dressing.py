"""How a caption is dressed: its full stop, its capital, its blanks, and words around it that say nothing.

Pure functions of a text; what a caption says stays.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from core.errors import InvalidInput
from core.probes.tables import read_table, surface_path
from core.probes.words.grammar import within_sentence

_STOPS = ".。"
_ENDS = ".。!?！？…"


def toggle_stop(caption: str, language: str) -> str:
    """Take the final full stop away, or put one where the caption ends without a sign.

    >>> toggle_stop("A dog on a bench.", "en"), toggle_stop("A dog on a bench", "en")
    ('A dog on a bench', 'A dog on a bench.')
    """
    text = caption.rstrip()
    if not text:
        return caption
    if text[-1] in _STOPS and not text.endswith("..."):
        return text[:-1]
    return caption if text[-1] in _ENDS else f"{text}{'。' if language == 'ja' else '.'}"


def toggle_capital(caption: str, language: str) -> str:
    """Change the case of the first letter; German and Japanese stay: a German noun's capital is its spelling.

    So does a caption that is all capitals: one small letter in it says nothing of capitals at the beginning.

    >>> toggle_capital("A dog.", "en"), toggle_capital("a dog.", "en")
    ('a dog.', 'A dog.')
    """
    place = next((index for index, sign in enumerate(caption) if sign.isalpha()), None)
    if place is None or language in ("de", "ja") or caption.isupper() or _is_name(caption[place:]):
        return caption
    return caption[:place] + caption[place].swapcase() + caption[place + 1 :]


def double_blank(caption: str, language: str) -> str:
    """Put a second blank behind the first word; Japanese writes none.

    >>> double_blank("A dog on a bench.", "en")
    'A  dog on a bench.'
    """
    first, blank, rest = caption.partition(" ")
    return f"{first}  {rest}" if blank and first and rest.strip() and language != "ja" else caption


def _is_name(text: str) -> bool:
    """Whether the first word is written in capitals, or is *I*: its case says something."""
    word = text.split()[0].rstrip(".,;:!?")
    return word == "I" or word.startswith("I'") or (len(word) > 1 and word.isupper())


FORMS: Mapping[str, tuple[str, Callable[[str, str], str]]] = MappingProxyType(
    {
        "full-stop": ("The final full stop of the caption goes, or comes where it had none.", toggle_stop),
        "capital": ("The first letter of the caption changes its case.", toggle_capital),
        "double-blank": ("A second blank follows the first word of the caption.", double_blank),
    }
)
"""Name of a form -> what changes, and how: (caption, language) -> caption."""


PHRASE, SENTENCE, ANY = "phrase", "sentence", "any"
"""What a wrapper takes: noun phrases alone, sentences alone, or both."""


@dataclass(frozen=True, slots=True)
class Wrapper:
    """Words around a caption that say that there is a picture, and nothing of what it shows.
    ``takes``: PHRASE, where the caption must be a noun phrase, SENTENCE, where it must be a sentence, or ANY."""

    name: str
    takes: str
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
    for row in read_table(path or surface_path("wrappers.csv"), ("name", "takes", "before", "after")):
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

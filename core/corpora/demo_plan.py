"""The editable lists in ``assets/demo``, and the sentences that are made of them.

What is there, on what ground, where in the picture and how much of it are known of a composed item, so its sentence is
true by construction. The words are data: noun phrases (``nouns.csv``), places (``places.csv``) and one grammar
(``grammar.csv``), a column a language. Noun phrases carry their article and stand as singular subjects, places are
whole adverbials: no word has to agree with another one, so a sentence is only put together and never inflected.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

from core import settings
from core.corpora.schema import CATEGORIES, COVERAGE_BINS, EXTRA_CATEGORIES, Box, Mask, SceneObject
from core.errors import BadCorpus

Texts = Mapping[str, Mapping[str, str]]  # name of a phrase -> language -> text
WHERE = ("left", "right", "top", "bottom", "middle")  # where the centre of the object's box lies: see :func:`where`

SHARES = ((0.14, "small"), (0.27, "fifth"), (0.42, "third"), (0.58, "half"), (0.85, "most"), (1.0, "all"))
"""Upper end, inclusive, of the share of the picture's pixels that an object has, and what the share is called."""

FILLING = ("most", "all")  # shares of which no place in the picture is said: the object is everywhere

_PATTERNS = {"placed": {"where", "noun", "place", "share"}, "filling": {"noun", "place", "share"}}


@dataclass(frozen=True, slots=True)
class Grammar:
    """The words that sentences are made of."""

    nouns: Texts  # by label, or by stamp where a stamp shows more than its label says
    places: Texts  # by background
    phrases: Texts  # ``pattern:…``, ``where:…`` and ``share:…``

    def __post_init__(self) -> None:
        wanted = [*(f"pattern:{name}" for name in _PATTERNS), *(f"where:{name}" for name in WHERE)]
        wanted += [f"share:{name}" for _, name in SHARES]
        if set(self.phrases) != set(wanted):
            raise BadCorpus(f"grammar.csv must have the lines {', '.join(wanted)}, got {', '.join(self.phrases)}")
        for name, fields in _PATTERNS.items():
            for language, text in self.phrases[f"pattern:{name}"].items():
                where_it_is = f"grammar.csv, pattern:{name}, column {language}"
                try:
                    found = [each for _, each, _, _ in Formatter().parse(text) if each is not None]
                except ValueError as error:
                    raise BadCorpus(f"{where_it_is}: {text!r} is no pattern ({error})") from error
                if sorted(found) != sorted(fields):
                    told = f"{text!r} must name each of {', '.join(sorted(fields))} once"
                    raise BadCorpus(f"{where_it_is}: {told}")

    def sentences(self, *, label: str, stamp: str, background: str, mask: Mask) -> dict[str, tuple[str, ...]]:
        """Say in every language what a composed picture shows.
        Raises BadCorpus if there is no noun phrase for the label or no phrase for the background."""
        noun = self.nouns.get(stamp) or self.nouns.get(label)
        if noun is None:
            raise BadCorpus(f"nouns.csv has no noun phrase for label {label!r} or stamp {stamp!r}; write it")
        if background not in self.places:
            raise BadCorpus(f"places.csv has no phrase for background {background!r}; write it")
        size = share(mask)
        pattern = self.phrases["pattern:filling" if size in FILLING else "pattern:placed"]
        said = {"noun": noun, "place": self.places[background], "share": self.phrases[f"share:{size}"]}
        said["where"] = self.phrases[f"where:{where(mask)}"]
        return {
            language: (capital(text.format(**{name: each[language] for name, each in said.items()})),)
            for language, text in pattern.items()
        }


def where(mask: Mask) -> str:
    """Say where an object is: the third of the frame that holds the centre of its box. Left and right are said first,
    so ``top``, ``bottom`` and ``middle`` are of the third between them. Raises BadCorpus if the mask is empty."""
    box = mask.box
    if box is None:
        raise BadCorpus("an object without a pixel is nowhere in the picture; leave its item out")
    across, down = box.centre[0] / mask.width, box.centre[1] / mask.height
    if not 1 / 3 <= across <= 2 / 3:
        return "left" if across < 1 / 3 else "right"
    if not 1 / 3 <= down <= 2 / 3:
        return "top" if down < 1 / 3 else "bottom"
    return "middle"


def share(mask: Mask) -> str:
    """Say how much of the picture an object's own pixels are: one of the names in SHARES."""
    covered = mask.area / (mask.width * mask.height)
    return next(name for most, name in SHARES if covered <= most)


def capital(text: str) -> str:
    """Return a text that begins with a capital letter."""
    return text[0].upper() + text[1:]


LANGUAGES = ("en", "de", "fr", "es", "ja")
_CATEGORIES = CATEGORIES + EXTRA_CATEGORIES
POSES = ("stand", "lie", "float")  # how a stamp is put down: on the ground, seen from above, or free of any ground


@dataclass(frozen=True, slots=True)
class StampEntry:
    """What a stamp shows. ``captions`` is ``stamp`` (its own text) or ``written`` (in captions.csv)."""

    stamp: str
    label: str
    category: str
    photographic: bool
    pose: str
    captions: str


@dataclass(frozen=True, slots=True)
class ItemEntry:
    """One composed item: which stamp, on which background, how large in which frame (pixels)."""

    id: str
    stamp: str
    coverage_bin: str
    background: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class PhotographEntry:
    """One photograph of a library; its hand-checked mask is ``assets/demo/masks/<id>.png``. ``others`` names the other
    objects and their boxes in pixels: ``label x y width height; ...`` or ``none``."""

    id: str
    package: str
    file: str
    label: str
    category: str
    licence: str
    source: str
    others: tuple[SceneObject, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that the demo corpus is built from, but the pixels.
    ``captions``: short captions written for the corpus, by stamp or photograph."""

    stamps: Mapping[str, StampEntry]
    items: tuple[ItemEntry, ...]
    photographs: tuple[PhotographEntry, ...]
    captions: Mapping[str, Mapping[str, tuple[str, ...]]]
    grammar: Grammar
    sentences: Mapping[str, Mapping[str, str]]

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of all items in the corpus's order: composed ones, then photographs."""
        return (*(item.id for item in self.items), *(photograph.id for photograph in self.photographs))


def read_plan(folder: Path) -> Plan:
    """Read the lists: stamps, items, photographs, captions, and the words that sentences are made of.
    Raises BadCorpus naming the file, the line and the value that cannot be used."""
    stamps = [_stamp(row, where) for where, row in rows_of(folder / "stamps.csv", StampEntry.__slots__)]
    by_name = {entry.stamp: entry for entry in stamps}
    items = [_item(row, where, by_name) for where, row in rows_of(folder / "items.csv", ItemEntry.__slots__)]
    photographs = [
        _photograph(row, where) for where, row in rows_of(folder / "photographs.csv", PhotographEntry.__slots__)
    ]
    captions = {
        name: {language: (text,) for language, text in texts.items()}
        for name, texts in read_texts(folder / "captions.csv").items()
    }
    sentences = read_texts(folder / "sentences.csv")
    grammar = Grammar(*(read_texts(folder / f"{name}.csv") for name in ("nouns", "places", "grammar")))
    plan = Plan(by_name, tuple(items), tuple(photographs), captions, grammar, sentences)
    twice = sorted({name for name in plan.ids if plan.ids.count(name) > 1})
    if twice:
        raise BadCorpus(f"{folder}: two items are named {twice[0]!r}; rename one")
    return plan


@cache
def shipped_plan() -> Plan:
    """The plan of the demo corpus that ships; see :func:`read_plan`."""
    return read_plan(settings.assets_dir() / "demo")


def read_texts(path: Path) -> dict[str, dict[str, str]]:
    """Read a table of texts: what it is ``of``, and a column a language."""
    found: dict[str, dict[str, str]] = {}
    for where, row in rows_of(path, ("of", *LANGUAGES)):
        if row["of"] in found:
            raise BadCorpus(f"{where}: {row['of']!r} was there before; keep one line")
        found[row["of"]] = {language: row[language] for language in LANGUAGES}
    return found


def rows_of(path: Path, columns: tuple[str, ...]) -> list[tuple[str, dict[str, str]]]:
    """Return the lines of an editable list, each with what messages call it.
    Raises BadCorpus if the file cannot be read, has other columns, or a value is missing."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            rows = [(f"{path.name}, line {reader.line_num}", row) for row in reader]
            header = tuple(reader.fieldnames or ())
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadCorpus(f"{path} cannot be read ({error}); restore it from the checkout") from error
    if header != tuple(columns):
        raise BadCorpus(f"{path}: the columns must be {','.join(columns)}, got {','.join(header)}")
    for where, row in rows:
        if None in row or any(not value for value in row.values()):
            raise BadCorpus(f"{where}: every column needs one value, got {row}")
    return rows


def _check(row: dict[str, str], where: str, **allowed: tuple[str, ...]) -> None:
    for name, values in allowed.items():
        if row[name] not in values:
            raise BadCorpus(f"{where}: {row[name]!r} must be one of {', '.join(values)}")


def _stamp(row: dict[str, str], where: str) -> StampEntry:
    _check(row, where, category=_CATEGORIES, photographic=("yes", "no"), pose=POSES, captions=("stamp", "written"))
    fields: dict[str, Any] = {**row, "photographic": row["photographic"] == "yes"}
    return StampEntry(**fields)


def _item(row: dict[str, str], where: str, stamps: Mapping[str, StampEntry]) -> ItemEntry:
    if not (row["width"].isdigit() and row["height"].isdigit()):
        raise BadCorpus(f"{where}: width and height must be whole pixels, got {row['width']} × {row['height']}")
    _check(row, where, stamp=tuple(stamps), coverage_bin=COVERAGE_BINS)
    fields: dict[str, Any] = {**row, "width": int(row["width"]), "height": int(row["height"])}
    return ItemEntry(**fields)


def _photograph(row: dict[str, str], where: str) -> PhotographEntry:
    _check(row, where, category=_CATEGORIES)
    others = []
    for text in () if row["others"] == "none" else row["others"].split(";"):
        words = text.split()
        if len(words) < 5 or not all(word.isdigit() for word in words[-4:]):
            raise BadCorpus(f"{where}: {text.strip()!r} must be a label and a box in pixels: label x y width height")
        others.append(SceneObject(" ".join(words[:-4]), Box(*map(float, words[-4:]))))
    fields = {name: row[name] for name in PhotographEntry.__slots__ if name != "others"}
    return PhotographEntry(**fields, others=tuple(others))

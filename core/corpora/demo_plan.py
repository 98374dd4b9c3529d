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
from core.corpora.schema import CATEGORIES, COVERAGE_BINS, EXTRA_CATEGORIES, Mask
from core.errors import BadCorpus

Texts = Mapping[str, Mapping[str, str]]  # name of a phrase -> language -> text
WHERE = ("left", "right", "top", "bottom", "middle")  # where the centre of the object's box lies

SHARES = ((0.14, "small"), (0.27, "fifth"), (0.42, "third"), (0.58, "half"), (0.85, "most"), (1.0, "all"))
"""Upper end, inclusive, of the share of the picture's pixels that an object has, and what the share is called."""

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


def share(mask: Mask) -> str:
    """Say how much of the picture an object's own pixels are: one of the names in SHARES."""
    covered = mask.area / (mask.width * mask.height)
    return next(name for most, name in SHARES if covered <= most)


def capital(text: str) -> str:
    """Return a text that begins with a capital letter."""
    return text[0].upper() + text[1:]


LANGUAGES = ("en", "de", "fr", "es", "ja")
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
class Plan:
    """What composed items are made of, but the pixels."""

    stamps: Mapping[str, StampEntry]
    items: tuple[ItemEntry, ...]
    grammar: Grammar


def read_plan(folder: Path) -> Plan:
    """Read the lists: stamps, items, and the words that sentences are made of.
    Raises BadCorpus naming the file, the line and the value that cannot be used."""
    stamps = [_stamp(row, where) for where, row in rows_of(folder / "stamps.csv", StampEntry.__slots__)]
    by_name = {entry.stamp: entry for entry in stamps}
    items = [_item(row, where, by_name) for where, row in rows_of(folder / "items.csv", ItemEntry.__slots__)]
    grammar = Grammar(*(read_texts(folder / f"{name}.csv") for name in ("nouns", "places", "grammar")))
    return Plan(by_name, tuple(items), grammar)


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


def check_row(row: dict[str, str], where: str, **allowed: tuple[str, ...]) -> None:
    """Raise BadCorpus where a cell is none of the words that its column allows."""
    for name, values in allowed.items():
        if row[name] not in values:
            raise BadCorpus(f"{where}: {row[name]!r} must be one of {', '.join(values)}")


def _stamp(row: dict[str, str], where: str) -> StampEntry:
    check_row(
        row,
        where,
        category=CATEGORIES + EXTRA_CATEGORIES,
        photographic=("yes", "no"),
        pose=POSES,
        captions=("stamp", "written"),
    )
    fields: dict[str, Any] = {**row, "photographic": row["photographic"] == "yes"}
    return StampEntry(**fields)


def _item(row: dict[str, str], where: str, stamps: Mapping[str, StampEntry]) -> ItemEntry:
    if not (row["width"].isdigit() and row["height"].isdigit()):
        raise BadCorpus(f"{where}: width and height must be whole pixels, got {row['width']} × {row['height']}")
    check_row(row, where, stamp=tuple(stamps), coverage_bin=COVERAGE_BINS)
    fields: dict[str, Any] = {**row, "width": int(row["width"]), "height": int(row["height"])}
    return ItemEntry(**fields)

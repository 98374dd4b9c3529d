"""The editable lists in ``assets/demo``: stamps, items, photographs and captions written for the corpus."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.corpora.demo_build.compose import POSES
from core.corpora.demo_build.sentences import Grammar
from core.corpora.schema import CATEGORIES, COVERAGE_BINS, EXTRA_CATEGORIES, Box, SceneObject
from core.errors import BadCorpus

LANGUAGES = ("en", "de", "fr", "es", "ja")


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
    """One photograph of a library; its hand-checked mask is ``assets/demo/masks/<id>.png``.

    ``others`` names the other objects and their boxes in pixels: ``label x y width height; ...`` or ``none``.
    """

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

    Args:
        captions: short captions written for the corpus, by stamp or photograph.
        grammar: of the sentences about composed items.
        sentences: about the photographs.
    """

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

    Raises:
        BadCorpus: naming the file, the line and the value that cannot be used.
    """
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
    plan = Plan(by_name, tuple(items), tuple(photographs), captions, read_grammar(folder), sentences)
    twice = sorted({name for name in plan.ids if plan.ids.count(name) > 1})
    if twice:
        raise BadCorpus(f"{folder}: two items are named {twice[0]!r}; rename one")
    return plan


def read_grammar(folder: Path) -> Grammar:
    """Read the words that sentences are made of.

    Raises:
        BadCorpus: naming the file and the line that cannot be used.
    """
    nouns, places, phrases = (read_texts(folder / f"{name}.csv") for name in ("nouns", "places", "grammar"))
    return Grammar(nouns, places, phrases)


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

    Raises:
        BadCorpus: if the file cannot be read, has other columns, or a value is missing.
    """
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


def _one_of(value: str, allowed: tuple[str, ...], where: str) -> str:
    if value not in allowed:
        raise BadCorpus(f"{where}: {value!r} must be one of {', '.join(allowed)}")
    return value


def _stamp(row: dict[str, str], where: str) -> StampEntry:
    return StampEntry(
        stamp=row["stamp"],
        label=row["label"],
        category=_one_of(row["category"], CATEGORIES + EXTRA_CATEGORIES, where),
        photographic=_one_of(row["photographic"], ("yes", "no"), where) == "yes",
        pose=_one_of(row["pose"], POSES, where),
        captions=_one_of(row["captions"], ("stamp", "written"), where),
    )


def _item(row: dict[str, str], where: str, stamps: Mapping[str, StampEntry]) -> ItemEntry:
    if not (row["width"].isdigit() and row["height"].isdigit()):
        raise BadCorpus(f"{where}: width and height must be whole pixels, got {row['width']} × {row['height']}")
    return ItemEntry(
        id=row["id"],
        stamp=_one_of(row["stamp"], tuple(stamps), where),
        coverage_bin=_one_of(row["coverage_bin"], COVERAGE_BINS, where),
        background=row["background"],
        width=int(row["width"]),
        height=int(row["height"]),
    )


def _photograph(row: dict[str, str], where: str) -> PhotographEntry:
    _one_of(row["category"], CATEGORIES + EXTRA_CATEGORIES, where)
    others = [] if row["others"] == "none" else [_other(text, where) for text in row["others"].split(";")]
    fields = {name: row[name] for name in PhotographEntry.__slots__ if name != "others"}
    return PhotographEntry(**fields, others=tuple(others))


def _other(text: str, where: str) -> SceneObject:
    words = text.split()
    if len(words) < 5 or not all(word.isdigit() for word in words[-4:]):
        raise BadCorpus(f"{where}: {text.strip()!r} must be a label and a box in pixels: label x y width height")
    x, y, width, height = map(float, words[-4:])
    return SceneObject(" ".join(words[:-4]), Box(x, y, width, height))

"""A source's labels as captions say them, and their categories.

The option of a loader whose source gives no labels: what is to read one off an item's caption.

Which readers there are is known to the right of this room, by :mod:`core.probes.words.natural_captions`, which reads.

Which language captions are in: the one that somebody says, else that of their script, else English.
"""

import csv
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from core.corpora.corpus_files import Findings, csv_cells
from core.corpora.folder_tables import language_code
from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES, Corpus, Rejection
from core.errors import InvalidInput
from core.settings import assets_dir

RULES = "rules"  # the reader that needs no further package, and the default

NONE = "none"

OPTION = {
    "labels": "what reads a label off the English caption of an item without one: rules (default), spacy, or none"
}
"""Option of a loader -> what it means."""


def reader(labels: str) -> str:
    """Name the reader that an option asks for; empty where none is to read.

    >>> reader("none"), reader("rules")
    ('', 'rules')
    """
    return "" if labels == NONE else labels


COLUMNS = ("label", "category", "tie", "note")


@dataclass(frozen=True, slots=True)
class TaxonomyEntry:
    """One label's category; ``tie`` is the other category it could as well belong to, or None."""

    label: str
    category: str
    tie: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """The map of one source, e.g. ``coco``. Source: paper A, section 3.1 and A.2 (ambiguous labels by majority use,
    ties flagged)."""

    name: str
    entries: Mapping[str, TaxonomyEntry]

    def category(self, label: str) -> str | None:
        """Return the category of a label, or None where no line of the map names it."""
        entry = self.entries.get(_key(label))
        return None if entry is None else entry.category

    @property
    def names(self) -> frozenset[str]:
        """Every label of the map."""
        return frozenset(entry.label for entry in self.entries.values())

    def ties(self) -> tuple[TaxonomyEntry, ...]:
        """The labels that could as well belong to another category, in the order of the file."""
        return tuple(entry for entry in self.entries.values() if entry.tie is not None)

    def unmapped(self, labels: Iterable[str]) -> tuple[Rejection, ...]:
        """Return one rejection (code ``unmapped-label``) for each label without a category, with its count."""
        counts = Counter(label for label in labels if self.category(label) is None)
        return tuple(
            Rejection(
                f"label {label}",
                "unmapped-label",
                f"{count} items labelled {label!r} have no category; add a line to assets/taxonomy/{self.name}.csv",
            )
            for label, count in sorted(counts.items())
        )


def taxonomy_names() -> tuple[str, ...]:
    """Sources that have a map in ``assets/taxonomy``, sorted."""
    return tuple(sorted(path.stem for path in (assets_dir() / "taxonomy").glob("*.csv")))


def load_taxonomy(name: str) -> Taxonomy:
    """Read the map of a source from ``assets/taxonomy``.
    Raises InvalidInput if there is no such map, or the file has a slip."""
    if name not in taxonomy_names():
        raise InvalidInput(f"no taxonomy map is named {name!r}; there are {', '.join(taxonomy_names()) or 'none'}")
    return read_taxonomy(assets_dir() / "taxonomy" / f"{name}.csv")


def read_taxonomy(path: Path) -> Taxonomy:
    """Read a taxonomy map. Raises InvalidInput with file and line, for an unreadable file, another header, an unknown
    category, an empty or a repeated label."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as UTF-8 text ({error}); restore the file") from error
    rows: list[tuple[int, list[str]]] = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            try:
                rows.append((number, [cell.strip() for cell in next(csv.reader([line], strict=True))]))
            except csv.Error as error:
                told = f"{path}, line {number}: {error}"
                raise InvalidInput(f"{told}; a quoted cell must end on its own line") from error
    if not rows or tuple(rows[0][1]) != COLUMNS:
        raise InvalidInput(f"{path} must begin with the header {','.join(COLUMNS)}")
    entries: dict[str, TaxonomyEntry] = {}
    for number, cells in rows[1:]:
        entry = _entry(cells, where=f"{path}, line {number}")
        if _key(entry.label) in entries:
            raise InvalidInput(f"{path}, line {number}: {entry.label!r} is given twice; remove one line")
        entries[_key(entry.label)] = entry
    return Taxonomy(path.stem, MappingProxyType(entries))


def known_category(name: str) -> bool:
    """Whether a word is one of the harmonised or of the extra categories."""
    return name in CATEGORIES or name in EXTRA_CATEGORIES


def _entry(cells: list[str], *, where: str) -> TaxonomyEntry:
    if len(cells) != len(COLUMNS):
        raise InvalidInput(f"{where}: {len(cells)} cells instead of {len(COLUMNS)}; quote a cell that holds a comma")
    label, category, tie, note = cells
    if not label:
        raise InvalidInput(f"{where}: the label is empty; fill it in or remove the line")
    for word in (category, tie):
        if word and not known_category(word):
            told = f"{where}: {word!r} is no category; write one of {', '.join((*CATEGORIES, *EXTRA_CATEGORIES))}"
            raise InvalidInput(told)
    if not category:
        raise InvalidInput(f"{where}: {label!r} has no category; fill it in or remove the line")
    return TaxonomyEntry(label, category, tie or None, note)


def _key(label: str) -> str:
    return " ".join(label.replace("_", " ").split()).casefold()


@dataclass(frozen=True, slots=True)
class Labels:
    """What is known of the labels of one source.
    ``older``: the label of the map for one that an older edition of the source spells otherwise; keys in lower case."""

    taxonomy: Taxonomy  # label -> category
    nouns: Mapping[str, str]  # what a caption calls a label that is no noun as it stands; keys in lower case
    older: Mapping[str, str]

    def noun(self, label: str) -> str:
        """The singular English noun of a label, or the plural of what has no singular.

        >>> load_labels("objects365").noun("Cabinet/shelf"), load_labels("openimages").noun("Bat (Animal)")
        ('cabinet', 'bat')
        """
        label = self._today(label)
        return self.nouns.get(label.strip().casefold()) or plain(label)

    def others(self, label: str) -> tuple[str, ...]:
        """Further names that a label gives behind a stroke, as captions say them; not the one that is its noun.

        >>> load_labels("objects365").others("Handbag/Satchel"), load_labels("objects365").others("Moniter/TV")
        (('satchel',), ('TV',))
        """
        found = (plain(part) for part in label.split("/")[1:] if part.strip())
        return tuple(name for name in dict.fromkeys(found) if name != self.noun(label))

    def category(self, label: str) -> str | None:
        """The category of a label, also where an older or a corrected edition spells it otherwise; None: not known.

        >>> load_labels("openimages").category("Lifejacket"), load_labels("objects365").category("Basket")
        ('sports', 'kitchen')
        """
        return self.category_of_word(self._today(label))

    def ties(self) -> Mapping[str, TaxonomyEntry]:
        """The labels that could as well belong to another category, by their nouns in lower case.

        >>> load_labels("coco").ties()["bench"].tie
        'furniture'
        """
        return {self.noun(entry.label).casefold(): entry for entry in self.taxonomy.ties()}

    def category_of_word(self, word: str) -> str | None:
        """The category of a word that is a label or the noun of one. Names of an older edition do not count: they were
        changed because they mean several things (*bat*, *nail*)."""
        given = {noun.casefold(): label for label, noun in self.nouns.items()}
        return self.taxonomy.category(word) or self.taxonomy.category(given.get(word.strip().casefold(), ""))

    def _today(self, label: str) -> str:
        return self.older.get(label.strip().casefold(), label)


@cache
def load_labels(source: str) -> Labels:
    """Read ``assets/taxonomy/<source>.csv``, and its files in ``nouns/`` and ``older/`` where there are any.
    Raises InvalidInput if a file has a slip."""
    folder = assets_dir() / "taxonomy"
    nouns = _pairs(folder / "nouns" / f"{source}.csv", ("label", "noun"))
    older = _pairs(folder / "older" / f"{source}.csv", ("older", "label"))
    return Labels(load_taxonomy(source), nouns, older)


def tied(corpus: Corpus) -> dict[str, tuple[str, str, int]]:
    """Labels of a corpus that could as well belong to another category. The map is the one that the corpus was read
    with, COCO's where none has its name; an item that has neither of the two categories got its own elsewhere and does
    not count. Returns label -> (category, the other one, items), the most frequent first."""
    asked = corpus.origin.options.get("taxonomy") if corpus.origin else None
    source = next((name for name in (asked, corpus.name) if name in taxonomy_names()), "coco")
    ties = load_labels(str(source)).ties()
    counts = Counter(
        item.label
        for item in corpus.items
        if item.label and (entry := ties.get(item.label.casefold())) and item.category in (entry.category, entry.tie)
    )
    entries = {label: ties[label.casefold()] for label in counts}
    return {label: (entries[label].category, entries[label].tie or "", count) for label, count in counts.most_common()}


def told_ties(corpus: Corpus) -> dict[str, dict[str, str | int]]:
    """What :func:`tied` finds, as a manifest and ``corpora show`` tell it: label -> ``category``, ``or``, ``items``."""
    return {
        label: {"category": category, "or": other, "items": count}
        for label, (category, other, count) in tied(corpus).items()
    }


def tied_in_words(corpus: Corpus) -> str:
    """What :func:`tied` finds as a sentence; empty where there is none."""
    each = [f"{label} ({one} or {two}, n = {count})" for label, (one, two, count) in tied(corpus).items()]
    return f"Of two categories, counted in the first: {'; '.join(each)}." if each else ""


def plain(label: str) -> str:
    """A label's first name, without what stands in brackets, in lower case except for abbreviations."""
    name = " ".join(label.partition("/")[0].partition("(")[0].split()) or " ".join(label.split())
    return " ".join(word if len(word) > 1 and word.isupper() else word.lower() for word in name.split())


def _pairs(path: Path, columns: tuple[str, str]) -> Mapping[str, str]:
    """What a file of two columns says, the first in lower case -> the second; nothing where there is no file."""
    read: dict[str, str] = {}
    cells = csv_cells(path) if path.is_file() else None
    if cells and tuple(cells.header) != columns:
        raise InvalidInput(f"{path} must begin with the header {','.join(columns)}")
    for number, row in cells.rows() if cells else ():
        key, value = map(str.strip, row)
        if not key or not value or key.casefold() in read:
            raise InvalidInput(f"{path.name}, line {number}: a cell is empty or {key!r} stands twice; mend {path}")
        read[key.casefold()] = value
    return MappingProxyType(read)


ENGLISH = "en"

_LANGUAGES = {
    "HIRAGANA": "ja", "KATAKANA": "ja", "HANGUL": "ko", "CJK": "zh", "CYRILLIC": "ru", "GREEK": "el", "ARABIC": "ar",
    "HEBREW": "he", "DEVANAGARI": "hi", "BENGALI": "bn", "TAMIL": "ta", "TELUGU": "te", "THAI": "th", "GEORGIAN": "ka",
    "ARMENIAN": "hy", "GUJARATI": "gu", "KHMER": "km", "LAO": "lo", "MYANMAR": "my", "ETHIOPIC": "am",
}  # fmt: skip
"""First word of a letter's Unicode name -> the language that most captions in its script are in."""

LEAST = 20  # captions below which nothing is said of their language

_FREQUENT = frozenset(("a", "an", "the", "of", "in", "on", "with", "and", "is", "are", "to", "at"))


def stated_language(language: str | None) -> str | None:
    """Check the language that an option states of captions; None where it states none.
    Raises InvalidInput if it is no code."""
    code = None if language is None else language_code(language)
    if language is not None and code is None:
        raise InvalidInput(f"language must be a code such as en or ja, got {language!r}")
    return code


def caption_languages(texts: Sequence[str], stated: str | None, file: str, found: Findings) -> dict[str, str]:
    """The language of each caption of a file that gives none: as stated, else by its script, else English.
    ``file``: what messages call it.
    ``found``: takes a remark where captions are taken for English and hardly read so."""
    languages = [stated] * len(texts) if stated else languages_by_script(texts, ENGLISH)
    known = dict(zip(texts, languages, strict=True))
    taken = [text for text in texts if known[text] == ENGLISH]
    # of human captions of COCO photographs 99 % hold one of English's most frequent words
    english = sum(bool(_FREQUENT & set(text.casefold().split())) for text in taken)
    if not stated and len(taken) >= LEAST and 2 * english < len(taken):
        detail = f"the captions of {file} are taken for English and hardly read so; say theirs with language=…"
        found.remark(Rejection(file, "caption-language", detail))
    return known


def by_language(texts: Iterable[str], languages: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Captions of one item by their language, in their order."""
    made: dict[str, tuple[str, ...]] = {}
    for text in texts:
        made[languages[text]] = (*made.get(languages[text], ()), text)
    return made


def language_by_script(text: str) -> str | None:
    """The language of a text by its letters; None of a text with a Latin letter, or without any that is known.

    >>> language_by_script("テーブルの上に猫がいる"), language_by_script("一只猫"), language_by_script("Ein Hund")
    ('ja', 'zh', None)
    """
    if text.isascii():
        return None
    scripts = {unicodedata.name(sign, "").split(" ")[0].split("-")[0] for sign in text if sign.isalpha()}
    if "LATIN" in scripts:
        return None
    return next((language for script, language in _LANGUAGES.items() if script in scripts), None)


def languages_by_script(texts: Iterable[str], otherwise: str) -> list[str]:
    """The languages of the captions of one file, ``otherwise`` of those that their script does not tell. Chinese
    characters alone are Japanese where a tenth as many captions of the file hold kana."""
    found = [language_by_script(text) for text in texts]
    kana = 10 * found.count("ja") > found.count("zh")
    return [("ja" if kana and each == "zh" else each) or otherwise for each in found]

"""What trainings learn from: English sentences with their translations for MCS, pairs with positives for PAC-S.

Sentences are of a corpus or of the user's own file.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.corpora.corpus_files import csv_records, inside, jsonl_records
from core.corpora.images import read_image
from core.corpora.schema import Corpus
from core.errors import BadCorpus, BadImage, InvalidInput
from core.seeds import stream

ENGLISH = "en"
SOURCE = "source"  # column of a file that says which sentences belong together, such as the captions of one picture
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


@dataclass(frozen=True, slots=True)
class Sentence:
    """An English sentence and what it is in other languages."""

    source: str  # what it belongs to: the picture that it describes, or its own line. Held out as a whole.
    english: str
    texts: Mapping[str, str]  # its translations by language, English aside; at least one


@dataclass(frozen=True, slots=True)
class Lesson:
    """A text whose embedding shall become that of an English sentence; English itself is one too."""

    source: str
    english: str
    language: str
    text: str


def of_corpus(corpus: Corpus, languages: Sequence[str] = ()) -> tuple[tuple[Sentence, ...], dict[str, int]]:
    """Take the captions of a corpus: the first in German translates the first in English, and so on; no languages: all
    there are. Returns the sentences, and how many English captions were left out, by reason: ``blank-caption``,
    ``no-translation`` and ``captions-not-paired``, where an item has as many captions in no other language. Raises
    InvalidInput if no caption has a translation."""
    found, left_out = list[Sentence](), Counter[str]()
    for item in corpus.items:
        english = item.captions.get(ENGLISH, ())
        others = {name: texts for name, texts in item.captions.items() if _wanted(name, languages)}
        paired = {name: texts for name, texts in others.items() if len(texts) == len(english)}
        for rank, text in enumerate(english):
            here = {name: texts[rank] for name, texts in paired.items() if texts[rank].strip()}
            if not text.strip():
                left_out["blank-caption"] += 1
            elif here:
                found.append(Sentence(item.id, text, here))
            else:
                left_out["captions-not-paired" if others and not paired else "no-translation"] += 1
    if not found:
        raise InvalidInput(
            f"no English caption of {corpus.name} has a translation{_into(languages)}; choose a corpus in several "
            "languages (demo, multi30k, folder) or bring a file of sentences"
        )
    return tuple(found), dict(left_out)


def of_file(path: Path, languages: Sequence[str] = ()) -> tuple[tuple[Sentence, ...], dict[str, int]]:
    """Read a table with a column a language: CSV, or JSON Lines with the same keys.

    ``en`` and at least one other language; ``source``, where there is one, says which sentences belong together. An
    empty cell is no translation. Returns the sentences, and how many rows were left out, by reason: ``blank-caption``
    (no English), ``no-translation``. Raises BadCorpus if the file cannot be read, lacks a column, or has one that is no
    language; InvalidInput if no sentence has a translation.
    """
    found, left_out = list[Sentence](), Counter[str]()
    for number, (_, cells) in enumerate(rows_of(path, _check, fold=False)):  # pt-BR
        texts = {name: text for name, text in cells.items() if _wanted(name, languages) and name != SOURCE and text}
        if not cells.get(ENGLISH):
            left_out["blank-caption"] += 1
        elif not texts:
            left_out["no-translation"] += 1
        else:
            found.append(Sentence(cells.get(SOURCE) or f"line {number}", cells[ENGLISH], texts))
    if not found:
        raise InvalidInput(f"no English sentence of {path} has a translation{_into(languages)}")
    return tuple(found), dict(left_out)


def split(
    found: Sequence[Sentence], *, held_out: float, seed: int
) -> tuple[tuple[Sentence, ...], tuple[Sentence, ...]]:
    """Part sentences by source into those for training and a share held out; at least two sources are held out and one
    stays. Raises InvalidInput for a share outside (0, 1), or with fewer than three sources."""
    if not 0 < held_out < 1:
        raise InvalidInput(f"the share of held-out sentences must lie between 0 and 1, got {held_out!r}")
    sources = list(dict.fromkeys(each.source for each in found))
    if len(sources) < 3:
        raise InvalidInput(f"training needs sentences of at least 3 sources, got {len(sources)}")
    count = min(max(2, round(held_out * len(sources))), len(sources) - 1)
    apart = {sources[index] for index in stream(seed, "held-out").permutation(len(sources))[:count]}
    return tuple(each for each in found if each.source not in apart), tuple(e for e in found if e.source in apart)


def lessons(found: Sequence[Sentence]) -> tuple[Lesson, ...]:
    """Every text of the sentences, the English ones included, in their order."""
    return tuple(
        Lesson(each.source, each.english, language, text)
        for each in found
        for language, text in {ENGLISH: each.english, **each.texts}.items()
    )


def batches(found: Sequence[Lesson], *, size: int, seed: int, epoch: int) -> list[list[Lesson]]:
    """Shuffle an epoch's lessons into batches; the last may be smaller."""
    order = stream(seed, "batches", str(epoch)).permutation(len(found)).tolist()
    return [[found[index] for index in order[start : start + size]] for start in range(0, len(found), size)]


def rows_of(
    path: Path, check: Callable[[Path, Sequence[str]], None], *, fold: bool = True
) -> Iterator[tuple[str, dict[str, str]]]:
    """Read a table of texts, CSV or JSON Lines: where each row stands, and its texts by column, without blanks around.

    ``check`` raises where the columns will not do; ``fold``: capitals in the names of a CSV's columns are made small.
    Raises BadCorpus if the file cannot be read, or a cell is no text; a cell that is null is not there.
    """
    lines = path.suffix.lower() in (".jsonl", ".ndjson")
    for where, row in jsonl_records(path) if lines else csv_records(path, check, fold=fold):
        if lines:
            check(Path(where), [str(name) for name in row])
        yield where, {str(name): _text(where, str(name), value) for name, value in row.items() if value is not None}


def _check(path: Path, columns: Sequence[str]) -> None:
    foreign = [name for name in columns if name != SOURCE and not _LANGUAGE.fullmatch(name)]
    if foreign:
        raise BadCorpus(
            f"{path}: {foreign[0]!r:.60} is no language such as en, de, ja, nor {SOURCE!r}; rename the column"
        )
    if ENGLISH not in columns or not any(name not in (ENGLISH, SOURCE) for name in columns):
        raise BadCorpus(
            f"{path} needs a column {ENGLISH!r} and one of another language, got {', '.join(columns) or 'none'}"
        )


def _text(where: str, name: str, value: object) -> str:
    if not isinstance(value, str):
        raise BadCorpus(f"{where}: {name} must be a text, got {type(value).__name__}")
    return value.strip()


def _wanted(language: str, languages: Sequence[str]) -> bool:
    return language != ENGLISH and (not languages or language in languages)


def _into(languages: Sequence[str]) -> str:
    return f" into {', '.join(languages)}" if languages else ""


# What PAC-S is trained on: pairs that people made, each with a generated picture and a generated caption.
#
# The user generates them; how is no business of the training. Paper C takes Stable Diffusion and BLIP.
COLUMNS = ("image", "caption", "generated_image", "generated_caption")
"""v, t, v′, t′ of a row: pictures as paths beside the table, v′ made from t, t′ made from v. Source: paper C, 3.2."""
TABLES = ("positives.csv", "positives.jsonl")  # what the table is called in a folder


@dataclass(frozen=True, slots=True)
class Augmented:
    """A pair with its positives."""

    image: str  # path of the picture as the table has it: pairs of one picture are held out together
    caption: str  # that people wrote
    made_image: str  # made_image, made_caption: what was generated
    made_caption: str
    folder: Path  # that both paths start from

    @property
    def pictures(self) -> tuple[Path, Path]:
        """Files of both pictures."""
        return self.folder / self.image, self.folder / self.made_image


def read_positives(path: Path) -> tuple[tuple[Augmented, ...], dict[str, int]]:
    """Read a table of COLUMNS, CSV or JSON Lines, or the one of TABLES that a folder holds. Raises BadCorpus if there
    is no table, it cannot be read, or lacks a column; InvalidInput if a path leaves the folder, or no row is whole.
    Returns the pairs in their order, and how many rows were left out, by reason: ``blank-caption`` (by people),
    ``no-positive`` (no generated picture or caption named), ``missing-picture`` (a file that is not there)."""
    table = next((path / name for name in TABLES if (path / name).is_file()), None) if path.is_dir() else path
    if table is None:
        raise BadCorpus(f"{path} holds no {' or '.join(TABLES)}; give a table with the columns {', '.join(COLUMNS)}")
    found, left_out = list[Augmented](), Counter[str]()
    for _, row in rows_of(table, _check_columns):
        image, caption, made_image, made_caption = (row.get(name, "") for name in COLUMNS)
        if not caption:
            left_out["blank-caption"] += 1
        elif not (made_image and made_caption):
            left_out["no-positive"] += 1
        elif image and all(inside(table.parent, name).is_file() for name in (image, made_image)):
            found.append(Augmented(image, caption, made_image, made_caption, table.parent))
        else:
            left_out["missing-picture"] += 1
    _refuse_nothing(found, left_out, table)
    return tuple(found), dict(left_out)


def readable(
    found: Sequence[Augmented], report: Callable[[int, int], None] | None = None
) -> tuple[tuple[Augmented, ...], dict[str, int], Mapping[Path, str]]:
    """Decode every picture once, so that no step of a training meets one that is broken: the pairs whose pictures can
    be read; how many were left out, as ``unreadable-image``; sha256 of each file. Raises InvalidInput if no pair is
    left."""
    hashes, broken = dict[Path, str](), dict[Path, str]()
    paths = list(dict.fromkeys(path for each in found for path in each.pictures))
    for done, path in enumerate(paths, 1):
        try:
            hashes[path] = read_image(path).bytes_sha256
        except BadImage as error:
            broken[path] = str(error)
        if report is not None:
            report(done, len(paths))
    kept = tuple(each for each in found if broken.keys().isdisjoint(each.pictures))
    left_out = {"unreadable-image": len(found) - len(kept)} if broken else {}
    _refuse_nothing(kept, left_out, next(iter(broken.values()), ""))
    return kept, left_out, hashes


def _refuse_nothing(found: Sequence[Augmented], left_out: Mapping[str, int], where: object) -> None:
    if not found:
        told = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items()) or "no rows"
        raise InvalidInput(
            f"no pair is left to learn from ({told}; {where}); a row needs a picture and a caption by people, and a "
            "generated one of each"
        )


def _check_columns(path: Path, columns: Sequence[str]) -> None:
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        raise BadCorpus(f"{path} has no column {missing[0]!r}; it needs {', '.join(COLUMNS)}")

"""Files of scores that were made elsewhere: which column is the score, and whose score each is.

The score is the column ``score`` or ``similarity``, or the only one of numbers, or the one that the reader names. Whose
it is says the column ``id``, or the image's name and the caption, where these are one pair's alone. Layouts:
:mod:`core.corpora.score_layouts`.

Names of pairs that are scored elsewhere, and the files that carry them there.

The text that FLEUR's scripts write: an image, a caption, and two scores, of which only the names stand before each.

::

    image file : Flickr8k_Dataset/1.jpg
    caption : A dog runs .
    model score : 0.85
    our score : 0.7841796875

``model`` is the number that the model wrote, ``our`` the smoothed one. A caption after which a score is missing has
none here; the scripts' own means repeat the score of the caption before it. Several of these files may stand in one, as
``cat`` leaves them. Source: Yebin46/FLEUR, results/ and fleur_pascal.py.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath
from typing import TextIO

from core.corpora.corpus_files import key as named_key
from core.corpora.corpus_files import shown
from core.corpora.ordinary_paths import ordinary
from core.corpora.score_layouts import (
    ID,
    MOST_BYTES,
    MOST_JSON_BYTES,
    SCORE,
    Table,
    cell_value,
    is_held_whole,
    is_number,
    open_table,
)
from core.corpora.suites.model import spaced
from core.errors import InvalidInput
from core.file_contents import file_sha256

MOST_SCORES = 20_000_000
_IDS = (ID, "doc.id", "image_id")
_SCORES = (SCORE, "similarity")
_IMAGES = ("image", "image_path", "file_name", "filename", "file", "path", "url", "image_url", "doc.image")
_CAPTIONS = ("caption", "text", "candidate", "prediction", "doc.caption")
_COUNTED = frozenset(("doc_id", "epoch", "key", "width", "height", "original_width", "original_height"))
"""Numbers that stand beside scores in these layouts and are none."""

Pairs = Callable[[], Mapping[tuple[str, str], str | None]]
"""Ids by name of the image, without folder and ending, and caption; None where several pairs have these."""


@dataclass(frozen=True, slots=True)
class ScoreFile:
    """Scores by id."""

    name: str  # of the file, without its folder
    sha256: str
    column: str  # that the scores stand in; empty where they have no name
    scores: Mapping[str, float]  # finite, or NaN where the file names the id and gives no finite number
    reasons: Mapping[str, str] = field(default_factory=dict)  # why there is none, where the file says so

    @property
    def told(self) -> str:
        """The file in words: its name and the first digits of its hash."""
        return f"{self.name} (sha256 {self.sha256[:12]}…)"

    def of(self, key: str) -> tuple[float, str | None]:
        """Score of a pair by its id and, where there is none, why: (NaN, reason)."""
        score = self.scores.get(key)
        if score is None:
            return math.nan, f"not in {self.name}"
        if math.isfinite(score):
            return score, None
        return math.nan, self.reasons.get(key) or f"{self.name} gives no number"

    def check_ids(self, known: Callable[[str], bool], where: str) -> None:
        """Refuse ids that are not among the pairs that were given out.
        Raises InvalidInput saying how many, and the first ones."""
        strange = [each for each in self.scores if not known(each)]
        if strange:
            first = ", ".join(shown(each) for each in strange[:3])
            raise InvalidInput(
                f"{self.name}: {len(strange):,} of {len(self.scores):,} ids are no pair of {where}, such as {first}; "
                "give scores of these pairs and of nothing else"
            )

    def check_range(self, low: float, high: float | None) -> None:
        """Refuse scores outside a range. Raises InvalidInput naming the first one."""
        top = math.inf if high is None else high
        for key, score in self.scores.items():
            if not (math.isnan(score) or low <= score <= top):
                within = f"the range {low:g} to {'no bound' if high is None else format(high, 'g')}"
                told = f"the score {score:g} of {key!r} lies outside {within}"
                raise InvalidInput(f"{self.name}: {told}; correct the range or the column")


def read_scores(path: Path, *, column: str = "", pairs: Pairs | None = None) -> ScoreFile:
    """Read a file of scores; its layout is told by its ending and content.
    ``column``: of the scores; empty: ``score``, or the only one of numbers.
    ``pairs``: asked for ids by image and caption, where the file has no ids; None: it must have them.
    Raises InvalidInput if it cannot be read, is too large, names an id twice, or holds something else than numbers; the
    sentence says where."""
    digest = _hashed(path, MOST_JSON_BYTES if is_held_whole(path) else MOST_BYTES)
    scores: dict[str, float] = {}
    try:
        table = open_table(path)
        spelled = {name.casefold(): name for name in table.names}
        if len(spelled) < len(table.names):
            told = ", ".join(table.names)[:200]
            raise InvalidInput(f"{path}: its columns are {told}; name each once, capitals aside")
        keys = _key_columns(path, table, spelled, by_pair=pairs is not None)
        name = _score_column(path, table, spelled, column)
        for where, key, value in _keyed(table, keys, name, pairs):
            if not key:
                raise InvalidInput(f"{where}: the id must be a text or a whole number, got {shown(key)}")
            if key in scores:
                raise InvalidInput(f"{where}: the id {shown(key)} was there before; keep one")
            scores[key] = _number(value, where, key)
            if len(scores) > MOST_SCORES:
                raise InvalidInput(f"{path} holds more than {MOST_SCORES:,} scores; import it in parts")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); save it so") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}; check the file") from error
    if not any(math.isfinite(score) for score in scores.values()):
        raise InvalidInput(f"{path} gives no number for any of its {len(scores):,} ids; check its column of scores")
    return ScoreFile(path.name, digest, name, scores)


def _score_column(path: Path, table: Table, spelled: Mapping[str, str], asked: str) -> str:
    others = [name for name in table.names if name.casefold() not in (*_IDS, *_IMAGES, *_CAPTIONS)]
    if asked:
        found = asked if asked in others else spelled.get(asked.casefold(), "")
        if found not in others:
            told = f"{path} has no column {asked!r}; name one of {', '.join(others)[:200] or 'none'} with --column"
            raise InvalidInput(told)
        return found
    if usual := next((spelled[name] for name in _SCORES if spelled.get(name) in others), ""):
        return usual
    numbers = [name for name in others if name in table.numbers and name.casefold() not in _COUNTED]
    candidates = numbers or others
    if len(candidates) != 1:
        listed = ", ".join(candidates)[:200] or "none"
        raise InvalidInput(f"{path} does not say which column is the score; name one of {listed} with --column")
    return candidates[0]


def _key_columns(path: Path, table: Table, spelled: Mapping[str, str], *, by_pair: bool) -> list[str]:
    own, image, caption = (
        next((spelled[name] for name in names if name in spelled), None) for names in (_IDS, _IMAGES, _CAPTIONS)
    )
    if own is not None:
        return [own]
    if image is None or caption is None or not by_pair:
        beside = ", or two must be image and caption" if by_pair else ""
        listed = ", ".join(table.names)[:200] or "none"
        raise InvalidInput(f"{path}: its columns are {listed}; one must be {ID!r}{beside}, each once")
    return [image, caption]


def _keyed(table: Table, keys: Sequence[str], score: str, pairs: Pairs | None) -> Iterator[tuple[str, str, object]]:
    """Where each row stands, its id and its score, still unchecked."""
    known = pairs() if pairs is not None and len(keys) == 2 else {}
    for where, (*named, value) in table.rows([*keys, score]):
        if len(named) == 1:
            own = named_key(named[0])
        else:
            image, caption = named
            pair = PureWindowsPath(str(image).partition("?")[0]).stem, str(caption)
            own = known.get(pair)
            if own is None:
                why = "are several pairs; give ids" if pair in known else "are no pair that was given out"
                raise InvalidInput(f"{where}: the image {shown(image)} and the caption {shown(caption)} {why}")
        yield where, own or "", cell_value(value, comma=table.comma) if isinstance(value, str) else value


def _number(value: object, where: str, key: str) -> float:
    if value is None:
        return math.nan
    if not is_number(value):
        raise InvalidInput(
            f"{where}: the score of {shown(key)} is no number, got {shown(value)}; leave it empty where there is none"
        )
    try:
        number = float(value)  # type: ignore[arg-type]  # it is a number
    except OverflowError:
        number = math.inf
    return number if math.isfinite(number) else math.nan


def _hashed(path: Path, most: int) -> str:
    try:
        size = ordinary(path).stat().st_size
        if size > most:
            raise InvalidInput(f"{path} has {size:,} bytes and at most {most:,} are taken; import it in parts")
        return file_sha256(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}; give a file of scores") from error


PAIRS, CANDIDATES, REFERENCES = "pairs.jsonl", "candidates.json", "references.json"
"""CaptionEvalKit's lines, clipscore's captions, clipscore's references."""

DIGITS = 31  # hexadecimal digits of an id: 124 bits, so that two pairs of any corpus differ in them


@dataclass(frozen=True, slots=True)
class GivenPair:
    """One pair that is given out.
    ``id``: of :func:`pair_id`. ``references``: captions by people that it may be compared with, in its language."""

    id: str
    image: str
    caption: str
    language: str
    references: tuple[str, ...] = ()

    def line(self) -> str:
        """The pair as a line of ``pairs.jsonl``, without its end."""
        record = {"id": self.id, "image": self.image, "caption": self.caption, "language": self.language}
        return _json(record | ({"references": self.references} if self.references else {}))


def pair_id(image: str, caption: str, language: str, references: Iterable[str]) -> str:
    """Name of a pair, made of all that may decide its score: the same pair has the same name in every export.

    It begins with a letter, so that no spreadsheet takes it for a number.
    ``image``: what names the image's content.

    >>> pair_id("0" * 64, "A cat.", "en", ())
    'pe192488cdf65ed2dbba17ca3361e39f'
    """
    text = _json([image, caption, language, list(references)])
    return "p" + hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:DIGITS]


def write_lines(path: Path, pairs: Iterable[GivenPair]) -> None:
    """Write CaptionEvalKit's ``predictions.jsonl``: a line a pair, with its references where there are any."""
    with _open(path) as file:
        for pair in pairs:
            file.write(f"{pair.line()}\n")


def write_candidates(path: Path, pairs: Iterable[GivenPair]) -> None:
    """Write clipscore's ``{id: caption}``."""
    _write_object(path, ((pair.id, pair.caption) for pair in pairs))


def write_references(path: Path, pairs: Iterable[GivenPair]) -> None:
    """Write clipscore's ``{id: [references]}``; a pair without any is left out."""
    _write_object(path, ((pair.id, pair.references) for pair in pairs if pair.references))


def _write_object(path: Path, entries: Iterable[tuple[str, object]]) -> None:
    with _open(path) as file:  # entry by entry: there may be millions
        file.write("{")
        for place, (key, value) in enumerate(entries):
            file.write(f"{',' if place else ''}\n{_json(key)}: {_json(value)}")
        file.write("\n}\n")


def _open(path: Path) -> TextIO:
    """Half a surrogate pair, which is no text, is written as the escape that JSON has for it."""
    return path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


_MOST_TEXT = 256 << 20  # bytes of FLEUR's text
_OF_TEXT = ("our", "model")

_CAPTION = re.compile(r"(caption) : (.*)$")
_LINE = re.compile(r"(image file|model score|our score) : (.*)$")


@dataclass(frozen=True, slots=True)
class TextScores:
    """Scores by image and caption."""

    name: str  # of the file, without its folder
    sha256: str
    column: str  # ``our`` or ``model``
    scores: Mapping[tuple[str, str], float]  # finite ones
    several: int  # captions that stand there more than once with different scores: the first one counts

    @property
    def told(self) -> str:
        """The file in words: its name, the first digits of its hash, which of its scores, and what it repeats."""
        more = f"; {self.several} captions stand there with several scores, the first counts" if self.several else ""
        return f"{self.name} (sha256 {self.sha256[:12]}…, {self.column} score{more})"


def read_text_scores(path: Path, *, column: str = "") -> TextScores:
    """Read FLEUR's text.
    Raises InvalidInput if it cannot be read, is too large, holds no such score, or the column is none of the two."""
    wanted = column or _OF_TEXT[0]
    if wanted not in _OF_TEXT:
        raise InvalidInput(f"{path} holds {' and '.join(_OF_TEXT)} scores, got --column {column!r}; name one of them")
    try:
        if path.stat().st_size > _MOST_TEXT:
            raise InvalidInput(f"{path} is larger than {_MOST_TEXT >> 20} MB; give it in parts")
        held = path.read_bytes()
        text = held.decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}; give a file of scores") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); save it so") from error
    scores, several = dict[tuple[str, str], float](), set[tuple[str, str]]()
    for key, score in _entries(path, text, wanted):
        if scores.setdefault(key, score) != score:
            several.add(key)
    if not scores:
        raise InvalidInput(f"{path} holds no {wanted} score; .txt is read as what FLEUR's scripts write")
    return TextScores(path.name, hashlib.sha256(held).hexdigest(), wanted, scores, len(several))


def _entries(path: Path, text: str, wanted: str) -> Iterator[tuple[tuple[str, str], float]]:
    """Image and caption, and the score wanted."""
    image, caption = "", ""
    for number, line in enumerate(text.splitlines(), start=1):
        # the last line of a file has no end: after `cat` the next file's first one goes on where it stands
        found = _CAPTION.match(line) or _LINE.search(line)
        if found is None:
            continue
        name, value = found.groups()
        if name == "image file":
            image, caption = value.strip(), ""
        elif name == "caption":
            caption = spaced(value)
        elif name.startswith(wanted) and image and caption:
            try:
                score = float(value)
            except ValueError:
                score = math.nan
            if not math.isfinite(score):
                raise InvalidInput(f"{path}, line {number}: the score must be a number, got {value[:40]!r}")
            yield (image, caption), score

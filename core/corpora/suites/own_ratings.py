"""A suite of one's own: a row a caption and rater, a column a rated dimension, in CSV, TSV or JSON Lines.

Columns: ``image``, ``caption`` and ``rating``, or ``rating_NAME`` for each of any number of dimensions
(``rating_relevance``); where there are any ``rater``, ``group``, ``language``, ``references`` (a list; ``|`` between
them in a table) and ``suite``, the name, which is else that of the file.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.corpora.corpus_files import Record
from core.corpora.folder_tables import language_code
from core.corpora.suites.image_suites import Judged, never_itself, number
from core.corpora.suites.model import ENGLISH, PUBLISHED, TAU_C, Decision, Rated, Suite, spaced
from core.corpora.table_cells import listed_texts
from core.errors import BadCorpus
from core.yes_no import says_nothing

_RATING = "rating"
_KNOWN = ("image", "caption", "rater", "group", "language", "references", "suite")
MOST_NAME = 60
"""Characters of the longest name of a suite, a rater or a dimension."""


def is_own(columns: Iterable[str]) -> bool:
    """Whether columns, in small letters, are those of a suite of one's own."""
    names = set(columns)
    return {"image", "caption"} <= names and any(_dimension(each) is not None for each in names)


def own_ratings(path: Path, records: Sequence[Record]) -> Suite:
    """Read the ratings; one that is empty or no number is left out alone.
    Raises BadCorpus if the rows give several names, a published suite's name, or no rating."""
    found, names, unread = Judged(), dict[str, None](), dict[str, None]()
    for where, record in records:
        cells = {" ".join(str(key).casefold().split()): value for key, value in record.items()}
        names[_text(cells.get("suite")) or path.stem] = None
        rated = {key: told for key in cells if (told := _dimension(key)) is not None}
        unread |= dict.fromkeys(key for key in cells if key not in rated and key not in _KNOWN)
        _add(found, cells, rated, f"{path.parent / where}")
    if not found.rated:
        raise BadCorpus(f"{path} holds no row with image, caption and a rating that is a number; fill one in")
    decisions = [never_itself(found.own, "ratings")]
    if unread:
        told = ", ".join(unread)[:200]
        decisions.append(Decision("unread", "further columns", f"not read: {told}", len(unread), "columns"))
    return Suite(own_name(path, tuple(names)), TAU_C, tuple(found.rated), (), found.left_out, tuple(decisions))


def _add(found: Judged, cells: Mapping[str, Any], rated: Mapping[str, str], where: str) -> None:
    image, caption, rater, group, language = (
        "" if says_nothing(cells.get(name)) else _text(cells.get(name)) for name in _KNOWN[:5]
    )
    code = language_code(language) if language else ENGLISH
    if code is None:
        raise BadCorpus(f"{where}: language must be a code such as en or de, got {language[:40]!r}; write it so")
    references = tuple(text for each in listed_texts(cells.get("references")) if (text := spaced(each)))
    for column, dimension in rated.items():
        rating = number(cells[column])
        if rating is None or not image or not caption:
            found.left_out += 1
            continue
        found.add(Rated(image, spaced(caption), rating, group, code, (), rater[:MOST_NAME], dimension), references)


def _dimension(column: str) -> str | None:
    """What a column rates; empty where it does not say; None where it rates nothing."""
    name = " ".join(column.casefold().split())
    if name == _RATING:
        return ""
    told = name.removeprefix(f"{_RATING}_").replace("_", " ").strip()
    return told[:MOST_NAME] if name.startswith(f"{_RATING}_") and told else None


def own_name(path: Path, names: Sequence[str]) -> str:
    """The name that the rows of a suite of one's own give it.
    Raises BadCorpus if they give several, or that of a published suite."""
    if len(names) > 1:
        raise BadCorpus(f"{path} names {len(names)} suites, {names[0][:60]!r} and {names[1][:60]!r}; give one a file")
    name = spaced(names[0])[:MOST_NAME]
    if name.casefold() in {each.casefold() for each in PUBLISHED}:
        raise BadCorpus(f"{path}: {name!r} is the name of a published suite; call your own otherwise, in column suite")
    return name


def _text(value: object) -> str:
    return spaced(str(value)) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""

"""Selfchecks as they are kept: one JSON file for each set of items, and the line of it in a report's methods."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import core
from core.analysis.table import ScoreTable
from core.corpora.corpus_files import parse_json, read_text
from core.corpora.versioned_files import first_wrong
from core.errors import InvalidInput
from core.features.selfcheck.detection import MOST_REPEATS, Selfcheck, Tried
from core.features.selfcheck.planted import Planting
from core.features.selfcheck.planted_audit import items_of
from core.settings import data_dir, results_dir
from core.store.text_files import write_text

FOLDER = "selfchecks"
"""Beside the runs: of the user's own data, and of the results that ship."""

Text = Annotated[str, Field(min_length=1, max_length=300)]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, lt=1)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    looks_at: Literal["picture", "length", "negation"]
    fall: Share
    noise: Share
    family: Text
    finding: Text
    due: bool
    found: Annotated[str, Field(pattern="^[01]+$", max_length=MOST_REPEATS)]
    note: Annotated[str, Field(max_length=300)]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    invariscope: Text
    corpus: Text
    digest: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
    items: Count
    sources: Count
    tests: Count
    seed: int
    compared: Count
    apart: Count
    lines: Annotated[tuple[_Line, ...], Field(min_length=1, max_length=100)]


_ABOUT = ("corpus", "digest", "items", "sources", "tests", "seed", "compared", "apart")


def digest_of(items: Iterable[tuple[str, str, str]]) -> str:
    """Sixteen hexadecimal digits of items and their sources, in any order."""
    text = "\n".join("\x1f".join(each) for each in sorted(items))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_selfcheck(check: Selfcheck, folder: Path | None = None) -> Path:
    """Keep a selfcheck; an earlier one of the same items is replaced. Raises StoreError if it cannot be written."""
    about = {name: getattr(check, name) for name in _ABOUT}
    kept = _File(invariscope=core.__version__, **about, lines=tuple(_line(each) for each in check.tried))
    path = (folder or data_dir() / FOLDER) / f"{check.digest}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, kept.model_dump_json(indent=1) + "\n")
    return path


def _line(tried: Tried) -> _Line:
    planting = tried.planting
    return _Line(
        **{name: getattr(planting, name) for name in ("looks_at", "fall", "noise")},
        **{name: getattr(tried, name) for name in ("family", "finding", "due", "note")},
        found="".join("01"[found] for found in tried.found),
    )


def read_selfcheck(path: Path) -> Selfcheck:
    """Read what :func:`write_selfcheck` wrote; raises InvalidInput if it is no such file."""
    try:
        file = _File.model_validate(parse_json(read_text(path), where=path.name))
    except ValidationError as error:
        raise InvalidInput(f"{path} is no selfcheck: {first_wrong(error)}; delete it and run it again") from error
    if len({len(line.found) for line in file.lines}) > 1:
        raise InvalidInput(f"{path} is no selfcheck: its lines have other numbers of repeats; run it again")
    tried = tuple(
        Tried(
            Planting(line.looks_at, line.fall, line.noise),
            line.family,
            line.finding,
            line.due,
            tuple(each == "1" for each in line.found),
            line.note,
        )
        for line in file.lines
    )
    about = {name: getattr(file, name) for name in _ABOUT}
    return Selfcheck(**about, tried=tried)


def kept_selfchecks() -> tuple[tuple[Selfcheck, ...], tuple[str, ...]]:
    """Every selfcheck that is kept, one's own first, by corpus; and a sentence for each file that is none."""
    found, troubles = dict[str, Selfcheck](), list[str]()
    for folder in (data_dir() / FOLDER, results_dir() / FOLDER):
        for path in sorted(folder.glob("*.json")):
            try:
                check = read_selfcheck(path)
            except InvalidInput as error:
                troubles.append(str(error))
                continue
            found.setdefault(check.digest, check)
    return tuple(sorted(found.values(), key=lambda each: (each.corpus, -each.items))), tuple(troubles)


def of_table(table: ScoreTable) -> Selfcheck | None:
    """The selfcheck of the items of a table, of the corpus in view; None where none is kept."""
    digest = digest_of(items_of(table.only(table.scope.corpus)))
    return next((each for each in kept_selfchecks()[0] if each.digest == digest), None)


def methods_line(table: ScoreTable) -> str:
    """The line in the methods of a report on these scores."""
    check = of_table(table)
    if check is not None:
        return check.sentence()
    return (
        "What this tool would have found at this n is not known: selfcheck was not run for these items; "
        f"`python -m core selfcheck --run {table.scope.run}` does it."
    )

"""Suites of ratings, one a row: Polaris, Nebula, LongCap-Arena, Composite as CaptionEvalKit reads it, and THumB.

- ``polaris_test.csv``, ``nebula_test.csv``, ``en_test_composite_da2.csv``, ``desc_dci_val.csv`` and the other five of
  LongCap-Arena: columns mt or cand, refs (a Python list as text), score or human_score, and imgid, image, image_path or
  file_name; and the lines ``{"id", "image", "caption", "references", "score"}`` that CaptionEvalKit keeps of them.
  Nothing in the columns tells these suites apart, so the file's name does.
- ``mscoco_THumB-1.0.jsonl``: ``{"SYS", "hyp", "image", "P", "R", "human_score"}``; it names no references.

Sources: CaptionEvalKit 0.1.3, benchmarks/legacy.py and the τ_c that its table of expected values gives for Polaris and
Nebula; keio-smilab24/Polos, validate/dataset.py; jungokasai/THumB, mscoco/.
"""

import ast
import re
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from core.corpora.records import Record
from core.corpora.suites.comparisons import never_itself
from core.corpora.suites.entries import number
from core.corpora.suites.model import TAU_C, Rated, Suite, spaced, texts
from core.corpora.suites.ratings import Judged
from core.errors import BadCorpus

THUMB = "THumB"

_NAMED = {"polaris": "Polaris", "nebula": "Nebula", "composite": "Composite", "longcap": "LongCap-Arena",
          "_dci_": "LongCap-Arena"}  # fmt: skip
"""A part of a file's name -> the suite."""

_CAPTION, _RATING = ("mt", "cand", "hyp", "caption"), ("human_score", "score")
_IMAGE, _REFERENCES = ("imgid", "image", "image_path", "file_name"), ("refs", "references")
_ASPECT = re.compile(r"desc|rel|flu")
_GLUED = re.compile(r"""['"]\s+['"]""")


def is_rows(columns: Iterable[str]) -> bool:
    """Whether columns, in small letters, are those of a row a rating; ``language`` is M-CapEval1k's alone."""
    names = set(columns)
    kept = {"id", "image", "caption", "references", "score"} <= names and "language" not in names
    return (kept or bool(names & {"mt", "cand", "hyp"})) and bool(names & set(_RATING))


def rows(path: Path, records: Sequence[Record]) -> Suite:
    """The ratings of a file of rows.

    Raises:
        BadCorpus: if the file's name does not tell the suite, or references are no list.
    """
    found, name = Judged(), ""
    for where, record in records:
        cells = {str(key).casefold(): value for key, value in record.items()}
        name = name or _suite(path, cells)
        image, caption = (_first(cells, names) for names in (_IMAGE, _CAPTION))
        rating = number(_first(cells, _RATING))
        if rating is None or not isinstance(caption, str) or not caption.strip() or image in (None, ""):
            found.left_out += 1
            continue
        references = _listed(_first(cells, _REFERENCES), f"{path.parent / where}")
        found.add(Rated(str(image).strip(), spaced(caption), rating, str(cells.get("sys") or "")), references)
    return Suite(name, TAU_C, tuple(found.rated), (), found.left_out, (never_itself(found.own, "ratings"),))


def _suite(path: Path, cells: Mapping[str, Any]) -> str:
    if {"hyp", "sys"} <= cells.keys():
        return THUMB
    stem = path.stem.casefold()
    name = next((suite for part, suite in _NAMED.items() if part in stem), "")
    aspect = _ASPECT.search(stem)
    if not name or (name == "LongCap-Arena" and aspect is None):
        raise BadCorpus(
            f"{path} has the columns that Polaris, Nebula, Composite and LongCap-Arena share, and its name says none; "
            "call it e.g. polaris_test.csv, nebula_test.csv or desc_dci_val.csv (desc, rel or flu)"
        )
    return f"{name}-{aspect.group()}" if name == "LongCap-Arena" and aspect else name


def _strings(text: str) -> int:
    return sum(token.type == tokenize.STRING for token in tokenize.generate_tokens(StringIO(text).readline))


def _first(cells: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The first of several columns that holds something."""
    return next((cells[name] for name in names if cells.get(name) not in (None, "")), None)


def _listed(value: object, where: str) -> tuple[str, ...]:
    """References: a list, or the text of a Python list; none where the cell is empty."""
    if value is None or isinstance(value, list):
        return texts(value)
    text = str(value)
    try:
        held = ast.literal_eval(text)
        # two texts without a comma, as NumPy prints them, are read as one
        if _GLUED.search(text) and isinstance(held, list) and len(held) != _strings(text):
            held = None
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        held = None
    if not isinstance(held, list) or not all(isinstance(each, str) for each in held):
        raise BadCorpus(f"{where}: references must be a list such as ['a dog', 'a hound'], got {text[:60]!r}")
    return texts(held)

"""A suite's file becomes a suite: its layout is told by its name and what it has.

- Flickr8k-Expert and -CF, clipscore's layout: ``{key: {"image_path", "human_judgement": [{"image_path", "caption",
  "rating"}], "ground_truth"}}``; and the raw ``ExpertAnnotations.txt`` or ``CrowdFlowerAnnotations.txt`` beside
  ``Flickr8k.token.txt``.
- Pascal-50S, FLEUR's layout: ``{"HC": [{"image", "captions": [a, b], "label": 0 or 1, "references"}], …}``.
- Composite, FLEUR's layout ``{corpus: [{"image", "caption", "human", "references"}]}``, or the publisher's
  ``*_correctness.csv`` and ``*_throughness.csv`` (``;`` between columns, Input.image_url, Input.text1…,
  Answer.Q1Answer…), one file or several.
- FOIL, the publisher's ``foilv1.0_*.json``: ``{"images": [{"id", "file_name"}], "annotations": [{"id", "image_id",
  "caption", "foil"}]}``; a foil is paired with the caption of its ``id`` that is none. ``example``, which no publisher
  writes, names an example that is laid out so.
- CapArena, ``caparena_annots_eval.json``: ``[{"img", "source1", "source2", "caption1", "caption2", "winner", "ref",
  "cluster"}]``; the winner is the name of a source, anything else a tie.
- VATEX-EVAL, in the JSON that docs/video.md makes of its pickles, and ActivityNet-FOIL's four files; see
  :mod:`core.corpora.suites.video_ratings`.
- Polaris, Nebula, LongCap-Arena, Composite as CaptionEvalKit reads it, and THumB: a row a rating; see
  :mod:`core.corpora.suites.suite_files`.
- M-CapEval1k, announced by paper B and not released, so in a layout of our own: CSV or JSON Lines with the columns
  image, language, caption, score (0 to 1) and, where there are any, references (a list; ``|`` between them in CSV).
- A suite of one's own: CSV, TSV or JSON Lines, a row a caption and rater: ``image``, ``caption`` and ``rating``, or
  ``rating_NAME`` for each of any number of dimensions (``rating_relevance``); where there are any ``rater``, ``group``,
  ``language``, ``references`` (a list; ``|`` between them in a table) and ``suite``, the name, else that of the file.
- Pictures of one text, one's own and Pick-a-Pic, MJ-Bench, HPDv2, GenAI-Bench and TIFA: see
  :mod:`core.corpora.suites.picture_pairs`.

Sources: jmhessel/clipscore, flickr8k_example/compute_metrics.py; Yebin46/FLEUR, fleur_pascal.py and fleur_com.py;
Hodosh et al., Flickr8k readme; Aditya et al. (2018), composite data; Shekhar et al. (2017), FOIL; Cheng et al. (2025),
CapArena, caparena_metrics.py.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.corpora.corpus_files import Record, csv_cells, csv_records, jsonl_records, pointed, read_json
from core.corpora.folder_tables import language_code
from core.corpora.suites.image_suites import (
    Judged,
    battles,
    capeval,
    capeval_columns,
    composite,
    composite_csv,
    flickr,
    foil,
    never_itself,
    number,
    pairs,
    raw_flickr,
)
from core.corpora.suites.model import (
    ENGLISH,
    MOST_NAME,
    PUBLISHED,
    TAU_C,
    Decision,
    Rated,
    Suite,
    own_name,
    spaced,
    texts,
)
from core.corpora.suites.picture_pairs import layout_of, pairs_of_json, pairs_of_parquet, picture_pairs, rated_pictures
from core.corpora.suites.video_ratings import BESIDE, PICKLES, REFUSED, RIGHT, VATEX_KEYS, activitynet, vatex
from core.corpora.table_cells import LINES, listed_texts, too_long, written_list
from core.errors import BadCorpus, InvalidInput
from core.yes_no import says_nothing

_NAMED = {
    "polaris": "Polaris",
    "nebula": "Nebula",
    "composite": "Composite",
    "longcap": "LongCap-Arena",
    "_dci_": "LongCap-Arena",
}
"""A part of a file's name -> the suite."""

_CAPTION, _RATING = ("mt", "cand", "hyp", "caption"), ("human_score", "score")
_IMAGE, _REFERENCES = ("imgid", "image", "image_path", "file_name"), ("refs", "references")
_ASPECT = re.compile(r"desc|rel|flu")
_ASPECTS = {"desc": "descriptiveness", "rel": "relevance", "flu": "fluency"}
"""What a file of LongCap-Arena rates, as its name says it. Source: CaptionEvalKit, benchmark loaders."""


def rows(path: Path, records: Sequence[Record]) -> Suite:
    """The ratings of a file of rows.
    Raises BadCorpus if the file's name does not tell the suite, or references are no list."""
    found, name, dimension = Judged(), "", ""
    for where, record in records:
        cells = {str(key).casefold(): value for key, value in record.items()}
        if not name:
            name, dimension = _suite(path, cells)
        image, caption = (_first(cells, names) for names in (_IMAGE, _CAPTION))
        rating = number(_first(cells, _RATING))
        if rating is None or not isinstance(caption, str) or not caption.strip() or image in (None, ""):
            found.left_out += 1
            continue
        references = _listed(_first(cells, _REFERENCES), f"{path.parent / where}")
        group = str(cells.get("sys") or "")
        found.add(Rated(str(image).strip(), spaced(caption), rating, group, dimension=dimension), references)
    return found.suite(name, TAU_C, never_itself(found.own, "ratings"))


def _suite(path: Path, cells: Mapping[str, Any]) -> tuple[str, str]:
    """Name of the suite, and what is rated; empty where the suite has one rating."""
    if {"hyp", "sys"} <= cells.keys():
        return "THumB", ""
    stem = path.stem.casefold()
    name = next((suite for part, suite in _NAMED.items() if part in stem), "")
    aspect = _ASPECT.search(stem) if name == "LongCap-Arena" else None
    if not name or (name == "LongCap-Arena" and aspect is None):
        raise BadCorpus(
            f"{path} has the columns that Polaris, Nebula, Composite and LongCap-Arena share, and its name says none; "
            "call it e.g. polaris_test.csv, nebula_test.csv or desc_dci_val.csv (desc, rel or flu), or give it the "
            "columns image, caption and rating of a suite of your own"
        )
    return name, _ASPECTS[aspect.group()] if aspect else ""


def _first(cells: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((cells[name] for name in names if not says_nothing(cells.get(name))), None)


def _listed(value: object, where: str) -> tuple[str, ...]:
    """References: a list, or the text of one; none where the cell is empty."""
    if value is None or isinstance(value, list):
        return texts(value)
    held = written_list(str(value))
    if held is None or not all(isinstance(each, str) for each in held):
        raise BadCorpus(f"{where}: references must be a list such as ['a dog', 'a hound'], got {str(value)[:60]!r}")
    return texts(held)


_OWN_RATING = "rating"
_OWN_COLUMNS = ("image", "caption", "rater", "group", "language", "references", "suite")


def own_ratings(path: Path, records: Sequence[Record]) -> Suite:
    """Read the ratings; one that is empty or no number is left out alone.
    Raises BadCorpus if the rows give several names, a published suite's name, or no rating."""
    found, names, unread = Judged(), dict[str, None](), dict[str, None]()
    for where, record in records:
        cells = {" ".join(str(key).casefold().split()): value for key, value in record.items()}
        names[_text(cells.get("suite")) or path.stem] = None
        rated = {key: told for key in cells if (told := _dimension(key)) is not None}
        unread |= dict.fromkeys(key for key in cells if key and key not in rated and key not in _OWN_COLUMNS)
        image, caption, rater, group, language = (
            "" if says_nothing(cells.get(name)) else _text(cells.get(name)) for name in _OWN_COLUMNS[:5]
        )
        code = language_code(language) if language else ENGLISH
        if code is None:
            told = f"language must be a code such as en or de, got {language[:40]!r}; write it so"
            raise BadCorpus(f"{path.parent / where}: {told}")
        references = tuple(text for each in listed_texts(cells.get("references")) if (text := spaced(each)))
        for column, dimension in rated.items():
            rating = number(cells[column])
            if rating is None or not image or not caption:
                found.left_out += 1
                continue
            found.add(Rated(image, spaced(caption), rating, group, code, (), rater[:MOST_NAME], dimension), references)
    if not found.rated:
        raise BadCorpus(f"{path} holds no row with image, caption and a rating that is a number; fill one in")
    decisions = [never_itself(found.own, "ratings")]
    if unread:
        told = ", ".join(unread)[:200]
        decisions.append(Decision("unread", "further columns", f"not read: {told}", len(unread), "columns"))
    return found.suite(own_name(path, tuple(names)), TAU_C, *decisions)


def _dimension(column: str) -> str | None:
    """What a column rates; empty where it does not say; None where it rates nothing."""
    name = " ".join(column.casefold().split())
    if name == _OWN_RATING:
        return ""
    told = name.removeprefix(f"{_OWN_RATING}_").replace("_", " ").strip()
    return told[:MOST_NAME] if name.startswith(f"{_OWN_RATING}_") and told else None


def _text(value: object) -> str:
    return spaced(str(value)) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def read_suites(paths: Sequence[Path], *, keep_self_references: bool = False) -> Suite:
    """Read one suite of one file or several, e.g. Composite's three. Raises BadCorpus if a file cannot be read;
    InvalidInput if there is no file, one is named twice, or they are of several suites."""
    if len({path.resolve() for path in paths}) != len(paths) or not paths:
        raise InvalidInput("give each file of the suite once")
    suites = [read_suite(path, keep_self_references=keep_self_references) for path in paths]
    first = suites[0]
    other = next((each.name for each in suites if each.name != first.name), None)
    if other:
        raise InvalidInput(f"{first.name} and {other} are two suites; give the files of one at a time")
    if len(suites) == 1:
        return first
    rated = tuple(each for suite in suites for each in suite.rated)
    compared = tuple(each for suite in suites for each in suite.compared)
    done = f"{len(paths)} files are taken together as one suite"
    made = [Decision("pooled", "several files", done, len(rated) + len(compared), "judgements")]
    known: dict[str, Decision] = {}
    for each in (each for suite in suites for each in suite.decisions):
        known.setdefault(each.id, each)
    for one in known.values():
        same = [each for suite in suites for each in suite.decisions if each.id == one.id]
        made.append(replace(one, count=sum(each.count for each in same)))
    return replace(
        first, rated=rated, compared=compared, left_out=sum(each.left_out for each in suites), decisions=tuple(made)
    )


def read_suite(path: Path, *, keep_self_references: bool = False) -> Suite:
    """Read a suite of one file.
    ``keep_self_references``: of Flickr8k, keep ratings of a caption that is one of its image's own references; the
    field drops them.
    Raises BadCorpus if the file has none of the layouts, or an entry has another shape; the sentence names it."""
    found = _by_name(path, keep=keep_self_references)
    found = found or _by_content(path, read_json(path), keep=keep_self_references)
    if found is None:
        raise BadCorpus(
            f"{path} has none of the layouts of {', '.join(PUBLISHED)}; give the file that its publisher ships, or a "
            "table of your own with the columns image, caption and rating, or text, left, right and preferred"
        )
    judged = [(each.image, (each.caption, *each.references)) for each in found.rated]
    judged += [(each.image, (each.preferred, each.other, *each.references)) for each in found.compared]
    for image, captions in judged:
        for text in captions:
            if told := too_long(f"a caption of {image[:80]}", text):
                raise BadCorpus(f"{path}: {told}; shorten it")
    return found


def _by_name(path: Path, *, keep: bool) -> Suite | None:
    """A suite whose file is known by its name or ending; None: the content tells it."""
    name = path.name.casefold()
    if name.endswith(PICKLES):
        raise BadCorpus(REFUSED.format(path=path))
    if name == RIGHT:
        return activitynet(path)
    if name in ("expertannotations.txt", "crowdflowerannotations.txt"):
        return raw_flickr(path, expert=name.startswith("expert"), keep=keep)
    if name.endswith(".parquet"):
        return pairs_of_parquet(path)
    return _of_records(path) if name.endswith((*LINES, ".csv", ".tsv")) else None


def _of_records(path: Path) -> Suite:
    lines = list(jsonl_records(path)) if path.name.casefold().endswith(LINES) else None
    records: Iterable[Record]
    if lines is None:
        columns, records = _table(path)
    else:
        columns, records = [str(key).casefold() for _, each in lines[:1] for key in each], lines
    names = set(columns)
    if {"image", "caption"} <= names and any(_dimension(each) is not None for each in names):
        return own_ratings(path, list(records))
    if (layout := layout_of(columns)) is not None:
        return picture_pairs(path, records, layout)
    # a row a rating; ``language`` is M-CapEval1k's alone
    kept = {"id", "image", "caption", "references", "score"} <= names and "language" not in names
    if (kept or names & {"mt", "cand", "hyp"}) and names & set(_RATING):
        return rows(path, list(records))
    if lines is not None:
        return capeval(path, lines)
    if {"image", "caption", "score"} <= names:  # M-CapEval1k
        capeval_columns(path, columns)
        return capeval(path, list(records))
    return composite_csv(path)


def _table(path: Path) -> tuple[list[str], Iterable[Record]]:
    """The columns of a table and its rows, the ratings with a point before their decimals."""
    cells = csv_cells(path)
    rated = [name for name in cells.header if name in _RATING or _dimension(name) is not None]
    if not rated:
        return cells.header, csv_records(path)
    rows = list(csv_records(path))
    for name in rated:
        for (_, row), cell in zip(rows, pointed([row[name] for _, row in rows], cells.between), strict=True):
            row[name] = cell
    return cells.header, rows


def _by_content(path: Path, held: object, *, keep: bool) -> Suite | None:
    """A suite that its JSON tells; None where it is none."""
    if isinstance(held, list) and held and isinstance(held[0], dict) and "source1" in held[0]:
        return battles(path, held)
    if (found := pairs_of_json(path, held)) is not None:
        return found
    if not isinstance(held, dict) or not held:
        return None
    if (found := rated_pictures(path, held)) is not None:
        return found
    if isinstance(held.get("annotations"), list):
        return foil(path, held)
    if set(VATEX_KEYS) & set(held):
        return vatex(path, held)
    if all(isinstance(each, dict) for each in held.values()):
        return flickr(path, held, keep=keep)
    if not all(isinstance(each, list) for each in held.values()):
        return None
    first = next((entry for entries in held.values() for entry in entries), None)
    return pairs(path, held) if isinstance(first, dict) and "captions" in first else composite(path, held)


def with_companions(files: Sequence[Path]) -> list[Path]:
    """The files of a suite with those that are read beside them: what its judgements depend on."""
    right = [each for each in files if each.name == RIGHT]
    more = [path for each in right for name in BESIDE if (path := each.with_name(name)).is_file()]
    return list(dict.fromkeys([*files, *more]))

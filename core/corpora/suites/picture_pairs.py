"""Suites of pictures of one text: which of two people prefer, or how well each fits.

- One's own, CSV, TSV or JSON Lines: ``text, left, right, preferred`` (left, right or tie) and, where there are any,
  ``category`` and ``suite``, the name, which is else that of the file.
- Pick-a-Pic v1 and v2: ``caption, image_0_uid, image_1_uid, label_0, label_1`` (1, 0 or 0.5), ``has_label``,
  ``are_different``; Parquet with the pictures inside (``jpg_0``, ``jpg_1``) or without, CSV, JSON Lines.
- MJ-Bench: ``caption, image0, image1, label`` (0: the first is preferred), ``category``; a JSON list, an object of
  lists, or Parquet with the pictures inside. Where no category is named, the file's name is one.
- HPDv2: a JSON list, ``prompt, image_path, rank`` (1 is best; every two pictures of a prompt are compared) or
  ``prompt, file_path, human_preference``.
- GenAI-Bench, ``genai_image.json``: ``{number: {"prompt", "models": {model: [ratings 1 to 5]}}}``; the picture is
  ``model/number.jpeg``, and ``genai_skills.json`` beside it tells basic from advanced prompts. Or Parquet: ``Prompt``,
  ``HumanRatings`` (model -> ratings), ``Tags`` (``advanced``, ``basic``) and a column of pictures a model.
- GenAI-Arena's votes (TIGER-Lab's GenAI-Bench, task ``image_generation``): ``prompt, left_image, right_image,
  vote_type`` (leftvote, rightvote, tievote, bothbad_vote); Parquet with the pictures inside, JSON Lines, CSV.
- TIFA v1.0, ``human_annotations.json``: ``{key: {"text_id", "image_path", "text", "human_scores"}}``.

Sources: yuvalkirstain/PickScore, eval_preference_predictor.py (11584a5); pickapic_v1 and _v2, dataset cards;
MJ-Bench/MJ-Bench, alignment/benchmark (eaa92ef) and inference.py (8a1f5db); tgxs002/HPSv2, data.py (20969aa) and
train.py (f924ea2); ymhao/HPDv2, dataset card; linzhiqiu/t2v_metrics, dataset.py, GenAIBench_Image; Yushi-Hu/tifa,
human_annotations (d20b200); BaiqiL/GenAI-Bench, dataset card (790172e); TIGER-AI-Lab/GenAI-Bench, inference.py
(f0b0334).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from core import settings
from core.corpora.corpus_files import LeftOut, Record, read_json
from core.corpora.packed_pictures import keep_image, parquet_columns, parquet_records
from core.corpora.suites.image_suites import LABELS, either, number
from core.corpora.suites.model import (
    ACCURACY,
    PICTURE_SUITES,
    TAU_B,
    Compared,
    Decision,
    Rated,
    Suite,
    own_name,
    spaced,
)
from core.errors import BadCorpus
from core.yes_no import yes_or_no

PICK, MJ, HPD, GENAI, TIFA, ARENA = PICTURE_SUITES
_OWN = ""

_LAYOUTS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    _OWN: (("text", "left", "right", "preferred"),),
    PICK: (("caption", "image_0_uid", "image_1_uid", "label_0", "label_1"),),
    MJ: (("caption", "image0", "image1", "label"),),
    HPD: (("prompt", "image_path", "rank"), ("prompt", "file_path", "human_preference")),
    ARENA: (("prompt", "left_image", "right_image", "vote_type"),),
}
"""Name of the suite -> columns that tell it."""

_PICKED: Mapping[tuple[float | None, ...], bool] = {(1, 0): False, (0.5, 0.5): False, (0, 1): True}
"""Pick-a-Pic's two labels -> whether the second picture is preferred."""
_TIES, _VOTED_TIES = ("tie", "equal", "both", "neither"), ("tievote", "bothbad_vote")
_WINNERS = {"left": False, "right": True, **dict.fromkeys(_TIES, False)}
_VOTES = {"leftvote": False, "rightvote": True, **dict.fromkeys(_VOTED_TIES, False)}
_CHOSEN: Mapping[str, tuple[str, str, Mapping[str, bool], tuple[str, ...]]] = {
    _OWN: ("preferred", "left, right or tie", _WINNERS, _TIES),
    MJ: ("label", "0 for the first picture or 1 for the second", LABELS, ()),
    ARENA: ("vote_type", "leftvote, rightvote, tievote or bothbad_vote", _VOTES, _VOTED_TIES),
}
"""Suite with a choice in one column -> the column, its choices in words, whether each is the second, and its ties."""

MOST_RANKED = 50  # most pictures of one text that are compared two by two
_KEPT = "suite-pictures"  # folder of the cache that holds pictures that came inside a file

_SKILLS = "genai_skills.json"
_LISTS = ("advanced", "basic")
_RATED = {"Prompt", "HumanRatings"}  # columns that tell GenAI-Bench's Parquet


def layout_of(columns: Iterable[str]) -> str | None:
    """Which suite columns, in small letters, are of; empty: one's own; None: none of these."""
    names = set(columns)
    return next((name for name, known in _LAYOUTS.items() if any(names >= set(each) for each in known)), None)


@dataclass(slots=True)
class _Pairs:
    """Comparisons while a file is read, and what became of them."""

    stem: str
    compared: list[Compared] = field(default_factory=list)
    left_out: int = 0
    equal: int = 0

    def add(self, text: object, pictures: Sequence[str], won: bool | None, group: str, *, tied: bool = False) -> None:
        """Take a comparison; ``won`` is whether the second picture is preferred, None: nobody said."""
        told = spaced(text) if isinstance(text, str) else ""
        if not told or won is None or not all(pictures):
            self.left_out += 1
            return
        if pictures[0] == pictures[1]:
            self.equal += 1
            return
        first, second = reversed(pictures) if won else pictures
        self.compared.append(Compared(first, told, told, group, tied=tied, other_image=second))

    def suite(self, name: str, *more: Decision, pictures: str = "") -> Suite:
        texts, tied = {each.preferred for each in self.compared}, sum(each.tied for each in self.compared)
        ties = "comparisons that people call a tie count in no accuracy"
        undecided = Decision("undecided", "people's ties", ties, tied, "comparisons")
        done = "a text whose two pictures are equal is left out: nobody can prefer one of them for what it shows"
        equal = Decision("equal-pictures", "equal pictures", done, self.equal, "comparisons left out")
        decisions, left_out = (_by_text(len(texts)), equal, undecided, *more), self.left_out + self.equal
        return Suite(name, ACCURACY, (), tuple(self.compared), left_out, decisions, by_text=True, pictures=pictures)


def _by_text(texts: int) -> Decision:
    done = "intervals are over texts: pictures of one text stand together"
    return Decision("by-text", "intervals", done, texts, "texts")


def picture_pairs(path: Path, records: Iterable[Record], layout: str) -> Suite:
    """Read comparisons of two pictures.
    Raises BadCorpus if an entry says something else than which picture is preferred, or no entry can be used."""
    read = {PICK: _pick, HPD: _hpd}.get(layout) or partial(_choice, layout)
    found, names = _Pairs(path.stem), dict[str, None]()
    for where, record in records:
        cells = {" ".join(str(key).casefold().split()): value for key, value in record.items()}
        if layout == _OWN:
            told = cells.get("suite")
            names[spaced(told) if isinstance(told, str) and told.strip() else path.stem] = None
        read(found, f"{path.parent / where}", cells)
    if not found.compared and not found.equal:
        raise BadCorpus(f"{path} holds no comparison of two pictures that can be used; it has {found.left_out} entries")
    return found.suite(layout or own_name(path, tuple(names)), pictures=_kept_of(path))


def _kept_of(path: Path) -> str:
    """Folder of the pictures that came inside a file; empty where none did."""
    return str(settings.cache_dir() / _KEPT) if path.suffix.lower() == ".parquet" else ""


def _choice(layout: str, found: _Pairs, where: str, cells: Mapping[str, Any]) -> None:
    column, rule, known, ties = _CHOSEN[layout]
    text, *names = _LAYOUTS[layout][0][:3]
    said = cells.get(column)
    won = either(said, where=f"{where}: {column}", rule=rule, known=known)
    group = "" if layout == ARENA else _text(cells.get("category"))
    if layout == MJ:
        group = group or found.stem.removesuffix("_test")
    pictures = [_picture(cells.get(name), where) for name in names]
    found.add(cells.get(text), pictures, won, group, tied=str(said).strip().casefold() in ties)


def _pick(found: _Pairs, where: str, cells: Mapping[str, Any]) -> None:
    pictures = [
        _picture(cells.get(f"jpg_{side}"), where) or _picture(cells.get(f"image_{side}_uid"), where) for side in "01"
    ]
    labels = [number(cells.get(f"label_{side}")) for side in "01"]
    if any(each not in (None, 0, 0.5, 1) for each in labels):
        told = f"{where}: label_0 and label_1 must be 0, 0.5 or 1, got {labels[0]} and {labels[1]}; write it so"
        raise BadCorpus(told)
    labelled, different = (yes_or_no(cells.get(name)) is not False for name in ("has_label", "are_different"))
    if not different:
        found.equal += 1
        return
    won = _PICKED.get(tuple(labels)) if labelled else None
    found.add(cells.get("caption"), pictures, won, "", tied=labels[0] == 0.5)


def _hpd(found: _Pairs, where: str, cells: Mapping[str, Any]) -> None:
    ranked = "rank" in cells
    names, given = (
        cells.get(name) for name in (("image_path", "rank") if ranked else ("file_path", "human_preference"))
    )
    ranks = [number(each) for each in given] if isinstance(given, list) else []
    if not isinstance(names, list) or len(names) != len(ranks) or not 2 <= len(names) <= MOST_RANKED or None in ranks:
        found.left_out += 1
        return
    # a preference of 1 is better than 0, a rank of 1 better than 2
    worth = [(-1 if ranked else 1) * each for each in ranks if each is not None]
    pictures = [_picture(each, where) for each in names]
    for one, other in combinations(range(len(names)), 2):
        won, tied = worth[other] > worth[one], worth[other] == worth[one]
        found.add(cells.get("prompt"), [pictures[one], pictures[other]], won, "", tied=tied)


def _picture(cell: object, where: str) -> str:
    """Name of a picture; of one whose bytes the cell holds, its place in the cache. Empty where there is none."""
    held = cell.get("bytes") or cell.get("path") if isinstance(cell, Mapping) else cell
    if isinstance(held, bytes):
        try:
            path, _ = keep_image(held, folder=_KEPT, where=where)
        except LeftOut:
            return ""
        return path.relative_to(settings.cache_dir() / _KEPT).as_posix()
    name = _text(held)
    return name if "." in name or not name else f"{name}.jpg"


def _text(value: object) -> str:
    return spaced(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def pairs_of_parquet(path: Path) -> Suite:
    """Read a Parquet file of one of the layouts, pictures inside as bytes.
    Raises BadCorpus if it is damaged, too large, or of no layout."""
    names = parquet_columns(path)
    layout = layout_of(map(str.casefold, names))
    if layout is None and not set(names) >= _RATED:
        told = ", ".join(names)[:200]
        known = "Pick-a-Pic's, MJ-Bench's, GenAI-Bench's and GenAI-Arena's"
        raise BadCorpus(f"{path} has the columns {told}; of Parquet files {known} are read")
    records = parquet_records(path)
    if layout is None:
        return _of_ratings(path, GENAI, _genai_rows(path, records), skills="Tags")
    return picture_pairs(path, records, layout)


def pairs_of_json(path: Path, held: object) -> Suite | None:
    """A suite of comparisons that a JSON list, or an object of lists, holds; None where it is none."""
    lists = {"": held} if isinstance(held, list) else held if isinstance(held, dict) else {}
    first = next((entry for entries in lists.values() if isinstance(entries, list) for entry in entries), None)
    layout = layout_of(map(str.casefold, first)) if isinstance(first, dict) else None
    if layout is None:
        return None
    return picture_pairs(path, _of_lists(path, lists), layout)


def _of_lists(path: Path, lists: Mapping[str, Any]) -> Iterator[Record]:
    for group, entries in lists.items():
        for place, entry in enumerate(entries if isinstance(entries, list) else (), start=1):
            where = f"{path.name}, entry {place}" + (f" of {group!r}" if group else "")
            if not isinstance(entry, dict):
                raise BadCorpus(f"{path.parent / where} must be an object, got {str(entry)[:60]!r}")
            yield where, {"category": str(group), **entry} if group else entry


def rated_pictures(path: Path, held: Mapping[str, Any]) -> Suite | None:
    """GenAI-Bench or TIFA; None where the object is neither."""
    first = next(iter(held.values()), None)
    if not isinstance(first, dict):
        return None
    if {"prompt", "models"} <= first.keys():
        return _of_ratings(path, GENAI, _genai(path, held), skills=f"{_SKILLS} beside the file")
    return _of_ratings(path, TIFA, _tifa(held)) if {"text", "image_path", "human_scores"} <= first.keys() else None


_Entry = tuple[str, str, object, str]  # a picture, its text, its ratings, still unchecked, and its category
_NONE: _Entry = ("", "", None, "")  # what cannot be used


def _genai(path: Path, held: Mapping[str, Any]) -> Iterator[_Entry]:
    skills = path.with_name(_SKILLS)
    told = read_json(skills) if skills.is_file() else {}
    listed = {
        skill: {int(each) for each in told.get(skill, ()) if str(each).isdigit()} if isinstance(told, dict) else set()
        for skill in _LISTS
    }
    for key, entry in held.items():
        known = entry if isinstance(entry, dict) else {}
        text, models = _text(known.get("prompt")), known.get("models")
        group = next((skill for skill, of in listed.items() if key.isdigit() and int(key) in of), "")
        if not isinstance(models, dict):
            yield _NONE
            continue
        for model, given in models.items():
            yield f"{model}/{key}.jpeg", text, given, group


def _genai_rows(path: Path, records: Iterable[Record]) -> Iterator[_Entry]:
    """GenAI-Bench of Parquet, a row a prompt with the pictures of all models."""
    for where, record in records:
        text, models, tags = _text(record["Prompt"]), record["HumanRatings"], record.get("Tags")
        group = next((skill for skill in _LISTS if isinstance(tags, dict) and tags.get(skill)), "")
        if not isinstance(models, dict):
            yield _NONE
            continue
        for model, given in models.items():
            yield _picture(record.get(model), f"{path.parent / where}: {model}"), text, given, group


def _tifa(held: Mapping[str, Any]) -> Iterator[_Entry]:
    for entry in held.values():
        known = entry if isinstance(entry, dict) else {}
        group = _text(known.get("text_id")).partition("_")[0]
        yield _text(known.get("image_path")), _text(known.get("text")), known.get("human_scores"), group


def _of_ratings(path: Path, name: str, entries: Iterable[_Entry], *, skills: str = "") -> Suite:
    """Take every rating of every picture; ``skills``: what tells their categories, where something does."""
    rated, left_out = list[Rated](), 0
    for image, text, given, group in entries:
        ratings = [number(each) for each in given] if isinstance(given, list) else []
        if not image or not text or not ratings:
            left_out += 1
            continue
        rated += [Rated(image, text, each, group) for each in ratings if each is not None]
        left_out += ratings.count(None)
    decisions = [_by_text(len({each.caption for each in rated}))]
    if skills:
        done = f"a prompt is advanced where {skills} lists it so, else basic where it lists it so"
        decisions.append(Decision("skills", "categories", done, sum(bool(each.group) for each in rated), "ratings"))
    pictures = _kept_of(path)
    return Suite(name, TAU_B, tuple(rated), (), left_out, tuple(decisions), by_text=True, pictures=pictures)

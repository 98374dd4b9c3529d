"""Files of caption pairs, as their publishers lay them out: a picture, a caption that is right and one that is wrong.

- ``pairs.csv``, ``pairs.jsonl``: columns image, right, wrong and, where there are any, id, kind, group, set, language,
  falsity, wrong_image, references.
- SugarCrepe: ``{key: {"filename", "caption", "negative_caption"}}``, one file a kind.
- SugarCrepe++: ``[{"id", "filename", "caption", "caption2", "negative_caption"}]``; both right captions against the
  wrong one are a set of two comparisons.
- Caption options: ``[{"image" or "image_path", "caption_options": [right, wrong, …]}]``, the right one first, one set.
  So What'sUp is laid out, and ``test_cases`` of ARO's COCO-Order and Flickr30k-Order: these are made by ARO's code from
  ``coco_karpathy_test.json`` and ``flickr30k_test.json``, and no file of them is handed out.
- ARO: ``[{"image_path", "true_caption", "false_caption", "bbox_x", "bbox_y", "bbox_w", "bbox_h"}]``; the picture is the
  part inside the box.
- Winoground: ``{"id", "image_0", "image_1", "caption_0", "caption_1", "tag", "collapsed_tag"}``, one a line: two lines
  here, each the other's wrong side.
- VALSE: ``{key: {"image_file", "caption", "foil", "linguistic_phenomena", "mturk"}}``; used where at least two of three
  annotators chose the caption and not the foil.
- FOIL: ``foilv1.0_*.json``, see :mod:`core.corpora.suites`.
- Paper D: ``[{"imgid", "caption", "generation_mode", "tag_name", "id"}]``, a file of right captions and one of wrong
  ones, joined by id.

Sources: RAIVNLab/sugar-crepe, main_eval.py; Sri-Harsha/scpp, data/replace_att.json;
mertyg/vision-language-models-are-bows, aro_datasets.py;
Heidelberg-NLP/VALSE, README; facebook/winoground, examples.jsonl; saba96/img-cap-metrics-robustness.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from core.corpora.corpus_files import csv_records, jsonl_records, read_json
from core.corpora.findings import whole
from core.corpora.suites import read_suite
from core.corpora.table_cells import listed_texts
from core.errors import BadCorpus

GENERIC = "pairs"
NEEDED = ("image", "right", "wrong")
ENDINGS = (".csv", ".tsv", ".jsonl", ".json")

LEAST_VOTES = 2
"""Annotators of three who chose VALSE's caption and not its foil. Source: VALSE, README."""

_ORDERS = ("nouns and adjectives", "all but nouns and adjectives", "within trigrams", "trigrams")
"""What ARO shuffles in the four wrong captions of COCO-Order and Flickr30k-Order, in their order."""

VERIFIED, STATED, PRESUMED = "verified", "stated", "presumed"
"""Whether somebody checked that the wrong side is wrong, the file says so and no more, or it is only likely."""


@dataclass(frozen=True, slots=True)
class PairLine:
    """One comparison as a file states it, still unchecked."""

    where: str  # what messages call it
    id: str  # unique in the corpus; empty: told by its place
    image: Any  # as the file names it
    right: Any
    wrong: Any
    crop: tuple[float, ...] = ()  # x, y, width, height in pixels of the part of the picture that counts
    language: str = ""
    kind: str = ""  # what breaks; group: what else tables are sliced by
    group: str = ""
    set: str = ""  # comparisons that are judged together; empty: those of one picture
    # what comparisons of other sets and pictures share, e.g. who wrote the captions; empty: nothing.
    second_group: str = ""
    falsity: str = STATED
    wrong_image: Any = None  # picture that the wrong caption is right of
    references: tuple[Any, ...] = ()  # further captions that are right
    refused: tuple[str, str] | None = None  # code and sentence, where the file itself says that the line is no good


@dataclass(frozen=True, slots=True)
class Layout:
    """One publisher's layout.
    ``name``: what runs call the corpus where nothing else is chosen.
    ``keys``: that every record has.
    ``lines``: of (stem of the file, where, key or number, record)."""

    name: str
    keys: tuple[str, ...]
    lines: Callable[[str, str, str, Mapping[str, Any]], Iterator[PairLine]]


def read_pairs(path: Path) -> tuple[str, list[PairLine]]:
    """Read a file of pairs; its layout is told by what its first record holds.
    Returns the layout's name, empty where it is none of them, and the lines: of no layout one line, refused with the
    columns that are missing.
    Raises BadCorpus if the file is malformed as a whole."""
    if path.suffix.lower() == ".json":
        held = read_json(path)
        if isinstance(held, dict) and isinstance(held.get("annotations"), list):
            return _foil(path, held)
        found = _keyed(path, held)
    else:
        read = jsonl_records(path) if path.suffix.lower() == ".jsonl" else csv_records(path)
        found = [(where, str(number), record) for number, (where, record) in enumerate(read, start=1)]
    layout = next((each for each in LAYOUTS if found and all(key in found[0][2] for key in each.keys)), None)
    if layout is None:
        return "", [_lacking(path, found[0][2])] if found else []
    empty = dict.fromkeys(layout.keys)
    return layout.name, [
        line for where, key, record in found for line in layout.lines(path.stem, where, key, {**empty, **record})
    ]


def _lacking(path: Path, record: Mapping[str, Any]) -> PairLine:
    """What a file of no layout has, and what it lacks of the one that it comes nearest to."""
    near = max(LAYOUTS, key=lambda layout: sum(key in record for key in layout.keys))
    lacks = ", ".join(key for key in near.keys if key not in record)
    told = f"{path.name} has the columns {', '.join(map(str, record))[:200]} and lacks {lacks}"
    return PairLine(path.name, path.name, "", "", "", refused=("no-layout", told))


def joined(right: Path, wrong: Path) -> list[PairLine]:
    """Join paper D's file of right captions with one of wrong ones by their ids.
    Raises BadCorpus if a file has another layout, or they share no id."""
    first, second = (_by_id(path) for path in (right, wrong))
    shared = [key for key in first if key in second]
    if not shared:
        raise BadCorpus(f"{right.name} and {wrong.name} share no id; give the two files of one experiment")
    lines = []
    for key in shared:
        (where, own), (_, other) = first[key], second[key]
        kind, group = (str(other.get(name) or "") for name in ("generation_mode", "tag_name"))
        lines.append(
            PairLine(
                where,
                f"{wrong.stem}:{key}",
                own.get("imgid"),
                own.get("caption"),
                other.get("caption"),
                kind=kind,
                group=group,
            )
        )
    return lines


def _keyed(path: Path, held: Any) -> list[tuple[str, str, Mapping[str, Any]]]:
    """Records of a JSON file with their keys, or their places in a list; empty where it holds none."""
    entries = list(held.items()) if isinstance(held, dict) else list(enumerate(held, start=1))
    if not entries or not isinstance(entries[0][1], dict):
        return []
    for key, entry in entries:
        if not isinstance(entry, dict):
            raise BadCorpus(f"{path}: the entry of {key!r} must be an object, got {str(entry)[:60]!r}")
    return [(f"{path.name}, {key}", str(key), entry) for key, entry in entries]


def _generic(stem: str, where: str, key: str, record: Mapping[str, Any]) -> Iterator[PairLine]:
    own = record.get("id")
    given = str(own).strip() if isinstance(own, str | int) and not isinstance(own, bool) else ""
    kind, group, together, second, language, falsity = (
        str(record.get(name) or "").strip() for name in ("kind", "group", "set", "second_group", "language", "falsity")
    )
    yield PairLine(
        where,
        given or f"{stem}:{key}",
        record["image"],
        record["right"],
        record["wrong"],
        language=language,
        kind=kind,
        group=group,
        set=together,
        second_group=second,
        falsity=falsity or STATED,
        wrong_image=record.get("wrong_image") or None,
        references=tuple(listed_texts(record.get("references"))),
    )


def _sugar_crepe(stem: str, where: str, key: str, record: Mapping[str, Any]) -> Iterator[PairLine]:
    right, wrong = record["caption"], record["negative_caption"]
    yield PairLine(where, f"{stem}:{key}", record["filename"], right, wrong, kind=stem)


def _sugar_crepe_pp(stem: str, where: str, key: str, record: Mapping[str, Any]) -> Iterator[PairLine]:
    together = f"{stem}:{record.get('id', key)}"
    for number, right in enumerate(("caption", "caption2"), start=1):
        yield PairLine(
            where,
            f"{together}-{number}",
            record["filename"],
            record[right],
            record["negative_caption"],
            kind=stem,
            set=together,
        )


def _options(image: str, stem: str, where: str, key: str, record: Mapping[str, Any]) -> Iterator[PairLine]:
    options = record["caption_options"]
    right, *wrong = options if isinstance(options, list) and len(options) > 1 else ("", "")
    kinds = _ORDERS if len(wrong) == len(_ORDERS) else (stem,) * len(wrong)
    for number, (kind, text) in enumerate(zip(kinds, wrong, strict=True), start=1):
        yield PairLine(where, f"{stem}:{key}-{number}", record[image], right, text, kind=kind, set=f"{stem}:{key}")


def _aro(stem: str, where: str, key: str, record: Mapping[str, Any]) -> Iterator[PairLine]:
    sides = tuple(record.get(name) for name in ("bbox_x", "bbox_y", "bbox_w", "bbox_h"))
    boxed = all(isinstance(side, int | float) and not isinstance(side, bool) for side in sides)
    if any(side is not None for side in sides) and not boxed:
        told = f"{where}: its box is {', '.join(map(str, sides))}; mend it"
        yield PairLine(where, f"{stem}:{key}", "", "", "", refused=("bad-box", told))
        return
    yield PairLine(
        where,
        f"{stem}:{key}",
        record["image_path"],
        record["true_caption"],
        record["false_caption"],
        crop=tuple(float(side) for side in sides if side is not None),
        kind=stem.rpartition("_")[2],
        group=str(record.get("relation_name") or ""),
    )


def _winoground(stem: str, where: str, key: str, record: Mapping[str, Any]) -> Iterator[PairLine]:
    together = f"{stem}:{record.get('id', key)}"
    kind, group = (str(record.get(name) or "") for name in ("collapsed_tag", "tag"))
    for own, other in (("0", "1"), ("1", "0")):
        yield PairLine(
            where,
            f"{together}-{own}",
            record[f"image_{own}"],
            record[f"caption_{own}"],
            record[f"caption_{other}"],
            kind=kind,
            group=group,
            set=together,
            wrong_image=record[f"image_{other}"],
        )


def _valse(stem: str, where: str, key: str, record: Mapping[str, Any]) -> Iterator[PairLine]:
    found = record["mturk"].get("caption") if isinstance(record.get("mturk"), dict) else None
    votes = whole(found)
    refused = None
    if votes is not None and votes < LEAST_VOTES:
        told = f"{where}: {votes} of 3 annotators chose the caption and not the foil, fewer than {LEAST_VOTES}"
        refused = ("not-validated", told)
    yield PairLine(
        where,
        f"{stem}:{key}",
        record["image_file"],
        record["caption"],
        record["foil"],
        kind=stem,
        group=str(record.get("linguistic_phenomena") or ""),
        falsity=STATED if votes is None else VERIFIED,
        refused=refused,
    )


def _foil(path: Path, held: Mapping[str, Any]) -> tuple[str, list[PairLine]]:
    if not any(isinstance(each, dict) and "foil" in each for each in held["annotations"]):
        return "", []
    suite = read_suite(path)
    lines = [
        PairLine(
            f"{path.name}, pair {number}",
            f"{path.stem}:{number}",
            each.image,
            each.preferred,
            each.other,
            references=each.references,
        )
        for number, each in enumerate(suite.compared, start=1)
    ]
    if suite.left_out:
        told = f"{path.name}: {suite.left_out} annotations have no caption, no picture or no other side"
        lines.append(PairLine(path.name, path.name, "", "", "", refused=("missing-cell", told)))
    return "foil", lines


def _by_id(path: Path) -> dict[str, tuple[str, Mapping[str, Any]]]:
    found = _keyed(path, read_json(path))
    if not found or not all(name in found[0][2] for name in ("id", "imgid", "caption")):
        raise BadCorpus(f"{path} must be a list of objects with id, imgid and caption; give a file of paper D's data")
    return {str(record.get("id")): (where, record) for where, _, record in found}


LAYOUTS = (
    Layout(GENERIC, NEEDED, _generic),
    Layout("sugarcrepe++", ("filename", "caption", "caption2", "negative_caption"), _sugar_crepe_pp),
    Layout("sugarcrepe", ("filename", "caption", "negative_caption"), _sugar_crepe),
    Layout("aro", ("image_path", "true_caption", "false_caption"), _aro),
    Layout("winoground", ("image_0", "image_1", "caption_0", "caption_1"), _winoground),
    Layout("valse", ("image_file", "caption", "foil"), _valse),
    Layout("caption-options", ("image", "caption_options"), partial(_options, "image")),
    Layout("caption-options", ("image_path", "caption_options"), partial(_options, "image_path")),
)
"""Layouts that a record tells by its keys, in the order in which they are tried; FOIL is told by the whole file."""

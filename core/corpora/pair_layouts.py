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

VQA v2's questions become pairs by templates: a yes/no question stands with its answer against the opposite one, and
open questions of four kinds become statements: *what colour is the X*, *how many X are …*, *what animal is this*, *is
the X A or B*. What is of no such kind, or has an answer that fits none, is counted with its reason. Source: Goyal et
al. (2017), VQA v2, the files of questions and annotations; the templates are ours.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from core.corpora.corpus_files import Findings, check_lists, csv_records, entries, jsonl_records, read_json, whole
from core.corpora.labels import load_taxonomy
from core.corpora.schema import Rejection
from core.corpora.suites.suite_files import read_suite
from core.corpora.table_cells import listed_texts
from core.errors import BadCorpus
from core.seeds import RUN_SEED, stream
from core.settings import assets_dir

GENERIC = "pairs"
NEEDED = ("image", "right", "wrong")
ENDINGS = (".csv", ".tsv", ".jsonl", ".json")

LEAST_VOTES = 2  # annotators of three who chose VALSE's caption and not its foil. Source: VALSE, README.

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
    ``lines``: of (stem of the file, where, key or number, record)."""

    name: str  # what runs call the corpus where nothing else is chosen
    keys: tuple[str, ...]  # that every record has
    lines: Callable[[str, str, str, Mapping[str, Any]], Iterator[PairLine]]


def read_pairs(path: Path) -> tuple[str, list[PairLine]]:
    """Read a file of pairs; its layout is told by what its first record holds. Returns the layout's name, empty where
    it is none of them, and the lines: of no layout one line, refused with the columns that are missing.
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
        if not found:
            return "", []
        record = found[0][2]  # what it has, and what it lacks of the layout that it comes nearest to
        near = max(LAYOUTS, key=lambda each: sum(key in record for key in each.keys))
        lacks = ", ".join(key for key in near.keys if key not in record)
        told = f"{path.name} has the columns {', '.join(map(str, record))[:200]} and lacks {lacks}"
        return "", [PairLine(path.name, path.name, "", "", "", refused=("no-layout", told))]
    empty = dict.fromkeys(layout.keys)
    return layout.name, [
        line for where, key, record in found for line in layout.lines(path.stem, where, key, {**empty, **record})
    ]


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
        image, right_one, wrong_one = own.get("imgid"), own.get("caption"), other.get("caption")
        named = f"{wrong.stem}:{key}"
        lines.append(PairLine(where, named, image, right_one, wrong_one, kind=kind, group=group))
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
    names = ("language", "kind", "group", "set", "second_group", "falsity")
    words: dict[str, Any] = {name: text for name in names if (text := str(record.get(name) or "").strip())}
    wrong_image, references = record.get("wrong_image") or None, tuple(listed_texts(record.get("references")))
    image, right, wrong = (record[name] for name in NEEDED)
    yield PairLine(
        where, given or f"{stem}:{key}", image, right, wrong, wrong_image=wrong_image, references=references, **words
    )


def _sugar_crepe(stem: str, where: str, key: str, record: Mapping[str, Any]) -> Iterator[PairLine]:
    right, wrong = record["caption"], record["negative_caption"]
    yield PairLine(where, f"{stem}:{key}", record["filename"], right, wrong, kind=stem)


def _sugar_crepe_pp(stem: str, where: str, key: str, record: Mapping[str, Any]) -> Iterator[PairLine]:
    together = f"{stem}:{record.get('id', key)}"
    image, *rights, wrong = (record[name] for name in ("filename", "caption", "caption2", "negative_caption"))
    for number, right in enumerate(rights, start=1):
        yield PairLine(where, f"{together}-{number}", image, right, wrong, kind=stem, set=together)


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
    crop, group = tuple(float(side) for side in sides if side is not None), str(record.get("relation_name") or "")
    image, right, wrong = (record[name] for name in ("image_path", "true_caption", "false_caption"))
    yield PairLine(where, f"{stem}:{key}", image, right, wrong, crop=crop, kind=stem.rpartition("_")[2], group=group)


def _winoground(stem: str, where: str, key: str, record: Mapping[str, Any]) -> Iterator[PairLine]:
    together = f"{stem}:{record.get('id', key)}"
    kind, group = (str(record.get(name) or "") for name in ("collapsed_tag", "tag"))
    for own, other in (("0", "1"), ("1", "0")):
        image, right, wrong = (record[name] for name in (f"image_{own}", f"caption_{own}", f"caption_{other}"))
        beside = {"kind": kind, "group": group, "set": together, "wrong_image": record[f"image_{other}"]}
        yield PairLine(where, f"{together}-{own}", image, right, wrong, **beside)


def _valse(stem: str, where: str, key: str, record: Mapping[str, Any]) -> Iterator[PairLine]:
    votes = whole(record["mturk"].get("caption")) if isinstance(record.get("mturk"), dict) else None
    told = f"{where}: {votes} of 3 annotators chose the caption and not the foil, fewer than {LEAST_VOTES}"
    refused = ("not-validated", told) if votes is not None and votes < LEAST_VOTES else None
    image, right, wrong = (record[name] for name in ("image_file", "caption", "foil"))
    group = str(record.get("linguistic_phenomena") or "")
    falsity = STATED if votes is None else VERIFIED
    yield PairLine(
        where, f"{stem}:{key}", image, right, wrong, kind=stem, group=group, falsity=falsity, refused=refused
    )


def _foil(path: Path, held: Mapping[str, Any]) -> tuple[str, list[PairLine]]:
    if not any(isinstance(each, dict) and "foil" in each for each in held["annotations"]):
        return "", []
    suite = read_suite(path)
    lines = []
    for number, each in enumerate(suite.compared, start=1):
        own, said = f"{path.stem}:{number}", (each.image, each.preferred, each.other)
        lines.append(PairLine(f"{path.name}, pair {number}", own, *said, references=each.references))
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

VQA = "vqa"
OPPOSITE = {"yes": "no", "no": "yes"}

LEAST_AGREED = 0.9
"""Share of annotators who gave the usual answer from which another one counts as verified to be wrong; ours."""

Known = Callable[[str], bool]

Answers = tuple[str, Sequence[str]]  # a right answer, and those that may be wrong

_SUBJECT = r"(?:(?:the|this|that|these|those|his|her|their|its) [\w' -]+?|it|they)"
_THING = r"(?:an? |the )?[\w-]+"
_COLOUR = re.compile(rf"what colou?rs? (?P<verb>is|are|was|were) (?P<subject>{_SUBJECT})\?", re.I)
_COUNT = re.compile(r"how many (?P<things>[\w' -]+?) (?P<verb>are|were|have)\b(?P<rest>[\w' -]*)\?", re.I)
_ANIMAL = re.compile(
    r"what (?:(?:kind|type|sort) of )?animal is (?:this|that|it|shown|pictured|here"
    r"|(?P<place>(?:in|on|at|under|behind|beside|near|by|next to) [\w' -]+))\?",
    re.I,
)
_EITHER = re.compile(
    rf"(?P<verb>is|are|was|were) (?P<subject>it|they|he|she|this|that|{_SUBJECT}) (?P<one>{_THING}) or "
    rf"(?P<other>{_THING})\?",
    re.I,
)
_UNFINISHED = (
    "wearing", "holding", "riding", "carrying", "using", "driving", "eating", "drinking", "facing", "going", "coming",
    "looking", "taken", "made", "worn", "of", "to", "in", "on", "at", "with", "from", "by", "for", "and", "a", "an",
    "the",
)  # fmt: skip
"""Words that a thing which is asked about does not end with: *what colour is the man wearing*."""

_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_LEAST, _MOST = 2, 100  # fewest and most that a count of a caption says: below, its noun would change

_KINDS = "what colour, how many, what animal, … or …"


def answered(questions: Path, answers: Path, known: Known, found: Findings) -> list[PairLine]:
    """Join the questions with their answers.
    ``known``: whether there is a picture of a name, to tell COCO's names of 2014 from those of 2017.
    ``found``: takes what becomes no pair, by its reason. Returns one line a question that becomes a pair, in the order
    of the answers; of ``kind`` its question type, of ``group`` its right answer, or what its template is about. One
    without a question is refused.
    Raises BadCorpus if a file has another layout, or no question becomes a pair."""
    asked = {each.get("question_id"): each.get("question") for each in _listed(questions, "questions", "question")}
    lines = []
    for each in _listed(answers, "annotations", "multiple_choice_answer"):
        line = _line(each, asked, answers, known)
        if isinstance(line, Rejection):
            found.count(line.code, 1, line)
        else:
            lines.append(line)
    if not lines:
        told = f"no question that becomes a pair of captions (yes/no, {_KINDS})"
        raise BadCorpus(f"{answers} holds {told}; give VQA v2's file of annotations")
    return lines


def _line(entry: Mapping[str, Any], asked: Mapping[Any, Any], answers: Path, known: Known) -> PairLine | Rejection:
    key, right = entry.get("question_id"), str(entry["multiple_choice_answer"]).strip()
    own, where, question = f"vqa:{key}", f"{answers.name}, question {key}", asked.get(key)
    if not isinstance(question, str) or not question.strip():
        told = f"{where}: the file of questions has no question of that id; give the two files of one split"
        return PairLine(where, own, "", "", "", refused=("missing-cell", told))
    given = [str(each.get("answer")).strip() for each in entry.get("answers") or () if isinstance(each, dict)]
    agreed = given.count(right) / len(given) >= LEAST_AGREED if given else False
    question = " ".join(question.split())
    if entry.get("answer_type") == "yes/no":
        if right not in OPPOSITE:
            return Rejection(own, "answer-no-template", f"{where}: {right!r} is neither yes nor no"[:300])
        said, wrong = (f"{question} {each.capitalize()}." for each in (right, OPPOSITE[right]))
        group, falsity = right, VERIFIED if agreed else STATED
    else:
        template = _template(question, right)
        if template is None:
            return Rejection(own, "no-template", f"{where}: {question!r} is neither yes/no nor {_KINDS}"[:300])
        kind, answer, statement = template
        free = [each for each in answer[1] if each not in given] if answer else []
        if answer is None or not (free or kind == "either"):
            return Rejection(own, "answer-no-template", f"{where}: {right!r} makes no caption of {question!r}"[:300])
        # a wrong answer that nobody gave; of two that the question names, the other one
        other = free[int(stream(RUN_SEED, "vqa", str(key)).integers(len(free)))] if free else answer[1][0]
        said, wrong = (statement(each) for each in (answer[0], other))
        group, falsity = kind, VERIFIED if agreed and free else PRESUMED
    picture, kind = _picture(entry.get("image_id"), known), str(entry.get("question_type") or "")
    return PairLine(where, own, picture, said, wrong, kind=kind, group=group, falsity=falsity)


def _template(question: str, right: str) -> tuple[str, Answers | None, Callable[[str], str]] | None:
    """The kind of an open question, its answers (None where its own fits none), and what says one as a sentence; None
    where it is of no kind."""
    if (found := _COLOUR.fullmatch(question)) and _whole(found["subject"]):
        begin = f"{found['subject']} {found['verb'].casefold()}"
        return "colour", _among(right, _colours(), {"gray", "grey"}), lambda answer: _sentence(f"{begin} {answer}")
    if (found := _COUNT.fullmatch(question)) and _whole(found["things"]):
        count = int(right) if right.isascii() and right.isdigit() and len(right) <= 3 else 0
        others = [str(each) for each in (count - 1, count + 1) if each >= _LEAST]
        return "count", (right, others) if _LEAST <= count <= _MOST else None, partial(_counted, found)
    if found := _ANIMAL.fullmatch(question):
        known = [each.label for each in load_taxonomy("coco").entries.values() if each.category == "animal"]
        place = f" {found['place']}" if found["place"] else ""
        return (
            "animal",
            _among(right, known, frozenset()),
            lambda answer: f"The animal{place} is {'an' if answer[0] in 'aeiou' else 'a'} {answer}.",
        )
    if (found := _EITHER.fullmatch(question)) and _whole(found["subject"]):
        begin = f"{found['subject']} {found['verb'].casefold()}"
        stated = {_bare(found[side]): found[side] for side in ("one", "other")}
        others = [each for each in stated if each != _bare(right)]
        answers = (right, others) if _bare(right) in stated and others else None
        return "either", answers, lambda answer: _sentence(f"{begin} {stated[_bare(answer)]}")
    return None


def _counted(found: re.Match[str], answer: str) -> str:
    number = _NUMBERS[int(answer) - _LEAST] if int(answer) - _LEAST < len(_NUMBERS) else answer
    rest = found["rest"].strip()
    if found["verb"].casefold() != "have" and rest.split()[:1] == ["there"]:
        return _sentence(" ".join(["there", found["verb"], number, found["things"], *rest.split()[1:]]))
    return _sentence(" ".join([number, found["things"], found["verb"], *rest.split()]))


def _bare(thing: str) -> str:
    return re.sub(r"^(?:an?|the) ", "", thing.strip(), flags=re.I).casefold()


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _whole(thing: str) -> bool:
    return thing.casefold().split()[-1] not in _UNFINISHED


def _among(right: str, known: Sequence[str], same: Collection[str]) -> Answers | None:
    """An answer of a closed list, and the others of the list, without those that mean the same."""
    said = right.casefold()
    alike = same if said in same else {said}
    return (said, [each for each in known if each not in alike]) if said in known else None


@cache
def _colours() -> tuple[str, ...]:
    lines = (assets_dir() / "words" / "colours.csv").read_text(encoding="utf-8").splitlines()
    return tuple(line.strip().casefold() for line in lines if line.strip() and not line.startswith("#"))[1:]


def _picture(number: Any, known: Known) -> str:
    """Stem of a picture's file as COCO names it: of 2014, of 2017, or the number alone."""
    if not isinstance(number, int) or isinstance(number, bool):
        return ""
    names = (f"COCO_val2014_{number:012d}", f"COCO_train2014_{number:012d}", f"{number:012d}", str(number))
    return next((name for name in names if known(name)), names[0])


def _listed(path: Path, name: str, needed: str) -> Iterator[Mapping[str, Any]]:
    counts: dict[str, int] = {}
    for found, entry in entries(path, counts):
        if found != name:
            continue
        if not isinstance(entry, dict) or needed not in entry:
            told = f"{path}: an entry of {name!r} has no {needed}; give VQA v2's file, got {str(entry)[:60]!r}"
            raise BadCorpus(told)
        yield entry
    check_lists(path, counts, (name,), layout="VQA v2's file")

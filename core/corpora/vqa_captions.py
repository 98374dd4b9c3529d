"""VQA v2's questions as pairs of captions: the answer that people gave, and one that is wrong.

A yes/no question stands with its answer against the opposite one. Open questions of four kinds become statements by
templates: *what colour is the X*, *how many X are …*, *what animal is this*, *is the X A or B*. What is of no such
kind, or has an answer that fits none, is counted with its reason.

Source: Goyal et al. (2017), VQA v2, the files of questions and annotations; the templates are ours.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from core.corpora.corpus_files import check_lists, entries
from core.corpora.findings import Findings
from core.corpora.labels import load_taxonomy
from core.corpora.pair_layouts import PRESUMED, STATED, VERIFIED, PairLine
from core.corpora.schema import Rejection
from core.errors import BadCorpus
from core.seeds import RUN_SEED, stream
from core.settings import assets_dir

VQA = "vqa"
OPPOSITE = {"yes": "no", "no": "yes"}

LEAST_AGREED = 0.9
"""Share of annotators who gave the usual answer from which another one counts as verified to be wrong; ours."""

Known = Callable[[str], bool]

Answers = tuple[str, Sequence[str]]
"""A right answer, and those that may be wrong."""

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
_LEAST, _MOST = 2, 100
"""Fewest and most that a count of a caption says: below, its noun would change."""

_KINDS = "what colour, how many, what animal, … or …"


def answered(questions: Path, answers: Path, known: Known, found: Findings) -> list[PairLine]:
    """Join the questions with their answers.
    ``known``: whether there is a picture of a name, to tell COCO's names of 2014 from those of 2017.
    ``found``: takes what becomes no pair, by its reason.
    Returns one line a question that becomes a pair, in the order of the answers; of ``kind`` its question type, of
    ``group`` its right answer, or what its template is about. One without a question is refused.
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
        raise BadCorpus(
            f"{answers} holds no question that becomes a pair of captions (yes/no, {_KINDS}); give VQA v2's file of "
            "annotations"
        )
    return lines


def _line(entry: Mapping[str, Any], asked: Mapping[Any, Any], answers: Path, known: Known) -> PairLine | Rejection:
    key, right = entry.get("question_id"), str(entry["multiple_choice_answer"]).strip()
    where, question = f"{answers.name}, question {key}", asked.get(key)
    if not isinstance(question, str) or not question.strip():
        told = f"{where}: the file of questions has no question of that id; give the two files of one split"
        return PairLine(where, f"vqa:{key}", "", "", "", refused=("missing-cell", told))
    given = [str(each.get("answer")).strip() for each in entry.get("answers") or () if isinstance(each, dict)]
    agreed = given.count(right) / len(given) >= LEAST_AGREED if given else False
    question = " ".join(question.split())
    if entry.get("answer_type") == "yes/no":
        if right not in OPPOSITE:
            return _passed(key, "answer-no-template", f"{where}: {right!r} is neither yes nor no")
        said, wrong = (f"{question} {each.capitalize()}." for each in (right, OPPOSITE[right]))
        group, falsity = right, VERIFIED if agreed else STATED
    else:
        kind, answer = _told_by_template(question, right)
        if not kind:
            return _passed(key, "no-template", f"{where}: {question!r} is neither yes/no nor {_KINDS}")
        free = [each for each in answer[1] if each not in given] if answer else []
        if answer is None or not (free or kind == "either"):
            return _passed(key, "answer-no-template", f"{where}: {right!r} makes no caption of {question!r}")
        # a wrong answer that nobody gave; of two that the question names, the other one
        other = free[int(stream(RUN_SEED, "vqa", str(key)).integers(len(free)))] if free else answer[1][0]
        said, wrong = (_statement(question, kind, each) for each in (answer[0], other))
        group, falsity = kind, VERIFIED if agreed and free else PRESUMED
    return PairLine(
        where,
        f"vqa:{key}",
        _picture(entry.get("image_id"), known),
        said,
        wrong,
        kind=str(entry.get("question_type") or ""),
        group=group,
        falsity=falsity,
    )


def _passed(key: object, code: str, told: str) -> Rejection:
    return Rejection(f"vqa:{key}", code, told[:300])


def _told_by_template(question: str, right: str) -> tuple[str, Answers | None]:
    """The kind of an open question, empty where it is of none, and its answers, None where its own fits none."""
    if (found := _COLOUR.fullmatch(question)) and _whole(found["subject"]):
        return "colour", _among(right, _colours(), {"gray", "grey"})
    if (found := _COUNT.fullmatch(question)) and _whole(found["things"]):
        count = int(right) if right.isascii() and right.isdigit() and len(right) <= 3 else 0
        others = [str(each) for each in (count - 1, count + 1) if each >= _LEAST]
        return "count", (right, others) if _LEAST <= count <= _MOST else None
    if _ANIMAL.fullmatch(question):
        return "animal", _among(right, _animals(), frozenset())
    if (found := _EITHER.fullmatch(question)) and _whole(found["subject"]):
        named = {_bare(found[side]): side for side in ("one", "other")}
        side = named.pop(_bare(right), None)
        return "either", (right, tuple(named)) if side is not None and named else None
    return "", None


def _statement(question: str, kind: str, answer: str) -> str:
    """A question of a kind, answered, as a sentence."""
    found = {"colour": _COLOUR, "count": _COUNT, "animal": _ANIMAL, "either": _EITHER}[kind].fullmatch(question)
    assert found is not None
    if kind == "colour":
        return _sentence(f"{found['subject']} {found['verb'].casefold()} {answer}")
    if kind == "animal":
        place = f" {found['place']}" if found["place"] else ""
        return f"The animal{place} is {'an' if answer[0] in 'aeiou' else 'a'} {answer}."
    if kind == "count":
        number = _NUMBERS[int(answer) - _LEAST] if int(answer) - _LEAST < len(_NUMBERS) else answer
        rest = found["rest"].strip()
        if found["verb"].casefold() != "have" and rest.split()[:1] == ["there"]:
            return _sentence(" ".join(["there", found["verb"], number, found["things"], *rest.split()[1:]]))
        return _sentence(" ".join([number, found["things"], found["verb"], *rest.split()]))
    side = next(each for each in ("one", "other") if _bare(found[each]) == _bare(answer))
    return _sentence(f"{found['subject']} {found['verb'].casefold()} {found[side]}")


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


@cache
def _animals() -> tuple[str, ...]:
    return tuple(each.label for each in load_taxonomy("coco").entries.values() if each.category == "animal")


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
            raise BadCorpus(
                f"{path}: an entry of {name!r} has no {needed}; give VQA v2's file, got {str(entry)[:60]!r}"
            )
        yield entry
    check_lists(path, counts, (name,), layout="VQA v2's file")

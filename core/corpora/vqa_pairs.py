"""VQA v2's yes/no questions as pairs of captions: a question with its answer, and with the opposite one.

Two files of the publisher are joined by ``question_id``: questions (``{"questions": [{"image_id", "question",
"question_id"}]}``) and answers (``{"annotations": [{"question_id", "image_id", "question_type", "answer_type",
"multiple_choice_answer", "answers": [{"answer"}]}]}``). Nothing is reworded, so that nothing is made up: *Is the
umbrella upside down? Yes.* against *Is the umbrella upside down? No.* Both files are read entry by entry.

Sources: visualqa.org, download page, *Input Questions Format* and *Annotation Format*; paper D, 4.4.1, which takes its
negations from these questions.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from core.corpora.json_stream import check_lists, entries
from core.corpora.pair_layouts import STATED, VERIFIED, PairLine
from core.errors import BadCorpus

NAME = "vqa-yes-no"
OPPOSITE = {"yes": "no", "no": "yes"}

LEAST_AGREED = 0.9
"""Share of annotators who gave the usual answer from which the opposite one counts as verified to be wrong; ours."""

Known = Callable[[str], bool]


def answered(questions: Path, answers: Path, known: Known) -> list[PairLine]:
    """Join the questions with their answers.

    Args:
        questions, answers: the publisher's files.
        known: whether there is a picture of a name, to tell COCO's names of 2014 from those of 2017.

    Returns:
        One line a yes/no question whose usual answer is yes or no, in the order of the answers; of ``kind`` its
        question type, of ``group`` its right answer. One without a question is refused.

    Raises:
        BadCorpus: if a file has another layout, or holds no yes/no question.
    """
    asked = {each.get("question_id"): each.get("question") for each in _listed(questions, "questions", "question")}
    lines = [
        _line(each, asked, answers, known)
        for each in _listed(answers, "annotations", "multiple_choice_answer")
        if each.get("answer_type") == "yes/no" and each["multiple_choice_answer"] in OPPOSITE
    ]
    if not lines:
        raise BadCorpus(f"{answers} holds no yes/no question; give VQA v2's file of annotations")
    return lines


def _line(found: Mapping[str, Any], asked: Mapping[Any, Any], answers: Path, known: Known) -> PairLine:
    key, right = found.get("question_id"), found["multiple_choice_answer"]
    where, question = f"{answers.name}, question {key}", asked.get(key)
    if not isinstance(question, str) or not question.strip():
        told = f"{where}: the file of questions has no question of that id; give the two files of one split"
        return PairLine(where, f"vqa:{key}", "", "", "", refused=("missing-cell", told))
    given = [each.get("answer") for each in found.get("answers") or () if isinstance(each, dict)]
    agreed = given.count(right) / len(given) if given else 0.0
    said, opposite = (f"{question.strip()} {each.capitalize()}." for each in (right, OPPOSITE[right]))
    return PairLine(where, f"vqa:{key}", _picture(found.get("image_id"), known), said, opposite,
                    kind=str(found.get("question_type") or ""), group=right,
                    falsity=VERIFIED if agreed >= LEAST_AGREED else STATED)  # fmt: skip


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

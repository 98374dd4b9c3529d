"""What a judge wrote, read with suspicion: a score with its reason, or why there is none."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import InvalidInput

MOST_TOKENS = 300
"""Tokens that an answer may have: a number and a sentence."""

LONGEST_REASON = 500
"""Characters of a judge's reason that are kept."""

HUNDRED = 100
"""Upper end of the only scale on which a percentage is its number."""

_FENCE = re.compile(r"^```(?:json)?\s*(.*?)\s*```$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Form:
    """What a rubric asks for: a number of a scale, and mostly a sentence.
    ``reasoned``: whether an answer gives its reason.
    ``whole``: whether the number must be a whole one.
    ``bare``: whether the answer is the number alone, and no JSON."""

    low: float = 0
    high: float = 10
    reasoned: bool = True
    whole: bool = True
    bare: bool = False


TEN = Form()
"""What ``assets/rubrics/judge.md`` asks for."""

_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
"""What a model that thinks before it answers writes first, often with nothing in it."""

_NUMBER = re.compile(r"[^\d.,\u2010-\u2015\u2212-]*(-?\d+(?:\.\d+)?)[^\d,\u2010-\u2015\u2212-]*")
"""One number, and words around it, but no dash, which may be a sign or a range; several are no score."""

_BOUND = re.compile(
    r"""(?:(?<![<\w/])\w*\s*[<>≤≥]=?                    # but not the end of <score>
    |\b(?:than|at\s+(?:most|least|best)|up\s+to|under|over|below|above|beyond|between|nearly|almost|not|exceed\w*
        |max\w*|min\w*)\b(?:\s+[^\W\d_]+){0,3})[\s:"'*(]*\d
    |\d[\s"'*)]*(?:\+|or\b|at\s+(?:most|least|best)\b|and\s+a\b|max)""",
    re.IGNORECASE | re.VERBOSE,
)


def is_bound(answer: str) -> bool:
    """Whether the number of an answer only bounds the score, which is none.

    >>> [is_bound(each) for each in ("less than a 4", "> 7", "4 or more", "<score>4", "Score: 4. Over.")]
    [True, True, True, False, False]
    """
    return _BOUND.search(answer) is not None


class _Score(BaseModel):
    """An answer without a reason; anything else is no score."""

    model_config = ConfigDict(extra="forbid", strict=True)

    score: float = Field(allow_inf_nan=False)


class Verdict(_Score):
    """A score with its reason, which is empty where none was asked for."""

    reason: str


class NoVerdict(InvalidInput):
    """An answer that holds no score."""


class _Message(BaseModel):
    content: str | None = None
    refusal: Any = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: Any = None


class Completion(BaseModel):
    """What is read of a chat completion; what else stands in one is left alone, ``usage`` to the budget."""

    choices: list[_Choice]
    model: Any = None
    usage: Any = None


def read_completion(body: bytes) -> Completion:
    """Read the envelope of an answer. Raises NoVerdict where it is none."""
    try:
        return Completion.model_validate_json(body)
    except ValidationError as error:
        text = body[:80].decode("utf-8", "replace")
        raise NoVerdict(f"the judge's answer is no chat completion ({_first(error)}): {text!r}") from None


def verdict(answer: Completion, form: Form = TEN) -> Verdict:
    """Read a score out of an answer. Raises NoVerdict with what is wrong."""
    if not answer.choices:
        raise NoVerdict("the judge's answer has no choice")
    choice = answer.choices[0]
    if choice.message.refusal:
        raise NoVerdict("the judge refused to judge this pair")
    if choice.finish_reason == "length":
        raise NoVerdict(f"the judge's answer was cut off after {MOST_TOKENS} tokens")
    return read_verdict(choice.message.content or "", form)


def read_verdict(answer: str, form: Form = TEN) -> Verdict:
    """Read the JSON that a judge was asked for, bare or in a fence, or the number; a long reason is cut, not refused.
    Raises NoVerdict with what is wrong."""
    answer = _THOUGHT.sub("", answer, count=1) if answer.lstrip().startswith("<think>") else answer
    found = _number(answer, form) if form.bare else _json(answer, form)
    if not form.low <= found.score <= form.high:
        raise NoVerdict(
            f"the judge's score is {found.score:g}, which is not on the scale from {form.low:g} to {form.high:g} that "
            "it was asked for"
        )
    if form.whole and not found.score.is_integer():
        raise NoVerdict(
            f"the judge's score is {found.score:g}, and it was asked for a whole number from {form.low:g} to "
            f"{form.high:g}; a share may be of another scale"
        )
    reason = found.reason if isinstance(found, Verdict) else ""
    return Verdict(score=found.score, reason=one_line(reason, limit=LONGEST_REASON))


def _json(answer: str, form: Form) -> _Score:
    text = answer.strip()
    fenced = _FENCE.match(text)
    try:
        return (Verdict if form.reasoned else _Score).model_validate_json(fenced[1] if fenced else text)
    except ValidationError as error:
        raise NoVerdict(
            f"the judge's answer is not the JSON it was asked for ({_first(error)}): {text[:80]!r}"
        ) from None


def _number(answer: str, form: Form) -> _Score:
    found = _NUMBER.fullmatch(answer.strip())
    part = any(unicodedata.category(sign) == "No" for sign in answer)  # a fraction or a power beside the digits
    if (
        found is None
        or part
        or ("%" in answer and form.high != HUNDRED)
        or len(found[1]) > MOST_TOKENS
        or is_bound(answer)
    ):
        raise NoVerdict(f"the judge's answer is not the one number it was asked for: {answer.strip()[:80]!r}")
    return _Score(score=float(found[1]))


def kept_score(answer: str) -> float:
    """Score of an answer that was read before it was kept, whatever its scale."""
    return Verdict.model_validate_json(answer).score


def one_line(text: str, *, limit: int) -> str:
    """Return a stranger's text as one printable line of at most ``limit`` characters, cut after a sentence or word."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text[: 20 * limit]).split())
    if len(line) <= limit:
        return line
    kept = line[: limit - 1]
    end = max(kept.rfind(stop) for stop in (". ", "! ", "? ", "。"))
    if end >= limit // 2:
        return kept[: end + 1]
    return (kept.rpartition(" ")[0] or kept) + "…"


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else first["msg"]

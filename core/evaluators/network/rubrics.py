"""Rubrics as data: what a judge is asked, on which scale, in which order, and the variants that it is held against.

A rubric is a TOML file, of ``assets/rubrics`` or the reader's own. A variant asks the same thing in another way: the
file writes out those of its words and scale (``[variants.NAME]``, whose settings replace its own); a few follow from
any rubric (:data:`MADE`). What a judge wrote is read with suspicion: a score with its reason, or why there is none.
"""

import hashlib
import json
import re
import tomllib
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from core.corpora.ordinary_paths import ordinary
from core.corpora.versioned_files import first_wrong
from core.errors import InvalidInput
from core.settings import assets_dir

MOST_TOKENS = 300  # tokens that an answer may have: a number and a sentence
LONGEST_REASON = 500  # characters of a judge's reason that are kept
_FENCE = re.compile(r"^```(?:json)?\s*(.*?)\s*```$", re.DOTALL)


_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)  # what a thinking model writes first
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


MOST_BYTES = 64_000  # bytes of a rubric's file
MARK = "~"  # stands between a rubric and its variant: ``judge~scale-5``
SEED = 2025
WARM = 1.0  # temperature of the variants ``warm-1``, ``warm-2``, …: what a model samples at by itself
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_VARIANT = re.compile(f"{MARK}({_NAME.pattern})$")
_PLACES = re.compile(r"\{(caption|references)\}")
_BULLETS = re.compile(r"(?:^- .*\n?(?:^ {2,}\S.*\n?)*){2,}", re.MULTILINE)
_BULLET = re.compile(r"^- .*\n?(?:^ {2,}\S.*\n?)*", re.MULTILINE)


class Rubric(BaseModel):
    """What is asked of a model about a pair, and what its answer is."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    title: Annotated[str, Field(min_length=1, max_length=120)] = "own rubric"  # for a reader
    # what is asked. With ``{caption}`` it is the whole question, and ``{references}`` in it stands for a list of
    # captions by people; without, it precedes every question, which is the caption.
    text: Annotated[str, Field(min_length=1, max_length=20_000)]
    low: Annotated[float, Field(allow_inf_nan=False)]
    high: Annotated[float, Field(allow_inf_nan=False)]
    whole: bool = True  # whether a score is a whole number
    reason: bool = True  # whether a sentence is asked for beside the score
    answer: Literal["json", "number"] = "json"  # ``json``, an object with ``score``; ``number``, the bare number
    picture: Literal["first", "last", "none"] = "first"  # whether it comes before the text, behind it, or is not shown
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0  # that answers are sampled at
    repeat: Annotated[int, Field(ge=1, le=99)] = 1  # which time the same is asked; answers to each are kept apart
    # of captions, as its author says; empty: unknown
    languages: tuple[Annotated[str, Field(pattern="^[a-z]{2,3}$")], ...] = ()
    source: str = ""  # where it is from

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.low >= self.high:
            raise ValueError(f"the scale goes from low to high, got {self.low:g} to {self.high:g}")
        if "{references}" in self.text and "{caption}" not in self.text:
            raise ValueError("a text with {references} needs {caption}, too")
        return self

    @property
    def bare(self) -> bool:
        """Whether an answer is the number alone, without a reason, and no JSON."""
        return self.answer == "number"

    @property
    def takes_references(self) -> bool:
        """Whether captions by people are shown beside the one that is judged."""
        return "{references}" in self.text

    @property
    def seed(self) -> int:
        """Of the sampling: the same in every repeat at temperature 0, another one in each above."""
        return SEED if self.temperature == 0 else SEED + self.repeat

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides an answer beside picture and caption, for a fingerprint."""
        names = ("text", "low", "high", "whole", "reason", "answer", "picture", "temperature", "repeat")
        return {**{name: getattr(self, name) for name in names}, "seed": self.seed}

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits of the text and of what is not as it is unless a file says otherwise. A rubric
        from 0 to 10 that says nothing else has those of its text alone."""
        usual = Rubric(text=self.text, low=0, high=10).settings
        other = {name: value for name, value in self.settings.items() if value != usual[name]}
        text = self.text + (json.dumps(other, sort_keys=True) if other else "")
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def messages(self, caption: str, references: Sequence[str] = (), *, picture: str = "") -> list[dict[str, Any]]:
        """The conversation that asks about a pair.
        ``picture``: address of it, ``data:`` or ``file:``; left out where the rubric shows none."""
        told, whole = self.question(caption, references), "{caption}" in self.text
        text = {"type": "text", "text": told}
        shown = [] if self.picture == "none" else [{"type": "image_url", "image_url": {"url": picture}}]
        content = [text, *shown] if self.picture == "last" else [*shown, text]
        before = [] if whole else [{"role": "system", "content": self.text}]
        return [*before, {"role": "user", "content": content}]

    def question(self, caption: str, references: Sequence[str] = ()) -> str:
        """The text of a question, without what precedes every one."""
        told = {"caption": caption, "references": "\n".join(f"- {each}" for each in references)}
        if "{caption}" not in self.text:
            return f"Caption:\n{caption}"
        return _PLACES.sub(lambda place: told[place[1]], self.text)

    def prompt(self, caption: str, references: Sequence[str] = ()) -> str:
        """All that a model reads of a pair, for a reader."""
        asked = self.question(caption, references)
        return asked if "{caption}" in self.text else f"{self.text}\n\n{asked}"


TEN = Rubric(text="Caption:", low=0, high=10)  # what an answer must be where no rubric is named


def verdict(answer: Completion, rubric: Rubric = TEN) -> Verdict:
    """Read a score out of an answer. Raises NoVerdict with what is wrong."""
    if not answer.choices:
        raise NoVerdict("the judge's answer has no choice")
    choice = answer.choices[0]
    if choice.message.refusal:
        raise NoVerdict("the judge refused to judge this pair")
    if choice.finish_reason == "length":
        raise NoVerdict(f"the judge's answer was cut off after {MOST_TOKENS} tokens")
    return read_verdict(choice.message.content or "", rubric)


def read_verdict(answer: str, rubric: Rubric = TEN) -> Verdict:
    """Read the JSON that a judge was asked for, bare or in a fence, or the number; a long reason is cut, not refused.
    Raises NoVerdict with what is wrong."""
    answer = _THOUGHT.sub("", answer, count=1) if answer.lstrip().startswith("<think>") else answer
    text = answer.strip()
    if rubric.bare:
        number = _NUMBER.fullmatch(text)
        part = any(unicodedata.category(sign) == "No" for sign in answer)  # a fraction or a power beside the digits
        share = "%" in answer and rubric.high != 100  # the only scale on which a percentage is its number
        if number is None or part or share or len(number[1]) > MOST_TOKENS or is_bound(answer):
            raise NoVerdict(f"the judge's answer is not the one number it was asked for: {text[:80]!r}")
        found = _Score(score=float(number[1]))
    else:
        fenced = _FENCE.match(text)
        try:
            kind = Verdict if rubric.reason else _Score
            found = kind.model_validate_json(fenced[1] if fenced else text)
        except ValidationError as error:
            told = f"the judge's answer is not the JSON it was asked for ({_first(error)})"
            raise NoVerdict(f"{told}: {text[:80]!r}") from None
    if not rubric.low <= found.score <= rubric.high:
        raise NoVerdict(
            f"the judge's score is {found.score:g}, which is not on the scale from {rubric.low:g} to {rubric.high:g} "
            "that it was asked for"
        )
    if rubric.whole and not found.score.is_integer():
        raise NoVerdict(
            f"the judge's score is {found.score:g}, and it was asked for a whole number from {rubric.low:g} to "
            f"{rubric.high:g}; a share may be of another scale"
        )
    reason = found.reason if isinstance(found, Verdict) else ""
    return Verdict(score=found.score, reason=one_line(reason, limit=LONGEST_REASON))


def find_rubric(reference: str) -> tuple[str, Rubric]:
    """Return a rubric and the name that it is stored under.
    ``reference``: a name of ``assets/rubrics`` or the path of a ``.toml``, either with ``~VARIANT`` behind it. That of
    a reader's own file is stored under its stem and six digits of what it says.
    Raises InvalidInput if it cannot be read, has no scale, or no such variant."""
    found = _VARIANT.search(reference)
    place, variant = (reference[: found.start()], found[1]) if found else (reference, "")
    shipped = assets_dir() / "rubrics" / f"{place}.toml"
    if place.endswith(".toml"):
        path = ordinary(Path(place).expanduser())
        told = _read(path)
        name = f"{path.stem.replace(' ', '-')}-{_checked(path, told).digest[:6]}"
    elif _NAME.fullmatch(place) and shipped.is_file():
        path, name, told = shipped, place, _read(shipped)
    else:
        raise InvalidInput(f"no rubric {place[:120]!r}; take one of {', '.join(rubric_names())}, or a path.toml")
    base = _checked(path, told)
    return (name, base) if not variant else (f"{name}{MARK}{variant}", _variant(path, told, base, variant))


def rubric_names() -> tuple[str, ...]:
    """Rubrics of ``assets/rubrics`` that can be asked of any model; what has no scale is none."""
    files = sorted((assets_dir() / "rubrics").glob("*.toml"))
    return tuple(path.stem for path in files if {"low", "high"} <= _read(path).keys())


def told_rubric(entry: object) -> str:
    """What a judge was asked, on one line: scale, picture, sampling, text.
    ``entry``: what a manifest says of an evaluator, still unchecked.
    Returns an empty text for an evaluator that is asked by no rubric."""
    told = entry if isinstance(entry, Mapping) else {}
    made, origin = (own if isinstance(own := told.get(name), Mapping) else {} for name in ("fingerprint", "imported"))
    asked = origin.get("rubric") or made.get("settings")
    names = ("low", "high", "picture", "temperature", "repeat")
    if not isinstance(asked, Mapping) or not isinstance(asked.get("text"), str) or not set(names) <= asked.keys():
        return ""
    low, high, picture, temperature, repeat = (str(asked[name])[:20] for name in names)
    how = f"{low} to {high}; picture {picture}; temperature {temperature}; asked for time {repeat}"
    return f"{how}: {one_line(asked['text'], limit=4000)}"


def _reversed(base: Rubric) -> Rubric | None:
    def turned(found: re.Match[str]) -> str:
        lines = [each if each.endswith("\n") else f"{each}\n" for each in _BULLET.findall(found[0])]
        text = "".join(reversed(lines))
        return text if found[0].endswith("\n") else text.removesuffix("\n")

    text = _BULLETS.sub(turned, base.text)
    return None if text == base.text else base.model_copy(update={"text": text})


def _picture(base: Rubric, where: str) -> Rubric | None:
    return None if base.picture == "none" else base.model_copy(update={"picture": where})


MADE: Mapping[str, Callable[[Rubric], Rubric | None]] = {
    "criteria-reversed": _reversed,
    "picture-first": lambda base: _picture(base, "first"),
    "picture-last": lambda base: _picture(base, "last"),
    **{f"repeat-{n}": lambda base, n=n: base.model_copy(update={"repeat": n}) for n in range(2, 10)},  # type: ignore[misc]
    **{
        f"warm-{n}": lambda base, n=n: base.model_copy(update={"repeat": n, "temperature": WARM})  # type: ignore[misc]
        for n in range(1, 10)
    },
}
"""Variants of any rubric: its lists of ``-`` read from the end, the picture before or behind the text, the same asked
again at its own temperature and at WARM. None where a rubric has nothing to vary."""


def _variant(path: Path, told: Mapping[str, Any], base: Rubric, name: str) -> Rubric:
    written = told.get("variants", {})
    if name in written:
        if not isinstance(written[name], dict):
            raise InvalidInput(f"{path}: the variant {name!r} must be a table, [variants.{name}]")
        found: Rubric | None = _checked(path, {**told, **written[name]})
    else:
        found = MADE[name](base) if name in MADE else None
    if found is None or found == base:
        ways = ", ".join((*written, *(each for each in MADE if not each[-1].isdigit()), "repeat-2", "warm-1"))
        why = f"the rubric {path.stem!r} has no variant {name[:60]!r} that differs from it; there may be {ways}"
        raise InvalidInput(why)
    return found.model_copy(update={"title": f"{base.title}, {name}"})


def _read(path: Path) -> dict[str, Any]:
    """What a file says, the text of another file that it names in its place."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InvalidInput(f"{path} has more than {MOST_BYTES:,} bytes; a rubric is a page of text")
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        other = told.pop("text_file", None)
        if other is not None:
            if not isinstance(other, str) or Path(other).name != other:
                raise InvalidInput(f"{path}: text_file must be the name of a file beside it, got {other!r}")
            told["text"] = ordinary(path.parent / other).read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"the rubric {path} cannot be read ({error.strerror or error}); check the path") from error
    except ValueError as error:  # TOML and UTF-8 alike
        raise InvalidInput(f"the rubric {path} is no TOML in UTF-8 ({error}); correct it") from error
    if not isinstance(told.get("variants", {}), dict):
        raise InvalidInput(f"{path}: variants must be tables, [variants.NAME]")
    return told


def _checked(path: Path, told: Mapping[str, Any]) -> Rubric:
    if missing := [name for name in ("low", "high") if name not in told]:
        raise InvalidInput(
            f"the rubric {path} does not say its scale ({' and '.join(missing)} missing); write the lowest and the "
            "highest score that it asks for, such as low = 0 and high = 10"
        )
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}
    given.pop("variants", None)
    try:
        return Rubric.model_validate(given)
    except ValidationError as error:
        raise InvalidInput(f"the rubric {path}: {first_wrong(error)}; correct it") from error

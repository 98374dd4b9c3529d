"""Two reports held against each other by their headline numbers, row by row of each question.

A report holds no items, so nothing is paired: no difference has an interval, a test or a claim.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from core.errors import InvalidInput
from core.features.compare.two_sides import SidesCompared
from core.report.document import parse_signature
from core.report.headline_numbers import Headlines, place, read_headlines

QUESTION = "question"
"""Of which level a row is."""

UNTESTED = (
    "A report holds no items: these differences have no interval and no test; compare of the two runs pairs the items "
    "and has both, family by family."
)

_OF_ROW = ("question", "title", "of", "digits", "signed", "evaluator", "label")


def is_report(side: Path | str) -> bool:
    """Whether a side is the folder of a report, its ``data``, or its headline numbers."""
    return Path(side).exists() and place(Path(side)) is not None


def of_reports(a: Path, b: Path, chosen: Sequence[Mapping[str, tuple[str, ...]]]) -> SidesCompared:
    """Hold the rows that both reports have against each other: a question after the other, the largest first.

    The two may be the same report, where ``evaluator`` of each side chooses two of its evaluators.

    Returns:
        Rows of question, title, of, digits, signed, evaluator (empty where one is chosen), label, and value, low, high
        and n of each side, and the difference A - B.

    Raises:
        InvalidInput: if one cannot be read, they are of other captions, have no row in common, or are equal.
    """
    if any(set(each) - {"evaluator"} for each in chosen):
        raise InvalidInput("of a report --a and --b choose an evaluator alone, e.g. evaluator=conse-lite0")
    one, other = (read_headlines(found) for side in (a, b) if (found := place(side)) is not None)
    if one.captions != other.captions:
        raise InvalidInput(
            f"A is of captions of {one.captions}, and B of {other.captions}; write both reports with the same "
            "--subject and --language"
        )
    asked = [each.get("evaluator", ("",))[0] for each in chosen]
    names = [name or asked[1 - side] for side, name in enumerate(asked)]
    first, second = _rows(one, names[0], "a"), _rows(other, names[1], "b")
    rows = first.merge(second.drop(columns=["title", "of", "digits", "signed"]), on=["question", "evaluator", "label"])
    if rows.empty:
        raise InvalidInput(
            f"{a} and {b} have no row of a question in common; compare reports of the same questions and evaluators, "
            "or choose --a evaluator=… and --b evaluator=…"
        )
    rows["difference"] = rows["a_value"] - rows["b_value"]
    if len(rows) == len(first) == len(second) and (rows["difference"] == 0).all():
        raise InvalidInput(f"both sides say the same in each of the {len(rows):,} rows; there is nothing to compare")
    places = {each.id: place for place, each in enumerate(one.questions)}
    order = rows.assign(place=rows["question"].map(places), size=-rows["difference"].abs())
    rows = rows.loc[order.sort_values(["place", "size"], kind="stable").index].reset_index(drop=True)
    words = [f"{name or side.title}, {path}" for name, side, path in zip(names, (one, other), (a, b), strict=True)]
    only = [len(each) - len(rows) for each in (first, second)]
    return SidesCompared(words[0], words[1], QUESTION, "", None, rows, only[0], only[1], len(rows), _made(one, other))


def _rows(held: Headlines, evaluator: str, side: str) -> pd.DataFrame:
    known = sorted({row.evaluator for each in held.questions for row in each.rows})
    if evaluator and evaluator not in known:
        raise InvalidInput(f"{held.title} has no evaluator {evaluator!r}; evaluators: {', '.join(known)}")
    records = [
        (
            *(each.id, each.title, each.of, each.digits, each.signed, "" if evaluator else row.evaluator, row.row),
            *(row.value, row.low, row.high, row.n),
        )
        for each in held.questions
        for row in each.rows
        if row.evaluator == (evaluator or row.evaluator)
    ]
    numbers = [f"{side}_{name}" for name in ("value", "low", "high", "n")]
    return pd.DataFrame(records, columns=[*_OF_ROW, *numbers]).astype(dict.fromkeys(numbers, float))


def _made(one: Headlines, other: Headlines) -> pd.DataFrame:
    """What two reports were made with that is not the same: fields of their signatures, the scores' own aside."""
    a, b = (parse_signature(each.signature) for each in (one, other))
    records = [
        {"what": name, "a": _said(a[name]), "b": _said(b[name])} for name in a if name != "sha" and a[name] != b[name]
    ]
    return pd.DataFrame(records, columns=["what", "a", "b"])


def _said(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value)

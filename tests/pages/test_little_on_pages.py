"""Of a run that holds too little no page, report or card shows an interval of no width, a bare p or a rank."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import pytest

from core.analysis.verdicts import NO_NULL
from core.errors import InvalidInput
from core.report.build import build
from core.report.fairness_card import card_report
from core.report.report_files import markdown
from core.settings import results_dir
from core.store.store import Store
from tests.analysis.broken_runs import BROKEN, HARMLESS, facts_of, rows_of, write_broken
from tests.analysis.test_little_claims_little import OF_LEVELS
from tests.pages.opening import (
    CALIBRATION,
    CONTRAST,
    FAILURES,
    FLIP_RISK,
    OVERVIEW,
    RESULTS,
    UNFOLDED,
    Open,
    said,
    shown,
    unfolded,
)

Rows = list[dict[str, Any]]
PROBES = ("identity", *HARMLESS, *BROKEN, "size:small", "size:large")


def made(items: int = 24, without: Callable[[dict[str, Any]], bool] = lambda row: False, **told: Any) -> Rows:
    rows = [row for row in rows_of(("e", "f"), probes=PROBES, items=items) if not without(row)]
    return [{**row, **({"score": row["score"] * 0.9} if row["evaluator"] == "f" else {}), **told} for row in rows]


LITTLE: Mapping[str, Callable[[], Rows]] = {
    "one item": lambda: made(1),
    "nine items": lambda: made(9),
    "one source": made,
    "equal scores": lambda: made(score=0.5),
    "no null edits": lambda: made(without=lambda row: row.get("axis") == "null"),
    "no controls": lambda: made(without=lambda row: row.get("family") == "blur"),
}
CLAIMS_NOTHING = ("one item", "nine items", "one source", "equal scores")
WHY_OF = {"no null edits": NO_NULL, "no controls": "no run has a moved object"}
"""What stands on page, report and card of a run that lacks one half of a comparison."""

PAGES = (OVERVIEW, RESULTS, FAILURES, FLIP_RISK, CALIBRATION, CONTRAST)

EACH = pytest.mark.parametrize(
    ("little", "kind"),
    [pytest.param(kind, kind, id=kind, marks=() if kind == "one source" else pytest.mark.whole) for kind in LITTLE],
    indirect=["little"],
)

NUMBER = r"([−+-]?\d[\d.,]*)"
POINT = re.compile(rf"\[{NUMBER}, \1\]|(?:CI|\() ?{NUMBER} to \2\b(?! ×)|^{NUMBER} to \3$")
CLAIMED = re.compile(r"\bp (?:\(Holm\) )?[=<] ?[\d.]|\b(?:1st|2nd|ranks? (?:first|1))\b")
CLAIMS = ("p", "p_holm", "t_p", "friedman_p", "strongest", "worst_in", "rank", "winner")
NOTHING = ("", "—", None)
WHY = re.compile(
    r"too few|below 1\d|no interval|equal|constant|alike|cannot|unclear|only one|no number|No two items|never changes"
)


@pytest.fixture
def little(open_page: Open, request: pytest.FixtureRequest) -> None:
    rows = LITTLE[request.param]()
    facts = facts_of(["denied", "swapped:near"], {"falsity": ["verified"]}, items=len({row["item"] for row in rows}))
    write_broken(results_dir() / "little", rows, facts=facts, source="s" if request.param == "one source" else None)


def offences(kind: str, words: str, frames: Sequence[pd.DataFrame]) -> Iterator[str]:
    few = kind in CLAIMS_NOTHING
    for pattern in (POINT, CLAIMED) if few else (POINT,):
        for found in pattern.finditer(words):
            yield words[max(found.start() - 100, 0) : found.end() + 30]
    for frame in frames:
        for row in frame.to_dict("records"):
            told = {str(name): value for name, value in row.items()}
            for name, value in told.items():
                high = told.get(name.replace("low", "high")) if "low" in name else None
                if isinstance(value, float) and value == high and (few or "exact bound" not in str(told)):
                    yield f"{name} has no width: {told}"
                if isinstance(value, str) and POINT.search(value):
                    yield f"{name} has no width: {told}"
                if few and name in CLAIMS and value not in NOTHING and value == value:
                    yield f"{name} is claimed: {told}"


@EACH
@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("page", PAGES)
def test_a_page_claims_nothing_of_too_little_and_says_why(open_page: Open, kind: str, page: str) -> None:
    app = open_page(page)
    assert not app.exception
    app = unfolded(app) if any(each.proto.id for each in app.expander) else app
    words = "\n".join([said(app), *(f"{each.value} {each.delta}" for each in app.metric)])
    frames = [each.value for each in app.dataframe]
    assert not (bad := list(dict.fromkeys(offences(kind, words, frames)))), "\n".join(bad)
    if kind in WHY_OF and page == OVERVIEW:
        assert WHY_OF[kind].lower() in said(open_page(page, **UNFOLDED)).lower()
    if kind in CLAIMS_NOTHING and page != FAILURES:  # which shows pairs, and estimates nothing
        assert WHY.search(" ".join([words, *(each.to_string() for each in frames)])), words


@EACH
@pytest.mark.usefixtures("little")
def test_a_report_and_a_card_claim_nothing_of_too_little(kind: str) -> None:
    with Store.open(results_dir() / "little") as store:
        report = build(store)
        try:
            card = shown(card_report(store))
        except InvalidInput as error:  # nothing can be on it, and that is said
            card = str(error)
    if kind in WHY_OF:
        assert WHY_OF[kind] in " ".join([markdown(report), *(each.reason for each in report.missing)])
        assert WHY_OF[kind] in card
    parts = [each for each in (*report.tables, *report.details) if OF_LEVELS not in each.note]
    words = f"{markdown(report)} {card}".replace("\\", "")
    assert not (bad := list(dict.fromkeys(offences(kind, words, [each.frame for each in parts])))), "\n".join(bad)

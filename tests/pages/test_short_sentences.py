"""Sentences of the pages and the card that are read first are short, whatever the runs hold."""

import re
from html import unescape

import pytest

from core.report.fairness_card import card_report
from core.settings import ROOT
from core.store.store import Store
from tests.pages.opening import FLIP_RISK, OVERVIEW, UNFOLDED, Open, long_sentences, texts, unfolded

FOLDED = {OVERVIEW: UNFOLDED, FLIP_RISK: {}}


@pytest.mark.parametrize("view", FOLDED)
@pytest.mark.parametrize("runs", ["demo", "both_halves", "scoped"])
def test_no_sentence_of_a_page_that_is_read_first_is_long(
    open_page: Open, request: pytest.FixtureRequest, runs: str, view: str
) -> None:
    request.getfixturevalue(runs)
    app = open_page(view, **FOLDED[view])
    assert not app.exception
    assert long_sentences(texts(unfolded(app) if view == FLIP_RISK else app)) == []


def card_texts(store: Store) -> str:
    """What the fairness card says, a paragraph a line; what a cell says stands between semicolons."""
    page = re.sub(r"<style.*?</style>", "", card_report(store), flags=re.DOTALL)
    cells = re.sub(r"<td class=.words.>.*?</td>", lambda cell: cell[0].replace("; ", "\n"), page)
    return unescape(re.sub(r"<[^>]+>", "\n", cells))


@pytest.mark.parametrize("run", ["demo", "demo-captions", "demo-scenes", "demo-sweeps"])
def test_no_sentence_of_the_fairness_card_is_long(run: str) -> None:
    with Store.open(ROOT / "data" / "results" / run) as store:
        assert long_sentences(card_texts(store)) == []

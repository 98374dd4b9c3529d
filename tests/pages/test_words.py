"""The coined words: one page of them, each where it is looked for, none that the documentation does not know."""

import json
import re

import pytest

from core.features.feature import views
from core.settings import ROOT
from pages.views.common.text import glossary, meaning
from tests.pages.opening import (
    CALIBRATION,
    COMPARE,
    CONTRAST,
    FAILURES,
    FLIP_RISK,
    HUMAN,
    OVERVIEW,
    RESULTS,
    RUN,
    SUITES,
    SYSTEMS,
    UNFOLDED,
    VIDEO,
    WORDS,
    Open,
    said,
)


def test_every_word_is_on_the_page_with_its_meaning(open_page: Open) -> None:
    shown = said(open_page(WORDS))
    for term, word in glossary().items():
        assert f"**{term[0].upper() + term[1:]}**" in shown
        assert word.meaning in shown


def test_a_word_is_found_by_its_meaning_too(open_page: Open) -> None:
    app = open_page(WORDS)
    app.text_input(key="words.find").set_value("inverts").run()
    assert "**Flip risk**" in said(app)
    assert "**Corpus**" not in said(app)
    assert dict(app.query_params) == {"find": "inverts"}


def test_a_word_that_is_not_there_is_said(open_page: Open) -> None:
    assert "No word here contains “quux”." in said(open_page(WORDS, find="quux"))


def test_the_documentation_explains_every_word_and_every_page_exists() -> None:
    told = re.sub(r"[*_\s]+", " ", (ROOT / "docs" / "words.md").read_text("utf-8")).lower()
    for term, word in glossary().items():
        assert term.removesuffix("s").lower() in told, term
        assert word.page in {"", *(view.name for view in views())}, term


def test_every_word_is_explained_beside_a_label_of_another_page(open_page: Open, demo: object) -> None:
    hints = set()
    for page in (
        OVERVIEW,
        RESULTS,
        FAILURES,
        FLIP_RISK,
        CALIBRATION,
        CONTRAST,
        RUN,
        SUITES,
        SYSTEMS,
        VIDEO,
        COMPARE,
        HUMAN,
    ):
        app = open_page(page, **UNFOLDED if page == OVERVIEW else {})
        hints |= {each.proto.help for each in app.title}
        for frame in app.dataframe:
            columns = json.loads(frame.proto.columns or "{}").values()
            hints |= {str(each.get("help") or "") for each in columns}
    said = "\n".join(hints)
    assert [term for term, word in glossary().items() if word.meaning not in said] == []


def test_a_table_explains_the_coined_words_that_head_its_columns(open_page: Open, demo: object) -> None:
    (table, *_) = open_page(RESULTS, question="words").dataframe
    helps = {each.get("label"): each.get("help") for each in json.loads(table.proto.columns).values()}
    assert helps["Family"] == meaning("family")


def test_the_keys_are_listed(open_page: Open) -> None:
    shown = said(open_page(WORDS))
    for key in ("Ctrl+K", "`←`", "`→`", "`S`", "`1 2 3 …`"):
        assert key in shown
    assert "Ctrl+K" not in said(open_page(WORDS, find="drift"))


def test_a_hint_names_the_words_that_it_explains() -> None:
    assert meaning("drift", "stability").startswith("**Drift**: ")
    with pytest.raises(KeyError):
        meaning("drifting")

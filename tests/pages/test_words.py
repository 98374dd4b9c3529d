"""The coined words: one page of them, each where it is looked for, none that the documentation does not know."""

import re

import pytest

from core.settings import ROOT
from pages.views.common.glossary import glossary, meaning
from tests.pages.opening import WORDS, Open, said


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
    assert "No word here holds “quux”." in said(open_page(WORDS, find="quux"))


def test_the_documentation_explains_every_word_and_every_page_exists() -> None:
    told = re.sub(r"[*_\s]+", " ", (ROOT / "docs" / "words.md").read_text("utf-8")).lower()
    for term, word in glossary().items():
        assert term.removesuffix("s").lower() in told, term
        assert not word.page or (ROOT / "pages" / f"{word.page}.py").is_file(), term


def test_a_hint_names_the_words_that_it_explains() -> None:
    assert meaning("drift", "scatter").startswith("**Drift**: ")
    with pytest.raises(KeyError):
        meaning("drifting")

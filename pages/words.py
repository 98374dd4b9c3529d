"""Words: what the coined words of the dashboard mean, and where each is met."""

import streamlit as st

from pages.views.common.entry import enter
from pages.views.common.frame import header
from pages.views.common.glossary import Word, glossary
from pages.views.common.text import safe
from pages.views.common.url_state import Field, PageState, text

LIMIT = 40


def draw() -> None:
    """Draw the page."""
    state = PageState("words", (Field("find", "", text(limit=LIMIT)),))
    state.restore()
    header("Words", "What the coined words mean. On the other pages a ? beside a label says the same.", state)
    st.text_input("Find", key=state.key("find"), placeholder="e.g. null band", max_chars=LIMIT, width=320)
    wanted = str(state.get("find")).strip().lower()
    found = {term: word for term, word in glossary().items() if wanted in f"{term} {word.meaning}".lower()}
    if not found:
        st.info(f"No word here holds “{safe(wanted)}”.", icon=":material/search_off:")
    for term, word in found.items():
        _entry(term, word)
    state.publish()


def _entry(term: str, word: Word) -> None:
    name, told, way = st.columns([2, 6, 2], vertical_alignment="top")
    name.markdown(f"**{safe(term[0].upper() + term[1:])}**")
    told.markdown(safe(word.meaning, limit=400))
    if word.page:
        way.page_link(f"pages/{word.page}.py", icon=":material/arrow_forward:")


enter()
draw()

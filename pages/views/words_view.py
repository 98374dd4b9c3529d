"""Words: what the coined words of the dashboard mean, where each is met, and which keys there are."""

from collections.abc import Mapping

import streamlit as st

from pages.views.common.links import called, link_to
from pages.views.common.page_head import header
from pages.views.common.text import glossary, safe
from pages.views.common.url_state import Field, PageState, text

LIMIT = 40

KEYS: Mapping[str, Mapping[str, str]] = {
    "Every page": {"Ctrl+K": "finds pages, findings, evaluators, items and words (⌘K on a Mac)"},
    "Findings, Pictures": {"P": "the page before", "N": "the next page"},
    "Present, in Try a picture and Stories": {"←": "the one before", "→": "the next one"},
    "Annotators of a study": {
        "1 2 3 …": "the answers, as they are numbered on the buttons",
        "←": "back to the item before",
        "→": "on from an item that was judged already",
        "S": "skip, then Shift with the number of a reason",
        "K": "comment",
        "I": "instructions",
        "Enter": "begin, and go on after a practice item",
    },
}
"""Where -> key -> what it does."""


def draw() -> None:
    """Draw the view."""
    state = PageState("words", (Field("find", "", text(limit=LIMIT)),))
    state.restore()
    header("What the words mean. A ? beside a label says the same.", state)
    st.text_input("Find", key=state.key("find"), placeholder="e.g. noise band", max_chars=LIMIT, width=320)
    wanted = str(state.get("find")).strip().lower()
    found = {term: word for term, word in glossary().items() if wanted in f"{term} {word.meaning}".lower()}
    if not found:
        st.info(f"No word here contains “{safe(wanted)}”.", icon=":material/search_off:")
    for term, word in found.items():
        head, said, way = st.columns([2, 6, 2], vertical_alignment="top")
        head.markdown(f"**{safe(term[0].upper() + term[1:])}**")
        said.markdown(safe(word.meaning, limit=400))
        if word.page:
            with way:
                link_to(word.page, called(word.page), icon=":material/arrow_forward:")
    if not wanted:
        st.header("Keys", anchor=False)
        for place, keys in KEYS.items():
            name, told = st.columns([2, 8], vertical_alignment="top")
            name.markdown(f"**{place}**")
            told.markdown("  \n".join(f"`{key}` {what}" for key, what in keys.items()))
    state.publish()

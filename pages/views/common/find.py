"""Find: one box, opened by Ctrl+K on any page, for pages, findings, evaluators, items and words."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

import streamlit as st

from core.analysis.scope import Scope
from core.errors import InvariscopeError
from core.features.feature import troubles
from core.probes.titles import family_title
from pages.views.common.caches import KEYED
from pages.views.common.hints import glossary
from pages.views.common.layers import find, finding
from pages.views.common.links import FAILURES, LAB, RESULTS, failures_link
from pages.views.common.open_runs import Signature, findings, narrowed, present, scores
from pages.views.common.run_corpora import corpus_name_of
from pages.views.common.text import safe
from pages.views.common.url_state import carried

WORDS = "pages/words.py"

# A box that is opened by a key is typed into at once; Streamlit has no focus for a widget.
_FOCUS = """
export default function () {
  let left = 40;
  const focus = () => {
    const input = document.querySelector('[role="dialog"] input');
    if (left-- <= 0 || (input && document.activeElement === input)) return clearInterval(trying);
    input?.focus();
  };
  const trying = setInterval(focus, 100);
  return () => clearInterval(trying);
}
"""
_focus = st.components.v2.component("invariscope_focus", js=_FOCUS)

Titles = Mapping[str, str]
"""File of a page -> its title."""


class Place(NamedTuple):
    """Something to be found.

    Args:
        name: what the reader types a part of.
        page: file of the page that shows it.
        link: parameters of that page's link.
    """

    name: str
    page: str
    link: dict[str, str]


def draw_find(titles: Titles) -> None:
    """Draw the button that opens the box, in the rail.

    Args:
        titles: of the pages that this session may see.
    """
    st.sidebar.button(
        "Find",
        icon=":material/search:",
        shortcut="ctrl+k",
        key="find",
        type="tertiary",
        on_click=_ask,
        help="A page, a finding, an evaluator, an item or a word",
    )
    if finding():
        _box(titles)


def tell_troubles() -> None:
    """Say in the rail which features are not there as a whole; nothing where all are."""
    for sentence in _troubles():
        st.sidebar.warning(safe(sentence, limit=300), icon=":material/extension_off:")


@cache
def _troubles() -> tuple[str, ...]:
    return troubles(followed=True)


def _ask() -> None:
    find(now=True)


def _close() -> None:
    find(now=False)


# It stays asked for until it is closed: a page that runs again meanwhile would take the box away.
@st.dialog("Find", width="medium", on_dismiss=_close)
def _box(titles: Titles) -> None:
    places = [*(Place(f"Page · {title}", file, carried()) for file, title in titles.items()), *_stored(titles)]
    chosen = st.selectbox(
        "Find",
        places,
        index=None,
        format_func=lambda place: place.name,
        label_visibility="collapsed",
        placeholder="A page, a finding, an evaluator, an item, a word",
        key="find.chosen",
    )
    _focus(key="find.focus", height=1)
    if chosen is not None:
        _close()
        st.switch_page(chosen.page, query_params=chosen.link)
    st.caption("Type a part of its name, then Enter. Items are those of the largest run of each corpus.")


def _stored(titles: Titles) -> list[Place]:
    """What the runs hold, then the words; without a run that can be read, the words alone."""
    found = list[Place]()
    files = present()
    if files:
        try:
            found = [place for kind in _KINDS for place in kind(files) if place.page in titles]
        except InvariscopeError as error:
            st.warning(safe(str(error), limit=300))
    words = (Place(f"Word · {term}", WORDS, {"find": term}) for term in glossary())
    return [*found, *(place for place in words if place.page in titles)]


def _findings(files: Signature) -> list[Place]:
    rows = findings(files, narrowed(files, Scope()).only())
    return [
        Place(
            f"Finding · {row['evaluator']} moves by {row['median_abs_percent']:.1f} % under "
            f"{family_title(row['family'])}",
            FAILURES,
            failures_link(row),
        )
        for _, row in rows.iterrows()
    ]


def _evaluators(files: Signature) -> list[Place]:
    names = scores(files, narrowed(files, Scope())).evaluators
    return [Place(f"Evaluator · {name}", RESULTS, {"evaluators": name}) for name in names]


@st.cache_data(hash_funcs=KEYED, max_entries=4, show_spinner="Listing the items …")
def _items(files: Signature) -> list[Place]:
    scope = narrowed(files, Scope())
    rows, called = (
        scores(files, scope).items,
        {corpus: corpus_name_of(run, corpus, files) for corpus, run in scope.runs},
    )
    return [
        Place(
            f"Item · {label or 'no label'} · {item} · {corpus}",
            LAB,
            {"corpus": called[corpus] or str(corpus), "item": str(item)},
        )
        for corpus, item, label in rows[["corpus", "item", "label"]].itertuples(index=False)
    ]


_KINDS: tuple[Callable[[Signature], list[Place]], ...] = (_findings, _evaluators, _items)

"""What the page Findings, Pictures remembers in its link, and what it asks the store."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.failures import PAIR, record, scales, under_every_evaluator
from core.analysis.ranking import ORDERS, Ranking, rank
from core.analysis.scope import Narrowed, Scope
from core.analysis.slices import Slice
from core.errors import InvalidInput
from pages.views.common.links import read_record
from pages.views.common.open_runs import KEYED, Signature, narrowed, scores, store, under_all, unsure_words
from pages.views.common.scope_chips import scope_fields
from pages.views.common.slice_filters import slice_fields
from pages.views.common.url_state import (
    Field,
    PageState,
    checked,
    joined,
    one_of,
    pick_field,
    some_of,
    switch_field,
    text,
    whole,
)

LAYOUTS: Mapping[str, str] = {"cards": "Cards", "grid": "Grid"}  # how a page of pairs is drawn -> its words

A_PAGE: Mapping[str, int] = {"cards": 12, "grid": 36}
"""Layout -> pairs on one page: a card has two pictures, a tile of the grid one."""

Named = tuple[tuple[str, str], ...] | None  # the only (item, probe) to look at; None: every one
FLOORS = (0, 1, 5, 10, 25)  # choices of the smallest baseline, in % of the evaluator's typical unedited score

MARKS: Mapping[str, str] = {"object": "Moved object", "changes": "Changed pixels", "none": "None"}
"""What is marked on the pictures -> its words."""


def failure_state(files: Signature, tags: Sequence[str] = ()) -> PageState:
    """Return the page's fields over these runs; ``tags``: those that stand somewhere."""
    floors = ", ".join(map(str, FLOORS))
    return PageState(
        "failures",
        (
            *scope_fields(files),
            *slice_fields(files),
            Field("sort", "standardised", one_of(lambda: ORDERS, "standardised", what="order")),
            Field("layout", "cards", one_of(lambda: tuple(LAYOUTS), "cards", what="layout")),
            Field("tagged", [], some_of(lambda: tags, what="tag"), joined),
            switch_field("every"),
            Field("item", "", text(limit=200)),
            Field("like", "", text(limit=200)),
            pick_field("floor", 5, FLOORS, str, f"The smallest baseline must be one of {floors} %"),
            Field("marks", "object", one_of(lambda: tuple(MARKS), "object", what="marks")),
            Field("page", 1, checked(whole(1, 10**9 - 1), 1, "The page must be a number from 1")),
            Field("record", "", _read_record),
        ),
    )


def begin_at_first_page(state: PageState, scope: Narrowed, chosen: Slice, followed: bool) -> None:
    """Go back to page 1 when the reader changes what is ranked; a link that was followed names its own page."""
    asked = (state.get(name) for name in ("sort", "floor", "every", "item", "like", "layout"))
    view = (scope, chosen, *asked, tuple(state.get("tagged")))
    before = st.session_state.get(state.key("view"))
    if before not in (None, view) and not followed:
        state.put("page", 1)
    st.session_state[state.key("view")] = view


@st.cache_data(hash_funcs=KEYED, max_entries=8, show_spinner=False)
def usual_scales(files: Signature, scope: Narrowed) -> pd.DataFrame:
    """Spread and noise floor of every evaluator of the run; see ``core.analysis.failures.scales``."""
    return scales(scores(files, under_all(files, scope)))


@st.cache_data(hash_funcs=KEYED, max_entries=64, show_spinner=False)
def page_of_pairs(
    files: Signature,
    scope: Narrowed,
    chosen: Slice,
    order: str,
    floor: int,
    page: int,
    *,
    once: bool,
    item: str,
    a_page: int,
    named: Named,
) -> Ranking:
    """One page of the ranking; see ``core.analysis.ranking.rank``."""
    return rank(
        scores(files, scope),
        chosen,
        usual_scales(files, scope),
        order=order,
        floor=floor / 100,
        limit=a_page,
        offset=a_page * (page - 1),
        once=once,
        item=item or None,
        named=named,
        behind=unsure_words(files, scope),
    )


def page_in_view(
    state: PageState, files: Signature, scope: Narrowed, chosen: Slice, page: int, *, named: Named
) -> Ranking:
    """A page of what the reader asked for: an item once, every pair, or every pair of one item.

    Args:
        named: the only (item, probe) to look at; None: every one.
    """
    return page_of_pairs(
        files,
        scope,
        chosen,
        state.get("sort"),
        state.get("floor"),
        page,
        once=once(state),
        item=state.get("item"),
        a_page=A_PAGE[state.get("layout")],
        named=named,
    )


def once(state: PageState) -> bool:
    """Whether an item has one card alone."""
    return not state.get("every") and not state.get("item")


@st.cache_data(hash_funcs=KEYED, max_entries=64, show_spinner=False)
def shifts_of(files: Signature, scope: Narrowed, pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs under every evaluator; see ``core.analysis.failures.under_every_evaluator``."""
    return under_every_evaluator(store(files), scope, pairs, usual_scales(files, scope))


def record_of(files: Signature, scope: Narrowed, pair: Mapping[str, str]) -> list[dict[str, Any]]:
    """Everything that is known of a pair, of this scope or of another run or subject; empty where it is not there."""
    try:
        own = narrowed(files, Scope(runs=(pair["run"],), subject=pair["subject"], language=scope.language))
        return record(store(files), own, pair, usual_scales(files, own))
    except InvalidInput:
        return []


def by_pair(pairs: pd.DataFrame, rows: pd.DataFrame) -> list[pd.DataFrame]:
    """The rows of each pair, in the order of the pairs."""
    # of one type and laid out anew, a row is one stretch of memory: cards look at every value of every row
    parts = dict(iter(rows.astype(object).copy().groupby(list(PAIR), sort=False)))
    return [parts[tuple(pair[name] for name in PAIR)] for _, pair in pairs.iterrows()]


def _read_record(raw: str) -> tuple[str, str]:
    if read_record(raw) is not None:
        return raw, ""
    return "", f"The record of this link names no pair: {raw[:60]!r}."

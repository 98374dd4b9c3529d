"""Tags and notes on the cards of the page Failures: the operator's own, shown to nobody else."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from core.analysis.scope import Narrowed
from core.errors import InvariscopeError
from core.probes.titles import title
from core.stories.slide import MOST_NOTE
from core.stories.tags import MOST_TAGS, Held, Pair, Tagged, Tags
from pages.views.common.access import may_operate, operators_only
from pages.views.common.layers import finding
from pages.views.common.text import safe
from pages.views.common.url_state import PageState

SUGGESTED = ("bad edit", "meaning changed", "real failure")
"""Offered before anybody wrote a tag."""

_ASKED, _SAID, _DONE, _TAGS, _NOTE = (f"failures.tagging.{name}" for name in ("asked", "said", "done", "tags", "note"))


def begin_tags() -> Held:
    """Say what was written in the run before, and return what stands where; nothing for whoever may not write."""
    if not may_operate():
        return Held({})
    if done := st.session_state.pop(_DONE, None):
        _close()
        st.toast(done, icon=":material/label:")
    log = Tags()
    return _held(str(log.path), log.size())


@st.cache_data(max_entries=4, show_spinner=False)
def _held(path: str, size: int) -> Held:  # noqa: ARG001  # the log only grows: its size tells what was read
    return Tags().read()


def pair_of(pair: pd.Series, *, language: str, rank: int) -> Pair:
    """Name a pair under a caption; ``pair`` has ``core.analysis.failures.PAIR``."""
    return Pair(str(pair["run"]), str(pair["item"]), str(pair["subject"]), str(pair["probe"]), language, rank)


def named(held: Held, scope: Narrowed, tags: list[str]) -> tuple[tuple[str, str], ...] | None:
    """(item, probe) of the scope with one of some tags; None where no tag is asked for."""
    if not tags:
        return None
    own = (scope.run, scope.subject, scope.language, scope.rank)
    return tuple(
        (pair.item, pair.probe)
        for pair, told in held.pairs.items()
        if (pair.run, pair.subject, pair.language, pair.rank) == own and set(tags) & set(told.tags)
    )


def draw_tag_filter(state: PageState, held: Held) -> None:
    """Draw the choice of tags, where there are any, and say what of them cannot be read."""
    if held.names:
        st.multiselect(
            "Tagged",
            held.names,
            key=state.key("tagged"),
            placeholder="Any or none",
            width=210,
            help="Pairs with at least one of these tags",
        )
    for problem in held.problems:
        st.caption(f":material/warning: {safe(problem, limit=500)}")


def draw_tags(told: Tagged) -> None:
    """Draw what stands at a pair."""
    said = " ".join(f":blue-badge[:material/label: {safe(each)}]" for each in told.tags)
    if said:
        st.markdown(said)
    if told.note:
        st.caption(f":material/notes: {safe(told.note, limit=600)}")


def tag_button(pair: Pair, held: Held, *, key: str, before: Callable[[], None] | None = None) -> None:
    """Draw the button that opens the box.

    Args:
        pair: to be tagged.
        held: what stands where.
        key: of the place.
        before: is done first, e.g. closing the dialog that the button is in.
    """
    if may_operate():
        st.button(
            "Tag",
            icon=":material/label:",
            type="tertiary",
            key=f"failures.tag.{key}",
            on_click=_ask,
            args=(pair, held.of(pair), before),
            help="Tags and a note of your own",
        )


def show_tagging(held: Held) -> None:
    """Open the box where somebody asked for it."""
    if st.session_state.get(_ASKED) is not None and not finding():
        _box(held)


def with_tags(shifts: pd.DataFrame, held: Held, scope: Narrowed) -> pd.DataFrame:
    """Shifts with the columns ``tags`` (joined by commas) and ``note``, where anything is tagged."""
    if not held.pairs:
        return shifts
    told = [
        held.of(pair_of(row, language=scope.language, rank=scope.rank))
        for _, row in shifts[["run", "item", "subject", "probe"]].iterrows()
    ]
    return shifts.assign(tags=[", ".join(each.tags) for each in told], note=[each.note for each in told])


@operators_only
def _ask(pair: Pair, told: Tagged, before: Callable[[], None] | None) -> None:
    if before is not None:
        before()
    st.session_state[_ASKED] = pair
    st.session_state[_TAGS], st.session_state[_NOTE] = list(told.tags), told.note
    st.session_state.pop(_SAID, None)


def _close() -> None:
    st.session_state.pop(_ASKED, None)
    st.session_state.pop(_SAID, None)


@st.dialog("Tag", on_dismiss=_close)
def _box(held: Held) -> None:
    if _DONE in st.session_state:  # only the whole page closes a box
        st.rerun()
    pair: Pair = st.session_state[_ASKED]
    st.caption(
        f"**{safe(title(pair.probe))}** · {safe(pair.item, limit=120)}. For your own eyes: viewers see none of it."
    )
    offered = list(dict.fromkeys((*st.session_state.get(_TAGS, ()), *held.names, *SUGGESTED)))
    st.multiselect(
        "Tags",
        offered,
        key=_TAGS,
        accept_new_options=True,
        max_selections=MOST_TAGS,
        filter_mode="contains",
        placeholder="Choose, or type a new one and press Enter",
    )
    st.text_area("Note", key=_NOTE, max_chars=MOST_NOTE, height=100, placeholder="What is to be seen here")
    st.button("Save", type="primary", key="failures.tagging.save", on_click=_save, args=(pair,))
    if said := st.session_state.get(_SAID):
        st.error(safe(said, limit=400))


@operators_only
def _save(pair: Pair) -> None:
    try:
        told = Tags().put(pair, st.session_state.get(_TAGS, []), st.session_state.get(_NOTE, ""))
    except InvariscopeError as error:
        st.session_state[_SAID] = str(error)
        return
    st.session_state[_DONE] = "Nothing stands here any more." if told.empty else "Written down."

"""Systems: captioners on a leaderboard, how far its order can be trusted, and one's own captions below."""

from functools import partial

import streamlit as st

from core.features.systems.system_board import systems_of
from core.features.systems.system_file import Leaderboard
from pages.views.common.collect import Origin, figures_of
from pages.views.common.page_head import drawn, header
from pages.views.common.text import counted, safe
from pages.views.common.url_state import PageState
from pages.views.systems.board_details import SOURCE, draw_details
from pages.views.systems.kept_board import draw_top
from pages.views.systems.new_board import (
    boards,
    computed,
    draw_new,
    draw_sentences,
    is_example,
    opened,
    stamp,
    systems_state,
)

NEW = "Rank your own captions"


def draw() -> None:
    """Draw the view."""
    state = systems_state()
    state.restore()
    if made := st.session_state.pop("systems.made", None):  # scored a moment ago: show it
        state.put("show", "kept")
        state.put("board", made)
    header(
        "Which captioner ranks above which, how surely, and would a harmless edit swap them?",
        state,
    )
    with drawn(state):
        if state.get("show") == "kept" and boards():
            _board(state)
            return
        if boards():
            st.button("The leaderboard", icon=":material/arrow_back:", on_click=state.put, args=("show", "kept"))
        st.header(NEW, anchor=False)
        draw_new(state)


def _board(state: PageState) -> None:
    row = st.container(horizontal=True, vertical_alignment="bottom", key="systems_choice")
    name = state.choose(row.container(width=260), "board", "Leaderboard", boards(), help="The latest stands first")
    known = stamp(name)
    made = opened(known)
    every = systems_of(made.rows)
    state.put("without", [each for each in state.get("without") if each in every][: len(every) - 1])
    systems = tuple(each for each in every if each not in state.get("without"))
    evaluator = state.choose(row.container(width=260), "judge", "Metric", tuple(made.evaluators))
    chosen = f"{len(systems)} of {len(every)}" if state.get("without") else f"all {len(every)}"
    with row.popover(f"Systems: **{chosen}**", key="systems.leave", disabled=len(every) == 1):
        st.multiselect(
            "Leave out",
            every,
            key=state.key("without"),
            placeholder="Nobody",
            max_selections=len(every) - 1 or None,
            help="Ranks are of the pictures that all others caption",
        )
    row.button(
        NEW,
        type="primary",
        icon=":material/upload_file:",
        key="systems.new",
        on_click=state.put,
        args=("show", "new"),
    )
    if is_example(name):
        st.markdown(
            f":blue-badge[Example] Stand-ins for captioners: {counted(len(every), 'kind')} of captions of the same "
            f"pictures (corpus {safe(made.corpus)}, run {safe(made.name)})."
        )
    if made.left_out:
        draw_sentences((f"{counted(len(made.left_out), 'score')} missing, named under *More checks · {SOURCE}*",))
    figures_of(Origin(state, _of(made)))
    tables = partial(computed, known, systems)
    draw_top(made, tables, evaluator)
    draw_sentences(() if is_example(name) else made.remarks)
    draw_details(made, tables, evaluator)


def _of(made: Leaderboard) -> str:
    prints = ", ".join(f"{each}, fingerprint {key}" for each, key in made.evaluators.items())
    of = f"Leaderboard {made.name}, corpus {made.corpus}, scored {made.created} by {prints}"
    return f"{of}, Invariscope {made.version}, seed {made.seed}"

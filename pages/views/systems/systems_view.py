"""Systems: captioners on a leaderboard, how far its order can be trusted, and the health of their captions."""

import streamlit as st

from core.features.systems.system_board import systems_of
from core.features.systems.system_file import as_bytes, list_leaderboards
from pages.views.common.collect import Origin, figures_of
from pages.views.common.page_head import drawn, header
from pages.views.common.text import counted, moment, safe
from pages.views.common.url_state import PageState
from pages.views.systems.kept_board import (
    draw_agreement,
    draw_beside,
    draw_differences,
    draw_edits,
    draw_health,
    draw_length,
    draw_picks,
    draw_scales,
    draw_standings,
)
from pages.views.systems.new_board import (
    VIEWS,
    computed,
    draw_new,
    draw_none,
    draw_sentences,
    opened,
    stamp,
    systems_state,
)


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
    if list_leaderboards():
        state.switch("show", "Show", VIEWS, label_visibility="collapsed")
    with drawn(state):
        if state.get("show") == "new":
            draw_new(state)
        elif not list_leaderboards():
            draw_none(state)
        else:
            _board(state)


def _board(state: PageState) -> None:
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    name = state.choose(left, "board", "Leaderboard", list_leaderboards(), help="The latest stands first")
    made = opened(stamp(name))
    every = systems_of(made.rows)
    state.put("without", [each for each in state.get("without") if each in every][: len(every) - 1])
    right.multiselect(
        "Leave out",
        every,
        key=state.key("without"),
        placeholder="Nobody",
        max_selections=len(every) - 1 or None,
        disabled=len(every) == 1,
        help="Ranks are of the pictures that all others caption",
    )
    systems = tuple(each for each in every if each not in state.get("without"))
    found = computed(stamp(name), systems)
    evaluator = state.choose(st.container(width=320), "judge", "Evaluator", tuple(made.evaluators))
    draw_sentences(made.remarks)
    if made.left_out:
        with st.expander(f"{counted(len(made.left_out), 'score')} missing", icon=":material/block:"):
            draw_sentences(made.left_out)
    prints = ", ".join(f"{each}, fingerprint {key}" for each, key in made.evaluators.items())
    of = f"Leaderboard {made.name}, corpus {made.corpus}, scored {made.created} by {prints}"
    figures_of(Origin(state, f"{of}, Invariscope {made.version}, seed {made.seed}"))
    draw_standings(made, found["standings"], evaluator)
    draw_beside(found["references"])
    draw_differences(found["differences"], evaluator)
    draw_edits(made, found["swaps"], found["edits"], found["places"], evaluator)
    draw_length(found["equal-length"], evaluator)
    draw_scales(found["scales"], found["scale-bins"], evaluator)
    draw_agreement(found["agreement"])
    draw_health(found["health"])
    draw_picks(found["picks"], found["picked-systems"])
    when = safe(moment(made.created))
    st.caption(
        f"Corpus {safe(made.corpus)}, scored {when} by {safe(prints, limit=600)}, Invariscope "
        f"{safe(made.version)}, seed {made.seed}."
    )
    st.download_button(
        "The leaderboard as a file",
        lambda: as_bytes(made),
        f"{made.name}.parquet",
        "application/octet-stream",
        on_click="ignore",
        key="systems.file",
        icon=":material/download:",
    )

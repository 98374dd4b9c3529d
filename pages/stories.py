"""Stories: what was collected on the other pages, in order, to be shown and handed on."""

from functools import partial

import streamlit as st

from core.errors import InvariscopeError
from core.report.html import story_html
from core.stories.story import MOST_TITLE, Story, Telling, stories
from pages.views.common.access import may_operate, operators_only
from pages.views.common.entry import enter
from pages.views.common.links import FAILURES, LAB, Door, draw_doors
from pages.views.common.open_runs import Signature, present, store
from pages.views.common.page_head import header
from pages.views.common.text import counted, safe
from pages.views.common.url_state import PageState
from pages.views.stories_parts import draw_present, draw_slides, make_example, story_state

_SAID = "stories.example.said"


def draw() -> None:
    """Draw the page."""
    known = {each.id: each for each in stories()}
    state = story_state(tuple(known))
    state.restore()
    header("Stories", "What you collected on the other pages: a page, slides, and one file to hand on.", state)
    if said := st.session_state.pop(_SAID, None):
        st.error(safe(said, limit=400))
    if not known:
        _empty()
    else:
        try:
            _story(state, known)
        except InvariscopeError as error:
            st.error(safe(str(error), limit=600))
    state.publish()


def _empty() -> None:
    st.info(
        "No story yet. *Collect*, beside any figure, on a card of Failures or in the Probe lab, puts what you see into "
        "one, pictures and numbers as they are then.",
        icon=":material/bookmark_add:",
    )
    _doors()


def _doors() -> None:
    """Draw the ways to what can be collected."""
    doors = [
        Door(
            "Collect a failure",
            "The pairs that move the furthest, with a button each",
            ":material/photo_library:",
            FAILURES,
        ),
        Door(
            "Collect from the Probe lab",
            "A picture of your own, what each edit does to its scores",
            ":material/science:",
            LAB,
        ),
    ]
    files = present()
    if may_operate() and store(files).runs():
        doors.insert(
            0,
            Door(
                "Try an example",
                "A story of the run that is loaded: a figure and its furthest pairs",
                ":material/auto_stories:",
                act=partial(_example, files),
                key="example",
            ),
        )
    draw_doors(doors)


@operators_only
def _example(files: Signature) -> None:
    """Make the example; a callback."""
    try:
        make_example(files)
    except InvariscopeError as error:
        st.session_state[_SAID] = str(error)


def _story(state: PageState, known: dict[str, Story]) -> None:
    told = {name: each.outline() for name, each in known.items()}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.selectbox(
            "Story",
            tuple(known),
            key=state.key("story"),
            width=360,
            format_func=lambda name: f"{told[name].title or name} · {counted(len(told[name].slides), 'slide')}",
        )
        story = known[state.get("story")]
        held = story.read()
        draw_present(state, held)
        st.download_button(
            "HTML",
            lambda: story_html(held).encode(),
            f"{story.id}.html",
            "text/html",
            icon=":material/download:",
            on_click="ignore",
            key="stories.html",
            disabled=not held.slides,
            help="One file with pictures and numbers, which any browser opens without a server",
        )
        if may_operate():
            _rename(story, held)
    for problem in held.problems:
        st.warning(safe(problem, limit=500), icon=":material/warning:")
    if not held.slides:
        st.info("This story has no slide. *Collect* puts one here.", icon=":material/bookmark_add:")
        _doors()
    draw_slides(story, held)


def _rename(story: Story, told: Telling) -> None:
    with st.popover("Rename", icon=":material/edit:", type="tertiary"):
        st.text_input(
            "Title",
            told.title,
            key=f"stories.title.{story.id}",
            max_chars=MOST_TITLE,
            on_change=_renamed,
            args=(story,),
        )


@operators_only
def _renamed(story: Story) -> None:
    if title := st.session_state[f"stories.title.{story.id}"].strip():
        story.rename(title)


enter()
draw()

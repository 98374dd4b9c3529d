"""The slides of a story: read, annotated, put in order, taken out and brought back."""

from collections.abc import Callable

import streamlit as st
from PIL.Image import DecompressionBombError

from core.errors import InvariscopeError
from core.stories.slide import MOST_NOTE, Picture, Slide
from core.stories.story import Story, Telling
from pages.views.common.access import may_operate, operators_only
from pages.views.common.links import is_listed
from pages.views.common.text import safe

_SAID = "stories.said"


def draw_slides(story: Story, told: Telling) -> None:
    """Draw every slide with what can be done with it.

    Args:
        story: that is written to.
        told: what it holds.
    """
    if said := st.session_state.pop(_SAID, None):
        st.error(safe(said, limit=400))
    writes = may_operate()
    for place, slide in enumerate(told.slides):
        with st.container(border=True, key=f"slide_{slide.id}"):
            _heading(story, slide, place, last=len(told.slides) - 1, writes=writes)
            draw_content(slide, key="page")
            if not writes:
                st.markdown(safe(slide.note, limit=MOST_NOTE))
                _origin(slide)
                continue
            st.text_area("Note", slide.note, key=f"stories.note.{slide.id}", max_chars=MOST_NOTE, height="content",
                         placeholder="What is to be seen here", on_change=_note, args=(story, slide))  # fmt: skip
            _origin(slide)
    if told.out and writes:
        with st.expander(f"Taken out: {len(told.out)}", icon=":material/undo:"):
            for slide in told.out:
                with st.container(horizontal=True, vertical_alignment="center"):
                    st.markdown(safe(slide.title), width="stretch")
                    st.button("Bring back", key=f"stories.back.{slide.id}", on_click=_try,
                              args=(story.bring_back, slide.id))  # fmt: skip


def draw_content(slide: Slide, *, key: str) -> None:
    """Draw pictures, sentences and numbers of a slide; ``key``: of the place."""
    if slide.pictures:
        with st.container(horizontal=True, horizontal_alignment="center", gap="medium", key=f"{key}_seen_{slide.id}"):
            for picture in slide.pictures:
                _picture(picture)
    for sentence in slide.said:
        st.markdown(safe(sentence, limit=400))
    if slide.rows:
        with st.container(key=f"{key}_numbers_{slide.id}"):
            st.markdown("\n".join(_table(slide)))


def _heading(story: Story, slide: Slide, place: int, *, last: int, writes: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", gap="small"):
        st.header(f"{place + 1}. {safe(slide.title)}", anchor=False, width="content")
        if not writes:
            return
        with st.container(horizontal=True, width="content", gap="xsmall"):
            _act("Up", ":material/arrow_upward:", slide, story.move, place - 1, off=place == 0)
            _act("Down", ":material/arrow_downward:", slide, story.move, place + 1, off=place == last)
            st.button("Take out", icon=":material/close:", type="tertiary", key=f"stories.out.{slide.id}",
                      on_click=_try, args=(story.take_out, slide.id))  # fmt: skip


def _act(label: str, icon: str, slide: Slide, act: Callable[[str, int], None], to: int, *, off: bool) -> None:
    st.button(label, icon=icon, type="tertiary", key=f"stories.{label}.{slide.id}", disabled=off, on_click=_try,
              args=(act, slide.id, to))  # fmt: skip


def _origin(slide: Slide) -> None:
    st.caption(f"{safe(slide.of, limit=400)}. Collected {safe(slide.when)}.")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if is_listed(slide.page):
            st.page_link(slide.page, label="Open it live", icon=":material/open_in_new:",
                         query_params=dict(slide.link or {}))  # fmt: skip
        if slide.signature:
            with st.popover("Signature", icon=":material/fingerprint:", type="tertiary"):
                st.code(slide.signature, language=None, wrap_lines=True)


def _picture(picture: Picture) -> None:
    """Draw a picture; of a story that somebody else wrote, its file may be anything that begins as a picture does."""
    if not picture.data:
        st.caption(f":material/hide_image: This picture is lost: {safe(picture.alt)}")
        return
    try:
        shown = picture.data.decode() if picture.kind == "svg" else picture.data
        st.image(shown, alt=picture.alt, width="stretch")
    except (OSError, ValueError, SyntaxError, DecompressionBombError):
        st.caption(f":material/hide_image: This picture cannot be read: {safe(picture.alt)}")


def _table(slide: Slide) -> list[str]:
    head = [safe(each) or " " for each in slide.columns]
    lines = [f"| {' | '.join(head)} |", f"|:--|{'--:|' * (len(head) - 1)}"]
    return lines + [f"| {' | '.join(safe(cell, limit=80) for cell in row)} |" for row in slide.rows]


@operators_only
def _note(story: Story, slide: Slide) -> None:
    _try(story.note, slide.id, st.session_state[f"stories.note.{slide.id}"].strip())


@operators_only
def _try(act: Callable[..., None], *args: object) -> None:
    """Do it; another session may have done it before."""
    try:
        act(*args)
    except InvariscopeError as error:
        st.session_state[_SAID] = str(error)

"""Video: what a score of a video depends on, and that the order of its frames is not among it."""

import streamlit as st

from core import __version__
from core.errors import InvariscopeError
from pages.views.common.collect import Origin, figures_of
from pages.views.common.page_head import header
from pages.views.common.text import safe
from pages.views.video_parts import (
    Frames,
    choose_captions,
    choose_video,
    draw_frames,
    draw_results,
    video_state,
)

_UPLOAD_LOST = "What you uploaded is in this link only as long as this server runs."


def draw() -> None:
    """Draw the view."""
    state = video_state()
    state.restore()
    header(
        "How do the scores of a video's captions change when its frames do?",
        state,
        lost=_UPLOAD_LOST if state.get("source") == "upload" else "",
    )
    answer = st.container()
    frames = choose_video(state)
    if frames is not None:
        draw_frames(frames)
        captions = choose_captions(state)
        figures_of(Origin(state, _of(frames)))
        try:
            if not captions:
                st.info("Write a caption, or several, one a line.", icon=":material/edit:")
            elif not state.get("evaluators"):
                st.info(
                    "Choose a metric: each with an image and a text tower scores videos, `emscore` and "
                    "`pac-s++-video` word by word (`python -m core evaluators get emscore`).",
                    icon=":material/movie:",
                )
            else:
                draw_results(state, frames, captions, answer)
        except InvariscopeError as error:
            st.error(safe(str(error), limit=600))
    state.publish()


def _of(frames: Frames) -> str:
    """Which frames of which video were scored, in words."""
    places = ", ".join(str(place + 1) for place in frames.places)
    return f"Video {frames.key}, frames {places}, Invariscope {__version__}"

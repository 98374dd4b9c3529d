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
    other_ids,
    video_state,
)

_UPLOAD_LOST = "What you uploaded is in this link only as long as this server runs."


def draw() -> None:
    """Draw the view."""
    state = video_state()
    state.restore()
    header(
        "How are captions of a video scored, and what do edits of its frames change?",
        state,
        lost=_UPLOAD_LOST if state.get("source") == "upload" else "",
    )
    frames = choose_video(state)
    if frames is not None:
        draw_frames(frames)
        captions = choose_captions(state)
        others = other_ids(state)
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
                draw_results(state, frames, captions, state.get("other") or (others[0] if others else None))
        except InvariscopeError as error:
            st.error(safe(str(error), limit=600))
    st.caption("Many videos at once, document frequencies, references and suites of videos are on the command line:")
    st.code(
        "python -m core score candidates.json videos/ --videos --evaluator emscore --frames 10 --idf idf.json",
        language="shell",
        wrap_lines=True,
    )
    state.publish()


def _of(frames: Frames) -> str:
    """Which frames of which video were scored, in words."""
    places = ", ".join(str(place + 1) for place in frames.places)
    return f"Video {frames.key}, frames {places}, Invariscope {__version__}"

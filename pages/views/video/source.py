"""The video: picked from the demo or uploaded, with its frames and captions."""

import hashlib

import streamlit as st

from core.charts.canvas import thumbnail
from core.corpora.video_container import KINDS, SUFFIXES
from core.errors import InvariscopeError
from pages.views.common.access import brings
from pages.views.common.reader_uploads import let_go, session
from pages.views.common.text import counted, safe
from pages.views.common.url_state import PageState
from pages.views.video.state import (
    LONGEST,
    MOST_CAPTIONS,
    MOST_FRAMES,
    MOST_MB,
    SESSION_MB,
    SESSION_VIDEOS,
    SOURCES,
    Frames,
    Upload,
    captions,
    demo_frames,
    demo_ids,
    demo_videos,
    forget_captions,
    offered,
    other_ids,
    shared,
    upload_frames,
    usual_captions,
)

_TEXT, _LET_GO = "video.text", "video.let_go"


def choose_video(state: PageState) -> Frames | None:
    """Draw the choice of a video and of its frames; return them, or None where there is no video yet."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    row.segmented_control("Video from", tuple(SOURCES), format_func=SOURCES.__getitem__, key=state.key("source"),
                          required=True, on_change=forget_captions, args=(state,))  # fmt: skip
    try:
        if state.get("source") == "demo":
            if not demo_ids():
                st.info("This demo corpus holds no videos; `python -m core corpora build-demo` makes them.",
                        icon=":material/movie:")  # fmt: skip
                return None
            row.selectbox("Video", demo_ids(), key=state.key("video"), width=400, format_func=_title,
                          on_change=forget_captions, args=(state,))  # fmt: skip
            _count(row, state)
            return demo_frames(state.get("video"), state.get("frames"))
        _count(row, state)
        return _uploaded(state)
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600), icon=":material/broken_image:")
        return None


def draw_frames(frames: Frames) -> None:
    """Draw the frames in their order, and say which they are."""
    footage = frames.footage
    with st.container(horizontal=True, gap="small", key="video_frames"):
        for place, pixels in zip(frames.places, frames.pixels, strict=True):
            st.image(thumbnail(pixels, side=200), caption=str(place + 1), width=104,
                     alt=f"Frame {place + 1} of {footage.frames}")  # fmt: skip
    seconds = "" if footage.seconds is None else f", {footage.seconds:.1f} s"
    st.caption(f"{counted(len(frames.places), 'frame')} of {footage.frames:,}, evenly spaced, of a video of "
               f"{footage.width} × {footage.height} px{seconds}. sha256 {footage.sha256[:12]}…")  # fmt: skip
    for note in footage.notes:
        st.warning(note, icon=":material/hdr_on:")


def choose_captions(state: PageState) -> tuple[str, ...]:
    """Draw the captions, the evaluators and the other video; return the captions."""
    st.session_state[_TEXT] = "\n".join(captions(state))
    left, right = st.columns([3, 2], gap="medium")
    left.text_area("Captions, one a line", key=_TEXT, height=110, max_chars=LONGEST, on_change=_written, args=(state,),
                   help=f"The first {MOST_CAPTIONS} are scored")  # fmt: skip
    right.multiselect("Evaluators", offered(), key=state.key("evaluators"), placeholder="Choose at least one")
    others = tuple(other_ids(state))
    if others:
        state.choose(right, "other", "Frames of another video", others, format_func=_title)
    return captions(state)


def _written(state: PageState) -> None:
    written = st.session_state[_TEXT]
    state.put("captions", "" if written.splitlines() == list(usual_captions(state)) else written)
    state.put("reading", None)


def _count(row: "st.delta_generator.DeltaGenerator", state: PageState) -> None:
    row.number_input("Frames", 1, MOST_FRAMES, key=state.key("frames"), width=130,
                     help="So many, evenly spaced from the first to the last (np.linspace)")  # fmt: skip


def _uploaded(state: PageState) -> Frames | None:
    if not brings():
        return None
    given = st.file_uploader("Upload a video", type=[each.removeprefix(".") for each in SUFFIXES], key="video.file",
                             max_upload_size=MOST_MB)  # fmt: skip
    if given is not None and st.session_state.get("video.given") != given.file_id:
        upload = Upload(given.name, given.getvalue())
        key = hashlib.sha256(upload.data).hexdigest()[:32]
        if len(upload.data) > MOST_MB << 20:
            st.session_state["video.given"] = given.file_id
            st.error(f"{safe(given.name)} is larger than {MOST_MB} MB; cut it into parts")
            return None
        gone = shared().uploads.put(key, upload, name=given.name, size=len(upload.data), owner=session())
        st.session_state["video.given"] = given.file_id
        st.session_state[_LET_GO] = let_go(gone, most=SESSION_VIDEOS, most_mb=SESSION_MB)
        forget_captions(state)
        state.put("upload", key)
    upload_held = shared().uploads.get(state.get("upload"), owner=session())
    if upload_held is None:
        st.caption(f"{', '.join(KINDS)}, up to {MOST_MB} MB and 15 minutes. It stays in this server's memory and is "
                   "never stored.")  # fmt: skip
        return None
    st.caption(f"{safe(upload_held.name)}. Links to this view work while this server runs; the video itself is not in "
               "the link.")  # fmt: skip
    if told := st.session_state.get(_LET_GO):
        st.caption(safe(told, limit=400))
    return upload_frames(state.get("upload"), upload_held, state.get("frames"))


def _title(identifier: str) -> str:
    folder = demo_videos()
    return folder.get(identifier).captions[0] if folder else identifier

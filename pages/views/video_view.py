"""Video: what a score of a video depends on, and that the order of its frames is not among it."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, takewhile

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import __version__
from core.charts.canvas import thumbnail
from core.corpora.demo import demo_dir
from core.corpora.video_container import KINDS, SUFFIXES
from core.corpora.video_folder import VideoFolder, read_video_folder
from core.corpora.video_frames import Footage, Sampling, read_scaled, read_stranger
from core.errors import InvalidInput, InvariscopeError
from core.evaluators import registry as evaluators
from core.evaluators.pool import shared_pool
from core.evaluators.video.video_evaluator import COARSE
from core.features.video.video_edits import BY_CONSTRUCTION, EDITS, REVERSED, can_score_videos, edit_dots, score_edits
from pages.views.common.access import brings
from pages.views.common.collect import Origin, data_buttons, figure_buttons, figures_of
from pages.views.common.open_runs import Shelf
from pages.views.common.page_drawings import NUMBER, TEXT, draw_figure, draw_table
from pages.views.common.page_head import drawn, header
from pages.views.common.reader_uploads import Uploads, let_go, session
from pages.views.common.text import counted, safe
from pages.views.common.url_state import Field, PageState, count_field, joined, one_of, some_of, text
from pages.views.probe_lab.lab_state import default_evaluators, ready_evaluators

SOURCES = {"demo": "Demo videos", "upload": "Upload"}
MOST_MB = 32
SESSION_VIDEOS, SESSION_MB, ALL_MB = 2, 48, 256
"""Uploaded videos that a session holds, and MB that they take, in a session and in all together."""

SIDE = 512  # longest side, in px, at which frames are scored here; the evaluators see about 224 px
USUAL_FRAMES, MOST_FRAMES = 8, 32
MOST_CAPTIONS, LONGEST = 6, 2000


@dataclass(frozen=True, slots=True)
class Upload:
    """A video that a reader brought, checked; held in memory only."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """Frames of a video at which the page looks."""

    key: str  # of the very frames, for what is kept of them
    pixels: tuple[np.ndarray, ...]  # uint8 RGB, scaled to fit SIDE
    places: tuple[int, ...]  # of the frames in the video, from 0
    footage: Footage  # of the video


class Shared:
    """What every session of this server shares."""

    def __init__(self) -> None:
        self.uploads = Uploads[Upload](each=SESSION_VIDEOS, each_mb=SESSION_MB, total_mb=ALL_MB)
        self.frames, self.tables = Shelf[Frames](8), Shelf[pd.DataFrame](64)


@st.cache_resource(show_spinner=False)
def shared() -> Shared:
    """Return the shelves of this server, made once."""
    return Shared()


@st.cache_data(show_spinner=False, ttl=30)
def demo_videos() -> VideoFolder | None:
    """The videos that ship; None where this build of the demo corpus has none."""
    try:
        return read_video_folder(demo_dir() / "videos")
    except InvariscopeError:
        return None


@st.cache_data(show_spinner=False, ttl=30)
def backwards() -> dict[str, str]:
    """What is true of each demo video shown backwards."""
    try:
        held = json.loads((demo_dir() / "videos" / "backwards.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(each) for name, each in held.items()} if isinstance(held, dict) else {}


def _demo_ids() -> tuple[str, ...]:
    folder = demo_videos()
    return tuple(each.id for each in folder.videos) if folder else ()


def usual_captions(state: PageState) -> tuple[str, ...]:
    """Captions that a video comes with: what is true of it, what is true of it backwards, what is there."""
    folder, chosen = demo_videos(), state.get("video")
    if state.get("source") != "demo" or folder is None or chosen is None:
        return ()
    first, *others = folder.get(chosen).captions
    return tuple(dict.fromkeys([first, *([backwards()[chosen]] if chosen in backwards() else []), *others]))


def captions(state: PageState) -> tuple[str, ...]:
    """The captions to score: the reader's, or those that the video comes with."""
    written = [line.strip() for line in state.get("captions").splitlines() if line.strip()]
    return tuple(dict.fromkeys(written))[:MOST_CAPTIONS] or usual_captions(state)


@st.cache_data(show_spinner=False, ttl=60)
def offered() -> tuple[str, ...]:
    """Evaluators that can be loaded here and score videos."""
    return tuple(name for name in ready_evaluators() if can_score_videos(evaluators.find(name)))


def _video_state() -> PageState:
    first = next(iter(_demo_ids()), None)
    usual = "demo" if first else "upload"
    fields = (
        Field("source", usual, one_of(lambda: tuple(SOURCES), usual, what="source of videos")),
        Field("video", first, one_of(_demo_ids, first, what="demo video")),
        Field("upload", "", _read_upload),
        count_field("frames", USUAL_FRAMES, MOST_FRAMES, of="frames"),
        Field("captions", "", text(limit=LONGEST)),
        Field("other", None, one_of(_demo_ids, None, what="demo video")),
        Field(
            "evaluators",
            [name for name in default_evaluators() if name in offered()],
            some_of(offered, what="evaluator of videos"),
            joined,
        ),
    )
    return PageState("video", fields)


def demo_frames(identifier: str, count: int) -> Frames:
    """Frames of a demo video. Raises InvariscopeError if it cannot be read."""
    folder = demo_videos()
    if folder is None:
        raise InvalidInput("this demo corpus has no videos; build it again: make demo")
    path = folder.get(identifier).path
    return shared().frames.get_or(
        ("demo", identifier, count), lambda: _frames(count, partial(read_scaled, path, side=SIDE))
    )


def _frames(count: int, read: Callable[[Sampling], tuple[Footage, np.ndarray]]) -> Frames:
    sampling = Sampling(count)
    footage, pixels = read(sampling)
    return Frames(f"{footage.sha256}:{count}", tuple(pixels), footage.places(sampling), footage)


def other_ids(state: PageState) -> Sequence[str]:
    """Demo videos whose frames may stand in the place of the video's own, the next one first."""
    ids = _demo_ids()
    if state.get("source") != "demo" or state.get("video") not in ids:
        return ids
    place = ids.index(state.get("video"))
    return (*ids[place + 1 :], *ids[:place])


def _read_upload(raw: str) -> tuple[str, str]:
    if shared().uploads.get(raw, owner=session()) is not None:
        return raw, ""
    return "", "The uploaded video of this link is no longer held by the server; upload it again."


_TEXT, _LET_GO = "video.text", "video.let_go"
_WRITTEN = ("captions", "other")  # what was written for another video does not hold for the next one


def _choose_video(state: PageState) -> Frames | None:
    row = st.container(horizontal=True, vertical_alignment="bottom")
    state.switch("source", "Video from", SOURCES, place=row, on_change=state.take_back, args=_WRITTEN)
    try:
        if state.get("source") == "demo":
            if not _demo_ids():
                st.info("This demo corpus has no videos; `make demo` makes them.", icon=":material/movie:")
                return None
            ids, key = _demo_ids(), state.key("video")
            row.selectbox(
                "Video", ids, key=key, width=400, format_func=_title, on_change=state.take_back, args=_WRITTEN
            )
            return demo_frames(state.get("video"), state.get("frames"))
        return _uploaded(state)
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600), icon=":material/broken_image:")
        return None


def _choose_captions(state: PageState) -> tuple[str, ...]:
    st.session_state[_TEXT] = "\n".join(captions(state))
    whole = bool(captions(state) and state.get("evaluators"))
    with st.expander("Change captions, metrics or frames", expanded=not whole, icon=":material/tune:"):
        left, right = st.columns([3, 2], gap="medium")
        told = f"Captions, one a line, {MOST_CAPTIONS} at most"
        left.text_area(told, key=_TEXT, height=110, max_chars=LONGEST, on_change=_written, args=(state,))
        hint = "Spread from the first to the last"
        left.number_input("Frames", 1, MOST_FRAMES, key=state.key("frames"), width=130, help=hint)
        right.multiselect("Metrics", offered(), key=state.key("evaluators"), placeholder="Choose at least one")
        if others := tuple(other_ids(state)):
            state.choose(right, "other", "Frames of another video", others, format_func=_title)
        st.caption("Many videos: `python -m core score captions.json videos/ --videos --evaluator emscore`")
    return captions(state)


def _written(state: PageState) -> None:
    written = st.session_state[_TEXT]
    state.put("captions", "" if written.splitlines() == list(usual_captions(state)) else written)


def _uploaded(state: PageState) -> Frames | None:
    if not brings():
        return None
    given = st.file_uploader(
        "Upload a video", type=[each.removeprefix(".") for each in SUFFIXES], key="video.file", max_upload_size=MOST_MB
    )
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
        state.take_back(*_WRITTEN)
        state.put("upload", key)
    upload_held = shared().uploads.get(state.get("upload"), owner=session())
    if upload_held is None:
        st.caption(
            f"{', '.join(KINDS)}, up to {MOST_MB} MB and 15 minutes. It stays in this server's memory and is "
            "never stored."
        )
        return None
    st.caption(
        f"{safe(upload_held.name)}. Links to this view work while this server runs; the video itself is not in "
        "the link."
    )
    if told := st.session_state.get(_LET_GO):
        st.caption(safe(told, limit=400))
    count, read = state.get("frames"), partial(read_stranger, upload_held.data, name=upload_held.name, side=SIDE)
    return shared().frames.get_or(("upload", state.get("upload"), count), lambda: _frames(count, read))


def _title(identifier: str) -> str:
    folder = demo_videos()
    return folder.get(identifier).captions[0] if folder else identifier


_NUMBERS = {
    "score": "Score",
    "delta": "Δ",
    "coarse": "Coarse",
    "precision": "Precision",
    "recall": "Recall",
    "fine": "F",
}


def _draw_results(state: PageState, frames: Frames, captions: Sequence[str], answer: DeltaGenerator) -> None:
    others = other_ids(state)
    other = state.get("other") or (others[0] if others else None)
    strange = demo_frames(other, state.get("frames")) if other else None
    made = []
    for name in state.get("evaluators"):
        key = (frames.key, strange.key if strange else "", tuple(captions), name)
        found = shared().tables.get(key)
        if found is None:
            try:
                with st.spinner(f"Scoring with {name} …"), shared_pool().lease(name) as loaded:
                    found = score_edits(loaded, frames.pixels, captions, other=strange.pixels if strange else None)
            except InvariscopeError as error:
                st.warning(safe(f"{name}: {error}", limit=600))
                continue
            shared().tables.put(key, found)
        made.append(found)
    table = pd.concat(made, ignore_index=True) if made else pd.DataFrame()
    if table.empty:
        return
    if table["score"].notna().any():
        pair = usual_captions(state)[:2] if state.get("video") in backwards() else ()
        answer.markdown(f"**{direction_told(pair)}**")
        answer.caption("By the formula, not measured: means and maxima over frames have no order.")
    figure = edit_dots(table)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown("**Scores of each caption, by edit of the frames**", width="content")
        title = "Scores of captions of a video, by edit of its frames"
        figure_buttons(figure, table, "video-edits", title=title, key="video.figure")
    said = "; ".join(f"{row.evaluator}, {row.edit}: {row.score:.3f}" for row in table.head(8).itertuples())
    draw_figure(figure, key="video.edits", alt=f"Scores of captions by edit. {said}")
    with st.expander("Every number, and what each edit does", icon=":material/table:"):
        told = [f"**{name}**: {edit.told}" for name, edit in EDITS.items() if name in set(table["edit"])]
        coarse = table["evaluator"].str.endswith(f"({COARSE})").any()
        plain = (
            f" *{COARSE.capitalize()}*: the cosine of the mean of the frames and the caption, which is no EMScore; "
            "such a metric has no tokens to match with frames."
            if coarse
            else ""
        )
        st.markdown("\n".join(f"- {each}" for each in told))
        st.caption(
            f"Each metric has its own scale. An open mark is no measurement: what is {REVERSED} follows from the "
            f"formula. One video has no interval.{plain}"
        )
        _rows(table)
        data_buttons(table, "video-edits", key="video.table")


def _rows(table: pd.DataFrame) -> None:
    parts = table["fine"].notna().any()  # a coarse part alone is the score itself
    numbers = {name: head for name, head in _NUMBERS.items() if parts or name in ("score", "delta")}
    shown = table[["evaluator", "caption", "edit", "how", *numbers, "frames"]].copy()
    for name in numbers:
        shown[name] = shown[name].astype(float).round(4) + 0.0
    if table["note"].astype(bool).any():
        shown["note"] = table["note"]
    config = {
        "evaluator": TEXT("Metric", pinned=True),
        "caption": TEXT("Caption"),
        "edit": TEXT("Frames"),
        "how": TEXT("How it is known"),
        "frames": NUMBER("n frames", format="%d"),
        "note": TEXT("Why there is no score"),
    }
    config |= {name: NUMBER(head, format="%+.4f" if name == "delta" else "%.4f") for name, head in numbers.items()}
    alt = "Scores of every caption under every edit of the frames"
    draw_table(shown, column_config=config, key="video.rows", alt=alt)
    held = table[table["how"] == BY_CONSTRUCTION]
    st.caption(f"Of {len(table)} rows {len(held)} are by construction and repeat those of the original.")


def direction_told(pair: Sequence[str] = ()) -> str:
    """Say that a video backwards keeps its scores, in markdown. ``pair``: a caption that is true of the video, and the
    same with the direction that is true of it backwards; none where that is not known."""
    said = "No score here sees which way the video runs: played backwards, "
    if len(pair) != 2:
        return f"{said}it keeps every score."
    first, second = (safe(part) for part in _apart(*pair))
    return f"{said}“{first}” turns into “{second}”, yet every score stays the same."


def _apart(one: str, other: str) -> tuple[str, str]:
    """The words in which two captions differ, without what both begin and end with."""
    first, second = one.split(), other.split()
    start = _alike(first, second)
    end = _alike(first[start:][::-1], second[start:][::-1])
    cut = [" ".join(each[start : len(each) - end]).rstrip(".") for each in (first, second)]
    return (cut[0], cut[1]) if all(cut) else (one, other)


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


_UPLOAD_LOST = "What you uploaded is in this link only as long as this server runs."


def draw() -> None:
    """Draw the view."""
    state = _video_state()
    state.restore()
    told = "How do the scores of a video's captions change when its frames do?"
    header(told, state, lost=_UPLOAD_LOST if state.get("source") == "upload" else "")
    answer = st.container()
    frames = _choose_video(state)
    with drawn(state):
        if frames is None:
            return
        footage = frames.footage
        with st.container(horizontal=True, gap="small", key="video_frames"):
            for place, pixels in zip(frames.places, frames.pixels, strict=True):
                alt = f"Frame {place + 1} of {footage.frames}"
                st.image(thumbnail(pixels, side=200), caption=str(place + 1), width=104, alt=alt)
        steps = {after - before for before, after in pairwise(frames.places)}
        even = ", evenly spaced" if len(steps) == 1 else ""
        seconds = "" if footage.seconds is None else f", {footage.seconds:.1f} s"
        st.caption(
            f"{counted(len(frames.places), 'frame')} of {footage.frames:,}{even}, of a video of "
            f"{footage.width} × {footage.height} px{seconds}.",
            help=f"sha256 {footage.sha256}",
        )
        for note in footage.notes:
            st.warning(note, icon=":material/hdr_on:")
        captions = _choose_captions(state)
        places = ", ".join(str(place + 1) for place in frames.places)
        figures_of(Origin(state, (f"Video {frames.key}, frames {places}, Invariscope {__version__}")))
        if not captions:
            st.info("Write a caption, or several, one a line.", icon=":material/edit:")
        elif not state.get("evaluators"):
            st.info(
                "Choose a metric: each with an image and a text tower scores videos, `emscore` and "
                "`pac-s++-video` word by word (`python -m core evaluators get emscore`).",
                icon=":material/movie:",
            )
        else:
            _draw_results(state, frames, captions, answer)

"""What the page Video remembers: its link, the videos that ship, and those that readers brought."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from core.corpora.demo import demo_dir
from core.corpora.video_folder import VideoFolder, read_video_folder
from core.corpora.videos import Footage, Sampling, read_scaled, read_stranger
from core.errors import InvalidInput, InvariscopeError
from core.evaluators import registry as evaluators
from core.evaluators.video.base import TokenMap
from core.scoring.video_edits import can_score_videos
from pages.views.common.caches import Shelf
from pages.views.common.reader_uploads import Uploads, session
from pages.views.common.url_state import Field, PageState, joined, one_of, some_of, text
from pages.views.probe_lab.state import default_evaluators, ready_evaluators

SOURCES = {"demo": "Demo videos", "upload": "Your own"}
MOST_MB = 32
SESSION_VIDEOS, SESSION_MB, ALL_MB = 2, 48, 256
"""Uploaded videos that a session holds, and MB that they take, in a session and in all together."""

SIDE = 512
"""Longest side, in px, at which frames are scored here; the evaluators see about 224 px."""

USUAL_FRAMES, MOST_FRAMES = 8, 32
MOST_CAPTIONS, LONGEST = 6, 2000


@dataclass(frozen=True, slots=True)
class Upload:
    """A video that a reader brought, checked; held in memory only."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """Frames of a video at which the page looks.

    Args:
        key: of the very frames, for what is kept of them.
        pixels: uint8 RGB, scaled to fit SIDE.
        places: of the frames in the video, from 0.
        footage: of the video.
    """

    key: str
    pixels: tuple[np.ndarray, ...]
    places: tuple[int, ...]
    footage: Footage


@dataclass(frozen=True, slots=True)
class Shared:
    """What every session of this server shares."""

    uploads: Uploads[Upload]
    frames: Shelf[Frames]
    tables: Shelf[pd.DataFrame]
    maps: Shelf[dict[str, TokenMap]]


@st.cache_resource(show_spinner=False)
def shared() -> Shared:
    """Return the shelves of this server, made once."""
    return Shared(Uploads(each=SESSION_VIDEOS, each_mb=SESSION_MB, total_mb=ALL_MB), Shelf(8), Shelf(64), Shelf(16))


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


def demo_ids() -> tuple[str, ...]:
    """Ids of the demo videos."""
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


def video_state() -> PageState:
    """Fields of the page, with the defaults of this machine."""
    first = next(iter(demo_ids()), None)
    usual = "demo" if first else "upload"
    return PageState(
        "video",
        (
            Field("source", usual, one_of(lambda: tuple(SOURCES), usual, what="source of videos")),
            Field("video", first, one_of(demo_ids, first, what="demo video")),
            Field("upload", "", _read_upload),
            Field("frames", USUAL_FRAMES, _read_count),
            Field("captions", "", text(limit=LONGEST)),
            Field("other", None, one_of(demo_ids, None, what="demo video")),
            Field("evaluators", [name for name in default_evaluators() if name in offered()],
                  some_of(offered, what="evaluator of videos"), joined),
            Field("looker", None, text(limit=200)),
            Field("reading", None, text(limit=LONGEST)),
        ),
    )  # fmt: skip


def demo_frames(identifier: str, count: int) -> Frames:
    """Frames of a demo video.

    Raises:
        InvariscopeError: if it cannot be read.
    """
    folder = demo_videos()
    if folder is None:
        raise InvalidInput("this demo corpus has no videos; build it again: python -m core corpora build-demo")
    path = folder.get(identifier).path
    return shared().frames.get_or(
        ("demo", identifier, count), lambda: _frames(count, partial(read_scaled, path, side=SIDE))
    )


def upload_frames(key: str, upload: Upload, count: int) -> Frames:
    """Frames of a video that a reader brought.

    Raises:
        InvariscopeError: if it cannot be read; the sentence calls it by the reader's name for it.
    """
    read = partial(read_stranger, upload.data, name=upload.name, side=SIDE)
    return shared().frames.get_or(("upload", key, count), lambda: _frames(count, read))


def _frames(count: int, read: Callable[[Sampling], tuple[Footage, np.ndarray]]) -> Frames:
    sampling = Sampling(count)
    footage, pixels = read(sampling)
    return Frames(f"{footage.sha256}:{count}", tuple(pixels), footage.places(sampling), footage)


def forget_captions(state: PageState) -> None:
    """What was written for another video does not hold for the next one; a callback."""
    for name, value in (("captions", ""), ("other", None), ("reading", None)):
        state.put(name, value)


def other_ids(state: PageState) -> Sequence[str]:
    """Demo videos whose frames may stand in the place of the video's own, the next one first."""
    ids = demo_ids()
    if state.get("source") != "demo" or state.get("video") not in ids:
        return ids
    place = ids.index(state.get("video"))
    return (*ids[place + 1 :], *ids[:place])


def _read_upload(raw: str) -> tuple[str, str]:
    if shared().uploads.get(raw, owner=session()) is not None:
        return raw, ""
    return "", "The uploaded video of this link is no longer held by the server; upload it again."


def _read_count(raw: str) -> tuple[int, str]:
    if raw.isascii() and raw.isdigit() and 1 <= int(raw[:6]) <= MOST_FRAMES:
        return int(raw), ""
    return USUAL_FRAMES, f"The number of frames must lie between 1 and {MOST_FRAMES}, got {raw[:40]!r}."

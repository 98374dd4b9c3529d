"""What the page Systems remembers in its link, the leaderboards that are kept, and their tables."""

import pandas as pd
import streamlit as st

from core.analysis.systems.captions import tables
from core.analysis.systems.file import Leaderboard, list_leaderboards, path_of, read_leaderboard
from pages.views.common.corpora import corpus_names
from pages.views.common.url_state import Field, PageState, joined, one_of, some_of, text
from pages.views.probe_lab.state import default_evaluators, ready_evaluators

VIEWS = {"kept": "Kept leaderboards", "new": "A new one"}

SOURCES = {"upload": "Files of captions", "captions": "Captions made of the corpus"}

FEW, MOST = 20, 2000
"""Pictures scored unless the reader asks for more, and at most."""


def systems_state() -> PageState:
    """Fields of the page, with the defaults of this machine."""
    kept, corpora = list_leaderboards(), corpus_names()
    corpus = corpora[0] if corpora else None
    usual = "kept" if kept else "new"
    return PageState(
        "systems",
        (
            Field("view", usual, one_of(lambda: tuple(VIEWS), usual, what="view")),
            Field("board", None, one_of(list_leaderboards, None, what="leaderboard")),
            Field("judge", None, text(limit=200)),
            Field("without", [], lambda raw: ([name for name in raw.split("\n") if name][:100], ""), "\n".join),
            Field("source", "upload", one_of(lambda: tuple(SOURCES), "upload", what="source of captions")),
            Field("images", corpus, one_of(corpus_names, corpus, what="corpus")),
            Field("judges", default_evaluators()[:1], some_of(ready_evaluators, what="ready evaluator"), joined),
            Field("edits", ["vflip", "hflip"], some_of(_edits, what="edit"), joined),
            Field("human", False, lambda raw: (raw == "yes", ""), lambda value: "yes" if value else "no"),
            Field("beside", False, lambda raw: (raw == "yes", ""), lambda value: "yes" if value else "no"),
            Field("count", FEW, _read_count),
        ),
    )


def stamp(name: str) -> tuple[str, int, int]:
    """What a kept leaderboard is known by: its name, size and time."""
    told = path_of(name).stat()
    return name, told.st_size, told.st_mtime_ns


@st.cache_resource(max_entries=8, show_spinner="Reading the leaderboard …")
def opened(known: tuple[str, int, int]) -> Leaderboard:
    """A kept leaderboard, read once for all sessions."""
    return read_leaderboard(path_of(known[0]))


@st.cache_data(max_entries=16, show_spinner="Drawing intervals …")
def computed(known: tuple[str, int, int], systems: tuple[str, ...]) -> dict[str, pd.DataFrame]:
    """Every table of a kept leaderboard over some of its systems."""
    return tables(opened(known), systems=systems)


def _edits() -> tuple[str, ...]:
    from pages.views.flip_risk.state import image_probes

    return tuple(image_probes())


def _read_count(raw: str) -> tuple[int, str]:
    if raw.isascii() and raw.isdigit() and 1 <= int(raw[:6]) <= MOST:
        return int(raw), ""
    return FEW, f"The number of pictures must lie between 1 and {MOST}, got {raw[:40]!r}."

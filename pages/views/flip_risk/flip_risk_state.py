"""What the page Flip risk remembers in its link, and what the reader's uploads leave in the server's memory."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from core.analysis.flip_cells import IQR, SCALE
from core.probes import registry as probes
from core.probes.base import Axis, Edits, Expectation, Probe
from pages.views.common.caches import Shelf
from pages.views.common.open_runs import Signature
from pages.views.common.run_corpora import corpus_names
from pages.views.common.scope_chips import scope_fields
from pages.views.common.slice_filters import slice_fields
from pages.views.common.url_state import Field, PageState, joined, one_of, some_of
from pages.views.probe_lab.lab_state import linked_evaluators, ready_evaluators

VIEWS = {"gap": "At a fixed gap", "systems": "Two systems of your own"}

UNITS = {"iqr": IQR, "scale": SCALE}
"""Word in the link -> unit of the gap."""

GAPS = (
    0.0, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008, 0.009, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05,
    0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5,
)  # fmt: skip
"""Gaps of the slider, as shares; the paper's four are among them."""

SOURCES = {"upload": "Two files", "captions": "Template against human captions"}

FEW, MOST = 20, 500
"""Images scored unless the reader asks for more, and at most."""


@dataclass(frozen=True, slots=True)
class Systems:
    """Scores of two systems that a session asked for.

    Args:
        pairs: see ``core.scoring.system_pairs``.
        left_out: sentences.
        told: what was scored, in one sentence.
    """

    pairs: pd.DataFrame
    left_out: tuple[str, ...]
    told: str


@st.cache_resource(show_spinner=False)
def systems_shelf() -> Shelf[Systems]:
    """Scores of the latest comparisons, for every session of this server."""
    return Shelf(8)


def flip_state(files: Signature) -> PageState:
    """Return the page's fields, with the defaults of this machine."""
    corpora = corpus_names(files)
    ready = ready_evaluators()
    corpus, evaluator = corpora[0] if corpora else None, ready[0] if ready else None
    return PageState(
        "flip",
        (
            Field("view", "gap", one_of(lambda: tuple(VIEWS), "gap", what="view")),
            Field("gap", None, _read_gap, lambda gap: f"{100 * gap:g}"),
            Field("unit", "iqr", one_of(lambda: tuple(UNITS), "iqr", what="unit")),
            Field("source", "upload", one_of(lambda: tuple(SOURCES), "upload", what="source of captions")),
            Field("images", corpus, one_of(corpus_names, corpus, what="corpus")),
            Field("edits", ["vflip", "hflip"], some_of(lambda: tuple(image_probes()), what="edit"), joined),
            Field("judge", evaluator, one_of(linked_evaluators, evaluator, what="ready evaluator")),
            Field("count", FEW, _read_count),
            Field("ties", True, _read_ties, lambda value: "yes" if value else "no"),
            *scope_fields(files),
            *slice_fields(files),
        ),
    )


def image_probes() -> dict[str, Probe]:
    """Edits of the image that must not matter, null edits included, in the order of the catalogue."""
    wanted = (Axis.SPATIAL, Axis.NULL)
    return {
        probe.name: probe
        for probe in sorted(probes.catalogue(), key=lambda each: each.axis is Axis.NULL)
        if probe.edits is Edits.IMAGE and probe.expectation is Expectation.INVARIANT and probe.axis in wanted
    }


def _read_gap(raw: str) -> tuple[float | None, str]:
    try:
        wanted = float(raw) / 100
    except ValueError:
        wanted = -1.0
    near = [gap for gap in GAPS if abs(gap - wanted) < 1e-9]
    return (near[0], "") if near else (None, f"The gap {raw[:40]!r} is none of the slider's; the usual one is shown.")


def _read_count(raw: str) -> tuple[int, str]:
    if raw.isascii() and raw.isdigit() and 1 <= int(raw[:6]) <= MOST:
        return int(raw), ""
    return FEW, f"The number of images must lie between 1 and {MOST}, got {raw[:40]!r}."


def _read_ties(raw: str) -> tuple[bool, str]:
    return raw != "no", "" if raw in ("yes", "no") else f"Ties must be yes or no, got {raw[:40]!r}."

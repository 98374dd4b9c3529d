"""What the page Calibration remembers in its link, and the fits that all sessions share."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.calibration import READINGS, UNIFORM
from core.analysis.calibration_effect import before_after
from core.analysis.calibration_fit import (
    HUMAN,
    WEIGHTS,
    Fit,
    calibration_rows,
    clean_scores,
    fit,
    image_hashes,
    narrow,
)
from core.analysis.calibration_sweep import EPSILONS, LAMBDAS
from core.analysis.flip_risk import GAPS
from core.analysis.slices import Slice
from core.human.ratings import ratings
from core.human.studies import list_studies, studies_dir
from core.probes.base import IDENTITY
from pages.parts.runs import Signature, known_values, store
from pages.parts.slice_filters import slice_fields
from pages.parts.url_state import Field, PageState, joined, one_of, some_of

MEASURES = {
    "sensitivity": ("By family", "Median over items of an item's median |Δ|, score units"),
    "percent": ("In percent", "Median over items of an item's median |%Δ|"),
    "flip risk": ("Flip risk", "Risk of ranking flip at a gap on the score's own scale; it can never exceed 50 %"),
    "agreement": ("Agreement", "Rank correlations of the score with each H"),
}
"""Measure before and after -> its name on the page, what it is."""

Votes = tuple[tuple[str, int, int], ...]
"""(path, size, time of change) of every file of every study."""

Bands = dict[str, tuple[np.ndarray, np.ndarray]]


def calib_state(files: Signature) -> PageState:
    """Return the page's fields, with the defaults of these runs."""
    names = known_values(files)["evaluators"]
    first = names[0] if names else None
    return PageState(
        "calib",
        (
            Field("evaluator", first, one_of(lambda: names, first, what="evaluator")),
            Field("reading", READINGS[0], one_of(lambda: READINGS, READINGS[0], what="reading")),
            Field("weights", UNIFORM, one_of(lambda: WEIGHTS, UNIFORM, what="kind of weights")),
            Field("epsilon", 0.01, _read_epsilon, lambda value: f"{value:g}"),
            Field("against", [], some_of(lambda: references(files), what="evaluator"), joined),
            Field("strength", None, _read_strength, lambda value: f"{value:g}"),
            Field("measure", "sensitivity", one_of(lambda: tuple(MEASURES), "sensitivity", what="measure")),
            Field("gap", 0.007, _read_gap, lambda gap: f"{100 * gap:g}"),
            *slice_fields(files),
        ),
    )


@st.cache_data(max_entries=64, show_spinner=False)
def narrowed(files: Signature, chosen: Slice) -> tuple[Slice, tuple[str, ...]]:
    """One subject and one run of each corpus; see ``core.analysis.calibration_fit.narrow``."""
    return narrow(store(files), chosen)


# These are shared and never changed: a copy for every look would take longer than the fit.
@st.cache_resource(max_entries=3, show_spinner="Arranging the shifts …")
def _rows_of(files: Signature, kept: Slice, evaluator: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Shifts of one evaluator, and the clean scores of all."""
    return calibration_rows(store(files), replace(kept, evaluators=(evaluator,))), clean_scores(store(files), kept)


@st.cache_resource(max_entries=2, show_spinner=False)
def _images(files: Signature) -> dict[tuple[str, str], str]:
    return image_hashes(store(files))


@st.cache_resource(max_entries=32, show_spinner="Learning the calibration and sweeping λ …")
def fitted(
    files: Signature,
    chosen: Slice,
    evaluator: str,
    reading: str,
    weights: str,
    epsilon: float,
    against: tuple[str, ...],
    votes: Votes,
) -> tuple[Fit, Bands]:
    """The fit of one choice with its bands; made once, shared by all sessions, never changed."""
    rows, clean = _rows_of(files, narrowed(files, chosen)[0], evaluator)
    found = fit(
        rows, _images(files), evaluator=evaluator, reading=reading, weights=weights, epsilon=epsilon,
        against=against or None, ratings=people(votes), clean=clean,
    )  # fmt: skip
    return found, found.bands()


def votes_present() -> Votes:
    """What people's ratings depend on now; empty where there is no study."""
    stamps = []
    for path in sorted(studies_dir().glob("*/*")):
        try:
            status = path.stat()
        except OSError:  # it went away in between
            continue
        stamps.append((str(path), status.st_size, status.st_mtime_ns))
    return tuple(stamps)


def references(files: Signature) -> tuple[str, ...]:
    """What a score can be held to: the evaluators of the runs, and people where they rated unedited pairs."""
    found = people(votes_present())
    rated = bool((found["probe"] == IDENTITY).any())
    return known_values(files)["evaluators"] + ((HUMAN,) if rated else ())


@st.cache_data(max_entries=2, show_spinner="Reading the votes …")
def people(votes: Votes) -> pd.DataFrame:
    """Ratings by people over every study; no row where there is none."""
    return ratings(list_studies()[0])


@st.cache_data(max_entries=128, show_spinner=False)
def effect(key: tuple, strength: float, _found: Fit) -> pd.DataFrame:
    """What a strength changes on the held-out split; ``key`` names the fit."""
    return before_after(_found.scores, _found.terms, strength, _found.others)


def fingerprint_of(files: Signature, evaluator: str) -> str:
    """Fingerprint of the evaluator as a run's manifest has it; empty where runs differ or say nothing."""
    told = {
        str(each.get("fingerprint", {}).get("key", ""))
        for run in store(files).runs()
        for each in run.manifest.get("evaluators") or []
        if isinstance(each, dict) and each.get("name") == evaluator
    }
    return told.pop() if len(told) == 1 else ""


def _read_epsilon(raw: str) -> tuple[float, str]:
    known = {f"{value:g}": value for value in EPSILONS}
    if raw in known:
        return known[raw], ""
    return 0.01, f"ε must be one of {', '.join(known)}, got {raw[:40]!r}; 0.01 is used."


def _read_strength(raw: str) -> tuple[float | None, str]:
    known = {f"{value:g}": value for value in LAMBDAS}
    if raw in known:
        return known[raw], ""
    return None, f"λ must be a multiple of 0.05 from 0 to 1, got {raw[:40]!r}; λ* is shown."


def _read_gap(raw: str) -> tuple[float, str]:
    known = {f"{100 * gap:g}": gap for gap in GAPS}
    if raw in known:
        return known[raw], ""
    return 0.007, f"The gap must be one of {', '.join(known)} %, got {raw[:40]!r}; 0.7 % is shown."

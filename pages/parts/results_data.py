"""Tables of the results, computed once for each slice and shared by all sessions."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis import questions
from core.analysis.factors import FactorTest
from core.analysis.questions import Replication
from core.analysis.results import item_scores, of_items
from core.analysis.slices import Slice
from pages.parts.runs import Signature, store

_KEPT = 128
"""Tables of a few hundred rows that are kept of each kind."""


@st.cache_data(max_entries=_KEPT, show_spinner="Comparing with the baselines …")
def effect_table(files: Signature, chosen: Slice, kind: str, how: tuple[tuple[str, Any], ...]) -> pd.DataFrame:
    """Effects of one kind; see ``core.analysis.questions.{kind}_effects``."""
    makers: dict[str, Callable[..., pd.DataFrame]] = {
        "spatial": questions.spatial_effects, "place": questions.place_effects, "angle": questions.angle_effects,
        "modifier": questions.modifier_effects, "level": questions.level_effects, "crossed": questions.crossed_effects,
    }  # fmt: skip
    return makers[kind](store(files), chosen, **dict(how))


@st.cache_data(max_entries=_KEPT, show_spinner="Comparing the levels …")
def factor(files: Signature, chosen: Slice, how: tuple[tuple[str, Any], ...]) -> FactorTest:
    """Do levels differ; see ``core.analysis.questions.levels_differ``."""
    return questions.levels_differ(store(files), chosen, **dict(how))


def score_factor(files: Signature, chosen: Slice, name: str, evaluator: str) -> FactorTest:
    """Do scores differ between bins or categories; see ``core.analysis.questions.scores_differ``."""
    return _score_factor(files, of_items(chosen), name, evaluator)


def score_table(files: Signature, chosen: Slice, by: tuple[str, ...]) -> pd.DataFrame:
    """Median scores; see ``core.analysis.questions.score_levels``."""
    return _score_table(files, of_items(chosen), by)


def coverage_curve(files: Signature, chosen: Slice, evaluator: str) -> pd.DataFrame:
    """Score on coverage; see ``core.analysis.questions.coverage_curve``."""
    return _coverage_curve(files, of_items(chosen), evaluator)


# Shared by sessions and not copied: nobody writes into it.
@st.cache_resource(max_entries=4, show_spinner="Reading the scores …")
def _scores(files: Signature, items: Slice) -> pd.DataFrame:
    return item_scores(store(files), items)


@st.cache_data(max_entries=_KEPT, show_spinner="Comparing the levels …")
def _score_factor(files: Signature, items: Slice, name: str, evaluator: str) -> FactorTest:
    return questions.scores_differ(_scores(files, items), factor=name, evaluator=evaluator)


@st.cache_data(max_entries=_KEPT, show_spinner="Reading the scores …")
def _score_table(files: Signature, items: Slice, by: tuple[str, ...]) -> pd.DataFrame:
    return questions.score_levels(_scores(files, items), by=by)


@st.cache_data(max_entries=_KEPT, show_spinner="Fitting the curve …")
def _coverage_curve(files: Signature, items: Slice, evaluator: str) -> pd.DataFrame:
    return questions.coverage_curve(_scores(files, items), evaluator=evaluator)


@st.cache_data(max_entries=_KEPT, show_spinner="Fitting the curve …")
def distance_curve(files: Signature, chosen: Slice, evaluator: str) -> pd.DataFrame:
    """Change on distance; see ``core.analysis.questions.distance_curve``."""
    return questions.distance_curve(store(files), chosen, evaluator=evaluator)


@st.cache_data(max_entries=_KEPT, show_spinner="Dropping suspicious composites …")
def filtered_moves(files: Signature, chosen: Slice) -> pd.DataFrame:
    """Artifact filters; see ``core.analysis.questions.filtered_moves``."""
    return questions.filtered_moves(store(files), chosen)


@st.cache_data(max_entries=_KEPT, show_spinner="Fitting the mixed models …")
def mixed(files: Signature, chosen: Slice) -> pd.DataFrame:
    """Mixed effects; see ``core.analysis.questions.mixed_effects``."""
    return questions.mixed_effects(store(files), chosen)


@st.cache_data(max_entries=_KEPT, show_spinner="Comparing the corpora …")
def replication(files: Signature, chosen: Slice, how: tuple[tuple[str, Any], ...]) -> Replication:
    """Across corpora; see ``core.analysis.questions.replication``."""
    return questions.replication(store(files), chosen, **dict(how))

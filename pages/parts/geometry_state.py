"""State of the page Geometry, and what it computes, cached by what it depends on."""

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.geometry import LEVELS, Geometry, geometry
from core.analysis.slices import Slice
from core.analysis.valence import embed, modifier_objects, modifier_shifts, split_words, text_encoders, valence_words
from core.evaluators.pool import shared_pool
from pages.parts.runs import Signature, evaluator_names, known_values, store
from pages.parts.slice_filters import slice_fields
from pages.parts.url_state import Field, PageState, one_of, text

MOST_CHARACTERS = 1500
"""Of one word list in a link."""

FILTERS = ("runs", "corpora", "families", "categories", "coverage_bins", "subjects")


def geometry_state(files: Signature) -> PageState:
    """Fields of the page."""
    names = known_values(files)["evaluators"]
    words = valence_words()
    return PageState(
        "geometry",
        (
            Field("evaluator", None, one_of(lambda: names, None, what="evaluator")),
            Field("level", LEVELS[0], one_of(lambda: LEVELS, LEVELS[0], what="level")),
            Field("positive", ", ".join(words.positive), text(limit=MOST_CHARACTERS)),
            Field("negative", ", ".join(words.negative), text(limit=MOST_CHARACTERS)),
            *slice_fields(files),
        ),
    )


@st.cache_data(max_entries=8, show_spinner=False)
def encoders(files: Signature) -> dict[str, str]:
    """Evaluator of these runs -> "" where its text encoder can be asked here, else why not."""
    return text_encoders(evaluator_names(store(files).runs()))


@st.cache_data(max_entries=32, show_spinner=False)
def modifiers(files: Signature, chosen: Slice, evaluator: str) -> pd.DataFrame:
    """Median shift of every modifier; see ``core.analysis.valence.modifier_shifts``."""
    return modifier_shifts(store(files), chosen, evaluator=evaluator)


@st.cache_data(max_entries=32, show_spinner="Asking the text encoder …")
def placed(files: Signature, chosen: Slice, evaluator: str, level: str, positive: str, negative: str) -> Geometry:
    """Geometry of an evaluator's text encoder over these runs; see ``core.analysis.geometry.geometry``."""
    objects, controls = modifier_objects(store(files), chosen)
    return geometry(
        lambda texts: _embedded(evaluator, tuple(texts)), modifiers(files, chosen, evaluator),
        positive=split_words(positive), negative=split_words(negative), level=level, objects=objects, controls=controls,
    )  # fmt: skip


@st.cache_data(max_entries=16, show_spinner=False)
def _embedded(evaluator: str, texts: tuple[str, ...]) -> np.ndarray:
    return embed(shared_pool(), evaluator, texts)

"""State of the page Geometry, and what it computes, cached by what it depends on."""

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.geometry import (
    LEVELS,
    Geometry,
    embed,
    geometry,
    modifier_objects,
    modifier_shifts,
    split_words,
    text_encoders,
    valence_words,
)
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.evaluators.pool import shared_pool
from pages.views.common.keys import KEYED
from pages.views.common.own_metrics import Stamps
from pages.views.common.runs import Signature, scores, stored_values, view
from pages.views.common.scope import scope_fields
from pages.views.common.slice_filters import slice_fields
from pages.views.common.url_state import Field, PageState, one_of, text

MOST_CHARACTERS = 1500
"""Of one word list in a link."""

FILTERS = ("families", "categories", "coverage_bins")


def geometry_state(files: Signature) -> PageState:
    """Fields of the page."""
    words = valence_words()
    return PageState(
        "geometry",
        (
            Field("evaluator", None, one_of(lambda: stored_values(files)["evaluators"], None, what="evaluator")),
            Field("level", LEVELS[0], one_of(lambda: LEVELS, LEVELS[0], what="level")),
            Field("positive", ", ".join(words.positive), text(limit=MOST_CHARACTERS)),
            Field("negative", ", ".join(words.negative), text(limit=MOST_CHARACTERS)),
            *scope_fields(files),
            *slice_fields(files),
        ),
    )


@st.cache_data(hash_funcs=KEYED, max_entries=8, show_spinner=False)
def encoders(files: Signature, scope: Narrowed, barred: dict[str, str], own: tuple[str, ...]) -> dict[str, str]:
    """Evaluator of the scope -> "" where its text encoder can be asked here, else why not.

    Args:
        files, scope: whose evaluators.
        barred: those given by path that cannot be asked, and why.
        own: those given by path that can.
    """
    return text_encoders(scores(files, scope).evaluators, barred, own)


@st.cache_data(hash_funcs=KEYED, max_entries=32, show_spinner=False)
def modifiers(files: Signature, scope: Narrowed, chosen: Slice, evaluator: str) -> pd.DataFrame:
    """Median shift of every modifier; see ``core.analysis.geometry.modifier_shifts``."""
    return modifier_shifts(view(files, scope, chosen), evaluator=evaluator)


@st.cache_data(hash_funcs=KEYED, max_entries=32, show_spinner="Asking the text encoder …")
def placed(
    files: Signature,
    scope: Narrowed,
    chosen: Slice,
    evaluator: str,
    level: str,
    positive: str,
    negative: str,
    own: Stamps,
) -> Geometry:
    """Geometry of an evaluator's text encoder over a scope; see ``core.analysis.geometry.geometry``.

    Args:
        files, scope, chosen: what the page shows.
        evaluator: whose text encoder and shifts.
        level, positive, negative: as the page's fields.
        own: the evaluator with the digest of its file, where it was given by path.
    """
    objects, controls = modifier_objects(view(files, scope, chosen))
    return geometry(
        lambda texts: _embedded(evaluator, tuple(texts), own), modifiers(files, scope, chosen, evaluator),
        positive=split_words(positive), negative=split_words(negative), level=level, objects=objects, controls=controls,
    )  # fmt: skip


@st.cache_data(hash_funcs=KEYED, max_entries=16, show_spinner=False)
def _embedded(evaluator: str, texts: tuple[str, ...], own: Stamps) -> np.ndarray:
    return embed(shared_pool(), evaluator, texts, [name for name, _ in own])

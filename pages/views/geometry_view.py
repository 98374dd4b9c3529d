"""Geometry: does the text encoder's sense of good and bad say how much a modifier changes the score?"""

import math
from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.questions.columns import opening
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.charts.spec import signed
from core.errors import InvariscopeError
from core.evaluators.pool import shared_pool
from core.features.geometry import geometry
from core.probes.titles import family_title
from core.statistics.rank_agreement import DRAWN, DRAWS
from pages.views.common.collect import data_buttons, figure_buttons, figures_of, of_scores
from pages.views.common.links import draw_no_run, pairs_behind
from pages.views.common.open_runs import KEYED, Signature, present, scores, store, stored_values, view
from pages.views.common.page_drawings import NUMBER, draw_figure, draw_table
from pages.views.common.page_head import Chips, chips, draw_title, drawn, header
from pages.views.common.scope_chips import choose_scope, say_withheld, scope_fields
from pages.views.common.slice_filters import choose_slice, describe, offer_relaxing, slice_fields, slice_link
from pages.views.common.text import counted, listed, safe
from pages.views.common.url_state import Field, PageState, one_of, text
from pages.views.probe_lab.lab_state import Stamps, barred_encoders, own_ready, stamps

MOST_CHARACTERS = 1500  # of one word list in a link
FILTERS = ("families", "categories", "coverage_bins")


def _geometry_state(files: Signature) -> PageState:
    words = geometry.valence_words()
    fields = (
        Field("evaluator", None, one_of(lambda: stored_values(files)["evaluators"], None, what="evaluator")),
        Field("level", geometry.LEVELS[0], one_of(lambda: geometry.LEVELS, geometry.LEVELS[0], what="level")),
        Field("positive", ", ".join(words.positive), text(limit=MOST_CHARACTERS)),
        Field("negative", ", ".join(words.negative), text(limit=MOST_CHARACTERS)),
        *scope_fields(files),
        *slice_fields(files),
    )
    return PageState("geometry", fields)


@st.cache_data(hash_funcs=KEYED, max_entries=8, show_spinner=False)
def encoders(files: Signature, scope: Narrowed, barred: dict[str, str], own: tuple[str, ...]) -> dict[str, str]:
    """Evaluator of the scope -> "" where its text encoder can be asked here, else why not. ``barred``: those given by
    path that cannot be asked, and why."""
    return geometry.text_encoders(scores(files, scope).evaluators, barred, own)


@st.cache_data(hash_funcs=KEYED, max_entries=32, show_spinner=False)
def modifiers(files: Signature, scope: Narrowed, chosen: Slice, evaluator: str) -> pd.DataFrame:
    """Median shift of every modifier; see ``core.features.geometry.geometry.modifier_shifts``."""
    return geometry.modifier_shifts(view(files, scope, chosen), evaluator=evaluator)


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
) -> geometry.Geometry:
    """Geometry of an evaluator's text encoder over a scope; see ``core.features.geometry.geometry.geometry``. ``own``:
    the evaluator with the digest of its file, where it was given by path."""
    objects, controls = geometry.modifier_objects(view(files, scope, chosen))
    return geometry.geometry(
        lambda texts: _embedded(evaluator, tuple(texts), own),
        modifiers(files, scope, chosen, evaluator),
        positive=geometry.split_words(positive),
        negative=geometry.split_words(negative),
        level=level,
        objects=objects,
        controls=controls,
    )


@st.cache_data(hash_funcs=KEYED, max_entries=16, show_spinner=False)
def _embedded(evaluator: str, texts: tuple[str, ...], own: Stamps) -> np.ndarray:
    return geometry.embed(shared_pool(), evaluator, texts, [name for name, _ in own])


_FEW = 10
_LEVELS = {geometry.WORD: "Words", geometry.PHRASE: "Phrases"}


def _say_barred(encoders: dict[str, str]) -> None:
    for name, obstacle in encoders.items():
        if obstacle:
            st.caption(f"Not applicable to **{safe(name)}**: {safe(obstacle, limit=300)}.")


def _draw_geometry(found: geometry.Geometry, evaluator: str, corpus: str, chosen: Mapping[str, str]) -> None:
    rows = found.points.assign(evaluator=evaluator, corpus=corpus).to_dict("records")
    opens = [opening(row, {"families": "family", "modifiers": "modifier"}) for row in rows]
    points = found.points.assign(opens=opens)
    names = {name: family_title(name) for name in points["family"].unique()}
    figure = geometry.valence_scatter(points, evaluator, neutral=found.neutral, names=names)
    ordered = found.points.sort_values("projection")
    ends = listed([f"{row['modifier']} {row['median_percent']:+.1f} %" for _, row in ordered.iterrows()])
    alt = (
        f"Modifiers from the negative to the positive end of the valence direction of {evaluator}, each with its "
        f"median percent change: {ends}."
    )
    draw_figure(figure, key="geometry.scatter", alt=alt, clicked=partial(pairs_behind, chosen=chosen, scope={}))
    right = " Right of 0 it sounds better than neutral words: typical, plain, ordinary."
    if math.isnan(found.neutral):
        right = ""
    st.caption(
        f"Each point is a word, across by how good it sounds to the encoder.{right} Its height is the median change of "
        "the score against the neutral caption closest in length, with its 95 % interval; an open mark has none."
    )
    figure_buttons(
        figure, found.points, f"geometry-{found.level}", title=f"Geometry, {evaluator}", key="geometry.figure"
    )
    for sentence in found.left_out:
        st.caption(f"Mind: {safe(sentence, limit=300)}.")
    own = found.tests[found.tests["family"] != geometry.ALL]
    with st.expander("Family by family, and every number", icon=":material/table:"):
        st.markdown(_said(found.tests.iloc[0]))
        if len(found.tests) > 1:
            st.caption("Ranked within families, in every order too: each family has its own baseline.")
        for _, test in own.iterrows() if len(own) > 1 else ():
            st.markdown(f"**{safe(family_title(test['family']))}**: {_said(test)}")
        columns = {
            "family": "Family",
            "modifier": "Modifier",
            "median_percent": NUMBER("Median % change", format="%+.2f"),
            "low": NUMBER("CI low", format="%+.2f"),
            "high": NUMBER("CI high", format="%+.2f"),
            "n_items": "n items",
            "projection": NUMBER("Projection", format="%+.4f"),
            "n_objects": "Objects",
        }
        draw_table(found.points, alt="Every modifier with its projection and its shift", column_config=columns)
        data_buttons(found.tests, f"geometry-tests-{found.level}", key="geometry.tests")


def _said(row: pd.Series) -> str:
    n = int(row["n"])
    if math.isnan(row["rho"]):
        return f"n = {n}: {safe(row['note'])}."
    p = "< 0.001" if row["p"] < 0.001 else f"= {row['p']:.3f}"
    how = f"{counted(DRAWS, 'order')} drawn" if row["method"] == DRAWN else "every order tried"
    rho = signed(row["rho"], digits=2, unit="")
    said = f"Spearman's ρ = **{rho}**, p {p} (permutation test, {how}), n = {counted(n, 'modifier')}."
    if n >= _FEW:
        return said
    least = row["least"]
    bound = f" With {n}, even a perfect order cannot give a p below {least:.3f}." if least >= 0.001 else ""
    return f"{said} {n} points are few.{bound}"


def draw() -> None:
    """Draw the view."""
    files = present()
    try:
        state = _geometry_state(files)
    except InvariscopeError as error:  # the word lists on disk cannot be read
        draw_title()
        st.error(safe(str(error), limit=600))
        return
    state.restore()
    header("Does how good a word sounds to a metric say how much it changes the score?", state)
    with drawn(state):
        if not store(files).runs():
            draw_no_run()
            return
        row = chips(state)
        _draw(state, files, choose_scope(state, files, row=row, without=("evaluators",)).only(), row)


def _draw(state: PageState, files: Signature, scope: Narrowed, row: Chips) -> None:
    say_withheld(files, scope)
    chosen = choose_slice(state, files, scope, row, fields=FILTERS, more=False)
    known = encoders(files, scope, barred_encoders(), own_ready())
    able = [name for name, obstacle in known.items() if not obstacle]
    if not able:
        _say_barred(known)
        st.info("None of these metrics has a text encoder on this machine.", icon=":material/hub:")
        return
    answer = st.container()
    shown = state.get("evaluator") if state.get("evaluator") in able else able[0]
    evaluator = state.choose(
        row.scope.popover(f"Metric: **{safe(shown, limit=40)}**", key="geometry.chip"),
        "evaluator",
        "Metric",
        able,
        help="The metric whose text encoder places the words, and whose changes are shown.",
    )
    if modifiers(files, scope, chosen, evaluator).empty:
        st.info("This scope and these filters have no modifier; audit a societal family such as cultural.")
        offer_relaxing(state, files, scope, chosen)
        return
    body = st.container()
    with st.expander("How words are placed", icon=":material/edit:"):
        hint = "Words: the modifier alone. Phrases: the modifier before every object that it was scored with, averaged."
        state.switch("level", "Level", _LEVELS, help=hint)
        left, right = st.columns(2)
        left.text_area("Positive words", key=state.key("positive"), height=120, max_chars=1500)
        right.text_area("Negative words", key=state.key("negative"), height=120, max_chars=1500)
        st.caption(
            "A word sounds good as far as it lies in the direction from the mean of the negative words to that of the "
            "positive ones. Separate words by commas. Your lists stay in the link."
        )
        _say_barred(known)
    words = (state.get("positive"), state.get("negative"))
    found = placed(files, scope, chosen, evaluator, state.get("level"), *words, stamps((evaluator,)))
    figures_of(of_scores(state, files, scope, describe(chosen)))
    if found.points.empty:
        with body:
            st.info("These filters leave no modifier that has both a place and a shift.")
            offer_relaxing(state, files, scope, chosen)
        return
    told, end, power = geometry.concluded(found, safe(evaluator))[0].partition(").")
    answer.markdown(f"**{told}{end}**")
    if power:
        answer.caption(power)
    with body:
        _draw_geometry(found, evaluator, scope.corpus, slice_link(state))

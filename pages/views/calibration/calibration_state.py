"""What the page Calibrate remembers in its link, the fits that all sessions share, and what each choice does."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.questions import Options, Question
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.charts.spec import PALETTE
from core.features.calibration.effect import OF_AXES, TwoSides, axes_along, effect_of
from core.features.calibration.fit import HUMAN, ORACLE, WEIGHTS, Fit, fit
from core.features.calibration.measured import Measured
from core.features.calibration.questions import ABLATION, questions
from core.features.calibration.readings import READINGS, UNIFORM, WEIGHTED, corrections
from core.features.calibration.reference_order import ReferenceOrder, asked_for, reference_order, unedited_captions
from core.features.calibration.sweep import EPSILONS, LAMBDAS
from core.features.human.studies import list_studies, studies_dir
from core.features.human.votes import ratings
from core.file_contents import stamps
from core.probes.base import IDENTITY
from core.scoring.reference_metrics import ready_words
from core.statistics.bootstrap import LEAST_N
from core.statistics.flip_risk import GAPS
from pages.views.common.collect import data_buttons
from pages.views.common.layers import folded_part
from pages.views.common.open_runs import KEYED, Signature, of_runs, run_of, scores, stored_values, view
from pages.views.common.scope_chips import scope_fields
from pages.views.common.shown_answers import answer_rows
from pages.views.common.slice_filters import slice_fields
from pages.views.common.text import THE_PAPER, counted, safe
from pages.views.common.url_state import Field, PageState, joined, one_of, pick_field, some_of, switch_field

OPENS_ON = "orbit"  # the reading that the page opens on: under it the order of unedited scores changes with λ

MEASURES = {
    "sensitivity": (
        "By family",
        "Median over items of an item's median |Δ|, in SD of the unedited scores of the same side",
    ),
    "percent": ("In percent", "Median over items of an item's median |% change|"),
    "flip risk": (
        "Flip risk",
        "Risk of ranking flip at a gap that is a share of the interquartile range of the same side's unedited scores; "
        "it can never exceed 50 %",
    ),
    "agreement": ("Agreement", "Rank correlations of the score with each H"),
}
"""Measure before and after -> its name on the page, what it is."""

Votes = tuple[tuple[str, int, int], ...]  # (path, size, time of change) of every file of every study
Bands = dict[str, tuple[np.ndarray, np.ndarray]]


def calib_state(files: Signature) -> PageState:
    """Return the page's fields, with the defaults of these runs."""

    def in_percent(gap: float) -> str:
        return f"{100 * gap:g}"

    costs, gaps = ", ".join(map("{:g}".format, EPSILONS)), ", ".join(map(in_percent, GAPS))
    of_strength = "λ must be a multiple of 0.05 from 0 to 1"
    fields = (
        Field("evaluator", None, one_of(lambda: stored_values(files)["evaluators"], None, what="evaluator")),
        Field("reading", OPENS_ON, one_of(lambda: READINGS, OPENS_ON, what="reading")),
        Field("weights", UNIFORM, one_of(lambda: WEIGHTS, UNIFORM, what="kind of weights")),
        pick_field("epsilon", 0.01, EPSILONS, "{:g}".format, f"ε must be one of {costs}", then="; 0.01 is used"),
        Field("against", [], some_of(lambda: references(stored_values(files)["evaluators"]), what="evaluator"), joined),
        pick_field("strength", None, LAMBDAS, "{:g}".format, of_strength, then="; λ* is shown"),
        Field("measure", "sensitivity", one_of(lambda: tuple(MEASURES), "sensitivity", what="measure")),
        switch_field("ablation"),
        pick_field("gap", 0.007, GAPS, in_percent, f"The gap must be one of {gaps} %", then="; 0.7 % is shown"),
        *scope_fields(files),
        *slice_fields(files),
    )
    return PageState("calib", fields)


@of_runs
@st.cache_resource(hash_funcs=KEYED, max_entries=32, show_spinner="Learning the calibration and sweeping λ …")
def fitted(
    files: Signature,
    scope: Narrowed,
    chosen: Slice,
    evaluator: str,
    reading: str,
    weights: str,
    epsilon: float,
    against: tuple[str, ...],
    votes: Votes,
) -> tuple[Fit, Bands]:
    """The fit of one choice with its bands; made once, shared by all sessions, never changed."""
    order = word_order(files, scope, against)
    found = fit(
        view(files, scope, chosen),
        evaluator=evaluator,
        reading=reading,
        weights=weights,
        epsilon=epsilon,
        against=against or None,
        ratings=people(votes),
        judged=order.values if order else {},
    )
    return found, found.bands()


@of_runs
@st.cache_resource(hash_funcs=KEYED, max_entries=8, show_spinner="Comparing captions with references …")
def word_order(files: Signature, scope: Narrowed, against: tuple[str, ...]) -> ReferenceOrder | None:
    """What references say of the captions in scope, by the metrics of them that a score is held to; None without.
    Raises InvariscopeError if the corpus is not here, or has no references."""
    table = scores(files, scope)
    if not (names := asked_for(against, table.evaluators)):
        return None
    return reference_order(unedited_captions(table), table.scope, run_of(files, scope.run), names)


def votes_present() -> Votes:
    """What people's ratings depend on now; empty where there is no study."""
    return stamps(sorted(studies_dir().glob("*/*")))


def references(evaluators: tuple[str, ...]) -> tuple[str, ...]:
    """What a score can be held to: some evaluators, people where they rated unedited pairs, and references."""
    found = people(votes_present())
    rated = bool((found["probe"] == IDENTITY).any())
    words = tuple(name for name in ready_words() if name not in evaluators)
    return evaluators + ((HUMAN,) if rated else ()) + words


@st.cache_data(hash_funcs=KEYED, max_entries=2, show_spinner="Reading the votes …")
def people(votes: Votes) -> pd.DataFrame:  # noqa: ARG001  # the cache's key
    """Ratings by people over every study; no row where there is none."""
    return ratings(list_studies()[0])


@st.cache_data(hash_funcs=KEYED, max_entries=256, show_spinner=False)
def effect(key: tuple[object, ...], strength: float, measures: tuple[str, ...], _found: Fit) -> pd.DataFrame:
    """What a strength changes of some measures on the held-out split; ``key`` names the fit."""
    return _two_sides(key, strength, _found).rows(measures)


# Two scorings of 4,000 items under 40 edits are 10 MB: those of the strengths that a reader tries now.
@of_runs
@st.cache_resource(hash_funcs=KEYED, max_entries=4, show_spinner=False)
def _two_sides(key: tuple[object, ...], strength: float, _found: Fit) -> TwoSides:  # noqa: ARG001  # the cache's key
    return effect_of(_found.scores, corrections(_found.scores, _found.terms), strength, _found.others)


@st.cache_data(hash_funcs=KEYED, max_entries=32, show_spinner="Drawing intervals along λ …")
def axis_lines(
    key: tuple[object, ...],  # noqa: ARG001  # the cache's key, with the next one
    made: str,  # noqa: ARG001
    _found: Fit,
    _own: Measured | None,
) -> pd.DataFrame:
    """The unwanted change of every axis along λ, held out, with its band: as measured where it was. ``key`` names the
    fit, ``made`` the measurement; empty for none."""
    if _own is not None:
        return axes_along(partial(_own.effect, measures=(OF_AXES,)), LAMBDAS)
    changes = corrections(_found.scores, _found.terms)
    return axes_along(lambda at: effect_of(_found.scores, changes, at, _found.others).rows((OF_AXES,)), LAMBDAS)


_AXES = {"spatial": PALETTE[0], "societal": PALETTE[1], "object": PALETTE[2], "surface": PALETTE[3], "null": PALETTE[7]}


def axis_colours(names: pd.Series) -> dict[str, str]:
    """The colour of each axis among some."""
    return {str(axis): _AXES.get(str(axis), PALETTE[4]) for axis in names.unique()}


def fingerprint_of(files: Signature, scope: Narrowed, evaluator: str) -> str:
    """Fingerprint of the evaluator as the manifest of the run in view has it; empty where it says nothing."""
    told = {
        str(each.get("fingerprint", {}).get("key", ""))
        for each in run_of(files, scope.run).manifest.get("evaluators") or []
        if isinstance(each, dict) and each.get("name") == evaluator
    }
    return told.pop() if len(told) == 1 else ""


READING_TOLD = {
    "orbit": "Every score moves towards the median over its picture's own variants, itself included: "
    "Ŝ = S + λ Σ w·(m − S). At λ = 1 and for one closed family, such as a flip, the score is exactly invariant.",
    "absolute": "As the paper prints it: Ŝ = S − λ Σ w·median |S(x′) − S(x)|. **For an involution it cancels:** a "
    "picture and its flip carry the same correction, so no λ changes a shift under a flip.",
    "shift": "For a known edit, λ times that edit's median shift on the dev split is taken off. Unedited scores stay "
    "as they are, so no correlation changes. It costs nothing at inference.",
    "ridge": "Each picture's own median shift under a family, shrunk towards the family's by n / (n + 1) for n "
    "variants, is taken off edited scores. It needs the picture's variants at inference.",
    "quantile": "An edited score's quantile on the dev split is mapped to the baseline's quantile. Unedited scores "
    "stay as they are, so no correlation changes. It costs nothing at inference.",
}

WEIGHTS_TOLD = {
    "uniform": "every family weighs the same",
    "sensitivity": "a family weighs in proportion to its median |Δ| on the dev split",
    "each": "every family weighs 1, so that the corrections are added: by construction every shift falls to nothing at "
    "λ = 1, while what the families share is taken off more than once",
    "oracle": "chosen on the held-out split itself: **an upper bound, never a result**",
}


def choose(state: PageState, evaluator: str, references: tuple[str, ...]) -> None:
    """Draw how the formula is read, what it may cost, and what it is held to; the evaluator itself is left out."""
    row = st.container(horizontal=True, vertical_alignment="bottom", key="calib_choices")
    hint = f"How the paper's formula is read; the sentence below says what each does. {THE_PAPER}"
    state.switch("reading", "Reading", READINGS, place=row, help=hint)
    row = st.container(horizontal=True, vertical_alignment="bottom", key="calib_constraint")
    hint = (
        "How families share the correction; the readings shift, "
        "ridge and quantile correct each family by itself and know no weights"
    )
    state.switch("weights", "Weights", WEIGHTS, place=row, disabled=state.get("reading") not in WEIGHTED, help=hint)
    hint = "How much of Spearman's ρ with each H may be lost"
    state.switch("epsilon", "ε", EPSILONS, place=row, format_func=lambda value: f"{value:g}", help=hint)
    others = [name for name in references if name != evaluator]
    state.put("against", [name for name in state.get("against") if name in others])
    placeholder = "Every other evaluator" + (", people if they rated enough" if HUMAN in others else "")
    hint = (
        "What the calibrated score must stay correlated with: other evaluators, people where studies have rated "
        f"the unedited pairs of {LEAST_N} items or more on either side of the split, and where the corpus has several "
        "captions of an image, bleu-4, rouge-l and cider-d of the caption beside the others. These three never see "
        "the image, so no edit of it moves them"
    )
    row.multiselect("H: keep the order of", others, key=state.key("against"), placeholder=placeholder, help=hint)


def tell(state: PageState, found: Fit, order: ReferenceOrder | None) -> None:
    """Say what the reading does, what it costs, how the families are weighted, and what references are held to."""
    reading = state.get("reading")
    said = READING_TOLD[reading]
    if reading in ("orbit", "absolute", "ridge"):
        variants = sum(len(f.probes) for name, f in found.scores.families.items() if found.terms.weights[name] > 0)
        said += f" Cost: up to {counted(variants, 'variant')} a picture are scored beside it."
    if reading in WEIGHTED:
        said += f" Weights: {WEIGHTS_TOLD[state.get('weights')]}."
    st.markdown(said)
    if reading in WEIGHTED:
        st.caption(
            "A run has the orbit of each picture, not those of its variants: under its own family a variant is "
            "taken to have the picture's orbit, under every other one its correction. What is called measured scores "
            "both, as an audit with the exported file does."
        )
    if reading in WEIGHTED and state.get("weights") != ORACLE:
        told = ", ".join(f"{safe(name)} {weight:.3f}" for name, weight in found.terms.weights.items())
        st.caption(f"w: {told}")
    if order is not None:
        st.caption(safe(f"H: {'; '.join(order.told)}.", limit=600))


def draw_choices(state: PageState, files: Signature, scope: Narrowed, chosen: Slice, evaluator: str) -> None:
    """Draw the table of one evaluator, once a reader asks for it; it is held to every evaluator of the scope."""
    place = folded_part("All 33 ways to calibrate, compared", state, "ablation", icon=":material/table:")
    if place is None:
        return
    with place:
        question = _question(files, scope)
        rows = _answer(files, scope, replace(chosen, evaluators=(evaluator,)))
        if rows.empty:
            st.caption("Nothing of this is known here.")
            return
        answer_rows(question, rows, measure="percent", several=False)
        data_buttons(rows, question.id, key="calib.ablation.data")
        st.caption(safe(question.note, limit=2000))


def _question(files: Signature, scope: Narrowed) -> Question:
    return next(each for each in questions(scores(files, scope)) if each.id == ABLATION)


@st.cache_data(max_entries=16, show_spinner="Learning every choice …")
def _answer(files: Signature, scope: Narrowed, chosen: Slice) -> pd.DataFrame:
    return _question(files, scope).compute(scores(files, scope).view(chosen), Options())

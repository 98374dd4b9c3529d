"""The choices of a calibration, each with what it does, and A.7's table of them all, as the report writes it."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from core.analysis.questions import Options, Question
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.calibration.fit import ORACLE, WEIGHTS, Fit
from core.calibration.questions import ABLATION, questions
from core.calibration.readings import READINGS, WEIGHTED
from core.calibration.reference_order import ReferenceOrder
from core.calibration.sweep import EPSILONS
from pages.views.common.downloads import data_buttons
from pages.views.common.open_runs import Signature, scores
from pages.views.common.shown_answers import answer_rows
from pages.views.common.text import THE_PAPER, counted, safe
from pages.views.common.url_state import PageState

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
    """Draw how the formula is read, what it may cost, and what it is held to.

    Args:
        state: of the page.
        evaluator: whose scores are calibrated.
        references: what a score can be held to; the evaluator itself is left out.
    """
    row = st.container(horizontal=True, vertical_alignment="bottom", key="calib_choices")
    row.segmented_control(
        "Reading",
        READINGS,
        key=state.key("reading"),
        required=True,
        help=f"How the paper's formula is read; the sentence below says what each does. {THE_PAPER}",
    )
    row = st.container(horizontal=True, vertical_alignment="bottom", key="calib_constraint")
    row.segmented_control(
        "Weights",
        WEIGHTS,
        key=state.key("weights"),
        required=True,
        disabled=state.get("reading") not in WEIGHTED,
        help="How families share the correction; the readings shift, "
        "ridge and quantile correct each family by itself and know no weights",
    )
    row.segmented_control(
        "ε",
        EPSILONS,
        key=state.key("epsilon"),
        required=True,
        format_func=lambda value: f"{value:g}",
        help="How much of Spearman's ρ with each H may be lost",
    )
    others = [name for name in references if name != evaluator]
    state.put("against", [name for name in state.get("against") if name in others])
    row.multiselect(
        "H: keep the order of",
        others,
        key=state.key("against"),
        placeholder="Every other evaluator, people",
        help="What the calibrated score must stay correlated with: other evaluators, people where a study has rated "
        "unedited pairs, and where the corpus has several captions of an image, bleu-4, rouge-l and cider-d of the "
        "caption beside the others. These three never see the image, so no edit of it moves them",
    )


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
            "A run holds the orbit of each picture, not those of its variants: under its own family a variant is "
            "taken to have the picture's orbit, under every other one its correction. What is called measured scores "
            "both, as an audit with the exported file does."
        )
    if reading in WEIGHTED and state.get("weights") != ORACLE:
        told = ", ".join(f"{safe(name)} {weight:.3f}" for name, weight in found.terms.weights.items())
        st.caption(f"w: {told}")
    if order is not None:
        st.caption(safe(f"H: {'; '.join(order.told)}.", limit=600))


def draw_choices(state: PageState, files: Signature, scope: Narrowed, chosen: Slice, evaluator: str) -> None:
    """Draw the table of one evaluator, once a reader asks for it.

    Args:
        state: of the page.
        files: what the store depends on.
        scope: whose scores; all its evaluators are held to.
        chosen: the part of them that the filters leave.
        evaluator: whose rows.
    """
    st.header("Every reading, weighting and ε", anchor=False)
    if not st.toggle("Compare them on the held-out items", key=state.key("ablation")):
        st.caption("Learns and sweeps each of 33 choices: paper A, A.7.")
        return
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

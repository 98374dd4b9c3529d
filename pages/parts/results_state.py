"""What the results page remembers in its link, and the controls that set it."""

from collections.abc import Sequence

import streamlit as st

from core.analysis.contrasts import MARGIN
from core.analysis.questions import SOCIETAL
from core.analysis.results import MEASURES
from pages.parts.runs import Signature, known_values
from pages.parts.slice_filters import slice_fields
from pages.parts.url_state import Field, PageState, one_of

QUESTIONS = {
    "space": "RQ1 · Space",
    "object": "RQ2 · Object",
    "words": "RQ3 · Words",
    "corpora": "RQ4 · Corpora",
}
ASKED = {
    "space": "Does the score move when the picture is flipped, its object moved, or the whole turned a little?",
    "object": "Does the score depend on how large the object is, and on what kind of thing it is?",
    "words": "Does a word before the noun move the score, although the picture does not speak for or against it?",
    "corpora": "Does what holds on one corpus hold on the others?",
}
PARTS = {
    "space": {"families": "Families", "quadrants": "Quadrants", "angles": "Angles", "distance": "Distance"},
    "object": {"coverage_bin": "Coverage", "category": "Category", "map": "Coverage × category"},
    "words": {name: name.capitalize() for name in SOCIETAL} | {"crossed": "By what is shown"},
    "corpora": {},
}
"""Question -> its parts, the usual one first."""

MEASURED = {"percent": "%Δ", "standardised": "Standardised Δ", "delta": "Absolute Δ"}
AGAINST = {"baseline": "Neutral of equal length", "bare": "Bare caption"}
LARGEST_MARGIN = 20.0


def results_state(files: Signature) -> PageState:
    """Fields of the page over these runs."""
    parts = tuple(dict.fromkeys(name for each in PARTS.values() for name in each))
    known = known_values(files)
    return PageState(
        "results",
        (
            *slice_fields(files),
            Field("question", "space", one_of(lambda: tuple(QUESTIONS), "space", what="question")),
            Field("part", None, one_of(lambda: parts, None, what="part of a question")),
            Field("measure", "percent", one_of(lambda: tuple(MEASURES), "percent", what="measure")),
            Field("margin", MARGIN, read_margin, lambda value: f"{value:g}"),
            Field("against", "baseline", one_of(lambda: tuple(AGAINST), "baseline", what="baseline")),
            Field("of", None, one_of(lambda: known["evaluators"], None, what="evaluator")),
            Field("under", None, one_of(lambda: known["families"], None, what="family")),
            Field("reference", None, one_of(lambda: known["corpora"], None, what="corpus")),
            Field("mixed", False, _read_switch, lambda value: "yes" if value else "no"),
        ),
    )


def choose_question(state: PageState) -> tuple[str, str]:
    """Draw the choice of a question and of its part; return both, the part empty where there is none."""
    st.segmented_control(
        "Research question", tuple(QUESTIONS), format_func=QUESTIONS.__getitem__, required=True,
        key=state.key("question"), label_visibility="collapsed",
    )  # fmt: skip
    question = str(state.get("question"))
    st.markdown(f"##### {ASKED[question]}")
    return question, _choose_part(state, PARTS[question])


def _choose_part(state: PageState, parts: dict[str, str]) -> str:
    if not parts:
        return ""
    key, first = f"{state.key('part')}.widget", next(iter(parts))
    st.session_state[key] = state.get("part") if state.get("part") in parts else first

    def chosen() -> None:
        state.put("part", None if st.session_state[key] == first else st.session_state[key])

    return str(
        st.segmented_control(
            "Part", tuple(parts), format_func=parts.__getitem__, required=True, key=key, on_change=chosen,
            label_visibility="collapsed",
        )
    )  # fmt: skip


def choose_measure(state: PageState, *, against: bool = False) -> None:
    """Draw the switch between measures, the margin and, for words, what they are held against."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.segmented_control(
            "Measure", tuple(MEASURED), format_func=MEASURED.__getitem__, required=True, key=state.key("measure"),
            help="%Δ: change in percent of the baseline score. Standardised: the change over the standard deviation "
            "of the baseline scores, which compares evaluators of different scales. Absolute: on the evaluator's own "
            "scale, a panel each.",
        )  # fmt: skip
        if against:
            st.segmented_control(
                "Held against", tuple(AGAINST), format_func=AGAINST.__getitem__, required=True,
                key=state.key("against"),
                help="The neutral word (typical, plain, ordinary) whose caption is closest in length, so that a "
                "longer caption is no excuse; or the caption without any word before the noun.",
            )  # fmt: skip
        st.number_input(
            "Margin, ± %", min_value=0.1, max_value=LARGEST_MARGIN, step=0.5, format="%g", width=130,
            key=state.key("margin"),
            help="A median %Δ whose 90 % interval lies within this margin is called invariant. It is yours to set: how "
            "small a change would not matter to you?",
        )  # fmt: skip


def choose_one(state: PageState, name: str, label: str, options: Sequence[str], *, help_text: str) -> str:
    """Draw a select box that stands beside what it changes; the first option is the usual one."""
    return state.choose(st.container(width=280), name, label, list(options), help=help_text)


def read_margin(raw: str) -> tuple[float, str]:
    """Read a margin in percent from a link."""
    try:
        value = float(raw[:20])
    except ValueError:
        value = 0.0
    if 0.1 <= value <= LARGEST_MARGIN:
        return value, ""
    return MARGIN, f"The margin must be a percentage from 0.1 to {LARGEST_MARGIN:g}, got {raw[:40]!r}."


def _read_switch(raw: str) -> tuple[bool, str]:
    return raw == "yes", "" if raw in ("yes", "no") else f"A switch is yes or no, got {raw[:40]!r}."

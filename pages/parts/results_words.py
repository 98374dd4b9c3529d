"""RQ3: words before the noun, with their neutral controls, and whether it matters what the picture shows."""

import pandas as pd
import streamlit as st

from core.analysis.questions import NOT_PERSON, PERSON, SOCIETAL, chosen_families, in_order
from core.analysis.slices import Slice
from core.charts.results import cells
from pages.parts.results_blocks import UNITS, effect_rows, factor_block, figure_block, nothing
from pages.parts.results_data import effect_table, factor
from pages.parts.results_draw import draw_effects, evaluators_of, how
from pages.parts.results_state import choose_measure, choose_one
from pages.parts.runs import Signature, known_values
from pages.parts.url_state import PageState

_NEUTRAL = ("typical", "plain", "ordinary")


def draw_words(state: PageState, files: Signature, chosen: Slice, part: str) -> None:
    """Draw one part of RQ3."""
    if part == "crossed":
        _crossed(state, files, chosen)
    else:
        _family(state, files, chosen, part)


def _family(state: PageState, files: Signature, chosen: Slice, family: str) -> None:
    choose_measure(state, against=True)
    against = state.get("against")
    table = effect_table(files, chosen, "modifier", (("family", family), ("against", against), *how(state)))
    if table.empty:
        _absent(files, family)
        return
    words = table[~table["label"].isin(_NEUTRAL)]
    labels = [*_by_value(words), *(name for name in _NEUTRAL if (table["label"] == name).any())]
    draw_effects(
        state, table, labels=labels, names={name: f"{name} (neutral)" for name in _NEUTRAL}, label="Word",
        stem=f"words-{family}", title=f"How far {family} words move the score",
    )  # fmt: skip
    held = "the neutral caption closest in length" if against == "baseline" else "the caption without the word"
    st.caption(f"Each word is held against {held}; the neutral words against the bare caption, since any word costs "
               "something. Words that differ, though none can be seen, speak of the metric.")  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        st.markdown("#### Do the words differ?", width="content")
        evaluator = choose_one(state, "of", "Evaluator", evaluators_of(table),
                               help_text="The evaluator whose words are compared pair by pair.")  # fmt: skip
    asked = (("label", "modifier"), ("family", family), ("evaluator", evaluator), ("against", against),
             ("measure", state.get("measure")))  # fmt: skip
    factor_block(factor(files, chosen, asked), of="words", stem=f"words-{family}")


def _by_value(table: pd.DataFrame) -> list[str]:
    """Words from the most raised to the most lowered, over the evaluators' ranks: scales differ, ranks do not."""
    ranks = table.groupby(["evaluator", "corpus"], observed=True)["value"].rank()
    return list(ranks.groupby(table["label"].astype(str)).mean().sort_values(ascending=False, kind="stable").index)


def _absent(files: Signature, family: str) -> None:
    if family in known_values(files)["families"]:
        nothing(f"{family} word")
        return
    st.info(f"These runs hold no {family} words. An audit with them:", icon=":material/sell:")
    st.code(f"python -m core audit --corpus demo --evaluators conse-lite0 --probes {family}", language="shell",
            wrap_lines=True)  # fmt: skip


def _crossed(state: PageState, files: Signature, chosen: Slice) -> None:
    known = known_values(files)
    families = [name for name in chosen_families(chosen, SOCIETAL) if name in known["families"]]
    evaluators = [name for name in known["evaluators"] if not chosen.evaluators or name in chosen.evaluators]
    if not families or not evaluators:
        nothing("words")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        family = choose_one(state, "under", "Family", families, help_text="Economic words by category; the others by "
                            "whether the object is a person.")  # fmt: skip
        evaluator = choose_one(state, "of", "Evaluator", evaluators, help_text="Whose shifts the map shows.")
    choose_measure(state)
    table = effect_table(files, chosen, "crossed", (("family", family), ("evaluator", evaluator), *how(state)))
    if table.empty:
        nothing(f"{family} word")
        return
    unit, digits = UNITS[state.get("measure")]
    rows = table.astype({"label": str, "group": str})
    groups = [name for name in (PERSON, NOT_PERSON) if (rows["group"] == name).any()]
    groups = in_order(list(rows["group"].unique()), "category") if family == "economic" else groups
    labels = _by_value(rows.assign(evaluator=evaluator, corpus=rows["group"]))
    figure = cells(rows, rows=groups if family == "economic" else labels,
                   columns=labels if family == "economic" else groups,
                   row="group" if family == "economic" else "label",
                   column="label" if family == "economic" else "group", unit=unit, digits=min(digits, 3) if unit != " %"
                   else 1, diverging=True)  # fmt: skip
    figure_block(figure, rows, f"words-crossed-{family}", title=f"How far {family} words move {evaluator}",
                 alt=f"Map of the median shift of {evaluator} by {family} word and by what is shown")  # fmt: skip
    st.caption("Blue: the word raises the score. Amber: it lowers it. n items in every cell, over all corpora of the "
               "filters; intervals in the table.")  # fmt: skip
    effect_rows(rows.assign(evaluator=evaluator), measure=state.get("measure"), label="Word",
                key=f"results.crossed-{family}.rows")  # fmt: skip

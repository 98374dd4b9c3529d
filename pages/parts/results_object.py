"""RQ2: the score by the object's size and kind, and how far an edit moves it in each."""

import streamlit as st

from core.analysis.questions import chosen_families, in_order
from core.analysis.slices import Slice
from core.charts.results import cells, curve, intervals, score_levels
from core.charts.style import colours
from core.probes.base import BASE_CAPTION
from pages.parts.results_blocks import factor_block, figure_block, nothing
from pages.parts.results_data import coverage_curve, effect_table, score_factor, score_table
from pages.parts.results_draw import draw_effects, evaluators_of, how
from pages.parts.results_state import choose_measure, choose_one
from pages.parts.runs import Signature, known_values
from pages.parts.url_state import PageState

_SAID = {"coverage_bin": ("Coverage, %", "coverage bins"), "category": ("Category", "categories")}
_USUAL = ("vertical-flip", "reposition", "rotation")


def draw_object(state: PageState, files: Signature, chosen: Slice, part: str) -> None:
    """Draw one part of RQ2."""
    if part == "map":
        _map(state, files, chosen)
    else:
        _factor(state, files, chosen, part)


def _factor(state: PageState, files: Signature, chosen: Slice, factor: str) -> None:
    table = score_table(files, chosen, ("evaluator", "corpus", factor))
    if table.empty:
        nothing("scored item")
        return
    heading, many = _SAID[factor]
    levels = in_order(list(map(str, table[factor].unique())), factor)
    if factor == "coverage_bin":
        figure = score_levels(table, levels=levels, level=factor)
    else:
        figure = intervals(table.rename(columns={factor: "label"}), labels=levels, series="corpus", panel="evaluator",
                           unit="", digits=3, free=True, axis="median score, 95 % interval")  # fmt: skip
    figure_block(figure, table, f"object-{factor}", title=f"Median score by {heading.lower().split(',')[0]}",
                 alt=f"Median score of every evaluator by {many}; the numbers are in the table beneath")  # fmt: skip
    number = st.column_config.NumberColumn
    st.dataframe(
        table.drop(columns="note"), hide_index=True, placeholder="—", alt=f"Median scores by {many}", height=280,
        key=f"results.object-{factor}.rows",
        column_config={
            "evaluator": "Evaluator", "corpus": "Corpus", factor: st.column_config.TextColumn(heading),
            "value": number("Median score", format="%.3f"), "low": number("95 % from", format="%.3f"),
            "high": number("to", format="%.3f"), "n_items": number("n", format="%d"),
        },
    )  # fmt: skip
    st.caption("Unedited items with their captions, 95 % BCa bootstrap over items. The filters on edits do not touch "
               "these scores. Each evaluator has a scale of its own.")  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        st.markdown(f"#### Do the {many} differ?", width="content")
        evaluator = choose_one(state, "of", "Evaluator", evaluators_of(table),
                               help_text="The evaluator of the tests and of the curve.")  # fmt: skip
    if factor == "coverage_bin":
        _curve(files, chosen, evaluator)
    factor_block(score_factor(files, chosen, factor, evaluator), of=many, stem=f"object-{factor}")
    _shifts(state, files, chosen, factor)


def _curve(files: Signature, chosen: Slice, evaluator: str) -> None:
    found = coverage_curve(files, chosen, evaluator)
    if found.empty:
        st.caption("Too few different coverages for a curve.")
        return
    figure = curve(found, x="coverage", y="score", colour=colours([evaluator])[evaluator], percent_x=True)
    figure_block(figure, found, "object-curve", title=f"Score of {evaluator} on continuous coverage",
                 alt=f"Score of {evaluator} on coverage, a smooth curve with a 95 % band")  # fmt: skip
    st.caption(f"Natural cubic spline with a 95 % bootstrap band, n = {int(found['n'].iloc[0])} items: a check that "
               "the bins' edges do not make the shape.")  # fmt: skip


def _shifts(state: PageState, files: Signature, chosen: Slice, factor: str) -> None:
    heading, many = _SAID[factor]
    st.markdown(f"#### Does an edit move some {many} more?")
    offered = [name for name in chosen_families(chosen, known_values(files)["families"]) if name != BASE_CAPTION]
    offered = sorted(offered, key=lambda name: (_USUAL.index(name) if name in _USUAL else len(_USUAL), name))
    if not offered:
        nothing("family")
        return
    family = choose_one(state, "under", "Family", offered, help_text="The edits whose shifts are drawn.")
    choose_measure(state)
    table = effect_table(files, chosen, "level", (("factor", factor), ("family", family), *how(state)))
    if table.empty:
        nothing(f"shift under {family}")
        return
    draw_effects(state, table, labels=in_order(list(map(str, table["label"].unique())), factor), label=heading,
                 stem=f"object-{factor}-shifts", title=f"How far {family} moves the score")  # fmt: skip


def _map(state: PageState, files: Signature, chosen: Slice) -> None:
    table = score_table(files, chosen, ("evaluator", "category", "coverage_bin"))
    if table.empty:
        nothing("scored item")
        return
    evaluator = choose_one(state, "of", "Evaluator", evaluators_of(table), help_text="Whose scores the map shows.")
    rows = table[table["evaluator"] == evaluator].astype({"category": str, "coverage_bin": str})
    figure = cells(rows, rows=in_order(list(rows["category"].unique()), "category"),
                   columns=in_order(list(rows["coverage_bin"].unique()), "coverage_bin"), row="category",
                   column="coverage_bin")  # fmt: skip
    figure_block(figure, rows, "object-map", title=f"Median score of {evaluator} by category and coverage",
                 alt=f"Map of the median score of {evaluator} by category and coverage, n in each cell")  # fmt: skip
    st.caption("The darker, the higher; n items in every cell, the 95 % interval on hover and in the files. Cells of "
               "few items say little.")  # fmt: skip

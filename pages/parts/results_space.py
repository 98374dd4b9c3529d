"""RQ1: flips, the moved object, rotations, and how far from the centre."""

import streamlit as st

from core.analysis.questions import BLUR, FLIPS, NULL, PLACES, ROTATION
from core.analysis.slices import Slice
from core.charts.results import curve, intervals
from core.charts.style import colours
from pages.parts.results_blocks import AXES, factor_block, figure_block, nothing
from pages.parts.results_data import distance_curve, effect_table, factor, filtered_moves, mixed
from pages.parts.results_draw import draw_effects, evaluators_of, how
from pages.parts.results_state import choose_measure, choose_one
from pages.parts.runs import Signature
from pages.parts.text import THE_PAPER
from pages.parts.url_state import PageState

_NAMES = {
    "vertical-flip": "Vertical flip", "horizontal-flip": "Horizontal flip", "reposition": "Reposition",
    "rotation": "Rotation", "blur": "Blur (control)", "null": "Null edits", "blur-1": "Blur σ 1 (control)",
    "blur-2": "Blur σ 2 (control)", "rotate-10": "−10°", "rotate-5": "−5°", "rotate+5": "+5°", "rotate+10": "+10°",
    "reposition-TL": "Top left", "reposition-TR": "Top right", "reposition-BL": "Bottom left",
    "reposition-BR": "Bottom right",
}  # fmt: skip
_NULLS = {"null:jpeg95": "JPEG 95 (null)", "null:shift1": "Shift by 1 px (null)", "null:resize": "Resize (null)"}
_FILTERS = {"none": "No filter", "seam": "Seam", "background": "Background", "either": "Seam or background"}
_OF_HELP = "The evaluator whose levels are compared pair by pair."


def draw_space(state: PageState, files: Signature, chosen: Slice, part: str) -> None:
    """Draw one part of RQ1."""
    {"families": _families, "quadrants": _quadrants, "angles": _angles, "distance": _distance}[part](
        state, files, chosen
    )


def _families(state: PageState, files: Signature, chosen: Slice) -> None:
    choose_measure(state)
    table = effect_table(files, chosen, "spatial", how(state))
    if table.empty:
        nothing("spatial shift")
        return
    draw_effects(
        state, table, labels=(*FLIPS, PLACES, ROTATION, BLUR, NULL), names=_NAMES, label="Family",
        stem="space-families", title="How far a spatial edit moves the score",
    )  # fmt: skip
    st.caption("Blur takes detail away and leaves the place alone: what moves by place should move further than it. "
               "Null edits are those that nobody can see; they are the noise floor.")  # fmt: skip
    st.toggle("Mixed effects", key=state.key("mixed"), help="Fit score ~ edited with random intercepts for image and "
              "category by REML, and report the coefficient of the edit, as the paper's Table 3 does. It takes a few "
              f"seconds on large runs. {THE_PAPER}")  # fmt: skip
    if state.get("mixed"):
        _mixed(files, chosen)


def _mixed(files: Signature, chosen: Slice) -> None:
    fitted = mixed(files, chosen)
    number = st.column_config.NumberColumn
    st.dataframe(
        fitted, hide_index=True, placeholder="—", alt="Mixed effects of the spatial families", key="results.mixed.rows",
        column_config={
            "evaluator": "Evaluator", "label": "Family", "note": "Note", "n_items": number("Images", format="%d"),
            "effect": number("β₁", format="%+.4f", help="Mean shift on the evaluator's own scale, image and category "
                             "as random intercepts"),
            "low": number("95 % from", format="%+.4f"), "high": number("to", format="%+.4f"),
            "p": number("p", format="%.4f"), "categories": number("Categories", format="%d"),
        },
    )  # fmt: skip


def _quadrants(state: PageState, files: Signature, chosen: Slice) -> None:
    choose_measure(state)
    table = effect_table(files, chosen, "place", how(state))
    if table.empty:
        nothing("shift of a moved object")
        return
    labels = [f"reposition-{corner}" for corner in ("TL", "TR", "BL", "BR")]
    others = sorted(set(table["label"]) - set(labels))
    draw_effects(state, table, labels=[*labels, *others], names=_NAMES, label="Moved to", stem="space-quadrants",
                 title="How far the score moves when the object does")  # fmt: skip
    _moves(files, chosen)
    _differ(state, files, chosen, label="probe", family=PLACES, of="quadrants", stem="space-quadrants",
            present=evaluators_of(table))  # fmt: skip


def _moves(files: Signature, chosen: Slice) -> None:
    moves = filtered_moves(files, chosen)
    st.markdown("#### From top left to bottom right")
    if moves.empty:
        st.caption("Both corners of the same item are needed; the filters or the run leave none.")
        return
    shown = moves.rename(columns={"median_percent": "value"}).assign(
        label=[_FILTERS[name] + (f", top {q:g} % dropped" if q else "") for name, q in zip(moves["filter"], moves["q"],
                                                                                           strict=True)]
    )  # fmt: skip
    labels = list(dict.fromkeys(shown["label"]))
    several = shown["corpus"].nunique() > 1
    figure = intervals(
        shown, labels=labels, series="evaluator", panel="corpus" if several else None, unit=" %", axis=AXES["percent"]
    )
    figure_block(figure, moves, "space-moves", title="The same object, bottom right against top left",
                 alt="Median percent change from top left to bottom right, without a filter and with the most "
                 "suspicious composites dropped; the numbers are in the table beneath")  # fmt: skip
    number = st.column_config.NumberColumn
    st.dataframe(
        shown[["label", "evaluator", *(["corpus"] if several else []), "value", "low", "high", "n_items", "cut_items",
               "same_direction", "overlaps"]],
        hide_index=True, placeholder="—", alt="Artifact filters", key="results.moves.rows",
        column_config={
            "label": st.column_config.TextColumn("Filter", pinned=True), "evaluator": "Evaluator", "corpus": "Corpus",
            "value": number("Median %Δ", format="%+.2f"), "low": number("95 % from", format="%+.2f"),
            "high": number("to", format="%+.2f"), "n_items": number("n", format="%d"),
            "cut_items": number("Dropped", format="%d"),
            "same_direction": st.column_config.CheckboxColumn("Same direction", help="As without a filter"),
            "overlaps": st.column_config.CheckboxColumn("Intervals overlap", help="With the one without a filter"),
        },
    )  # fmt: skip
    st.caption("If the shift came from the seam of the composite or a disturbed background, it would fade as the most "
               "suspicious composites are dropped.")  # fmt: skip


def _angles(state: PageState, files: Signature, chosen: Slice) -> None:
    choose_measure(state)
    table = effect_table(files, chosen, "angle", how(state))
    if table.empty:
        nothing("rotation")
        return
    labels = ["rotate-10", "rotate-5", "rotate+5", "rotate+10", "blur-1", "blur-2", *_NULLS]
    labels += sorted(set(table["label"]) - set(labels))
    draw_effects(state, table, labels=labels, names=_NAMES | _NULLS, label="Probe", stem="space-angles",
                 title="How far a slight turn moves the score")  # fmt: skip
    _differ(state, files, chosen, label="probe", family=ROTATION, of="angles", stem="space-angles",
            present=evaluators_of(table))  # fmt: skip


def _distance(state: PageState, files: Signature, chosen: Slice) -> None:
    names = chosen.evaluators or evaluators_of(effect_table(files, chosen, "place", (("tests", False),)))
    if not names:
        nothing("shift of a moved object")
        return
    evaluator = choose_one(state, "of", "Evaluator", names, help_text="The evaluator whose curve is drawn.")
    found = distance_curve(files, chosen, evaluator)
    if found.empty:
        st.info("These runs hold no distance grid. An audit with it:", icon=":material/grid_on:")
        st.code("python -m core audit --corpus demo --evaluators conse-lite0 --probes distance", language="shell",
                wrap_lines=True)  # fmt: skip
        return
    figure = curve(found, x="distance of the object from the centre, 1 = the edge", y="%Δ",
                   colour=colours([evaluator])[evaluator])  # fmt: skip
    figure_block(figure, found, "space-distance", title="Percent change on distance from the centre",
                 alt=f"Percent change of {evaluator} on the object's distance to the centre, 95 % band")  # fmt: skip
    st.caption(f"Natural cubic spline with a 95 % bootstrap band, n = {int(found['n'].iloc[0])} values.")


def _differ(
    state: PageState, files: Signature, chosen: Slice, *, label: str, family: str, of: str, stem: str,
    present: tuple[str, ...],
) -> None:  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        st.markdown(f"#### Do the {of} differ?", width="content")
        evaluator = choose_one(state, "of", "Evaluator", present, help_text=_OF_HELP)
    asked = (("label", label), ("family", family), ("evaluator", evaluator), ("measure", state.get("measure")))
    factor_block(factor(files, chosen, asked), of=of, stem=stem, names=_NAMES)

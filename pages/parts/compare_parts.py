"""The pieces of the comparison: the two sides, their medians and difference, and what the runs were made with."""

import pandas as pd
import streamlit as st

from core.analysis.comparison import ALL, Side, compare_sides, manifest_differences, read_side
from core.analysis.contrasts import LEAST_N
from core.analysis.slices import Slice
from core.audit.manifest import Run
from core.charts.comparison import differences, dumbbell
from pages.parts.compare_state import BY, MANY, MEASURED, SIDES
from pages.parts.results_blocks import UNITS, figure_block, p_value, rounded
from pages.parts.results_state import LARGEST_MARGIN
from pages.parts.runs import Signature, known_values, store
from pages.parts.text import safe
from pages.parts.url_state import PageState

_NAMES = {ALL: "All together"}


@st.cache_data(max_entries=128, show_spinner="Holding the sides against each other …")
def compared(files: Signature, a: Slice, b: Slice, by: str, measure: str, margin: float) -> pd.DataFrame:
    """A against B; see ``core.analysis.comparison.compare``."""
    return compare_sides(_side_of(files, a, by), _side_of(files, b, by), measure=measure, margin=margin)  # type: ignore[arg-type]


# Shared and never changed: who changes one side finds the other one here.
@st.cache_resource(max_entries=4, show_spinner="Reading a side …")
def _side_of(files: Signature, chosen: Slice, by: str) -> Side:
    return read_side(store(files), chosen, by=by)


def choose_sides(state: PageState, files: Signature) -> None:
    """Draw the two sides beside each other."""
    cells = st.grid(2, min_column_width=300, gap="medium")
    for side in SIDES:
        with cells.container(border=True, height="stretch"):
            _side(state, files, side)


def _side(state: PageState, files: Signature, side: str) -> None:
    known = known_values(files)
    usual = known["evaluators"][: 2 if side == "b" else 1][-1]
    others = [usual, *(name for name in known["evaluators"] if name != usual)]
    st.markdown(f"**Side {side.upper()}**")
    key = f"{state.key(f'{side}_evaluator')}.widget"
    st.session_state[key] = state.get(f"{side}_evaluator") or usual

    def chosen() -> None:
        state.put(f"{side}_evaluator", None if st.session_state[key] == usual else st.session_state[key])

    st.selectbox("Evaluator", others, key=key, on_change=chosen, help="Whose scores this side holds: one of them.")
    first, second = ("families", "modifiers"), ("runs", "corpora", "categories", "coverage_bins", "subjects")
    for name in first:
        _many(state, known, side, name)
    chosen_below = any(state.get(f"{side}_{name}") for name in second)
    with st.expander("Which items", expanded=chosen_below):
        for name in second:
            _many(state, known, side, name)


def _many(state: PageState, known: dict[str, tuple[str, ...]], side: str, name: str) -> None:
    if len(known[name]) < 2 and not state.get(f"{side}_{name}"):
        return
    st.multiselect(MANY[name], known[name], key=state.key(f"{side}_{name}"), placeholder=f"All {len(known[name])}")


def choose_how(state: PageState) -> None:
    """Draw the switches for levels, measure and margin."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.selectbox("A row for each", tuple(BY), format_func=BY.__getitem__, key=state.key("by"), width=150,
                     help="The levels that both sides have; all together stand above them.")  # fmt: skip
        st.segmented_control(
            "Measure", tuple(MEASURED), format_func=MEASURED.__getitem__, required=True, key=state.key("measure"),
            help="Raw scores of two evaluators have different scales, so sides are compared in percent of the "
            "baseline score, or in standard deviations of each side's own baseline scores.",
        )  # fmt: skip
        st.number_input("Margin, ± points", min_value=0.1, max_value=LARGEST_MARGIN, step=0.5, format="%g", width=140,
                        key=state.key("margin"), disabled=state.get("measure") != "percent",
                        help="Sides whose difference lies within this many percentage points are called "
                        "alike.")  # fmt: skip


def draw_compared(table: pd.DataFrame, *, by: str, measure: str, margin: float) -> None:
    """Draw both sides' medians, their difference, and the table of both."""
    unit, digits = UNITS[measure]
    cells = st.grid(2, min_column_width=330, gap="medium")
    with cells.container():
        figure = dumbbell(table, unit=unit, digits=digits, names=_NAMES)
        figure_block(figure, table, f"compare-{by}", title="Both sides", alt=f"Medians of both sides. {_spoken(table)}")
    with cells.container():
        figure = differences(table, unit=" pp" if measure == "percent" else unit, digits=digits, names=_NAMES,
                             margin=margin if measure == "percent" else None)  # fmt: skip
        figure_block(figure, table, f"difference-{by}", title="A − B",
                     alt=f"Difference of the sides with its 95 % interval. {_spoken(table)}")  # fmt: skip
    _rows(table, by, digits)
    ways = table["how"].value_counts()
    said = "; ".join(f"{way}: {count} of {len(table)} rows" for way, count in ways.items())
    st.caption(
        f"{said.capitalize()}. Paired: the median of the items' own differences, bootstrapped over items. Independent: "
        "the difference of the two medians, each side resampled by itself. 95 % BCa intervals; Holm's correction is "
        f"over the {int(table['p'].notna().sum())} tests of this table."
    )
    overlap = table.loc[(table["how"] == "independent") & (table["shared"] > 0), "shared"]
    if len(overlap):
        st.caption(f"Up to {int(overlap.max())} items stand on both sides and count on both, which draws the sides "
                   "together.")  # fmt: skip


def _rows(table: pd.DataFrame, by: str, digits: int) -> None:
    number, signed = st.column_config.NumberColumn, f"%+.{digits}f"
    shown = rounded(table, digits).assign(
        label=[_NAMES.get(name, name) for name in table["label"]], p=table["p"].map(p_value),
        p_holm=table["p_holm"].map(p_value),
    )  # fmt: skip
    order = ["label", "a_value", "b_value", "difference", "low", "high", "verdict", "a_n", "b_n", "how", "n_items",
             "test", "p", "p_holm", "cliffs_delta"]  # fmt: skip
    st.dataframe(
        shown[order], hide_index=True, placeholder="—", alt="Both sides and their difference", key="compare.rows",
        column_config={
            "label": st.column_config.TextColumn(BY[by], pinned=True), "a_value": number("Median A", format=signed),
            "b_value": number("Median B", format=signed), "difference": number("A − B", format=signed),
            "low": number("95 % from", format=signed), "high": number("to", format=signed),
            "verdict": st.column_config.TextColumn(
                "Verdict", help="Differ: the 95 % interval of the difference excludes 0. Alike: its 90 % interval lies "
                f"within the margin. Below {LEAST_N} items on a side no verdict is given."),
            "a_n": number("n A", format="%d"), "b_n": number("n B", format="%d"), "how": "How",
            "n_items": number("n", format="%d", help="Pairs of the same item, or the items of both sides"),
            "test": "Test", "p": st.column_config.TextColumn("p", alignment="right"),
            "p_holm": st.column_config.TextColumn("p, Holm", alignment="right"),
            "cliffs_delta": number("Cliff’s δ", format="%+.3f", help="Of A over B, from −1 to 1"),
        },
    )  # fmt: skip


def _spoken(table: pd.DataFrame) -> str:
    return "; ".join(
        f"{_NAMES.get(row['label'], row['label'])}: A {row['a_value']:+.2f}, B {row['b_value']:+.2f}, difference "
        f"{row['difference']:+.2f} ({row['low']:+.2f} to {row['high']:+.2f}), {row['how']}, n {row['n_items']}"
        for _, row in table.head(12).iterrows()
    )


def draw_made_with(one: Run, other: Run) -> None:
    """Draw what two runs were made with that is not the same."""
    st.markdown("#### What the two runs were made with")
    table = manifest_differences(one, other)
    if table.empty:
        st.caption("Nothing differs: the same corpus, probes, evaluators, lexicons, seed and versions.")
        return
    st.dataframe(
        table, hide_index=True, alt="What two runs were made with", key="compare.manifests",
        column_config={"what": "What differs", "a": safe(f"A: {one.id}"), "b": safe(f"B: {other.id}")},
    )  # fmt: skip

"""How the results show anything: a figure with its downloads, its table beneath, and what the table's words mean."""

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core.analysis.contrasts import LEAST_N
from core.analysis.factors import FactorTest, Omnibus
from core.analysis.results import MEASURES
from core.charts.style import CONFIG
from pages.parts.downloads import data_buttons, figure_buttons
from pages.parts.text import counted, safe

UNITS = {"percent": (" %", 2), "standardised": (" SD", 3), "delta": ("", 4)}
"""Measure -> (unit behind a number, decimals)."""

AXES = {measure: f"median {words.partition(',')[0]}, 95 % interval" for measure, words in MEASURES.items()}
"""Measure -> title of the axis of its figure."""

_NAMES = {"percent": "Median %Δ", "standardised": "Median Δ, SD", "delta": "Median Δ"}
_P = "A p-value after Holm's correction for all tests of this table."
_VERDICT = (
    "Of the median %Δ. Moves: its 95 % interval excludes 0. Invariant within the margin: its 90 % interval lies inside "
    f"the margin. Undecided: neither. Below {LEAST_N} items no verdict is given: an interval of a median of so few is "
    "little more than their range."
)


def figure_block(figure: go.Figure, table: pd.DataFrame, stem: str, *, title: str, alt: str) -> None:
    """Draw a figure under its title, with the menu of its files.

    Args:
        figure: of ``core.charts``.
        table: the data behind it.
        stem: name of the files, and key of the figure.
        title: in our own words.
        alt: what the figure says, for those who cannot see it.
    """
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**{safe(title)}**", width="content")
        figure_buttons(figure, table, stem, title=title, key=f"results.{stem}")
    st.plotly_chart(figure, width="stretch", config=CONFIG, alt=alt, key=f"results.{stem}.figure")


def effect_rows(table: pd.DataFrame, *, measure: str, label: str, key: str) -> None:
    """Draw a table of effects under its figure.

    Args:
        table: of ``core.analysis.results.effects``.
        measure: which of MEASURES its values are of.
        label: heading of the column ``label``.
        key: of the table.
    """
    _, digits = UNITS[measure]
    number = st.column_config.NumberColumn
    signed, plain = f"%+.{digits}f", "%d"
    shown = table.drop(columns=[name for name in ("note", "test_note") if name in table])
    shown = rounded(shown, digits).assign(p=shown["p"].map(p_value), p_holm=shown["p_holm"].map(p_value))
    first = [name for name in ("label", "group", "evaluator", "corpus") if name in shown]
    if "corpus" in first and shown["corpus"].nunique() < 2:
        first.remove("corpus")
    order = [*first, "value", "low", "high", "n_items", "verdict", "test", "p", "p_holm", "cliffs_delta"]
    order += [] if measure == "standardised" else ["standardised"]
    order += [name for name in ("n_zero_baseline", "n_missing") if shown[name].any()]
    st.dataframe(
        shown[order], hide_index=True, placeholder="—", alt=f"Table of {label.lower()}", key=key,
        column_config={
            "label": st.column_config.TextColumn(label, pinned=True), "group": "Shown", "evaluator": "Evaluator",
            "corpus": "Corpus", "value": number(_NAMES[measure], format=signed),
            "low": number("95 % from", format=signed, help="Lower end of the 95 % BCa bootstrap interval over items"),
            "high": number("to", format=signed), "n_items": number("n", format=plain, help="Items"),
            "verdict": st.column_config.TextColumn("Verdict", help=_VERDICT),
            "test": st.column_config.TextColumn(
                "Test", help="Paired t where both samples pass Shapiro–Wilk at 0.05, Wilcoxon signed-rank otherwise"),
            "p": st.column_config.TextColumn("p", alignment="right"),
            "p_holm": st.column_config.TextColumn("p, Holm", alignment="right", help=_P),
            "cliffs_delta": number("Cliff’s δ", format="%+.3f", help="Share of pairs in which an edited score is "
                                   "above an unedited one, minus the share below; from −1 to 1"),
            "standardised": number("Median Δ, SD", format="%+.3f", help="Over the SD of the baseline scores"),
            "n_zero_baseline": number("Zero baselines", format=plain, help="Shifts without a %Δ: nothing to divide by"),
            "n_missing": number("Unscored", format=plain, help="Shifts whose score is missing"),
        },
    )  # fmt: skip
    tested = int(table["p"].notna().sum())
    st.caption(
        "95 % BCa bootstrap over items, an item counting once. Holm's correction is over the "
        f"{counted(tested, 'test')} of this table."
    )


def factor_block(found: FactorTest, *, of: str, stem: str, names: Mapping[str, str] | None = None) -> None:
    """Draw what a factor does: the tests of all levels at once, and pair by pair.

    Args:
        found: tests of one evaluator.
        of: what the levels are, e.g. "words".
        stem: name of the files, and key of the table.
        names: level -> the words for it.
    """
    st.markdown(f"{_omnibus('Kruskal–Wallis', found.kruskal, 'values')}  \n"
                f"{_omnibus('Friedman, which knows the pairing', found.friedman, 'complete items')}")  # fmt: skip
    pairs = found.pairs
    if pairs.empty:
        return
    shown = pairs.assign(p=pairs["p"].map(p_value), p_holm=pairs["p_holm"].map(p_value)).drop(columns="note")
    shown = shown.assign(**{side: [(names or {}).get(level, level) for level in shown[side]] for side in ("a", "b")})
    st.dataframe(
        shown, hide_index=True, placeholder="—", alt=f"Pairwise tests of {of}", key=f"results.{stem}.pairs",
        height=280 if len(pairs) > 7 else "content",
        column_config={
            "a": "A", "b": "B", "test": "Test", "n": "n", "p": st.column_config.TextColumn("p", alignment="right"),
            "p_holm": st.column_config.TextColumn("p, Holm", alignment="right", help=_P),
            "cliffs_delta": st.column_config.NumberColumn("Cliff’s δ, A over B", format="%+.3f"),
        },
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"Holm's correction is over these {counted(int(pairs['p'].notna().sum()), 'pair')} of {of}.")
        data_buttons(pairs, f"{stem}-pairs", key=f"results.{stem}.pairs")


def nothing(what: str) -> None:
    """Say that the filters leave nothing of what a part shows."""
    st.info(f"The filters leave no {what}. Take one back in the sidebar, or *Reset all*.", icon=":material/filter_alt:")


def rounded(table: pd.DataFrame, digits: int) -> pd.DataFrame:
    """Round what a table shows, so that nothing reads as minus zero; the files keep every digit."""
    numbers = table.select_dtypes("float").columns
    return table.assign(**{name: table[name].round(max(digits, 3) if name in _FINE else digits) + 0.0
                           for name in numbers})  # fmt: skip


_FINE = ("cliffs_delta", "standardised", "p", "p_holm")


def p_value(p: float | None) -> str:
    """Write a p-value; those below 0.001 as a bound.

    Example:
        >>> p_value(0.0312), p_value(1e-9), p_value(float("nan"))
        ('0.031', '< 0.001', '—')
    """
    if p is None or pd.isna(p):
        return "—"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def spoken(table: pd.DataFrame, *, unit: str, digits: int, most: int = 12) -> str:
    """Say a table of medians in a sentence: the alternative text of its figure."""
    told = [
        f"{row.label}, {row.evaluator}: {row.value:+.{digits}f}{unit} "
        f"({row.low:+.{digits}f} to {row.high:+.{digits}f}, n {row.n_items})"
        for row in table.head(most).itertuples()
    ]
    rest = f"; and {len(table) - most} more, in the table beneath" if len(table) > most else ""
    return f"{'; '.join(told)}{rest}"


def _omnibus(name: str, test: Omnibus, what: str) -> str:
    if test.note and pd.isna(test.p):
        return f"{name}: no test ({test.note})."
    statistic = "" if pd.isna(test.statistic) else f"statistic {test.statistic:.1f}, "
    note = f"; {test.note}" if test.note else ""
    return f"{name}: {statistic}p {_with_sign(test.p)}, n = {test.n} {what} of {test.levels} levels{note}."


def _with_sign(p: float) -> str:
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"

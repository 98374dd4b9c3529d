"""The usual way to show a table of effects: intervals above, the table beneath, one scale or a panel each."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.charts.results import intervals
from pages.parts.results_blocks import AXES, UNITS, effect_rows, figure_block, spoken
from pages.parts.url_state import PageState


def how(state: PageState) -> tuple[tuple[str, Any], ...]:
    """How effects are computed, as the page's controls say."""
    return (("measure", state.get("measure")), ("margin", float(state.get("margin"))))


def evaluators_of(table: pd.DataFrame) -> tuple[str, ...]:
    """Evaluators that a table has, sorted."""
    return tuple(sorted(map(str, table["evaluator"].unique())))


def draw_effects(
    state: PageState, table: pd.DataFrame, *, labels: Sequence[str], label: str, stem: str, title: str,
    names: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Draw effects by label, evaluator and corpus.

    Args:
        state: of the page: its measure and margin.
        table: of ``core.analysis.results.effects`` by evaluator, corpus and label.
        labels: order of the labels.
        label: heading of their column.
        stem: name of the files, and key of the figure.
        title: of the figure.
        names: label -> the words for it.
    """
    measure, margin = state.get("measure"), float(state.get("margin"))
    unit, digits = UNITS[measure]
    several, raw = len(table["corpus"].unique()) > 1, measure == "delta"
    across = label == "Corpus"
    panel = "evaluator" if raw else "corpus" if several and not across else None
    series = "corpus" if raw and not across else "evaluator"
    figure = intervals(
        table, labels=[name for name in labels if (table["label"] == name).any()], series=series, panel=panel,
        unit=unit, digits=digits, band=(-margin, margin) if measure == "percent" else None, names=names, free=raw,
        axis=AXES[measure],
    )  # fmt: skip
    ordered = table.assign(label=pd.Categorical(table["label"].astype(str), list(dict.fromkeys(labels)), ordered=True))
    ordered = ordered.sort_values(["label", "evaluator", "corpus"], kind="stable").astype({"label": str})
    figure_block(figure, ordered, stem, title=title,
                 alt=f"{title}. Medians: {spoken(ordered, unit=unit, digits=digits)}")  # fmt: skip
    shown = ordered.assign(label=[(names or {}).get(name, name) for name in ordered["label"]])
    effect_rows(shown, measure=measure, label=label, key=f"results.{stem}.rows")

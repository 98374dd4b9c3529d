"""Figure of a suite: every evaluator's agreement with people, with its interval."""

import pandas as pd

from core.charts.spec import Figure


def agreement(table: pd.DataFrame, *, measure: str, axis: str) -> Figure:
    """One dot an evaluator; where a suite has groups, a series each.

    Args:
        table: rows of :func:`core.analysis.suites.tables.reached_table`; those without the measure are left out.
        measure: column of the values; its bounds end in ``_low`` and ``_high``.
        axis: the measure in words.
    """
    held = table[table[measure].notna()]
    counts = held["n_pairs"] if measure.startswith("accuracy") else held["n_ratings"].fillna(held["n_pairs"])
    labels = [f"{who}, {told}" if told else str(who) for who, told in zip(held["evaluator"], held["references"],
                                                                       strict=True)]  # fmt: skip
    several = len(set(held["group"])) > 1
    own = not several and not held["references"].astype(bool).any()
    frame = pd.DataFrame(
        {
            "label": labels, "panel": "",
            "series": held["group"].astype(str) if several else held["evaluator"].astype(str) if own else "all",
            "value": held[measure], "low": held[f"{measure}_low"], "high": held[f"{measure}_high"],
            "n": counts.fillna(0).astype(int),
            "hover": [
                f"{label}, {group}\n{value:.1f} ({low:.1f} to {high:.1f})" if low == low else
                f"{label}, {group}\n{value:.1f}"
                for label, group, value, low, high in zip(
                    labels, held["group"], held[measure], held[f"{measure}_low"], held[f"{measure}_high"], strict=True
                )
            ],
        }
    )  # fmt: skip
    return Figure("", axis, "", frame.reset_index(drop=True), axis, overlay=own)

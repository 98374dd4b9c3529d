"""Every evaluator in one row of one table, what it is beside its name."""

import math
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.overview import AND, more_alike
from core.charts.fairness import worst_of_axes
from core.evaluators import registry
from core.evaluators.video.base import coarse_name
from core.probes.titles import family_title
from pages.views.common.access import may_operate
from pages.views.common.charts import draw
from pages.views.common.downloads import figure_buttons
from pages.views.common.glossary import meaning
from pages.views.common.links import pairs_behind
from pages.views.common.tables import draw_table, written
from pages.views.common.text import listed, number, safe
from pages.views.overview.doors import AUDIT

_GAP = "Gap that means something"


@st.cache_data(show_spinner=False)
def stand_ins() -> frozenset[str]:
    """Names of the evaluators whose weights an installation brings."""
    return frozenset(kind.spec.name for kind in registry.catalogue() if kind.spec.offline)


def kind_of(name: str, origins: Mapping[str, str]) -> str:
    """What an evaluator is, in a word or two.

    Args:
        name: of it.
        origins: evaluators whose scores were imported.
    """
    if name in origins:
        return "imported scores"
    own = name.removesuffix(coarse_name(""))
    if own in stand_ins():
        return "offline stand-in"
    return "published" if own in registry.catalogue().entries else "your own"


def draw_glance(rows: pd.DataFrame, origins: Mapping[str, str], selective_of: str) -> None:
    """Draw the leaderboard: its worst families on one scale, then every claim in words.

    Args:
        rows: ``core.analysis.overview.at_a_glance``.
        origins: evaluators whose scores were imported.
        selective_of: what selectivity was measured on, in words; empty: it was not.
    """
    axes = [name.removesuffix("_abs") for name in rows.columns if name.endswith("_abs")]
    records = [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]
    named = {family: family_title(family) for axis in axes for family in rows[axis].dropna()}
    figure = worst_of_axes(rows, names=named)
    draw(figure, key="overview.glance.axes", alt=_spoken(records, axes),
         clicked=partial(pairs_behind, chosen={}, scope={}))  # fmt: skip
    shown = pd.DataFrame(
        {"Evaluator": rows["evaluator"], "Kind": [kind_of(row["evaluator"], origins) for row in records]}
    )
    configured: dict[str, Any] = {
        "Evaluator": st.column_config.Column(pinned=True),
        "Kind": st.column_config.Column(help=meaning("offline stand-in")),
    }
    for axis in axes:
        shown[f"Worst {axis} edits"] = [_worst(row, axis) for row in records]
        configured[f"Worst {axis} edits"] = st.column_config.Column(
            help="The family that moves it most: median |%Δ| and its 95 % interval"
        )
        shown[f"Scatter, {axis}"] = [_claim(row, axis, "scatter") for row in records]
        configured[f"Scatter, {axis}"] = st.column_config.Column(help=meaning("scatter"))
        shown[f"Drift, {axis}"] = [_drift(row, axis) for row in records]
        configured[f"Drift, {axis}"] = st.column_config.Column(help=meaning("drift"))
    shown[_GAP] = [_gap(row) for row in records]
    configured[_GAP] = st.column_config.Column(
        help=meaning("gap of evidence") + " Of the families in this row, the one that needs the largest."
    )
    if selective_of:
        shown["Selectivity"] = [_between(row, "selectivity", 2) for row in records]
        configured["Selectivity"] = st.column_config.Column(help=meaning("selectivity"))
    draw_table(shown, alt="Every evaluator in one row", column_config=configured)
    st.caption(
        "The calmest first, by the larger of its worst medians, equal ones by name: an order of what was seen, not a "
        "test. Each dot is "
        "the family that moves the evaluator most on that axis, picked after seeing them all, with the 95 % interval "
        "of its median \\|%Δ\\|. " + (f"Selectivity is of {safe(selective_of, limit=200)}." if selective_of else "")
    )
    figure_buttons(figure, rows, "evaluators-at-a-glance", title="Evaluators at a glance", key="overview.glance")


def _spoken(records: list[dict[str, Any]], axes: list[str]) -> str:
    told = [f"{row['evaluator']}: " + ", ".join(f"{axis} {_worst(row, axis)}" for axis in axes) for row in records]
    return f"Worst family of each axis of every evaluator, median absolute percent change. {'; '.join(told)}"


def _claim(row: Mapping[str, Any], axis: str, which: str) -> str:
    said = row.get(f"{axis}_{which}")
    return said if isinstance(said, str) else "—"


def _drift(row: Mapping[str, Any], axis: str) -> str:
    """Signed median of the worst family and what it allows to claim."""
    said, value = _claim(row, axis, "drift"), row.get(f"{axis}_signed", math.nan)
    return said if math.isnan(value) else f"{written(value, form='%+.1f')} %: {said}"


def _worst(row: Mapping[str, Any], axis: str) -> str:
    family = row.get(axis)
    if not isinstance(family, str):
        return "—"
    return f"{family_title(family)}{more_alike(int(row[f'{axis}_alike']))} {_between(row, axis, 1, unit=' %')}"


def _between(row: Mapping[str, Any], name: str, digits: int, *, unit: str = "") -> str:
    value = row.get(f"{name}_abs", row.get(name, math.nan))
    if math.isnan(value):
        return "—"
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    interval = "no interval" if math.isnan(low) else f"{number(low, digits=digits)} to {number(high, digits=digits)}"
    return f"{number(value, digits=digits)}{unit} ({interval})"


def _gap(row: Mapping[str, Any]) -> str:
    if math.isnan(row["evidence"]):
        return "none was found"
    share = "" if math.isnan(row["of_iqr"]) else f", {row['of_iqr']:.0f} % of its spread"
    of = listed([family_title(name) for name in row["evidence_of"].split(AND)])
    floor = "" if math.isnan(row["null_evidence"]) else f"; null edits from {row['null_evidence']:.3g} on"
    return f"from {row['evidence']:.3g} on{share} ({of}{floor})"


def draw_kinds(names: Iterable[str]) -> None:
    """Say which evaluators are offline stand-ins, and where the published ones are."""
    own = sorted({name.removesuffix(coarse_name("")) for name in names} & stand_ins())
    if own:
        st.caption(
            f":gray-badge[offline stand-in] {safe(listed(own), limit=300)}: they need no download, and their numbers "
            "are their own, not those of a published metric. CLIPScore, PAC-S, UMIC, FLEUR and others are fetched with "
            "`python -m core evaluators get NAME`" + ("." if not may_operate() else ", or here:")
        )
        if may_operate():
            st.page_link(AUDIT, label="Get a published evaluator", icon=":material/download:")

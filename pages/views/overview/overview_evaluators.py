"""Every evaluator on the first page: its row beside its name, its fairness card."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from core.analysis.both_demands import NOT_ASKED
from core.analysis.facts import MAY_BE_TRUE, WHY
from core.analysis.flip_cells import EVIDENCE, IQR, PAIRS, READ, TWO_PICTURES
from core.analysis.flip_shifts import SAME
from core.analysis.overview import AND, more_alike, not_on_card
from core.analysis.verdicts import further_said, reached, told_from_null
from core.charts.spec import colours
from core.evaluators import registry
from core.evaluators.video.video_evaluator import coarse_name
from core.probes.titles import family_title
from core.report.fairness_card import family_shifts, shared_top, worst_of_axes
from core.statistics.crossed_sources import FIRST_ALONE
from pages.views.common.access import AUDIT, may_operate
from pages.views.common.collect import data_buttons, figure_buttons
from pages.views.common.links import CONTRAST, link_to, pairs_behind
from pages.views.common.page_drawings import NUMBER, draw_figure, draw_table, written
from pages.views.common.text import listed, meaning, number, safe
from pages.views.common.url_state import carried

_RISK = (
    f"How often this family would turn round the order of two captions whose scores lie this far apart. {PAIRS} Where "
    "each picture has one caption, the latter alone. The gap is a share of the metric's interquartile range, the "
    "spread of the middle half of its unedited scores: so metrics of different scales can be held side by side. "
    f"{READ}\n\nTrustworthy gap: {EVIDENCE}"
)


class Card(NamedTuple):
    """What a fairness card says; its tables are of ``core.analysis.overview``."""

    card: pd.DataFrame
    contrasts: pd.DataFrame
    risks: pd.DataFrame
    told: Mapping[str, Sequence[str]]  # of ``core.report.fairness_card.asked_besides``
    behind: Mapping[str, str]  # link parameters of the scope whose pairs are behind a mark
    broken: bool  # whether the scope holds broken meanings too


def draw_card(made: Card) -> None:
    """Draw the fairness card: one table; behind it every family, what the controls say, every number."""
    card, contrasts, risks, *_ = made
    rows = card.sort_values(["evaluator", "axis"], kind="stable")
    usual = risks[risks["unit"] == IQR].to_dict("records")
    known = {(each["evaluator"], each["axis"], each["family"]): each for each in usual}
    records = rows.to_dict("records")
    flips = [known[row["evaluator"], row["axis"], row["family"]] for row in records]
    shown = {
        "Metric": rows["evaluator"].tolist(),
        "Axis": rows["axis"].tolist(),
        "Worst family": [
            f"{family_title(str(row['family']))}{more_alike(int(row['alike']))}"
            + (f", {MAY_BE_TRUE}" if row["may_be_true"] else "")
            for row in records
        ],
        "Median |% change|": [
            f"{row['median_abs_percent']:.1f} % ({between(row['abs_low'], row['abs_high'], row['n_items'], scale=1)})"
            for row in records
        ],
        "n": rows["n_items"].tolist(),
        "Flip risk": [
            "not known"
            if math.isnan(row["risk"])
            else f"{100 * row['risk']:.1f} % ({between(row['low'], row['high'], row['n_items'])})"
            for row in flips
        ],
        "Trustworthy gap, under this family": [number(row["evidence"], digits=3) for row in flips],
        "Claims": [f"{row['drift']}; {row['scatter']}" for row in records],
    }
    draw_table(pd.DataFrame(shown), alt="The fairness card: the worst family of each axis under every evaluator")
    st.caption(
        "Of each axis the family that changes a metric most: median \\|% change\\| over items, with its 95 % BCa "
        "bootstrap interval. It is picked after seeing the data, and intervals and claims allow for that. *Drifts* "
        "says that scores lean one way, *unstable* that items change by more than the margin, either way. "
        f"“{MAY_BE_TRUE.capitalize()}”: {WHY}. *Trustworthy gap* is that of the family of the row: another one may "
        "ask for more."
    )
    for sentence in not_on_card(contrasts):
        st.markdown(safe(sentence))
    with st.expander("Every family, and what the controls say", icon=":material/unfold_more:"):
        _draw_families(made)
    with st.expander("Every number of the card", icon=":material/table:"):
        draw_table(card, alt="The fairness card in numbers", column_config=_IN_NUMBERS)
        data_buttons(card, "fairness-card", key="overview.card.data")
        st.caption("Flip risk of the same families")
        alt = "Flip risk of the families on the card"
        draw_table(risks, column_order=list(_RISKS), column_config=_RISKS, alt=alt)
        data_buttons(risks, "flip-risk-of-the-card", key="overview.card.risk")


def _draw_families(made: Card) -> None:
    card, contrasts, risks, told, behind, broken = made
    colour = colours(card["evaluator"].unique())
    names = list(dict.fromkeys(card["evaluator"]))
    top = shared_top(contrasts[contrasts["evaluator"].isin(names)], card)
    cells = st.grid(min(len(names), 3), min_column_width=300, gap="medium")
    for name in names:
        rows = card[card["evaluator"] == name]
        with cells.container(border=True, height="stretch"):
            st.markdown(f"**{safe(name)}**")
            own = contrasts[contrasts["evaluator"] == name]
            figure = family_shifts(own, rows, colour=colour[name], top=top)
            opens = [json.dumps({"evaluators": name, "families": family}) for family in figure.frame["label"]]
            figure = replace(figure, frame=figure.frame.assign(opens=opens))
            spoken = [
                f"{row['axis']}: {family_title(row['family'])}{more_alike(row['alike'])} "
                f"{row['median_abs_percent']:.1f} %"
                for _, row in rows.iterrows()
            ]
            alt = f"Worst family of each axis under {name}, median absolute percent change. {'; '.join(spoken)}"
            key, clicked = f"overview.card.{name}", partial(pairs_behind, chosen={}, scope=behind)
            draw_figure(figure, key=key, alt=alt, clicked=clicked)
            title = f"Fairness card of {name}"
            figure_buttons(figure, own, f"fairness-card-{name}", title=title, key=f"{key}.files")
            for _, row in rows.iterrows():
                _draw_worst(row, risks)
            for sentences in told[name]:
                st.caption(safe(sentences, limit=500))
            if broken:
                link_to(CONTRAST, "Does it notice?", icon=":material/rule:", query_params=carried() | {"of": name})
    st.caption(
        "Filled: the worst family of its axis; in how many draws of the same items it is the worst stands beside it. "
        "Grey: the median shift under invisible edits."
    )


def _draw_worst(row: pd.Series, risks: pd.DataFrame) -> None:
    interval = between(row["abs_low"], row["abs_high"], row["n_items"], scale=1)
    sure = "" if math.isnan(row["worst_in"]) else f"(in {row['worst_in']:.0f} % of the draws) "
    st.markdown(
        f"{safe(row['axis']).capitalize()}, worst of {row['n_families']}: "
        f"**{safe(family_title(row['family']))}**{more_alike(row['alike'])} {sure}{row['median_abs_percent']:.1f} % "
        f"({interval}), n\u00a0=\u00a0{row['n_items']} · **{safe(row['drift'])}**, **{safe(row['scatter'])}**"
        + (f"; {safe(row['conflict'])}" if row["conflict"] else "")
    )
    if said := _beside_null(row):
        st.caption(said)
    if row["direction"]:
        st.caption(safe(f"{_sentences(row['direction'])}."))
    if said := reached(row["drift"], row["detectable"], row["needed"]):
        st.caption(f"Undecided drift: {_sentences(said)}")
    st.caption(_risk(row, risks), help=_RISK)


def _sentences(clauses: str) -> str:
    return ". ".join(each[:1].upper() + each[1:] for each in clauses.split("; "))


def _beside_null(row: pd.Series) -> str:
    """What the same items do under invisible edits, in words; empty where none was scored."""
    said = str(row["than_null"])
    if not (often := further_said(row)):
        return safe(said[:1].upper() + said[1:])
    power = told_from_null(said, row["null_detectable"])
    return f"{safe(said[0].upper() + said[1:])}: {often}{f'. {power[0].upper()}{power[1:]}' if power else ''}"


def _risk(row: pd.Series, risks: pd.DataFrame) -> str:
    cell = (
        (risks["evaluator"] == row["evaluator"]) & (risks["family"] == row["family"]) & (risks["axis"] == row["axis"])
    )
    found = risks[cell & (risks["unit"] == IQR)]
    if found.empty or math.isnan(found["risk"].iloc[0]):
        return "Flip risk unknown"
    each = found.iloc[0]
    told = [between(each["low"], each["high"], each["n_items"])]
    told += [] if math.isnan(each["null_risk"]) else [f"invisible edits {100 * each['null_risk']:.1f} %"]
    told += [f"different pictures {100 * each['apart_risk']:.1f} %"] if each["pairs"] == SAME else []
    whose = ", of captions of one picture" if each["pairs"] == SAME else f", {TWO_PICTURES}"
    return (
        f"Flip risk {100 * each['risk']:.1f} % ({', '.join(told)}). It is at a gap of {100 * each['gap']:g} % of its "
        f"spread{whose}, and never above 50 %. {_evidence(each)}"
    )


def _evidence(row: pd.Series) -> str:
    if math.isnan(row["evidence"]):
        return ""
    known = (
        [] if math.isnan(row["evidence_low"]) else [f"95 % CI {row['evidence_low']:.3g} to {row['evidence_high']:.3g}"]
    )
    known += [] if math.isnan(row["of_iqr"]) else [f"{row['of_iqr']:.0f} % of its spread"]
    null = "" if math.isnan(row["null_evidence"]) else f". Under invisible edits the gap is {row['null_evidence']:.3g}"
    return f"Trustworthy gap {row['evidence']:.3g}" + (f" ({', '.join(known)})" if known else "") + null


def between(low: float, high: float, n: int, *, scale: float = 100, digits: int = 1) -> str:
    """An interval in brackets, or that there is none."""
    return f"no interval, n = {n}" if math.isnan(low) else f"{scale * low:.{digits}f} to {scale * high:.{digits}f}"


_IN_NUMBERS = {
    "evaluator": "Metric",
    "axis": "Axis",
    "family": "Worst family",
    "median_percent": NUMBER("Median % change", format="%+.2f"),
    "low": NUMBER("CI low", format="%+.2f"),
    "high": NUMBER("CI high", format="%+.2f"),
    "median_abs_percent": NUMBER("Median |% change|", format="%.2f"),
    "abs_low": NUMBER("CI low", format="%.2f"),
    "abs_high": NUMBER("CI high", format="%.2f"),
    "beyond": NUMBER("Edits beyond the margin, %", format="%.0f"),
    "direction": "Shown by",
    "conflict": "Where interval and test differ",
    "n_items": NUMBER("n items"),
    "n_shifts": NUMBER("n shifts"),
    "n_zero_baseline": NUMBER("Zero baseline", help="Shifts without % change: the baseline scores 0 or less"),
    "n_missing": NUMBER("Unscored"),
    "drift": "Drift",
    "scatter": "Stability",
    "n_families": NUMBER("Of families"),
    "alike": NUMBER(
        "Alike",
        help="Families of the axis that nothing tells from the worst, it included: "
        "median, its interval, edits beyond the margin and flip risk are the same",
    ),
    "worst_in": NUMBER(
        "Worst in draws, %",
        format="%.0f",
        help="Bootstrap draws of the same items, or their "
        f"sources ({FIRST_ALONE} where items name two), in which this family is the worst of its axis",
    ),
    "null_median": NUMBER("Invisible edits' median |% change|", format="%.2f"),
    "further": NUMBER("More than invisible edits, %", format="%.0f"),
    "further_low": NUMBER("CI low", format="%.0f"),
    "further_high": NUMBER("CI high", format="%.0f"),
    "than_null": "Beside invisible edits",
    "null_detectable": NUMBER("Further it would have shown, pp", format="%.1f"),
}
_RISKS: dict[str, Any] = {
    "evaluator": "Metric",
    "axis": "Axis",
    "family": "Family",
    "unit": "Gap as a share of the",
    "gap": NUMBER("Gap", format="%.4f"),
    "d": NUMBER("On the score's scale", format="%.5f"),
    "risk": NUMBER("Flip risk", format="percent"),
    "low": NUMBER("CI low", format="percent"),
    "high": NUMBER("CI high", format="percent"),
    "pairs": "Captions of",
    "apart_risk": NUMBER("If of different pictures", format="percent", help=f"The flip risk {TWO_PICTURES}"),
    "null_risk": NUMBER("Invisible edits", format="percent"),
    "over": NUMBER("Less the floor", format="percent"),
    "over_low": NUMBER("CI low", format="percent"),
    "over_high": NUMBER("CI high", format="percent"),
    "evidence": NUMBER("Trustworthy gap", format="%.4g", help=EVIDENCE),
    "evidence_low": NUMBER("CI low", format="%.4g"),
    "evidence_high": NUMBER("CI high", format="%.4g"),
    "of_iqr": NUMBER("in % of the IQR", format="%.1f"),
    "null_evidence": NUMBER("Invisible edits'", format="%.4g"),
    "apart_evidence": NUMBER("If of different pictures", format="%.4g", help=f"The gap {TWO_PICTURES}"),
    "n_items": NUMBER("n items"),
    "n_shifts": NUMBER("n shifts"),
}


_GAP, _BREAKS = "Gap to trust under these edits", "Broken meaning"


@st.cache_data(show_spinner=False)
def _stand_ins() -> frozenset[str]:
    return frozenset(kind.spec.name for kind in registry.catalogue() if kind.spec.offline)


def kind_of(name: str, origins: Mapping[str, str]) -> str:
    """What an evaluator is, in a word or two."""
    if name in origins:
        return "imported scores"
    own = name.removesuffix(coarse_name(""))
    if own in _stand_ins():
        return "offline stand-in"
    return "published" if own in registry.catalogue().entries else "your own"


def draw_glance(
    rows: pd.DataFrame,
    origins: Mapping[str, str],
    selective_of: str,
    falls: Mapping[str, str],
    behind: Mapping[str, str],
) -> None:
    """Draw every evaluator in one row, by name: its worst families on one scale, then every claim in words. ``rows``:
    ``core.analysis.overview.at_a_glance``. ``selective_of``: what selectivity was measured on; empty: it was not.
    ``falls``: evaluator -> whether it falls where the meaning breaks. ``behind``: as of :class:`Card`."""
    axes = [name.removesuffix("_abs") for name in rows.columns if name.endswith("_abs")]
    records = [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]
    named = {family: family_title(family) for axis in axes for family in rows[axis].dropna()}
    figure = worst_of_axes(rows, names=named)
    told = [f"{row['evaluator']}: " + ", ".join(f"{axis} {_worst_said(row, axis)}" for axis in axes) for row in records]
    alt = f"Worst family of each axis of every evaluator, median absolute percent change. {'; '.join(told)}"
    draw_figure(figure, key="overview.glance.axes", alt=alt, clicked=partial(pairs_behind, chosen={}, scope=behind))
    shown = pd.DataFrame({"Metric": rows["evaluator"], "Kind": [kind_of(row["evaluator"], origins) for row in records]})
    configured: dict[str, Any] = {
        "Metric": st.column_config.Column(pinned=True),
        "Kind": st.column_config.Column(
            help="Offline stand-in: needs no download and stands in for the published ones; its numbers are its own"
        ),
    }
    shown[_BREAKS] = [falls.get(str(row["evaluator"]), NOT_ASKED) for row in records]
    for axis in axes:
        shown[f"Worst {axis} edits"] = [_worst_said(row, axis) for row in records]
        hint = "The family that changes it most: median |% change| and its 95 % interval"
        configured[f"Worst {axis} edits"] = st.column_config.Column(help=hint)
        shown[f"Stability, {axis}"] = [_claim(row, axis, "scatter") for row in records]
        configured[f"Stability, {axis}"] = st.column_config.Column(help=meaning("stability"))
        shown[f"Drift, {axis}"] = [_drift(row, axis) for row in records]
        configured[f"Drift, {axis}"] = st.column_config.Column(help=meaning("drift"))
    shown[_GAP] = [_gap(row) for row in records]
    configured[_GAP] = st.column_config.Column(
        help=meaning("trustworthy gap")
        + " Here the largest under the worst edits of this row; another family of edits may ask for more."
    )
    if selective_of:
        shown["Selectivity"] = [_between(row, "selectivity", 2) for row in records]
        configured["Selectivity"] = st.column_config.Column(help=meaning("selectivity"))
    draw_table(shown, alt="Every metric in one row", column_config=configured)
    st.caption(
        "In order of names: a stable score alone is no merit. Each dot is the family that changes the metric most "
        "on that axis. It is picked after seeing them all; the interval of its median \\|% change\\| allows for that. "
        + (f"Selectivity is of {safe(selective_of, limit=200)}." if selective_of else "")
    )
    figure_buttons(figure, rows, "evaluators-at-a-glance", title="Metrics at a glance", key="overview.glance")


def _claim(row: Mapping[str, Any], axis: str, which: str) -> str:
    said = row.get(f"{axis}_{which}")
    return said if isinstance(said, str) else "—"


def _drift(row: Mapping[str, Any], axis: str) -> str:
    said, value = _claim(row, axis, "drift"), row.get(f"{axis}_signed", math.nan)
    return said if math.isnan(value) else f"{written(value, form='%+.1f')} %: {said}"


def _worst_said(row: Mapping[str, Any], axis: str) -> str:
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
        return "not known"
    share = "" if math.isnan(row["of_iqr"]) else f", {row['of_iqr']:.0f} % of its spread"
    of = listed([family_title(name) for name in row["evidence_of"].split(AND)])
    floor = "" if math.isnan(row["null_evidence"]) else f"; invisible edits from {row['null_evidence']:.3g} on"
    return f"from {row['evidence']:.3g} on{share} ({of}, {row['evidence_pairs']}{floor})"


def draw_kinds(names: Iterable[str]) -> None:
    """Say which evaluators are offline stand-ins, and where the published ones are."""
    own = sorted({name.removesuffix(coarse_name("")) for name in names} & _stand_ins())
    if own:
        st.caption(
            f":gray-badge[offline stand-in] {safe(listed(own), limit=300)}: they need no download, and their numbers "
            "are their own, not those of a published metric. CLIPScore, PAC-S, UMIC, FLEUR and others are fetched with "
            "`python -m core evaluators get NAME`" + ("." if not may_operate() else ", or here:")
        )
        if may_operate():
            link_to(AUDIT, "Get a published metric", icon=":material/download:")

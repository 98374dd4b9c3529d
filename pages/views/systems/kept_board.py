"""The top of a leaderboard: who is first and who could swap, and the pictures behind a mark."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.charts.canvas import thumbnail
from core.charts.spec import signed
from core.corpora.item_pictures import as_picture
from core.errors import InvariscopeError
from core.features.systems.system_board import rank_range
from core.features.systems.system_captions import lowest, swapped
from core.features.systems.system_figures import MOST_PAIRS, swap_bars, system_means
from core.features.systems.system_file import Leaderboard
from core.probes import registry as probes
from core.probes.base import Axis, Edits, Expectation, Probe
from core.probes.titles import deed, family_title, title
from core.report.document import p_value
from core.statistics.standings import ALPHA
from pages.views.common.collect import figure_buttons
from pages.views.common.open_runs import corpus_holding
from pages.views.common.page_drawings import NUMBER, TEXT, draw_figure
from pages.views.common.text import counted, listed, number, safe
from pages.views.probe_lab.lab_state import item_and_edit

_SHOWN = 3
_MOST = 60


def draw_behind(made: Leaderboard, figure: str, opens: str) -> None:
    """Draw the pictures behind a mark. ``figure``: that the mark is of. ``opens``: what the mark opens."""
    asked = {str(name): str(value) for name, value in json.loads(opens).items()}
    with st.container(border=True, key=f"systems_behind_{figure}"):
        if "family" in asked:
            higher, lower, family = asked["higher"], asked["lower"], asked["family"]
            found = swapped(made.rows, asked["evaluator"], higher, lower, family)
            st.markdown(
                f"**A: {safe(higher)}** above **B: {safe(lower)}** by **{safe(asked['evaluator'])}**, under "
                f"**{safe(family_title(family))}**"
            )
            if found.empty:
                st.caption("On no picture do their two captions change order, whatever becomes of the means.")
                return
            st.caption(
                f"On {counted(found['item'].nunique(), 'picture')} their captions change order "
                f"({counted(len(found), 'edited picture')}); largest change first."
            )
            for row in _page(found, figure):
                pair = {**row, "corpus": corpus_holding(made.corpus, str(row["item"]))}
                seen, words = st.columns([3, 4], gap="medium")
                with seen:
                    pictures(str(pair["corpus"]), str(pair["item"]), str(pair["probe"]))
                with words:
                    st.markdown(
                        f"**{safe(pair['item'])}** · **{safe(title(pair['probe']))}**: {_order(pair['gap_before'])} → "
                        f"{_order(pair['gap_after'])}"
                    )
                    for name in ("a", "b"):
                        before, after = pair[f"{name}_before"], pair[f"{name}_after"]
                        st.markdown(f"**{name.upper()}** {before:.4f} → {after:.4f}")
                        st.text(pair[f"{name}_caption"])
                    st.caption(
                        f"Gap A − B: {signed(pair['gap_before'], digits=4, unit='')} → "
                        f"{signed(pair['gap_after'], digits=4, unit='')}"
                    )
        else:
            found = lowest(made.rows, asked["evaluator"], asked["system"])
            st.markdown(
                f"**{safe(asked['system'])}** by **{safe(asked['evaluator'])}**: "
                f"{counted(len(found), 'picture')}, the lowest scores first."
            )
            for row in _page(found, figure):
                left, right = st.columns([3, 4], gap="medium")
                with left:
                    pictures(corpus_holding(made.corpus, str(row["item"])), str(row["item"]))
                right.markdown(f"**{safe(str(row['item']))}**: {number(float(row['score']), digits=4)}")
                right.text(str(row["caption"]))


def _page(found: pd.DataFrame, figure: str) -> list[dict[str, Any]]:
    pages = -(-min(len(found), _MOST) // _SHOWN)
    page = st.pagination(pages, key=f"systems.behind.{figure}") if pages > 1 else 1
    first = _SHOWN * (min(int(page), pages) - 1)
    return [
        {str(name): value for name, value in row.items()}
        for row in found.iloc[first : first + _SHOWN].to_dict("records")
    ]


INTERVAL = TEXT("95 % interval", alignment="right")
HEADS = {
    "system": "System",
    "evaluator": "Metric",
    "higher": "Higher",
    "lower": "Lower",
    "family": "Family",
    "rank": "Rank",
    "ranks": "Rank interval",
    "sure": TEXT("Sure ranks", help="Only differences count that are sure after Holm's correction"),
    "interval": INTERVAL,
    "n_items": NUMBER("n pictures"),
    "n_images": NUMBER("n pictures"),
    "n_captions": NUMBER("n captions"),
    "note": "Note",
}
"""Columns that several tables have, and their heads."""


def draw_top(made: Leaderboard, tables: Callable[[str], pd.DataFrame], evaluator: str) -> None:
    """Draw who leads and what swaps whom: in words, as a figure, and under each kind of edit; a mark opens the pictures
    of its system. ``tables``: by name, of ``core.features.systems.system_tables.tables``."""
    every = map(tables, ("standings", "differences", "swaps"))
    rows, differences, swaps = (table[table["evaluator"] == evaluator] for table in every)
    st.markdown(_said(rows) + _swaps_said(swaps, evaluator))
    figure = system_means(rows)
    alt = f"Mean score of every system by {evaluator}, with 95 % intervals"
    draw_figure(figure, key="systems.means", alt=alt, clicked=partial(draw_behind, made, "means"))
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        n = counted(int(rows["n_items"].iloc[0]), "picture")
        st.caption(
            f"Means over the {n} that all systems caption, with 95 % intervals. Ranks are by paired tests, so "
            "intervals may overlap.",
            width="content",
        )
        figure_buttons(figure, rows, "systems-means", title=f"Systems, {evaluator}", key="systems.means.files")
    if why := _why_unsure(rows, differences):
        st.caption(why)
    if swaps["probability"].notna().any():
        known = swaps[swaps["probability"].notna()]
        pairs = known[["higher", "lower"]].drop_duplicates()
        one = pairs.iloc[0]
        who = f"{safe(one['higher'])} and {safe(one['lower'])}" if len(pairs) == 1 else "two neighbours"
        st.header(f"How often does an edit swap {who}?", anchor=False)
        bars = swap_bars(known)
        clicked = partial(draw_behind, made, "swaps")
        draw_figure(
            bars, key="systems.swaps", alt=f"How probably an edit swaps two neighbours, by {evaluator}", clicked=clicked
        )
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.caption(
                "Swapped: in a redrawn set, the edit changes which mean is higher. Redrawing alone: no edit, yet "
                "another order. A click shows the pictures.",
                help="A set is as many pictures, drawn from these with repeats; its order is held against that of all.",
                width="content",
            )
            figure_buttons(bars, known, "systems-swaps", title=f"Swaps, {evaluator}", key="systems.swaps.files")
        if rest := _pairs_said(swaps, len(pairs)):
            st.caption(rest)
    elif len(swaps):
        st.caption(_pairs_said(swaps, 0))
    if told := _flips_said(swaps):
        st.markdown(told)


def ranks_said(rows: pd.DataFrame, of: str = "rank") -> list[str]:
    """Both ends of the ranks of each row in words."""
    return [rank_range(*each) for each in zip(rows[f"{of}_low"], rows[f"{of}_high"], strict=True)]


def _said(rows: pd.DataFrame) -> str:
    top = rows.iloc[0]
    first, n = safe(top["system"]), counted(int(top["n_items"]), "picture")
    if pd.isna(top["rank_high"]):
        return f"**{first}** has the highest mean ({n}; {safe(str(top['note']))})."
    close = rows[(rows["sure_low"] == 1) & (rows["system"] != top["system"])]
    others = [safe(name) for name in close["system"]]
    if not others:
        return f"**{first}** is first for sure."
    if (close["mean"] == top["mean"]).all():
        return f"**{listed([first, *others])}** share the lead."
    return f"**{first}** leads, but not for sure ahead of **{listed(others)}**."


def _why_unsure(rows: pd.DataFrame, differences: pd.DataFrame) -> str:
    """Why the lead is not sure, of the system behind the leader that is closest to being told from it."""
    first = rows.iloc[0]
    behind = set(rows.loc[rows["sure_low"] == 1, "system"]) - {first["system"]}
    of_first = differences[["higher", "lower"]].isin([first["system"]]).any(axis=1)
    unsure = differences[of_first & differences[["higher", "lower"]].isin(behind).any(axis=1)]
    unsure = unsure.sort_values("p_holm", kind="stable")
    if pd.isna(first["rank_high"]) or unsure.empty:
        return ""
    row, pairs = unsure.iloc[0], counted(int(differences["p_holm"].notna().sum()), "pair")
    if pd.isna(row["p_holm"]):
        told = "all values are equal" if row["difference"] == 0 else safe(str(row["note"])) or "too few pictures"
        return f"No test tells {safe(row['higher'])} from {safe(row['lower'])}: {told}."
    if row["p_holm"] < ALPHA:
        return "Not for sure: the 95 % interval of the difference reaches zero."
    tested = f"p = {p_value(row['p_holm'])} ({safe(row['test'])}, corrected for {pairs}), not below {ALPHA:g}"
    if row["low"] > 0:
        return f"Not for sure: the interval of the lead leaves out 0, but a rank needs the paired test too: {tested}."
    return f"Not for sure: {tested}."


def _swaps_said(swaps: pd.DataFrame, evaluator: str) -> str:
    """Which neighbours a harmless edit swaps, the one that does most often first, of those scored under one."""
    known = swaps[swaps["least_n"] > 0]
    if known.empty:
        return ""
    moved = known[known["swapped"] > 0].sort_values("probability", ascending=False, kind="stable")
    if moved.empty:
        families = counted(known["family"].nunique(), "kind of harmless edit", "kinds of harmless edits")
        return f" Under **none of {families}** do two neighbours swap."
    row = moved.iloc[0]
    often = "" if pd.isna(row["probability"]) else f" in {100 * row['probability']:.0f} of 100 redrawn sets of pictures"
    rest = f", and {len(moved) - 1} more such swaps are below" if len(moved) > 1 else ""
    who = f"{safe(row['higher'])} and {safe(row['lower'])}"
    more_often_than_not = row["probability"] > 0.5
    so = f": **{safe(evaluator)} does not rank these two reliably**" if more_often_than_not else ""
    return f" {safe(deed(str(row['family'])))} swaps {who}{often}{so}{rest}."


def _flips_said(swaps: pd.DataFrame) -> str:
    """Under which edit the lead of two neighbours flips on most pictures, whatever becomes of the means."""
    known = swaps[swaps["n_pairs"] > 0].sort_values("flips", ascending=False, kind="stable")
    if known.empty:
        return ""
    row = known.iloc[0]
    if row["flips"] == 0:
        return "Picture by picture, **no edit** changes which of two neighbours leads."
    ends = "no interval"
    if not pd.isna(row["flips_low"]):
        ends = f"95 % CI {100 * row['flips_low']:.1f} to {100 * row['flips_high']:.1f}"
    who = f"{safe(row['higher'])} and {safe(row['lower'])}"
    does, share, n = safe(deed(str(row["family"]))), 100 * row["flips"], counted(int(row["n_pictures"]), "picture")
    ties, before, after = "Nothing ties, before or after.", int(row["tied_before"]), int(row["tied_after"])
    if before or after:
        ties = f"A tie made or broken counts: {before} tie before the edit, {after} after; "
        ties += f"without ties it is {100 * row['sides']:.1f} %."
    none = " No edit does so more often." if len(known) > 1 else ""
    leads = f"Picture by picture, **{does[:1].lower()}{does[1:]}** changes which of {who} leads on **{share:.1f} %**"
    return f"{leads} of edited pictures ({ends}, n = {n} scored with both captions before and after).{none} {ties}"


def _pairs_said(every: pd.DataFrame, drawn: int) -> str:
    """Which neighbours are not drawn, and why; empty where all are."""
    told = f"The {MOST_PAIRS} of {drawn} pairs of neighbours that swap most often. " if drawn > MOST_PAIRS else ""
    bare = every.groupby(["higher", "lower"], sort=False).filter(lambda pair: bool(pair["probability"].isna().all()))
    if bare.empty:
        return told
    lacking = len(bare[["higher", "lower"]].drop_duplicates())
    why = "no edited picture was scored with both captions" if bare["least_n"].max() == 0 else "too few pictures"
    if not drawn:
        return f"Whether an edit swaps neighbours is not known: {why}."
    pairs = counted(lacking, "other pair")
    return f"{told}{pairs} of neighbours {'is' if lacking == 1 else 'are'} not drawn: {why}."


def image_probes() -> dict[str, Probe]:
    """Edits of the image that must not matter, invisible edits included, in the order of the catalogue."""
    wanted = (Axis.SPATIAL, Axis.NULL)
    return {
        probe.name: probe
        for probe in sorted(probes.catalogue(), key=lambda each: each.axis is Axis.NULL)
        if probe.edits is Edits.IMAGE and probe.expectation is Expectation.INVARIANT and probe.axis in wanted
    }


def _order(gap: float) -> str:
    return "A ahead" if gap > 0 else "B ahead" if gap < 0 else "tie"


def pictures(corpus: str, item_id: str, probe: str = "") -> None:
    """Draw an item's picture, beside it what an edit makes of it where one is named; or say why that cannot be."""
    try:
        before, after = item_and_edit(corpus, item_id, image_probes()[probe] if probe else None)
    except (InvariscopeError, KeyError) as error:
        st.caption(safe(str(error), limit=300))
        return
    shown = [(before, f"{item_id} as it is")]
    if probe:
        shown.append((before if after is None else after, f"{item_id} after {title(probe)}"))
    with st.container(horizontal=True, gap="small"):
        for pixels, alt in shown:
            st.image(thumbnail(as_picture(pixels), side=360), alt=alt, width=180)

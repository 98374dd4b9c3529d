"""A kept leaderboard: standings, differences, edits, other scales, health of captions, the pictures behind a mark."""

import json
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.charts.spec import signed
from core.features.systems.system_board import rank_range
from core.features.systems.system_captions import lowest, swapped, told_as, wide
from core.features.systems.system_figures import scale_shares, swap_map, system_means, system_ranks
from core.features.systems.system_file import Leaderboard
from core.probes.titles import family_title, title
from core.report.document import p_value
from core.scoring.reference_metrics import METRICS, TOKENIZER
from pages.views.common.collect import data_buttons, figure_buttons
from pages.views.common.page_charts import draw
from pages.views.common.page_tables import draw_table
from pages.views.common.run_corpora import corpus_holding
from pages.views.common.shown_answers import interval
from pages.views.common.text import counted, listed, number, safe
from pages.views.flip_risk.two_systems import pair_card, pictures

_SHOWN = 3
_MOST = 60


def draw_behind(made: Leaderboard, opens: str) -> None:
    """Draw the pictures behind a mark.

    Args:
        made: the leaderboard.
        opens: of the mark; see ``core.features.systems.system_figures``.
    """
    asked = {str(name): str(value) for name, value in json.loads(opens).items()}
    with st.container(border=True, key="systems_behind"):
        if "family" in asked:
            _swapped(made, asked)
        else:
            _lowest(made, asked)


def _lowest(made: Leaderboard, asked: dict[str, str]) -> None:
    found = lowest(made.rows, asked["evaluator"], asked["system"])
    st.markdown(
        f"**{safe(asked['system'])}** by **{safe(asked['evaluator'])}**: "
        f"{counted(len(found), 'picture')}, the lowest scores first."
    )
    for row in _page(found):
        left, right = st.columns([3, 4], gap="medium")
        with left:
            pictures(corpus_holding(made.corpus, str(row["item"])), str(row["item"]))
        right.markdown(f"**{safe(str(row['item']))}**: {number(float(row['score']), digits=4)}")
        right.text(str(row["caption"]))


def _swapped(made: Leaderboard, asked: dict[str, str]) -> None:
    higher, lower, family = asked["higher"], asked["lower"], asked["family"]
    found = swapped(made.rows, asked["evaluator"], higher, lower, family)
    title = family_title(family)
    st.markdown(
        f"**A: {safe(higher)}** above **B: {safe(lower)}** by **{safe(asked['evaluator'])}**, under **{safe(title)}**"
    )
    if found.empty:
        st.caption("On no picture do their two captions change order, whatever becomes of the means.")
        return
    st.caption(
        f"On {counted(found['item'].nunique(), 'picture')} their captions change order "
        f"({counted(len(found), 'edited picture')}); largest change first."
    )
    for row in _page(found):
        pair_card({**row, "corpus": corpus_holding(made.corpus, str(row["item"]))})


def _page(found: pd.DataFrame) -> list[dict[str, Any]]:
    """A page of rows, with its pager where there are several."""
    pages = -(-min(len(found), _MOST) // _SHOWN)
    page = st.pagination(pages, key="systems.behind.page") if pages > 1 else 1
    first = _SHOWN * (min(int(page), pages) - 1)
    return [
        {str(name): value for name, value in row.items()}
        for row in found.iloc[first : first + _SHOWN].to_dict("records")
    ]


_NUMBER = st.column_config.NumberColumn
_INTERVAL = st.column_config.TextColumn("95 % interval", alignment="right")
_HEADS = {
    "system": "System",
    "evaluator": "Evaluator",
    "higher": "Higher",
    "lower": "Lower",
    "family": "Family",
    "rank": "Rank",
    "ranks": "Rank interval",
    "interval": _INTERVAL,
    "n_items": _NUMBER("n pictures"),
    "n_images": _NUMBER("n pictures"),
    "n_captions": _NUMBER("n captions"),
    "note": "Note",
}
"""Columns that several tables have, and their heads."""

_NEIGHBOURS = _HEADS | {
    "evaluator": None,
    "edits": "Edits",
    "gap": _NUMBER("Gap", format="%.4f"),
    "gap_before": _NUMBER("Gap before", format="%.4f"),
    "gap_after": _NUMBER("Gap after", format="%+.4f"),
    "least_n": "n pictures",
    "n_items": "n pictures",
    "probability": _NUMBER("Samples that change order, %", format="%.1f"),
    "chance": _NUMBER("Other pictures alone, %", format="%.1f"),
    "probe": "Edit",
}


def draw_standings(made: Leaderboard, every: pd.DataFrame, evaluator: str) -> None:
    """Draw who stands where, in words, as figures and as a table; a mark opens the pictures of its system."""
    rows = every[every["evaluator"] == evaluator]
    order = tuple(rows["system"])
    st.header("Standings", anchor=False)
    st.markdown(_said(rows))
    figure = system_means(rows)
    draw(
        figure,
        key="systems.means",
        alt=f"Mean score of every system by {evaluator}, with 95 % intervals",
        clicked=partial(draw_behind, made),
    )
    figure_buttons(figure, rows, "systems-means", title=f"Systems, {evaluator}", key="systems.means.files")
    ranks = system_ranks(every, order=order)
    draw(
        ranks,
        key="systems.ranks",
        alt="Rank of every system by every evaluator, with 95 % intervals",
        clicked=partial(draw_behind, made),
    )
    st.caption(
        "A click on a mark shows the captions behind it, lowest scores first. Rank 1 has the highest mean. The "
        "interval holds the middle 95 % of the ranks in bootstrap samples of pictures; among many nearly equal "
        "systems it is too short, and the sure ranks below are the safe reading."
    )
    figure_buttons(ranks, every, "systems-ranks", title="Ranks of systems", key="systems.ranks.files")
    shown = rows.assign(
        ranks=_ranks(rows),
        sure=_ranks(rows, "sure"),
        first=100 * rows["first"],
        mean_interval=interval(rows, "low", "high", 4, False)[0],
    )
    draw_table(
        shown,
        alt="Standings in numbers",
        column_order=(
            "rank",
            "system",
            "ranks",
            "sure",
            "mean",
            "mean_interval",
            "first",
            "n_items",
            "own_mean",
            "own_n",
        ),
        column_config=_HEADS
        | {
            "sure": st.column_config.TextColumn(
                "Sure ranks", help="When only differences count that are sure after Holm's correction"
            ),
            "mean": _NUMBER("Mean", format="%.4f"),
            "mean_interval": _INTERVAL,
            "first": _NUMBER("First, %", format="%.1f", help="Share of samples in which nobody is above"),
            "own_mean": _NUMBER("Own mean", format="%.4f", help="Over all pictures of the system itself"),
            "own_n": _NUMBER("Own n"),
        },
    )
    data_buttons(every, "systems-standings", key="systems.standings")


def _ranks(rows: pd.DataFrame, of: str = "rank") -> list[str]:
    """Both ends of the ranks of each row in words."""
    return [rank_range(*each) for each in zip(rows[f"{of}_low"], rows[f"{of}_high"], strict=True)]


def draw_beside(every: pd.DataFrame) -> None:
    """Draw what references say of the systems, where somebody asked for it."""
    if every.empty:
        return
    st.header("Beside references", anchor=False)
    wide = every.pivot_table(index="system", columns="metric", values="value", sort=False).reset_index()
    draw_table(
        wide,
        alt="Metrics of references of every system",
        column_config=_HEADS | {name: _NUMBER(name, format="%.4f") for name in METRICS},
    )
    st.caption(
        f"On the {counted(int(every['n_items'].iloc[0]), 'picture')} that every system captions and that "
        f"{'has' if every['n_items'].iloc[0] == 1 else 'have'} references. Words: {TOKENIZER}. ROUGE-L and "
        "CIDEr-D rank systems as evaluators do; BLEU and METEOR are of all captions together and do "
        "not."
    )
    with st.expander("Every number with its interval", icon=":material/table:"):
        draw_table(
            every.assign(interval=interval(every, "low", "high", 4, False)[0]),
            column_order=("system", "metric", "value", "interval", "n_items", "note"),
            alt="Metrics of references with their intervals",
            column_config=_HEADS | {"metric": "Metric", "value": _NUMBER("Value", format="%.4f")},
        )
        data_buttons(every, "systems-references", key="systems.references")


def draw_differences(every: pd.DataFrame, evaluator: str) -> None:
    """Draw every pair."""
    rows = every[every["evaluator"] == evaluator]
    st.header("Pairwise differences", anchor=False)
    if rows.empty:
        st.caption("One system has nobody to differ from.")
        return
    sure, tests = int(rows["sure"].sum()), int(rows["p_holm"].notna().sum())
    st.markdown(
        f"**{sure} of {counted(len(rows), 'difference')}** {'is' if sure == 1 else 'are'} sure: Holm's p below "
        f"0.05 over the {counted(tests, 'pair')} that can be tested, and an interval on one side of zero. "
        + ("" if tests == len(rows) else "Systems that are equal on every picture are no test.")
    )
    draw_table(
        rows.assign(
            interval=interval(rows, "low", "high", 4, True)[0],
            p=rows["p"].map(p_value),
            p_holm=rows["p_holm"].map(p_value),
        ),
        column_order=("higher", "lower", "difference", "interval", "sure", "p_holm", "p", "test", "n_items", "note"),
        alt="Every pair of systems",
        column_config=_HEADS
        | {
            "difference": _NUMBER("Difference", format="%+.4f"),
            "test": "Test",
            "p": st.column_config.TextColumn("p", alignment="right"),
            "p_holm": st.column_config.TextColumn("p, Holm", alignment="right"),
            "sure": "Sure",
        },
    )
    data_buttons(every, "systems-differences", key="systems.differences")


def draw_edits(
    made: Leaderboard, swaps: pd.DataFrame, edits: pd.DataFrame, places: pd.DataFrame, evaluator: str
) -> None:
    """Draw which neighbours a harmless edit swaps."""
    rows = swaps[swaps["evaluator"] == evaluator]
    st.header("Under harmless edits", anchor=False)
    if rows.empty:
        st.caption("No edit was scored, or one system has no neighbour: choose harmless edits for a new leaderboard.")
        return
    moved = rows[rows["swapped"] > 0]
    if moved.empty:
        families = counted(rows["family"].nunique(), "family", "families")
        st.markdown(f"Under **none of {families}** do the means of two neighbours change order.")
    else:
        told = [
            f"{safe(row['higher'])} and {safe(row['lower'])} under {safe(family_title(row['family']))}"
            for row in moved.head(3).to_dict("records")
        ]
        rest = f" and {len(moved) - 3} more" if len(moved) > 3 else ""
        st.markdown(f"The means change order: **{listed(told)}**{rest}.")
    if rows["probability"].notna().any():
        figure = swap_map(rows)
        draw(
            figure,
            key="systems.swaps",
            alt=f"How probably an edit swaps two neighbours, by {evaluator}",
            clicked=partial(draw_behind, made),
        )
        st.caption(
            "Share of bootstrap samples of pictures in which the two neighbours stand in another order edited "
            "than unedited. Last column: the share in which other pictures alone do that. A click on another "
            "cell shows the pictures on which the two captions change order."
        )
        figure_buttons(figure, rows, "systems-swaps", title=f"Swaps, {evaluator}", key="systems.swaps.files")
    else:
        st.caption(f"No probability: {safe(str(rows['note'].iloc[0]))}.")
    with st.expander("Every number", icon=":material/table:"):
        draw_table(
            _percent(rows),
            alt="Swaps of neighbours by family",
            column_config=_NEIGHBOURS | {"swapped": "Edits that swap the means"},
        )
        data_buttons(swaps, "systems-swaps", key="systems.swaps.numbers")
        own = edits[edits["evaluator"] == evaluator]
        draw_table(
            _percent(own.assign(probe=own["probe"].map(title))),
            alt="Swaps by edit",
            column_config=_NEIGHBOURS | {"swapped": "The means swap"},
        )
        data_buttons(edits, "systems-edits", key="systems.edits.numbers")
        own = places[places["evaluator"] == evaluator]
        draw_table(
            own.assign(ranks=_ranks(own)),
            column_order=("family", "system", "ranks", "edits", "least_n", "note"),
            alt="Rank intervals under each family",
            column_config=_NEIGHBOURS,
        )
        data_buttons(places, "systems-places", key="systems.places.numbers")


def _percent(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(probability=100 * rows["probability"], chance=100 * rows["chance"])


def draw_length(every: pd.DataFrame, evaluator: str) -> None:
    """Draw the standings at equal length."""
    rows = every[every["evaluator"] == evaluator]
    st.header("At equal length", anchor=False)
    first = rows.iloc[0]
    if pd.isna(first["slope"]):
        st.caption(f"No slope: {safe(str(first['note']))}.")
        return
    bounds = "no interval"
    if not pd.isna(first["slope_low"]):
        bounds = f"95 % CI {number(first['slope_low'], digits=4)} to {number(first['slope_high'], digits=4)}"
    moved = int((rows["rank"] != rows["rank_as_is"]).sum())
    st.markdown(
        f"A word more is worth **{number(first['slope'], digits=4)}** ({bounds}). With captions of one length, "
        f"**{counted(moved, 'system')}** would have another rank."
    )
    draw_table(
        rows.assign(ranks=_ranks(rows)),
        alt="Standings at equal length",
        column_order=("rank", "system", "ranks", "rank_as_is", "mean", "words", "n_items", "note"),
        column_config=_HEADS
        | {
            "rank_as_is": _NUMBER("Rank as it is"),
            "mean": _NUMBER("Mean at equal length", format="%.4f"),
            "words": _NUMBER("Words", format="%.1f"),
        },
    )
    st.caption(
        "What a longer caption gains by saying more is taken out as well: this says how much of the ranking "
        "rests on length, and is no better ranking."
    )
    data_buttons(every, "systems-equal-length", key="systems.length")


def draw_agreement(rows: pd.DataFrame) -> None:
    """Draw how alike the evaluators rank the systems."""
    st.header("Agreement of evaluators", anchor=False)
    if rows.empty:
        st.caption("One evaluator has nobody to agree with; score the leaderboard by several.")
        return
    draw_table(
        rows.assign(
            interval=interval(rows, "low", "high", 2, True)[0],
            spearman_interval=interval(rows, "spearman_low", "spearman_high", 2, True)[0],
        ),
        column_order=(
            "one",
            "other",
            "tau",
            "interval",
            "spearman",
            "spearman_interval",
            "n_systems",
            "n_items",
            "note",
        ),
        alt="Agreement of every two evaluators on the order of the systems",
        column_config=_HEADS
        | {
            "one": "Evaluator",
            "other": "and",
            "tau": _NUMBER("Kendall's τ_b", format="%+.2f"),
            "spearman": _NUMBER("Spearman's ρ", format="%+.2f"),
            "spearman_interval": _INTERVAL,
            "n_systems": _NUMBER("n systems"),
        },
    )
    data_buttons(rows, "systems-agreement", key="systems.agreement")


def _said(rows: pd.DataFrame) -> str:
    top = rows.iloc[0]
    n = counted(int(top["n_items"]), "picture")
    if pd.isna(top["rank_high"]):
        return f"**{safe(top['system'])}** has the highest mean ({n}; {safe(str(top['note']))})."
    last = int(top["rank_high"])
    could = [safe(name) for name in rows.loc[rows["rank_low"] == 1, "system"]]
    if last == 1 and len(could) == 1:
        return f"**{could[0]}** is first in at least 95 % of samples of pictures ({n} that all systems caption)."
    return f"First place is open between **{listed(could)}** ({n} that all systems caption)."


def draw_health(table: pd.DataFrame) -> None:
    """Draw a row a system, a column a measure, and below every number with its interval."""
    st.header("Caption health", anchor=False)
    st.caption(
        "What captioners that were trained on a metric's score learn to do: say words again, end in words about "
        "nothing or break off, grow longer, name what is not there."
    )
    values = wide(table)
    empty = {name for name in values.columns if values[name].isna().all()}
    shown = values.drop(columns=sorted(empty))
    draw_table(
        shown,
        alt="Health of every system's captions",
        column_config=_HEADS
        | {
            name: _NUMBER(told_as(name).split(",")[0], format="%.2f", help=told_as(name))
            for name in shown.columns
            if name != "system"
        },
    )
    for name in [each for each in table["measure"].unique() if each in empty]:
        note = table.loc[table["measure"] == name, "note"].iloc[0]
        st.caption(f"No {safe(told_as(name).split(',')[0])}: {safe(str(note))}.")
    with st.expander("Every number with its interval", icon=":material/table:"):
        draw_table(
            table.assign(measure=table["measure"].map(told_as), interval=interval(table, "low", "high", 2, False)[0]),
            column_order=("system", "measure", "value", "interval", "n_captions", "note"),
            alt="Health in numbers",
            column_config=_HEADS | {"measure": "Measure", "value": _NUMBER("Value", format="%.2f")},
        )
        data_buttons(table, "systems-health", key="systems.health")


def draw_picks(picks: pd.DataFrame, shares: pd.DataFrame) -> None:
    """Draw which caption each evaluator picks."""
    st.header("Best of several", anchor=False)
    chosen = picks[picks["n_images"] > 0]
    if chosen.empty:
        st.caption("No picture has two captions with a score to pick from.")
        return
    st.caption(
        "Each evaluator picks the highest of a picture's captions, those of all systems together, ties shared. "
        "Hollow is one that ends in words about nothing, in its own words again, or breaks off."
    )
    for row in chosen.to_dict("records"):
        excess, low, high = (signed(row[name], digits=1, unit="") for name in ("excess", "excess_low", "excess_high"))
        bounds = f"95 % CI {low} to {high}" if row["excess_low"] == row["excess_low"] else "no interval"
        st.markdown(
            f"**{safe(row['evaluator'])}** picks a hollow caption for **{row['picked_hollow']:.1f} %** of "
            f"{counted(int(row['n_images']), 'picture')}; a blind pick would for {row['offered_hollow']:.1f} % "
            f"(difference {excess} points, {bounds})."
        )
    draw_table(
        shares.assign(interval=interval(shares, "low", "high", 1, False)[0]),
        column_order=("evaluator", "system", "picked", "interval", "offered", "n_images"),
        alt="Whose captions each evaluator picks",
        column_config=_HEADS
        | {
            "picked": _NUMBER("Picked, %", format="%.1f"),
            "offered": _NUMBER("By a blind pick, %", format="%.1f"),
        },
    )
    data_buttons(picks, "systems-picks", key="systems.picks")


def draw_scales(every: pd.DataFrame, bins: pd.DataFrame, evaluator: str) -> None:
    """Draw the scores at every scale; nothing for an evaluator whose score is no scaled cosine."""
    rows, drawn = every[every["evaluator"] == evaluator], bins[bins["evaluator"] == evaluator]
    if rows.empty:
        return
    st.header("At other scales", anchor=False)
    if drawn.empty:
        st.caption(f"No other scale: {safe(str(rows['note'].iloc[0]))}.")
        return
    here = rows[rows["used"].str.startswith("here")].iloc[0]
    st.markdown(
        f"A score is **w · max(cos, 0)**, here with w = {number(here['w'], digits=2)}. Another w moves means "
        "and differences, and nobody's rank."
    )
    figure = scale_shares(drawn)
    draw(figure, key="systems.scales", alt=f"Share of the captions by score of {evaluator}, a line a scale")
    captions = counted(int(here["n_captions"]), "caption")
    st.caption(
        f"{captions} of all systems on {counted(int(here['n_items']), 'picture')}, unedited. Bins of 0.05 at "
        "every scale; the dotted line stands at 1. A line is no one set of pairs to open."
    )
    figure_buttons(figure, drawn, "systems-scale-bins", title=f"Scales, {evaluator}", key="systems.scales.files")
    draw_table(
        rows.assign(
            interval=interval(rows, "low", "high", 4, False)[0],
            above=interval(rows, "over_low", "over_high", 1, False)[0],
        ),
        alt="Scores at every scale",
        column_order=("w", "used", "mean", "interval", "p5", "p50", "p95", "over", "above", "n_captions", "n_items"),
        column_config=_HEADS
        | {
            "w": _NUMBER("w", format="%.2f"),
            "used": "Used by",
            "mean": _NUMBER("Mean", format="%.4f"),
            "p5": _NUMBER("5th percentile", format="%.4f"),
            "p50": _NUMBER("Median", format="%.4f"),
            "p95": _NUMBER("95th percentile", format="%.4f"),
            "over": _NUMBER("Above 1, %", format="%.1f"),
            "above": _INTERVAL,
        },
    )
    data_buttons(every, "systems-scales", key="systems.scales.numbers")

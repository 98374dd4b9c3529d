"""Figures of leaderboards: means, ranks with their intervals, neighbours that swap, scores at several scales."""

import json
import math

import pandas as pd

from core.analysis.effects import bounds
from core.charts.spec import PALETTE, Axis, Figure, Reference, Style, colours, counted, marks_of, untitled

BY_CHANCE = "Redrawing alone"  # bar of swaps that no edit makes: how often a sample of pictures alone changes the order
_CLICK = "for its pictures"


def system_means(standings: pd.DataFrame) -> Figure:
    """Mean score of every system of one evaluator's standings with its interval and beside it its sure ranks, the
    highest on top."""
    evaluator = str(standings["evaluator"].iloc[0]) if len(standings) else ""
    hover = [
        f"{row['rank']}. {row['system']}\nmean {row['mean']:.4f} ({_interval(row['low'], row['high'], 4)})\n"
        f"n = {counted(row['n_items'], 'picture')}"
        for row in standings.to_dict("records")
    ]
    names, values, opens = standings["system"].astype(str), ("mean", "low", "high"), _of_system(standings)
    frame = marks_of(standings, names, evaluator, "", values, hover=hover, opens=opens)
    sure = {
        str(name): f"{low:.0f}" if low == high else f"{low:.0f}–{high:.0f}"
        for name, low, high in standings[["system", "sure_low", "sure_high"]].itertuples(index=False)
        if not math.isnan(low)
    }
    aside, styles = {"": "Rank", **sure} if sure else {}, {evaluator: Style(colours([evaluator])[evaluator])}
    title, order = f"mean score of {evaluator}", tuple(frame["label"])
    return untitled(frame, title, order=order, aside=aside, styles=styles, click=_CLICK)


def system_ranks(standings: pd.DataFrame, *, order: tuple[str, ...]) -> Figure:
    """Rank of every system, ordered from the top, by every evaluator with its interval; 1 on the left."""
    hover = [
        f"{row['system']}, {row['evaluator']}\nrank {row['rank']} ({_interval(row['rank_low'], row['rank_high'], 0)})\n"
        f"n = {counted(row['n_items'], 'picture')}"
        for row in standings.to_dict("records")
    ]
    system, evaluator = (standings[name].astype(str) for name in ("system", "evaluator"))
    rows, opens = standings.astype({"rank": float}), _of_system(standings)
    frame = marks_of(rows, system, evaluator, "", bounds("rank"), hover=hover, opens=opens)
    return untitled(frame, "rank, 1 is the highest mean", span=(0.5, len(order) + 0.5), order=order, click=_CLICK)


MOST_PAIRS = 4  # neighbours whose swaps are drawn


def swap_bars(swaps: pd.DataFrame) -> Figure:
    """How probably each kind of edit changes the order of two neighbours, and other pictures do; most often first. Of
    one evaluator's rows of ``by_family`` that have a probability; several neighbours are a panel each, those that swap
    most."""
    swaps = swaps.assign(pair=swaps["higher"].astype(str) + " and " + swaps["lower"].astype(str))
    most = swaps.groupby("pair", sort=False)["probability"].max().nlargest(MOST_PAIRS)
    swaps = swaps[swaps["pair"].isin(most.index)].sort_values("probability", ascending=False, kind="stable")
    hover = [
        f"{row['pair']}, {row['family']}\n{_percent(row['probability'])} of samples change order; the means swap under "
        f"{row['swapped']} of {row['edits']} edits\nn = {counted(row['least_n'], 'picture')} or more"
        for row in swaps.to_dict("records")
    ]
    opens = [
        json.dumps({name: str(row[name]) for name in ("evaluator", "higher", "lower", "family")})
        for row in swaps.to_dict("records")
    ]
    chance = swaps.groupby("pair", sort=False).agg(probability=("chance", "mean"), least_n=("least_n", "min"))
    alone = [
        f"{pair}\n{_percent(value)} of redrawn sets of pictures have another order, without an edit"
        for pair, value in chance["probability"].items()
    ]
    rows = pd.concat([swaps, chance.reset_index().assign(family=BY_CHANCE)], ignore_index=True)
    rows = rows.assign(percent=100 * rows["probability"])
    text = [f"{each:.1f} %" if each == each else "" for each in rows["percent"]]
    looks = {"hover": hover + alone, "opens": opens + [""] * len(alone), "text": text}
    panel = rows["pair"] if len(most) > 1 else ""
    frame = marks_of(rows, rows["family"].astype(str), "swaps", panel, ["percent"], "least_n", **looks)
    title, order = "swaps, % of redrawn sets of pictures", tuple(dict.fromkeys(frame["label"]))
    styles = {"swaps": Style(PALETTE[0])}
    return untitled(frame, title, kind="bars", span=(0, 106), order=order, styles=styles, click=_CLICK)


def _of_system(standings: pd.DataFrame) -> list[str]:
    return [
        json.dumps({name: str(row[name]) for name in ("evaluator", "system")}) for row in standings.to_dict("records")
    ]


def _interval(low: float, high: float, digits: int) -> str:
    return f"95 % CI {low:.{digits}f} to {high:.{digits}f}" if low == low else "no interval"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share == share else "no share"


_DASHES = ("solid", "dash", "dashdot", "longdash", "dot")


def scale_shares(bins: pd.DataFrame, *, id_: str = "", title: str = "", note: str = "", paper: str = "") -> Figure:
    """Share of the captions against the score, a line a scale and a panel an evaluator, or what a column ``panel``
    names; of the bins of ``scales``."""
    panels = bins["panel"] if "panel" in bins else bins["evaluator"]
    scale = [f"w = {w:g}" for w in bins["w"]]
    order = [f"w = {w:g}" for w in sorted(bins["w"].unique())]
    styles = {
        name: Style(PALETTE[place % len(PALETTE)], dash=_DASHES[place % len(_DASHES)], size=0)
        for place, name in enumerate(order)
    }
    hover = [
        f"{name}, {row['from_']:.2f} to {row['to']:.2f}\n{row['share']:.1f} % of {row['n_captions']} captions"
        for name, row in zip(scale, bins.to_dict("records"), strict=True)
    ]
    frame = marks_of(bins, bins["middle"], scale, panels.astype(str), ["share"], "n_captions", hover=hover)
    return Figure(
        id_,
        title,
        note,
        frame,
        "share of the captions",
        kind="lines",
        unit=" %",
        span=(0, None),
        bounds="none",
        along=Axis("score"),
        references=(Reference(1.0, on="along", text="1", dash="dot"),),
        styles=styles,
        paper=paper,
        height=220,
    )

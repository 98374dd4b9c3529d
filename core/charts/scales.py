"""The figure of scores at several scales of the cosine."""

import math

import pandas as pd

from core.charts.spec import Axis, Figure, Reference, Style
from core.charts.style import PALETTE

_DASHES = ("solid", "dash", "dashdot", "longdash", "dot")


def scale_shares(bins: pd.DataFrame, *, id_: str = "", title: str = "", note: str = "", paper: str = "") -> Figure:
    """Share of the captions against the score, a line a scale and a panel an evaluator.

    Args:
        bins: of ``core.analysis.systems.captions.scales``; a column ``panel`` names the panels, else ``evaluator``.
        id_, title, note, paper: of the figure.
    """
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
    frame = pd.DataFrame(
        {"label": bins["middle"], "series": scale, "panel": panels.astype(str), "value": bins["share"],
         "low": math.nan, "high": math.nan, "n": bins["n_captions"], "hover": hover}
    )  # fmt: skip
    return Figure(
        id_, title, note, frame, "share of the captions", kind="lines", unit=" %", span=(0, None), bounds="none",
        along=Axis("score"), references=(Reference(1.0, on="along", text="1", dash="dot"),), styles=styles, paper=paper,
        height=220,
    )  # fmt: skip

"""Bars of several evaluators beside each other under shared labels, as a table of HTML.

The figures are those of :mod:`core.charts.lab`; this draws them small, so that all are seen at once, on a phone too,
and read aloud number by number. What a cell says on hover is what the figure's bar says.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from core.charts.lab import PERCENT
from core.charts.spec import Figure, Style, series_styles
from core.charts.style import FAINT, faded

A_TABLE = 3
"""Figures that stand beside each other; further ones go below, under labels of their own."""


def bars_beside(figures: Mapping[str, Figure], *, heads: Mapping[str, str], bands: Mapping[str, str], alt: str) -> str:
    """Draw bars as tables, as many figures in each as have room.

    Args:
        figures: by evaluator, bars of the same labels in the same order; none of them may be empty.
        heads: what stands above each: the score that the bars are changes of.
        bands: what stands below each: its shaded stretch in words.
        alt: what the tables say, for those who cannot see them.

    Returns:
        HTML whose classes the style sheet knows; every text in it is escaped.
    """
    names = list(figures)
    rows = [names[start : start + A_TABLE] for start in range(0, len(names), A_TABLE)]
    tables = [_table({name: figures[name] for name in own}, heads, bands, alt) for own in rows]
    return f'<div class="beside">{"".join(tables)}{_legend(figures.values())}</div>'


def pair_of_bars(scores: Sequence[float], *, top: float, colour: str, words: Sequence[str], said: Sequence[str]) -> str:
    """Two scores as two bars from 0, in large type: the first faint, the second full.

    Args:
        scores: the clean one and the edited one.
        top: the score that fills the width, above 0; more than that is cut.
        colour: ``#rrggbb`` of the evaluator.
        words: what stands beside the bars.
        said: the scores as they are written.
    """
    bars = "".join(
        f'<div class="one"><span>{escape(word)}</span><i><b style="width:{_share(score, 0.0, top):.2f}%;'
        f'background:{shade};border-color:{colour}"></b></i><strong>{escape(text)}</strong></div>'
        for word, text, score, shade in zip(words, said, scores, (faded(colour, FAINT), colour), strict=True)
    )
    return f'<div class="pair">{bars}</div>'


def _table(figures: Mapping[str, Figure], heads: Mapping[str, str], bands: Mapping[str, str], alt: str) -> str:
    first = next(iter(figures.values()))
    drawn = {name: _cells(figure) for name, figure in figures.items()}
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in figures)
    scores = "".join(f"<td>{escape(heads[name])}</td>" for name in figures)
    reach = "".join(f"<td>{escape(bands[name])}</td>" for name in figures)
    lines = "".join(
        f'<tr><th scope="row">{escape(label)}</th>{"".join(drawn[name][place] for name in figures)}</tr>'
        for place, label in enumerate(first.frame["label"].astype(str))
    )
    return (
        f'<table style="--many:{len(figures)}" aria-label="{escape(alt)}"><thead><tr><td></td>{names}</tr></thead>'
        f'<tbody><tr class="said"><th scope="row">Score of the unedited pair</th>{scores}</tr>{lines}'
        f'<tr class="said"><th scope="row">Null band</th>{reach}</tr></tbody></table>'
    )


def _cells(figure: Figure) -> list[str]:
    styles = series_styles(figure)
    low, high = _ends(figure)
    shades = "".join(_stretch("band", each.low, each.high, low, high, "") for each in figure.shades)
    zero = f'<i class="zero" style="left:{_share(0.0, low, high):.2f}%"></i>'
    return [_cell(row, styles[str(row["series"])], shades + zero, low, high) for row in figure.frame.to_dict("records")]


def _cell(row: Mapping[Any, Any], style: Style, ground: str, low: float, high: float) -> str:
    value = float(row["value"])
    fill = faded(style.colour, FAINT) if row["hollow"] else style.colour
    look = f"background:{fill};border-color:{style.colour}"
    bar = "" if math.isnan(value) else _stretch("shift", min(value, 0.0), max(value, 0.0), low, high, look)
    return (
        f'<td title="{escape(str(row["hover"]))}"><span class="bar">{ground}{bar}</span>'
        f'<span class="number">{escape(str(row["text"]))}</span></td>'
    )


def _stretch(kind: str, start: float, end: float, low: float, high: float, look: str) -> str:
    left = _share(start, low, high)
    return f'<i class="{kind}" style="left:{left:.2f}%;width:{_share(end, low, high) - left:.2f}%;{look}"></i>'


def _ends(figure: Figure) -> tuple[float, float]:
    """What the bars and the shaded stretches span, 0 included; never nothing."""
    shaded = [end for each in figure.shades for end in (each.low, each.high)]
    values = [0.0, *(float(each) for each in figure.frame["value"] if not pd.isna(each)), *shaded]
    low, high = min(values), max(values)
    return (low, high) if high > low else (-1.0, 1.0)


def _share(value: float, low: float, high: float) -> float:
    """Where a value lies between both ends, in percent from 0 to 100."""
    return 100 * min(max((value - low) / (high - low), 0.0), 1.0)


def _legend(figures: Iterable[Figure]) -> str:
    """The series by their colours, where there is more than the evaluators' own."""
    styles = {name: style for figure in figures if figure.overlay for name, style in figure.styles.items()
              if name in set(figure.frame["series"]) and name != PERCENT}  # fmt: skip
    keys = "".join(f'<span><i style="background:{style.colour}"></i>{escape(name)}</span>'
                   for name, style in styles.items())  # fmt: skip
    return f'<p class="key">{keys}</p>' if keys else ""

"""What edits do to the scores of one picture: bars over the noise band, side by side, and curves along a strength.

Bars side by side are a table of HTML: all are seen at once, on a phone too, and read aloud number by number. What a
cell says on hover is what the figure's bar says. An edit stands at its row's left, as its picture or its caption.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from core.charts.canvas import word_changes
from core.charts.spec import (
    FAINT,
    PALETTE,
    Axis,
    Figure,
    Shade,
    Style,
    faded,
    marks_of,
    series_styles,
    signed,
    untitled,
)
from core.probes import base

PERCENT = "% change"
DROPS, STAYS = "broken: drops", "broken: no drop, or only noise"  # series of the probes under which the score must drop

GROUPS = PICTURE, WORD, CAPTION, BROKEN = (
    "Edits of the picture",
    "A word put into the caption, against a neutral word",
    "Edits of the caption",
    "Broken meanings: the score must drop",
)
"""Groups of edits, in the order in which they stand."""

_BROKEN = {DROPS: Style(PALETTE[2]), STAYS: Style(PALETTE[4])}


def shift_bars(rows: pd.DataFrame, *, low: float, high: float, colour: str) -> Figure:
    """One evaluator's shifts on its own scale: horizontal bars in the order of the rows, faint inside its noise band.

    Args:
        rows: one row a probe with ``probe, caption, score, baseline_score, delta, percent, in_null_band, verdict,
            reason``; percent is missing, and the bar a dash, where the probe was rejected or the baseline is zero. With
            ``dropped``, whether the score fell where a probe breaks the meaning: these bars are coloured by it. With
            ``title``, what stands beside a bar in the place of the probe.
        low, high: bounds of the noise band in percent; NaN where there is none.
    """
    dropped = rows["dropped"] if "dropped" in rows else [None] * len(rows)
    series = [PERCENT if pd.isna(each) else DROPS if each else STAYS for each in dropped]
    said = rows["title" if "title" in rows else "probe"].astype(str)
    percents = pd.to_numeric(rows["percent"]).to_numpy(dtype=np.float64)
    inside = [value is True and name == PERCENT for value, name in zip(rows["in_null_band"], series, strict=True)]
    looks = {"text": [signed(value) for value in percents], "hollow": inside, "control": rows.get("control", False)}
    hover = [_hover(row) for row in rows.to_dict("records")]
    frame = marks_of(rows.assign(percent=percents, n=1), said, series, "", ["percent"], "n", hover=hover, **looks)
    # room for the bars, the band and the numbers at the bars' ends
    values = [0.0, *(float(value) for value in (*percents, low, high) if not math.isnan(value))]
    span = max(max(values) - min(values), 0.1)
    left = 0.6 if min(values) < 0 else 0.08
    return untitled(
        frame,
        "",
        kind="bars",
        unit=" %",
        span=(min(values) - left * span, max(values) + 0.34 * span),
        styles={PERCENT: Style(colour)} | _BROKEN,
        overlay=len(set(series)) > 1,
        shades=() if math.isnan(low) else (Shade(low, high),),
    )


def group_of(probe: base.Probe) -> str:
    """The group of :data:`GROUPS` in which an edit stands."""
    if probe.expectation is base.Expectation.DIRECTIONAL:
        return BROKEN
    if probe.construction is None:
        return PICTURE
    return WORD if probe.axis is base.Axis.SOCIETAL and not probe.control else CAPTION


def _hover(row: Mapping[Any, Any]) -> str:
    name = row.get("title", row["probe"])
    if pd.isna(row["score"]):
        return f"{name}\n{row['reason']}"
    against = f" ({row['baseline']})" if row.get("baseline") else ""
    if pd.isna(row["baseline_score"]) or pd.isna(row["delta"]):
        return f"{name}\nscore {row['score']:.4f}, no baseline"
    return (
        f"{name}\nscore {row['score']:.4f} against {row['baseline_score']:.4f}{against}\n"
        f"Δ {signed(row['delta'], digits=4, unit='')} · {signed(row['percent'], digits=2)} · n = 1 image\n"
        f"{row['verdict']}"
    ).rstrip()


_SHADED = "Shaded: each evaluator's noise band, in its colour."


def shift_curves(
    rows: pd.DataFrame,
    points: Mapping[float, str],
    *,
    title: str,
    along: Axis,
    colours: Mapping[str, str],
    reaches: Mapping[str, float],
) -> Figure:
    """The shifts (``probe, evaluator, percent``) of every evaluator along the strength of one edit of one picture.

    ``points``: strength -> its probe; ``reaches``: how far from 0 each evaluator's noise band goes, in percent, NaN
    where it has none: those of the evaluators that are drawn are shaded in their colours.
    """
    strengths = {name: strength for strength, name in points.items()}
    own = rows[rows["probe"].isin(strengths) & rows["percent"].notna()]
    own = own.assign(n=1).astype({"percent": float}).reset_index(drop=True)
    at = [strengths[name] for name in own["probe"]]
    frame = marks_of(own, at, own["evaluator"], "", ["percent"], "n").sort_values(["series", "label"])
    bands = {name: reaches[name] for name in frame["series"].unique() if reaches.get(name, math.nan) >= 0}
    return Figure(
        "lab-curves",
        title,
        "Percent change of one picture along the strength of the edit. " + _SHADED * bool(bands),
        frame,
        PERCENT,
        kind="lines",
        unit=" %",
        along=along,
        styles={name: Style(colour) for name, colour in colours.items()},
        shades=tuple(Shade(-reach, reach, colour=colours[name], alpha=0.1) for name, reach in bands.items()),
    )


ONE_SCALE, OWN_SCALES = "Scale of all bars", "Scale: each column has its own"
"""What the row of the scales is called: whether bars of two columns can be compared by their length."""

A_TABLE = 3  # figures that stand beside each other; further ones go below, under labels of their own


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit as it stands at the left of its bars; the row carries its name, for a script that lets it be chosen."""

    name: str  # of the probe
    title: str  # what the edit is called
    group: str = ""  # that it stands in, of :data:`GROUPS`
    picture: str = ""  # the edited picture as a data address; empty for an edit of the caption
    alt: str = ""  # what that shows
    caption: str = ""  # the edited one; empty for an edit of the picture
    # letters of the caption between which the word stands that was put into it, which is marked and stands for the
    # title; (0, 0) where none was
    word: tuple[int, int] = (0, 0)
    # the caption that this one is compared with; empty where that is the chosen one, and until it is known
    against: str = ""


def bars_beside(
    edits: Sequence[Edit],
    figures: Mapping[str, Figure],
    *,
    heads: Mapping[str, str],
    bands: Mapping[str, str],
    alt: str,
    chosen: str = "",
) -> str:
    """Draw edits and their bars as tables, as many figures in each as have room; without any, the edits alone. Returns
    HTML whose classes the style sheet knows; every text in it is escaped.

    Args:
        figures: by evaluator, a bar an edit in the same order.
        heads: what stands above each: the score that the bars are changes of.
        bands: what stands above each that has a shaded stretch: that in words.
        alt: what the tables say, for those who cannot see them.
        chosen: name of the edit that is marked.
    """
    names = list(figures)
    rows = [names[start : start + A_TABLE] for start in range(0, len(names), A_TABLE)] or [[]]
    shared = one_scale(figures.values()) if figures else None
    spans = {name: shared or _ends(figure) for name, figure in figures.items()}
    tables = [_table(edits, {name: figures[name] for name in own}, spans, heads, bands, alt, chosen) for own in rows]
    # the series by their colours, where there is more than the evaluators' own
    styles = {
        name: style
        for figure in figures.values()
        if figure.overlay
        for name, style in figure.styles.items()
        if name in set(figure.frame["series"]) and name != PERCENT
    }
    keys = "".join(
        f'<span><i style="background:{style.colour}"></i>{escape(name)}</span>' for name, style in styles.items()
    )
    legend = f'<p class="key">{keys}</p>' if keys else ""
    return f'<div class="beside">{"".join(tables)}{legend}</div>'


def pair_of_bars(scores: Sequence[float], *, top: float, colour: str, words: Sequence[str], said: Sequence[str]) -> str:
    """The clean score and the edited one as two bars from 0 to ``top``, which is above 0: the first faint, the second
    full; with the words beside the bars and the scores as they are written."""
    bars = "".join(
        f'<div class="one"><span>{escape(word)}</span><i><b style="width:{_share(score, 0.0, top):.2f}%;'
        f'background:{shade};border-color:{colour}"></b></i><strong>{escape(text)}</strong></div>'
        for word, text, score, shade in zip(words, said, scores, (faded(colour, FAINT), colour), strict=True)
    )
    ticks = "".join(f"<span>{top * share:.3g}</span>" for share in (0, 0.5, 1))
    return f'<div class="pair">{bars}<div class="axis" aria-label="Axis of the score">{ticks}</div></div>'


def round_top(value: float) -> float:
    """The end of an axis from 0 that holds a value above 0: 1, 2, 4, 5 or 10 times a power of ten.

    Example:
        >>> round_top(0.357)
        0.4
    """
    unit = 10.0 ** math.floor(math.log10(value))
    return float(f"{next(each for each in (1, 2, 4, 5, 10) if each * unit >= value * (1 - 1e-12)) * unit:.12g}")


ALIKE = 3.0
"""Most that a column may span of another's for both to share a scale: beyond it the smaller one's bars vanish."""


def one_scale(figures: Iterable[Figure]) -> tuple[float, float] | None:
    """What all bars span together, in percent; None where one moves so much further that others were not seen.

    A column in which nothing is drawn, since nothing moves and no noise is known, takes the scale of the others.
    """
    own = list(figures)
    ends = [_ends(each) for each in own if each.shades or each.frame["value"].fillna(0.0).any()] or [_ends(own[0])]
    sizes = [high - low for low, high in ends]
    return (min(low for low, _ in ends), max(high for _, high in ends)) if max(sizes) <= ALIKE * min(sizes) else None


def answer(figures: Mapping[str, Figure], ends: Mapping[str, str]) -> str:
    """Say what changes each evaluator's score, and how often it notices an error.

    Where it has a noise band: under how many edits it changes by more. Where it has none: the largest change, and of
    noise nothing. Edits without a percent change count nowhere, nor do controls, which are there for comparison.
    ``ends``: of evaluators whose unedited score lies at an end of their scale, which end that is.
    """
    told: dict[str, list[str]] = {each: [] for each in _ANSWERS}
    before = 0
    for name, figure in figures.items():
        frame = figure.frame[figure.frame["value"].notna() & ~figure.frame["control"]]
        own, wrong = frame[frame["series"].eq(PERCENT)], frame[frame["series"].ne(PERCENT)]
        beyond, largest, noticed, falls = told.values()
        could = f"only a {'fall' if ends.get(name) == 'maximum' else 'rise'} could show"
        at = f" (at its {ends[name]}: {could})" if name in ends else ""
        if len(own) and figure.shades:
            moved = int((~own["hollow"]).sum())
            edits = "edit" if len(own) == 1 else "edits"
            of = "" if before == len(own) else f" of {len(own)} {edits}" if not before else f" of {len(own)}"
            beyond.append(f"{name} on {moved or 'none'}{of}{'' if moved else at}")
            before = len(own)
        elif len(own):
            largest.append(f"{name} {furthest(own) or f'none{at}'}")
        if len(wrong):
            of = f"{name} on {int(wrong['series'].eq(DROPS).sum())} of {len(wrong)}"
            (noticed if figure.shades else falls).append(of)
    return " ".join(f"{each} {', '.join(names)}." for each, names in told.items() if names)


_ANSWERS = (
    "Changed by more than noise:",
    "Largest change:",
    "Broken meanings lower the score by more than noise:",
    "Broken meanings lower the score:",
)
"""How the sentences of :func:`answer` begin."""


def furthest(bars: pd.DataFrame) -> str:
    """The largest change of some bars (``label``, ``value`` in percent, ``text``) in words and the edit that makes it;
    of equal ones the first. Empty where nothing moves."""
    sizes = bars["value"].abs()
    if not sizes.max() > 0:
        return ""
    top, same = bars.iloc[int(sizes.argmax())], int((sizes == sizes.max()).sum()) - 1
    return f"{top['text']} ({top['label']}{f' and {same} more as far' if same else ''})"


def _table(
    edits: Sequence[Edit],
    figures: Mapping[str, Figure],
    spans: Mapping[str, tuple[float, float]],
    heads: Mapping[str, str],
    bands: Mapping[str, str],
    alt: str,
    chosen: str,
) -> str:
    drawn = {name: _cells(figure, *spans[name]) for name, figure in figures.items()}
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in figures)
    lines, group = "", ""
    for place, edit in enumerate(edits):
        if edit.group != group:
            lines += f'<tr class="group"><th colspan="{1 + len(figures)}">{escape(edit.group)}</th></tr>'
        group = edit.group
        marked = ' class="chosen"' if edit.name == chosen else ""
        cells = "".join(drawn[name][place] for name in figures)
        lines += f'<tr data-edit="{escape(edit.name)}"{marked}>{_row_head(edit, edit.name == chosen)}{cells}</tr>'
    score = _said("Score of the unedited pair", [heads[name] for name in figures])
    noise = _said("Noise, in grey", [bands.get(name, "not known") for name in figures] if bands else ())
    reaches = [_reach(figures[name], *spans[name]) for name in figures]
    one = len(set(spans.values())) == 1
    scale = _said(ONE_SCALE, reaches[:1], across=len(figures)) if one else _said(OWN_SCALES, reaches)
    return (
        f'<table style="--many:{max(len(figures), 1)}" aria-label="{escape(alt)}"><thead><tr><td></td>{names}</tr>'
        f"</thead><tbody>{score}{noise}{lines}{scale}</tbody></table>"
    )


def _said(head: str, cells: Sequence[str], *, across: int = 1) -> str:
    """A row of words, each over so many columns; nothing where there is none to say."""
    told = "".join(f'<td colspan="{across}">{escape(each)}</td>' for each in cells)
    return f'<tr class="said"><th scope="row">{head}</th>{told}</tr>' if cells else ""


def _row_head(edit: Edit, chosen: bool) -> str:
    """What an edit is: its picture or its caption, and its name, which is a button, so that keys reach it too."""
    start, end = edit.word
    before, word, after = (escape(each) for each in (edit.caption[:start], edit.caption[start:end], edit.caption[end:]))
    name, lines = (f"{before}<mark>{word}</mark>{after}", []) if word else (escape(edit.title), [escape(edit.caption)])
    lines.append(f"against: {escape(where_apart(edit.against, edit.caption))}" if edit.against else "")
    below = "".join(f"<small>{each}</small>" for each in lines if each)
    picture = f'<img src="{escape(edit.picture)}" alt="{escape(edit.alt)}">' if edit.picture else ""
    said = f"{edit.caption}\nagainst: {edit.against}" if edit.against else edit.caption
    told = escape(f"{edit.title}: show below what the metric saw of it\n{said}".strip())
    return (
        f'<th scope="row"><div title="{told}">{picture}<span>'
        f'<button type="button" aria-pressed="{str(chosen).lower()}">{name}</button>{below}</span>'
        "</div></th>"
    )


def where_apart(caption: str, other: str) -> str:
    """A caption from one word before to one word after where it differs from another, where that is much shorter.

    Example:
        >>> where_apart("On the right, a plain frog on grey stones.", "On the right, a happy frog on grey stones.")
        '… a plain frog …'
        >>> where_apart("There is a plain frog.", "There is a happy frog.")
        'There is a plain frog.'
    """
    parts = [each for each in word_changes(other, caption) if each.kind != "removed"]
    texts = [each.text for each in parts]
    if len(parts) > 1 and parts[0].kind == "same" and len(words := texts[0].split()) > _WHOLE:
        texts[0] = f"… {words[-1]} "
    if len(parts) > 1 and parts[-1].kind == "same" and len(words := texts[-1].split()) > _WHOLE:
        texts[-1] = f" {words[0]} …"
    return "".join(texts)


_WHOLE = 3  # most words at an end that stay whole


def _reach(figure: Figure, low: float, high: float) -> str:
    """Both ends of a scale; nothing where there is no bar."""
    if figure.frame["value"].isna().all():
        return "—"
    digits = 0 if high - low >= 10 else 1
    first, last = (signed(end, digits=digits, unit="") if end else "0" for end in (low, high))
    return f"{first} to {last} %"


def _cells(figure: Figure, low: float, high: float) -> list[str]:
    styles = series_styles(figure)
    shades = "".join(_stretch("band", each.low, each.high, low, high, "") for each in figure.shades)
    zero = f'<i class="zero" style="left:{_share(0.0, low, high):.2f}%"></i>'
    cells = []
    for row in figure.frame.to_dict("records"):
        value, colour = float(row["value"]), styles[str(row["series"])].colour
        look = f"background:{faded(colour, FAINT) if row['hollow'] else colour};border-color:{colour}"
        bar = "" if math.isnan(value) else _stretch("shift", min(value, 0.0), max(value, 0.0), low, high, look)
        cells.append(
            f'<td title="{escape(str(row["hover"]))}"><span class="number">{escape(str(row["text"]))}</span>'
            f'<span class="bar">{shades}{zero}{bar}</span></td>'
        )
    return cells


def _stretch(kind: str, start: float, end: float, low: float, high: float, look: str) -> str:
    left = _share(start, low, high)
    return f'<i class="{kind}" style="left:{left:.2f}%;width:{_share(end, low, high) - left:.2f}%;{look}"></i>'


ROOM = 1.5  # how far beyond the largest bar a shaded stretch is drawn: one that is wider would leave the bars no room


def is_cut(figure: Figure) -> bool:
    """Whether a shaded stretch goes on beyond the edge of its column."""
    low, high = _ends(figure)
    return any(each.low < low or each.high > high for each in figure.shades)


def _ends(figure: Figure) -> tuple[float, float]:
    """What the bars span, 0 included, and the shaded stretches as far as they leave the bars room; never nothing."""
    bars = [float(each) for each in figure.frame["value"] if not pd.isna(each)]
    most = ROOM * max((abs(each) for each in bars), default=0.0) or math.inf
    shaded = [min(max(end, -most), most) for each in figure.shades for end in (each.low, each.high)]
    values = [0.0, *bars, *shaded]
    low, high = min(values), max(values)
    if any(bars):
        return low, high
    return (1.25 * low, 1.25 * high) if high > low else (-1.0, 1.0)  # where nothing moves, the band's ends are seen


def _share(value: float, low: float, high: float) -> float:
    """Where a value lies between both ends, in percent from 0 to 100."""
    return 100 * min(max((value - low) / (high - low), 0.0), 1.0)

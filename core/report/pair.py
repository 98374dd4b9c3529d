"""A stored pair as a slide: its captions, its pictures, and what every evaluator made of it."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.charts.style import signed
from core.probes.titles import title
from core.report.cells import number
from core.stories.slide import MOST_TEXT, Picture, Slide

COLUMNS = ("Evaluator", "Score", "%Δ", "Δ, SD", "× null")
PAGE = "pages/failures.py"
"""Shows the pair live."""


def pair_slide(
    pair: pd.Series, rows: pd.DataFrame, *, pictures: Sequence[Picture], said: Sequence[str], language: str,
    signature: str, link: Mapping[str, str],
) -> Slide:  # fmt: skip
    """What is known of a pair.

    Args:
        pair: has ``core.analysis.failures.PAIR``.
        rows: the pair under every evaluator, of ``core.analysis.failures.under_every_evaluator``.
        pictures: before and, where the probe edits the picture, after.
        said: sentences about them.
        language: of the captions.
        signature: of the scores.
        link: parameters of the link to the page that shows it.
    """
    of = (f"Run {pair['run']}, corpus {pair['corpus']}, item {pair['item']}, caption {pair['subject']}, language "
          f"{language}, probe {pair['probe']}; one pair")  # fmt: skip
    return Slide(
        f"{title(pair['probe'])}: {shown(rows.iloc[0])}", tuple(filter(None, (*captions(rows), *said))),
        tuple(pictures), COLUMNS, tuple(_row(row) for _, row in rows.iterrows()), of, signature, PAGE, link,
    )  # fmt: skip


def shown(row: pd.Series) -> str:
    """What the picture shows: its label, else the item's name."""
    return str(row["label"]) if pd.notna(row["label"]) else f"item {row['item']}"


def captions(rows: pd.DataFrame) -> list[str]:
    """The caption, or both where the probe edits it; a length-matched baseline makes several."""
    pairs = dict.fromkeys(rows[["baseline_caption", "caption"]].itertuples(index=False, name=None))
    told = [f"“{after}”" if pd.isna(before) or before == after else f"“{before}” → “{after}”"
            for before, after in list(pairs)[:3]]  # fmt: skip
    return [text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 2]} …" for text in told]


def times_null(row: Mapping[str, Any] | pd.Series) -> str:
    """|%Δ| as a multiple of the null band; within it, and from a hundred on, in words."""
    if pd.isna(row["percent"]) or pd.isna(row["null_percent"]) or row["null_percent"] <= 0:
        return "—"
    times = abs(row["percent"]) / row["null_percent"]
    if times <= 1 or times > 100:
        return "within" if times <= 1 else ">\u00a0100"
    return f"{times:.0f}" if times >= 10 else f"{times:.1f}"


def _row(row: pd.Series) -> tuple[str, ...]:
    before, after = (None if pd.isna(row[name]) else float(row[name]) for name in ("baseline_score", "score"))
    return (str(row["evaluator"]), f"{number(before, digits=3)} → {number(after, digits=3)}", signed(row["percent"]),
            signed(row["standardised"], digits=2, unit=""), times_null(row))  # fmt: skip

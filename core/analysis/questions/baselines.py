"""What a word's shift is against the other baselines: the bare caption, the matched one, and each neutral word."""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from core.analysis.effects import corpora, modifier_groups
from core.analysis.questions.base import Column
from core.analysis.questions.contrasts import shown
from core.analysis.table import BASELINE, View
from core.probes.base import BASE_CAPTION

MATCHED, BARE = "matched", "bare"
"""The neutral caption closest in length, and the caption without any word before the noun."""

BESIDE = (
    Column("leads", "Held against", kind="text", help="The baseline of the median, its interval and its tests"),
    Column("beside", "Median %Δ against each baseline", kind="text", help="The same word against the bare caption, "
           "against the neutral caption closest in length, and the range over the neutral words, each by itself"),
)  # fmt: skip
LEADS = (
    "The matched caption leads: median, interval and tests are against it, or against the bare one where that is "
    "chosen. Beside it stands the median %Δ against the bare caption, against the matched one, and the range over the "
    "neutral words, each taken for every item; a neutral word that the screen leaves out before some nouns has fewer "
    "items, and the smallest n is said."
)


def beside(view: View, rows: pd.DataFrame, family: str, *, bare: bool) -> pd.DataFrame:
    """The effects of a family's words with their medians against the other baselines.

    Args:
        view: of the table of scores.
        rows: of :func:`core.analysis.effects.effects`, a row an (evaluator, corpus, word); control words have none.
        family: of the words.
        bare: whether the bare caption leads.

    Returns:
        The rows with leads, bare_percent, matched_percent, neutral_low, neutral_high (range of the medians over the
        neutral words), neutral_words, neutral_n (the fewest items behind one of them) and beside, which says them.
    """
    words = {each.label: each.probes for each in modifier_groups(view, family) if each.tests and each.shown}
    neutral = _neutral(view, family)
    found = [_against_each(view, row, words.get(str(row["label"]), ()), neutral, family) for _, row in rows.iterrows()]
    told = pd.DataFrame(found, index=rows.index, columns=list(_COLUMNS))
    leads = [BARE if bare or row["tests"] == "" else MATCHED for _, row in rows.iterrows()]
    return rows.assign(leads=leads, **{name: told[name] for name in _COLUMNS})


_COLUMNS = ("bare_percent", "matched_percent", "neutral_low", "neutral_high", "neutral_words", "neutral_n", "beside")


def _neutral(view: View, family: str) -> dict[str, str]:
    """Neutral word -> its probe, whatever the view leaves out of what is shown."""
    table = view.table
    names = table.families(controls=True).get(family, ())
    controls = [name for name in names if table.probes.loc[name, "control"]]
    return {str(table.probes.loc[name, "modifier"]): name for name in controls}


def _against_each(
    view: View, row: pd.Series, probes: tuple[str, ...], neutral: Mapping[str, str], family: str
) -> tuple[object, ...]:
    if not probes:
        return (math.nan, math.nan, math.nan, math.nan, "", 0, "")
    evaluator, items = str(row["evaluator"]), shown(view, family) & dict(corpora(view.table))[str(row["corpus"])]
    bare, matched = (_median(view, evaluator, probes, each, items)[0] for each in (BASE_CAPTION, BASELINE))
    each = {word: _median(view, evaluator, probes, probe, items) for word, probe in neutral.items()}
    each = {word: found for word, found in each.items() if found[1]}
    medians = [found[0] for found in each.values()]
    low, high = (min(medians), max(medians)) if medians else (math.nan, math.nan)
    least = min((found[1] for found in each.values()), default=0)
    return bare, matched, low, high, ", ".join(each), least, _said(bare, matched, low, high, tuple(each), least)


def _median(view: View, evaluator: str, probes: tuple[str, ...], against: str, items: np.ndarray) -> tuple[float, int]:
    """Median %Δ over some items and how many have one; none where a baseline is negative."""
    changes = view.changes(evaluator, probes, against=against)
    percent = changes.percent[items]
    percent = percent[~np.isnan(percent)]
    if not len(percent):
        return math.nan, 0
    return float(np.median(percent)), len(percent)


def _said(bare: float, matched: float, low: float, high: float, words: tuple[str, ...], least: int) -> str:
    """E.g. ``−12.5 vs bare, −13.7 vs matched; −15.2 to −9.1 vs plain, typical, ordinary (n ≥ 41)``."""
    pair = ", ".join(f"{_number(value)} vs {name}" for value, name in ((bare, BARE), (matched, MATCHED))
                     if math.isfinite(value))  # fmt: skip
    over = f"{_number(low)} to {_number(high)} vs {', '.join(words)} (n ≥ {least})" if words else ""
    return "; ".join(filter(None, (pair, over)))


def _number(value: float) -> str:
    text = f"{value:+.1f}".replace("-", "−")
    return "0.0" if text in ("+0.0", "−0.0") else text

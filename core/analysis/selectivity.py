"""Selectivity of the evaluators of a table: broken meanings against harmless edits of the same items.

Harmless are the invariant probes, invisible edits and controls aside; broken are the directional ones. Only those that
are known to break the meaning make the headline (DIRECTIONAL, 0.5): an edit that tells no falsity proves none, neither
jumbled words nor a tail that leaves the caption true. See :mod:`core.statistics.selectivity`.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd

from core.analysis.comparisons import AUDIT, families, pairs
from core.analysis.effects import CELL, PLAIN, bounds, corpora, ends
from core.analysis.facts import stored, untold, verified
from core.analysis.lacks import NOTHING, Lack
from core.analysis.scores import once
from core.analysis.table import View
from core.probes.base import BASE_CAPTION, Axis
from core.statistics.arithmetic import row_medians
from core.statistics.ratios import means_bca
from core.statistics.selectivity import Duels, Selectivity, told_of
from core.statistics.wording import remarks

VERIFIED_ONLY, UNTOLD, EVERY = "verified", "untold", "all"
"""Which directional variants count: those that are known to break the meaning, those alone that tell nothing of it, or
all, those too that are only presumed to."""

NONE_VERIFIED = "no comparison here is known to break the meaning"

MOST_KEPT = 50_000
"""Items up to which what no filter changes is kept: 20 MB an evaluator; of more it is worked out again."""

MOST_DUELS, MOST_SIGNALS = 12, 48
"""Of these that are kept with a table: 5 MB each for 13 000 items and 18 comparisons, 0.1 MB for the median drops."""

_ENDS = [end for name in ("nuisance", "signal", "ratio") for end in bounds(name)]
HEADLINE = (*CELL, "of", "n_items", "n_pairs", *PLAIN, "chance", *bounds("above"), "pooled", *_ENDS, "said", "note")
MAP = (*CELL, "family", "nuisance", "n_items", *PLAIN, "note")


def harmless(view: View) -> dict[str, tuple[str, ...]]:
    """Invariant families that harms are taken of: invisible edits, controls and the bare template caption aside."""
    table, null = view.table, Axis.NULL.value
    aside = {name for name in view.families() if table.axis_of(name) == null or table.is_control(name)}
    return {name: probes for name, probes in view.families().items() if name not in {*aside, BASE_CAPTION}}


_BOTH = "an audit with both halves"


def lack(view: View) -> Lack:
    """Why a selectivity cannot be given, in a sentence; empty where it can."""
    if not families(view):
        return Lack("no run here holds a directional probe", _BOTH, command=AUDIT)
    if not harmless(view):
        return Lack("no run here holds a harmless edit beside its directional probes", _BOTH, command=AUDIT)
    return NOTHING


def duels(view: View, evaluator: str) -> Duels:
    """Drops of every comparison of a view against its harms under one evaluator; of every item of the table. A filter
    of items changes none of it, so that it is worked out once."""
    table, wrongs, kept = view.table, _wrongs(view), harmless(view)
    edits = tuple(name for probes in kept.values() for name in probes)

    def work() -> Duels:
        both = pairs(view, evaluator, wrongs, every=True)
        shifts, _ = view.shifts(evaluator, edits)
        return Duels.of(both.right - both.wrong, np.abs(shifts), _numbers(kept))

    if len(table.items) > MOST_KEPT:
        return work()
    return table.kept.get("duels", (view.looked, evaluator, wrongs, edits), work, most=MOST_DUELS)


def _signals(view: View, evaluator: str, both: Duels, of: str) -> np.ndarray:
    """Median drop of every item of the table over the comparisons that count, float64 [N]; NaN where there is none."""

    def work() -> np.ndarray:
        return row_medians(np.where(_counting(view, of), both.drops, math.nan))

    if len(view.table.items) > MOST_KEPT:
        return work()
    return view.table.kept.get("signals", (view.looked, evaluator, _wrongs(view), of), work, most=MOST_SIGNALS)


def _sighted(view: View) -> list[str]:
    """Evaluators that see the image: the harms of the others are 0 by construction, and that is no measurement."""
    return [name for name in view.evaluators if name not in view.table.blind]


def headlines(view: View) -> pd.DataFrame:
    """Selectivity, signal and nuisance of every evaluator and corpus. Returns HEADLINE: a row for the comparisons that
    are known to be wrong (``of`` VERIFIED_ONLY), without a number where there is none; one for those that tell nothing
    of it (UNTOLD) and one for all (EVERY), where that is another set. Signal and nuisance in standard deviations of the
    evaluator's unedited scores."""
    records, table = list[Mapping[str, object]](), view.table
    counting = {of: _counting(view, of) for of in (kinds(view) if not lack(view) else ())}
    for evaluator in _sighted(view) if counting else ():
        both, rows = duels(view, evaluator), list[tuple[str, str, Selectivity]]()
        signals = [_signals(view, evaluator, both, of) for of in counting]
        for corpus, own in corpora(table):
            own = np.flatnonzero(own & view.items)
            masks = [mask[:, own] for mask in counting.values()]
            found = told_of(
                [both.counted(mask, own) for mask in masks],
                [each[own] for each in signals],
                both.nuisance[own],
                [both.pooled(mask, own) for mask in masks],
                unit=table.spread(evaluator, corpus),
                sources=table.sources_of(own),
            )
            rows += [(of, corpus, each) for of, each in zip(counting, found, strict=True)]
        for of, corpus, each in sorted(rows, key=lambda row: list(counting).index(row[0])):
            there = counting[of][:, table.of_corpus(corpus) & view.items].any()
            none = NONE_VERIFIED if of == VERIFIED_ONLY and not there else ""
            silent = remarks(table.silent(evaluator, corpus), none)
            records.append({"evaluator": evaluator, "corpus": corpus, "of": of, **_record(each, silent)})
    return pd.DataFrame(records, columns=list(HEADLINE))


@once
def heat_map(view: View, *, known: bool = True) -> pd.DataFrame:
    """Selectivity of every directional family against every invariant family: which nuisance hides which error. Returns
    MAP, one row an evaluator, corpus, directional family and invariant family (``nuisance``): mean over items of an
    item's selectivity, BCa over items or their sources."""
    named, of_items = _cells(view, known)
    parts = [_mapped(view, corpus, named, of_items, bounds=True) for corpus, _ in corpora(view.table)]
    return pd.concat(parts, ignore_index=True)


@once
def hidden_best(view: View, *, known: bool = True, bounds: bool = True) -> pd.DataFrame:
    """:func:`rivals` of :func:`heat_map`, without the intervals of the other cells: drawing those takes the time;
    ``known``: of comparisons alone that are known to break the meaning; ``bounds``: draw the rivals' own intervals,
    else NaN."""
    named, of_items = _cells(view, known)
    numbers = {tuple(each.values()): place for place, each in enumerate(named)}
    parts = []
    for corpus, _ in corpora(view.table):
        lowest = rivals(_mapped(view, corpus, named, of_items, bounds=False))
        if bounds:
            cells = lowest[["evaluator", "family", "nuisance"]].itertuples(index=False, name=None)
            places = [numbers[each] for each in cells]
            lowest = _mapped(view, corpus, [named[at] for at in places], of_items[places], bounds=True)
        parts.append(lowest)
    return pd.concat(parts, ignore_index=True)


def _cells(view: View, known: bool) -> tuple[list[dict[Hashable, object]], np.ndarray]:
    """Every cell of the map, and the selectivity of each item of the slice in it, float64 [cells, n]; NaN for none."""
    seen = _sighted(view) if not lack(view) else []
    broken, kept, places = families(view), harmless(view), view.item_places
    named = [
        dict[Hashable, object](zip(("evaluator", "family", "nuisance"), each, strict=True))
        for each in product(seen, broken, kept)
    ]
    of_items = np.empty((len(seen), len(broken), len(kept), len(places)))
    for evaluator, own in zip(seen, of_items, strict=True):
        counting = _counting(view, VERIFIED_ONLY if known else EVERY)[:, places]
        duels(view, evaluator).cells(counting, places, _numbers(broken), out=own)
    return named, of_items.reshape(len(named), len(places))


def _mapped(
    view: View, corpus: str, named: Sequence[Mapping[Hashable, object]], of_items: np.ndarray, *, bounds: bool
) -> pd.DataFrame:
    """Columns MAP of some cells in one corpus; those of no item are left out."""
    table, own = view.table, view.table.of_corpus(corpus)
    groups = table.sources_of(own)
    held = view.items[own]
    means = means_bca(of_items[:, own[view.items]], groups=groups, held=held, bounds=bounds, fractions=True)
    found = [(told, each) for told, each in zip(named, means, strict=True) if each.n]
    records = [{**told, "corpus": corpus, "n_items": each.n, **ends(each), "note": each.note} for told, each in found]
    return pd.DataFrame(records, columns=list(MAP))


def rivals(cells: pd.DataFrame) -> pd.DataFrame:
    """The invariant family that each directional one is most easily taken for: of every evaluator, corpus and
    directional family the MAP of the cell of lowest selectivity, of equal ones the first by name; ``cells``: of
    :func:`heat_map`."""
    lowest = dict[tuple[object, ...], tuple[float, str, int]]()
    names = ("evaluator", "corpus", "family", "value", "nuisance")
    for place, (*row, value, nuisance) in enumerate(zip(*(cells[name].tolist() for name in names), strict=True)):
        if not math.isnan(value):
            own = (value, nuisance, place)
            lowest[tuple(row)] = min(lowest.get(tuple(row), own), own)
    return cells.iloc[sorted(place for *_, place in lowest.values())].reset_index(drop=True)


def kinds(view: View) -> tuple[str, ...]:
    """Which sets of comparisons the headline has rows of: those that are there, each once; the verified ones always."""
    wrongs = _wrongs(view)
    there = stored(view.table, wrongs)[:, view.items]
    known, nothing = (_counting(view, of)[:, view.items] & there for of in (VERIFIED_ONLY, UNTOLD))
    same = any(np.array_equal(each, there) for each in (known, nothing))
    return (VERIFIED_ONLY, *((UNTOLD,) if nothing.any() else ()), *(() if same else (EVERY,)))


def _wrongs(view: View) -> tuple[str, ...]:
    return tuple(name for probes in families(view).values() for name in probes)


def _counting(view: View, of: str) -> np.ndarray:
    """Which directional comparisons count, bool [D, N]; those without a row among them do no harm."""
    kept = {VERIFIED_ONLY: verified, UNTOLD: untold, EVERY: stored}
    return kept[of](view.table, _wrongs(view))


def _numbers(found: Mapping[str, tuple[str, ...]]) -> np.ndarray:
    """Number of each probe's family, int."""
    return np.array([number for number, probes in enumerate(found.values()) for _ in probes])


def _record(found: Selectivity, silent: str) -> Mapping[str, object]:
    row = {name: getattr(found, name) for name in ("n_pairs", "chance", "pooled", "said")}
    for name in ("above", "nuisance", "signal", "ratio"):
        row |= ends(getattr(found, name), bounds(name))
    # why an interval is missing or a point, each with what it is of; one that all share once
    whole = found.value.note
    others = {"nuisance": found.nuisance.note, "signal": found.signal.note, "signal to nuisance": found.ratio.note}
    said = (f"{name}: {note}" for name, note in others.items() if note not in ("", whole))
    return {"n_items": found.value.n, **row, **ends(found.value), "note": remarks(silent, whole, *said)}


def beside_chance(chance: float, above: float, low: float, high: float) -> str:
    """A selectivity beside what this evaluator has by chance, in words; ``chance``, ``above``, ``low``, ``high``: see
    :class:`core.statistics.selectivity.Selectivity`; bounds NaN: no interval.

    Example:
        >>> beside_chance(0.25, 0.301, 0.26, 0.34)
        '0.30 (95 % 0.26 to 0.34) above its own chance of 0.25'
        >>> beside_chance(0.25, -0.011, -0.03, 0.02)
        'not told from its own chance of 0.25 (95 % of the difference -0.03 to 0.02)'
    """
    if math.isnan(low):
        return f"its own chance is {chance:.2f}"
    ends = f"{low:.2f} to {high:.2f}"
    if low <= 0 <= high:
        return f"not told from its own chance of {chance:.2f} (95 % of the difference {ends})"
    side = "above" if above > 0 else "below"
    ends = ends if above > 0 else f"{-high:.2f} to {-low:.2f}"
    return f"{abs(above):.2f} (95 % {ends}) {side} its own chance of {chance:.2f}"

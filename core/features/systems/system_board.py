"""A leaderboard from rows of scores: standings, pairwise differences, agreement of metrics, equal length."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from core.analysis.effects import bounds
from core.errors import InvalidInput
from core.probes.words.health import plain_words
from core.statistics.battles import length_controlled
from core.statistics.bootstrap import expanded, too_few
from core.statistics.standings import (
    DRAWS,
    Standings,
    drawn_means,
    neighbours,
    order_agreement,
    placed,
    rank_bounds,
    source_ranks,
    standings,
    swap,
)

_RANKED, _PAIR = ("evaluator", "rank", "system", "mean"), ("higher", "lower")
_RANKS, _SURE = ("rank_low", "rank_high", "first"), ("sure_low", "sure_high")
STANDINGS = (*_RANKED, "low", "high", *_RANKS, *_SURE, "n_items", "own_mean", "own_n", "note")
_TEST = ("test", "p", "p_holm", "sure")
DIFFERENCES = ("evaluator", *_PAIR, "difference", "low", "high", *_TEST, "n_items", "note")
AGREEMENT = ("one", "other", "tau", "low", "high", *bounds("spearman"), "n_systems", "n_items", "note")
AT_EQUAL_LENGTH = (*_RANKED, *_RANKS[:2], "rank_as_is", "words", *bounds("slope"), "n_items", "note")


@dataclass(frozen=True, slots=True)
class Grid:
    """Scores of some systems by one evaluator on the items that all of them have."""

    systems: tuple[str, ...]  # in their order
    items: tuple[str, ...]  # ids
    sources: tuple[str, ...]  # of the items
    scores: np.ndarray  # float64 [items, systems]


def systems_of(rows: pd.DataFrame) -> tuple[str, ...]:
    """Names of the systems, in the order in which they were entered."""
    return tuple(dict.fromkeys(rows["system"].astype(str)))


def own_rows(rows: pd.DataFrame, *, probe: str = "") -> pd.DataFrame:
    """Rows of the systems' own captions, not of further samples, under one edit; none: on unedited pictures."""
    return rows[(rows["probe"] == probe) & (rows["place"] == 0)]


def grid(rows: pd.DataFrame, evaluator: str, systems: Sequence[str], *, probe: str = "", whole: bool = True) -> Grid:
    """Lay the scores of an evaluator under an edit (empty: unedited) out as items by systems; ``whole``: only items
    that every system has a score of, otherwise a missing score is NaN."""
    own = own_rows(rows, probe=probe)
    own = own[(own["evaluator"] == evaluator) & own["system"].isin(list(systems))]
    table = own.pivot_table(index="item", columns="system", values="score", sort=False, dropna=False, aggfunc="first")
    table = table.reindex(columns=list(systems))
    if whole:
        table = table.dropna()
    source = own.drop_duplicates("item").set_index("item")["source"].reindex(table.index)
    return Grid(tuple(systems), tuple(table.index), tuple(source), table.to_numpy(np.float64))


def whole_grid(rows: pd.DataFrame, evaluator: str, systems: Sequence[str]) -> Grid:
    """Lay out the items that every system has a score of; raises InvalidInput if there is none, saying which system
    shares the fewest."""
    found = grid(rows, evaluator, systems)
    if found.items:
        return found
    every = grid(rows, evaluator, systems, whole=False)
    there = np.isfinite(every.scores)
    counts = there.sum(axis=0)
    if not counts.all():
        lacking = systems[int(np.argmin(counts))]
        raise InvalidInput(f"{evaluator} has no score of system {lacking!r}; leave the system or the evaluator out")
    others = [np.delete(there, place, axis=1).all(axis=1).sum() for place in range(len(systems))]
    worst = systems[int(np.argmax(others))]
    raise InvalidInput(
        f"no picture has a score of all {len(systems)} systems by {evaluator}, so they cannot be ranked together; "
        f"leave out {worst!r}, without which {int(max(others))} pictures remain"
    )


def board(
    rows: pd.DataFrame, evaluators: Sequence[str], systems: Sequence[str], *, level: float = 0.95
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Standings and pairwise differences of every evaluator, each on the items that all systems have: STANDINGS from
    the top, and DIFFERENCES by their order there; ``own_mean`` is over all ``own_n`` items that the system has a score
    of. Raises as :func:`whole_grid`."""
    tops, pairs = [], []
    for evaluator in evaluators:
        held = whole_grid(rows, evaluator, systems)
        found = standings(held.scores, groups=held.sources, level=level)
        every = grid(rows, evaluator, systems, whole=False).scores
        for place in np.lexsort((np.arange(len(systems)), found.ranks)).tolist():
            own = every[:, place]
            top = (evaluator, int(found.ranks[place]), held.systems[place], *found.means[place].numbers())
            ranks = (float(each[place]) for each in (found.low, found.high, found.first))
            sure = int(found.sure_low[place]), int(found.sure_high[place])
            counts = found.n, float(np.nanmean(own)), int(np.isfinite(own).sum())
            tops.append((*top, *ranks, *sure, *counts, found.note))
        pairs += _pair_rows(evaluator, held, found)
    return pd.DataFrame(tops, columns=list(STANDINGS)), pd.DataFrame(pairs, columns=list(DIFFERENCES))


def agreement(
    rows: pd.DataFrame, evaluators: Sequence[str], systems: Sequence[str], *, level: float = 0.95
) -> pd.DataFrame:
    """How alike every two evaluators rank the systems, on the items that both have of all of them; AGREEMENT."""
    records = []
    for one, other in combinations(evaluators, 2):
        grids = [grid(rows, each, systems) for each in (one, other)]
        shared = sorted(set(grids[0].items) & set(grids[1].items))
        places = [[each.items.index(item) for item in shared] for each in grids]
        sources = [grids[0].sources[place] for place in places[0]]
        tables = [each.scores[place] for each, place in zip(grids, places, strict=True)]
        found = order_agreement(*tables, groups=sources, level=level)
        tau, rho = found.tau, found.spearman
        records.append((one, other, *tau.numbers(), *rho.numbers(), found.systems, tau.n, tau.note))
    return pd.DataFrame(records, columns=list(AGREEMENT))


def at_equal_length(
    rows: pd.DataFrame, evaluators: Sequence[str], systems: Sequence[str], *, level: float = 0.95
) -> pd.DataFrame:
    """The standings that are left when captions are compared at equal length in words; raises as :func:`whole_grid`."""
    records = []
    for evaluator in evaluators:
        held = whole_grid(rows, evaluator, systems)
        lengths = _lengths(rows, held)
        found = length_controlled(held.scores, lengths, groups=held.sources, level=level)
        as_is = placed(held.scores.mean(axis=0)[None])[0][0]
        slope = (found.slope, found.slope_low, found.slope_high)
        for place in np.lexsort((np.arange(len(held.systems)), found.ranks)).tolist():
            ranks = (float(each[place]) for each in (found.means, found.low, found.high))
            top = (evaluator, int(found.ranks[place]), held.systems[place], *ranks, int(as_is[place]))
            records.append((*top, float(lengths[:, place].mean()), *slope, found.n, found.note))
    return pd.DataFrame(records, columns=list(AT_EQUAL_LENGTH))


def word_count(caption: str) -> int:
    """Words of a caption, split at blanks; signs alone are none."""
    return len(plain_words(caption))


def ordinal(rank: float) -> str:
    """Write a rank: ``ordinal(22) == "22nd"``.

    Example:
        >>> [ordinal(each) for each in (1, 2, 3, 11, 112)]
        ['1st', '2nd', '3rd', '11th', '112th']
    """
    number = int(rank)
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def rank_range(low: float, high: float) -> str:
    """Write an interval of ranks: ``1st to 3rd``, ``2nd``, or a dash where there is none."""
    if math.isnan(low) or math.isnan(high):
        return "—"
    return ordinal(low) if low == high else f"{ordinal(low)} to {ordinal(high)}"


def _lengths(rows: pd.DataFrame, held: Grid) -> np.ndarray:
    own = own_rows(rows).drop_duplicates(["item", "system"])
    long = own.assign(words=own["caption"].map(word_count))
    table = long.pivot_table(index="item", columns="system", values="words", aggfunc="first")
    return np.asarray(table.loc[list(held.items), list(held.systems)].to_numpy(np.float64))


def _pair_rows(evaluator: str, held: Grid, found: Standings) -> list[tuple[object, ...]]:
    records = []
    for each in found.differences:
        one, other, sign = each.one, each.other, 1.0
        low, high = each.interval.low, each.interval.high
        if each.interval.estimate < 0:
            one, other, sign, low, high = other, one, -1.0, -high, -low
        ranks = (int(found.ranks[one]), int(found.ranks[other]), one, other)
        gap = (evaluator, held.systems[one], held.systems[other], sign * each.interval.estimate, low, high)
        test = (each.test.name, each.test.p, each.p_holm, each.sure)
        records.append((ranks, (*gap, *test, each.interval.n, each.interval.note or each.test.note)))
    return [row for _, row in sorted(records, key=lambda pair: pair[0])]


_SWAPPED = ("swapped", "probability", "chance")
SWAPS = ("evaluator", "family", *_PAIR, "gap", "edits", *_SWAPPED, "least_n", "note")
EDITS = ("evaluator", "family", "probe", *_PAIR, "gap_before", "gap_after", *_SWAPPED, "n_items", "note")
PLACES = ("evaluator", "family", "system", "rank_low", "rank_high", "edits", "least_n", "note")


def edits(rows: pd.DataFrame, evaluators: Sequence[str], systems: Sequence[str]) -> pd.DataFrame:
    """What each edit does to every two neighbours of the unedited leaderboard; EDITS.

    The gap before is that of the items that both systems have under the edit too.
    """
    records = []
    for evaluator in evaluators:
        held = whole_grid(rows, evaluator, systems)
        pairs = neighbours(held.scores.mean(axis=0))
        clean = grid(rows, evaluator, systems, whole=False)
        for family, probe in edits_of(rows, evaluator):
            edited = beside(clean, grid(rows, evaluator, systems, probe=probe, whole=False))
            for pair in pairs:
                found = swap(clean.scores[:, pair], edited[:, pair], groups=clean.sources)
                gaps, likely = (found.before, found.after, found.swapped), (found.probability, found.chance)
                names = (systems[each] for each in pair)
                records.append((evaluator, family, probe, *names, *gaps, *likely, found.n, found.note))
    return pd.DataFrame(records, columns=list(EDITS))


def by_family(table: pd.DataFrame) -> pd.DataFrame:
    """The edits of each family of :func:`edits` together: probabilities are means over its edits, all weighing alike;
    SWAPS."""
    records = []
    for key, part in table.groupby(["evaluator", "family", *_PAIR], sort=False, observed=True):
        counts = (float(part["gap_before"].mean()), len(part), int(part["swapped"].sum()))
        likely = (float(part[name].mean(skipna=False)) for name in ("probability", "chance"))
        told = next((note for note in part["note"] if note), "")
        records.append((*key, *counts, *likely, int(part["n_items"].min()), told))
    return pd.DataFrame(records, columns=list(SWAPS))


def places(
    rows: pd.DataFrame, evaluators: Sequence[str], systems: Sequence[str], *, level: float = 0.95
) -> pd.DataFrame:
    """Rank intervals under each family: over bootstrap samples of items and the family's edits together; PLACES.

    Of each edit the items count that every system has a score of under it.
    """
    records = []
    for evaluator in evaluators:
        for family in dict.fromkeys(name for name, _ in edits_of(rows, evaluator)):
            probes = [probe for name, probe in edits_of(rows, evaluator) if name == family]
            grids = [grid(rows, evaluator, systems, probe=probe) for probe in probes]
            sources = [source_ranks(each.sources, len(each.items)) for each in grids]
            counts = [int(each.max()) + 1 if len(each) else 0 for each in sources]
            note = next(
                (said for each, m in zip(grids, counts, strict=True) if (said := too_few(len(each.items), m))), ""
            )
            low = high = np.full(len(systems), np.nan)
            if not note:
                both = zip(grids, sources, strict=True)
                drawn = np.concatenate([drawn_means(each.scores, groups=of, resamples=DRAWS) for each, of in both])
                low, high = rank_bounds(*placed(drawn), level=expanded(level, min(counts)))
            least = min(len(each.items) for each in grids)
            records += [
                (evaluator, family, system, float(low[place]), float(high[place]), len(probes), least, note)
                for place, system in enumerate(systems)
            ]
    return pd.DataFrame(records, columns=list(PLACES))


def edits_of(rows: pd.DataFrame, evaluator: str) -> list[tuple[str, str]]:
    """Family and name of every edit that an evaluator scored, in the order of the rows."""
    own = rows[(rows["evaluator"] == evaluator) & (rows["probe"] != "")]
    return list(own[["family", "probe"]].drop_duplicates().itertuples(index=False, name=None))


def beside(clean: Grid, edited: Grid) -> np.ndarray:
    """Edited scores in the order of the unedited items; NaN where an item has none."""
    row = {item: place for place, item in enumerate(edited.items)}
    found = np.full(clean.scores.shape, np.nan)
    for place, item in enumerate(clean.items):
        if item in row:
            found[place] = edited.scores[row[item]]
    return found

"""Scores of one evaluator as arrays: clean ones, and those of every family's variants with their baselines."""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import compress

import numpy as np

from core.analysis.effects import bounds, ends
from core.analysis.table import View
from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.arithmetic import row_medians
from core.statistics.bootstrap import Interval, expanded, median_bca, no_point, too_few, widened
from core.statistics.changes import interquartile_range, standard_deviation
from core.statistics.crossed_sources import first_of
from core.statistics.resamples import sample_counts, sample_deviations, sample_medians


@dataclass(frozen=True, slots=True)
class Family:
    """Scores of one family, one row a probe, one column an item."""

    axis: str  # axis of the family
    probes: tuple[str, ...]  # names, k of them
    scores: np.ndarray  # S(x_t), float64 [k, n]; NaN where missing
    baselines: np.ndarray  # score that each is compared with, float64 [k, n]: the clean one, or a neutral caption's

    @property
    def shifts(self) -> np.ndarray:
        """Score minus baseline, float64 [k, n]."""
        return np.asarray(self.scores - self.baselines)


@dataclass(frozen=True, slots=True)
class Orbits:
    """All scores of one evaluator."""

    evaluator: str  # its name
    items: tuple[tuple[str, str], ...]  # (corpus, item) of each column, n of them
    clean: np.ndarray  # S(x) of the unedited image with its caption, float64 [n]; NaN where missing
    families: Mapping[str, Family]  # by name, in the order of the names
    # number of what each item was made of, int [n]: items of one source are resampled together; None: each is one of
    # its own. Of two sources, [n, 2], the second makes intervals longer.
    sources: np.ndarray | None = None

    def part(self, chosen: np.ndarray) -> "Orbits":
        """The items that are chosen, bool [n]."""
        families = {
            name: Family(family.axis, family.probes, family.scores[:, chosen], family.baselines[:, chosen])
            for name, family in self.families.items()
        }
        items = tuple(compress(self.items, chosen.tolist()))
        sources = None if self.sources is None else self.sources[chosen]
        return Orbits(self.evaluator, items, self.clean[chosen], families, sources)


def calibrated_families(view: View, evaluator: str) -> dict[str, tuple[str, ...]]:
    """Family -> probes, of the families under which some item of a view has a shift; controls and invisible edits have
    none."""
    return {name: probes for name, probes, _ in _families(view, evaluator)}


def _families(view: View, evaluator: str) -> Iterator[tuple[str, tuple[str, ...], np.ndarray]]:
    """Their names, probes, and which shifts are stored, bool [probes, items]."""
    own = view.of(evaluator)
    for name, probes in own.families().items():
        if view.table.is_control(name):
            continue
        _, stored = own.shifts(evaluator, probes)
        if stored[:, view.items].any():
            yield name, probes, stored


def orbits(view: View, evaluator: str) -> Orbits:
    """Scores of one evaluator over the items of a view; controls and invisible edits, the noise floor, are left out.
    Raises InvalidInput if no shift of the evaluator is left."""
    table, families = view.table, {}
    for name, probes, stored in _families(view, evaluator):
        before = table.before(evaluator, probes)
        after = np.where(stored, table.after(evaluator, probes), np.nan)
        families[name] = Family(table.axis_of(name), probes, after, before)
    if not families:
        raise InvalidInput(f"no shift of evaluator {evaluator!r} is here; audit some invariant probes with it first")
    return Orbits(evaluator, table.names, table.clean(evaluator), families, table.sources).part(view.items)


def dev_split(sources: Sequence[str], *, share: float = 0.5, seed: int = RUN_SEED) -> np.ndarray:
    """Mark the dev items by what each was made of, e.g. the hash of its image, bool [n]; the same source is on the same
    side in every corpus, run and order. ``share`` of the sources is dev; raises InvalidInput outside (0, 1)."""
    if not 0 < share < 1:
        raise InvalidInput(f"share must lie in (0, 1), got {share!r}")
    side = {source: _uniform(f"{seed}\x1f{source}") < share for source in set(sources)}
    return np.array([side[source] for source in sources], dtype=bool)


def crossed_split(first: Sequence[str], second: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Mark the dev and the test items so that the two share neither source, bool [n] each; some items are in neither.

    An item goes with its second source. Where the items of a first source would then stand on both sides, those that
    are not on its own side of :func:`dev_split` are left out.
    """
    with_first, dev = dev_split(first), dev_split(second)
    names = np.asarray(first)
    torn = np.isin(names, np.intersect1d(names[dev], names[~dev]))
    kept = ~torn | (dev == with_first)
    return dev & kept, ~dev & kept


@lru_cache(maxsize=65_536)  # every slice of a corpus splits the same sources
def _uniform(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64


# Two scorings of the same pairs, each over the spread of its own unedited scores, with one set of bootstrap samples.
#
# A correction that only shrinks the scale gains nothing, so both sides are divided by the standard deviation of their
# own unedited scores. Every interval is of bootstrap samples of sources, and each sample has a standard deviation of
# its own: divided by one that is taken as known, 82 to 91 of 100 intervals held the truth at 10 to 100 items, divided
# by each sample's, 93 to 97. The percentiles are those of a level that is expanded for the number of sources; not so
# for a ratio, whose samples hold both sides at once: 97 to 98 of 100 hold it as it is.
LEVEL = 0.95
_RESAMPLES = 1000
_SOURCE_RESAMPLES = 2000  # of medians where sources are drawn: each takes every item, and a reader drags λ
_WORK = 8_000_000  # items × resamples × families


@dataclass(frozen=True, slots=True)
class Side:
    """One scoring, with what its samples say."""

    unit: float  # standard deviation of the unedited scores; NaN where there is none
    half: float  # their interquartile range
    sizes: Mapping[str, np.ndarray]  # by family, median |Δ| of each item, float64 [n]
    drawn: Mapping[str, np.ndarray]  # by family, median of them in each sample, float64 [samples]
    units: np.ndarray  # standard deviation of the unedited scores in each sample
    sources: np.ndarray | None  # of the items

    def sensitivity(self, name: str) -> Interval:
        """Of a family, in SD of the unedited scores."""
        return self.mean([name])

    def mean(self, names: Sequence[str]) -> Interval:
        """Mean over families of their sensitivity; the same samples for every family."""
        sizes = np.array([self.sizes[name] for name in names]) / self.unit
        there = np.asarray(~np.isnan(sizes).all(axis=0))
        if not there.any():
            return Interval(math.nan, math.nan, math.nan, 0, LEVEL, "no shifts")
        low, high, note = _ends(self.samples(names), there, self.sources, wide=True)
        found = Interval(self.over(names), low, high, int(there.sum()), LEVEL, note)
        return widened(found, self.owed(names)[there], None if self.sources is None else self.sources[there])

    def owed(self, names: Sequence[str]) -> np.ndarray:
        """What :meth:`over` owes to each item, up to a factor: on which sides of the families' medians it lies."""
        sizes = np.array([self.sizes[name] for name in names])
        return np.asarray(np.nansum(np.sign(sizes - row_medians(sizes.T)[:, None]), axis=0))

    def samples(self, names: Sequence[str]) -> np.ndarray:
        """:meth:`over` in each sample, in SD of that sample's unedited scores, float64 [samples]."""
        return _means(np.array([self.drawn[name] for name in names]) / self.units)

    def over(self, names: Sequence[str]) -> float:
        """The estimate of :meth:`mean`."""
        return float(_means(row_medians(np.array([self.sizes[name] for name in names]).T)[:, None] / self.unit)[0])


def side_of(scores: Orbits, *, like: Side | None = None, still: bool = False) -> Side:
    """One scoring of a split; those of the same pairs have the same samples of items.

    ``like`` is another scoring of the same pairs: a family that moves every item as far as there is not drawn again;
    ``still``: its unedited scores are these.
    """
    n = len(scores.clean)
    resamples = int(np.clip(_WORK // max(n * len(scores.families), 1), 50, _RESAMPLES))
    first = None if scores.sources is None else first_of(scores.sources)
    counts = sample_counts(n, resamples, sources=first) if n else np.zeros((resamples, 0), dtype=np.int32)
    sizes = {name: row_medians(np.abs(family.shifts)) for name, family in scores.families.items()}
    drawn = {
        name: like.drawn[name]
        if like is not None and np.array_equal(like.sizes[name], values, equal_nan=True)
        else sample_medians(values, counts)
        for name, values in sizes.items()
    }
    if like is not None and still:
        return replace(like, sizes=sizes, drawn=drawn)
    spread = standard_deviation(scores.clean) or math.nan
    units = sample_deviations(scores.clean, counts)
    return Side(spread, interquartile_range(scores.clean), sizes, drawn, units, scores.sources)


def ratio(before: Side, after: Side, names: Sequence[str]) -> dict[str, float]:
    """After over before, each in SD of its own side; NaN where nothing moved before."""
    first, second = before.over(names), after.over(names)
    if not first > 0:
        return dict.fromkeys(("ratio", "ratio_low", "ratio_high"), math.nan)
    there = np.logical_or.reduce([~np.isnan(before.sizes[name]) for name in names])
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high, _ = _ends(after.samples(names) / before.samples(names), there, before.sources, wide=False)
    of = None if before.sources is None else before.sources[there]
    found = Interval(second / first, low, high, int(there.sum()), LEVEL)
    sides = (side.owed(names)[there] for side in (before, after))
    widest = [widened(found, each, of, within=(0, math.inf)) for each in sides]  # whichever owes more
    found = max(widest, key=lambda each: each.high - each.low)
    return ends(found, bounds("ratio"))


def _ends(drawn: np.ndarray, there: np.ndarray, sources: np.ndarray | None, *, wide: bool) -> tuple[float, float, str]:
    """Ends of an interval from what was drawn, and why there is none; ``wide`` expands the level for the number of
    sources."""
    n = int(there.sum())
    count = n if sources is None else len(np.unique(first_of(sources)[there]))
    known = drawn[np.isfinite(drawn)]
    if (said := too_few(n, count)) or len(known) < 2 or np.ptp(known) == 0:
        return math.nan, math.nan, said or "no interval: no sample differs"
    level = expanded(LEVEL, count) if wide else LEVEL
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high), ""


def median(values: np.ndarray, sources: np.ndarray | None) -> Interval:
    """Median over items with its interval; items of one source are resampled together."""
    if sources is None:
        return no_point(median_bca(values, level=LEVEL))
    resamples = int(np.clip(_WORK // max(len(values), 1), 400, _SOURCE_RESAMPLES))
    return no_point(median_bca(values, level=LEVEL, groups=sources, resamples=resamples))


def _means(medians: np.ndarray) -> np.ndarray:
    """[families, samples] -> [samples]; a family without a value in a sample is left out of it."""
    known = ~np.isnan(medians)
    total = np.where(known, medians, 0.0).sum(axis=0)
    return np.asarray(
        np.divide(total, known.sum(axis=0), out=np.full(medians.shape[1], math.nan), where=known.any(axis=0))
    )

"""Rates of votes where the items and the people are both samples: one interval for further items and further people.

The variance has three parts: of the items (or their sources), of the people, and of what one person says of one item.
That of the people is told by exchange [1]: how far the rate moves where all votes of one annotator give way to those of
the others on the same items. For a mean of votes it is the two-way clustered variance [2, 3]; for a share of majorities
it is the one that knows in which items an annotator decides. Either part has its own Student quantile, and the squares
of both reaches add up [4], since a handful of annotators knows little of how far people differ.

Where people hardly differ (leniency of SD 0.5 in log-odds) three annotators' intervals hold the truth in 96 to 100 of
100 studies of 10 to 30 items, not in 95: three people cannot show whether they are of that kind or of SD 1, whom the
same intervals hold in 94 to 100 and shorter ones (the votes' own scatter by the items' quantile; Satterthwaite's) in 88
to 92; and where nearly all is agreed, a quarter to a half of all studies are unanimous and have one and the same
interval, so that no reach in between is to be had.

While votes still come in, whoever looks again and again and stops when it suits needs an interval that holds at every
look: the quantile of the items' part is then that of a normal mixture [5, 6].

References:
    [1] Efron, B. and Stein, C. (1981). The jackknife estimate of variance. Annals of Statistics 9, 586-596.
    [2] Cameron, A. C., Gelbach, J. B. and Miller, D. L. (2011). Robust inference with multiway clustering. JBES 29,
        238-249.
    [3] Owen, A. B. (2007). The pigeonhole bootstrap. Annals of Applied Statistics 1, 386-411.
    [4] Graybill, F. A. and Wang, C.-M. (1980). Confidence intervals on nonnegative linear combinations of variances.
        JASA 75, 869-873.
    [5] Robbins, H. (1970). Statistical methods related to the law of the iterated logarithm. Annals of Mathematical
        Statistics 41, 1397-1409.
    [6] Waudby-Smith, I. et al. (2024). Time-uniform central limit theory and asymptotic confidence sequences. Annals of
        Statistics 52, 2613-2640.
    [7] Brennan, R. L. (2001). Generalizability Theory, 4.1: what more annotators or items do to an error.
    [8] Cochran, W. G. (1977). Sampling Techniques, 3rd ed., 2.6: the finite population.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from core.statistics.bootstrap import LEAST_N, Interval, too_few
from core.statistics.crossed_sources import first_of, unreckoned, widening
from core.statistics.shares import wilson
from core.statistics.wording import counted

FEWEST_PEOPLE = 3  # annotators below whom nothing is said of people in general; of items and sources, below LEAST_N
TUNED = 100  # sources at which the interval for every look is about the narrowest
MOST = 50  # times as many annotators or items as there are, beyond which no number is named


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the units of a rate are, and what exchange does to them."""

    told: np.ndarray  # one row a unit (an item, a comparison), float64 [u, q]: what its votes say
    units: np.ndarray  # unit of each vote, int [n]
    people: np.ndarray  # annotator of each vote, int [n]
    # what the unit says less what it says, in the mean, where this vote gives way to another one on the same thing;
    # less the mean of this over the unit, so that it is only how annotators differ, float64 [n, q]
    moved: np.ndarray


def exchange(
    votes: np.ndarray,
    units: np.ndarray,
    people: np.ndarray,
    tell: Callable[[np.ndarray], np.ndarray],
    *,
    within: np.ndarray | None = None,
) -> Exchange:
    """Exchange every vote for each other one on the same thing.

    Args:
        votes: what is added up over a unit, float64 [n, k]: marks of answers, ratings, ones.
        units: of each vote, int [n], every place from 0 on there.
        tell: sums over a unit, [m, k] -> what it says, [m, q].
        within: thing that each vote is on, int [n], where a unit has several (both sides of a comparison, apart).
    """
    things = units if within is None else within
    sums = np.zeros((int(units.max(initial=-1)) + 1, votes.shape[1]))
    np.add.at(sums, units, votes)
    told = np.asarray(tell(sums), dtype=np.float64)
    order = np.argsort(things, kind="stable")
    sizes = np.bincount(things)[things]
    start = np.searchsorted(things[order], things)
    mine = np.repeat(np.arange(len(things)), sizes)
    step = np.arange(len(mine)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    other = order[start[mine] + step]  # of each vote every one on the same thing, itself too
    changed = np.asarray(tell(sums[units[mine]] - votes[mine] + votes[other]), dtype=np.float64)
    moved = np.zeros((len(things), told.shape[1]))
    np.add.at(moved, mine, told[units[mine]] - changed)
    moved /= np.maximum(sizes - 1, 1)[:, None]
    middle = np.zeros_like(told)
    np.add.at(middle, units, moved)
    return Exchange(told, units, people, moved - (middle / np.maximum(np.bincount(units), 1)[:, None])[units])


@dataclass(frozen=True, slots=True)
class Parts:
    """The variance of a rate in its parts, each as it is in the rate."""

    items: float  # of the items alone, were every one judged without end
    people: float  # of the annotators, were each to judge without end
    rest: float  # of what one annotator says of one item
    sources: float  # of the items
    annotators: float  # those who count; fewer than there are where some judged much more than others

    def grown(self, *, annotators: float = 1.0, items: float = 1.0) -> "Parts":
        """Parts to expect of so many times the annotators and items, each annotator with as large a part of all [7]."""
        people, rest = self.people / annotators, self.rest / annotators / items
        return Parts(self.items / items, people, rest, self.sources * items, self.annotators * annotators)

    def error(self, *, live: bool = False, level: float = 0.95) -> tuple[float, float]:
        """Variance of the rate, and how many of its roots its interval reaches [4]."""
        people, whole = self.people + self.rest, self.items + self.people + self.rest
        own = at_every_look(self.sources, level=level) if live else _student(self.sources, level)
        reach = own**2 * self.items + max(_student(self.annotators, level), own) ** 2 * people
        return whole, math.sqrt(reach / whole) if whole > 0 else own


def parts_of(spread: float, influence: np.ndarray, people: np.ndarray, *, sources: float, left: float = 1.0) -> Parts:
    """Part the variance of a rate.

    Args:
        spread: its variance where items, or their sources, are drawn anew and the people stay.
        influence: what the rate moves by where each vote is exchanged, float64 [n].
        left: share of all items without a vote, where the rate is of a finite number of them: by so much their spread
            counts [8], and that of the people in full.
    """
    names, codes = np.unique(people, return_inverse=True)
    parts = np.bincount(codes) / max(len(codes), 1)
    own = np.bincount(codes, influence)
    short = 1 - 1 / max(len(names), 1)
    exchanged, single = short * float(((own - parts * own.sum()) ** 2).sum()), short * float((influence**2).sum())
    rest = min(exchanged, single)
    return Parts(max(spread - left * rest, 0.0), exchanged - rest, rest, sources, 1 / float((parts**2).sum() or 1.0))


def at_every_look(sources: float, *, level: float = 0.95) -> float:
    """Standard errors that a mean of so many sources stays within at every look, however many there are [5, 6]."""
    alpha = 1 - level
    grown = sources * (-2 * math.log(alpha) + math.log(1 - 2 * math.log(alpha))) / TUNED + 1
    return math.sqrt(grown / (grown - 1) * math.log(grown / alpha**2))


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate with the parts of its variance."""

    estimate: float  # in [0, 1], or a difference of two rates
    n: int  # units behind it
    annotators: int  # whose votes they are
    parts: Parts | None  # of its variance; None where it has no interval
    bounded: bool = True  # whether it lies in [0, 1]
    live: bool = False  # whether its interval has to hold at every look
    note: str = ""  # why it has no interval, or does not know a second source
    sources: int = 0  # of the units

    def interval(self, *, level: float = 0.95) -> Interval:
        """Its interval for people and items like these: Wilson's of as many independent values as have its error."""
        low, high = (math.nan, math.nan) if self.parts is None else self._ends(self.parts, level)
        return Interval(self.estimate, low, high, self.n, level, self.note)

    def half(self, *, annotators: float = 1.0, items: float = 1.0) -> float:
        """Half the interval's length, with so many times the annotators and items."""
        if self.parts is None:
            return math.nan
        low, high = self._ends(self.parts.grown(annotators=annotators, items=items), 0.95)
        return (high - low) / 2

    def _ends(self, parts: Parts, level: float) -> tuple[float, float]:
        p = self.estimate
        whole, reach = parts.error(live=self.live, level=level)
        if not self.bounded:
            return p - reach * math.sqrt(whole), p + reach * math.sqrt(whole)
        effective = p * (1 - p) / whole if whole > 0 and 0 < p < 1 else parts.sources
        return wilson(p, effective, level=level, reach=reach)


def rate(
    found: Exchange,
    top: int,
    *,
    bottom: int | None = None,
    groups: np.ndarray,
    live: bool = False,
    bounded: bool = True,
) -> Rate:
    """Rate Σ top / Σ bottom, columns of what the units tell, over units whose votes were exchanged; no bottom: every
    unit counts alike. ``groups``: source of each unit, [u], or two, [u, 2]: the spread of units is then that by both.
    ``live``: votes still come in."""
    sizes = np.ones(len(found.told)) if bottom is None else found.told[:, bottom]
    n, people = int(sizes.sum()), len(np.unique(found.people))
    if not n:
        return Rate(math.nan, 0, people, None, note="no values")
    p = float(found.told[:, top].sum() / n)
    if bounded:
        p = min(max(p, 0.0), 1.0)
    of = groups[sizes > 0]
    ranks = np.unique(first_of(of), return_inverse=True)[1]
    sources = int(ranks.max()) + 1
    note = too_few_people(people) or too_few(n, sources)
    if note:
        return Rate(p, n, people, None, bounded, live, note, sources)
    owed = (found.told[:, top] - p * sizes)[sizes > 0]
    tops = np.bincount(ranks, owed)
    moved = found.moved[:, top] - p * (found.moved[:, bottom] if bottom is not None else 0.0)
    spread = sources / (sources - 1) * float((tops**2).sum()) / n**2 * widening(owed, of) ** 2
    parts = parts_of(spread, moved / n, found.people, sources=sources)
    if not bounded and parts.error()[0] == 0:
        return Rate(p, n, people, None, bounded, live, "all values are equal: no interval", sources)
    return Rate(p, n, people, parts, bounded, live, unreckoned(of), sources)


def too_few_people(people: int) -> str:
    """Why so few annotators have no interval, in words; empty where they are enough."""
    if people >= FEWEST_PEOPLE:
        return ""
    return f"{counted(people, 'annotator')} cannot tell how far people differ, {FEWEST_PEOPLE} can"


def whom_it_is_about(people: int, *, live: bool) -> str:
    """Which people and items the intervals of a study are about, in a sentence or two."""
    if people < FEWEST_PEOPLE:
        return (
            f"Shares are of what {'this' if people == 1 else 'these'} {counted(people, 'annotator')} said and have no "
            f"interval: how far other people differ takes {FEWEST_PEOPLE} annotators to tell."
        )
    said = (
        f"95 % intervals are about people like these {people} annotators and items like these, not about these alone. "
        "Both count as samples, items of one source together."
    )
    more = " While the study is not closed they hold however often you look, and are wider for it." if live else ""
    return said + more


def what_halves(found: Rate) -> str:
    """Say how many more annotators or items would halve an interval, from its variance [7], or give one."""
    half, now = found.half(), {"annotators": found.annotators, "items": found.n}
    if math.isnan(half):
        return _what_gives(found)
    told = []
    for name, there in now.items():
        tried = range(1, MOST * there, max(1, there // 20))  # one by one to twice as many, then steps of a twentieth
        needed = next((more for more in tried if found.half(**{name: 1 + more / there}) <= half / 2), 0)
        told.append(counted(needed, f"more {name[:-1]}") if needed else "")
    wide = f"would halve this interval (now ±{100 * half:.0f} points)"
    if all(told):
        return f"{told[0]}, or {told[1]}, {wide}."
    if any(told):
        return f"{''.join(told)} {wide}; no number of {'annotators' if told[1] else 'items'} alone would."
    both = next((more for more in range(1, MOST) if found.half(annotators=1 + more, items=1 + more) <= half / 2), 0)
    if not both:
        return f"Not even {MOST} times these annotators and items {wide}."
    together = " with ".join(counted(both * there, f"more {name[:-1]}") for name, there in now.items())
    return f"{together} {wide}; neither alone would."


def _what_gives(found: Rate) -> str:
    """How many more annotators and items a rate without an interval needs for one."""
    people, items = max(FEWEST_PEOPLE - found.annotators, 0), max(LEAST_N - found.sources, 0)
    needed = []
    if people:
        needed.append(counted(people, "more annotator"))
    if items:
        needed.append(counted(items, "more item") + (", each of another source," if found.sources < found.n else ""))
    if not needed:
        return f"How many more annotators or items would help is unclear: {found.note}."
    return f"{found.note[:1].upper()}{found.note[1:]}: {' and '.join(needed)} would give an interval."


def _student(units: float, level: float) -> float:
    return float(stdtrit(max(units - 1, 1.0), (1 + level) / 2))

"""Comparisons: what directional probes say of an evaluator, from the table of scores.

The right side is the baseline of a directional probe, the wrong side the probe itself: a caption and the same caption
negated, a picture and its rival. This is the only way from the table to a failure rate; families, axes and what a
comparison is of come from what the probes say of themselves.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from core.analysis.effects import CELL, IN_PERCENT, bounds, corpora, corrected, ends, entering
from core.analysis.facts import fact, keys, stored, verified
from core.analysis.scores import once
from core.analysis.slices import EVERY, Items, picked
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import ALPHA
from core.probes.base import ENGLISH, Expectation
from core.statistics.bootstrap import Interval, adjusted_level
from core.statistics.comparisons import (
    NO_SIGN,
    OPEN,
    RIGHT,
    WRONG,
    Comparison,
    Side,
    compare,
    paired_items,
    rates_of_signs,
)
from core.statistics.shares import share
from core.statistics.wording import counted, remarks

DIRECTIONAL = Expectation.DIRECTIONAL.value
RESPONSE = Expectation.RESPONSE.value
"""Expectation of probes both of whose sides are true: the score's response is told, and no failure rate."""

AUDIT = "python -m core audit --corpus demo --evaluators conse-lite0 --subject human --probes directional,default"
"""Audits both halves: what breaks the meaning, and what should not matter."""

COLUMNS = (
    *CELL, "axis", "family", "label", "tests", "n_items", "n", *bounds("failure"), *bounds("ties"), *bounds("near"),
    "tau", *bounds("beaten"), *bounds("detection"), "auroc", "mean_right", "sd_right", "mean_wrong", "sd_wrong",
    "scaled_right", "scaled_sd_right", "scaled_wrong", "scaled_sd_wrong", *bounds("drop"), *IN_PERCENT, "correct",
    "n_correct", "incorrect", "n_incorrect", "test", "p", "t", "t_p", "verdict", "detectable", "n_missing", "note",
)  # fmt: skip
"""Of :func:`comparison_rows`; shares in percent, detectable in points from 50 %."""

RATED = (*CELL, "axis", "family", "label", "n_items", "n", *bounds("failure"), *bounds("ties"), "verdict")
"""Of :func:`rate_rows`; each is of :data:`COLUMNS` too."""

NO_FAILURE, NO_SUCCESS = "no failure", "no success"  # Words in a margin's cell where no comparison was ranked that way


@dataclass(frozen=True, slots=True)
class Capability:
    """What breaks, and the comparisons that show it: one row of a table."""

    label: str  # of the row
    # family, axis: of the probes
    family: str
    axis: str
    probes: tuple[str, ...]  # directional; each is compared with its own baseline
    tests: str = ""  # name of the family of tests that the row's p-value is corrected in; empty for none
    # key, level: of the comparisons whose variants tell this fact alone; empty for all
    key: str = ""
    level: str = ""
    shown: bool = True  # False for a test that only counts in Holm's correction: a reader chose other ones


KIND = "kind"  # Fact that says what breaks, where one probe holds several kinds: the files of a suite


@dataclass(frozen=True, slots=True)
class Pairs:
    """Both sides of some comparisons under one evaluator."""

    # right, wrong: scores, float64 [k, N]; NaN where a side has none or the comparison is not looked at
    right: np.ndarray
    wrong: np.ndarray
    asked: np.ndarray  # whether the comparison is stored and looked at, scored or not, bool [k, N]


def families(view: View, *, expectation: str = DIRECTIONAL, axis: str | None = None) -> dict[str, tuple[str, ...]]:
    """Family -> the probes of an expectation that the slice keeps of it, controls aside; ordered by axis, then name."""
    kept = {name: view.probes(probes) for name, probes in view.table.of_expectation(expectation).items()}
    return {name: probes for name, probes in kept.items() if probes and axis in (None, view.table.axis_of(name))}


def axes(table: ScoreTable, expectation: str = DIRECTIONAL) -> tuple[str, ...]:
    """Axes that have a family of an expectation, in their order."""
    return tuple(dict.fromkeys(table.axis_of(name) for name in table.of_expectation(expectation)))


def capabilities(view: View, *, axis: str | None = None) -> list[Capability]:
    """One a directional family; its axis is the family of tests of Holm's correction. A family that the view leaves out
    is not shown."""
    kept, of = families(view, axis=axis), view.table.axis_of
    return [
        Capability(name, name, of(name), kept.get(name, probes), of(name), shown=name in kept)
        for name, probes in families(view.whole(), axis=axis).items()
    ]


def kinds(view: View) -> list[Capability]:
    """One a kind of every family whose probes tell several; a family of tests is the kinds of one family."""
    return [
        Capability(f"{name}: {level}", name, view.table.axis_of(name), probes, f"{name} by {KIND}", KIND, level)
        for name, probes in families(view).items()
        for level in dict.fromkeys(value for probe in probes for value in keys(view.table, (probe,)).get(KIND, ()))
    ]


def pairs(
    view: View,
    evaluator: str,
    probes: Sequence[str],
    *,
    known: bool = False,
    key: str = "",
    level: str = "",
    every: bool = False,
) -> Pairs:
    """Both sides of every comparison of some probes; ``known``: of those alone whose wrong side is known to be wrong,
    ``key``, ``level``: that tell this fact; ``every``: of every item, also those that the slice leaves out."""
    table = view.table
    which, places = table.place(evaluator), table.places(probes)
    looked = np.broadcast_to(view.items | every, (len(places), len(view.items)))
    for mask in _looked(view, evaluator, probes, known=known, key=key, level=level):
        looked = looked & mask
    right = np.where(looked, table.before(evaluator, probes), math.nan)
    wrong = np.where(looked, table.after(evaluator, probes), math.nan)
    return Pairs(right, wrong, looked & table.stored[which, places] & (table.baselines[which, places] >= 0))


def comparison_rows(
    view: View, tests: Sequence[Capability], *, known: bool = False, drops: bool = True
) -> pd.DataFrame:
    """What every test says of every evaluator in every corpus.

    Args:
        tests: a row each; those that are not shown have none, and count in Holm's correction.
        known: only comparisons whose wrong side is known to be wrong.
        drops: draw the intervals of the drops of means, which take most of the time; otherwise they are NaN.

    Returns:
        COLUMNS, then p_holm and m_tests: Holm's correction within evaluator, corpus and family of tests, and conflict:
        where the shares and the test of the means do not say the same. A share counts comparisons, with Wilson's
        interval over items or their sources; a median counts items. Scaled numbers run from the lowest to the highest
        score of either side of the row's whole family. Rows without a stored comparison are left out.
    """
    records = _records(view, entering(tests), known=known, drops=drops)
    found = corrected(pd.DataFrame(records, columns=[*COLUMNS, "shown"]))
    return found.assign(conflict=list(map(_conflict, found["verdict"], found["p_holm"], found["p"])))


def uncorrected_rows(
    view: View, tests: Sequence[Capability], *, known: bool = False, drops: bool = True
) -> pd.DataFrame:
    """COLUMNS of :func:`comparison_rows` alone, for whoever shows fewer tests than Holm's correction is over."""
    shown = [each for each in tests if each.shown]
    return pd.DataFrame(_records(view, shown, known=known, drops=drops), columns=list(COLUMNS))


def _records(view: View, tests: Sequence[Capability], *, known: bool, drops: bool) -> list[Mapping[str, object]]:
    return [
        {**named(evaluator, corpus, test), "tests": test.tests, "shown": test.shown, **found}
        for evaluator, test in product(view.evaluators, tests)
        for corpus, found in _compared(view, evaluator, test, known=known, drops=drops)
    ]


def named(evaluator: str, corpus: str, test: Capability) -> dict[str, object]:
    """What a row of a test is of, in its first columns."""
    return {"evaluator": evaluator, "corpus": corpus, "axis": test.axis, "family": test.family, "label": test.label}


def rate_rows(view: View, tests: Sequence[Capability], *, known: bool = False) -> pd.DataFrame:
    """The shares of :func:`comparison_rows` alone, in a fraction of its time: of the kept items, from signs; of the
    same rows, in their order. Returns RATED."""
    records, table, items = list[dict[str, object]](), view.table, view.item_places
    for evaluator, test in product(view.evaluators, (each for each in tests if each.shown)):
        which, places = table.place(evaluator), table.places(test.probes)
        signs = picked(table.signs[which], places, items)
        asked = picked(table.stored[which], places, items) & (picked(table.baselines[which], places, items) >= 0)
        for mask in _looked(view, evaluator, test.probes, known=known, key=test.key, level=test.level, items=items):
            asked &= mask
        signs[~asked] = NO_SIGN
        for corpus, own in corpora(table):
            here = own[items]
            if asked[:, here].any():
                found = rates_of_signs(signs[:, here], sources=table.sources_of(items[here]))
                row = named(evaluator, corpus, test) | {"n_items": found.n_items, "n": found.n}
                row |= percent("failure", found.failure) | percent("ties", found.ties)
                records.append(row | {"verdict": found.verdict})
    return pd.DataFrame(records, columns=list(RATED))


def picked_failure(view: View, evaluator: str, corpus: str, family: str, *, of: int) -> Interval:
    """Share of failures of the family that was named the worst of several after seeing them, at the adjusted level."""
    sides = dict(_sides(view, pairs(view, evaluator, families(view)[family])))[corpus]
    right, wrong = sides.scores
    both = ~np.isnan(right + wrong)
    groups = sides.items if sides.sources is None else sides.sources
    return share(wrong[both] >= right[both], groups=groups[both], level=adjusted_level(of))


def _looked(
    view: View, evaluator: str, probes: Sequence[str], *, known: bool, key: str, level: str, items: Items = EVERY
) -> Iterator[np.ndarray]:
    """What each choice but that of items leaves of some comparisons, bool [k, n]; see :func:`pairs`."""
    table, names = view.table, tuple(probes)
    kept = view.where(evaluator, probes, items=items)
    if kept is not None:
        yield kept
    if known:
        yield verified(table, names)[:, items]
    if key:
        yield fact(table, key, names)[:, items] == level


def _conflict(verdict: str, p_holm: float, p: float) -> str:
    """A row that is in no family of tests is held to its own p-value."""
    corrected = not math.isnan(p_holm)
    held = p_holm if corrected else p
    if verdict in (RIGHT, WRONG) and held >= ALPHA:
        of = "corrected test" if corrected else "test"
        return f"the share tells the sides apart, the {of} of the means does not"
    if verdict == OPEN and held < ALPHA:
        return "the test finds that the means differ, the share does not show it"
    return ""


def _compared(
    view: View, evaluator: str, test: Capability, *, known: bool, drops: bool
) -> Iterator[tuple[str, dict[str, object]]]:
    """Each corpus with the columns of the test's row there; those of a test that is not shown are its p-value's."""
    table = view.table
    found = pairs(view, evaluator, test.probes, known=known, key=test.key, level=test.level)
    for corpus, sides in _sides(view, found):
        if not test.shown:
            alone = paired_items(*sides.scores, items=sides.items, sources=sides.sources)
            yield corpus, {"test": alone.name, "p": alone.p}
            continue
        span = _span(view, evaluator, test, found, sides.own, known=known)
        made = compare(*sides.scores, items=sides.items, sources=sides.sources, span=span, drops=drops)
        yield corpus, _record(made, len(sides.items) - made.n, table.silent(evaluator, corpus))


@dataclass(frozen=True, slots=True)
class _Sides:
    scores: tuple[np.ndarray, np.ndarray]  # of the right sides and of the wrong ones, float64 [n] each
    items: np.ndarray  # number of each comparison's item, int [n]
    sources: np.ndarray | None  # likewise; None where no two items share one
    own: np.ndarray  # items of the corpus that the view keeps, bool [N]


def _sides(view: View, found: Pairs) -> Iterator[tuple[str, _Sides]]:
    """Each corpus that has a comparison of a test, with both sides of those."""
    for corpus, own in corpora(view.table):
        own = own & view.items
        asked = found.asked[:, own]
        if asked.any():
            items = np.broadcast_to(np.flatnonzero(own), asked.shape)[asked]
            scores = found.right[:, own][asked], found.wrong[:, own][asked]
            yield corpus, _Sides(scores, items, view.table.sources_of(items), own)


def _span(
    view: View, evaluator: str, test: Capability, found: Pairs, own: np.ndarray, *, known: bool
) -> tuple[float, float] | None:
    """Ends of the scores of both sides of a test's whole family, which scaled numbers are scaled by."""
    probes, part = families(view).get(test.family), known or test.key
    alone = probes is None or (probes == test.probes and not part)
    whole = found if probes is None or alone else pairs(view, evaluator, probes)
    both = ~(np.isnan(whole.right) | np.isnan(whole.wrong))[:, own]
    scores = np.concatenate([whole.right[:, own][both], whole.wrong[:, own][both]])
    return (float(scores.min()), float(scores.max())) if len(scores) else None


def _record(found: Comparison, missing: int, silent: str) -> dict[str, object]:
    row = {name: getattr(found, name) for name in COLUMNS if hasattr(found, name)}
    for name in ("failure", "ties", "near", "beaten", "detection"):
        row |= percent(name, getattr(found, name))
    row |= ends(found.drop, bounds("drop")) | ends(found.median_drop, IN_PERCENT)
    row |= {"correct": margin(found.correct, NO_SUCCESS), "n_correct": found.correct.n}
    row |= {"incorrect": margin(found.incorrect, NO_FAILURE), "n_incorrect": found.incorrect.n}
    row |= {"test": found.test.name, "p": found.test.p, "detectable": 100 * found.detectable, "n_missing": missing}
    absent = f"no score for {missing} of {counted(found.n + missing, 'comparison')}" if missing else ""
    said = found.median_drop.note
    median = f"median % change: {said}" if said not in ("", found.drop.note) else ""
    return row | {"note": remarks(silent, absent, found.drop.note, median)}


def margin(side: Side, none: str) -> str:
    """A margin with its n as a cell shows it, or the word that says that there is none.

    Example:
        >>> margin(Side(0.125, 8), NO_FAILURE)
        '0.125 (n 8)'
    """
    return f"{side.mean:.3f} (n {side.n})" if side.n else none


def percent(name: str, found: Interval) -> dict[str, float]:
    """A share as columns of a table, in percent: name, name_low, name_high."""
    return ends(found, bounds(name), times=100)


# What could not be made: comparisons that a probe refused for an item's caption, with the reasons. A run keeps what it
# refused by item and edit, not by caption.


REFUSALS_COLUMNS = ("corpus", "family", "n_refused", "refused")
NOT_EDITED, NOT_READ = "language-not-edited", "language-not-read"
MOST = 3  # Reasons that are named, the most frequent first


def refusals(view: View) -> pd.DataFrame:
    """How many comparisons of every directional family were refused, and why, a row a corpus and family: n_refused
    counts those of the items in view, whoever scores; refused names the most frequent reasons with their n. One that
    was refused for several reasons counts in each."""
    table = view.table
    records = [
        (corpus, family, *_counted(reasons_of(table, probes), own & view.items))
        for (family, probes), (corpus, own) in product(families(view).items(), corpora(table))
    ]
    return pd.DataFrame(records, columns=list(REFUSALS_COLUMNS))


def _counted(reasons: Mapping[str, np.ndarray], items: np.ndarray) -> tuple[int, str]:
    if not reasons:
        return 0, ""
    counts = {code: int(there[:, items].sum()) for code, there in reasons.items()}
    named = sorted((code for code, n in counts.items() if n), key=lambda code: (-counts[code], code))
    told = [f"{code} {counts[code]}" for code in named[:MOST]]
    others = f"and {len(named) - MOST} more" if len(named) > MOST else ""
    whole = np.logical_or.reduce([there[:, items] for there in reasons.values()])
    return int(whole.sum()), ", ".join(filter(None, (*told, others)))


@once
def reasons_of(table: ScoreTable, probes: tuple[str, ...]) -> Mapping[str, np.ndarray]:
    """Reason -> which comparisons of some probes were refused for it, bool [k, N]."""
    rows = table.about.get("refused")
    if rows is None or rows.empty:
        return {}
    rows = rows[rows["probe"].isin(probes)]
    names, named = (pd.MultiIndex.from_frame(each[["corpus", "item"]].astype(str)) for each in (table.items, rows))
    items = names.get_indexer(named)
    which = pd.Index(probes).get_indexer(pd.Index(rows["probe"].astype(object)))
    absent, found = ~stored(table, probes), dict[str, np.ndarray]()
    for code in sorted(set(rows["code"])):
        here = (items >= 0) & (rows["code"] == code).to_numpy()
        mask = np.zeros(absent.shape, dtype=bool)
        mask[which[here], items[here]] = True
        found[code] = mask & absent
    # without what must be of a caption in another language: every edit is made, and read by some, in English
    own = {code: mask for code, mask in found.items() if code not in (NOT_EDITED, NOT_READ)}
    if table.scope.language == ENGLISH:
        return own
    if NOT_EDITED in found:
        own = {code: mask & ~found[NOT_EDITED] for code, mask in own.items()} | {NOT_EDITED: found[NOT_EDITED]}
    if NOT_READ in found:
        own[NOT_READ] = found[NOT_READ] & ~np.logical_or.reduce([*own.values(), np.zeros_like(found[NOT_READ])])
    return own

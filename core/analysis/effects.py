"""Effects: how far some probes move a score, with interval, test, effect sizes and what may be claimed.

This is the only way from the table of scores to a median, an interval, a p-value or a claim about a shift. An item
counts once, by the median over the probes of a group. The unit of bootstrap and test is the item, or the source where
items share theirs.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Protocol, TypeVar

import numpy as np
import pandas as pd

from core.analysis.slices import CHOSEN_BY
from core.analysis.table import BASELINE, ScoreTable, View
from core.analysis.verdicts import (
    EXCLUDES,
    MARGIN,
    NOT_ASKED,
    SHOWS_A_WAY,
    UNDECIDED,
    agreed,
    direction,
    drift,
    scatter,
    untold,
)
from core.errors import InvalidInput
from core.probes.base import BASE_CAPTION
from core.statistics.bootstrap import Interval, median_bca, median_bca_levels
from core.statistics.changes import Changes, exceeds, mean_changes, movers
from core.statistics.power import among, reach
from core.statistics.shares import share, share_of_sums
from core.statistics.shift_tests import PairedTest, cliffs_delta, holm_of_tests, paired_test
from core.statistics.wording import counted

MOST_KEPT = 8192
"""Effects that are kept with a table, 2 kB each."""

ALL = "all"
"""Stands in the corpus column where the items of every corpus are taken together, on purpose."""

MEASURES: Mapping[str, str] = {
    "percent": "%Δ, the change in percent of the baseline score",
    "standardised": "Δ in standard deviations of the evaluator's clean scores",
    "delta": "Δ on the evaluator's own scale",
}
"""Measure of a shift -> what it is."""

COLUMNS: Mapping[str, tuple[str, str, str]] = {
    "percent": ("median_percent", "low", "high"),
    "standardised": ("standardised", "standardised_low", "standardised_high"),
    "delta": ("median_delta", "delta_low", "delta_high"),
}
"""Measure -> the columns of its median and of its interval's ends."""


class InCorrection(Protocol):
    """What may be a row of a table, or only count in the correction of others; see :class:`Group`."""

    @property
    def tests(self) -> str: ...  # noqa: D102

    @property
    def shown(self) -> bool: ...  # noqa: D102


R = TypeVar("R", bound=InCorrection)


@dataclass(frozen=True, slots=True)
class Group:
    """Probes whose shifts make one row of a table.

    Args:
        label: of the row.
        probes: names; an item counts the median over them.
        against: what they are compared with: BASELINE, or the name of a probe, whose scores stand in its place.
        tests: name of the family of tests that the row's p-value is corrected in, beside evaluator and corpus; empty
            for a row that is a control or otherwise outside the question: its p-value is not corrected.
        shown: False for a row that only counts in Holm's correction: a reader chose other ones.
    """

    label: str
    probes: tuple[str, ...]
    against: str = BASELINE
    tests: str = "all rows"
    shown: bool = True


@dataclass(frozen=True, slots=True)
class Effect:
    """What one group of probes does to one evaluator over some items.

    Args:
        median_percent: median over items of an item's median %Δ, with its 95 % BCa interval low to high.
        median_abs_percent: the same of |%Δ|.
        beyond: edits in percent whose |%Δ| is above the margin, with its 95 % interval beyond_low to beyond_high, the
            edits of one source together; see :func:`core.statistics.shares.share_of_sums`.
        items_beyond: items whose median |%Δ| over their edits is, likewise: not to be compared between families of
            different numbers of edits.
        still, falls: items that stand still, and of those that move those that fall, in percent; see
            :func:`core.statistics.changes.movers`.
        mean_percent: change of the mean score in percent; see :func:`core.statistics.changes.mean_changes`.
        median_delta: the same of Δ, on the score's own scale.
        standardised: median Δ in standard deviations of the evaluator's clean scores.
        cliffs_delta: Pr[edited > unedited] - Pr[edited < unedited] over all pairs of items.
        test, p, test_note: two-sided paired test of the scores before and after, of items or of the sources they share.
        drift: which way scores go; see :func:`core.analysis.verdicts.drift`. Where %Δ is withheld, by the median Δ, the
            movers and the mean Δ, without a margin.
        scatter: what the median |%Δ| allows to claim; see :func:`core.analysis.verdicts.scatter`.
        detectable: smallest drift of the median, in percent, that this n and spread show in four of five such
            runs; in a table, as one of its m tests (:func:`core.statistics.power.among`).
        needed: items with which a drift of 0 would be shown to lie within the margin with 80 % power.
        n_items: items with a %Δ.
        n_scored: items with a Δ: those that are tested.
        n_shifts, n_zero_baseline, n_missing: see :class:`core.analysis.table.Changes`, summed.
        note: why a number or an interval is missing or degenerate.
    """

    median_percent: float
    low: float
    high: float
    median_abs_percent: float
    abs_low: float
    abs_high: float
    beyond: float
    beyond_low: float
    beyond_high: float
    items_beyond: float
    items_beyond_low: float
    items_beyond_high: float
    still: float
    falls: float
    falls_low: float
    falls_high: float
    mean_percent: float
    mean_low: float
    mean_high: float
    median_delta: float
    delta_low: float
    delta_high: float
    standardised: float
    standardised_low: float
    standardised_high: float
    cliffs_delta: float
    test: str
    p: float
    test_note: str
    drift: str
    scatter: str
    detectable: float
    needed: float
    n_items: int
    n_scored: int
    n_shifts: int
    n_zero_baseline: int
    n_missing: int
    note: str


_EFFECT = tuple(each.name for each in fields(Effect))


def effect(
    changes: Changes, keep: np.ndarray, *, spread: float, sources: np.ndarray | None = None, margin: float = MARGIN
) -> Effect | None:
    """Summarise the changes of some items.

    Args:
        changes: of every item.
        keep: which items, bool [N].
        spread: standard deviation of the evaluator's clean scores.
        sources: number of each item's source, int [N]; None: every item is one of its own.
        margin: equivalence margin in percent.

    Returns:
        None where no row is stored for these items.
    """
    n_shifts, n_zero, n_missing = (
        int(each[keep].sum()) for each in (changes.n_shifts, changes.n_zero_baseline, changes.n_missing)
    )
    if not n_shifts + n_zero + n_missing:
        return None
    groups = None if sources is None else sources[keep]
    before, after = _scored(changes, keep)
    negative, withheld = int((before < 0).sum()), bool(changes.withheld[keep].any())
    percent, sizes = (_known(changes, each, keep) for each in (changes.percent, changes.size))
    beyond = _edits_beyond(changes, keep, groups, margin=margin)
    items_beyond = share(np.where(np.isnan(sizes), math.nan, exceeds(sizes, margin)), groups=groups)
    unit = spread if spread > 0 else math.nan
    delta, whole = changes.delta[keep], changes.baseline[keep]
    still, falls = movers(delta, whole, groups=groups)
    on = np.where(np.isnan(delta), math.nan, unit) if withheld else whole
    means = mean_changes(delta, on, levels=(0.95, 0.90), groups=groups)
    moved, narrow = median_bca_levels(percent, levels=(0.95, 0.90), groups=groups)
    size, shift = median_bca(sizes, groups=groups), median_bca(changes.delta[keep], groups=groups)
    test, power = _tested(changes, keep, sources), reach(moved, margin=margin)
    if withheld:
        claim = drift(shift, NOT_ASKED, falls=falls, means=(means[0], NOT_ASKED))
    else:
        claim = drift(moved, narrow, margin=margin, falls=falls, means=(means[0], means[1]))
    notes = (
        _missing_said(n_missing, n_shifts + n_zero + n_missing),
        _negative_said(negative, len(before)) if withheld else _zero_said(n_zero, n_shifts + n_zero),
        _withheld_said(shift, unit, claim) if withheld else moved.note,
    )
    return Effect(
        moved.estimate,
        moved.low,
        moved.high,
        size.estimate,
        size.low,
        size.high,
        100 * beyond.estimate,
        100 * beyond.low,
        100 * beyond.high,
        100 * items_beyond.estimate,
        100 * items_beyond.low,
        100 * items_beyond.high,
        100 * still,
        100 * falls.estimate,
        100 * falls.low,
        100 * falls.high,
        *((math.nan,) * 3 if withheld else (means[0].estimate, means[0].low, means[0].high)),
        shift.estimate,
        shift.low,
        shift.high,
        shift.estimate / unit,
        shift.low / unit,
        shift.high / unit,
        cliffs_delta(after, before),
        test.name,
        test.p,
        test.note,
        claim,
        UNDECIDED if withheld else scatter(size, beyond, margin=margin),
        power.detectable,
        power.needed,
        len(before) if withheld else moved.n,
        len(before),
        n_shifts,
        n_zero,
        n_missing,
        "; ".join(filter(None, notes)),
    )


def known_sizes(changes: Changes, keep: np.ndarray) -> np.ndarray:
    """|%Δ| of some items, float64 [n], as :func:`effect` counts them: none is given where a baseline is negative.

    Args:
        changes: of every item.
        keep: which items, bool [N].
    """
    return _known(changes, changes.size, keep)


def _scored(changes: Changes, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores before and after, of the items that have both."""
    scored = keep & ~np.isnan(changes.delta)
    before = changes.baseline[scored]
    return before, before + changes.delta[scored]


def _tested(changes: Changes, keep: np.ndarray, sources: np.ndarray | None) -> PairedTest:
    scored = keep & ~np.isnan(changes.delta)
    return paired_test(*_scored(changes, keep), groups=None if sources is None else sources[scored])


def _known(changes: Changes, percent: np.ndarray, keep: np.ndarray) -> np.ndarray:
    """Changes in percent of some items; none where those of one of their corpora are withheld."""
    return np.full(int(keep.sum()), math.nan) if changes.withheld[keep].any() else percent[keep]


def _edits_beyond(changes: Changes, keep: np.ndarray, groups: np.ndarray | None, *, margin: float) -> Interval:
    """Share of the edits of some items whose |%Δ| is above the margin; the edits of one source, or item, together."""
    if changes.withheld[keep].any():
        return NOT_ASKED
    over, counts = exceeds(changes.edits[:, keep], margin).sum(axis=0), changes.n_shifts[keep]
    if groups is not None:
        ranks = np.unique(groups, return_inverse=True)[1]
        over, counts = np.bincount(ranks, over), np.bincount(ranks, counts)
    return share_of_sums(over[counts > 0], counts[counts > 0])


def _withheld_said(shift: Interval, unit: float, claim: str) -> str:
    """Beside a withheld %Δ: what of drift and scatter is open, and what these items would have shown."""
    said = "no scatter is told: its margin is one of %Δ"
    if claim != UNDECIDED:
        return said
    own = replace(shift, estimate=shift.estimate / unit, low=shift.low / unit, high=shift.high / unit)
    power = untold(own, unit="SD of the clean scores", digits=2)
    return f"{said}; drift on the score's own scale: {power}" if power else said


def _zero_said(zero: int, scored: int) -> str:
    return f"baseline 0 in {zero} of {counted(scored, 'shift')}" if zero else ""


def _missing_said(missing: int, stored: int) -> str:
    return f"no score for {missing} of {counted(stored, 'shift')}" if missing else ""


def _negative_said(negative: int, items: int) -> str:
    if not negative:
        return "%Δ withheld: other baselines of this evaluator are negative"
    return f"%Δ withheld: the baseline is negative in {negative} of {counted(items, 'item')}"


def effects(
    view: View,
    groups: Sequence[Group],
    *,
    level: str | None = None,
    pooled: bool = False,
    keep: np.ndarray | None = None,
    margin: float = MARGIN,
) -> pd.DataFrame:
    """Effect of every group under every evaluator in every corpus.

    Args:
        view: of the table of scores.
        groups: a row each; one without a probe here is left out, and so is one that is not shown.
        level: column of the items (``category``, ``coverage_bin``) whose values make rows of their own.
        pooled: add rows over the items of all corpora together, where there are several.
        keep: items to keep beside what the view says, bool [N].
        margin: equivalence margin in percent.

    Returns:
        Columns evaluator, corpus, label, tests (the family of Holm's correction), level where asked for, those of
        :class:`Effect`, p_holm (NaN outside a family of tests), m_tests (tests in the family), conflict (where
        intervals and test do not say the same) and direction (which numbers show a drift, in words). Rows without a
        stored score are left out.

    Raises:
        InvalidInput: if the margin is not positive.
    """
    if not margin > 0:
        raise InvalidInput(f"the margin must be a positive percentage, got {margin!r}")
    of = CHOSEN_BY.get(level or "")
    every = view.whole(of) if of else view  # a level that a reader left out is a test all the same
    items = every.items if keep is None else every.items & keep
    records: list[dict[str, object]] = []
    for evaluator, group in product(view.evaluators, entering([each for each in groups if each.probes])):
        for corpus, own in corpora(view.table, pooled=pooled):
            for cell, chosen in _levels(view.table, level, own & items):
                shown = group.shown and bool((chosen & view.items).any())
                found = _found(view, evaluator, group, corpus, chosen, margin=margin, whole=shown)
                if found is not None:
                    records.append(
                        {
                            "evaluator": evaluator,
                            "corpus": corpus,
                            "label": group.label,
                            "tests": group.tests,
                            "shown": shown,
                            **cell,
                            **found,
                        }
                    )
    names = ["evaluator", "corpus", "label", "tests", *([level] if level else []), *_EFFECT]
    return corrected(pd.DataFrame(records, columns=[*names, "shown"]))


def entering(rows: Sequence[R]) -> list[R]:
    """Of what may be a row of a table, what is shown, and what only counts in the correction of a row that is."""
    asked = {each.tests for each in rows if each.shown}
    return [each for each in rows if each.shown or (each.tests and each.tests in asked)]


def corrected(table: pd.DataFrame) -> pd.DataFrame:
    """Rows that are shown, corrected over these and the others; see :func:`with_holm`.

    Args:
        table: as there, and shown.
    """
    found = with_holm(table)
    return found[found["shown"].astype(bool)].drop(columns="shown").reset_index(drop=True)


def _found(
    view: View, evaluator: str, group: Group, corpus: str, chosen: np.ndarray, *, margin: float, whole: bool
) -> Mapping[str, object] | None:
    """Columns of one row; those of its test alone where it is not shown and only counts in Holm's correction."""
    table = view.table

    def work() -> Mapping[str, object] | None:
        changes = view.changes(evaluator, group.probes, against=group.against)
        if not whole:
            found = _tested(changes, chosen, table.sources)
            return {"test": found.name, "p": found.p, "drift": ""}
        spread = table.spread(evaluator, corpus) if corpus != ALL else math.nan
        made = effect(changes, chosen, spread=spread, sources=table.sources, margin=margin)
        if made is not None and corpus != ALL and (said := table.silent(evaluator, corpus)):
            made = replace(made, drift=said, scatter=said)
        return None if made is None else {name: getattr(made, name) for name in _EFFECT}

    key = (evaluator, group.probes, group.against, corpus, margin, whole, view.looked, np.packbits(chosen).tobytes())
    return table.kept.get("effects", key, work, most=MOST_KEPT)


def with_holm(table: pd.DataFrame, *, by: Sequence[str] = ("evaluator", "corpus", "tests")) -> pd.DataFrame:
    """Add p_holm and m_tests: Holm's correction within each evaluator, corpus and family of tests.

    A row outside the question (an empty ``tests``) and a row without a test are neither corrected nor counted, so
    that another evaluator, a control or a filter by evaluator changes no p-value. A drift that its test does not bear
    out, a control's by its own p-value, becomes undecided, and ``conflict`` says so; see
    :func:`core.analysis.verdicts.agreed`.
    """
    adjusted, sizes = np.full(len(table), math.nan), np.zeros(len(table), dtype=np.int64)
    asked = np.flatnonzero(table["tests"] != "")
    values, tests = table["p"].to_numpy(dtype=np.float64), table["test"].to_numpy(dtype=object)
    for own in table.iloc[asked].groupby(list(by), sort=False).indices.values():
        rows = asked[own]
        adjusted[rows], sizes[rows] = holm_of_tests(values[rows], tests[rows])
    table = table.assign(p_holm=adjusted, m_tests=sizes, conflict="")
    if "drift" not in table:
        return table
    if "detectable" in table:
        table = table.assign(detectable=table["detectable"] * [among(int(m)) for m in table["m_tests"]])
    told = ~((table["low"] > 0) | (table["high"] < 0)) if "falls" in table else np.zeros(len(table), dtype=bool)
    held = [
        agreed(claim, *of_test, shown=SHOWS_A_WAY if aside else EXCLUDES)
        for claim, *of_test, aside in zip(table["drift"], table["p_holm"], table["p"], told, strict=True)
    ]
    table = table.assign(drift=[each.drift for each in held], conflict=[each.conflict for each in held])
    return table.assign(direction=[direction(row) for row in table.to_dict("records")]) if "falls" in table else table


def measured(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Effects with the columns value, low and high of one measure.

    Raises:
        InvalidInput: if the measure is unknown.
    """
    if measure not in COLUMNS:
        raise InvalidInput(f"a change is measured as one of {', '.join(MEASURES)}, got {measure!r}")
    value, low, high = COLUMNS[measure]
    return table.assign(value=table[value], low=table[low], high=table[high])


def corpora(table: ScoreTable, *, pooled: bool = False) -> Iterator[tuple[str, np.ndarray]]:
    """Every corpus with its items, bool [N]; with ``pooled``, all of them together where there are several."""
    for name in table.corpora:
        yield name, table.of_corpus(name)
    if pooled and len(table.corpora) > 1:
        yield ALL, np.ones(len(table.items), dtype=bool)


def _levels(table: ScoreTable, level: str | None, items: np.ndarray) -> Iterator[tuple[dict[str, str], np.ndarray]]:
    if level is None:
        yield {}, items
        return
    column = table.items[level]
    for name in sorted(map(str, column[items].dropna().unique())):
        yield {level: name}, items & (column == name).to_numpy()


def family_groups(view: View, *, axis: str | None = None, controls: bool = True) -> list[Group]:
    """A group a family; its family of tests is its axis, controls outside. One that the view leaves out is not shown.

    The bare template caption is no family here: it is the caption that the others are made of.

    Args:
        view: whose probes.
        axis: of this axis only.
        controls: keep the families that hold nothing but controls (blur, null).
    """
    table, kept = view.table, view.families(axis=axis)
    return [
        Group(
            name,
            kept.get(name, probes),
            tests="" if table.is_control(name) else table.axis_of(name),
            shown=name in kept,
        )
        for name, probes in view.whole().families(axis=axis).items()
        if name != BASE_CAPTION
        and (name in kept or not table.is_control(name))
        and (controls or not table.is_control(name))
    ]


def probe_groups(view: View, family: str) -> list[Group]:
    """A group a probe of one family; the family is the family of tests, controls outside; see :func:`family_groups`."""
    table = view.table
    kept = view.families(controls=True).get(family, ())
    found = view.whole().families(controls=True).get(family, ())
    outside = table.is_control(family)
    tests = {name: "" if outside or table.probes.loc[name, "control"] else family for name in found}
    return [Group(name, (name,), tests=of, shown=name in kept) for name, of in tests.items() if of or name in kept]


def modifier_groups(view: View, family: str, *, controls: bool = False, bare: bool = False) -> list[Group]:
    """A group a word of one family; controls, where they are kept, stand outside the family of tests. A word that the
    view leaves out is not shown.

    A word that several probes put in (as it was written, and swapped in), and a probe without one, go by the name of
    the probe.

    Args:
        view: whose probes.
        family: e.g. ``cultural``.
        controls: keep the neutral words, whose own baseline is the bare caption.
        bare: compare every word with the bare caption instead of the neutral one closest in length.
    """
    rows, kept = view.table.probes, view.families(controls=True).get(family, ())
    found = [
        name
        for name in view.whole().families(controls=True).get(family, ())
        if (controls and name in kept) or not rows.loc[name, "control"]
    ]
    said = rows.loc[found, "modifier"].fillna("").astype(str).tolist()
    return [
        Group(
            word if word and said.count(word) == 1 else name.removeprefix(f"{family}:"),
            (name,),
            BASE_CAPTION if bare else BASELINE,
            "" if rows.loc[name, "control"] else family,
            name in kept,
        )
        for name, word in zip(found, said, strict=True)
        if any(said)
    ]


def median_over(values: np.ndarray, keep: np.ndarray, sources: np.ndarray | None) -> Interval:
    """Median of some items' values with its 95 % interval; items of one source are resampled together.

    Args:
        values: of every item, float64 [N].
        keep: which items, bool [N].
        sources: see :attr:`core.analysis.table.ScoreTable.sources`.
    """
    return median_bca(values[keep], groups=None if sources is None else sources[keep])


def words(interval: Interval) -> dict[str, object]:
    """An interval as columns of a table: value, low, high, n_items, note."""
    return {
        "value": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "n_items": interval.n,
        "note": interval.note,
    }

"""Effects: how far some probes move a score, with interval, test, effect sizes and what may be claimed.

This is the only way from the table of scores to a median, an interval, a p-value or a claim about a shift. An item
counts once, by the median over the probes of a group. The unit of bootstrap and test is the item, or the source where
items share theirs.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Protocol, TypeVar

import numpy as np
import pandas as pd

from core.analysis.effect_of_items import NUMBERS, effect, tested
from core.analysis.slices import CHOSEN_BY
from core.analysis.table import BASELINE, ScoreTable, View
from core.analysis.verdicts import EXCLUDES, MARGIN, SHOWS_A_WAY, agreed, direction
from core.errors import InvalidInput
from core.probes.base import BASE_CAPTION
from core.statistics.bootstrap import Interval, adjusted_level, median_bca, no_point
from core.statistics.power import among
from core.statistics.shift_tests import NO_TEST, holm_of_tests, paired_test

MOST_KEPT = 8192  # Effects that are kept with a table, 2 kB each
ALL = "all"  # Stands in the corpus column where the items of every corpus are taken together, on purpose

MEASURES: Mapping[str, str] = {
    "percent": "% change, in percent of the baseline score",
    "standardised": "Δ in standard deviations of the evaluator's unedited scores",
    "delta": "Δ on the evaluator's own scale",
}
"""Measure of a shift -> what it is."""

Names = tuple[str, str, str]  # Columns of a value and of its interval's ends
CELL = ("evaluator", "corpus")  # What nearly every row is of, in its first columns

PLAIN: Names = ("value", "low", "high")

COLUMNS: Mapping[str, Names] = {
    "percent": ("median_percent", "low", "high"),
    "standardised": ("standardised", "standardised_low", "standardised_high"),
    "delta": ("median_delta", "delta_low", "delta_high"),
}
"""Measure -> the columns of its median and of its interval's ends."""

IN_PERCENT = COLUMNS["percent"]


class InCorrection(Protocol):
    """What may be a row of a table, or only count in the correction of others; see :class:`Group`."""

    @property
    def tests(self) -> str: ...  # noqa: D102

    @property
    def shown(self) -> bool: ...  # noqa: D102


R = TypeVar("R", bound=InCorrection)


@dataclass(frozen=True, slots=True)
class Group:
    """Probes whose shifts make one row of a table."""

    label: str  # of the row
    probes: tuple[str, ...]  # names; an item counts the median over them
    # what they are compared with: BASELINE, or the name of a probe, whose scores stand in its place
    against: str = BASELINE
    # name of the family of tests that the row's p-value is corrected in, beside evaluator and corpus; empty for a row
    # that is a control or otherwise outside the question: its p-value is not corrected
    tests: str = "all rows"
    shown: bool = True  # False for a row that only counts in Holm's correction: a reader chose other ones


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
                    row = {"evaluator": evaluator, "corpus": corpus, "label": group.label, "tests": group.tests}
                    records.append({**row, "shown": shown, **cell, **found})
    names = ["evaluator", "corpus", "label", "tests", *([level] if level else []), *NUMBERS]
    return corrected(pd.DataFrame(records, columns=[*names, "shown"]))


def entering(rows: Sequence[R]) -> list[R]:
    """Of what may be a row of a table, what is shown, and what only counts in the correction of a row that is."""
    asked = {each.tests for each in rows if each.shown}
    return [each for each in rows if each.shown or (each.tests and each.tests in asked)]


def corrected(table: pd.DataFrame) -> pd.DataFrame:
    """Rows that are shown, corrected over these and the others; see :func:`with_holm`."""
    found = with_holm(table)
    kept = found[found["shown"].astype(bool)].drop(columns="shown").reset_index(drop=True)
    # a row that is not shown lacks the counts: beside it those of the others are no whole numbers
    counts = [
        name for name in map(str, kept.columns) if (name == "n" or name.startswith("n_")) and kept[name].notna().all()
    ]
    return kept.astype(dict.fromkeys(counts, int)) if len(kept) else kept


def _found(
    view: View,
    evaluator: str,
    group: Group,
    corpus: str,
    chosen: np.ndarray,
    *,
    margin: float,
    whole: bool,
    level: float = 0.95,
) -> Mapping[str, object] | None:
    """Columns of one row; those of its test alone where it is not shown and only counts in Holm's correction."""
    table = view.table

    def work() -> Mapping[str, object] | None:
        changes = view.changes(evaluator, group.probes, against=group.against)
        if not whole:
            found = tested(changes, chosen, table.sources)
            return {"test": found.name, "p": found.p, "drift": ""}
        spread = table.spread(evaluator, corpus) if corpus != ALL else math.nan
        made = effect(changes, chosen, spread=spread, sources=table.sources, margin=margin, level=level)
        if made is not None and corpus != ALL and (said := table.silent(evaluator, corpus)):
            none = {name: math.nan for name in NUMBERS if name.endswith(("low", "high"))}
            made = replace(made, drift=said, scatter=said, test=NO_TEST, p=math.nan, **none)  # type: ignore[arg-type]
        return None if made is None else {name: getattr(made, name) for name in NUMBERS}

    held = np.packbits(chosen).tobytes()
    key = (evaluator, group.probes, group.against, corpus, margin, whole, level, view.looked, held)
    return table.kept.get("effects", key, work, most=MOST_KEPT)


def with_holm(table: pd.DataFrame, *, by: Sequence[str] = ("evaluator", "corpus", "tests")) -> pd.DataFrame:
    """Add p_holm and m_tests: Holm's correction within each evaluator, corpus and family of tests. A row outside the
    question (an empty ``tests``) and one without a test are neither corrected nor counted, so that another evaluator, a
    control or a filter by evaluator changes no p-value. Drifts are :func:`held_to_tests`."""
    adjusted, sizes = np.full(len(table), math.nan), np.zeros(len(table), dtype=np.int64)
    asked = np.flatnonzero(table["tests"] != "")
    values, tests = table["p"].to_numpy(dtype=np.float64), table["test"].to_numpy(dtype=object)
    for own in table.iloc[asked].groupby(list(by), sort=False).indices.values():
        rows = asked[own]
        adjusted[rows], sizes[rows] = holm_of_tests(values[rows], tests[rows])
    table = table.assign(p_holm=adjusted, m_tests=sizes, conflict="")
    return held_to_tests(table) if "drift" in table else table


def held_to_tests(table: pd.DataFrame) -> pd.DataFrame:
    """Rows with what their p_holm leaves of their drifts: one that its test does not bear out, a control's by its own
    p-value, becomes undecided, and ``conflict`` says so (:func:`core.analysis.verdicts.agreed`). Power is at the level
    of the family's m_tests, and ``direction`` says which numbers show a drift."""
    if "detectable" in table:
        table = table.assign(detectable=table["detectable"] * [among(int(m)) for m in table["m_tests"]])
    told = ~((table["low"] > 0) | (table["high"] < 0)) if "falls" in table else np.zeros(len(table), dtype=bool)
    held = [
        agreed(claim, *of_test, shown=SHOWS_A_WAY if aside else EXCLUDES)
        for claim, *of_test, aside in zip(table["drift"], table["p_holm"], table["p"], told, strict=True)
    ]
    table = table.assign(drift=[each.drift for each in held], conflict=[each.conflict for each in held])
    return table.assign(direction=[direction(row) for row in table.to_dict("records")]) if "falls" in table else table


def named_worst(view: View, rows: pd.DataFrame, *, margin: float = MARGIN) -> pd.DataFrame:
    """Rows of families that are named worst, every interval and claim at the level that allows for the picking;
    ``rows``: of :func:`effects`, a family each, with the columns family and ``n_families``: k, of how many it is named.
    The largest of k estimates is too large more often than one chosen before is: at level 1 - α/k its intervals hold
    what they name as often as is said, as those of the worst slices do."""
    found, named = [], rows[["evaluator", "corpus", "family", "n_families"]]
    for evaluator, corpus, family, k in named.itertuples(index=False, name=None):
        group, items = Group(family, view.families()[family]), view.items & view.table.of_corpus(corpus)
        of = (view, evaluator, group, corpus, items)
        found.append(_found(*of, margin=margin, whole=True, level=adjusted_level(int(k))) or {})
    numbers = pd.DataFrame(found, index=rows.index, columns=list(NUMBERS))
    return held_to_tests(rows.assign(**{name: numbers[name] for name in NUMBERS}, conflict=""))


def measured(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Effects with the columns value, low and high of one measure. Raises InvalidInput if the measure is unknown."""
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
    """A group a family; its family of tests is its axis, controls outside. One that the view leaves out is not shown;
    ``controls``: keep the families that hold nothing but controls (blur, null). The bare template caption is no family
    here: it is the caption that the others are made of."""
    table, kept = view.table, view.families(axis=axis)
    aside = {name: table.is_control(name) for name in view.whole().families(axis=axis)}
    return [
        Group(name, kept.get(name, probes), BASELINE, "" if aside[name] else table.axis_of(name), name in kept)
        for name, probes in view.whole().families(axis=axis).items()
        if name != BASE_CAPTION and (not aside[name] or (controls and name in kept))
    ]


def probe_groups(view: View, family: str) -> list[Group]:
    """A group a probe of one family; the family is the family of tests, controls outside; see :func:`family_groups`."""
    table, kept = view.table, view.families(controls=True).get(family, ())
    found, outside = view.whole().families(controls=True).get(family, ()), table.is_control(family)
    tests = {name: "" if outside or table.probes.loc[name, "control"] else family for name in found}
    return [Group(name, (name,), tests=of, shown=name in kept) for name, of in tests.items() if of or name in kept]


def modifier_groups(view: View, family: str, *, controls: bool = False, bare: bool = False) -> list[Group]:
    """A group a word of one family; controls, where they are kept, stand outside the family of tests. A word that the
    view leaves out is not shown. A word that several probes put in (as it was written, and swapped in), and a probe
    without one, go by the name of the probe. ``family``: e.g. ``cultural``. ``controls``: keep the neutral words, whose
    own baseline is the bare caption. ``bare``: compare every word with the bare caption instead of the neutral one
    closest in length."""
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
    """Median of some items' values, float64 [N], with its 95 % interval; items of one source are resampled together
    (:attr:`core.analysis.table.ScoreTable.sources`); ``keep``: which items, bool [N]."""
    return no_point(median_bca(values[keep], groups=None if sources is None else sources[keep]))


def against_zero(table: ScoreTable, values: np.ndarray, items: np.ndarray, spread: float) -> dict[str, object]:
    """Median of some items' differences in units of a spread, raw as delta, and the paired test that it is 0."""
    found, unit = median_over(values, items, table.sources), spread if spread > 0 else math.nan
    test = paired_test(np.zeros(int(items.sum())), values[items], groups=table.sources_of(items))
    median = {"n_items": found.n, **ends(found, unit=unit), "delta": found.estimate}
    return {**median, "test": test.name, "p": test.p, "note": found.note}


def bounds(name: str) -> Names:
    """A column of its own name, and the columns of its interval's ends."""
    return name, f"{name}_low", f"{name}_high"


def ends(found: Interval, names: Names = PLAIN, *, times: float = 1.0, unit: float = 1.0) -> dict[str, float]:
    """A value and its interval as columns of a table, each multiplied and then divided."""
    return {name: each / unit for name, each in zip(names, found.numbers(times), strict=True)}


def words(interval: Interval) -> dict[str, object]:
    """An interval as columns of a table: value, low, high, n_items, note."""
    return {**ends(interval), "n_items": interval.n, "note": interval.note}

"""What an audit that is planned could show: the smallest drift of each family under each evaluator.

How far items scatter is known where a stored run has shifts of the same evaluator; that run is named. Where none
does, only the size in standard deviations of the items' own shifts can be said.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pandas as pd

from core.analysis.effects import effects, family_groups
from core.analysis.reading import read_table
from core.analysis.scope import Scope, holdings, open_probes
from core.analysis.verdicts import MARGIN, smallest
from core.errors import InvalidInput
from core.probes.base import BASE_CAPTION, Expectation, Probe
from core.statistics.power import rescaled, smallest_effect
from core.statistics.wording import counted
from core.store.store import Store

PRIOR = ("evaluator", "family", "run", "corpus", "subject", "n_items", "n_run", "detectable", "needed")


@dataclass(frozen=True, slots=True)
class Planned:
    """What some items could show."""

    n: int  # items of the audit, at most
    # one row an evaluator and family that a stored run knows the spread of: evaluator, family, n_items (expected, by
    # the share of items that the family could be made of in that run), detectable (smallest drift in percent), needed
    # (items of the audit that would place a drift of none within ±MARGIN), run, corpus, n_prior (items behind the
    # spread)
    table: pd.DataFrame
    unknown: Mapping[str, tuple[str, ...]]  # evaluator -> families that no stored run holds
    # smallest median shift, in standard deviations of the items' own shifts, of n items; for unknown
    standardised: float
    # evaluator -> families that a stored run has and whose interval has no width there, or that has none: by far most
    # items move alike, or they are too few
    still: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def sentences(self, *, called: Callable[[str], str] = str) -> tuple[str, ...]:
        """What a reader should know before an audit starts, each with its source."""
        told = (self._known(called), self._needed(called), self._flat(called), self._unknown(called))
        return tuple(filter(None, told))

    def _known(self, called: Callable[[str], str]) -> str:
        if self.table.empty:
            return ""
        ordered = self.table.sort_values("detectable")
        least, most = ordered.iloc[0], ordered.iloc[-1]
        runs = " and ".join(dict.fromkeys(self.table["run"]))
        alike = least["detectable"] == most["detectable"]
        said = " or ".join(
            f"{smallest(row['detectable'])} % ({case}{self._of(row, 'detectable', called)})"
            for row, case in ([(least, "")] if alike else [(least, "easiest: "), (most, "hardest: ")])
        )
        return (
            f"With {counted(self.n, 'item')} there is an 80 % chance to detect a median change of {said}, if scores "
            f"scatter as in run {runs}."
        )

    def _needed(self, called: Callable[[str], str]) -> str:
        ordered = self.table.dropna(subset=["needed"]).sort_values("needed")
        if ordered.empty:
            return ""
        least, most = ordered.iloc[0], ordered.iloc[-1]
        ends = [f"{counted(int(row['needed']), 'item')} ({self._of(row, 'needed', called)})" for row in (least, most)]
        said = ends[0] if least["needed"] == most["needed"] else f"from {ends[0]} to {ends[1]}"
        return (
            f"To say of a family that does not drift that it stays within ±{MARGIN:g} %, in four of five "
            f"such runs, takes {said}."
        )

    def _of(self, row: pd.Series, column: str, called: Callable[[str], str]) -> str:
        """Whose a number is, and how many more have the same."""
        same = int((self.table[column] == row[column]).sum()) - 1
        more = f" and {same} more alike" if same else ""
        return f"{called(row['family'])} under {row['evaluator']}{more}"

    def _flat(self, called: Callable[[str], str]) -> str:
        if not self.still:
            return ""
        named = ", ".join(f"{name} ({', '.join(map(called, families))})" for name, families in self.still.items())
        return (
            f"Smallest drift of {named}: cannot be estimated from earlier runs, whose items all move alike there, or "
            "too few of them are scored."
        )

    def _unknown(self, called: Callable[[str], str]) -> str:
        if not self.unknown:
            return ""
        every = {*self.table["evaluator"], *self.still}
        said = {name: f"{name} ({', '.join(map(called, families))})" for name, families in self.unknown.items()}
        named = ", ".join(told if name in every else name for name, told in said.items())
        return (
            f"No stored run knows the scatter of {named}: {counted(self.n, 'item')} find a median shift of "
            f"{self.standardised:.2f} standard deviations of the items' own shifts in four of five such runs "
            "(normal shifts, efficiency 2/π of a median), whatever that is in percent."
        )


def drifting(probes: Iterable[Probe]) -> tuple[str, ...]:
    """Families of some probes that a drift can be claimed of: invariant, and no control alone."""
    kept = (each for each in probes if each.expectation is Expectation.INVARIANT and not each.control)
    return tuple(dict.fromkeys(each.family for each in kept if each.family != BASE_CAPTION))


_PLACE = ["run", "corpus", "subject", "language", "rank", "evaluator"]


def prior(
    store: Store, *, evaluators: Sequence[str], families: Collection[str], corpus: str, subject: str = "template"
) -> pd.DataFrame:
    """What stored runs know of how far items scatter. Of the runs of an evaluator one counts: of the same corpus, then
    of the same subject, then the one that holds most of the families, then the one of most items. Returns columns
    PRIOR: n_items (with a % change) and n_run (of the run), detectable and needed, see
    :class:`core.statistics.power.Reach`, NaN where no spread is known; families and evaluators that no run knows are
    left out."""
    rows, probes = holdings(store), open_probes(store)
    knows = probes.assign(known=probes["family"].where(probes["family"].isin(families)))
    knows = knows.groupby(_PLACE, as_index=False).agg(knows=("known", "nunique"))
    chosen: dict[tuple[str, str, str, str], list[str]] = {}
    for name in dict.fromkeys(evaluators):
        own = rows[(rows["evaluator"] == name) & (rows["n_shifts"] > 0)]
        if len(own):
            own = own.assign(same=own["corpus"] == corpus, held=own["subject"] == subject)
            best = own.merge(knows, on=_PLACE).sort_values(["same", "held", "knows", "n_items", "run"]).iloc[-1]
            run, where, held, spoken = (str(best[each]) for each in ("run", "corpus", "subject", "language"))
            chosen.setdefault((run, where, held, spoken), []).append(name)
    frames = [_spreads(store, place, names, families) for place, names in chosen.items()]
    there = [frame for frame in frames if len(frame)]
    return pd.concat(there, ignore_index=True) if there else pd.DataFrame(columns=list(PRIOR))


def _spreads(
    store: Store, place: tuple[str, str, str, str], evaluators: Sequence[str], families: Collection[str]
) -> pd.DataFrame:
    run, corpus, subject, language = place
    try:
        table = read_table(store, Scope((run,), corpus, subject, language, tuple(evaluators)))
    except InvalidInput:  # what cannot be read knows nothing; the pages that show that run say why
        return pd.DataFrame(columns=list(PRIOR))
    view = table.view()
    groups = [each for each in family_groups(view, controls=False) if each.label in families]
    found = effects(view, groups).rename(columns={"label": "family"})
    return found.assign(run=run, subject=subject, n_run=len(table.items))[list(PRIOR)].reset_index(drop=True)


def planned(known: pd.DataFrame, *, evaluators: Sequence[str], families: Sequence[str], n: int) -> Planned:
    """What n items could show; ``known``: of :func:`prior`."""
    columns = ("n_items", "n_run", "detectable", "needed")
    measured, whole, smallest, needed = (known[name].to_numpy(dtype=float) for name in columns)
    items = [round(n * part / every) for part, every in zip(measured, whole, strict=True)]
    measured = np.maximum(measured, 1)  # of no item nothing is detectable anyway
    detectable = [
        rescaled(each, n=int(then), planned=now) for each, then, now in zip(smallest, measured, items, strict=True)
    ]
    table = known[["evaluator", "family"]].assign(
        n_items=items, detectable=detectable, needed=np.ceil(needed * whole / measured)
    )
    table = table.assign(run=known["run"], corpus=known["corpus"], n_prior=known["n_items"])
    table = table[table["detectable"].notna()].sort_values(["evaluator", "family"], ignore_index=True)
    there = set(zip(table["evaluator"], table["family"], strict=True))
    flat = set(zip(known["evaluator"], known["family"], strict=True)) - there
    lacks, still = (
        {name: found for name in evaluators if (found := tuple(each for each in families if (name, each) in some))}
        for some in ({*product(evaluators, families)} - there - flat, flat)
    )
    return Planned(n, table, lacks, smallest_effect(n), still)

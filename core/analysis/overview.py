"""What the first page says: a fairness card per evaluator and the worst findings."""

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.effects import Group, effects, family_groups
from core.analysis.flips.risk import BY, UNITS, cell_risks, evident_gaps, shift_cells
from core.analysis.over_null import beside_null
from core.analysis.table import View
from core.analysis.verdicts import MARGIN, SCATTERS, SILENT
from core.analysis.worst_family import CARD_GAP, SIZE, worst_first
from core.probes.base import Axis
from core.statistics.bootstrap import LEAST_N
from core.statistics.factors import shares_of_largest
from core.store.store import Store

NULL = Axis.NULL.value


def family_contrasts(view: View, *, margin: float = MARGIN) -> pd.DataFrame:
    """Effect of every family under every evaluator in every corpus; controls are left out, the null axis stays.

    Returns:
        See :func:`core.analysis.effects.effects`; with the columns axis and family beside label.
    """
    table = view.table
    groups = [each for each in family_groups(view) if _shown(view, each)]
    found = effects(view, groups, margin=margin)
    found.insert(2, "axis", [table.axis_of(name) for name in found["label"]])
    found.insert(3, "family", found["label"])
    return found.sort_values(["evaluator", "corpus", "axis", "family"], kind="stable", ignore_index=True)


def _shown(view: View, group: Group) -> bool:
    return not view.table.is_control(group.label) or view.table.axis_of(group.label) == NULL


def fairness_card(view: View, *, families: pd.DataFrame | None = None) -> pd.DataFrame:
    """Worst family on each axis for every evaluator, beside the noise floor.

    The worst family is the first of :func:`core.analysis.worst_family.worst_first`. It is picked from
    ``n_families`` after seeing the data, so its interval is that of a maximum; ``worst_in`` says in how many percent of
    the draws of the same items it is the worst (:func:`core.statistics.factors.shares_of_largest`).

    Args:
        view: of the table of scores.
        families: what :func:`family_contrasts` returned for it; None: worked out now.

    Returns:
        One row an (evaluator, corpus, axis): the columns of ``family_contrasts`` + n_families + alike (how many of
        them nothing tells from the worst, it included) + worst_in (NaN where the axis has one family, or too few items
        for an interval), and those of
        :func:`core.analysis.over_null.beside_null`. Empty where there are no shifts. Who has no row is named by
        :func:`not_on_card`.
    """
    table = family_contrasts(view) if families is None else families
    cells = table[(table["axis"] != NULL) & ~table["drift"].isin(SILENT)].dropna(subset=["median_abs_percent"])
    keys = ["evaluator", "corpus", "axis"]
    ranked = worst_first(view, cells, keys)
    worst = ranked.drop_duplicates(keys).sort_values(keys, ignore_index=True)
    worst["n_families"] = cells.groupby(keys).size().to_numpy()
    rivals: dict[Hashable, tuple[str, ...]] = {key: _rivals(own) for key, own in cells.groupby(keys)}
    worst["worst_in"] = [_worst_in(view, row, rivals) for row in worst[[*keys, "family"]].itertuples(index=False)]
    return beside_null(view, worst)


def _rivals(families: pd.DataFrame) -> tuple[str, ...]:
    """Families of an axis that may be its worst: those that have an interval, where one has."""
    told = families["abs_high"].notna()
    return tuple(families["family"][told] if told.any() else families["family"])


def _worst_in(view: View, row: Any, rivals: Mapping[Hashable, tuple[str, ...]]) -> float:
    """Percent of the draws of one corpus' items in which a family is the worst of its rivals, it among them."""
    names, probes, table = rivals[row.evaluator, row.corpus, row.axis], view.families(), view.table
    items = view.items & table.of_corpus(row.corpus)
    sizes = np.stack([view.changes(row.evaluator, probes[name]).size[items] for name in names])
    found = shares_of_largest(sizes, groups=table.sources_of(items))
    return 100 * float(found[names.index(row.family)])


def picked_of(n_families: int, worst_in: float, alike: int = 1) -> str:
    """From how many families the worst was picked, and how sure it is that it is the worst, in words.

    Args:
        n_families, worst_in, alike: see :func:`fairness_card`.

    Example:
        >>> picked_of(4, 62.3)
        'of 4, the worst in 62 % of the draws'
        >>> picked_of(4, 25.0, 4)
        'of 4 and 3 more alike, the worst in 25 % of the draws'
    """
    drawn = "" if math.isnan(worst_in) else f", the worst in {worst_in:.0f} % of the draws"
    return f"of {n_families}{more_alike(alike)}{drawn}"


def more_alike(alike: int) -> str:
    """How many families nothing tells from the one that is named; empty where it is alone.

    Args:
        alike: it included.
    """
    return f" and {alike - 1} more alike" if alike > 1 else ""


def not_on_card(families: pd.DataFrame) -> tuple[str, ...]:
    """Evaluators that a fairness card has no row of, each with the reason, in sentences.

    Args:
        families: what :func:`family_contrasts` returned.
    """
    rows, said = families[families["axis"] != NULL], []
    for (evaluator, corpus), own in rows.groupby(["evaluator", "corpus"], sort=True):
        silent = own["drift"].isin(SILENT)
        if silent.any() or own["median_abs_percent"].isna().all():
            reason = own["drift"][silent].iloc[0] if silent.any() else own["note"].iloc[0] or "no %Δ"
            said.append(f"{evaluator} on {corpus} is not on the card: {reason}.")
    return tuple(said)


def card_risks(view: View, card: pd.DataFrame, *, gap: float = CARD_GAP) -> pd.DataFrame:
    """Flip risk of every family on the card: how often it inverts two captions whose scores lie ``gap`` apart; and the
    gap from which on it hardly ever does.

    Args:
        view: of the table of scores.
        card: what :func:`fairness_card` returned for it.
        gap: as a share of the span of the score's scale, and of the interquartile range of the evaluator's clean
        scores.

    Returns:
        The columns of :func:`core.analysis.flips.risk.cell_risks` and unit, for each of UNITS; and those of
        :func:`core.analysis.flips.risk.evident_gaps` as evidence, evidence_low, evidence_high, of_iqr, null_evidence
        and said.
    """
    wanted = set(card[["evaluator", "corpus", "family"]].itertuples(index=False, name=None))
    cells = [cell for cell in shift_cells(view) if (cell.evaluator, cell.corpus, cell.family) in wanted]
    found = [cell_risks(cells, gaps=(gap,), unit=unit).assign(unit=unit) for unit in UNITS]
    evident = evident_gaps(cells)[[*BY, *_EVIDENCE]].rename(columns=_EVIDENCE)
    return pd.concat(found, ignore_index=True).merge(evident, on=list(BY), how="left")


_EVIDENCE = {
    "d": "evidence", "low": "evidence_low", "high": "evidence_high", "of_iqr": "of_iqr", "null_d": "null_evidence",
    "said": "said",
}  # fmt: skip


def worst_findings(
    store: Store, view: View, *, count: int = 3, families: pd.DataFrame | None = None, least: int = LEAST_N
) -> pd.DataFrame:
    """The families that move some evaluator the most for certain, each with the item that shows it best.

    They are ranked by the lower end of the interval of their median |percent change|, equal ones as
    :data:`core.analysis.worst_family.SIZE` has it, and only those that scatter
    beyond the margin are findings: none rests on too few items. A family appears once, under the evaluator that it
    moves the most. Its example is the item with the largest absolute shift: percent changes of tiny baselines would
    make a misleading one. Of equal ones the first by item and probe.

    Args:
        store: the runs that the view's table was read from.
        view: of the table of scores.
        count: how many at most.
        families: as for :func:`fairness_card`.
        least: items below which a family is no finding; LEAST_N or more.

    Returns:
        At most ``count`` rows: evaluator, axis, family, median_abs_percent, abs_low, abs_high, n_items,
        run, corpus, item, probe, subject, caption, baseline_caption, score, baseline_score, delta, percent.
    """
    table = family_contrasts(view) if families is None else families
    cells = table[(table["axis"] != NULL) & (table["scatter"] == SCATTERS) & (table["n_items"] >= least)]
    cells = cells.sort_values(["abs_low", *SIZE], ascending=False, kind="stable")
    cells = cells.drop_duplicates("family").head(count)
    numbers = ["evaluator", "corpus", "axis", "family", "median_abs_percent", "abs_low", "abs_high", "n_items"]
    examples = [_example(store, view, row) for row in cells.itertuples()]
    found = pd.concat(examples) if examples else pd.DataFrame(columns=list(_EXAMPLE))
    return cells[numbers].merge(found, on=["evaluator", "corpus", "family"]).reset_index(drop=True)


def _example(store: Store, view: View, finding: Any) -> pd.DataFrame:
    table = view.table
    probes = view.families()[finding.family]
    delta, _ = view.shifts(finding.evaluator, probes)
    items = np.flatnonzero(view.items & table.of_corpus(finding.corpus))
    size = np.nan_to_num(np.abs(delta[:, items]), nan=-1.0)
    item = int(items[int(size.max(axis=0).argmax())])
    probe = probes[int(np.nan_to_num(np.abs(delta[:, item]), nan=-1.0).argmax())]
    scope, columns = table.scope, ", ".join(f"s.{name}" for name in _EXAMPLE)
    return store.query(
        f"select {columns} from shifts s where s.run = $run and s.item = $item and s.probe = $probe "
        "and s.subject = $subject and s.language = $language and s.rank = $rank and s.evaluator = $evaluator",
        {"run": dict(scope.runs)[finding.corpus], "item": table.items["item"].iloc[item], "probe": probe,
         "subject": scope.subject, "language": scope.language, "rank": scope.rank, "evaluator": finding.evaluator},
    )  # fmt: skip


_EXAMPLE = (
    "run", "evaluator", "corpus", "item", "family", "probe", "subject", "caption", "baseline_caption", "score",
    "baseline_score", "delta", "percent",
)  # fmt: skip

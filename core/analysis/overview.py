"""What the first page says: a fairness card per evaluator and the worst findings."""

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.effects import CELL, PLAIN, bounds, effects, family_groups, named_worst
from core.analysis.facts import known_words, may_be_true
from core.analysis.flip_cells import BY, IQR, UNITS, cell_risks, evident_gaps, leading, shift_cells
from core.analysis.table import MOST_CHANGES, View
from core.analysis.verdicts import MARGIN, NO_CLAIM, NO_NULL, NOT_TOLD, SCATTERS, SILENT, against_null
from core.probes.base import Axis
from core.statistics.bootstrap import LEAST_N, adjusted_level
from core.statistics.factors import shares_of_largest
from core.statistics.power import reach
from core.statistics.selectivity import item_selectivity
from core.statistics.shares import share_of_fractions
from core.store.store import Store

# Which family is the worst? One order, for the card, the report's first page and whoever else names one.


CARD_GAP = 0.007  # Gap of the card's flip risk. Source: PROTOCOL section 4 (paper A, 3.4)

SIZE = ("median_abs_percent", "abs_high", "beyond")
"""Of two families the worse has the larger median |% change|; else its interval reaches further; else more edits lie
beyond the margin; else its flip risk is the higher. Their names never tell. A family of too few items or sources for an
interval is behind every family that has one, whatever its median: nothing is claimed of it."""


def worst_first(view: View, cells: pd.DataFrame, keys: Sequence[str], *, first: Sequence[str] = ()) -> pd.DataFrame:
    """Put families in order, the worst first. Flip risks, which cost more, are worked out of those alone that share the
    first place by everything else. ``cells``: a row a family: evaluator, corpus, axis, family, the columns of SIZE and
    of ``first``. ``keys``: columns whose values have a worst family each. ``first``: columns that come before SIZE, the
    larger the worse. Returns the rows in order, and ``alike``: of a first row, how many rows of its keys nothing tells
    from it, it included."""
    cells = cells.assign(told=cells["abs_high"].notna())
    order = ["told", *first, *SIZE]
    ranked = cells.sort_values([*order, "family"], ascending=[False] * len(order) + [True])
    known = ranked[order].astype(float).fillna(-1.0)
    top = (known == known.groupby([ranked[key] for key in keys]).transform("first")).all(axis=1)
    ranked = ranked.assign(top=top, risk=_risks(view, ranked[top], keys))
    falling = ["top", "risk", *order]
    ranked = ranked.sort_values([*falling, "family"], ascending=[False] * len(falling) + [True])
    best = ranked.groupby(list(keys))["risk"].transform("first")
    alike = (ranked["top"] & (ranked["risk"] == best)).groupby([ranked[key] for key in keys]).transform("sum")
    return ranked.assign(alike=alike).drop(columns=["top", "risk", "told"])


def _risks(view: View, top: pd.DataFrame, keys: Sequence[str]) -> "pd.Series[float]":
    """Flip risk of the families that share a first place; 0 of one that has it alone, or has no risk."""
    names = [tuple(each) for each in top[list(BY)].itertuples(index=False, name=None)]
    wanted = {name for name, tied in zip(names, top.duplicated(list(keys), keep=False), strict=True) if tied}
    if not wanted:
        return pd.Series(0.0, index=top.index)
    found = [each for each in shift_cells(view) if (each.evaluator, each.corpus, each.axis, each.family) in wanted]
    risks = cell_risks(found, gaps=(CARD_GAP,), unit=IQR).set_index(list(BY))["risk"].fillna(0.0).to_dict()
    return pd.Series([risks.get(name, 0.0) for name in names], index=top.index, dtype=float)


def furthest(found: pd.DataFrame, *, value: str, low: str = "low", high: str = "high") -> pd.DataFrame:
    """Rows of the largest value, the worse the larger: of equal ones those whose interval reaches further, then begins
    higher. More than one where even these are the same, as they often are where scores have few values: all are to be
    named."""
    there = np.flatnonzero(found[value].notna())
    for name in (value, high, low):
        values = found[name].to_numpy(dtype=np.float64, na_value=math.nan)[there]
        values = np.where(np.isnan(values), -1.0, values)
        there = there[values == values.max(initial=-math.inf)]
    return found.iloc[there]


# Each family beside invisible edits: do its edits change a score more than those do?
#
# Source: PROTOCOL section 3, *invisible edits*: what an evaluator does under them is no reaction to a visible edit.


Further = tuple[float, float, float, str, float]


def beside_null(view: View, rows: pd.DataFrame) -> pd.DataFrame:
    """Put what invisible edits do beside every family.

    Edit is held against edit within an item: the probability that one of the family moves its score further than a null
    edit does, ties half; mean over items. An item's median over its edits would not do: over an even number of them it
    is larger than over an odd one, with nothing but noise in either.

    Args:
        rows: columns evaluator, corpus, axis, label (a family); one corpus a row. Where it has ``n_families``, each row
            was picked from so many, and its interval allows for that.

    Returns:
        The rows with null_median (:meth:`core.analysis.table.View.null_median`), further, further_low, further_high (in
        percent, 50: no further; NaN for the invisible edits themselves and where none was scored),
        than_null (:func:`core.analysis.verdicts.against_null`; empty and NO_NULL likewise), and, beside NOT_TOLD alone,
        null_detectable (:func:`core.statistics.power.reach`, in percentage points).
    """
    keys = list(zip(rows["evaluator"].astype(str), rows["corpus"].astype(str), strict=True))
    floors = {key: view.null_median(*key) for key in set(keys)}
    levels = [adjusted_level(int(k)) for k in rows.get("n_families", np.ones(len(rows)))]
    found = [
        (floors[key], *_beside(view, *key, str(label), floors[key], level))
        for key, label, level in zip(keys, rows["label"], levels, strict=True)
    ]
    names = ("null_median", *bounds("further"), "than_null", "null_detectable")
    return rows.assign(**{name: [each[place] for each in found] for place, name in enumerate(names)})


def _beside(view: View, evaluator: str, corpus: str, family: str, floor: float, level: float) -> Further:
    table = view.table
    if (null := table.axis_of(family) == Axis.NULL.value) or np.isnan(floor):
        return np.nan, np.nan, np.nan, "" if null else NO_NULL, np.nan
    probes = view.families().get(family, ())
    return further(view, evaluator, corpus, lambda: view.shifts(evaluator, probes)[0], called=probes, level=level)


def further(
    view: View,
    evaluator: str,
    corpus: str,
    shifts: Callable[[], np.ndarray],
    *,
    called: tuple[str, ...],
    level: float = 0.95,
) -> Further:
    """How often edits move a score more than invisible edits of the same item, with its interval, claim and power, as
    of :func:`beside_null`; ``shifts``: Δ of every edit, float64 [k, N]; NaN where that is not known."""
    table = view.table

    def work() -> np.ndarray:
        return item_selectivity(np.abs(shifts()), np.abs(view.shifts(evaluator, view.unseen)[0]))

    of_items = table.kept.get("further", (view.looked, evaluator, called), work, most=MOST_CHANGES)
    own = view.items & table.of_corpus(corpus)
    over = share_of_fractions(of_items[own], groups=table.sources_of(own), level=level)
    said = table.silent(evaluator, corpus) or against_null(over)
    power = 100 * reach(over, margin=math.nan).detectable if said == NOT_TOLD else math.nan
    return *over.numbers(100), said, power


# Every evaluator in one row: its worst edits, the gap that means something, and whether it sees a broken meaning.


AND = ", "  # Stands between families that ask for the same gap


def at_a_glance(card: pd.DataFrame, risks: pd.DataFrame, selective: pd.DataFrame | None = None) -> pd.DataFrame:
    """The card's numbers with one row an evaluator, by name and never by how still it keeps; nothing is made anew.

    Args:
        card: ``core.analysis.overview.fairness_card`` of one corpus.
        risks: ``core.analysis.overview.card_risks`` of it.
        selective: selectivity an evaluator, columns evaluator, value, low, high; None: not measured.

    Returns:
        Column evaluator; for every axis of the card ``{axis}``, ``{axis}_abs``, ``{axis}_low``, ``{axis}_high`` (worst
        family, its median |% change| and interval), ``{axis}_n`` (its items), ``{axis}_alike`` (families that nothing
        tells from it, it included), ``{axis}_signed`` (its median % change) and the two claims, ``{axis}_drift`` and
        ``{axis}_scatter``; evidence and of_iqr (the largest trustworthy gap of these families, in the score's units and
        in percent of its spread) with evidence_of, the family, several that ask for the same joined by AND,
        evidence_pairs, of which two captions it is, and null_evidence, the trustworthy gap of the same items under
        invisible edits; selectivity, selectivity_low, selectivity_high. NaN where something was not measured.
    """
    found = pd.DataFrame([_row(str(name), own, risks) for name, own in card.groupby("evaluator", sort=True)])
    if found.empty:
        return found
    names = ["evaluator", *PLAIN]
    known = pd.DataFrame(columns=names) if selective is None else selective[names].drop_duplicates("evaluator")
    told = known.set_axis(["evaluator", *bounds("selectivity")], axis=1)
    return found.merge(told, on="evaluator", how="left").reset_index(drop=True)


_OF_AXIS = {"abs": "median_abs_percent", "low": "abs_low", "high": "abs_high", "n": "n_items"}
_OF_AXIS |= {"signed": "median_percent", "drift": "drift", "scatter": "scatter", "alike": "alike"}


def _row(name: str, own: pd.DataFrame, risks: pd.DataFrame) -> dict[str, Any]:
    row: dict[str, Any] = {"evaluator": name}
    for each in own.sort_values("axis").to_dict("records"):
        row |= {str(each["axis"]): each["family"]}
        row |= {f"{each['axis']}_{end}": each[name] for end, name in _OF_AXIS.items()}
    few = bool(own["scatter"].isin(NO_CLAIM).any())
    return row | _evidence(risks[(risks["evaluator"] == name) & (risks["unit"] == IQR) & (not few)])


def _evidence(risks: pd.DataFrame) -> dict[str, Any]:
    """The largest trustworthy gap, of captions of the same picture where any is; NaN where a family has none, or too
    few items or sources for a claim, for then no gap is known to be enough."""
    numbers = ("evidence", "of_iqr", "null_evidence")
    if risks.empty or risks["evidence"].isna().any():
        return dict.fromkeys(numbers, math.nan) | {"evidence_of": "", "evidence_pairs": ""}
    worst = furthest(leading(risks), value="evidence", low="evidence_low", high="evidence_high")
    first = worst.iloc[0]
    told = {"evidence_of": AND.join(worst["family"]), "evidence_pairs": first["pairs"]}
    return {name: first[name] for name in numbers} | told


NULL = Axis.NULL.value


def family_contrasts(view: View, *, margin: float = MARGIN) -> pd.DataFrame:
    """Effect of every family under every evaluator in every corpus; controls are left out, the null axis stays. The
    columns are those of :func:`core.analysis.effects.effects`, with axis and family beside label."""
    table = view.table
    every = family_groups(view)
    groups = [each for each in every if not table.is_control(each.label) or table.axis_of(each.label) == NULL]
    found = effects(view, groups, margin=margin)
    found.insert(2, "axis", [table.axis_of(name) for name in found["label"]])
    found.insert(3, "family", found["label"])
    return found.sort_values(["evaluator", "corpus", "axis", "family"], kind="stable", ignore_index=True)


def fairness_card(view: View, *, families: pd.DataFrame | None = None, margin: float = MARGIN) -> pd.DataFrame:
    """Worst family on each axis for every evaluator, beside the noise floor.

    The worst family is the first of :func:`core.analysis.overview.worst_first`. It is picked from
    ``n_families`` after seeing the data, and its intervals and claims are adjusted for that
    (:func:`core.analysis.effects.named_worst`); ``worst_in`` says in how many percent of
    the draws of the same items it is the worst (:func:`core.statistics.factors.shares_of_largest`).

    Args:
        families: what :func:`family_contrasts` returned for it and the margin; None: worked out now.
        margin: equivalence margin in percent.

    Returns:
        One row an (evaluator, corpus, axis): the columns of ``family_contrasts`` + n_families + alike (how many of them
        nothing tells from the worst, it included) + worst_in (NaN where the axis has one family, or too few items for
        an interval), and those of :func:`core.analysis.overview.beside_null`. Empty where there are no shifts. Who has
        no row is named by :func:`not_on_card`.
    """
    table = family_contrasts(view, margin=margin) if families is None else families
    cells = table[(table["axis"] != NULL) & ~table["drift"].isin(SILENT)].dropna(subset=["median_abs_percent"])
    keys = ["evaluator", "corpus", "axis"]
    worst = worst_first(view, cells, keys).drop_duplicates(keys).sort_values(keys, ignore_index=True)
    rivals = cells.groupby(keys)
    worst["n_families"] = rivals.size().to_numpy()
    worst["worst_in"] = [
        _worst_in(view, evaluator, corpus, family, rivals.get_group((evaluator, corpus, axis)))
        for evaluator, corpus, axis, family in worst[[*keys, "family"]].itertuples(index=False, name=None)
    ]
    return beside_null(view, named_worst(view, worst, margin=margin))


def _worst_in(view: View, evaluator: str, corpus: str, family: str, rivals: pd.DataFrame) -> float:
    """Percent of the draws of one corpus' items in which a family is the worst of its axis, where one has, of those
    that have an interval."""
    told, probes = rivals["abs_high"].notna(), view.families()
    names = list(rivals["family"][told] if told.any() else rivals["family"])
    items = view.items & view.table.of_corpus(corpus)
    sizes = np.stack([view.changes(evaluator, probes[name]).size[items] for name in names])
    found = shares_of_largest(sizes, groups=view.table.sources_of(items))
    return 100 * float(found[names.index(family)])


def picked_of(n_families: int, worst_in: float, alike: int = 1) -> str:
    """From how many families the worst was picked, and how sure it is that it is the worst, in words; ``n_families``,
    ``worst_in``, ``alike``: see :func:`fairness_card`.

    Example:
        >>> picked_of(4, 62.3)
        'of 4, the worst in 62 % of the draws'
        >>> picked_of(4, 25.0, 4)
        'of 4 and 3 more alike, the worst in 25 % of the draws'
    """
    drawn = "" if math.isnan(worst_in) else f", the worst in {worst_in:.0f} % of the draws"
    return f"of {n_families}{more_alike(alike)}{drawn}"


def more_alike(alike: int) -> str:
    """How many families nothing tells from the one that is named; empty where it is alone; ``alike``: it included."""
    return f" and {alike - 1} more alike" if alike > 1 else ""


def shows_anything(families: pd.DataFrame) -> bool:
    """Whether of any family but the null one it can be told how far it changes a score; ``families``: what
    :func:`family_contrasts` returned."""
    known = families[(families["axis"] != NULL) & families["median_abs_percent"].notna()]
    return not known["scatter"].isin((*NO_CLAIM, *SILENT)).all()


def not_on_card(families: pd.DataFrame) -> tuple[str, ...]:
    """Evaluators that a fairness card has no row of, each with the reason, in sentences; ``families``: what
    :func:`family_contrasts` returned."""
    rows, said = families[families["axis"] != NULL], []
    for (evaluator, corpus), own in rows.groupby(["evaluator", "corpus"], sort=True):
        silent = own["drift"].isin(SILENT)
        if silent.any() or own["median_abs_percent"].isna().all():
            reason = own["drift"][silent].iloc[0] if silent.any() else own["note"].iloc[0] or "no % change"
            said.append(f"{evaluator} on {corpus} is not on the card: {reason}.")
    return tuple(said)


def card_risks(view: View, card: pd.DataFrame) -> pd.DataFrame:
    """Flip risk of every family on the card: how often it inverts two captions whose scores lie CARD_GAP apart, a share
    of the span of the score's scale or of the interquartile range of the evaluator's clean scores; and the gap from
    which on it hardly ever does. Intervals allow for the picking of the family, as all on the card do; ``card``: what
    :func:`fairness_card` returned for it. Returns the columns of :func:`core.analysis.flip_cells.cell_risks` and unit,
    for each of UNITS; and those of :func:`core.analysis.flip_cells.evident_gaps` as evidence, evidence_low,
    evidence_high, of_iqr, null_evidence, and apart_evidence."""
    picked = dict(zip(card[list(BY)].itertuples(index=False, name=None), card["n_families"], strict=True))
    cells = [cell for cell in shift_cells(view) if cell.name in picked]
    found = [cell_risks(cells, gaps=(CARD_GAP,), unit=unit, picked=picked).assign(unit=unit) for unit in UNITS]
    evident = evident_gaps(cells, picked=picked)[[*BY, *_EVIDENCE]].rename(columns=_EVIDENCE)
    return pd.concat(found, ignore_index=True).merge(evident, on=list(BY), how="left")


_EVIDENCE = dict(zip(("d", "low", "high"), bounds("evidence"), strict=True))
_EVIDENCE |= {"of_iqr": "of_iqr", "null_d": "null_evidence", "apart_d": "apart_evidence"}


def worst_findings(
    store: Store,
    view: View,
    *,
    count: int = 3,
    families: pd.DataFrame | None = None,
    margin: float = MARGIN,
    least: int = LEAST_N,
    accepted: Mapping[str, str] = MappingProxyType({}),
) -> pd.DataFrame:
    """The families that move some evaluator the most for certain, each with the item that shows it best.

    They are ranked by the lower end of the interval of their median |percent change|, equal ones as
    :data:`core.analysis.overview.SIZE` has it, and only those that scatter beyond the margin are findings: none rests
    on too few items. A family appears once, under the evaluator that it moves the most. Families whose word may be true
    of the picture come behind all others, and say so: a score that follows the picture is right to move. The example
    of one is the item with the largest absolute shift: percent changes of tiny baselines would make a misleading one.
    Of equal ones the first by item and probe.

    Args:
        store: the runs that the view's table was read from.
        families, margin: as for :func:`fairness_card`.
        least: items below which a family is no finding; LEAST_N or more.
        accepted: families both of whose versions people accept, with what they said; of
            :func:`core.features.human.study_outcomes.accepted_by_people`.

    Returns:
        At most ``count`` rows: evaluator, axis, family, median_abs_percent, abs_low, abs_high, n_items,
        may_be_true, accepted (of a word that people accept, what they said; empty otherwise), run, corpus, item,
        probe, subject, caption, baseline_caption, score, baseline_score, delta, percent.
    """
    table = family_contrasts(view, margin=margin) if families is None else families
    cells = table[(table["axis"] != NULL) & (table["scatter"] == SCATTERS) & (table["n_items"] >= least)]
    asked = int((table["axis"] != NULL).sum())
    cells = cells.assign(may_be_true=cells["family"].isin(may_be_true(view.table, accepted)), n_families=asked)
    order = ["may_be_true", "abs_low", *SIZE]
    cells = cells.sort_values(order, ascending=[each == "may_be_true" for each in order], kind="stable")
    cells = named_worst(view, cells.drop_duplicates("family").head(count), margin=margin)
    cells, people = cells[cells["scatter"] == SCATTERS], known_words(view.table, accepted)
    cells = cells.assign(accepted=[people.get(name, "") for name in cells["family"]])
    numbers = ["axis", "family", "median_abs_percent", "abs_low", "abs_high", "n_items", "may_be_true", "accepted"]
    examples = [_example(store, view, row) for row in cells.itertuples()]
    found = pd.concat(examples) if examples else pd.DataFrame(columns=list(_EXAMPLE))
    return cells[[*CELL, *numbers]].merge(found, on=[*CELL, "family"]).reset_index(drop=True)


def _example(store: Store, view: View, finding: Any) -> pd.DataFrame:
    table = view.table
    probes = view.families()[finding.family]
    delta, _ = view.shifts(finding.evaluator, probes)
    items = np.flatnonzero(view.items & table.of_corpus(finding.corpus))
    size = np.nan_to_num(np.abs(delta[:, items]), nan=-1.0)
    item = int(items[int(size.max(axis=0).argmax())])
    probe = probes[int(np.nan_to_num(np.abs(delta[:, item]), nan=-1.0).argmax())]
    scope, columns = table.scope, ", ".join(f"s.{name}" for name in _EXAMPLE)
    params = {name: getattr(scope, name) for name in ("subject", "language", "rank")}
    params |= {"run": dict(scope.runs)[finding.corpus], "item": table.items["item"].iloc[item]}
    return store.query(
        f"select {columns} from shifts s where s.run = $run and s.item = $item and s.probe = $probe "
        "and s.subject = $subject and s.language = $language and s.rank = $rank and s.evaluator = $evaluator",
        params | {"probe": probe, "evaluator": finding.evaluator},
    )


_SCORED = ("score", "baseline_score", "delta", "percent")
_EXAMPLE = ("run", *CELL, "item", "family", "probe", "subject", "caption", "baseline_caption", *_SCORED)

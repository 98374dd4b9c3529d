"""What the first page says: a fairness card per evaluator and the worst findings."""

import pandas as pd

from core.analysis.contrasts import contrasts
from core.analysis.flip_risk import UNITS, flip_risks
from core.audit.store import Store

CARD_GAP = 0.007
"""Gap of the card's flip risk. Source: PROTOCOL section 4 (paper A, 3.4)."""

_SHIFTS = """
    select evaluator, corpus, item, axis, family, probe, subject, caption, baseline_caption,
           score, baseline_score, delta, percent
    from shifts
    where expectation = 'invariant' and (not control or axis = 'null')
"""


def family_contrasts(store: Store) -> pd.DataFrame:
    """Contrast of every family under every evaluator; controls are left out, the null axis stays.

    Returns:
        See :func:`core.analysis.contrasts.contrasts`, by evaluator, axis and family.
    """
    return contrasts(store.query(_SHIFTS), by=("evaluator", "axis", "family"))


def fairness_card(store: Store) -> pd.DataFrame:
    """Worst family on each axis for every evaluator, beside the noise floor.

    The worst family is the one with the largest median |percent change|. It is picked from
    ``n_families`` after seeing the data, so its interval is that of a maximum; the column says of how many.

    Returns:
        One row an (evaluator, axis): the columns of ``family_contrasts`` + n_families, null_band
        (median |percent change| over the null family's items, NaN where no null edit was scored).
        Empty where the store holds no shifts.
    """
    table = family_contrasts(store)
    null = table[table["axis"] == "null"].groupby("evaluator")["median_abs_percent"].max()
    cells = table[table["axis"] != "null"].dropna(subset=["median_abs_percent"])
    groups = cells.groupby(["evaluator", "axis"])
    worst = cells.loc[groups["median_abs_percent"].idxmax()].reset_index(drop=True)
    worst["n_families"] = groups.size().to_numpy()
    worst["null_band"] = worst["evaluator"].map(null)
    return worst


def card_risks(store: Store, card: pd.DataFrame, *, gap: float = CARD_GAP) -> pd.DataFrame:
    """Flip risk of every family on the card: how often it inverts two captions whose scores lie ``gap`` apart.

    Args:
        store: opened runs.
        card: what :func:`fairness_card` returned.
        gap: on the score's own scale, and as a share of the evaluator's interquartile range.

    Returns:
        Evaluator, axis, family and, for each unit, the columns of :func:`core.analysis.flip_risk.flip_risks`.
    """
    families = sorted(set(card["family"]))
    shifts = store.query(f"{_SHIFTS} and list_contains($families, family::varchar)", {"families": families})
    wanted = card[["evaluator", "axis", "family"]]
    found = [flip_risks(shifts, gaps=(gap,), unit=unit).assign(unit=unit).merge(wanted) for unit in UNITS]
    return pd.concat(found, ignore_index=True)


def worst_findings(store: Store, *, count: int = 3) -> pd.DataFrame:
    """The families that move some evaluator the most, each with the item that shows it best.

    A family appears once, under the evaluator that it moves the most. Its example is the item with the
    largest absolute shift: percent changes of tiny baselines would make a misleading one.

    Returns:
        At most ``count`` rows: evaluator, axis, family, median_abs_percent, abs_low, abs_high, n_items,
        corpus, item, probe, subject, caption, baseline_caption, score, baseline_score, delta, percent.
    """
    table = family_contrasts(store)
    cells = table[table["axis"] != "null"].sort_values("median_abs_percent", ascending=False)
    cells = cells.drop_duplicates("family").head(count)
    shifts = store.query(_SHIFTS).dropna(subset=["percent"])
    examples = shifts.loc[shifts.groupby(["evaluator", "family"])["delta"].apply(lambda delta: delta.abs().idxmax())]
    numbers = ["evaluator", "axis", "family", "median_abs_percent", "abs_low", "abs_high", "n_items"]
    return cells[numbers].merge(examples.drop(columns="axis"), on=["evaluator", "family"]).reset_index(drop=True)

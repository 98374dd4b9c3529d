"""What the first page says: a fairness card per evaluator and the worst findings."""

import pandas as pd

from core.analysis.contrasts import slice_contrasts
from core.analysis.flip_cells import COLUMNS, shift_cells
from core.analysis.flip_risk import UNITS, cell_risks
from core.analysis.slices import Slice, shift_table, where
from core.audit.store import Store

CARD_GAP = 0.007
"""Gap of the card's flip risk. Source: PROTOCOL section 4 (paper A, 3.4)."""


def family_contrasts(store: Store) -> pd.DataFrame:
    """Contrast of every family under every evaluator; controls are left out, the null axis stays.

    Returns:
        See :func:`core.analysis.contrasts.contrasts`, by evaluator, axis and family.
    """
    return slice_contrasts(store, Slice(), by=("evaluator", "axis", "family"))


def fairness_card(store: Store, *, families: pd.DataFrame | None = None) -> pd.DataFrame:
    """Worst family on each axis for every evaluator, beside the noise floor.

    The worst family is the one with the largest median |percent change|. It is picked from
    ``n_families`` after seeing the data, so its interval is that of a maximum; the column says of how many.

    Args:
        store: opened runs.
        families: what :func:`family_contrasts` returned for this store; None: worked out now.

    Returns:
        One row an (evaluator, axis): the columns of ``family_contrasts`` + n_families, null_band
        (median |percent change| over the null family's items, NaN where no null edit was scored).
        Empty where the store holds no shifts.
    """
    table = family_contrasts(store) if families is None else families
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
    families = sorted(set(card["family"].astype(str)))
    # no family is no filter, and every family's risks would be worked out
    cells = shift_cells(shift_table(store, Slice(families=tuple(families)), columns=COLUMNS)) if families else ()
    listed = set(card[["evaluator", "axis", "family"]].itertuples(index=False, name=None))
    wanted = [cell for cell in cells if cell.names in listed]
    found = [cell_risks(wanted, gaps=(gap,), unit=unit).assign(unit=unit) for unit in UNITS]
    return pd.concat(found, ignore_index=True)


def worst_findings(store: Store, *, count: int = 3, families: pd.DataFrame | None = None) -> pd.DataFrame:
    """The families that move some evaluator the most, each with the item that shows it best.

    A family appears once, under the evaluator that it moves the most. Its example is the item with the
    largest absolute shift: percent changes of tiny baselines would make a misleading one. Of equal ones the
    first by corpus, item and probe.

    Args:
        store: opened runs.
        count: how many at most.
        families: as for :func:`fairness_card`.

    Returns:
        At most ``count`` rows: evaluator, axis, family, median_abs_percent, abs_low, abs_high, n_items,
        run, corpus, item, probe, subject, caption, baseline_caption, score, baseline_score, delta, percent.
    """
    table = family_contrasts(store) if families is None else families
    cells = table[table["axis"] != "null"].sort_values("median_abs_percent", ascending=False)
    cells = cells.drop_duplicates("family").head(count)
    numbers = ["evaluator", "axis", "family", "median_abs_percent", "abs_low", "abs_high", "n_items"]
    examples = [_example(store, row["evaluator"], row["family"]) for _, row in cells.iterrows()]
    found = pd.concat(examples) if examples else _example(store, "", "")
    return cells[numbers].merge(found, on=["evaluator", "family"]).reset_index(drop=True)


def _example(store: Store, evaluator: str, family: str) -> pd.DataFrame:
    clause, params = where(Slice(evaluators=(evaluator,), families=(family,)))
    columns = ", ".join(f"s.{name}" for name in _EXAMPLE)
    return store.query(
        f"select {columns} from shifts s {clause} and s.percent is not null "
        "order by abs(s.delta) desc, s.corpus, s.item, s.probe, s.subject limit 1", params,
    )  # fmt: skip


_EXAMPLE = (
    "run", "evaluator", "corpus", "item", "family", "probe", "subject", "caption", "baseline_caption", "score",
    "baseline_score", "delta", "percent",
)  # fmt: skip

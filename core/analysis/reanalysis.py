"""The votes meet the scores: do the findings stand without the pairs that people did not accept?

Source: PROTOCOL section 6 (paper A, A.11): drop the items of which only one version is acceptable; keep only those
that are fully correct in both versions; report the largest change of any median %Δ and whether a direction flips.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.analysis.bootstrap import median_bca
from core.analysis.human_outcomes import ONE
from core.audit.store import Store
from core.errors import InvalidInput

PAIR = ["corpus", "item", "probe", "subject"]
WITHOUT_ONE_SIDED = "without pairs of which one version only is acceptable"
BOTH_FULLY_CORRECT = "only pairs that are fully correct in both versions"
SCOPES = ("studied", "run")


@dataclass(frozen=True, slots=True)
class Reanalysis:
    """Contrasts with and without the pairs that people did not accept.

    Args:
        table: one row (evaluator, axis, family, analysis): n_all, median_all, low_all, high_all, n_kept,
            median_kept, low_kept, high_kept (medians of %Δ over items, in percent), change (kept - all, in
            percentage points), flips (whether the sign of the median flips).
        scope: ``studied``: only pairs that people judged; ``run``: all of the run, less those that fell out.
        n_pairs: pairs behind it that people judged.
        dropped: pairs that fell out, by analysis.
    """

    table: pd.DataFrame
    scope: str
    n_pairs: int
    dropped: dict[str, int]

    def largest_change(self, analysis: str) -> float:
        """Largest |change| of any median %Δ, in percentage points; NaN where nothing could be compared."""
        return float(self.table.loc[self.table["analysis"] == analysis, "change"].abs().max())

    def flips(self, analysis: str) -> int:
        """How many medians change their direction."""
        return int(self.table.loc[self.table["analysis"] == analysis, "flips"].sum())


def reanalyse(store: Store, outcomes: pd.DataFrame, *, run: str, scope: str = "studied") -> Reanalysis:
    """Compute the contrasts again without what people did not accept.

    Args:
        store: holds the run.
        outcomes: :func:`core.analysis.human_outcomes.item_outcomes` of a study of that run.
        run: id of the run.
        scope: of SCOPES.

    Raises:
        InvalidInput: for another scope, or a study without a pair that the run scored.
    """
    if scope not in SCOPES:
        raise InvalidInput(f"a re-analysis is of scope {' or '.join(SCOPES)}, got {scope!r}")
    shifts = store.query(
        "select evaluator, axis, family, corpus, item, probe, subject, percent from shifts "
        "where run = $run and percent is not null and axis <> 'null'",
        {"run": run},
    )
    judged = outcomes[[*PAIR, "outcome", "fully_correct"]]
    joined = shifts.merge(judged, on=PAIR, how="left")
    studied = joined["outcome"].notna()
    if not studied.any():
        raise InvalidInput(f"run {run!r} scored no pair of this study, or no pair has two votes yet")
    families = set(joined.loc[studied, "family"])
    joined = joined[studied] if scope == "studied" else joined[joined["family"].isin(families)]
    fully = joined["fully_correct"].astype(object).fillna(value=scope == "run").astype(bool)
    kept = {WITHOUT_ONE_SIDED: joined["outcome"] != ONE, BOTH_FULLY_CORRECT: fully}
    dropped = {name: len(joined[~keep].drop_duplicates(PAIR)) for name, keep in kept.items()}
    rows = [
        {"evaluator": cell[0], "axis": cell[1], "family": cell[2], "analysis": name, **_compared(own, keep[own.index])}
        for cell, own in joined.groupby(["evaluator", "axis", "family"], sort=True)
        for name, keep in kept.items()
    ]
    pairs = len(joined[joined["outcome"].notna()].drop_duplicates(PAIR))
    return Reanalysis(pd.DataFrame(rows), scope, pairs, dropped)


def _compared(rows: pd.DataFrame, keep: pd.Series) -> dict[str, object]:
    whole, less = (median_bca(_per_item(part)) for part in (rows, rows[keep]))
    return {
        "n_all": whole.n, "median_all": whole.estimate, "low_all": whole.low, "high_all": whole.high,
        "n_kept": less.n, "median_kept": less.estimate, "low_kept": less.low, "high_kept": less.high,
        "change": less.estimate - whole.estimate,
        "flips": bool(np.sign(less.estimate) * np.sign(whole.estimate) < 0),
    }  # fmt: skip


def _per_item(rows: pd.DataFrame) -> np.ndarray:
    """Median %Δ of every item, so that each counts once."""
    return rows.groupby(["corpus", "item"])["percent"].median().to_numpy()

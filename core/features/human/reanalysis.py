"""The votes meet the scores: do the findings stand without the pairs that people did not accept?

Source: PROTOCOL section 6 (paper A, A.11): drop the items of which only one version is acceptable; keep only those
that are fully correct in both versions; report the largest change of any median % change and whether a direction flips.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.analysis.effects import ends
from core.analysis.questions.artefacts import NOTHING, TURNED, direction, untold
from core.analysis.table import ScoreTable
from core.errors import InvalidInput
from core.features.human.study_outcomes import ONE
from core.probes.base import Axis
from core.statistics.bootstrap import median_bca, no_point

WITHOUT_ONE_SIDED = "without pairs of which one version only is acceptable"
BOTH_FULLY_CORRECT = "only pairs that are fully correct in both versions"
SCOPES = ("studied", "run")


@dataclass(frozen=True, slots=True)
class Reanalysis:
    """Contrasts with and without the pairs that people did not accept."""

    # one row (evaluator, axis, family, analysis): n_all, median_all, low_all, high_all, n_kept, median_kept, low_kept,
    # high_kept (medians of % change over items, in percent), change (kept - all, in percentage points), flips (whether
    # the sign of the median flips), direction (what the interval of median_kept shows of that of median_all: TURNED,
    # SAME or OPEN, NOTHING where no pair of the family fell out; see
    # :func:`core.analysis.questions.artefacts.direction`), power (beside OPEN, what the items that are kept would have
    # shown), note (why an interval is missing). Empty where people judged invisible edits, controls or directional
    # probes alone.
    table: pd.DataFrame
    scope: str  # ``studied``: only pairs that people judged; ``run``: all of the run, less those that fell out
    n_pairs: int  # pairs behind it that people judged
    dropped: dict[str, int]  # pairs that fell out, by analysis

    def largest_change(self, analysis: str) -> float:
        """Largest |change| of any median % change, in percentage points; NaN where nothing could be compared."""
        return float(self.table.loc[self.table["analysis"] == analysis, "change"].abs().max())

    def flips(self, analysis: str) -> int:
        """How many medians change their sign."""
        return int(self.table.loc[self.table["analysis"] == analysis, "flips"].sum())

    def turned(self, analysis: str) -> int:
        """How many directions are shown to turn: the interval of what is kept lies on the other side of 0."""
        return int((self.table.loc[self.table["analysis"] == analysis, "direction"] == TURNED).sum())


def reanalyse(table: ScoreTable, outcomes: pd.DataFrame, *, scope: str = "studied") -> Reanalysis:
    """Compute the contrasts of a study's run again, in a scope of SCOPES, without what people did not accept
    (:func:`item_outcomes`; pairs of another subject than the table's are left out). Raises InvalidInput for another
    scope, or a study without a pair that the table holds."""
    if scope not in SCOPES:
        raise InvalidInput(f"a re-analysis is of scope {' or '.join(SCOPES)}, got {scope!r}")
    judged = _Judged(table, outcomes)
    if not judged.studied.any():
        raise InvalidInput(
            f"run {table.scope.run!r} scored no pair of this study with the {table.scope.subject} caption, or no pair "
            "has two votes yet"
        )
    families = [
        (name, probes)
        for name, probes in table.families().items()
        if table.axis_of(name) != Axis.NULL.value and judged.studied[table.places(probes)].any()
    ]
    whole, kept = judged.whole(scope), judged.kept(scope)
    rows = [
        {"evaluator": evaluator, "axis": table.axis_of(name), "family": name, "analysis": analysis}
        | _compared(table, evaluator, probes, whole, kept[analysis])
        for evaluator in table.evaluators
        for name, probes in families
        for analysis in (WITHOUT_ONE_SIDED, BOTH_FULLY_CORRECT)
    ]
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    dropped = {name: int((judged.studied & ~keep).sum()) for name, keep in judged.kept("studied").items()}
    return Reanalysis(frame[frame["n_all"] > 0].reset_index(drop=True), scope, int(judged.studied.sum()), dropped)


_COLUMNS = (
    "evaluator", "axis", "family", "analysis", "n_all", "median_all", "low_all", "high_all", "n_kept", "median_kept",
    "low_kept", "high_kept", "change", "flips", "direction", "power", "note",
)  # fmt: skip


class _Judged:
    """What people said of each pair, bool [P, N]; a pair counts where some evaluator scored it."""

    def __init__(self, table: ScoreTable, outcomes: pd.DataFrame) -> None:
        own = outcomes[outcomes["subject"] == table.scope.subject]
        items = pd.MultiIndex.from_frame(table.items[["corpus", "item"]])
        place = items.get_indexer(pd.MultiIndex.from_frame(own[["corpus", "item"]]))
        probe = table.probes.index.get_indexer(pd.Index(own["probe"]))
        there = (place >= 0) & (probe >= 0)
        at = probe[there], place[there]
        self.studied, self._one, self._fully = (np.zeros(table.scores.shape[1:], dtype=bool) for _ in range(3))
        self.studied[at] = True
        self._one[at] = (own["outcome"] == ONE).to_numpy()[there]
        self._fully[at] = own["fully_correct"].to_numpy(dtype=bool)[there]
        scored = ~np.isnan(table.scores).all(axis=0)
        self.studied &= scored

    def whole(self, scope: str) -> np.ndarray:
        """Every pair that is looked at."""
        return self.studied if scope == "studied" else np.ones_like(self.studied)

    def kept(self, scope: str) -> dict[str, np.ndarray]:
        """The pairs that stay, by analysis; in the scope ``run`` those that nobody judged stay too."""
        whole = self.whole(scope)
        fully = self._fully if scope == "studied" else self._fully | ~self.studied
        return {WITHOUT_ONE_SIDED: whole & ~self._one, BOTH_FULLY_CORRECT: whole & fully}


def _compared(
    table: ScoreTable, evaluator: str, probes: tuple[str, ...], whole: np.ndarray, kept: np.ndarray
) -> dict[str, object]:
    rows = table.places(probes)
    changes = (table.changes(evaluator, probes, where=pairs[rows]) for pairs in (whole, kept))
    every, less = (no_point(median_bca(each.percent, groups=table.sources)) for each in changes)
    lost = bool((whole != kept)[rows].any())
    notes = [f"{name}: {each.note}" for name, each in (("all", every), ("kept", less)) if each.note]
    return {
        "n_all": every.n,
        **ends(every, ("median_all", "low_all", "high_all")),
        "n_kept": less.n,
        **ends(less, ("median_kept", "low_kept", "high_kept")),
        "change": less.estimate - every.estimate,
        "flips": bool(np.sign(less.estimate) * np.sign(every.estimate) < 0),
        "direction": direction(less, every) if lost else NOTHING,
        "power": untold(less, every) if lost else "",
        "note": less.note if less.note == every.note else "; ".join(notes),
    }

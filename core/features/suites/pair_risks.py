"""Flip risk beside a suite of two pictures of one text: how often edits that should not matter would turn it over.

The two pictures of a comparison are edited independently, so that its risk is that of different pictures
(:mod:`core.statistics.flip_risk`): Pr[δ′ - δ > gap], δ and δ′ the shifts of a family that a run of the same evaluator
measured, at the gap of the comparison's two scores.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from core.analysis.effects import bounds, ends
from core.analysis.flip_cells import shift_cells
from core.analysis.reading import read_table
from core.analysis.scope import narrow
from core.analysis.table import ScoreTable
from core.api.opened_run import place
from core.corpora.suites.model import Suite
from core.errors import InvalidInput
from core.probes.base import Edits
from core.probes.registry import catalogue
from core.scoring.suite_scores import SuiteScores
from core.statistics.bootstrap import Interval
from core.statistics.shares import share
from core.store.store import Store

RISK_FIELDS = ("family", "n", "n_items", "gap", *bounds("evident"), *bounds("near"), *bounds("risk"))


@dataclass(frozen=True, slots=True)
class RunShifts:
    """What a run says of how edits move scores."""

    table: ScoreTable  # its scores
    run: str  # its id
    keys: Mapping[str, str]  # fingerprint of each of its evaluators

    def told(self, evaluator: str, key: str) -> str:
        """The run in words, and whether its evaluator is the one of this fingerprint; empty where it has none."""
        if evaluator not in self.keys:
            return ""
        same = self.keys[evaluator] == key
        return self.run if same else f"{self.run}, which scored with another fingerprint of {evaluator}"


def shifts_of(run: Path, suite: Suite) -> RunShifts:
    """Read a run, by its folder or name, for the comparisons of a suite; raises InvalidInput if the suite has no
    comparison of two pictures, or there is no such run."""
    if not suite.by_text or not suite.compared:
        raise InvalidInput(
            f"--run is of comparisons of two pictures of one text, and {suite.name} has none; leave it out"
        )
    with Store.open(place(str(run))) as store:
        scope = narrow(store).only()
        found = next(each for each in store.runs() if each.id == scope.run)
        keys = {
            str(each.get("name")): str(each.get("fingerprint", {}).get("key", ""))
            for each in found.manifest.get("evaluators") or []
        }
        return RunShifts(read_table(store, scope), found.id, keys)


def pair_risks(suite: Suite, scores: SuiteScores, table: ScoreTable, evaluator: str) -> pd.DataFrame:
    """What each family of a run's edits would do to the comparisons of a suite of two pictures of one text; what people
    call a tie is left out. ``scores``: in the suite's order, by the evaluator that the run scored, too.

    Returns:
        RISK_FIELDS, a row a family of edits of the picture with two items or more (an edit of the text would be of
        both sides at once): n comparisons, n_items of the run; gap: median difference of
        the two scores; evident: the smallest gap whose risk is below 5 %, with its interval over the run's sources;
        near: share of comparisons that lie closer together; risk: mean flip risk of the comparisons at their own gaps;
        both in percent, with Wilson's interval over texts, the run's shifts as they are. Empty where the run does not
        know the evaluator, or no comparison has both scores.
    """
    preferred, other = (np.atleast_2d(each).mean(axis=0) for each in (scores.preferred, scores.other))
    gaps = np.abs(preferred - other)
    known = ~np.isnan(gaps) & np.array([not each.tied for each in suite.compared], dtype=bool)
    texts = np.array([each.source for each in suite.compared], dtype=object)[known].astype(str)
    gaps, rows = gaps[known], list[dict[str, object]]()
    view = table.view()
    known = {each.name for each in catalogue() if each.edits is Edits.IMAGE}
    pictures = {family for family, probes in view.families().items() if known >= set(probes)}
    for cell in shift_cells(view) if len(gaps) and evaluator in view.evaluators else ():
        pairs = cell.apart.pairs if cell.evaluator == evaluator and cell.family in pictures else None
        if pairs is None or pairs.n_items < 2:
            continue
        evident = cell.apart.evident()
        about = {"family": cell.family, "n": len(gaps), "n_items": pairs.n_items, "gap": float(np.median(gaps))}
        near = ends(_share(gaps < evident.estimate, texts), bounds("near"), times=100)
        risk = ends(_share(2 * pairs.risks(gaps), texts), bounds("risk"), times=50)  # never above one half
        rows.append({**about, **ends(evident, bounds("evident")), **near, **risk})
    return pd.DataFrame(rows, columns=list(RISK_FIELDS))


def _share(values: np.ndarray, texts: np.ndarray) -> Interval:
    held = np.asarray(values, dtype=np.float64)
    if (texts == texts[0]).all():
        return Interval(float(held.mean()), math.nan, math.nan, len(held), 0.95)
    return share(held, groups=texts)

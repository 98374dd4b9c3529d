"""What could not be made: comparisons that a probe refused for an item's caption, with the reasons.

A run keeps what it refused by item and edit, not by caption.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from core.analysis.comparisons import families
from core.analysis.effects import corpora
from core.analysis.facts import stored
from core.analysis.memo import once
from core.analysis.table import ScoreTable, View
from core.probes.base import ENGLISH

REFUSALS_COLUMNS = ("corpus", "family", "n_refused", "refused")
NOT_EDITED, NOT_READ = "language-not-edited", "language-not-read"
MOST = 3
"""Reasons that are named, the most frequent first."""


def refusals(view: View) -> pd.DataFrame:
    """How many comparisons of every directional family were refused, and why.

    Returns:
        COLUMNS, one row a corpus and family: n_refused counts comparisons of the items in view, whoever scores; refused
        names the most frequent reasons with their n, empty where there is none. One that was refused for several
        reasons counts in each.
    """
    table = view.table
    records = [
        (corpus, family, *_counted(reasons_of(table, probes), own & view.items))
        for family, probes in families(view).items()
        for corpus, own in corpora(table)
    ]
    return pd.DataFrame(records, columns=list(REFUSALS_COLUMNS))


def _counted(reasons: Mapping[str, np.ndarray], items: np.ndarray) -> tuple[int, str]:
    if not reasons:
        return 0, ""
    counts = {code: int(there[:, items].sum()) for code, there in reasons.items()}
    named = sorted((code for code, n in counts.items() if n), key=lambda code: (-counts[code], code))
    told = [f"{code} {counts[code]}" for code in named[:MOST]]
    others = f"and {len(named) - MOST} more" if len(named) > MOST else ""
    whole = np.logical_or.reduce([there[:, items] for there in reasons.values()])
    return int(whole.sum()), ", ".join(filter(None, (*told, others)))


@once
def reasons_of(table: ScoreTable, probes: tuple[str, ...]) -> Mapping[str, np.ndarray]:
    """Reason -> which comparisons of some probes were refused for it, bool [k, N]."""
    rows = table.about.get("refused")
    if rows is None or rows.empty:
        return {}
    rows = rows[rows["probe"].isin(probes)]
    names = pd.MultiIndex.from_frame(table.items[["corpus", "item"]].astype(str))
    items = names.get_indexer(pd.MultiIndex.from_frame(rows[["corpus", "item"]].astype(str)))
    which = pd.Index(probes).get_indexer(pd.Index(rows["probe"].astype(object)))
    absent, found = ~stored(table, probes), dict[str, np.ndarray]()
    for code in sorted(set(rows["code"])):
        here = (items >= 0) & (rows["code"] == code).to_numpy()
        mask = np.zeros(absent.shape, dtype=bool)
        mask[which[here], items[here]] = True
        found[code] = mask & absent
    return _of_language(found, table.scope.language)


def _of_language(found: dict[str, np.ndarray], language: str) -> Mapping[str, np.ndarray]:
    """Without what must be of a caption in another language: every edit is made, and read by some, in English."""
    own = {code: mask for code, mask in found.items() if code not in (NOT_EDITED, NOT_READ)}
    if language == ENGLISH:
        return own
    if NOT_EDITED in found:
        own = {code: mask & ~found[NOT_EDITED] for code, mask in own.items()} | {NOT_EDITED: found[NOT_EDITED]}
    if NOT_READ in found:
        own[NOT_READ] = found[NOT_READ] & ~np.logical_or.reduce([*own.values(), np.zeros_like(found[NOT_READ])])
    return own

"""Labels that could as well belong to another category, as the runs record them beside their items."""

from collections.abc import Mapping, Sequence

import pandas as pd

from core.analysis.scope import Narrowed
from core.store.manifest import Run

TIES = "ties"
"""Name under which a table keeps them: columns :data:`COLUMNS`."""

COLUMNS = ("corpus", "label", "category", "other")
"""A row a tied label of a corpus; a corpus whose run counted ties and has none has one row without a label."""


def recorded(run: Run) -> pd.DataFrame | None:
    """Ties that a run records, one a row, without the corpus; None where it was audited before ties were counted."""
    told = run.manifest["corpus"].get("tied")
    if not isinstance(told, Mapping):
        return None
    rows = [
        (str(label), str(each["category"]), str(each["or"]))
        for label, each in told.items()
        if isinstance(each, Mapping) and {"category", "or"} <= each.keys()
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS[1:]), dtype=object)


def ties_of(runs: Sequence[Run], scope: Narrowed) -> pd.DataFrame:
    """Ties of the runs of a scope, columns :data:`COLUMNS`; a corpus that is not among them has none recorded."""
    found = []
    for run in (each for each in runs if each.id in scope.run_ids):
        ties = recorded(run)
        if ties is not None:
            rows = ties if len(ties) else pd.DataFrame([(None, None, None)], columns=list(COLUMNS[1:]), dtype=object)
            found.append(rows.assign(corpus=str(run.manifest["corpus"].get("name", ""))))
    return pd.concat(found, ignore_index=True)[list(COLUMNS)] if found else pd.DataFrame(columns=list(COLUMNS))


def other_category(items: pd.DataFrame, ties: pd.DataFrame) -> pd.Series:
    """The other category of every item whose label has one, None elsewhere.

    An item that has neither of the two categories got its own elsewhere: it has no tie.

    Args:
        items: columns corpus, label, category; [N].
        ties: columns :data:`COLUMNS`.
    """
    rows = ties.dropna(subset="label").itertuples(index=False)
    known = {
        (corpus, label, one): two
        for corpus, label, category, other in rows
        for one, two in ((category, other), (other, category))
    }
    named = zip(*(items[column].tolist() for column in ("corpus", "label", "category")), strict=True)
    found = [known.get(each) for each in named] if known else [None] * len(items)
    return pd.Series(found, index=items.index, dtype=object)

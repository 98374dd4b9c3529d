"""What stands behind a mark of a leaderboard: the pictures of one system, or those on which two neighbours swap."""

import numpy as np
import pandas as pd

from core.features.systems.system_board import own_rows

SWAPPED = (
    "item",
    "probe",
    "a_caption",
    "b_caption",
    "a_before",
    "b_before",
    "a_after",
    "b_after",
    "gap_before",
    "gap_after",
)


def lowest(rows: pd.DataFrame, evaluator: str, system: str) -> pd.DataFrame:
    """Captions of a system on unedited pictures with their scores, the lowest first.

    Args:
        rows: of :data:`core.features.systems.board_scores.COLUMNS`.
        evaluator: whose scores.
        system: whose captions.

    Returns:
        item, caption, score.
    """
    own = own_rows(rows)
    own = own[(own["evaluator"] == evaluator) & (own["system"] == system)].dropna(subset=["score"])
    ordered = own.sort_values(["score", "item"], kind="stable", ignore_index=True)
    return ordered[["item", "caption", "score"]]


def swapped(rows: pd.DataFrame, evaluator: str, higher: str, lower: str, family: str) -> pd.DataFrame:
    """Pictures on which the captions of two systems change order under an edit of a family, the largest change first.

    A tie on either side is no change of order.

    Args:
        rows: of :data:`core.features.systems.board_scores.COLUMNS`.
        evaluator: whose scores.
        higher, lower: the systems, a and b below.
        family: of the edits.

    Returns:
        SWAPPED; gaps are a minus b.
    """
    own = rows[(rows["place"] == 0) & (rows["evaluator"] == evaluator) & rows["system"].isin([higher, lower])]
    edited = own[own["family"] == family]
    sides = {}
    for side, system in (("a", higher), ("b", lower)):
        clean = own[(own["probe"] == "") & (own["system"] == system)].set_index("item")
        after = edited[edited["system"] == system].set_index(["item", "probe"])["score"]
        items = after.index.get_level_values("item")
        sides[side] = pd.DataFrame(
            {
                f"{side}_caption": clean["caption"].reindex(items).to_numpy(),
                f"{side}_before": clean["score"].reindex(items).to_numpy(),
                f"{side}_after": after.to_numpy(),
            },
            index=after.index,
        )
    both = sides["a"].join(sides["b"], how="inner").reset_index()
    both["gap_before"], both["gap_after"] = both["a_before"] - both["b_before"], both["a_after"] - both["b_after"]
    found: pd.DataFrame = both[np.sign(both["gap_before"]) * np.sign(both["gap_after"]) < 0]
    change = (found["gap_after"] - found["gap_before"]).abs()
    found = found.assign(change=change).sort_values(["change", "item"], ascending=[False, True], kind="stable")
    return found[list(SWAPPED)].reset_index(drop=True)

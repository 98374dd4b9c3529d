"""Artifact filters on composites whose diagnostics are known."""

import math

import numpy as np
import pandas as pd
import pytest

from core.analysis.artifacts import artifact_filters
from core.analysis.bootstrap import median_bca
from core.errors import InvalidInput


def composites(n: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = [
        {"evaluator": "e", "corpus": "c", "item": str(i), "subject": "template", "probe": f"reposition-{anchor}",
         "score": score, "seam_energy": float(i), "bg_delta": float(n - i)}
        for i in range(n)
        for anchor, score in (("TL", 1.0), ("BR", 1.0 + rng.uniform(0, 0.1)), ("TR", 9.0))
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_the_unfiltered_row_is_the_contrast_of_the_two_probes() -> None:
    rows = composites()
    found = artifact_filters(rows).iloc[0]
    expected = median_bca(100 * (rows.loc[rows["probe"] == "reposition-BR", "score"] - 1.0))
    assert (found["filter"], found["median_percent"]) == ("none", pytest.approx(expected.estimate))
    assert (found["low"], found["n_items"]) == (pytest.approx(expected.low), 40)


def test_filters_drop_the_top_share_of_the_composites() -> None:
    found = artifact_filters(composites()).set_index(["filter", "q"])
    assert found["cut_items"].to_dict() == {
        ("none", 0): 0, ("seam", 5): 2, ("seam", 10): 4, ("background", 5): 2, ("background", 10): 4,
        ("either", 5): 4, ("either", 10): 8,
    }  # fmt: skip
    assert found["same_direction"].all()


def test_dropping_what_carries_the_effect_shows() -> None:
    rows = composites()
    bottom_right = rows["probe"] == "reposition-BR"
    rows.loc[bottom_right, "score"] = np.where(rows.loc[bottom_right, "seam_energy"] >= 19, 2.0, 0.5)
    found = artifact_filters(rows, shares=(10,)).set_index("filter")
    assert (found.loc["none", "median_percent"], found.loc["seam", "median_percent"]) == (100.0, -50.0)
    assert not found.loc["seam", "same_direction"]


def test_composites_without_a_diagnostic_or_a_score_are_no_traceback() -> None:
    rows = composites(4).assign(seam_energy=math.nan)
    rows.loc[rows["item"] == "0", "score"] = math.nan
    rows.loc[rows["item"] == "1", "score"] = 0.0
    found = artifact_filters(rows).set_index(["filter", "q"])
    assert found.loc[("seam", 10), "cut_items"] == 0
    assert found.loc[("none", 0), "n_items"] == 2
    assert artifact_filters(rows.iloc[:0]).empty


def test_an_impossible_share_is_refused() -> None:
    with pytest.raises(InvalidInput, match="100"):
        artifact_filters(composites(2), shares=(100,))

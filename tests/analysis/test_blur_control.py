"""The blur control against the raw rows of the shipped run, and its words."""

import math

import numpy as np
import pytest
from scipy import stats

from core.analysis.questions import Options, catalogue
from core.analysis.questions.controls import FAILS, OPEN, PASSES, said
from core.analysis.reading import read_table
from core.analysis.verdicts import TOO_FEW
from core.statistics.bootstrap import Interval
from core.store.store import Store
from tests.analysis.made_runs import raw, shifts


def test_the_control_compares_each_item_with_itself_as_the_raw_rows_do(store: Store) -> None:
    question = next(each for each in catalogue(read_table(store)) if each.id == "S22")
    found = question.compute(read_table(store).view(), Options()).set_index("evaluator")
    rows = shifts(raw())
    rows = rows[rows["family"].isin(["reposition", "blur"])].assign(size=lambda frame: frame["percent"].abs())
    sizes = rows.groupby(["evaluator", "family", "item"])["size"].median().unstack("family").dropna()
    for evaluator, own in sizes.groupby("evaluator"):
        row = found.loc[str(evaluator)]
        difference = (own["reposition"] - own["blur"]).to_numpy()
        assert row["n_items"] == len(own)
        assert row["moved"] == pytest.approx(own["reposition"].median())
        assert row["blurred"] == pytest.approx(own["blur"].median())
        assert row["value"] == pytest.approx(np.median(difference))
        assert row["low"] <= row["value"] <= row["high"]
        if row["test"].startswith("Wilcoxon"):
            assert row["p"] == pytest.approx(stats.wilcoxon(difference).pvalue)
        else:
            assert row["p"] == pytest.approx(stats.ttest_rel(own["reposition"], own["blur"]).pvalue)


@pytest.mark.parametrize(
    ("low", "high", "n", "words"),
    [(0.1, 2.0, 40, PASSES), (-2.0, -0.1, 40, FAILS), (-1.0, 1.0, 40, OPEN), (0.1, 2.0, 9, TOO_FEW),
     (math.nan, math.nan, 40, OPEN)],
)  # fmt: skip
def test_the_words_follow_the_interval(low: float, high: float, n: int, words: str) -> None:
    assert said(Interval((low + high) / 2, low, high, n, 0.95)) == words

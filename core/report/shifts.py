"""Contrasts, tests and effect sizes of the cells of a cube, by the functions of ``core.analysis``."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from core.analysis.bootstrap import median_bca, median_bca_levels
from core.analysis.contrasts import MARGIN, verdict
from core.analysis.mixed_model import mixed_effect
from core.analysis.shift_tests import cliffs_delta, holm, paired_test, standardised_shift
from core.report.cube import Cube, per_item, percent
from core.report.model import Column

EVALUATOR, CORPUS = Column("evaluator", "Evaluator", kind="text"), Column("corpus", "Corpus", kind="text")
COUNT = Column("n_items", "n", digits=0)
PERCENT = Column("median_percent", "Median %Δ [95 % CI]", signed=True, low="low", high="high")
ABSOLUTE = Column("median_abs_percent", "Median |%Δ| [95 % CI]", low="abs_low", high="abs_high")
TESTS = (
    Column("cliffs_delta", "Cliff’s δ", signed=True),
    Column("test", "Test", kind="text"),
    Column("p", "p", kind="p"),
    Column("p_holm", "p (Holm)", kind="p"),
    Column("verdict", "Verdict (±1 %)", kind="text"),
)
ALL = "all"
"""Stands in the corpus column where the items of every corpus are taken together."""

HOW = (
    "An item counts once, by the median over its probes. Intervals: 95 % BCa bootstrap over items, 10 000 resamples, "
    "seed 2025. Test: paired t where both samples pass Shapiro–Wilk at 0.05, Wilcoxon signed-rank otherwise, "
    "two-sided; Holm over this table. Verdict: does the 95 % interval exclude 0, does the 90 % interval lie in ±1 %."
)


def contrast(after: np.ndarray, before: np.ndarray) -> dict[str, object]:
    """Contrast of one cell with its test and effect sizes.

    Args:
        after: scores under k probes, float64 [k, n].
        before: their baselines, float64 [k, n].

    Returns:
        The numbers of ``core.analysis.shift_tests.contrasts_with_tests``, Holm excepted, from the same functions.
    """
    change = percent(after, before)
    signed, size = per_item(change), per_item(np.abs(change))
    (moved, narrow), absolute = median_bca_levels(signed, levels=(0.95, 0.90)), median_bca(size)
    whole = ~(np.isnan(after) | np.isnan(before))
    first = per_item(np.where(whole, before, math.nan))
    second = first + per_item(np.where(whole, after - before, math.nan))
    test = paired_test(first, second)
    return {
        "n_items": moved.n,
        "median_percent": moved.estimate, "low": moved.low, "high": moved.high,
        "median_abs_percent": absolute.estimate, "abs_low": absolute.low, "abs_high": absolute.high,
        "median_delta": _median(second - first),
        "standardised": standardised_shift(first, second),
        "cliffs_delta": cliffs_delta(second[~np.isnan(second)], first[~np.isnan(first)]),
        "test": test.name, "p": test.p, "test_note": test.note,
        "verdict": verdict(moved, narrow, margin=MARGIN),
        "n_unscored": int((np.isnan(after) & ~np.isnan(before)).sum()),
        "n_zero_baseline": int((whole & np.isnan(change)).sum()),
    }  # fmt: skip


def contrasts(
    cube: Cube, probes: Mapping[str, Sequence[str]], *, keep: np.ndarray | None = None, pooled: bool = False
) -> pd.DataFrame:
    """Contrasts of every evaluator and corpus under named groups of probes, Holm over the table.

    Args:
        cube: scores.
        probes: name of a group, e.g. a family or a modifier -> its probes. A group without probes is left out.
        keep: items to keep, bool [N].
        pooled: add a line over all corpora, where there are several.

    Returns:
        Columns evaluator, corpus, group + those of :func:`contrast` + p_holm. Cells without an item are left out.
    """
    records = []
    for evaluator in cube.evaluators:
        for corpus, of_corpus in corpora(cube, pooled=pooled):
            chosen = of_corpus if keep is None else of_corpus & keep
            for group, names in probes.items():
                after, before = cube.after(evaluator, names)[:, chosen], cube.before(evaluator, names)[:, chosen]
                if names and not np.isnan(before).all():
                    records.append(
                        {"evaluator": evaluator, "corpus": corpus, "group": group, **contrast(after, before)}
                    )
    return with_holm(records)


def with_holm(records: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    """Frame of a table's cells, with Holm's correction over them."""
    frame = pd.DataFrame(list(records))
    if len(frame):
        frame["p_holm"] = holm(frame["p"].astype(float))
    return frame


def corpora(cube: Cube, *, pooled: bool = False) -> Iterable[tuple[str, np.ndarray]]:
    """Every corpus with its items, bool [N]; with ``pooled``, all of them together where there are several."""
    names = cube.corpora
    for name in names:
        yield name, cube.of_corpus(name)
    if pooled and len(names) > 1:
        yield ALL, np.ones(len(cube.items), dtype=bool)


def mixed(cube: Cube, evaluator: str, after: np.ndarray, before: np.ndarray, keep: np.ndarray) -> dict[str, object]:
    """β₁ of score ~ perturbed with crossed random intercepts for image and category.

    Args:
        cube: scores.
        evaluator: its name, for the table.
        after: one score an item, float64 [N].
        before: its baseline, float64 [N].
        keep: items to keep, bool [N].
    """
    category = cube.items["category"].fillna("unknown").to_numpy()[keep]
    image = np.flatnonzero(keep)
    whole = ~(np.isnan(after[keep]) | np.isnan(before[keep]))
    scores = np.concatenate([before[keep][whole], after[keep][whole]])
    found = mixed_effect(
        scores, np.repeat([0, 1], int(whole.sum())), np.tile(image[whole], 2), np.tile(category[whole], 2)
    )
    return {"evaluator": evaluator, "beta": found.effect, "beta_low": found.low, "beta_high": found.high,
            "beta_n": found.n, "beta_note": found.note}  # fmt: skip


def _median(values: np.ndarray) -> float:
    present = values[~np.isnan(values)]
    return float(np.median(present)) if len(present) else math.nan

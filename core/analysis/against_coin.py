"""Which tests an evaluator passes: whether it is better at them than a coin, by the intervals of its failure rates."""

from collections.abc import Sequence

import pandas as pd

from core.analysis.verdicts import NO_CLAIM
from core.probes.titles import family_title
from core.statistics.comparisons import RIGHT
from core.statistics.wording import counted


def too_few(rates: pd.DataFrame) -> pd.DataFrame:
    """Rows of the tests that have too few items, or too few sources, under every evaluator and in every corpus."""
    few = rates["verdict"].isin(NO_CLAIM)
    return rates[few.groupby([rates["label"], rates["caption"]]).transform("all")] if len(rates) else rates


def against_coin(rates: pd.DataFrame) -> tuple[str, str]:
    """On how many tests each evaluator is better than a coin, and which test is missed most, a sentence each.

    Args:
        rates: of :func:`core.analysis.questions.directional.matrix`; a test of several corpora counts in each.

    Returns:
        Both; the second is empty where no test says anything, and where nothing is missed.
    """
    told = rates[~rates["verdict"].isin(NO_CLAIM) & (rates["label"] == rates["family"])]
    if told.empty:
        return "No test here has enough independent pictures to say whether a metric is better than a coin.", ""
    right = (told["verdict"] == RIGHT).groupby(told["evaluator"]).agg(["sum", "size"]).astype(int)
    alike: dict[tuple[int, int], list[str]] = {}
    for name, passed, asked in right.sort_index().itertuples(name=None):
        alike.setdefault((passed, asked), []).append(str(name))
    said, before = [], 0
    for (passed, asked), names in sorted(alike.items(), key=lambda each: -each[0][0] / each[0][1]):
        of = "" if asked == before else f" of {counted(asked, 'test')}"
        said.append(f"{_listed(names)} on {passed or 'none'}{of}")
        before = asked
    mean = told.groupby("family")["failure"].mean().sort_values(ascending=False, kind="stable")
    worst = told[told["family"] == mean.index[0]].sort_values(["failure", "evaluator"])
    ends = [f"{round(each['failure'])} % ({each['evaluator']})" for _, each in worst.iloc[[0, -1]].iterrows()]
    span = f"from {ends[0]} to {ends[1]}" if len(told["evaluator"].unique()) > 1 else f"in {ends[1]}"
    missed = f"“{family_title(str(mean.index[0]))}” is missed most: {span} of comparisons." if mean.iloc[0] > 0 else ""
    return f"Better than a coin: {', '.join(said)}.", missed


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))

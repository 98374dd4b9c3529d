"""Which tests an evaluator passes: whether it is better at them than a coin, by the intervals of its failure rates."""

import pandas as pd

from core.analysis.verdicts import NO_CLAIM
from core.probes.titles import family_title
from core.statistics.comparisons import RIGHT
from core.statistics.wording import between, counted, tallied


def too_few(rates: pd.DataFrame) -> pd.DataFrame:
    """Rows of the tests that have too few items, or too few sources, under every evaluator and in every corpus."""
    few = rates["verdict"].isin(NO_CLAIM)
    return rates[few.groupby([rates["label"], rates["caption"]]).transform("all")] if len(rates) else rates


def against_coin(rates: pd.DataFrame) -> str:
    """On how many tests each evaluator is better than a coin, in a sentence.

    Args:
        rates: of :func:`core.analysis.questions.directional.matrix`; a test of several corpora counts in each.
    """
    right = _counts(rates)
    if right.empty:
        return "No test here has enough independent pictures to say whether a metric is better than guessing."
    counts = {str(name): (better, asked) for name, better, asked in right.itertuples(name=None)}
    return f"Better than guessing: {tallied(counts, 'on', 'test')}.{_missed_most(rates)}"


def _missed_most(rates: pd.DataFrame) -> str:
    """The test whose mean share of misses over evaluators is highest, with the shares' ends; empty where none leads."""
    told = _told(rates)
    by = told.groupby("label", sort=False)["failure"].agg(["mean", "min", "max"])
    first = by[by["mean"] == by["mean"].max()]
    if len(by) < 2 or len(first) > 1:
        return ""
    share = between(first[["min", "max"]].iloc[0])
    return f" Missed most: {family_title(str(first.index[0]))}, {share} %."


def passed(rates: pd.DataFrame) -> dict[str, str]:
    """Evaluator -> on how many tests it is better than a coin, in words that go on from its name; likewise."""
    right = _counts(rates).itertuples(name=None)
    return {
        str(name): f"beats guessing on {better or 'none'} of {counted(asked, 'test')}" for name, better, asked in right
    }


def _counts(rates: pd.DataFrame) -> pd.DataFrame:
    """Tests that each evaluator passes, and those that say anything, evaluators by name."""
    told = _told(rates)
    right = (told["verdict"] == RIGHT).groupby(told["evaluator"]).agg(["sum", "size"])
    return right.astype(int).sort_index()


def _told(rates: pd.DataFrame) -> pd.DataFrame:
    """Rows of whole tests of which there is enough to claim anything."""
    return rates[~rates["verdict"].isin(NO_CLAIM) & (rates["label"] == rates["family"])]

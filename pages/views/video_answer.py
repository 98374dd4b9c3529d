"""Whether the scores of a video tell which way it runs, in a sentence."""

from collections.abc import Sequence
from itertools import takewhile

import pandas as pd

from core.features.video.video_edits import ORIGINAL, REVERSED
from pages.views.common.text import number, safe


def directions_told(table: pd.DataFrame, forward: str, backward: str) -> str:
    """Say that no metric tells a video from itself backwards, where each holds its captions in one order both ways.

    Args:
        table: ``core.features.video.video_edits.score_edits`` of one metric or more.
        forward: a caption that is true of the video.
        backward: the same with the direction that is true of it backwards.

    Returns:
        A sentence in markdown; empty where a score is missing or an order changes.
    """
    rows = table[table["edit"].isin((ORIGINAL, REVERSED)) & table["caption"].isin((forward, backward))]
    scores = rows.pivot_table(index="evaluator", columns=["edit", "caption"], values="score", aggfunc="first")
    if scores.shape[1] < 4 or scores.isna().any(axis=None) or len(scores) < table["evaluator"].nunique():
        return ""
    leads = [scores[edit][forward] - scores[edit][backward] for edit in (ORIGINAL, REVERSED)]
    if not (leads[0].gt(0).eq(leads[1].gt(0)) & leads[0].lt(0).eq(leads[1].lt(0))).all():
        return ""
    names = list(scores.index)
    who = "Neither metric tells" if len(names) == 2 else f"None of {len(names)} metrics tells"
    who = f"{safe(str(names[0]))} does not tell" if len(names) == 1 else who
    first, second = (safe(part) for part in _apart(forward, backward))
    return f"{who} “{first}” from “{second}” here: backwards, both captions stand in the same order."


def _apart(one: str, other: str) -> tuple[str, str]:
    """The words in which two captions differ, without what both begin and end with."""
    first, second = one.split(), other.split()
    start = _alike(first, second)
    end = _alike(first[start:][::-1], second[start:][::-1])
    cut = [" ".join(each[start : len(each) - end]).rstrip(".") for each in (first, second)]
    return (cut[0], cut[1]) if all(cut) else (one, other)


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def scores_told(table: pd.DataFrame) -> list[str]:
    """What each metric gives the captions on the frames as they are, in a sentence each."""
    places = {caption: place for place, caption in enumerate(table["caption"].unique(), start=1)}
    plain = table[table["edit"].eq(ORIGINAL) & table["score"].notna()]
    return [
        f"{safe(str(name))}, frames as they are: "
        + ", ".join(
            f"caption {places[caption]} scores {number(score)}"
            for caption, score in zip(own["caption"], own["score"], strict=True)
        )
        + "."
        for name, own in plain.groupby("evaluator", sort=False)
    ]

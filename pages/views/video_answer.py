"""That no score of a video tells which way it runs, in a sentence."""

from collections.abc import Sequence
from itertools import takewhile

from pages.views.common.text import safe


def direction_told(pair: Sequence[str] = ()) -> str:
    """Say that a video backwards keeps its scores, in markdown.

    Args:
        pair: a caption that is true of the video, and the same with the direction that is true of it backwards; none
            where that is not known.
    """
    said = "No score here sees which way the video runs: played backwards, "
    if len(pair) != 2:
        return f"{said}it keeps every score."
    first, second = (safe(part) for part in _apart(*pair))
    return f"{said}“{first}” turns into “{second}”, yet every score stays the same."


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

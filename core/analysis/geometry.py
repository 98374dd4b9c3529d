"""Does a text encoder's sense of good and bad say which way a modifier moves a score? Source: paper A, A.13.

v_val = mean e(positive words) - mean e(negative words), at unit length; s(a) = ⟨e(a), v_val⟩ for a modifier a, or
the mean of ⟨e(a, o), v_val⟩ over objects o; Spearman's ρ of s(a) with the median %Δ that a induces.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from core.analysis.verdicts import ALPHA
from core.errors import InvalidInput
from core.statistics.permutation import RankTest, rank_test
from core.statistics.power import POWER, smallest_rho

WORD, PHRASE = "word", "phrase"
LEVELS = (WORD, PHRASE)

Encode = Callable[[Sequence[str]], np.ndarray]
"""Texts -> unit vectors, float [n, d]; a row of NaN where a text cannot be read."""

ALL = "all"
"""Stands for every family together in the table of tests."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """Modifiers along the valence direction, and whether their place goes with their shift.

    Args:
        level: WORD or PHRASE.
        points: columns family, modifier, projection, median_percent, low, high, n_items, n_objects (phrases behind
            the projection; 0 at word level); one row a modifier with both numbers.
        tests: columns family, rho, p, n, method, least, note; ALL first, then family by family. Each family has a
            baseline of its own, so ALL ranks within families, and its orders keep every modifier in its own.
        neutral: mean projection of the neutral controls, NaN where there is none.
        left_out: one sentence for each modifier or word that could not be placed.
    """

    level: str
    points: pd.DataFrame
    tests: pd.DataFrame
    neutral: float
    left_out: tuple[str, ...] = ()


def valence_direction(positive: ArrayLike, negative: ArrayLike) -> np.ndarray:
    """Difference of two means of embeddings, at unit length.

    Args:
        positive: embeddings of the positive words, float [p, d], p ≥ 1; rows with a NaN are left out.
        negative: of the negative words, float [q, d].

    Returns:
        float64 [d].

    Raises:
        InvalidInput: if a side is empty, the dimensions differ, or both means are the same.

    Example:
        >>> valence_direction([[1.0, 0.0]], [[0.0, 1.0]]).round(3)
        array([ 0.707, -0.707])
    """
    sides = [_readable(embeddings, side) for embeddings, side in ((positive, "positive"), (negative, "negative"))]
    if sides[0].shape[1] != sides[1].shape[1]:
        raise InvalidInput(f"embeddings of {sides[0].shape[1]} and {sides[1].shape[1]} dimensions do not compare")
    difference = sides[0].mean(axis=0) - sides[1].mean(axis=0)
    length = float(np.linalg.norm(difference))
    if length < 1e-9:
        raise InvalidInput("positive and negative words have the same mean embedding; choose words that differ more")
    return np.asarray(difference / length)


def geometry(
    encode: Encode,
    shifts: pd.DataFrame,
    *,
    positive: Sequence[str],
    negative: Sequence[str],
    level: str = WORD,
    objects: Mapping[str, Sequence[str]] | None = None,
    controls: Sequence[str] = (),
) -> Geometry:
    """Place every modifier along the valence direction and hold its place to its median shift.

    Args:
        encode: the text encoder.
        shifts: columns family, modifier, median_percent, low, high, n_items; one row a modifier.
        positive: words that span one end of the direction.
        negative: and the other.
        level: WORD embeds the modifier alone; PHRASE embeds it before each of its objects and takes the mean.
        objects: modifier -> nouns that it was put before in the run; needed at phrase level.
        controls: neutral words; their mean projection is where *no feeling* lies for this encoder.

    Raises:
        InvalidInput: if the level is not known, or a word list is empty or overlaps with the other.
    """
    if level not in LEVELS:
        raise InvalidInput(f"level must be one of {', '.join(LEVELS)}, got {level!r}")
    words = _checked(positive, negative)
    tested = sorted(set(map(str, shifts["modifier"])) & set(words))
    modifiers = list(dict.fromkeys([*map(str, shifts["modifier"]), *controls]))
    phrases = {name: _phrases(name, level, objects or {}) for name in modifiers}
    texts = list(dict.fromkeys([*words, *(text for each in phrases.values() for text in each)]))
    embedded = dict(zip(texts, np.asarray(encode(texts), dtype=np.float64), strict=True))
    direction = valence_direction([embedded[word] for word in positive], [embedded[word] for word in negative])
    placed = {name: _projection([embedded[text] for text in each], direction) for name, each in phrases.items()}
    points = shifts.assign(projection=shifts["modifier"].map(placed),
                           n_objects=[len(phrases[str(name)]) if level == PHRASE else 0
                                      for name in shifts["modifier"]])  # fmt: skip
    whole = points["projection"].notna() & points["median_percent"].notna()
    left_out = [f"{name} has no text that could be read, or no shift" for name in points["modifier"][~whole]]
    left_out += [
        f"{name} is a modifier under test and in a word list: the direction measures itself" for name in tested
    ]
    neutral = [placed[name] for name in controls if not math.isnan(placed[name])]
    kept = points[whole].reset_index(drop=True)
    return Geometry(level, kept, _tests(kept), float(np.mean(neutral)) if neutral else math.nan, tuple(left_out))


def _tests(points: pd.DataFrame) -> pd.DataFrame:
    families = list(dict.fromkeys(points["family"]))
    parts = [(ALL, points), *((name, points[points["family"] == name]) for name in families if len(families) > 1)]
    records = []
    for name, rows in parts:
        found: RankTest = rank_test(rows["projection"], rows["median_percent"], groups=rows["family"])
        records.append({"family": name, "rho": found.rho, "p": found.p, "n": found.n, "method": found.method,
                        "least": found.least, "note": found.note})  # fmt: skip
    return pd.DataFrame(records, columns=["family", "rho", "p", "n", "method", "least", "note"])


def concluded(found: Geometry, evaluator: str) -> list[str]:
    """What each row of the tests comes to, in a sentence, with what it could have shown where it shows nothing.

    Args:
        found: of some modifiers.
        evaluator: its name as the sentence gives it.
    """
    families = found.points["family"].nunique()
    return [_concluded(row, evaluator, families if row["family"] == ALL else 1) for _, row in found.tests.iterrows()]


def _concluded(row: pd.Series, evaluator: str, families: int) -> str:
    n = int(row["n"])
    where = f"{n} modifier{'' if n == 1 else 's'}" + ("" if families == 1 else f" of {families} families")
    if math.isnan(row["rho"]):
        return f"Whether the place that {evaluator} gives a word goes with its shift cannot be told from {where}."
    if row["p"] >= ALPHA:
        return (f"No relation is shown between the place that {evaluator} gives a word, from bad to good, and how far "
                f"the word moves the score ({where}).{_power(n - families + 1)}")  # fmt: skip
    way = "higher" if row["rho"] > 0 else "lower"
    return f"The further {evaluator} places a word on its positive side, the {way} its median %Δ tends to be ({where})."


def _power(n: int) -> str:
    """What so many modifiers would have shown; of several families each takes one, as ranks are within them."""
    least = smallest_rho(n)
    if math.isnan(least):
        return ""
    return f" A rank correlation from ±{least:.2f} on would have shown with {100 * POWER:.0f} % power."


def _phrases(modifier: str, level: str, objects: Mapping[str, Sequence[str]]) -> list[str]:
    return [modifier] if level == WORD else [f"{modifier} {noun}" for noun in objects.get(modifier, ())]


def _projection(embeddings: list[np.ndarray], direction: np.ndarray) -> float:
    values = np.array([embedding @ direction for embedding in embeddings])
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else math.nan


def _checked(positive: Sequence[str], negative: Sequence[str]) -> list[str]:
    for side, words in (("positive", positive), ("negative", negative)):
        if not words:
            raise InvalidInput(f"the list of {side} words is empty; write at least one, e.g. 'good' or 'bad'")
    both = sorted(set(positive) & set(negative))
    if both:
        raise InvalidInput(f"{', '.join(both)} stands in both word lists; keep it in one")
    return list(dict.fromkeys([*positive, *negative]))


def _readable(embeddings: ArrayLike, side: str) -> np.ndarray:
    values = np.atleast_2d(np.asarray(embeddings, dtype=np.float64))
    values = values[~np.isnan(values).any(axis=1)] if values.size else values
    if not len(values) or not values.size:
        raise InvalidInput(f"none of the {side} words could be embedded; choose other words")
    return values

"""The valence direction and projections; the embedding is a table written by hand."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from core.errors import InvalidInput
from core.features.geometry.geometry import ALL, PHRASE, Geometry, geometry, valence_direction

TABLE = {
    "good": [1, 0, 0],
    "bad": [-1, 0, 0],
    "up": [0.8, 0.6, 0],
    "flat": [0, 1, 0],
    "down": [-0.6, 0.8, 0],
    "plain": [0.1, 0, 0.995],
}


def encode(texts: Sequence[str]) -> np.ndarray:
    """The vector of the first word; a phrase about a cup lies a bit lower."""
    rows = []
    for text in texts:
        first, _, noun = text.partition(" ")
        vector = np.array(TABLE.get(first, [math.nan] * 3), dtype=float)
        rows.append(vector - ([0.2, 0, 0] if noun == "cup" else [0, 0, 0]))
    return np.array(rows)


def shifts(**medians: float) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "family": "f",
                "modifier": name,
                "median_percent": value,
                "low": value - 1,
                "high": value + 1,
                "n_items": 9,
            }
            for name, value in medians.items()
        ]
    )


def placed(table: pd.DataFrame, **options: object) -> Geometry:
    return geometry(encode, table, **{"positive": ["good"], "negative": ["bad"], **options})  # type: ignore[arg-type]


def test_the_direction_is_the_difference_of_means_at_unit_length() -> None:
    direction = valence_direction([[2.0, 0.0], [4.0, 0.0]], [[0.0, 4.0]])
    np.testing.assert_allclose(direction, [0.6, -0.8])


@pytest.mark.parametrize(
    ("positive", "negative", "problem"),
    [
        ([[1.0, 0.0]], [[1.0, 0.0]], "same mean"),
        ([[math.nan, 0.0]], [[1.0, 0.0]], "none of the positive"),
        ([[1.0, 0.0]], np.empty((0, 2)), "none of the negative"),
        ([[1.0, 0.0]], [[1.0, 0.0, 0.0]], "dimensions"),
    ],
)
def test_a_direction_that_is_none_is_refused(positive: object, negative: object, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        valence_direction(positive, negative)


def test_words_are_placed_by_their_own_embedding() -> None:
    found = placed(shifts(up=3.0, flat=1.0, down=-2.0), controls=["plain"])
    assert dict(zip(found.points["modifier"], found.points["projection"], strict=True)) == pytest.approx(
        {"up": 0.8, "flat": 0.0, "down": -0.6}
    )
    assert found.neutral == pytest.approx(0.1)
    test = found.tests.iloc[0]
    assert (test["family"], test["rho"], test["n"]) == (ALL, 1.0, 3)
    assert test["p"] == pytest.approx(1 / 3)


def test_phrases_are_averaged_over_their_objects() -> None:
    objects = {"up": ("cup", "dog"), "flat": ("dog",), "down": ("cup",)}
    found = placed(shifts(up=3.0, flat=1.0, down=-2.0), level=PHRASE, objects=objects)
    assert found.points["projection"].tolist() == pytest.approx([0.7, 0.0, -0.8])
    assert found.points["n_objects"].tolist() == [2, 1, 1]


def test_what_cannot_be_placed_is_left_out_and_named() -> None:
    found = placed(shifts(up=3.0, strange=1.0, flat=0.0, down=math.nan))
    assert found.points["modifier"].tolist() == ["up", "flat"]
    assert [sentence.split()[0] for sentence in found.left_out] == ["strange", "down"]
    assert math.isnan(found.tests.iloc[0]["rho"])
    assert "fewer than three" in found.tests.iloc[0]["note"]


def test_a_word_under_test_in_a_list_is_said() -> None:
    found = placed(shifts(up=1.0, flat=2.0, down=3.0), positive=["good", "up"])
    assert any("measures itself" in sentence for sentence in found.left_out)


def test_families_are_tested_one_by_one_beside_all() -> None:
    table = pd.concat([shifts(up=3.0, flat=1.0, down=-2.0), shifts(plain=0.0).assign(family="g")], ignore_index=True)
    assert placed(table).tests["family"].tolist() == [ALL, "f", "g"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"positive": []}, "positive words is empty"),
        ({"negative": ["good"]}, "stands in both"),
        ({"level": "sentence"}, "level must be one of word, phrase"),
    ],
)
def test_word_lists_that_cannot_be_used_are_refused(options: dict[str, object], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        placed(shifts(up=1.0), **options)


def test_families_that_lie_apart_are_not_taken_for_a_correlation() -> None:
    high = shifts(up=13.0, good=12.0, raised=12.5).assign(family="h")
    low = shifts(down=3.0, bad=2.0, sunk=2.5).assign(family="l")
    table = {**TABLE, "raised": [0.9, 0.4, 0.1], "sunk": [-0.8, 0.5, 0.3]}

    def embedded(texts: Sequence[str]) -> np.ndarray:
        return np.array([table[text] for text in texts], dtype=float)

    found = geometry(embedded, pd.concat([high, low], ignore_index=True), positive=["good"], negative=["bad"])
    row = found.tests.set_index("family").loc[ALL]
    ranks = {
        name: found.points[found.points["family"] == name][["projection", "median_percent"]].rank() for name in "hl"
    }
    both = pd.concat([own - own.mean() for own in ranks.values()])
    within = (both["projection"] * both["median_percent"]).sum() / np.sqrt((both**2).sum().prod())
    assert row["rho"] == pytest.approx(within)
    assert row["rho"] < 0.5 < found.points[["projection", "median_percent"]].corr("spearman").iloc[0, 1]
    assert row["least"] == 2 / 36

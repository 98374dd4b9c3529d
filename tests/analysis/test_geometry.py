"""The valence direction, projections and word lists; the embedding is a table written by hand."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.geometry import ALL, PHRASE, Geometry, geometry, valence_direction
from core.analysis.slices import Slice
from core.analysis.valence import (
    embed,
    modifier_objects,
    modifier_shifts,
    split_words,
    text_encoders,
    valence_words,
)
from core.audit.store import Store
from core.errors import InvalidInput
from core.evaluators.pool import Pool
from core.probes.lexicons import families
from core.settings import ROOT

TABLE = {"good": [1, 0, 0], "bad": [-1, 0, 0], "up": [0.8, 0.6, 0], "flat": [0, 1, 0], "down": [-0.6, 0.8, 0],
         "plain": [0.1, 0, 0.995]}  # fmt: skip


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
        [{"family": "f", "modifier": name, "median_percent": value, "low": value - 1, "high": value + 1, "n_items": 9}
         for name, value in medians.items()]
    )  # fmt: skip


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


def test_the_lists_that_ship_hold_no_word_under_test_and_are_as_long_as_each_other() -> None:
    words = valence_words()
    assert len(words.positive) == len(words.negative) >= 10
    under_test = {word.word.casefold() for family in families().values() for word in family.words}
    assert not under_test & set(words.positive + words.negative)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("word,sign\ngood,positive\n", "negative words are needed, got 0"),
        ("word,sign\ngood,fine\n", "write one of positive, negative"),
        ("word,sign\ngood,positive\ngood,negative\n", "stands twice"),
    ],
)
def test_a_slip_in_the_lists_is_told(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "words.csv").write_text(text)
    with pytest.raises(InvalidInput, match=problem):
        valence_words(tmp_path / "words.csv")


def test_typed_lists_are_split_and_bounded() -> None:
    assert split_words(" good, very  nice\n\nfine,good ") == ("good", "very nice", "fine")
    assert split_words("") == ()
    with pytest.raises(InvalidInput, match="at most 100 words"):
        split_words(",".join(map(str, range(101))))


def test_shifts_and_objects_come_from_the_run() -> None:
    with Store.open([ROOT / "data" / "results" / "demo"]) as store:
        chosen = Slice(families=("emotion",))
        table = modifier_shifts(store, chosen, evaluator="conse-lite0")
        assert table["modifier"].tolist() == ["angry", "happy", "sad"]
        rows = store.query(
            "select median(percent) as m, count(percent) as n from shifts "
            "where evaluator = 'conse-lite0' and probe = 'emotion:sad'"
        )
        assert table["median_percent"].iloc[2] == pytest.approx(float(rows["m"].iloc[0]))
        assert table["n_items"].iloc[2] == rows["n"].iloc[0]
        objects, controls = modifier_objects(store, chosen)
        assert set(controls) == {"ordinary", "plain", "typical"}
        assert "frog" in objects["sad"]
        assert modifier_shifts(store, Slice(families=("blur",)), evaluator="conse-lite0").empty


def test_evaluators_without_a_text_encoder_are_named() -> None:
    found = text_encoders(["conse-lite0", "grounding-judge", "nobody"])
    assert found["conse-lite0"] == ""
    assert "no text encoder" in found["grounding-judge"]
    assert "no evaluator is named 'nobody'" in found["nobody"]


def test_a_real_encoder_feels_the_difference_between_joy_and_disgust() -> None:
    words = valence_words()
    pool = Pool(device="cpu")
    embedded = embed(pool, "conse-lite0", [*words.positive, *words.negative, "joyful", "hateful"])
    np.testing.assert_allclose(np.linalg.norm(embedded, axis=1), 1, atol=1e-5)
    ends = len(words.positive), len(words.positive) + len(words.negative)
    direction = valence_direction(embedded[: ends[0]], embedded[ends[0] : ends[1]])
    joyful, hateful = embedded[ends[1] :] @ direction
    assert joyful > hateful
    with pytest.raises(InvalidInput, match="no text encoder"):
        embed(pool, "grounding-judge", ["good"])

"""Word lists, words' shifts and objects from the run, and the encoders that can be asked."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.analysis.table import View
from core.errors import InvalidInput
from core.evaluators.pool import Pool
from core.features.geometry.geometry import (
    NOT_KNOWN,
    embed,
    modifier_objects,
    modifier_shifts,
    split_words,
    text_encoders,
    valence_direction,
    valence_words,
)
from core.probes.words.screening import families
from core.statistics.bootstrap import median_bca
from core.store.store import Store
from siege.forged import Stranger
from tests.analysis import two_sources
from tests.analysis.made_runs import raw, shifts


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


@pytest.fixture(scope="module")
def view(store: Store) -> View:
    return read_table(store).view()


@pytest.mark.parametrize("evaluator", ["conse-lite0", "grounding-judge"])
def test_shifts_of_words_are_those_of_the_raw_rows(view: View, evaluator: str) -> None:
    found = modifier_shifts(view, evaluator=evaluator)
    rows = shifts(raw())
    rows = rows[(rows["evaluator"] == evaluator) & rows["modifier"].notna() & ~rows["control"].astype(bool)]
    expected = rows.groupby(["family", "modifier"])["percent"]
    assert [tuple(key) for key in found[["family", "modifier"]].to_numpy()] == list(expected.groups)
    np.testing.assert_allclose(found["median_percent"], expected.median())
    assert found["n_items"].tolist() == expected.count().tolist()
    items = two_sources.named().index.sort_values()
    numbers = pd.DataFrame(two_sources.numbers(items), index=items)
    for row, (_, values) in zip(found.itertuples(), expected, strict=True):
        interval = median_bca(values, groups=numbers.loc[rows.loc[values.index, "item"]].to_numpy())
        assert (row.low, row.high) == pytest.approx((interval.low, interval.high), nan_ok=True)


def test_shifts_and_objects_keep_to_the_slice(view: View) -> None:
    chosen = view.table.view(Slice(families=("emotion",)))
    table = modifier_shifts(chosen, evaluator="conse-lite0")
    assert table["modifier"].tolist() == ["angry", "happy", "sad"]
    objects, controls = modifier_objects(chosen)
    assert set(objects) == {"angry", "happy", "sad", *controls}
    assert set(controls) == {"ordinary", "plain", "typical"}
    assert "frog" in objects["sad"]
    assert modifier_shifts(view.table.view(Slice(families=("blur",))), evaluator="conse-lite0").empty
    with pytest.raises(InvalidInput, match="no shift of evaluator 'clipscore'"):
        modifier_shifts(chosen, evaluator="clipscore")


def test_objects_of_a_word_are_the_labels_that_it_was_put_before(view: View) -> None:
    objects, _ = modifier_objects(view)
    rows = raw()
    words = rows.dropna(subset="modifier").groupby("modifier")["label"].agg(lambda labels: tuple(sorted(set(labels))))
    assert objects == words.to_dict()
    animals, _ = modifier_objects(view.table.view(Slice(categories=("animal",))))
    assert set(animals["sad"]) == set(rows[(rows["modifier"] == "sad") & (rows["category"] == "animal")]["label"])


def test_evaluators_without_a_text_encoder_are_named() -> None:
    found = text_encoders(["conse-lite0", "grounding-judge", "nobody"])
    assert found["conse-lite0"] == ""
    assert "no text encoder" in found["grounding-judge"]
    assert "no evaluator of this name is installed here" in found["nobody"]
    assert text_encoders(["nobody"], {"nobody": "its file is gone"}) == {"nobody": "its file is gone"}


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


def test_a_name_that_is_a_path_is_never_followed(tmp_path: Path) -> None:
    stranger = Stranger(tmp_path)
    for name in stranger.names:
        assert text_encoders([name]) == {name: NOT_KNOWN}
        with pytest.raises(InvalidInput, match="no evaluator of this name is installed"):
            embed(Pool(device="cpu"), name, ["good"])
    assert not stranger.ran
    assert "stands for scores that were imported" in text_encoders([f"{stranger.code}:Evil@imported"]).popitem()[1]

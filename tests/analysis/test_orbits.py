"""Arranging rows into arrays, splitting by image, medians of short columns."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core.analysis.orbits import dev_split, orbits, row_medians
from core.errors import InvalidInput


def rows() -> pd.DataFrame:
    columns = ["evaluator", "item", "axis", "family", "probe", "baseline", "score", "baseline_score"]
    table = [
        ("e", "b", "spatial", "flip", "vflip", "identity", 0.6, 0.5),
        ("e", "a", "spatial", "flip", "vflip", "identity", 0.3, 0.2),
        ("e", "a", "societal", "cultural", "cultural:Arab", "cultural:plain", 0.1, 0.15),
        ("f", "a", "spatial", "flip", "vflip", "identity", 7.0, 8.0),
    ]
    return pd.DataFrame(table, columns=columns).assign(corpus="c", subject="template")


def test_every_evaluator_stands_over_the_same_items() -> None:
    found = orbits(rows())
    assert found["e"].items == found["f"].items == (("c", "a"), ("c", "b"))
    np.testing.assert_array_equal(found["e"].clean, [0.2, 0.5])
    np.testing.assert_array_equal(found["f"].clean, [8.0, math.nan])


def test_a_modifier_keeps_its_own_baseline() -> None:
    cultural = orbits(rows())["e"].families["cultural"]
    assert (cultural.axis, cultural.probes) == ("societal", ("cultural:Arab",))
    np.testing.assert_allclose(cultural.shifts, [[-0.05, math.nan]])


def test_a_part_keeps_the_arrangement() -> None:
    part = orbits(rows())["e"].part(np.array([False, True]))
    assert part.items == (("c", "b"),)
    np.testing.assert_array_equal(part.families["flip"].scores, [[0.6]])


def test_two_subjects_or_two_runs_are_refused() -> None:
    with pytest.raises(InvalidInput, match="human, template"):
        orbits(pd.concat([rows(), rows().assign(subject="human")]))
    with pytest.raises(InvalidInput, match="twice"):
        orbits(pd.concat([rows(), rows()]))


@given(
    hnp.arrays(float, st.tuples(st.integers(1, 11), st.integers(1, 6)), elements=st.floats(-9, 9) | st.just(math.nan))
)
def test_row_medians_equal_numpys(values: np.ndarray) -> None:
    expected = [np.median(column[~np.isnan(column)]) if (~np.isnan(column)).any() else math.nan for column in values.T]
    np.testing.assert_allclose(row_medians(values), expected)


def test_no_row_has_no_median() -> None:
    assert np.isnan(row_medians(np.empty((0, 3)))).all()


@given(st.lists(st.text(max_size=3), min_size=1, max_size=30), st.randoms())
def test_an_image_is_on_one_side_in_any_order(images: list[str], random) -> None:
    side = dict(zip(images, dev_split(images), strict=True))
    shuffled = list(images)
    random.shuffle(shuffled)
    assert [side[image] for image in shuffled] == dev_split(shuffled).tolist()


def test_the_split_has_the_share_asked_for() -> None:
    images = [str(number) for number in range(4000)]
    assert dev_split(images, share=0.3).mean() == pytest.approx(0.3, abs=0.03)
    assert (dev_split(images) != dev_split(images, seed=1)).any()
    with pytest.raises(InvalidInput, match="share"):
        dev_split(images, share=1.0)


@pytest.mark.parametrize("coded", [False, True])
def test_every_score_lies_where_a_pivot_puts_it(coded: bool) -> None:
    rng = np.random.default_rng(2)
    cells = pd.MultiIndex.from_product(
        [["b", "a"], ["y", "x"], [f"i{number}" for number in range(9)], ["rot-2", "rot-1", "flip"]],
        names=["evaluator", "corpus", "item", "probe"],
    ).to_frame(index=False)
    cells = cells.sample(frac=0.8, random_state=3)
    cells = cells.assign(
        family=cells["probe"].map({"flip": "flips"}).fillna("rotation"), axis="spatial", subject="template",
        baseline=rng.choice(["identity", "neutral"], size=len(cells)), score=rng.normal(size=len(cells)),
        baseline_score=rng.choice([np.nan, 1.0, 2.0, 3.0], size=len(cells)),
    )  # fmt: skip
    names = cells.select_dtypes(exclude="number").columns
    found = orbits(cells.astype(dict.fromkeys(names, "category")) if coded else cells)
    items = sorted(set(zip(cells["corpus"], cells["item"], strict=True)))
    for name, rows in cells.groupby("evaluator"):
        own = found[str(name)]
        assert list(own.items) == items
        clean = rows[rows["baseline"] == "identity"].groupby(["corpus", "item"])["baseline_score"].first()
        np.testing.assert_array_equal(own.clean, clean.reindex(items).to_numpy())
        for family, group in rows.groupby("family"):
            for column, values in (("score", "scores"), ("baseline_score", "baselines")):
                table = group.pivot_table(index=["corpus", "item"], columns="probe", values=column, dropna=False)
                np.testing.assert_array_equal(
                    getattr(own.families[str(family)], values), table.reindex(items).to_numpy().T
                )
            assert own.families[str(family)].probes == tuple(table.columns)

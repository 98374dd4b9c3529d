"""Segmentations from a stranger: what is wrong is told before C code reads it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core.corpora.schema import Mask
from core.corpora.segmentation import check_segmentation, decompress_counts
from core.errors import InvalidInput


@given(hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=2, max_side=30)))
def test_decompressed_run_lengths_paint_the_mask(array: np.ndarray) -> None:
    counts = decompress_counts(Mask.from_array(array).counts)
    painted = np.repeat(np.arange(len(counts)) % 2 == 1, counts)
    assert np.array_equal(painted, array.ravel(order="F"))


@given(hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=2, max_side=30)), st.data())
def test_the_area_in_a_part_is_counted_without_decoding(array: np.ndarray, data: st.DataObject) -> None:
    rows, columns = (slice(*data.draw(st.tuples(st.integers(0, 35), st.integers(0, 35)))) for _ in range(2))
    assert Mask.from_array(array).area_in(rows, columns) == array[rows, columns].sum()


def test_the_area_of_a_mask_that_does_not_fill_its_picture_is_not_counted() -> None:
    with pytest.raises(InvalidInput, match="a mask of 4 × 4 px cannot be decoded: its counts add up to 1 pixels"):
        Mask(4, 4, b"1").area_in(slice(0, 4), slice(0, 4))


def test_long_runs_take_several_digits() -> None:
    array = np.zeros((1000, 1000), bool)
    array[:, 300:700] = True
    assert decompress_counts(Mask.from_array(array).counts) == [300_000, 400_000, 300_000]


@pytest.mark.parametrize(
    ("segmentation", "sentence"),
    [
        ([], "empty list"),
        ([[]], "at least three points"),
        ([[1, 2, 3, 4]], "at least three points"),
        ([[1, 2, 3, 4, 5, 6, 7]], "at least three points"),
        ([[1, 2, 3, 4, 5, "6"]], "finite numbers"),
        ([[1, 2, 3, 4, 5, float("nan")]], "finite numbers"),
        ([[0, 0, 1e9, 0, 1e9, 5]], "more than its width"),
        ([[0, 0, 5, -1e9, 5, 5]], "more than its height"),
        ({"size": [4, 5], "counts": [20]}, r"size is \[4, 5\]"),
        ({"size": [4, 4], "counts": [0, 1_000_000]}, "add up to 1000000 pixels, the image has 16"),
        ({"size": [4, 4], "counts": [-4, 20]}, "at least 0"),
        ({"size": [4, 4], "counts": [8.0, 8.0]}, "whole numbers"),
        ({"size": [4, 4], "counts": "1"}, "add up to 1 pixels"),
        ({"size": [4, 4], "counts": "o"}, "inside a number"),
        ({"size": [4, 4], "counts": "ooooooooo1"}, "no COCO run lengths"),
        ({"size": [4, 4], "counts": "\x80"}, "segmentation must be COCO"),
        ({"size": [4, 4], "counts": 7}, "segmentation must be COCO"),
        ({"counts": [16]}, "neither a list of polygons"),
        ("polygon", "neither a list of polygons"),
        (None, "neither a list of polygons"),
    ],
)
def test_a_segmentation_that_is_none_is_told(segmentation: object, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        Mask.from_coco(segmentation, 4, 4)


@given(st.binary(max_size=12))
def test_no_bytes_at_all_reach_the_decoder_unchecked(counts: bytes) -> None:
    try:
        check_segmentation({"size": [3, 3], "counts": counts}, 3, 3)
    except ValueError:
        return
    assert Mask.from_coco({"size": [3, 3], "counts": counts}, 3, 3).to_array().shape == (3, 3)

"""Boxes, masks, coverage bins and corpora, against counts made by hand and by brute force."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core.corpora.schema import (
    COVERAGE_BINS,
    COVERAGE_EDGES,
    Box,
    Corpus,
    Item,
    Mask,
    Rejection,
    Rival,
    check_segmentation,
    coverage_bin,
    decompress_counts,
    languages,
)
from core.errors import InvalidInput

boxes = st.builds(Box, *[st.integers(-40, 40)] * 2, *[st.integers(1, 60)] * 2)
masks = hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=2, max_side=24))


def painted(box: Box, width: int, height: int) -> np.ndarray:
    rows, columns = np.mgrid[0:height, 0:width]
    return (rows >= box.y) & (rows < box.bottom) & (columns >= box.x) & (columns < box.right)


@given(st.floats(0, 1, exclude_min=True))
def test_a_coverage_lies_between_the_edges_of_its_bin(coverage: float) -> None:
    index = COVERAGE_BINS.index(coverage_bin(coverage))
    assert COVERAGE_EDGES[index] <= coverage
    assert coverage < COVERAGE_EDGES[index + 1] or coverage == 1


@pytest.mark.parametrize(
    ("coverage", "name"),
    [
        (1e-9, "0-10"),
        (0.1, "10-20"),
        (0.2, "20-35"),
        (0.35, "35-50"),
        (0.5, "50-70"),
        (0.7, "70-90"),
        (0.9, "90-100"),
        (1.0, "90-100"),
        (np.nextafter(0.1, 0), "0-10"),
    ],
)
def test_bins_are_closed_below_and_open_above(coverage: float, name: str) -> None:
    assert coverage_bin(coverage) == name


@pytest.mark.parametrize("coverage", [0, -0.1, 1.0001, float("nan"), float("inf")])
def test_a_coverage_outside_its_range_is_refused(coverage: float) -> None:
    with pytest.raises(InvalidInput, match="coverage must lie in"):
        coverage_bin(coverage)


@given(boxes)
def test_a_box_is_rebuilt_from_its_corners(box: Box) -> None:
    assert Box.from_corners(box.x, box.y, box.right, box.bottom) == box


@given(boxes, boxes)
def test_iou_is_symmetric_and_the_share_of_painted_pixels(one: Box, two: Box) -> None:
    def shift(box: Box) -> Box:
        return Box(box.x + 40, box.y + 40, box.width, box.height)

    first, second = painted(shift(one), 150, 150), painted(shift(two), 150, 150)
    assert one.iou(two) == two.iou(one)
    assert one.iou(two) == pytest.approx((first & second).sum() / (first | second).sum())


@given(boxes, st.integers(1, 50), st.integers(1, 50))
def test_the_part_inside_holds_exactly_the_pixels_inside(box: Box, width: int, height: int) -> None:
    part = box.inside(width, height)
    seen = painted(box, width, height)
    if part is None:
        assert not seen.any()
    else:
        assert part.area == seen.sum()
        assert part.coverage(width, height) == pytest.approx(seen.mean())
        assert part.inside(width, height) == part


@pytest.mark.parametrize("values", [(0, 0, 0, 5), (0, 0, 5, -1), (float("nan"), 0, 1, 1), (0, 0, float("inf"), 1)])
def test_a_box_without_a_finite_positive_size_is_refused(values: tuple[float, ...]) -> None:
    with pytest.raises(InvalidInput, match="positive width, height"):
        Box(*values)


@given(masks)
def test_a_mask_survives_its_encoding(array: np.ndarray) -> None:
    mask = Mask.from_array(array)
    assert np.array_equal(mask.to_array(), array)
    assert mask.area == array.sum()
    assert Mask.from_array(mask.to_array()) == mask


@given(masks)
def test_the_box_of_a_mask_is_tight(array: np.ndarray) -> None:
    box = Mask.from_array(array).box
    if box is None:
        assert not array.any()
    else:
        rows, columns = np.nonzero(array)
        expected = Box.from_corners(columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
        assert box == expected


@given(masks)
def test_compressed_and_uncompressed_run_lengths_are_one_mask(array: np.ndarray) -> None:
    height, width = array.shape
    flat = array.ravel(order="F")
    edges = np.flatnonzero(np.diff(flat)) + 1
    counts = [int(count) for count in np.diff([0, *edges, flat.size])]
    counts = [0, *counts] if flat[0] else counts
    mask = Mask.from_array(array)
    assert Mask.from_coco({"size": [height, width], "counts": counts}, height, width).area == mask.area
    text = {"size": [height, width], "counts": mask.counts.decode()}
    assert np.array_equal(Mask.from_coco(text, height, width).to_array(), array)


def test_a_polygon_around_whole_pixels_fills_exactly_them() -> None:
    mask = Mask.from_coco([[2, 1, 6, 1, 6, 4, 2, 4], [7, 7, 9, 7, 9, 9, 7, 9]], 10, 12)
    expected = np.zeros((10, 12), bool)
    expected[1:4, 2:6] = expected[7:9, 7:9] = True
    assert np.array_equal(mask.to_array(), expected)


def test_a_mask_has_two_dimensions() -> None:
    with pytest.raises(InvalidInput, match=r"\[H, W\]"):
        Mask.from_array(np.zeros((2, 2, 2)))


def test_an_item_knows_its_coverage_and_what_is_animate() -> None:
    item = Item("a", "demo", None, 100, 50, label="dog", category="animal", box=Box(0, 0, 50, 50))
    assert (item.coverage, item.coverage_bin) == (0.5, "50-70")
    bare = Item("b", "demo", None, 100, 50)
    assert (bare.coverage, bare.coverage_bin) == (None, None)


def test_a_corpus_finds_its_items_and_counts_what_was_left_out() -> None:
    items = tuple(Item(name, "demo", None, 8, 8, captions={"de": ("x",), "en": ("y",)}) for name in "ab")
    rejected = tuple(Rejection(str(number), code, "") for number, code in enumerate(["few", "many", "many"]))
    corpus = Corpus("demo", items, rejected)
    assert corpus.get("b") is items[1]
    assert corpus.by_id() == {"a": items[0], "b": items[1]}
    assert corpus.rejection_counts() == {"many": 2, "few": 1}
    assert list(corpus.rejection_counts()) == ["many", "few"]
    assert languages(items) == ("de", "en")
    with pytest.raises(InvalidInput, match="no item 'c'; it has 2 items"):
        corpus.get("c")


def test_rivals_are_found_by_role_and_a_role_stands_once() -> None:
    first, second = Rival("proto-wrong", Path("a.jpg")), Rival("proto-right", Path("b.jpg"))
    item = Item("i", "test", None, 4, 4, rivals=(first, second))
    assert item.rival("proto-right") is second
    assert item.rival("nonproto-wrong") is None
    with pytest.raises(InvalidInput, match="has two rivals of one role, got proto-wrong, proto-wrong"):
        Item("i", "test", None, 4, 4, rivals=(first, Rival("proto-wrong", Path("c.jpg"))))


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

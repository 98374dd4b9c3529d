"""The search for the worst harmless edit: within its bounds, repeatable, and as bad as it says."""

import csv
import io
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvariscopeError
from core.features.lab.edited_copies import CANDIDATES, HarmlessEdit, candidates, under, worst_edit
from core.probes.pixels.edits import jpeg, rotate, zoom
from core.store.text_files import csv_text
from tests.probes.painted import ground
from tests.scoring.handmade import handmade

EDGE = handmade(lambda images, captions: np.array([float(each[:, : each.shape[1] // 4].mean()) for each in images]))
"""Reads the brightness of the left quarter: moving the picture moves it."""


def ramp() -> np.ndarray:
    """Brighter from left to right, 60 × 100 px."""
    row = np.linspace(40, 220, 100).round().astype(np.uint8)
    return np.repeat(np.tile(row, (60, 1))[:, :, None], 3, axis=2)


def test_the_search_is_repeatable_and_what_it_found_can_be_made_again() -> None:
    first, second = (worst_edit(EDGE, ramp(), "a ramp") for _ in range(2))
    assert first == second
    again = float(EDGE.score([first.edit.apply(ramp())], ["a ramp"])[0])
    assert again == first.after
    assert first.percent == pytest.approx(100 * (first.after - first.before) / first.before)
    assert abs(first.percent) == max(first.sizes)
    assert first.scored == len(first.sizes) == CANDIDATES == 60


def test_it_finds_the_way_that_the_evaluator_cannot_bear() -> None:
    found = worst_edit(EDGE, ramp(), "a ramp")
    # moving the picture to one side by 5 % of its width is what moves this evaluator most
    assert abs(found.edit.right) > 0.025
    assert abs(found.percent) > np.median(found.sizes)


def test_every_candidate_keeps_the_bounds() -> None:
    seen: list[int] = []
    found = worst_edit(EDGE, ramp(), "a ramp", progress=lambda done, total: seen.append(done)).edit
    assert abs(found.degrees) <= 3
    assert 0.95 <= found.zoom <= 1.05
    assert max(abs(found.right), abs(found.down)) <= 0.05
    assert 85 <= found.quality <= 100
    assert seen == sorted(seen)
    assert seen[-1] == 60


def test_an_evaluator_that_never_moves_has_nothing_worse_than_nothing() -> None:
    found = worst_edit(handmade(lambda images, captions: np.full(len(images), 3.0)), ramp(), "a ramp")
    assert (found.percent, set(found.sizes)) == (0.0, {0.0})


def test_every_row_of_the_csv_made_again_gives_the_same_score() -> None:
    found = worst_edit(EDGE, ramp(), "a ramp")
    rows = list(csv.DictReader(io.StringIO(csv_text(candidates([found, found])))))
    assert len(rows) == 2 * CANDIDATES
    for row in rows[:CANDIDATES]:
        numbers = (float(row[name]) for name in ("degrees", "zoom", "right", "down"))
        edit = HarmlessEdit(*numbers, int(row["quality"]))
        again = float(EDGE.score([edit.apply(ramp())], ["a ramp"])[0])
        assert (again, row["evaluator"]) == (float(row["after"]), "handmade")
        assert float(row["percent"]) == pytest.approx(100 * (again / float(row["before"]) - 1), rel=1e-9, abs=1e-9)
    (worst,) = (float(row["percent"]) for row in rows[:CANDIDATES] if row["worst"] == "True")
    assert worst == found.percent
    assert abs(worst) == max(abs(float(row["percent"])) for row in rows)


def test_a_candidate_without_a_score_is_in_the_csv_with_none() -> None:
    seen = list[np.ndarray]()

    def seldom(images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        seen.extend(images)
        scores = np.array([float(each.mean()) for each in images])
        return np.where((np.arange(len(images)) % 3 == 0) & (len(seen) > 1), np.nan, scores)

    found = worst_edit(handmade(seldom), ramp(), "a ramp")
    told = candidates([found])
    assert len(told) == CANDIDATES
    assert 0 < told["after"].isna().sum() < CANDIDATES
    assert found.scored == told["after"].notna().sum()


def test_two_edits_that_read_alike_keep_their_own_scores() -> None:
    one, other = (HarmlessEdit(degrees, 1.0, 0.0, 0.0, 100) for degrees in (1.96, 2.04))
    assert str(one) == str(other)
    pixels = ground(60, 100)
    scores = under(EDGE, pixels, "a field", [one, other, one])
    alone = [float(EDGE.score([each.apply(pixels)], ["a field"])[0]) for each in (one, other, one)]
    assert scores.tolist() == alone
    assert scores[0] != scores[1]


def test_what_scores_nothing_has_no_percent() -> None:
    with pytest.raises(InvariscopeError, match="it scores 0, and % change needs more than 0"):
        worst_edit(handmade(lambda images, captions: np.zeros(len(images))), ramp(), "a ramp")


def test_an_edit_is_its_parts() -> None:
    pixels = ground(90, 120)
    turned = HarmlessEdit(3.0, 1.0, 0.0, 0.0, 95)
    np.testing.assert_array_equal(turned.apply(pixels), jpeg(rotate(pixels, 3.0), quality=95))
    grown = HarmlessEdit(0.0, 1.05, 0.0, 0.0, 95).apply(pixels)
    off = np.abs(grown.astype(int) - jpeg(zoom(pixels, 1.05), quality=95))
    assert off[4:-4, 4:-4].mean() < 1
    still = HarmlessEdit(0.0, 1.0, 0.0, 0.0, 100).apply(pixels)
    assert np.abs(still.astype(int) - pixels).mean() < 3
    moved = HarmlessEdit(0.0, 1.0, 0.05, 0.0, 100).apply(pixels)
    assert np.abs(moved[:, 6:].astype(int) - pixels[:, :-6]).mean() < 3  # 5 % of 120 px to the right
    assert "turned by +3.0°" in str(turned)


@given(
    st.floats(-3, 3),
    st.floats(0.95, 1.05),
    st.floats(-0.05, 0.05),
    st.floats(-0.05, 0.05),
    st.integers(85, 100),
    st.integers(1, 12),
    st.integers(1, 12),
)
def test_an_edit_keeps_the_size_of_any_picture(
    degrees: float, zoomed: float, right: float, down: float, quality: int, height: int, width: int
) -> None:
    pixels = ground(height, width)
    made = HarmlessEdit(degrees, zoomed, right, down, quality).apply(pixels)
    assert (made.shape, made.dtype) == (pixels.shape, np.uint8)

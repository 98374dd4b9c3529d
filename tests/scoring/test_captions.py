"""A captioner's lines are scored one by one: a bad one costs itself alone, references add a harmonic mean."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from core.errors import InvalidInput
from core.evaluators.references import harmonic_mean
from core.scoring.caption_scores import CaptionedImage, mean, score_captions
from tests.commands.colour_words import ColourWords, WordCount

SHARES = st.floats(min_value=1e-6, max_value=2.5)


@pytest.fixture
def red(tmp_path: Path) -> Path:
    path = tmp_path / "red.png"
    Image.fromarray(np.full((8, 9, 3), (200, 0, 0), dtype=np.uint8)).save(path)
    return path


def test_scores_are_the_evaluators_own_in_the_order_of_the_lines(red: Path) -> None:
    captions = ["a green door", "a red door", "red and green", "red green blue"]
    scores = score_captions(ColourWords.load(), [CaptionedImage(str(i), text, red) for i, text in enumerate(captions)])
    assert [each.id for each in scores] == ["0", "1", "2", "3"]
    expected = [0.0, 2.5, 2.5 / math.sqrt(2), 2.5 / math.sqrt(3)]
    assert [each.score for each in scores] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("batch_size", [1, 2, 3, 50])
def test_the_size_of_a_batch_changes_nothing(red: Path, batch_size: int) -> None:
    lines = [CaptionedImage(str(i), f"{'red ' * (i % 3)}green", red) for i in range(7)]
    assert score_captions(ColourWords.load(), lines, batch_size=batch_size) == score_captions(ColourWords.load(), lines)


def test_what_cannot_be_scored_is_null_with_its_reason_and_costs_nothing_else(red: Path, tmp_path: Path) -> None:
    (tmp_path / "torn.jpg").write_bytes(b"\xff\xd8\xff\xe0 torn")
    lines = [
        CaptionedImage("torn", "a red door", tmp_path / "torn.jpg"),
        CaptionedImage("mute", "a door", red),
        CaptionedImage("good", "a red door", red),
        CaptionedImage("gone", "a red door", tmp_path / "gone.png"),
    ]
    found = {each.id: each for each in score_captions(ColourWords.load(), lines)}
    assert found["good"].score == pytest.approx(2.5)
    assert [found[each].score for each in ("torn", "mute", "gone")] == [None, None, None]
    assert all(found[each].error for each in ("torn", "mute", "gone"))
    assert "torn.jpg" in found["torn"].error
    assert "gone.png" in found["gone"].error


def test_the_closest_reference_counts(red: Path) -> None:
    line = CaptionedImage("a", "a red door", red, ("a blue door", "red and green", "a door"))
    (found,) = score_captions(ColourWords.load(), [line])
    score, likeness = 2.5, 1 / math.sqrt(2)
    assert found.with_references == pytest.approx(2 * score * likeness / (score + likeness), abs=1e-6)


def test_references_that_cannot_be_compared_leave_no_number(red: Path) -> None:
    (found,) = score_captions(ColourWords.load(), [CaptionedImage("a", "a red door", red, ("a door",))])
    assert (found.score, found.with_references) == (pytest.approx(2.5), None)


def test_an_evaluator_that_compares_no_captions_refuses_references(red: Path) -> None:
    with pytest.raises(InvalidInput, match="word-count compares no captions"):
        score_captions(WordCount.load(), [CaptionedImage("a", "a red door", red, ("a door",))])


def test_progress_ends_at_its_total(red: Path) -> None:
    seen: list[tuple[int, int]] = []
    lines = [CaptionedImage(str(i), f"red {'blue ' * i}", red) for i in range(5)]
    score_captions(WordCount.load(), lines, progress=lambda done, total: seen.append((done, total)), batch_size=2)
    assert seen[-1] == (5, 5)


def test_nothing_to_score_is_no_error() -> None:
    assert score_captions(WordCount.load(), []) == ()


@given(SHARES, SHARES)
def test_the_harmonic_mean_agrees_with_exact_fractions(first: float, second: float) -> None:
    exact = 2 / (1 / Fraction(first) + 1 / Fraction(second))
    assert harmonic_mean(first, second) == pytest.approx(float(exact), rel=1e-12)
    assert harmonic_mean(first, 0.0) == harmonic_mean(0.0, 0.0) == 0.0


def test_a_mean_leaves_out_what_is_missing() -> None:
    assert mean([1.0, None, 2.0]) == 1.5
    assert mean([None]) is None
    assert mean([]) is None

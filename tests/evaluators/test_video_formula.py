"""EMScore's formula and document frequencies, against loops that are written out and numbers worked by hand."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.evaluators.video.formula import (
    MOST_WORDS,
    Idf,
    Tokens,
    build_idf,
    read_idf,
    reference_match,
    video_match,
    whole,
)
from core.evaluators.video.video_evaluator import clip_idf

LETTERS = {"<": 0, ">": 9, "a": 1, "b": 2, "c": 3}


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def drawn(seed: int, count: int, *, width: int = 5) -> np.ndarray:
    """Unit vectors in one half of the space, so that precision and recall stay above 0."""
    return unit(np.abs(np.random.default_rng(seed).normal(size=(count, width))) + 0.05)


def caption(seed: int, count: int) -> Tokens:
    weights = np.random.default_rng(seed + 1000).uniform(0, 3, size=count)
    return Tokens(drawn(seed, count), weights)


def dot(one: np.ndarray, other: np.ndarray) -> float:
    return sum(float(a) * float(b) for a, b in zip(one, other, strict=True))


def slow(others: np.ndarray, other_weights: list[float], tokens: Tokens) -> tuple[float, float, float]:
    """Precision, recall and F by loops."""
    above = below = 0.0
    for token, weight in zip(tokens.vectors, tokens.weights, strict=True):
        best = -math.inf
        for other in others:
            best = max(best, dot(token, other))
        above, below = above + weight * best, below + weight
    precision = above / below
    above = below = 0.0
    for other, weight in zip(others, other_weights, strict=True):
        best = -math.inf
        for token in tokens.vectors:
            best = max(best, dot(token, other))
        above, below = above + weight * best, below + weight
    recall = above / below
    return precision, recall, 2 * precision * recall / (precision + recall)


def slow_whole(frames: np.ndarray) -> np.ndarray:
    mean = [sum(float(frame[place]) for frame in frames) / len(frames) for place in range(frames.shape[1])]
    return np.array(mean) / math.sqrt(sum(each * each for each in mean))


@given(st.integers(0, 500), st.integers(1, 7), st.integers(2, 9))
def test_a_video_gets_what_two_loops_give(seed: int, frames: int, tokens: int) -> None:
    seen, read = drawn(seed, frames), caption(seed + 1, tokens)
    found = video_match(seen, read)
    precision, recall, fine = slow(seen, [1.0] * frames, read)
    coarse = dot(slow_whole(seen), read.vectors[-1])
    expected = (coarse, precision, recall, fine, (coarse + fine) / 2)
    assert (found.coarse, found.precision, found.recall, found.fine, found.score) == pytest.approx(expected, abs=1e-12)
    assert not found.error


@given(st.integers(0, 500), st.integers(1, 4), st.integers(2, 6))
def test_references_give_the_largest_of_each_part_and_both_sides_are_weighed(seed: int, many: int, tokens: int) -> None:
    read = caption(seed, tokens)
    others = [caption(seed + 7 * place + 1, 2 + place) for place in range(many)]
    found = reference_match(others, read)
    parts = [slow(each.vectors, list(each.weights), read) for each in others]
    best = max(parts, key=lambda part: part[2])
    assert found.fine == pytest.approx(best[2], abs=1e-12)
    assert (found.precision, found.recall) == pytest.approx(best[:2], abs=1e-12)
    assert found.coarse == pytest.approx(max(dot(each.vectors[-1], read.vectors[-1]) for each in others), abs=1e-12)


@given(st.integers(0, 500), st.permutations(range(7)))
def test_no_order_of_the_frames_moves_a_digit(seed: int, order: list[int]) -> None:
    seen, read = drawn(seed, len(order)), caption(seed + 1, 4)
    assert video_match(seen[order], read) == video_match(seen, read)
    assert video_match(seen[::-1], read) == video_match(seen, read)


def test_which_frames_there_are_does_count() -> None:
    seen, read = drawn(3, 6), caption(4, 5)
    assert abs(video_match(seen[::2], read).score - video_match(seen, read).score) > 1e-4


def test_a_cosine_below_0_is_neither_clipped_nor_beaten_by_padding() -> None:
    frame = np.array([[1.0, 0.0]])
    vectors = unit(np.array([[-1.0, 9.0], [5.0, 1.0]]))
    found = video_match(frame, Tokens(vectors, np.array([1.0, 3.0])))
    assert found.precision == pytest.approx((vectors[0, 0] + 3 * vectors[1, 0]) / 4)
    assert vectors[0, 0] < 0


@pytest.mark.parametrize(
    ("frames", "vectors", "weights", "said"),
    [
        ([[1, 0]], [[1, 0], [0, 1]], [0, 0], "every token of the caption has the weight 0"),
        ([[1, 0]], [[-1, 0], [0, -1]], [1, 0], "which is not above 0"),
        ([[1, 0], [-1, 0]], [[1, 0], [0, 1]], [1, 1], "the frames cancel each other out"),
    ],
)
def test_what_has_no_harmonic_mean_has_no_score_and_a_reason(
    frames: list[list[int]], vectors: list[list[int]], weights: list[int], said: str
) -> None:
    read = Tokens(np.array(vectors, float), np.array(weights, float))
    found = video_match(np.array(frames, float), read)
    assert math.isnan(found.score)
    assert said in found.error


def test_a_reference_without_an_f_is_passed_over_and_none_at_all_is_said() -> None:
    read, empty = caption(1, 4), Tokens(drawn(5, 1), np.zeros(1))
    assert reference_match([empty, caption(2, 3)], read) == reference_match([caption(2, 3)], read)
    assert "no reference caption can be compared with: every token" in reference_match([empty], read).error
    assert "there is none" in reference_match([], read).error


def test_a_video_without_a_frame_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no frame"):
        whole(np.empty((0, 3)))


def letters(texts: list[str]) -> list[list[int]]:
    return [[LETTERS[each] for each in f"<{text.replace(' ', '')}>"] for text in texts]


def counted(captions: list[str]) -> Idf:
    return build_idf(captions, letters, corpus="three sentences", tokenizer="letters", end=LETTERS[">"], batch=2)  # type: ignore[arg-type]


def test_weights_are_those_worked_by_hand() -> None:
    idf = counted(["a b", "a a", "a c", "", "a " * (MOST_WORDS + 1)])
    assert (idf.sentences, idf.left_out) == (3, 2)
    assert idf.frequencies == {0: 3, 1: 3, 2: 1, 3: 1, 9: 3}
    rare, unseen = math.log(4 / 2), math.log(4)
    mean = (0 + 0 + rare + rare + 0) / 5  # a and both markers stand in every sentence
    assert idf.weights([0, 1, 2, 3, 77, 9]).tolist() == pytest.approx([0, 0, rare, rare, unseen, mean])


def test_a_caption_of_nothing_but_what_every_sentence_holds_has_no_score() -> None:
    idf = Idf(corpus="c", tokenizer="t", end=9, sentences=2, frequencies={0: 2, 1: 2, 9: 2})
    found = video_match(drawn(0, 2), Tokens(drawn(1, 3), idf.weights([0, 1, 9])))
    assert "weight 0" in found.error


def test_clips_tokens_are_counted_without_padding_and_with_both_markers() -> None:
    idf = clip_idf(["A cat!", "a dog", "a cat on a cat"], corpus="made")
    assert idf.frequencies[49406] == idf.frequencies[49407] == 3
    assert 0 not in idf.frequencies  # the id that the tokenizer pads with
    assert sorted(idf.frequencies.values()) == [1, 1, 1, 2, 3, 3, 3]


def test_a_file_comes_back_as_it_was_and_its_hash_is_of_what_counts(tmp_path: Path) -> None:
    idf = counted(["a b", "c"])
    path = tmp_path / "idf.json"
    path.write_text(idf.model_dump_json())
    again = read_idf(path)
    assert again == idf
    assert again.sha256 == idf.model_copy(update={"corpus": "another name"}).sha256
    path.write_text(json.dumps(json.loads(path.read_text()), indent=4))
    assert read_idf(path).sha256 == idf.sha256
    assert counted(["a b", "c", "c"]).sha256 != idf.sha256


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"frequencies": {}}, "frequencies"),
        ({"frequencies": {"9": 2, "1": 7}}, "7 sentences, of 2 in all"),
        ({"frequencies": {"1": 1}}, "closing marker 9 must stand in all 2"),
        ({"frequencies": {"9": 2, "x": 1}}, "frequencies.x"),
        ({"sentences": 0}, "sentences"),
        ({"more": 1}, "more"),
    ],
)
def test_a_file_that_cannot_be_is_refused_by_name(tmp_path: Path, change: dict[str, object], said: str) -> None:
    path = tmp_path / "idf.json"
    path.write_text(json.dumps(json.loads(counted(["a b", "c"]).model_dump_json()) | change))
    with pytest.raises(InvalidInput, match=said):
        read_idf(path)


def test_what_is_no_file_of_frequencies_is_refused_with_the_way_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="python -m core video idf"):
        read_idf(tmp_path / "gone.json")
    (tmp_path / "idf.pkl").write_bytes(b"\x80\x04K\x01.")
    with pytest.raises(InvalidInput, match="is not a file of document frequencies"):
        read_idf(tmp_path / "idf.pkl")
    with pytest.raises(InvalidInput, match="no sentence of 1 to 66 words, 1 were left out"):
        counted([""])

"""Scoring many pairs gives what scoring each alone gives, and encodes every unique input once."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.corpora.images import pixel_hash
from core.errors import InvalidInput, ScoringStopped
from core.evaluators import scoring
from core.evaluators.base import DualEncoder, Evaluator
from core.evaluators.cache import IMAGE, EmbeddingCache
from core.evaluators.scoring import embed_images, score_pairs, score_pairs_with_errors
from core.registry import load_object

PLUGIN = Path(__file__).resolve().parents[1] / "plugins" / "histogram.py"
Histogram = load_object(f"{PLUGIN}:Histogram")
PairedHistogram = load_object(f"{PLUGIN}:PairedHistogram")

IMAGES = [np.random.default_rng(seed).integers(0, 256, (8 + seed, 11, 3), dtype=np.uint8) for seed in range(6)]
BY_HASH = {pixel_hash(image): image for image in IMAGES}
HASHES = list(BY_HASH)


@pytest.fixture(params=[Histogram, PairedHistogram], ids=["dual", "pairwise"])
def evaluator(request: pytest.FixtureRequest) -> Evaluator:
    return request.param.load()


def alone(evaluator: Evaluator, pairs: list[tuple[str, str]]) -> np.ndarray:
    return np.array([evaluator.score([BY_HASH[key]], [caption])[0] for key, caption in pairs])


@settings(deadline=None, max_examples=60)
@given(
    pairs=st.lists(st.tuples(st.sampled_from(HASHES), st.text(max_size=12)), max_size=25),
    batch_size=st.integers(1, 9),
    kind=st.sampled_from([Histogram, PairedHistogram]),
)
def test_scores_are_those_of_every_pair_alone(pairs: list[tuple[str, str]], batch_size: int, kind: type) -> None:
    evaluator = kind.load()
    found = score_pairs(evaluator, BY_HASH, pairs, batch_size=batch_size)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, alone(evaluator, pairs) if pairs else [], atol=1e-5)


def test_a_dual_encoder_sees_every_unique_input_once() -> None:
    evaluator = Histogram.load()
    captions = [f"caption {index}" for index in range(5)]
    pairs = [(key, caption) for _ in range(3) for key in HASHES for caption in captions]
    result = score_pairs_with_errors(evaluator, BY_HASH, pairs, batch_size=4)
    assert evaluator.image_calls == [4, 2]
    assert evaluator.caption_calls == [4, 1]
    assert (result.images_encoded, result.captions_encoded, result.calls) == (6, 5, 4)
    assert result.errors == (None,) * len(pairs)


def test_a_pairwise_evaluator_sees_every_unique_pair_once_image_by_image() -> None:
    seen: list[tuple[int, str]] = []

    class Watching(PairedHistogram):
        def score(self, images: list[np.ndarray], captions: list[str]) -> np.ndarray:
            seen.extend((id(image), caption) for image, caption in zip(images, captions, strict=True))
            return super().score(images, captions)

    pairs = [(key, caption) for caption in "abc" for key in HASHES] * 2
    score_pairs(Watching(), BY_HASH, pairs, batch_size=100)
    assert max(Counter(seen).values()) == 1
    assert [key for key, _ in seen] == sorted((key for key, _ in seen), key=[key for key, _ in seen].index)
    assert len(seen) == 18


def test_a_second_call_with_the_cache_encodes_nothing(evaluator: Evaluator, tmp_path: Path) -> None:
    pairs = [(key, caption) for key in HASHES for caption in ("a dog", "a cat")]
    cache = EmbeddingCache(tmp_path / "c.sqlite")
    first = score_pairs(evaluator, BY_HASH, pairs, cache=cache)
    cache.close()
    again = EmbeddingCache(tmp_path / "c.sqlite")
    second = score_pairs_with_errors(type(evaluator).load(), BY_HASH, pairs, cache=again)
    again.close()
    assert second.calls == 0
    np.testing.assert_array_equal(first, second.scores)


def test_images_are_made_when_needed_and_not_before(evaluator: Evaluator) -> None:
    made: list[str] = []

    def maker(key: str) -> np.ndarray:
        made.append(key)
        return BY_HASH[key]

    lazy = {key: (lambda key=key: maker(key)) for key in HASHES}
    pairs = [(key, caption) for caption in "xy" for key in HASHES[:4]]
    np.testing.assert_allclose(score_pairs(evaluator, lazy, pairs, batch_size=2), alone(evaluator, pairs), atol=1e-5)
    assert made == HASHES[:4]


@pytest.mark.parametrize("batch_size", [1, 32, 256])
def test_the_size_of_a_batch_changes_no_bit(evaluator: Evaluator, batch_size: int) -> None:
    pairs = [(key, f"caption {index}") for index in range(50) for key in HASHES]
    found = score_pairs(evaluator, BY_HASH, pairs, batch_size=batch_size)
    np.testing.assert_array_equal(found, score_pairs(type(evaluator).load(), BY_HASH, pairs, batch_size=7))


def test_what_an_evaluator_asks_for_is_what_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = Histogram.load()
    monkeypatch.setattr(Histogram, "full_batch", 4)
    score_pairs(evaluator, BY_HASH, [(key, "a") for key in HASHES])
    assert evaluator.image_calls == [4, 2]


def test_large_images_are_not_made_by_the_batch(evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch) -> None:
    large = {f"{index}": np.full((40, 50, 3), index, dtype=np.uint8) for index in range(11)}
    monkeypatch.setattr(scoring, "BATCH_BYTES", 2 * 6000 + 1)
    done: list[int] = []
    pairs = [(key, caption) for key in large for caption in "ab"]
    lazy = {key: (lambda key=key: large[key]) for key in large}
    found = score_pairs_with_errors(evaluator, lazy, pairs, batch_size=256, progress=lambda n, _: done.append(n))
    expected = [evaluator.score([large[key]], [caption])[0] for key, caption in pairs]
    np.testing.assert_allclose(found.scores, expected, atol=1e-6)
    batches = np.diff([0, *done])
    assert max(batches[:3]) <= (3 if isinstance(evaluator, DualEncoder) else 6)
    assert done[-1] == (11 + 2 if isinstance(evaluator, DualEncoder) else 22)


def test_one_bad_caption_costs_its_own_pairs_alone(evaluator: Evaluator) -> None:
    captions = ["a dog", "poison", "a cat", "a cow", "a bed", "a car", "a cup"]
    pairs = [(key, caption) for key in HASHES for caption in captions]
    result = score_pairs_with_errors(evaluator, BY_HASH, pairs, batch_size=7)
    for (_, caption), score, error in zip(pairs, result.scores, result.errors, strict=True):
        assert np.isnan(score) == (caption == "poison")
        assert (error == "ValueError: cannot read 'poison'") == (caption == "poison")
    good = [pair for pair in pairs if pair[1] != "poison"]
    np.testing.assert_allclose(result.scores[~np.isnan(result.scores)], alone(evaluator, good), atol=1e-5)


def test_one_bad_image_costs_its_own_pairs_alone(evaluator: Evaluator) -> None:
    def gone() -> np.ndarray:
        raise FileNotFoundError("gone.png")

    images = {**BY_HASH, HASHES[2]: gone, HASHES[4]: np.zeros((3, 3), dtype=np.float64)}
    pairs = [(key, caption) for key in HASHES for caption in ("a", "b")]
    result = score_pairs_with_errors(evaluator, images, pairs, batch_size=5)
    for (key, _), score, error in zip(pairs, result.scores, result.errors, strict=True):
        assert np.isnan(score) == (key in (HASHES[2], HASHES[4])) == (error is not None)
    assert "FileNotFoundError: gone.png" in result.errors


class _Odd(DualEncoder):
    """Broken in its own way."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.good = Histogram.load()

    @classmethod
    def load(cls, *, device: str = "cpu") -> "_Odd":
        raise NotImplementedError

    @property
    def fingerprint(self):  # type: ignore[no-untyped-def]
        return self.good.fingerprint

    def encode_images(self, images):  # type: ignore[no-untyped-def]
        rows = self.good.encode_images(images)
        if self.how == "short":
            return rows[:-1]
        if self.how == "nan":
            rows[0, 0] = float("nan")
        return rows.requires_grad_() if self.how == "grad" else rows.numpy() if self.how == "numpy" else rows

    def encode_captions(self, captions):  # type: ignore[no-untyped-def]
        return self.good.encode_captions(captions)

    def combine(self, image_embeddings, caption_embeddings):  # type: ignore[no-untyped-def]
        if self.how == "combine":
            raise RuntimeError("no")
        if self.how == "stopped":
            raise ScoringStopped("the key was refused")
        return self.good.combine(image_embeddings, caption_embeddings)


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ("short", "InvalidInput: the evaluator gave 0 rows for 1 inputs"),
        ("nan", "the evaluator gave no finite value [not-finite]"),
        ("combine", "RuntimeError: no"),
    ],
)
def test_a_broken_encoder_gives_no_score_and_says_why(how: str, error: str) -> None:
    result = score_pairs_with_errors(_Odd(how), BY_HASH, [(HASHES[0], "a"), (HASHES[0], "b")])
    assert np.isnan(result.scores).all()
    assert result.errors == (error, error)


def test_an_encoder_that_cannot_go_on_stops_the_run_where_it_combines_too() -> None:
    with pytest.raises(ScoringStopped, match="the key was refused"):
        score_pairs_with_errors(_Odd("stopped"), BY_HASH, [(HASHES[0], "a"), (HASHES[0], "b")])


@pytest.mark.parametrize("how", ["grad", "numpy"])
def test_tensors_with_gradients_and_plain_arrays_are_taken(how: str) -> None:
    pairs = [(key, "a dog") for key in HASHES]
    np.testing.assert_allclose(score_pairs(_Odd(how), BY_HASH, pairs), alone(Histogram.load(), pairs), atol=1e-5)


def test_nothing_to_score_needs_no_call(evaluator: Evaluator) -> None:
    result = score_pairs_with_errors(evaluator, {}, [])
    assert (len(result.scores), result.calls) == (0, 0)


def test_progress_ends_at_its_total(evaluator: Evaluator) -> None:
    told: list[tuple[int, int]] = []
    pairs = [(key, caption) for key in HASHES for caption in "ab"]
    score_pairs(evaluator, BY_HASH, pairs, batch_size=3, progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]


def test_bad_arguments_are_refused(evaluator: Evaluator) -> None:
    with pytest.raises(InvalidInput, match="names image 'nowhere'"):
        score_pairs(evaluator, BY_HASH, [("nowhere", "a")])
    with pytest.raises(InvalidInput, match="batch_size must be at least 1, got 0"):
        score_pairs(evaluator, BY_HASH, [], batch_size=0)


def test_images_are_embedded_once_and_one_that_cannot_be_read_is_left_out() -> None:
    def gone() -> np.ndarray:
        raise OSError("no such file")

    evaluator, cache, steps = Histogram.load(), EmbeddingCache(), list[tuple[int, int]]()
    key = evaluator.fingerprint.key
    assert embed_images(evaluator, {HASHES[0]: BY_HASH[HASHES[0]]}, cache=cache) == 1
    images = BY_HASH | {"gone": gone}
    assert embed_images(evaluator, images, cache=cache, progress=lambda *step: steps.append(step)) == len(HASHES) - 1
    kept = cache.get_many(key, IMAGE, list(images))
    assert set(kept) == set(HASHES)
    for name in HASHES:
        np.testing.assert_array_equal(kept[name], evaluator.encode_images([BY_HASH[name]])[0].numpy())
    assert steps[-1] == (len(HASHES), len(HASHES))
    assert embed_images(evaluator, BY_HASH, cache=cache) == 0

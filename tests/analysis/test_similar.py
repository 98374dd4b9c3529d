"""Items that look alike, against cosines worked out by scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from core.analysis.failures import alike
from core.evaluators.cache import IMAGE, EmbeddingCache

PIXELS = {f"item-{place}": f"hash-{place}" for place in range(6)}


def kept(rows: dict[str, np.ndarray], *, fingerprint: str = "print") -> EmbeddingCache:
    cache = EmbeddingCache(None)
    cache.put_many(fingerprint, IMAGE, rows)
    return cache


def test_the_nearest_by_cosine_come_first() -> None:
    rows = np.random.default_rng(3).normal(size=(6, 8)).astype(np.float32)
    found = alike("item-2", PIXELS, {"metric": ["print"]}, kept(dict(zip(PIXELS.values(), rows, strict=True))), most=3)
    assert found is not None
    cosines = cosine_similarity(rows)[2]
    order = [place for place in np.argsort(-cosines) if place != 2][:3]
    assert [name for name, _ in found.items] == ["item-2", *(f"item-{place}" for place in order)]
    assert [value for _, value in found.items[1:]] == pytest.approx([cosines[place] for place in order], abs=1e-6)
    assert (found.evaluator, found.known) == ("metric", 6)


def test_the_evaluator_that_has_kept_most_is_asked() -> None:
    cache = kept({"hash-0": np.ones(2, np.float32), "hash-1": np.ones(2, np.float32)}, fingerprint="few")
    cache.put_many("many", IMAGE, {key: np.ones(2, np.float32) for key in PIXELS.values()})
    found = alike("item-0", PIXELS, {"one": ["few"], "other": ["many"]}, cache, most=9)
    assert found is not None
    assert (found.evaluator, found.known) == ("other", 6)
    assert [name for name, _ in found.items] == sorted(PIXELS)


@pytest.mark.parametrize(
    "rows",
    [
        {},
        {"hash-1": np.ones(2, np.float32), "hash-2": np.ones(2, np.float32)},
        {"hash-0": np.ones(2, np.float32)},
        {"hash-0": np.zeros(2, np.float32), "hash-1": np.ones(2, np.float32)},
        {"hash-0": np.ones((2, 2), np.float32), "hash-1": np.ones((2, 2), np.float32)},
    ],
)
def test_without_its_own_embedding_and_another_one_nothing_is_alike(rows: dict[str, np.ndarray]) -> None:
    assert alike("item-0", PIXELS, {"metric": ["print"]}, kept(rows), most=3) is None

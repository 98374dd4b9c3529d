"""The offline ensemble: what it weighs, what it does not compute again, and what has no score."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from skimage import data

from core.errors import InvalidInput
from core.evaluators.base import PartlyScored
from core.evaluators.cache import EmbeddingCache
from core.evaluators.metrics.offline_ensemble import PARTS, OfflineEnsemble, read_spreads
from core.evaluators.pool import Pool
from core.evaluators.scoring import score_pairs, score_pairs_with_errors
from core.probes.rejections import code_of

CAPTIONS = ("A cat looks at the camera.", "A cup of coffee on a table.", "A rocket at night.")


@pytest.fixture(scope="module")
def ensemble() -> Iterator[OfflineEnsemble]:
    with Pool(budget_mb=4000, device="cpu").lease("offline-ensemble") as loaded:
        assert isinstance(loaded, OfflineEnsemble)
        yield loaded


@pytest.fixture(scope="module")
def images() -> dict[str, np.ndarray]:
    return {"cat": data.chelsea(), "coffee": data.coffee()}


def test_a_score_orders_pairs_as_the_mean_of_standard_scores_does_and_runs_from_0_to_1(
    ensemble: OfflineEnsemble, images: dict[str, np.ndarray]
) -> None:
    pairs = [(key, caption) for key in images for caption in CAPTIONS]
    cache = EmbeddingCache()
    own = np.stack([score_pairs(part, images, pairs, cache=cache) for part in ensemble.parts])
    spreads = np.array([read_spreads()[kind.spec.name] for kind in PARTS])
    standard = ((own - own.mean(axis=1, keepdims=True)) / spreads[:, None]).mean(axis=0)
    found = score_pairs_with_errors(ensemble, images, pairs, cache=cache)
    assert np.corrcoef(found.scores, standard)[0, 1] == pytest.approx(1.0, abs=1e-9)
    assert (found.images_encoded, found.captions_encoded, found.calls) == (0, 0, 0)  # the three had computed it all
    np.testing.assert_allclose(
        ensemble.score([images[key] for key, _ in pairs], [text for _, text in pairs]), found.scores, atol=1e-6
    )
    np.testing.assert_allclose(ensemble.join(np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 10.0]])), [0.0, 1.0], atol=1e-12)
    brought = dict(ensemble.see(images["cat"], CAPTIONS[0]).evidence)
    assert brought.keys() == {kind.spec.name for kind in PARTS}
    assert sum(brought.values()) == pytest.approx(found.scores[0], abs=1e-6)


def test_a_pair_that_a_part_cannot_score_has_no_score_with_that_parts_reason(
    ensemble: OfflineEnsemble, images: dict[str, np.ndarray]
) -> None:
    told: list[tuple[int, int]] = []
    found = score_pairs_with_errors(
        ensemble,
        images,
        [("cat", "It is very nice."), ("cat", "A cat.")],
        progress=lambda done, total: told.append((done, total)),
    )
    assert np.isnan(found.scores).tolist() == [True, False]
    assert code_of(found.errors[0]) == "caption-no-noun"
    assert [done / total for done, total in told] == sorted(done / total for done, total in told)
    with pytest.raises(PartlyScored) as partly:
        ensemble.score([images["cat"]] * 2, ["It is very nice.", "A cat."])
    assert partly.value.scores[1] == pytest.approx(found.scores[1], abs=1e-6)
    assert "there is none of grounding-judge" in ensemble.see(images["cat"], "It is very nice.").notes[0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[spreads]\nconse-lite2 = 1",
        "[spreads",
        "[spreads]\n" + "\n".join(f"{kind.spec.name} = {value}" for kind, value in zip(PARTS, (1, 1, 0), strict=True)),
    ],
)
def test_constants_that_cannot_be_used_are_refused_with_the_command_that_makes_them(tmp_path: Path, text: str) -> None:
    path = tmp_path / "offline-ensemble.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=r"python tools/offline_ensemble.py --write"):
        read_spreads(path)

"""What every evaluator promises, whichever it is: run over all that are available here."""

import json
import re
from collections.abc import Iterator

import numpy as np
import pytest
from skimage import data

from core.corpora.schema import Mask
from core.errors import InvalidInput
from core.evaluators.base import DualEncoder, Evaluator, PartlyScored
from core.evaluators.pool import Pool
from core.evaluators.registry import catalogue

READY = [cls.spec.name for cls in catalogue() if cls.availability().ready and not cls.spec.takes_references]
PHOTO_CAPTION = "A cat looks at the camera."
AWKWARD_CAPTIONS = (
    "cat",
    "a cat 🐱 on a sofa 🛋️",
    "🐱",
    "قطة على السرير",
    "猫がソファの上にいます。",
    "cat " * 2500,
    "x" * 10_000,
    "a cat\x00 with\ud800 odd\ufffe characters\u202e",
    "<script>alert('cat')</script>",
)
ODD_SHAPES = ((1, 500), (500, 1), (8, 8), (1, 1), (37, 1000))


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    pool = Pool(budget_mb=4000, device="cpu")
    yield pool
    pool.release()


@pytest.fixture(params=READY)
def metric(request: pytest.FixtureRequest, pool: Pool) -> Iterator[Evaluator]:
    with pool.lease(request.param) as evaluator:
        yield evaluator


@pytest.fixture(scope="module")
def photos() -> list[np.ndarray]:
    return [data.chelsea(), data.coffee(), data.rocket()]


def test_the_offline_evaluators_are_ready_after_pip_install() -> None:
    assert {"conse-lite0", "conse-lite2", "conse-multilingual", "grounding-judge", "offline-ensemble"} <= set(READY)


def test_pages_open_on_conse_whoever_imports_whom() -> None:
    offered = [name for name in READY if not name.startswith("blind")]
    assert offered[:4] == ["conse-lite0", "conse-lite2", "conse-multilingual", "grounding-judge"]


def test_a_score_is_a_float64_inside_the_native_range(metric: Evaluator, photos: list[np.ndarray]) -> None:
    scores = metric.score(photos, [PHOTO_CAPTION, "A cup of coffee on a table.", "A rocket at night."])
    low, high = metric.spec.score_range
    assert scores.shape == (3,)
    assert scores.dtype == np.float64
    assert np.all(scores >= low)
    assert high is None or np.all(scores <= high)


def test_a_score_depends_on_its_own_pair_only(metric: Evaluator, photos: list[np.ndarray]) -> None:
    captions = [PHOTO_CAPTION, "A cup of coffee on a table, with a spoon and two cookies beside it.", "rocket"]
    alone = [metric.score([photo], [caption])[0] for photo, caption in zip(photos, captions, strict=True)]
    together = metric.score(photos, captions)
    reversed_order = metric.score(photos[::-1], captions[::-1])[::-1]
    np.testing.assert_allclose(together, alone, atol=1e-5 * (metric.spec.score_range[1] or 1.0), rtol=0)
    np.testing.assert_allclose(reversed_order, alone, atol=1e-5 * (metric.spec.score_range[1] or 1.0), rtol=0)


def test_the_same_call_gives_the_same_bits(metric: Evaluator, photos: list[np.ndarray]) -> None:
    captions = [PHOTO_CAPTION] * len(photos)
    assert metric.score(photos, captions).tobytes() == metric.score(photos, captions).tobytes()


def test_the_images_are_not_written_to(metric: Evaluator, photos: list[np.ndarray]) -> None:
    photo = photos[0].copy()
    photo.flags.writeable = False
    metric.score([photo], [PHOTO_CAPTION])
    metric.see(photo, PHOTO_CAPTION)
    np.testing.assert_array_equal(photo, photos[0])


def scored(metric: Evaluator, images: list[np.ndarray], captions: list[str]) -> np.ndarray:
    """Scores, NaN where there is none; an evaluator may raise what it scored with a reason a pair."""
    try:
        return metric.score(images, captions)
    except PartlyScored as partly:
        found = partly
    assert [bool(each) for each in found.errors] == np.isnan(found.scores).tolist()
    return found.scores


@pytest.mark.parametrize("caption", ["", "   ", "\n\t"])
def test_an_empty_caption_cannot_be_scored_and_harms_no_other(
    metric: Evaluator, photos: list[np.ndarray], caption: str
) -> None:
    scores = scored(metric, [photos[0]] * 2, [caption, PHOTO_CAPTION])
    assert np.isnan(scores[0])
    np.testing.assert_allclose(scores[1:], metric.score([photos[0]], [PHOTO_CAPTION]), atol=1e-5)


@pytest.mark.parametrize("caption", AWKWARD_CAPTIONS, ids=lambda text: ascii(text[:12]))
def test_an_awkward_caption_is_scored_or_missing_but_never_an_error(
    metric: Evaluator, photos: list[np.ndarray], caption: str
) -> None:
    (score,) = scored(metric, [photos[0]], [caption])
    low, high = metric.spec.score_range
    assert np.isnan(score) or low <= score <= (np.inf if high is None else high)
    assert metric.count_tokens(caption) is None or metric.count_tokens(caption) > 0
    sight = metric.see(photos[0], caption)
    assert metric.truncates(caption) == bool(sight.truncated)


@pytest.mark.parametrize("shape", ODD_SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_an_image_of_any_shape_is_scored(metric: Evaluator, shape: tuple[int, int]) -> None:
    image = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    assert np.isfinite(metric.score([image], [PHOTO_CAPTION])).all()
    crop = metric.crop(shape[1], shape[0])
    assert crop.inside(shape[1], shape[0]) == crop


def test_images_and_captions_of_different_number_are_refused(metric: Evaluator, photos: list[np.ndarray]) -> None:
    with pytest.raises(InvalidInput, match="as many images as captions, got 1 and 2"):
        metric.score(photos[:1], [PHOTO_CAPTION] * 2)
    assert metric.score([], []).shape == (0,)


@pytest.mark.parametrize("image", [np.zeros((8, 8), np.uint8), np.zeros((8, 8, 3)), np.zeros((0, 8, 3), np.uint8)])
def test_an_array_that_is_no_rgb_image_is_refused(metric: Evaluator, image: np.ndarray) -> None:
    with pytest.raises(InvalidInput, match="uint8"):
        metric.score([image], [PHOTO_CAPTION])


def test_the_fingerprint_is_stable_and_says_everything(metric: Evaluator) -> None:
    fingerprint = metric.fingerprint
    again = type(metric).load(device="cpu").fingerprint
    assert fingerprint.key == again.key
    assert json.loads(json.dumps(fingerprint.as_dict())) == fingerprint.as_dict()
    assert fingerprint.name == metric.spec.name
    assert re.search(r"[0-9a-f]{64}", fingerprint.weights)
    assert fingerprint.versions
    assert "absent" not in fingerprint.versions.values()


def test_fingerprints_of_different_evaluators_differ(pool: Pool) -> None:
    keys = []
    for name in READY:
        with pool.lease(name) as evaluator:
            keys.append(evaluator.fingerprint.key)
    assert len(set(keys)) == len(keys)


def test_what_the_metric_saw_can_be_drawn(metric: Evaluator, photos: list[np.ndarray]) -> None:
    height, width = photos[0].shape[:2]
    sight = metric.see(photos[0], PHOTO_CAPTION, object_mask=Mask.from_array(np.ones((height, width), bool)))
    assert sight.views
    for title, view in sight.views:
        assert title
        assert view.dtype == np.uint8
        assert view.ndim == 3
        assert view.shape[2] == 3
    assert sight.crop is None or sight.crop.inside(width, height) == sight.crop
    assert sight.object_inside is not None
    assert 0 < sight.object_inside <= 1
    values = [value for _, value in sight.evidence]
    assert np.isfinite(values).all()
    assert values == sorted(values, reverse=True)


def test_an_object_outside_the_crop_is_reported_as_unseen(metric: Evaluator) -> None:
    width, height = 600, 200
    mask = np.zeros((height, width), bool)
    mask[:, :20] = True
    crop = metric.crop(width, height)
    expected = 0.0 if crop.x >= 20 else 1.0
    assert metric.object_inside(Mask.from_array(mask)) == expected
    assert metric.object_inside(None) is None


def test_embeddings_of_a_dual_encoder_have_unit_length(metric: Evaluator, photos: list[np.ndarray]) -> None:
    if not isinstance(metric, DualEncoder):
        pytest.skip(f"{metric.spec.name} scores pairs")
    images, captions = metric.encode_images(photos), metric.encode_captions([PHOTO_CAPTION, "cat " * 300])
    for embeddings in (images, captions):
        np.testing.assert_allclose(np.linalg.norm(embeddings.numpy(), axis=1), 1, atol=1e-5)


def test_an_evaluator_that_is_not_available_says_how_to_get_it() -> None:
    for cls in catalogue():
        availability = cls.availability()
        assert availability.ready or (availability.reason and availability.command)

"""A calibrated evaluator against the arithmetic of its reading, on variants that the test renders itself."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.corpora.images import encode_png
from core.errors import InvalidInput, NotAvailable
from core.evaluators import registry
from core.evaluators.base import Evaluator
from core.evaluators.calibrated import Calibrated, Calibrator, calibrated_name, refusal
from core.evaluators.pool import Pool
from core.features.calibration.readings import Terms, calibrator
from core.probes.pixels import edits as image_edits
from tests.plugins.histogram import Histogram, PairedHistogram

ROTATIONS = ("rotate+10", "rotate+5", "rotate-10", "rotate-5")


def learnt(reading: str = "orbit", *, strength: float = 0.6, families: dict | None = None) -> Calibrator:
    shifts = families or {"vertical-flip": {"vflip": 0.1}, "rotation": dict.fromkeys(ROTATIONS, 0.05)}
    quantiles = {
        name: {probe: np.array([np.linspace(0, 1, 101), np.linspace(0, 0.9, 101)]) for probe in each}
        for name, each in shifts.items()
    }
    weights = (
        dict(zip(shifts, (0.25, 0.75), strict=True)) if len(shifts) == 2 else dict.fromkeys(shifts, 1 / len(shifts))
    )
    terms = Terms(reading, weights, shifts, dict.fromkeys(shifts, 0.07), quantiles if reading == "quantile" else {})
    return calibrator(terms, strength=strength, evaluator="conse-lite0")


def picture(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (40, 56, 3), dtype=np.uint8)


@pytest.mark.parametrize("base", [Histogram(), PairedHistogram()])
def test_the_orbit_reading_pulls_a_score_towards_the_median_of_its_orbits(base: Evaluator) -> None:
    images, captions = [picture(1), picture(2), picture(1)], ["a dog", "a dog", "a bed"]
    found = Calibrated(learnt(), base).score(images, captions)
    for image, caption, score in zip(images, captions, found, strict=True):

        def scored(pixels: np.ndarray, caption: str = caption) -> float:
            return float(PairedHistogram().score([pixels], [caption])[0])

        own = scored(image)
        flip = np.median([own, scored(image[::-1].copy())])
        turns = np.median([own, *(scored(image_edits.rotate(image, angle)) for angle in (-10, -5, 5, 10))])
        assert score == pytest.approx(own + 0.6 * (0.25 * (flip - own) + 0.75 * (turns - own)), abs=1e-6)


def test_full_strength_over_a_flip_gives_a_picture_and_its_flip_one_score() -> None:
    model = learnt(strength=1.0, families={"vertical-flip": {"vflip": 0.0}})
    image = picture(3)
    found = Calibrated(model, Histogram()).score([image, image[::-1].copy()], ["a cat", "a cat"])
    assert found[0] == pytest.approx(found[1], abs=1e-12)


def test_pairs_of_which_nothing_is_known_are_refused_by_the_other_readings(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="only where the edit is known"):
        Calibrated(learnt("shift"), Histogram()).score([picture(1)], ["a"])
    path = tmp_path / "c.json"
    path.write_text(learnt("shift").model_dump_json())
    with pytest.raises(NotAvailable, match="calibrate RUN"), Pool(500, "cpu").lease(str(path)):
        pass


@pytest.mark.parametrize(
    ("families", "sentence"),
    [
        ({"cultural": {"cultural:African": 0.0}}, "edits the caption"),
        ({"reposition": {"reposition-TL": 0.0}}, "needs more than the image"),
        ({"own": {"mine": 0.0}}, "not on this machine"),
    ],
)
def test_families_that_an_image_alone_has_no_orbit_under_are_refused(families: dict, sentence: str) -> None:
    assert sentence in refusal(learnt(families=families))


def test_a_file_is_an_evaluator_with_a_name_and_a_fingerprint_of_its_own(tmp_path: Path) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    one.write_text(learnt().model_dump_json(indent=2))
    other.write_text(learnt(strength=0.5).model_dump_json())
    first, second = registry.find(str(one)), registry.find(str(other))
    assert first.spec.name != second.spec.name
    assert "6 times the cost" in first.spec.summary
    made = [Calibrated(learnt(strength=s), Histogram()).fingerprint for s in (0.6, 0.6, 0.5)]
    assert made[0].key == made[1].key != made[2].key
    assert made[0].name == calibrated_name(learnt()) == first.spec.name


def test_a_file_cannot_name_code(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    told = json.loads(learnt().model_dump_json())
    path.write_text(json.dumps(told | {"evaluator": f"{tmp_path}/evil.py:Evil"}))
    with pytest.raises(InvalidInput, match="no evaluator is named"):
        registry.find(str(path))


def test_a_calibrated_offline_evaluator_scores_photographs_through_the_pool(tmp_path: Path) -> None:
    from skimage import data

    path = tmp_path / "c.json"
    path.write_text(learnt(families={"vertical-flip": {"vflip": 0.0}}, strength=1.0).model_dump_json())
    cat = data.chelsea()
    assert encode_png(cat)
    with Pool(2000, "cpu").lease(str(path)) as loaded:
        scores = loaded.score([cat, cat[::-1].copy()], ["There is a cat.", "There is a cat."])
        assert "1 variants are scored too" in loaded.see(cat, "There is a cat.").notes[-1]
    assert scores[0] == pytest.approx(scores[1], abs=1e-6)

"""A published metric without the words that its publisher puts before every caption: its own evaluator."""

from pathlib import Path

import numpy as np
import pytest

from core.errors import InvalidInput
from core.evaluators.base import DualEncoder
from core.evaluators.registry import find
from core.evaluators.towers.encoder import scale_of
from core.evaluators.weights.catalogue import description

CAPTIONS = ["A dog.", "a cat on a mat"]


@pytest.fixture(scope="module")
def images() -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [rng.integers(0, 256, (40, 60, 3), dtype=np.uint8) for _ in CAPTIONS]


def loaded(reference: str) -> DualEncoder:
    found = find(reference).load()
    assert isinstance(found, DualEncoder)
    return found


@pytest.mark.parametrize("name", ["clipscore", "pac-s"])
def test_without_its_prefix_it_reads_the_caption_alone(name: str, weights: Path, images: list[np.ndarray]) -> None:
    prefix = str(description(name).settings["prefix"])
    with_it, without = loaded(f"{name}@{weights}"), loaded(f"{name}:no-prefix@{weights}")
    assert without.see(images[0], CAPTIONS[0]).prompt == CAPTIONS[0]
    assert with_it.see(images[0], CAPTIONS[0]).prompt == prefix + CAPTIONS[0]
    # the prefix by hand gives the publisher's own scores: nothing else is changed
    by_hand = without.score(images, [prefix + each for each in CAPTIONS])
    np.testing.assert_array_equal(by_hand, with_it.score(images, CAPTIONS))
    assert np.abs(without.score(images, CAPTIONS) - by_hand).max() > 0
    assert without.count_tokens(CAPTIONS[0]) < with_it.count_tokens(CAPTIONS[0])


def test_its_name_title_and_fingerprint_are_its_own(weights: Path) -> None:
    kind = find(f"clipscore:no-prefix@{weights}")
    assert kind.spec.name == "clipscore:no-prefix@openai"
    assert kind.spec.title == f"{find('clipscore').spec.title}, no prefix, openai"
    own, usual = kind.load().fingerprint, find(f"clipscore@{weights}").load().fingerprint
    assert own.key != usual.key
    assert (own.weights, own.settings["prefix"], usual.settings["prefix"]) == (usual.weights, "", "A photo depicts ")
    assert scale_of("clipscore:no-prefix") == scale_of("clipscore") == 2.5


def test_it_is_had_in_another_precision_too(weights: Path) -> None:
    kind = find(f"clipscore:no-prefix:bf16@{weights}")
    assert kind.spec.name == "clipscore:no-prefix:bf16@openai"
    told = kind.load().fingerprint
    assert (told.precision, told.settings["prefix"]) == ("bfloat16", "")
    assert scale_of("clipscore:no-prefix:bf16") == 2.5


@pytest.mark.parametrize("name", ["conse-lite0", "pickscore", "mcs", "siglip", "open_clip:ViT-B-32/openai"])
def test_what_has_no_prefix_says_so(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"evaluator '{name}' has no prefix; leave the :no-prefix out"):
        find(f"{name}:no-prefix")

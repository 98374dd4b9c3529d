"""BLEU-4, METEOR, ROUGE-L and CIDEr-D over suites, against the package's own scores and by hand."""

import numpy as np
import pytest

from core.corpora.suites.model import ACCURACY, TAU_C, Compared, Rated, Sentence, Suite, with_references
from core.errors import InvalidInput
from core.scoring.reference_metrics import NAMED, compare, ready_words
from core.scoring.suite_scores import SuiteScores, check_words, made_with, score_words, stacked

PEOPLE = {
    "a.jpg": ("a dog sits on a mat", "the dog is on the mat"),
    "b.jpg": ("a cat sleeps in the sun", "one cat in the warm sun"),
    "c.jpg": ("two birds on a wire", "birds sit on a long wire"),
}
SAID = {"a.jpg": ("a dog on a mat", "a cat on a mat"), "b.jpg": ("a cat in the sun", "birds in the sun")}


def rated(language: str = "en") -> tuple[Rated, ...]:
    return tuple(
        Rated(
            image,
            caption if language == "en" else f"{language} {caption}",
            4.0 - place,
            references=PEOPLE[image],
            language=language,
        )
        for image, captions in SAID.items()
        for place, caption in enumerate(captions)
    )


def suite(*more: Rated) -> Suite:
    return Suite("Flickr8k-Expert", TAU_C, (*rated(), *more))


def test_draws_of_references_stand_one_above_the_other_and_an_error_of_several_once() -> None:
    draws = [
        SuiteScores(*(np.array([each]) for each in (a, b, c)), (f"{a:g}", "no image"))
        for a, b, c in ((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
    ]
    both = stacked(draws)
    assert (both.rated.tolist(), both.preferred.tolist(), both.other.tolist()) == ([[1], [4]], [[2], [5]], [[3], [6]])
    assert both.errors == ("1", "no image", "4")


@pytest.mark.parametrize("name", ready_words())
def test_every_caption_is_scored_as_if_it_alone_were_its_image_s(name: str) -> None:
    found = score_words(suite(), name).rated
    for place in (0, 1):  # one caption an image: the package's own way
        captions = [SAID[image][place] for image in SAID]
        held = compare(captions, [PEOPLE[image] for image in SAID], meteor=name == "meteor")
        expected = held.per_caption[NAMED[name]]
        assert found[place::2] == pytest.approx(expected)


def test_both_sides_of_a_comparison_are_scored_beside_its_own_references() -> None:
    pairs = tuple(Compared(image, *SAID[image], references=PEOPLE[image]) for image in SAID)
    found = score_words(Suite("Pascal-50S", ACCURACY, (), pairs), "cider-d")
    assert (found.preferred > found.other).all()
    one = score_words(with_references(Suite("Pascal-50S", ACCURACY, (), pairs), 1), "cider-d")
    assert not np.allclose(found.preferred, one.preferred)


def test_a_caption_without_reference_or_of_another_language_has_no_score_and_is_named() -> None:
    held = suite(Rated("c.jpg", "a red barn", 1.0), *rated("de"), Rated("a.jpg", "…", 1.0, references=PEOPLE["a.jpg"]))
    found = score_words(held, "rouge-l")
    assert np.isnan(found.rated).tolist() == [False] * 4 + [True] * 5 + [False]
    assert found.rated[-1] == 0
    said = " ".join(found.errors)
    assert "c.jpg: this caption has no reference" in said
    assert "4 captions: rouge-l cuts captions into English words" in said


def test_what_the_weights_rest_on_is_said() -> None:
    assert "document frequencies: the references of 2 images of the suite" in made_with(suite(), "cider-d")
    assert "frequencies" not in made_with(suite(), "bleu-4")


def test_suites_that_it_cannot_be_held_to_are_refused() -> None:
    check_words(suite(), "cider-d")
    bare = Suite("Composite", TAU_C, (Rated("a.jpg", "a dog", 1.0),))
    spoken = Compared("v", "one", "two", references=("three",), sentences=(Sentence("one", "two", (0.0, 1.0)),))
    for held, why in (
        (bare, "holds none"),
        (Suite("ActivityNet-FOIL", ACCURACY, (), (spoken,)), "sentence by sentence"),
        (Suite("M-CapEval1k", TAU_C, rated("de")), "no English caption"),
        (Suite("Flickr8k-Expert", TAU_C, rated()[:2]), "references of 1 here"),
    ):
        with pytest.raises(InvalidInput, match=why):
            check_words(held, "cider-d")

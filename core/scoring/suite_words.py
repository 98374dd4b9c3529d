"""BLEU-4, METEOR, ROUGE-L and CIDEr-D over a human-labelled suite: captions beside references, by words alone."""

import numpy as np

from core.corpora.suites import ENGLISH, Compared, Rated, Suite
from core.errors import InvalidInput, NotAvailable
from core.scoring.meteor import lacking
from core.scoring.reference_metrics import CIDER, LEAST_PICTURES, METEOR, NAMED, compare, fingerprint, ready_words
from core.scoring.suites import Asked, SuiteScores, asked_of, check_references, in_order


def check_words(suite: Suite, name: str) -> None:
    """Refuse a suite that a metric of references cannot be held to.

    Args:
        suite: as it was read.
        name: of :data:`core.evaluators.references.BY_WORDS`.

    Raises:
        InvalidInput: if it has no references, is scored sentence by sentence, or has no English caption.
        NotAvailable: if the metric cannot be computed here.
    """
    if name not in ready_words():
        raise NotAvailable(lacking())
    check_references(name, suite)
    if any(each.sentences for each in suite.compared):
        raise InvalidInput(
            f"{suite.name} is scored sentence by sentence, each beside its own part of a video, and {name} takes whole "
            "captions; choose an evaluator of videos"
        )
    languages = {each.language for each in suite.rated}
    if languages and ENGLISH not in languages:
        raise InvalidInput(f"{name} cuts captions into English words, and {suite.name} has no English caption here")
    pictures = len(_documents(suite))
    if NAMED[name] == CIDER and pictures < LEAST_PICTURES:
        raise InvalidInput(
            f"{name} weighs words by the images whose references say them, and {suite.name} has references of "
            f"{pictures} here; {LEAST_PICTURES} are needed"
        )


def score_words(suite: Suite, name: str) -> SuiteScores:
    """Score every caption of a suite; no image is read.

    CIDEr-D weighs words by the references that the suite gives, each image once however many captions it has.

    Args:
        suite: with the references that its captions are compared with; of :func:`check_words`.
        name: of :data:`core.evaluators.references.BY_WORDS`.
    """
    english = {(each.image, each.caption, each.references) for each in suite.rated if each.language == ENGLISH}
    foreign = {each for each in asked_of(suite)[: len(suite.rated)] if each not in english}
    asked = [each for each in dict.fromkeys(asked_of(suite)) if each not in foreign]
    found = compare(
        [caption for _, caption, _ in asked],
        [held for *_, held in asked],
        documents=list(_documents(suite).values()),
        meteor=NAMED[name] == METEOR,
    )
    scores: dict[Asked, float] = dict(zip(asked, found.per_caption[NAMED[name]].tolist(), strict=True))
    errors = [f"{image}: this caption has no reference" for (image, *_), score in scores.items() if np.isnan(score)]
    if foreign:
        errors.append(f"{len(foreign)} captions: {name} cuts captions into English words, and these are not English")
    return in_order(suite, scores, errors)


def made_with(suite: Suite, name: str) -> str:
    """What the numbers depend on, in words."""
    if NAMED[name] != CIDER:
        return fingerprint()
    return f"{fingerprint()}; document frequencies: the references of {len(_documents(suite)):,} images of the suite"


def _documents(suite: Suite) -> dict[str, list[str]]:
    """By image, its references, each once."""
    found: dict[str, dict[str, None]] = {}
    judged: list[Rated | Compared] = [*suite.rated, *suite.compared]
    for each in judged:
        found.setdefault(each.image, {}).update(dict.fromkeys(each.references))
    return {image: list(texts) for image, texts in found.items() if texts}

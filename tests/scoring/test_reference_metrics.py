"""BLEU, ROUGE-L and CIDEr-D against a slow reference that is written from the papers."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.errors import InvalidInput
from core.scoring.reference_metrics import CIDER, METRICS, compare, tokens
from core.statistics.corpus_bleu import bleu_intervals, corpus_bleu

WORDS = ("a", "dog", "cat", "on", "the", "mat", "sits")
sentences = some.lists(some.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)
pictures = some.lists(some.tuples(sentences, some.lists(sentences, min_size=1, max_size=3)), min_size=2, max_size=5)


def grams(words: list[str], length: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[at : at + length]) for at in range(len(words) - length + 1))


def slow_bleu(pairs: list[tuple[str, list[str]]], order: int) -> float:
    """Papineni et al. (2002), sections 2.1 to 2.3."""
    logs, own, theirs = 0.0, 0, 0
    for length in range(1, order + 1):
        matched = there = 0
        for caption, references in pairs:
            said = grams(caption.split(), length)
            most = {gram: max(grams(text.split(), length)[gram] for text in references) for gram in said}
            matched += sum(min(count, most[gram]) for gram, count in said.items())
            there += sum(said.values())
        if not matched:
            return 0.0
        logs += math.log(matched / there) / order
    for caption, references in pairs:
        words = len(caption.split())
        own += words
        theirs += sorted((abs(len(text.split()) - words), len(text.split())) for text in references)[0][1]
    return math.exp(logs) * (1.0 if own >= theirs else math.exp(1 - theirs / own))


def slow_rouge(caption: str, references: list[str]) -> float:
    """Lin (2004), section 3: the longest common subsequence by trying every one; beta = 1.2 as in COCO's code."""

    def common(one: list[str], other: list[str]) -> int:
        for size in range(min(len(one), len(other)), 0, -1):
            if set(combinations(one, size)) & set(combinations(other, size)):
                return size
        return 0

    said = caption.split()
    lengths = [(common(said, text.split()), len(text.split())) for text in references]
    precision = max(each / len(said) for each, _ in lengths)
    recall = max(each / long for each, long in lengths)
    return (1 + 1.44) * precision * recall / (recall + 1.44 * precision) if precision and recall else 0.0


def slow_cider(pairs: list[tuple[str, list[str]]]) -> list[float]:
    """Vedantam et al. (2015), equations 2 to 4 and CIDEr-D of section 5, sigma = 6."""

    def weight(gram: tuple[str, ...]) -> float:
        holding = sum(any(gram in grams(text.split(), len(gram)) for text in references) for _, references in pairs)
        return math.log(len(pairs)) - math.log(max(1, holding))

    scores = []
    for caption, references in pairs:
        total = 0.0
        for length in range(1, 5):
            own = {gram: count * weight(gram) for gram, count in grams(caption.split(), length).items()}
            for text in references:
                other = {gram: count * weight(gram) for gram, count in grams(text.split(), length).items()}
                size = math.hypot(*own.values()) * math.hypot(*other.values())
                shared = sum(min(value, other.get(gram, 0.0)) * other.get(gram, 0.0) for gram, value in own.items())
                apart = len(caption.split()) - len(text.split())
                # pycocoevalcap counts a sentence's length in pairs of words; a single word has none
                apart = max(len(caption.split()) - 1, 0) - max(len(text.split()) - 1, 0) if apart else 0
                total += (shared / size if size else 0.0) * math.exp(-(apart**2) / (2 * 36)) / len(references)
        scores.append(10 * total / 4)
    return scores


@given(pictures)
def test_every_metric_is_that_of_the_papers(pairs: list[tuple[str, list[str]]]) -> None:
    found = compare([caption for caption, _ in pairs], [references for _, references in pairs])
    for order in range(1, 5):
        assert found.means[f"BLEU-{order}"] == pytest.approx(slow_bleu(pairs, order), abs=1e-9)
        # a caption's own BLEU is smoothed by 1e-15 where nothing matches, so only whole matches are held
        for at, pair in enumerate(pairs):
            if alone := slow_bleu([pair], order):
                assert found.per_caption[f"BLEU-{order}"][at] == pytest.approx(alone, rel=1e-6)
    assert found.per_caption["ROUGE-L"] == pytest.approx([slow_rouge(*pair) for pair in pairs])
    assert found.per_caption[CIDER] == pytest.approx(slow_cider(pairs), abs=1e-9)
    for name in ("ROUGE-L", CIDER):
        assert found.means[name] == pytest.approx(float(np.mean(found.per_caption[name])))


def test_captions_are_cut_into_words() -> None:
    assert tokens("Two men's hats, a well-lit ROOM (and 3.5 km)...") == [
        "two", "men", "'s", "hats", "a", "well-lit", "room", "and", "3.5", "km",
    ]  # fmt: skip
    assert tokens("They’re here, can't & cannot; u.s. flag/banner") == [
        "they", "'re", "here", "ca", "n't", "&", "can", "not", "u.s.", "flag", "banner",
    ]  # fmt: skip
    assert tokens(" .,!? ") == []


def test_capitals_and_punctuation_change_nothing() -> None:
    one = compare(["A dog sits.", "a cat"], [["the dog sits", "a dog!"], ["A CAT"]])
    other = compare(["a dog sits", "A cat!"], [["The dog, sits", "a dog"], ["a cat"]])
    assert one.means == pytest.approx(other.means)


def test_what_has_no_words_counts_0_and_what_has_no_references_is_not_counted() -> None:
    """As pycocoevalcap 1.2 does; None stands for a caption that nobody asks about."""
    found = compare(["a dog", "...", "a cat", None], [["a dog sits"], ["a mat"], [], ["a mat"]])
    assert found.n == 2
    for name in METRICS:
        assert np.isfinite(found.per_caption[name]).tolist() == [True, True, False, False]
        assert found.per_caption[name][1] == 0
        assert found.per_caption[name][0] > 0
    assert compare(["", ""], [["a"], ["b"]]).means["BLEU-1"] == 0


def test_one_picture_alone_has_no_cider() -> None:
    found = compare(["a dog"], [["a dog sits"]])
    assert math.isnan(found.means[CIDER])
    assert found.means["BLEU-1"] > 0


def test_a_list_of_references_a_caption_is_needed() -> None:
    with pytest.raises(InvalidInput, match="got 2 and 1"):
        compare(["a", "b"], [["a"]])


def test_counts_add_up_to_the_bleu_of_the_set_and_its_interval_holds_it() -> None:
    rng = np.random.default_rng(5)
    lines = [[" ".join(rng.choice(WORDS[:4], 9)) for _ in range(4)] for _ in range(30)]
    found = compare([each[0] for each in lines], [each[1:] for each in lines])
    intervals = bleu_intervals(found.counts)
    for order, each in enumerate(intervals, 1):
        assert each.estimate == pytest.approx(found.means[f"BLEU-{order}"])
        assert each.low < each.estimate < each.high
    # twice the captions, drawn by their sources: the same number, about the same interval
    twice = bleu_intervals(np.tile(found.counts, (2, 1)), groups=[*range(30), *range(30)])
    assert twice[0].estimate == pytest.approx(intervals[0].estimate)
    assert twice[0].high - twice[0].low == pytest.approx(intervals[0].high - intervals[0].low, rel=0.15)
    assert math.isnan(bleu_intervals(found.counts[:9])[0].low)
    assert "n = 9" in bleu_intervals(found.counts[:9])[0].note
    with pytest.raises(InvalidInput, match="10 counts"):
        corpus_bleu([1, 2])


def test_several_captions_of_a_picture_are_weighed_by_the_references_of_every_picture_once() -> None:
    people = [["a dog sits", "the dog on a mat"], ["a cat on the mat"], ["the mat"]]
    captions, of = ["a dog on a mat", "the dog sits", "a cat sits", "a mat"], [0, 0, 1, 2]
    found = compare(captions, [people[place] for place in of], documents=people).per_caption[CIDER]
    for first in (0, 1):  # one caption a picture: what the package itself does
        three = [captions[first], *captions[2:]]
        alone = compare(three, people).per_caption[CIDER]
        assert found[[first, 2, 3]] == pytest.approx(alone)
    assert not np.allclose(found, compare(captions, [people[place] for place in of]).per_caption[CIDER])
    assert np.isnan(compare(captions, [people[place] for place in of], documents=people[:1]).per_caption[CIDER]).all()

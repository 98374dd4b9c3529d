"""Metrics of references against a slow reference that is written from the papers, and against pycocoevalcap."""

import math
import random
import subprocess
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.errors import InvalidInput, NotAvailable
from core.scoring import treebank
from core.scoring.reference_metrics import BLEU, CIDER, METEOR, ROUGE, compare, lacking, ready_words, tokens
from core.statistics.corpus_sums import corpus_bleu, corpus_meteor, summed_intervals
from tools.treebank_words import published_words, read_table

WITHOUT_JAVA = (*BLEU, ROUGE, CIDER)
WORDS = ("a", "dog", "cat", "on", "the", "mat", "sits")
sentences = some.lists(some.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)
odd = some.lists(some.sampled_from((*WORDS, "2 1/2", "it's", "A.", "£5", "(x)")), min_size=1, max_size=9).map(" ".join)
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
        # pycocoevalcap smooths: 0 of 0 is 1e-6, the fourth root of which is 0.032
        together = slow_bleu(pairs, order)
        assert found.means[f"BLEU-{order}"] == pytest.approx(together, abs=1e-8 if together else 0.04)
        for at, pair in enumerate(pairs):
            if alone := slow_bleu([pair], order):
                assert found.per_caption[f"BLEU-{order}"][at] == pytest.approx(alone, rel=1e-6)
    assert found.per_caption["ROUGE-L"] == pytest.approx([slow_rouge(*pair) for pair in pairs])
    assert found.per_caption[CIDER] == pytest.approx(slow_cider(pairs), abs=1e-9)
    for name in ("ROUGE-L", CIDER):
        assert found.means[name] == pytest.approx(float(np.mean(found.per_caption[name])))


@given(some.lists(some.tuples(odd, some.lists(odd, min_size=1, max_size=4)), min_size=1, max_size=5))
def test_every_number_is_pycocoevalcap_s(pairs: list[tuple[str, list[str]]]) -> None:
    """pycocoevalcap 1.2, whose counting needs no Java; *2 1/2* is one word of ROUGE and two of the others."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    found = compare([caption for caption, _ in pairs], [references for _, references in pairs])
    own = {place: [" ".join(tokens(caption))] for place, (caption, _) in enumerate(pairs)}
    theirs = {place: [" ".join(tokens(text)) for text in held] for place, (_, held) in enumerate(pairs)}
    bleu, own_bleu = Bleu(4).compute_score(theirs, own, verbose=0)
    rouge, own_rouge = Rouge().compute_score(theirs, own)
    cider, own_cider = Cider().compute_score(theirs, own)
    expected = dict(zip(WITHOUT_JAVA, [*bleu, rouge, cider], strict=True))
    each = dict(zip(WITHOUT_JAVA, [*own_bleu, own_rouge, own_cider], strict=True))
    for name in WITHOUT_JAVA if len(pairs) > 1 else (*BLEU, ROUGE):
        assert found.means[name] == pytest.approx(expected[name], abs=1e-9)
        assert found.per_caption[name] == pytest.approx(np.array(each[name]), abs=1e-9)


CATS = "an orange cat and a grey cat are lying together."
GOOD = [
    CATS,
    "a black dog wearing headphones looks at the camera as an orange cat walks in the background.",
]
BAD = [
    "a calico cat and a white cat are lying together.",
    "a black dog wearing a hat looks at the camera as a tabby walks in the background.",
]
PEOPLE = [
    [
        "two cats are sleeping next to each other.",
        "a grey cat is cuddling with an orange cat on a blanket.",
        "the orange cat is happy that the black cat is close to it.",
    ],
    [
        "a dog is wearing ear muffs as it lies on a carpet.",
        "a black dog and an orange cat are looking at the photographer.",
        "headphones are placed on a dogs ears.",
    ],
]


@pytest.mark.parametrize(
    ("captions", "printed"),
    [(GOOD, (0.6667, 0.4899, 0.3469, 0, 0.4280, 0.5637)), (BAD, (0.4815, 0.2404, 0.1359, 0, 0.3121, 0.2790))],
)
def test_the_example_of_clipscore_has_the_numbers_that_its_authors_print(
    captions: list[str], printed: tuple[float, ...]
) -> None:
    """README of github.com/jmhessel/clipscore, example/good_captions.json and example/bad_captions.json."""
    found = compare(captions, PEOPLE)
    assert [found.means[name] for name in WITHOUT_JAVA] == pytest.approx(printed, abs=1e-4)


@pytest.mark.skipif(bool(lacking()), reason="METEOR needs the extra java")
def test_meteor_is_the_published_program_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """0.3444 and 0.1861 stand in clipscore's README; the others are what meteor-1.5.jar answers to EVAL."""
    monkeypatch.setattr(
        "core.scoring.reference_metrics.subprocess", subprocess
    )  # no program that other tests asked before
    found = compare([*GOOD, *BAD, "a dog", ""], [*PEOPLE, *PEOPLE, ["a dog"], ["a dog"]], meteor=True)
    counts = found.counts[METEOR]
    assert corpus_meteor(counts[:2].sum(axis=0)) == pytest.approx(0.3444057316763406, abs=1e-12)
    assert corpus_meteor(counts[2:4].sum(axis=0)) == pytest.approx(0.1861, abs=5e-5)
    # a caption that is its reference has no chunk among those of a set
    assert corpus_meteor(counts[[0, 4]].sum(axis=0)) == pytest.approx(0.377270115115156, abs=1e-12)
    expected = [0.3328299405496036, 0.3555576154297008, 1, 0]
    assert found.per_caption[METEOR][[0, 1, 4, 5]] == pytest.approx(expected, abs=1e-12)
    assert found.means[METEOR] == pytest.approx(float(corpus_meteor(counts.sum(axis=0))[0]))


def test_without_java_meteor_is_named_with_what_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.scoring.reference_metrics.find_spec", lambda name: None)
    assert ready_words() == ("bleu-4", "rouge-l", "cider-d")
    assert "requirements-java.txt" in lacking()
    with pytest.raises(NotAvailable, match=r"invariscope\[java\]"):
        compare(["a dog"], [["a dog"]], meteor=True)
    assert math.isnan(compare(["a dog"], [["a dog"]]).means[METEOR])


def test_counts_of_another_width_are_no_meteor() -> None:
    with pytest.raises(InvalidInput, match="23 counts"):
        corpus_meteor([1, 2])


def test_capitals_and_punctuation_change_nothing() -> None:
    one = compare(["A dog sits.", "a cat"], [["the dog sits", "a dog!"], ["A CAT"]])
    other = compare(["a dog sits", "A cat!"], [["The dog, sits", "a dog"], ["a cat"]])
    assert one.means == pytest.approx(other.means, nan_ok=True)


def test_what_has_no_words_counts_0_and_what_has_no_references_is_not_counted() -> None:
    """As pycocoevalcap 1.2 does; None stands for a caption that nobody asks about."""
    found = compare(["a dog", "...", "a cat", None], [["a dog sits"], ["a mat"], [], ["a mat"]])
    assert found.n == 2
    for name in WITHOUT_JAVA:
        assert np.isfinite(found.per_caption[name]).tolist() == [True, True, False, False]
        assert found.per_caption[name][1] == 0
        assert found.per_caption[name][0] > 0
    assert compare(["", ""], [["a"], ["b"]]).means["BLEU-1"] == 0
    assert all(map(math.isnan, compare([], []).means.values()))


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
    counts = found.counts["BLEU-4"]
    intervals = summed_intervals(counts, corpus_bleu)
    for order, each in enumerate(intervals, 1):
        assert each.estimate == pytest.approx(found.means[f"BLEU-{order}"])
        assert each.low < each.estimate < each.high
    # twice the captions, drawn by their sources: the same number, about the same interval
    twice = summed_intervals(np.tile(counts, (2, 1)), corpus_bleu, groups=[*range(30), *range(30)])
    assert twice[0].estimate == pytest.approx(intervals[0].estimate)
    assert twice[0].high - twice[0].low == pytest.approx(intervals[0].high - intervals[0].low, rel=0.15)
    assert math.isnan(summed_intervals(counts[:9], corpus_bleu)[0].low)
    assert "n = 9" in summed_intervals(counts[:9], corpus_bleu)[0].note
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


TABLE = read_table()


def test_every_caption_of_the_table_is_cut_as_published() -> None:
    """The table was made by tools/treebank_words.py."""
    assert len(TABLE) > 300
    assert {caption: tokens(caption) for caption, _ in TABLE} == dict(TABLE)


@pytest.mark.skipif(bool(lacking()), reason="the published tokenizer needs the extra java")
def test_captions_mixed_of_the_table_s_words_are_cut_as_published() -> None:
    rng = random.Random(20)
    words = [word for caption, _ in TABLE for word in caption.split(" ")]
    captions = [
        rng.choice(("", " ", "  ")).join(rng.choice(words) for _ in range(rng.randint(1, 9))) for _ in range(3000)
    ]
    assert dict(zip(captions, map(tokens, captions), strict=True)) == dict(
        zip(captions, published_words(captions), strict=True)
    )


def test_line_ends_in_a_caption_are_spaces() -> None:
    for end in ("\n", "\r", "\r\n", "\u2028", "\x85", "\x0c"):
        assert tokens(f"a dog{end}sits.") == ["a", "dog", "sits"]
    assert tokens("") == tokens(" .,! \n") == []


def test_a_caption_is_read_for_itself_however_long() -> None:
    assert tokens("a dog " * 5000) == ["a", "dog"] * 5000
    assert tokens("1 " * 3000 + "1/2") == ["1"] * 2999 + ["1\xa01/2"]
    assert tokens("a" * 50_000) == ["a" * 50_000]


def test_tables_of_another_tokenizer_are_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(treebank, "_SHA256", "0" * 64)
    with pytest.raises(InvalidInput, match=r"not CoreNLP 3\.4\.1's"):
        treebank.automaton.__wrapped__()

"""Words of captions against those of the published tokenizer: CoreNLP 3.4.1 as pycocoevalcap 1.2 runs it."""

import random

import pytest

from core.errors import InvalidInput
from core.scoring import treebank
from core.scoring.meteor import lacking
from core.scoring.reference_metrics import tokens
from tools.treebank_words import published_words, read_table

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

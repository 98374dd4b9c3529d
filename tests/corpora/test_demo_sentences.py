"""Sentences of the demo corpus: true of the picture, and grammatical as far as a rule can tell."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core import settings
from core.corpora.demo import load_demo
from core.corpora.demo_backgrounds import PLACES
from core.corpora.demo_plan import LANGUAGES, share
from core.corpora.schema import Corpus, Item, Mask
from core.errors import BadCorpus
from core.probes.words.screening import families
from tests.corpora.hand_worked_sentences import SCENES, WORKED
from tests.corpora.read_sentences import READ
from tools.demo_corpus.plan import FILLING, Plan, read_plan, said_of, where
from tools.demo_corpus.scenes import ScenePlan, captions

ASSETS = settings.ROOT / "assets" / "demo"
SPACED = ("en", "de", "fr", "es")

WHERE_EN = {
    "On the left, ": "left",
    "On the right, ": "right",
    "At the top, ": "top",
    "At the bottom, ": "bottom",
    "In the middle, ": "middle",
}
COVERED_EN = {
    "little of the picture": (0.0, 0.14),
    "about a fifth of the picture": (0.14, 0.27),
    "about a third of the picture": (0.27, 0.42),
    "about half of the picture": (0.42, 0.58),
    "most of the picture": (0.58, 0.85),
    "almost the whole picture": (0.85, 1.0),
}


@pytest.fixture(scope="module")
def demo() -> Corpus:
    return load_demo.load(settings.ROOT / "data" / "demo")


def composed(demo: Corpus) -> list[Item]:
    return [item for item in demo.items if item.source.startswith("tuxpaint-stamps")]


def test_every_item_has_a_sentence_before_a_short_caption_in_five_languages(demo: Corpus) -> None:
    for item in demo.items:
        assert set(item.captions) == set(LANGUAGES)
        assert all(len(texts) == 2 for texts in item.captions.values())


def test_sentences_have_ten_to_sixteen_words(demo: Corpus) -> None:
    for item in demo.items:
        for language in SPACED:
            assert 10 <= len(item.captions[language][0].split()) <= 16, item.captions[language][0]
        japanese = item.captions["ja"][0]
        assert 20 <= len(japanese) <= 45
        assert " " not in japanese


def test_sentences_begin_and_end_as_sentences_do(demo: Corpus) -> None:
    for item in demo.items:
        for language in SPACED:
            text = item.captions[language][0]
            assert text[0].isupper()
            assert text.endswith(".")
            assert "  " not in text
            assert not set(text) & set("{}")
        assert item.captions["ja"][0].endswith("。")


@pytest.mark.parametrize("name", READ)
def test_sentences_read_by_a_person_come_out_as_they_were_read(demo: Corpus, name: str) -> None:
    assert {language: texts[0] for language, texts in demo.get(name).captions.items()} == READ[name]


def test_at_least_twenty_sentences_a_language_were_read() -> None:
    assert len(READ) >= 20
    assert all(set(texts) == set(LANGUAGES) for texts in READ.values())


def test_the_sentence_says_what_the_pixels_of_the_mask_say(demo: Corpus) -> None:
    for item in composed(demo):
        assert item.mask is not None
        inside = item.mask.to_array()
        rows, columns = np.nonzero(inside)
        down = (rows.min() + rows.max() + 1) / 2 / item.height
        across = (columns.min() + columns.max() + 1) / 2 / item.width
        text = item.captions["en"][0]
        said = next((text.endswith(f"{phrase}.") and limits) for phrase, limits in COVERED_EN.items() if phrase in text)
        assert said
        assert said[0] <= inside.mean() <= said[1], item.id
        place = next((name for start, name in WHERE_EN.items() if text.startswith(start)), None)
        assert (place is None) == (inside.mean() > 0.58), item.id
        horizontal = "left" if across < 1 / 3 else "right" if across > 2 / 3 else None
        vertical = "top" if down < 1 / 3 else "bottom" if down > 2 / 3 else "middle"
        assert place in (None, horizontal or vertical), item.id


@pytest.mark.parametrize("language", LANGUAGES)
def test_noun_and_place_of_the_sentence_are_those_of_the_lists(demo: Corpus, plan: Plan, language: str) -> None:
    entries = {entry.id: entry for entry in plan.items}
    for item in composed(demo):
        entry = entries[item.id]
        nouns = plan.grammar.nouns
        noun = nouns.get(entry.stamp) or nouns[item.label or ""]
        text = item.captions[language][0]
        assert noun[language] in (text, text[0].lower() + text[1:]) or noun[language].lower() in text.lower()
        assert plan.grammar.places[entry.background][language] in text


def test_every_label_and_every_place_has_words_and_no_words_are_left_over(plan: Plan) -> None:
    named = {entry.label for entry in plan.stamps.values()}
    assert set(plan.grammar.nouns) - set(plan.stamps) <= named
    for entry in plan.stamps.values():
        assert entry.stamp in plan.grammar.nouns or entry.label in plan.grammar.nouns
    assert set(plan.grammar.places) == set(PLACES)


def nouns_of(plan: Plan, language: str) -> list[str]:
    return [texts[language] for texts in plan.grammar.nouns.values()]


def test_noun_phrases_carry_the_singular_article_of_their_language(plan: Plan) -> None:
    forms = {"en": r"(a|an) \S.*", "de": r"(ein|eine) \S.*", "fr": r"(un|une) \S.*", "es": r"(un|una) \S.*"}
    for language, form in forms.items():
        assert [noun for noun in nouns_of(plan, language) if not re.fullmatch(form, noun)] == []
    assert [noun for noun in nouns_of(plan, "ja") if re.search(r"[A-Za-z\s、。]", noun)] == []


def test_english_articles_follow_the_sound(plan: Plan) -> None:
    for noun in nouns_of(plan, "en"):
        article, _, word = noun.partition(" ")
        assert (article == "an") == (word[0] in "aeio" or word.startswith("um")), noun


@pytest.mark.parametrize("language", ["de", "fr", "es"])
def test_one_noun_has_one_article_wherever_it_stands(plan: Plan, language: str) -> None:
    articles: dict[str, set[str]] = {}
    for noun in nouns_of(plan, language):
        article, _, rest = noun.partition(" ")
        articles.setdefault(rest.split()[0], set()).add(article)
    assert {word: each for word, each in articles.items() if len(each) > 1} == {}


@pytest.mark.parametrize(("language", "errors_of_the_stamps"), [("de", {"Ingwerwurzel"}), ("fr", set()), ("es", set())])
def test_articles_agree_with_those_that_the_stamps_own_texts_use(
    demo: Corpus, plan: Plan, language: str, errors_of_the_stamps: set[str]
) -> None:
    seen = 0
    for item in composed(demo):
        short = item.captions[language][1]
        for noun in nouns_of(plan, language):
            article, _, rest = noun.partition(" ")
            if re.fullmatch(rf"(ein|eine|un|une|una) {re.escape(rest)}[.!]?", short, re.IGNORECASE):
                seen += 1
                assert rest in errors_of_the_stamps or short.lower().startswith(f"{article} "), (short, noun)
    assert seen >= 60


GENDER_OF_HEAD = (
    ("maus", "eine"), ("katze", "eine"), ("blume", "eine"), ("maschine", "eine"), ("gitarre", "eine"),
    ("kanne", "eine"), ("mühle", "eine"), ("flasche", "eine"), ("tonne", "eine"), ("lilie", "eine"),
    ("huhn", "ein"), ("schwein", "ein"), ("fahrzeug", "ein"), ("auto", "ein"), ("wagen", "ein"), ("baum", "ein"),
    ("ball", "ein"), ("boot", "ein"), ("schild", "ein"), ("rad", "ein"), ("fisch", "ein"), ("stein", "ein"),
    ("sauger", "ein"), ("kocher", "ein"), ("kasten", "ein"), ("mischer", "ein"), ("schläger", "ein"),
)  # fmt: skip


def test_german_compounds_have_the_gender_of_their_head(plan: Plan) -> None:
    for noun in nouns_of(plan, "de"):
        article, _, rest = noun.partition(" ")
        for head, wanted in GENDER_OF_HEAD:
            if rest.lower().split()[0].endswith(head):
                assert article == wanted, noun


@pytest.mark.parametrize(
    ("language", "wrong"),
    [
        ("en", r"\ba [aeio]|\ban [^aeiou]"),
        (
            "de",
            r"\b(auf|in|vor|an|zwischen) (der|den) (Feld|Wiese|Weide|Gras)\b|\bin dem\b|\ban dem\b|\b(auf|vor) ein ",
        ),
        ("fr", r"\b(de|à) les?\b|\b(le|la|de|que|je|ne|se) [aeiouéèêâîôûh](?!ibou|éron|ors)|\bde un|\bsi il"),
        ("es", r"\b(de|a) el\b|\b(la|una) (agua|águila|arma|hacha)\b"),
        ("ja", r"のの|がが|のが、の|[ ,.]"),
    ],
)
def test_no_contraction_or_elision_is_missing(demo: Corpus, language: str, wrong: str) -> None:
    pattern = re.compile(wrong)
    assert [text for item in demo.items if pattern.search(text := item.captions[language][0])] == []


GERMAN_PLACES = re.compile(
    r"(auf|in|vor|am|zwischen) "
    r"((einem|dem) [A-Z]\w+|(einer|der) [A-Z]\w+|[a-zäöüß]+(em|en) [A-Z]\w+)"
)


def test_german_places_are_in_the_dative(plan: Plan) -> None:
    for texts in plan.grammar.places.values():
        assert GERMAN_PLACES.fullmatch(texts["de"]), texts["de"]


def test_no_sentence_says_a_word_of_the_societal_probes(demo: Corpus) -> None:
    words = {each.word.lower() for family in families().values() for each in (*family.modifiers, *family.controls)} | {
        "african",
        "chinese",
        "small",
        "large",
        "big",
        "tiny",
        "old",
        "new",
        "rich",
        "poor",
    }
    for item in demo.items:
        assert not words & set(re.findall(r"[a-z]+", item.captions["en"][0].lower())), item.captions["en"][0]


def test_the_share_and_the_place_are_read_off_the_mask() -> None:
    def mask(rows: slice, columns: slice) -> Mask:
        array = np.zeros((90, 90), bool)
        array[rows, columns] = True
        return Mask.from_array(array)

    assert (where(mask(slice(0, 9), slice(0, 9))), share(mask(slice(0, 9), slice(0, 9)))) == ("left", "small")
    assert where(mask(slice(40, 50), slice(70, 90))) == "right"
    assert where(mask(slice(0, 10), slice(40, 50))) == "top"
    assert where(mask(slice(80, 90), slice(40, 50))) == "bottom"
    assert where(mask(slice(30, 60), slice(30, 60))) == "middle"
    assert share(mask(slice(0, 18), slice(0, 90))) == "fifth"
    assert share(mask(slice(0, 30), slice(0, 90))) == "third"
    assert share(mask(slice(0, 45), slice(0, 90))) == "half"
    assert share(mask(slice(0, 70), slice(0, 90))) == "most"
    assert share(mask(slice(0, 90), slice(0, 90))) == "all"
    with pytest.raises(BadCorpus, match="nowhere in the picture"):
        where(Mask.from_array(np.zeros((4, 4), bool)))


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("grammar.csv", "{noun} {place} covers {share}.", "{noun} covers {share}.", "must name each of noun, place"),
        ("grammar.csv", "{noun} {place} covers {share}.", "{noun", "is no pattern"),
        ("grammar.csv", "where:left", "where:west", "must have the lines"),
        ("nouns.csv", "\nparrot,", "\nfrog,", "'frog' was there before"),
        ("places.csv", "in a field", "", "every column needs one value"),
    ],
)
def test_a_slip_in_the_words_is_named(tmp_path: Path, file: str, old: str, new: str, message: str) -> None:
    lists = Path(shutil.copytree(ASSETS, tmp_path / "lists"))
    text = (lists / file).read_text(encoding="utf-8")
    assert old in text
    (lists / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BadCorpus, match=message):
        read_plan(lists)


def test_words_that_are_missing_are_asked_for(plan: Plan) -> None:
    mask = Mask.from_array(np.ones((4, 4), bool))
    with pytest.raises(BadCorpus, match=r"nouns\.csv has no noun phrase for label 'unicorn'"):
        said_of(plan.grammar, label="unicorn", stamp="x.png", background="field", mask=mask)
    with pytest.raises(BadCorpus, match=r"places\.csv has no phrase for background 'moon'"):
        said_of(plan.grammar, label="frog", stamp="x.png", background="moon", mask=mask)


def test_the_shipped_list_holds_what_the_loader_gives(demo: Corpus) -> None:
    lines = (settings.ROOT / "data" / "demo" / "items.jsonl").read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0])
    assert tuple(first["captions"]["en"]) == demo.items[0].captions["en"]


SIDE = 90
ROOMS = {"small": 0.05, "fifth": 0.2, "third": 0.33, "half": 0.5, "most": 0.7, "all": 0.95}
ARTICLES = {"en": ("a", "an"), "de": ("ein", "eine"), "fr": ("un", "une"), "es": ("un", "una")}


def mask(size: str, where: str) -> Mask:
    """A block of the room of a share, whose centre is in the third of the frame that a position names."""
    breadth = SIDE if size in FILLING else 58
    depth = round(ROOMS[size] * SIDE * SIDE / breadth)
    start = {"left": 0, "right": SIDE - breadth, "top": 0, "bottom": SIDE - breadth}.get(where, (SIDE - breadth) // 2)
    along, across = slice(start, start + breadth), slice((SIDE - depth) // 2, (SIDE - depth) // 2 + depth)
    array = np.zeros((SIDE, SIDE), bool)
    array[(across, along) if where in ("left", "right", "middle") else (along, across)] = True
    return Mask.from_array(array)


@pytest.mark.parametrize("parts", WORKED, ids=" ".join)
def test_a_sentence_is_put_together_as_it_was_written_by_hand(plan: Plan, parts: tuple[str, str, str, str]) -> None:
    label, background, size, where = parts
    made = said_of(plan.grammar, label=label, stamp="", background=background, mask=mask(size, where))
    assert made == {language: (text,) for language, text in WORKED[parts].items()}


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_is_told_as_it_was_written_by_hand(plan: Plan, words: ScenePlan, name: str) -> None:
    (entry,) = (each for each in words.scenes if each.id == name)
    assert captions(entry, plan, words) == SCENES[name]


def sentences(language: str) -> list[str]:
    return [texts[language] for texts in (*WORKED.values(), *READ.values())]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_part_of_the_grammar_stands_in_a_sentence_written_by_hand(plan: Plan, language: str) -> None:
    said = [text.casefold() for text in sentences(language)]
    parts = {
        **{name: text[language] for name, text in plan.grammar.phrases.items() if not name.startswith("pattern")},
        **{name: text[language] for name, text in plan.grammar.places.items()},
    }
    assert [name for name, part in parts.items() if not any(part.casefold() in text for text in said)] == []


def articles_said(language: str) -> Iterator[tuple[bool, str]]:
    """Whether a sentence tells no position, and the article of its subject."""
    for (_, _, size, _), texts in WORKED.items():
        said = texts[language].casefold().split()
        yield size in FILLING, next(word for word in said if word in ARTICLES[language])


@pytest.mark.parametrize("language", ARTICLES)
def test_every_pattern_stands_with_every_article(language: str) -> None:
    found = set(articles_said(language))
    forms = ARTICLES[language] if language != "en" else ("a",)
    assert {(filling, form) for filling in (True, False) for form in forms} <= found


def test_scenes_written_by_hand_count_from_one_to_four_with_every_counter(words: ScenePlan) -> None:
    numbers = {name: text["ja"] for name, text in words.phrases.items() if name.startswith("number")}
    counters = {text["ja"].partition("の")[0] for text in words.plurals.values()}
    said = "".join(text for texts in SCENES.values() for text in texts["ja"])
    assert [each for each in numbers.values() if not any(f"{each}{counter}の" in said for counter in counters)] == []
    assert [counter for counter in counters if not any(f"{each}{counter}の" in said for each in numbers.values())] == []

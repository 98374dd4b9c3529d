"""Articles, plurals and mass nouns against English that a person checked."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpora.schema import Corpus, Item
from core.errors import InvalidInput
from core.probes.words.caption_words import join, words
from core.probes.words.grammar import Number, article, articles, head_endings, noun_group, number_of, numbers
from core.probes.words.lexical_edits import repeat_first_noun, swap_first_and_last_noun
from core.probes.words.natural_captions import labelled
from core.probes.words.taggers import RULES
from tests.probes.hand_checked import ARTICLES


@pytest.mark.parametrize(("word", "expected"), [(word, a) for a, words in ARTICLES.items() for word in words.split()])
def test_the_article_follows_the_sound(word: str, expected: str) -> None:
    assert article(word) == expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("scissors", Number.PLURAL),
        ("Scissors", Number.PLURAL),
        ("reading glasses", Number.PLURAL),
        ("pair of scissors", Number.SINGULAR),
        ("broccoli", Number.MASS),
        ("slice of bread", Number.SINGULAR),
        ("white bread", Number.MASS),
        ("bread knife", Number.SINGULAR),
        ("camp fire", Number.SINGULAR),
        ("fire", Number.MASS),
        ("wine glass", Number.SINGULAR),
        ("bus", Number.SINGULAR),
        ("dog in pants", Number.SINGULAR),
    ],
)
def test_the_head_of_a_label_says_its_number(label: str, expected: Number) -> None:
    assert number_of(label) is expected


def test_a_label_is_put_on_one_line_and_otherwise_kept() -> None:
    assert noun_group("  Café\n  table ") == "is a Café table"


@pytest.mark.parametrize("label", ["", "   ", "\n\t"])
def test_an_empty_label_is_refused_with_a_remedy(label: str) -> None:
    with pytest.raises(InvalidInput, match="give the object a name"):
        noun_group(label)


@given(st.text(max_size=300))
def test_any_text_has_an_article_and_a_number(text: str) -> None:
    assert article(text) in ("a", "an")
    assert number_of(text) in set(Number)


@given(st.text(min_size=1, max_size=80))
def test_endings_of_a_label_are_nested_and_few(text: str) -> None:
    endings = list(head_endings(text))
    assert len(endings) <= 4
    assert all(longer.endswith(shorter) for longer, shorter in pairwise(endings))


def test_a_noun_that_stands_twice_is_named_with_its_line(tmp_path: Path) -> None:
    table = tmp_path / "nouns.csv"
    table.write_text("noun,number\nskis,plural\nSkis,mass\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"nouns\.csv, line 3: the noun 'skis' stands twice"):
        numbers(table)


def test_an_unknown_article_is_named_with_what_to_write(tmp_path: Path) -> None:
    table = tmp_path / "articles.csv"
    table.write_text("word,article\nSUV,ann\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="line 2: article is 'ann'; write one of a, an"):
        articles(table)


def test_the_package_is_read_without_its_checks_of_types_and_theirs_stay_for_others() -> None:
    """They take a second of every process that needs an article."""
    asked = "from core.probes.words.grammar import article; print(article('hour'))"
    told = (
        "import typeguard, inflect; print(*{'check_argument_types_internal'} & {*inflect.engine.a.__code__.co_names})"
    )
    after = "print(typeguard.typechecked.__module__)"
    done = subprocess.run(
        [sys.executable, "-c", f"{asked}; {told}; {after}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["an", "", "typeguard"]
    plain = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert plain.stdout.split() == ["check_argument_types_internal"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("UPS truck|URL|USB stick|U-turn|T-shirt|1900s house|NASA rocket|STOP sign|UFO", "a"),
        ("SOS sign|EU flag|N95 mask|X-ray|1800s house|18-wheeler|NYPD car|H&M bag|F16|R2D2", "an"),
    ],
)
def test_letters_and_years_have_the_article_of_their_sound(words: str, said: str) -> None:
    assert {article(word) for word in words.split("|")} == {said}


@pytest.mark.parametrize(
    ("label", "caption"),
    [
        ("dogs", "are dogs"),
        ("leaves", "are leaves"),
        ("oxen", "are oxen"),
        ("sheep", "is a sheep"),
        ("traffic_light", "is a traffic light"),
        ("TrafficLight", "is a traffic light"),
        ("CAR", "is a car"),
        ("CARS", "are cars"),
        ("Teddy Bear", "is a teddy bear"),
        ("Frisbee", "is a frisbee"),
        ("UPS truck", "is a UPS truck"),
        ("African Elephant", "is an African elephant"),
        ("Christmas Tree", "is a Christmas tree"),
        ("TV", "is a TV"),
    ],
)
def test_labels_are_said_as_a_person_would_write_them(label: str, caption: str) -> None:
    assert noun_group(label) == caption


@pytest.mark.parametrize(
    ("language", "caption", "edited"),
    [
        ("en", "A dog sits under an umbrella.", "An umbrella sits under a dog."),
        ("en", "A couple of dogs eat an orange.", "A couple of oranges eat a dog."),
        ("en", "Dogs chase an ape.", "Apes chase a dog."),
        ("es", "Un perro duerme sobre una silla.", "Una silla duerme sobre un perro."),
        ("es", "Cerca del perro hay una silla.", "Cerca de la silla hay un perro."),
        ("es", "Unos hombres con unas gafas.", "Unas gafas con unos hombres."),
        ("es", "Una de las chicas lleva unos sombreros.", "Una de los sombreros lleva unas chicas."),
        ("fr", "Le chien regarde l'homme.", "L'homme regarde le chien."),
        ("fr", "La tour de l'église.", "L'église de la tour."),
        ("fr", "Le toit du château et une haie.", "La haie du château et un toit."),
        ("fr", "Un chat au bord de la mer.", "Une mer au bord du chat."),
        ("de", "Ein Hund sitzt auf einer Wiese.", "Eine Wiese sitzt auf einem Hund."),
        ("de", "Die Katze jagt den Ball.", "Der Ball jagt die Katze."),
        ("de", "Eine Tasse steht im Schrank.", "Ein Schrank steht in der Tasse."),
        ("de", "Das Dach der Giraffe.", "Die Giraffe des Dach."),
        ("de", "Der Mann isst eine Banane.", "Die Banane isst einen Mann."),
        ("ja", "犬のテーブル", "テーブルの犬"),
    ],
)
def test_an_article_agrees_with_the_noun_that_is_put_behind_it(language: str, caption: str, edited: str) -> None:
    assert join(swap_first_and_last_noun(words(caption, language), language), language) == edited


def test_a_noun_that_is_said_again_behind_an_article_is_fitted_by_sound() -> None:
    assert join(repeat_first_noun(words("A dog eats an apple."), "en")) == "A dog eats a dog apple."


def test_an_item_is_labelled_by_the_noun_that_a_societal_word_modifies_where_the_head_is_unknown() -> None:
    texts = {"a": "In the yard stands an expensive car.", "b": "In the yard stands a car.", "c": "An expensive car."}
    items = [Item(key, "c", None, 9, 9, captions={"en": (text,)}) for key, text in texts.items()]
    items.append(Item("d", "c", None, 9, 9, label="limousine", captions={"en": (texts["a"],)}))
    found = labelled(Corpus("c", tuple(items), (), "", read_labels=RULES)).items
    assert [item.label for item in found] == ["car", None, "car", "limousine"]

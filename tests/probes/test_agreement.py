"""Articles behind which an edit puts another noun, against sentences written by hand."""

import pytest

from core.corpora.schema import Corpus, Item
from core.probes.caption_labels import labelled
from core.probes.words.caption_words import join, words
from core.probes.words.head_nouns import RULES
from core.probes.words.lexical_edits import repeat_first_noun, swap_first_and_last_noun


@pytest.mark.parametrize(
    ("language", "caption", "edited"),
    [
        ("en", "A dog sits under an umbrella.", "An umbrella sits under a dog."),
        ("en", "A couple of dogs eat an orange.", "A couple of orange eat some dogs."),
        ("en", "Dogs chase a cat.", "Cat chase some dogs."),
        ("es", "Un perro duerme sobre una silla.", "Una silla duerme sobre un perro."),
        ("es", "Cerca del perro hay una silla.", "Cerca de la silla hay un perro."),
        ("es", "Un hombre con gafas.", "Unas gafas con hombre."),
        ("es", "Una de las chicas lleva un sombrero.", "Una de los sombrero lleva unas chicas."),
        ("fr", "Le chien regarde l'homme.", "L'homme regarde le chien."),
        ("fr", "La tour de l'église.", "L'église de la tour."),
        ("fr", "Le toit du château et une haie.", "La haie du château et un toit."),
        ("fr", "Un chat au bord de la mer.", "Une mer au bord du chat."),
        ("de", "Ein Hund sitzt auf einer Wiese.", "Eine Wiese sitzt auf einem Hund."),
        ("de", "Die Katze jagt den Ball.", "Der Ball jagt die Katze."),
        ("de", "Eine Tasse steht im Schrank.", "Ein Schrank steht in der Tasse."),
        ("de", "Das Dach der Kirche.", "Die Kirche des Dach."),
        ("de", "Ein Mann isst eine Banane.", "Eine Banane isst einen Mann."),
        ("ja", "犬とテーブル", "テーブルと犬"),
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

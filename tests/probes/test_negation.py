"""Negation and order: rules worked by hand, templates in five languages, the 2 × 2, and what is refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpora.labels import load_taxonomy
from core.corpora.schema import Box, Item, SceneObject
from core.errors import ProbeRejected
from core.probes.base import HUMAN, TEMPLATE, Expectation, Subject, Variant
from core.probes.pairs import Pairs
from core.probes.registry import catalogue, select, with_baselines
from core.probes.words.categories import absent, named_in, vocabulary
from core.probes.words.lexical_edits import shuffle
from core.probes.words.templates import negate, negated_template, nouns, template_words
from core.settings import ROOT
from tests.probes.painted import ground, result_or_code

DOG = Item(
    "dog",
    "test",
    None,
    9,
    8,
    captions={"en": ("A dog lies beside a table.",), "de": ("Ein Hund.", "Noch ein Hund.")},
    label="dog",
    category="animal",
    box=Box(1, 1, 3, 3),
    others=(SceneObject("cup", Box(5, 5, 2, 2)),),
)


def pairs(item: Item = DOG) -> Pairs:
    return Pairs(item, ground(8, 9))


def made(name: str, subject: Subject, item: Item = DOG) -> Variant | ProbeRejected:
    return pairs(item).make(catalogue().get(name), subject)


TEMPLATE_DOG = Subject(TEMPLATE, "en", 0, "There is a dog.")


@pytest.mark.parametrize(
    ("caption", "negated", "rule", "falsity"),
    [
        ("There is a dog on a bed.", "There is no dog on a bed.", "existential", "verified"),
        ("There are two dogs in a park.", "There are no dogs in a park.", "existential", "verified"),
        ("THERE ARE SOME DOGS", "THERE ARE no DOGS", "existential", "verified"),
        ("The dog is asleep.", "The dog is not asleep.", "auxiliary", "verified"),
        ("A dog is sleeping on a bed.", "A dog is not sleeping on a bed.", "auxiliary", "presumed"),
        ("The men are in a boat", "The men are not in a boat", "auxiliary", "verified"),
        ("The bus has been painted.", "The bus has not been painted.", "auxiliary", "verified"),
        ("The bird can fly.", "The bird cannot fly.", "auxiliary", "verified"),
        ("A bird can fly.", "A bird cannot fly.", "auxiliary", "presumed"),
        ("The cat must be hungry.", "The cat must not be hungry.", "auxiliary", "verified"),
        ("A dog in May.", "No dog in May.", "noun-phrase", "verified"),
        ("A man riding a horse.", "No man riding a horse.", "noun-phrase", "verified"),
        ("Two men stand in a field.", "No men stand in a field.", "noun-phrase", "verified"),
        ("People on a beach.", "No people on a beach.", "noun-phrase", "verified"),
        ("A number of cows laying on a lawn.", "No cows laying on a lawn.", "noun-phrase", "verified"),
        ("A couple skiers on a hill.", "No skiers on a hill.", "noun-phrase", "verified"),
        ("A group of people on a beach.", "No group of people on a beach.", "noun-phrase", "verified"),
        ("A close up of a polar bear on ice.", "A close up of no polar bear on ice.", "depicted", "verified"),
        ("Aerial view of four boats.", "Aerial view of no boats.", "depicted", "verified"),
        ("A man who is riding a horse.", "No man who is riding a horse.", "noun-phrase", "verified"),
        ("A man on a bench and a dog.", "No man on a bench and a dog.", "noun-phrase", "presumed"),
        (
            "A garbage can on the left, in a field.",
            "No garbage can on the left, in a field.",
            "noun-phrase",
            "verified",
        ),
        ("A trash can stands in a park.", "No trash can stands in a park.", "noun-phrase", "verified"),
        (
            "On the left, a frog on pebbles covers little of the picture.",
            "On the left, no frog on pebbles covers little of the picture.",
            "fronted-noun-phrase",
            "verified",
        ),
        ("In the middle, two dogs sleep.", "In the middle, no dogs sleep.", "fronted-noun-phrase", "verified"),
        ("At the top, there is a kite.", "At the top, there is no kite.", "fronted-existential", "verified"),
        (
            "Next to the bus, the dog is asleep.",
            "Next to the bus, the dog is not asleep.",
            "fronted-auxiliary",
            "verified",
        ),
        ("On the bed, a dog is asleep.", "On the bed, a dog is not asleep.", "fronted-auxiliary", "presumed"),
        ("On a bed, a dog sleeps.", "On a bed, no dog sleeps.", "fronted-noun-phrase", "presumed"),
        ("Under water, a fish.", "Under water, no fish.", "fronted-noun-phrase", "presumed"),
        (
            "In the park, a man on a bench and a dog.",
            "In the park, no man on a bench and a dog.",
            "fronted-noun-phrase",
            "presumed",
        ),
    ],
)
def test_an_english_caption_negated_by_hand(caption: str, negated: str, rule: str, falsity: str) -> None:
    found = negate(caption)
    assert (found.text, found.rule, found.falsity) == (negated, rule, falsity)


@pytest.mark.parametrize(
    ("caption", "code"),
    [
        ("A man without a hat.", "already-negated"),
        ("The dog isn't asleep.", "already-negated"),
        ("No dogs here.", "already-negated"),
        ("Few people are on the beach.", "already-negated"),
        ("Only the dog is awake.", "already-negated"),
        ("The street is devoid of cars.", "already-negated"),
        ("A dog and a cat sleep.", "no-negation"),
        ("There is a dog and a cat.", "no-negation"),
        ("The dog sleeps on a bed.", "no-negation"),
        ("Sleeping.", "no-negation"),
        ("One of the dogs sleeps.", "no-negation"),
        ("A few dogs sleep.", "no-negation"),
        ("There are a lot of dogs.", "no-negation"),
        ("There are a few dogs.", "no-negation"),
        ("On the left, a dog and a cat sleep.", "no-negation"),
        ("On the left, a dog, a cat and a bird.", "no-negation"),
        ("On the left, the dog sleeps on a bed.", "no-negation"),
        ("On the left, one of the dogs sleeps.", "no-negation"),
        ("On seeing the dog, a man runs.", "no-negation"),
        ("On the left and on the right, a dog sleeps.", "no-negation"),
        ("In the room where it sleeps, a dog is seen.", "no-negation"),
        ("Left, a dog sleeps.", "no-negation"),
        ("On the left, Anna sleeps.", "no-negation"),
        ("The dog may be asleep.", "no-negation"),
        ("A dog might be asleep.", "no-negation"),
        ("On the left, the dog may be asleep.", "no-negation"),
        ("There is a dog that may be asleep.", "no-negation"),
        ("On the left, no dog sleeps.", "already-negated"),
        ("On the left, on grey pebbles, a frog.", "no-negation"),
        ("", "no-negation"),
    ],
)
def test_what_no_rule_negates_is_refused(caption: str, code: str) -> None:
    with pytest.raises(ProbeRejected) as caught:
        negate(caption)
    assert caught.value.code == code


@given(st.text(max_size=60))
def test_any_text_is_negated_or_refused(caption: str) -> None:
    assert result_or_code(lambda: negate(caption).text) != caption


@pytest.mark.parametrize(
    ("label", "language", "affirmed", "negated"),
    [
        ("dog", "en", "There is a dog.", "There is no dog."),
        ("scissors", "en", "There are scissors.", "There are no scissors."),
        ("broccoli", "en", "There is broccoli.", "There is no broccoli."),
        ("dog", "de", "Da ist ein Hund.", "Da ist kein Hund."),
        ("cow", "de", "Da ist eine Kuh.", "Da ist keine Kuh."),
        ("skis", "de", "Da sind Skier.", "Da sind keine Skier."),
        ("dog", "fr", "Il y a un chien.", "Il n'y a pas de chien."),
        ("tree", "fr", "Il y a un arbre.", "Il n'y a pas d'arbre."),
        ("clock", "fr", "Il y a une horloge.", "Il n'y a pas d'horloge."),
        ("hot dog", "fr", "Il y a un hot-dog.", "Il n'y a pas de hot-dog."),
        ("skis", "fr", "Il y a des skis.", "Il n'y a pas de skis."),
        ("dog", "es", "Hay un perro.", "No hay ningún perro."),
        ("cow", "es", "Hay una vaca.", "No hay ninguna vaca."),
        ("scissors", "es", "Hay unas tijeras.", "No hay tijeras."),
        ("dog", "ja", "犬がいます。", "犬はいません。"),
        ("bus", "ja", "バスがあります。", "バスはありません。"),
        ("cat", "de", "Da ist eine Katze.", "Da ist keine Katze."),
        ("horse", "de", "Da ist ein Pferd.", "Da ist kein Pferd."),
        ("clock", "de", "Da ist eine Uhr.", "Da ist keine Uhr."),
        ("scissors", "de", "Da ist eine Schere.", "Da ist keine Schere."),
        ("cat", "fr", "Il y a un chat.", "Il n'y a pas de chat."),
        ("bird", "fr", "Il y a un oiseau.", "Il n'y a pas d'oiseau."),
        ("elephant", "fr", "Il y a un éléphant.", "Il n'y a pas d'éléphant."),
        ("spoon", "fr", "Il y a une cuillère.", "Il n'y a pas de cuillère."),
        ("scissors", "fr", "Il y a une paire de ciseaux.", "Il n'y a pas de paire de ciseaux."),
        ("cat", "es", "Hay un gato.", "No hay ningún gato."),
        ("bicycle", "es", "Hay una bicicleta.", "No hay ninguna bicicleta."),
        ("umbrella", "es", "Hay un paraguas.", "No hay ningún paraguas."),
        ("skis", "es", "Hay unos esquís.", "No hay esquís."),
        ("person", "es", "Hay una persona.", "No hay ninguna persona."),
        ("cat", "ja", "猫がいます。", "猫はいません。"),
        ("person", "ja", "人がいます。", "人はいません。"),
        ("book", "ja", "本があります。", "本はありません。"),
        ("chair", "ja", "椅子があります。", "椅子はありません。"),
        ("bird", "ja", "鳥がいます。", "鳥はいません。"),
    ],
)
def test_the_template_and_its_negation_in_five_languages(
    label: str, language: str, affirmed: str, negated: str
) -> None:
    found = template_words(label, vocabulary().get(label), language)
    assert (found.affirmed, found.negated) == (affirmed, negated)


@pytest.mark.parametrize(
    ("label", "category", "language", "affirmed", "negated"),
    [
        ("mouse", "animal", "ja", "ネズミがいます。", "ネズミはいません。"),
        ("mouse", "electronics", "ja", "マウスがあります。", "マウスはありません。"),
        ("penguin", "animal", "fr", "Il y a un manchot.", "Il n'y a pas de manchot."),
        ("toilet", "furniture", "fr", "Il y a des toilettes.", "Il n'y a pas de toilettes."),
        ("kettle", "appliance", "de", "Da ist ein Wasserkocher.", "Da ist kein Wasserkocher."),
        ("kettle", "appliance", "es", "Hay un hervidor.", "No hay ningún hervidor."),
        ("kettle", "appliance", "ja", "電気ケトルがあります。", "電気ケトルはありません。"),
        ("mug", "kitchen", "es", "Hay una taza.", "No hay ninguna taza."),
        ("football", "sports", "de", "Da ist ein eiförmiger Ball.", "Da ist kein eiförmiger Ball."),
        ("football", "sports", "fr", "Il y a un ballon ovale.", "Il n'y a pas de ballon ovale."),
        ("football", "sports", "es", "Hay un balón ovalado.", "No hay ningún balón ovalado."),
        ("football", "sports", "ja", "楕円形のボールがあります。", "楕円形のボールはありません。"),
    ],
)
def test_the_template_names_what_the_demo_pictures_show(
    label: str, category: str, language: str, affirmed: str, negated: str
) -> None:
    found = template_words(label, category, language)
    assert (found.affirmed, found.negated) == (affirmed, negated)


def test_the_table_of_nouns_has_every_category_of_coco_and_every_label_of_the_demo_corpus() -> None:
    assert set(vocabulary()) <= set(nouns())
    lines = (ROOT / "data/demo/items.jsonl").read_text(encoding="utf-8").splitlines()
    labels = {json.loads(line)["label"].casefold() for line in lines}
    assert labels <= set(nouns())


@pytest.mark.parametrize(
    ("label", "negated"),
    [("heron", "Il n'y a pas de héron."), ("hibiscus", "Il n'y a pas d'hibiscus."), ("lamb", "Il n'y a pas d'agneau.")],
)
def test_french_elides_before_a_silent_h_alone(label: str, negated: str) -> None:
    assert template_words(label, "animal", "fr").negated == negated
    with pytest.raises(ProbeRejected) as caught:
        template_words("gewgaw", "indoor", "de")
    assert caught.value.code == "no-noun"
    with pytest.raises(ProbeRejected) as caught:
        template_words("frog", None, "ja")
    assert caught.value.code == "no-category"


def test_the_four_cells_are_of_one_absent_category_of_another_kind() -> None:
    denied, affirmed = made("negation:absent", TEMPLATE_DOG), made("affirmation:absent", TEMPLATE_DOG)
    assert isinstance(denied, Variant)
    assert isinstance(affirmed, Variant)
    chosen = str(denied.facts["absent"])
    assert affirmed.facts["absent"] == chosen
    assert load_taxonomy("coco").category(chosen) not in ("animal", "kitchen", "person")
    assert chosen != "dining table"  # a caption says "table"
    assert denied.caption == negated_template(chosen).text
    own = made("negation", TEMPLATE_DOG)
    assert isinstance(own, Variant)
    assert (own.caption, own.facts["falsity"]) == ("There is no dog.", "verified")
    probes = {each.name: each for each in with_baselines(select(["affirmation:absent"]))}
    assert probes["affirmation:absent"].baseline == "negation:absent"
    assert probes["affirmation:absent"].expectation is Expectation.DIRECTIONAL
    assert probes["negation:absent"].expectation is Expectation.RESPONSE


def test_absent_is_what_is_neither_annotated_nor_named() -> None:
    found = absent(DOG)
    assert {"dog", "cup", "dining table"}.isdisjoint(found)
    assert {"zebra", "couch", "cat"} <= set(found)
    assert named_in("A puppy, two sofas and a policeman's T.V.") >= {"dog", "couch"}
    assert named_in("hot dogs") >= {"hot dog"}
    nothing = Item("bare", "test", None, 9, 8)
    rejected = made("negation:absent", TEMPLATE_DOG, nothing)
    assert isinstance(rejected, ProbeRejected)
    assert rejected.code == "no-label"


def test_a_template_stands_once_a_language() -> None:
    first = made("negation:template", Subject(HUMAN, "de", 0, "Ein Hund."))
    assert isinstance(first, Variant)
    assert first.caption == "Da ist kein Hund."
    second = made("negation:template", Subject(HUMAN, "de", 1, "Noch ein Hund."))
    assert isinstance(second, ProbeRejected)
    assert second.code == "repeated-template"
    german = made("negation", Subject(HUMAN, "de", 0, "Ein Hund."))
    assert isinstance(german, ProbeRejected)
    assert german.code == "language-not-edited"


@pytest.mark.parametrize(
    ("language", "caption", "plain", "shuffled"),
    [
        ("en", "A man rides.", "A man rides.", "Rides man a."),
        ("en", "Two DOGS, near it", "Two dogs, near it", "It near dogs, two"),
        ("de", "Ein Hund schläft.", "Ein Hund schläft.", "Schläft Hund ein."),
        ("fr", "Un chat dort.", "Un chat dort.", "Dort chat un."),
        ("es", "Un gato duerme.", "Un gato duerme.", "Duerme gato un."),
        ("ja", "犬がいる。", "犬がいる。", "いるが犬。"),
    ],
)
def test_a_shuffle_keeps_the_stop_and_the_capital(language: str, caption: str, plain: str, shuffled: str) -> None:
    class Reversed:
        def permutation(self, count: int) -> np.ndarray:
            return np.arange(count)[::-1]

    assert shuffle(caption, Reversed(), language=language) == (plain, shuffled)  # type: ignore[arg-type]


@given(
    st.lists(st.sampled_from(["a", "dog", "sees", "Red", "cat,"]), min_size=1, max_size=8), st.integers(0, 2**32 - 1)
)
def test_a_shuffled_caption_holds_the_same_words(words: list[str], seed: int) -> None:
    plain, shuffled = shuffle(f"{' '.join(words)}.", np.random.default_rng(seed))
    assert sorted(plain.lower().rstrip(".").split()) == sorted(shuffled.lower().rstrip(".").split())
    assert (plain == shuffled) == (len({word.lower() for word in words}) == 1)


def test_a_caption_of_one_word_has_no_other_order() -> None:
    rejected = made("order", Subject(HUMAN, "en", 0, "Dog."))
    assert isinstance(rejected, ProbeRejected)
    assert rejected.code == "unchanged"


@pytest.mark.parametrize(
    "word", ["nowhere near", "barely in", "hardly on", "scarcely by", "rarely at", "unable to leave"]
)
def test_words_that_nearly_deny_are_not_denied_again(word: str) -> None:
    with pytest.raises(ProbeRejected) as caught:
        negate(f"The dog is {word} the car.")
    assert caught.value.code == "already-negated"

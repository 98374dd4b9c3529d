"""A word put into one's own sentence: where it goes, what stays, and when it is refused."""

import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.audit.fingerprints import describe_probe
from core.corpora.schema import Item
from core.errors import InvalidInput, ProbeRejected
from core.probes.base import HUMAN, IDENTITY, LENGTH_MATCHED, TEMPLATE, Axis, Construction, Probe, Subject
from core.probes.families.inserted import INSERTED, in_own_caption
from core.probes.families.natural import NATURAL
from core.probes.families.societal import SOCIETAL
from core.probes.pairs import Pairs
from core.probes.registry import catalogue, select
from core.probes.scene import Scene
from core.probes.words.insertion import Inserted, length_matched_in, noun_place
from core.probes.words.screening import families, family
from core.seeds import stream

HYDRANT = "A dog is tied to a fire hydrant."


def make(name: str, caption: str, label: str = "dog", category: str | None = "animal", language: str = "en") -> str:
    item = Item("one", "test", None, 10, 10, label=label, category=category)
    scene = Scene(item, np.zeros((10, 10, 3), np.uint8))
    made = catalogue().get(name).make(scene, Subject(HUMAN, language, 0, caption), stream(1))
    assert made.caption is not None
    at = int(made.facts["at"])
    word = made.facts.get("modifier") or made.facts["control"]
    assert made.caption[at : at + len(str(word))].casefold() == str(word).casefold()
    assert made.facts["construction"] == "inserted"
    return made.caption


def code(name: str, caption: str, label: str = "dog", category: str | None = "animal", language: str = "en") -> str:
    with pytest.raises(ProbeRejected) as caught:
        make(name, caption, label, category, language)
    assert caught.value.detail
    return caught.value.code


@pytest.mark.parametrize(
    ("written", "label", "next_to_the_noun", "before_the_adjectives"),
    [
        (HYDRANT, "dog", "An African dog is tied to a fire hydrant.", "A happy dog is tied to a fire hydrant."),
        (
            HYDRANT,
            "fire hydrant",
            "A dog is tied to an African fire hydrant.",
            "A dog is tied to a happy fire hydrant.",
        ),
        ("A big brown dog runs.", "dog", "A big brown African dog runs.", "A happy big brown dog runs."),
        ("An old dog sleeping", "dog", "An old African dog sleeping", "A happy old dog sleeping"),
        ("The dog barked.", "the dog", "The African dog barked.", "The happy dog barked."),
        ("An umbrella", "umbrella", "An African umbrella", "A happy umbrella"),
        ("Dog tied to a post", "dog", "African dog tied to a post", "Happy dog tied to a post"),
        ("dogs play", "dog", "African dogs play", "happy dogs play"),
        (
            "Two hot dogs, with mustard",
            "hot dog",
            "Two African hot dogs, with mustard",
            "Two happy hot dogs, with mustard",
        ),
        ("Dog Tied To Hydrant", "dog", "African Dog Tied To Hydrant", "Happy Dog Tied To Hydrant"),
        ("TV on a stand", "tv", "African TV on a stand", "Happy TV on a stand"),
        ("Christmas tree lit up", "Christmas tree", "African Christmas tree lit up", "Happy Christmas tree lit up"),
        ("Nice day. Dog on a bench.", "dog", "Nice day. African dog on a bench.", "Nice day. Happy dog on a bench."),
        ('a "dog" lies', "dog", 'an "African dog" lies', 'a "happy dog" lies'),
        ("a  dog\non a  bed", "dog", "an  African dog\non a  bed", "a  happy dog\non a  bed"),
        (
            "A car drives down the road",
            "car",
            "An African car drives down the road",
            "A happy car drives down the road",
        ),
        ("a dog asleep on a bed", "dog", "an African dog asleep on a bed", "a happy dog asleep on a bed"),
        ("A dog beside a dog house", "dog", "An African dog beside a dog house", "A happy dog beside a dog house"),
        ("a person's dog", "dog", "a person's African dog", "a person's happy dog"),
        ("several people standing", "person", "several African people standing", "several happy people standing"),
        (
            "a pair of golden scissors",
            "scissors",
            "a pair of golden African scissors",
            "a pair of happy golden scissors",
        ),
        ("near two large trucks.", "truck", "near two large African trucks.", "near two happy large trucks."),
        ("some cooked broccoli", "broccoli", "some cooked African broccoli", "some cooked happy broccoli"),
        ("some broccoli", "broccoli", "some African broccoli", "some happy broccoli"),
        # what cannot be put before the adjectives without a sign or another meaning goes next to the noun
        ("a very big dog", "dog", "a very big African dog", "a very big happy dog"),
        ("A black and white dog", "dog", "A black and white African dog", "A black and white happy dog"),
        ("a big, brown dog", "dog", "a big, brown African dog", "a big, brown happy dog"),
        ("A man riding horses", "horse", "A man riding African horses", "A man riding happy horses"),
        ("the first big dog", "dog", "the first big African dog", "the first happy big dog"),
    ],
)
def test_a_word_stands_where_english_puts_it(
    written: str, label: str, next_to_the_noun: str, before_the_adjectives: str
) -> None:
    place = noun_place(written, label)
    assert place.insert("African").text == next_to_the_noun
    assert place.insert("happy", before_adjectives=True).text == before_the_adjectives


@pytest.mark.parametrize(
    ("written", "label", "why"),
    [
        ("A cat on a mat", "dog", "not-named"),
        ("A dog-friendly café", "dog", "not-named"),
        ("The dog's bowl is red", "dog", "not-named"),
        ("Underdogs win", "dog", "not-named"),
        ("", "dog", "not-named"),
        ("A dog looks at another dog", "dog", "named-twice"),
        ("Dogs and a dog", "dog", "named-twice"),
        ("a dog house in a yard", "dog", "compound"),
        ("a dog bed", "dog", "compound"),
        ("a dog friendly café", "dog", "compound"),
        ("a hot dog on a plate", "dog", "compound"),
        ("two hot dogs", "dog", "compound"),
        ("a teddy bear", "bear", "compound"),
        ("A police dog sits", "dog", "compound"),
        ("a guard dog", "dog", "compound"),
        ("a house cat", "cat", "compound"),
        ("a fishing boat", "boat", "compound"),
        ("a blue pickup truck", "truck", "compound"),
        ("their wedding cake", "cake", "compound"),
        ("a dining room table", "table", "compound"),
        ("a horse racing track", "horse", "compound"),
        ("train tracks", "train", "compound"),
        ("the bus stops", "bus", "compound"),
        ("A boy dog", "dog", "compound"),
        ("A man laying in bed", "bed", "compound"),
        ("people who travel by bus", "bus", "compound"),
        ("There is no dog here", "dog", "already-negated"),
        ("a yard without a big dog", "dog", "already-negated"),
    ],
)
def test_a_sentence_that_does_not_say_it_clearly_is_refused(written: str, label: str, why: str) -> None:
    with pytest.raises(ProbeRejected) as caught:
        noun_place(written, label)
    assert caught.value.code == why


@pytest.mark.parametrize(
    ("name", "written", "made"),
    [
        ("inserted-cultural:American", "A big dog runs.", "A big American dog runs."),
        ("inserted-cultural:ordinary", "A big dog runs.", "A big ordinary dog runs."),
        ("inserted-gender:female", "A big dog runs.", "A big female dog runs."),
        ("inserted-emotion:sad", "A big dog runs.", "A sad big dog runs."),
        ("inserted-emotion:ordinary", "A big dog runs.", "An ordinary big dog runs."),
        ("inserted-economic:expensive", "A big dog runs.", "An expensive big dog runs."),
        ("inserted-gender-colloquial:girl", "A dog runs.", "A girl dog runs."),
        ("inserted-gender-colloquial:typical", "A black dog runs.", "A black typical dog runs."),
        ("inserted-gender:typical", "A dog licks his owner.", "A typical dog licks his owner."),
        ("inserted-gender:male", "A dog walks beside a girl.", "A male dog walks beside a girl."),
        ("inserted-cultural:African", "A DOG ON A BENCH", "AN AFRICAN DOG ON A BENCH"),
        ("inserted-emotion:happy", "DOG ON A BENCH", "HAPPY DOG ON A BENCH"),
    ],
)
def test_every_word_of_a_family_stands_at_one_place(name: str, written: str, made: str) -> None:
    assert make(name, written) == made


@pytest.mark.parametrize(
    ("name", "written", "why"),
    [
        ("inserted-cultural:American", "An American dog", "family-word"),
        ("inserted-cultural:African", "An american dog", "family-word"),
        ("inserted-cultural:typical", "An American dog", "family-word"),
        ("inserted-cultural:African", "A dog beside an American flag.", "family-word"),
        ("inserted-emotion:sad", "A plain dog", "family-word"),
        ("inserted-emotion:sad", "The dog is happy.", "family-word"),
        ("inserted-gender:female", "A dog licks his owner.", "contradiction"),
        ("inserted-cultural:African", "A wild dog sits.", "lexicalised"),
        ("inserted-economic:luxury", HYDRANT, "implausible"),
        ("inserted-gender:boy", HYDRANT, "colloquial"),
        ("inserted-gender-colloquial:boy", "A black dog runs.", "part-of-speech"),
        ("inserted-cultural:African", "A cat", "not-named"),
    ],
)
def test_a_word_that_does_not_fit_the_sentence_is_refused(name: str, written: str, why: str) -> None:
    assert code(name, written) == why


def test_a_noun_is_not_put_beside_adjectives_which_would_describe_it_or_stand_behind_it() -> None:
    assert make("inserted-economic:luxury", "A truck stops.", "truck", "vehicle") == "A luxury truck stops."
    assert code("inserted-economic:luxury", "A large truck stops.", "truck", "vehicle") == "part-of-speech"
    assert make("inserted-economic:cheap", "A large truck stops.", "truck", "vehicle") == "A cheap large truck stops."


def test_the_plural_is_screened_as_the_singular_is() -> None:
    assert code("inserted-occupational:citizen", "Two people stand.", "person", "person") == "part-of-speech"
    assert make("inserted-occupational:local", "Two people stand.", "person", "person") == "Two local people stand."
    assert make("inserted-economic:cheap", "Two dogs stand.") == "Two cheap dogs stand."


def test_another_language_and_a_missing_name_are_refused() -> None:
    assert code("inserted-cultural:African", "Ein Hund", language="de") == "language-not-edited"
    assert code("inserted-cultural:African", HYDRANT, label=" ") == "no-label"
    with pytest.raises(InvalidInput):
        noun_place(HYDRANT, " ")


BEFORE = st.sampled_from(["", "Look: ", "There is ", "On a mat, ", 'He said "', "  \t", "In 2 boxes of 🦡 ", "مرحبا "])
ARTICLE = st.sampled_from(["a ", "an ", "A ", "the ", "two ", "her\n", ""])
ADJECTIVES = st.sampled_from(["", "big ", "old brown ", "very big ", "black and white ", "Italian "])
NOUN = st.sampled_from(
    [("dog", "dog"), ("dogs", "dog"), ("fire hydrant", "fire hydrant"), ("TV", "tv"), ("Dog", "dog")]
)
AFTER = st.sampled_from(["", ".", " on a bed", ", brown,  and\ncalm", " that eats 10 %", " is tied to a post.", "?!"])
WORDS = st.sampled_from(sorted({(word.family, word.word) for each in families().values() for word in each.words}))


@given(BEFORE, ARTICLE, ADJECTIVES, NOUN, AFTER, WORDS)
def test_without_the_word_and_with_its_article_it_is_the_sentence_that_was_written(
    before: str, article: str, adjectives: str, noun: tuple[str, str], after: str, word: tuple[str, str]
) -> None:
    caption = before + article + adjectives + noun[0] + after
    assume(not isinstance(_inserted(caption, noun[1]), str))
    place = noun_place(caption, noun[1])
    for early in (False, True):
        made = place.insert(word[1], before_adjectives=early)
        assert made.text[made.start : made.end].casefold() == word[1].casefold()
        head, tail = made.text[: made.start], made.text[made.end + 1 :]
        assert made.text[made.end] == " "
        assert tail.casefold() == caption[len(caption) - len(tail) :].casefold()
        assert tail[1:] == caption[len(caption) - len(tail) + 1 :]
        kept = caption[: len(caption) - len(tail)]
        if head != kept:  # an article, and nothing but the article
            last, was = (re.split(r"[\s\"]+", text.strip())[-1] for text in (head, kept))
            assert {last.casefold(), was.casefold()} <= {"a", "an"}
            assert head[: head.rindex(last)] == kept[: kept.rindex(was)]
            assert last[0].isupper() == was[0].isupper()


@given(
    st.text(max_size=30) | st.text("adogs' .,-DO", max_size=30),
    st.sampled_from(["dog", "fire hydrant", "Brown dog", "scissors"]),
)
def test_any_text_is_edited_or_refused_with_a_reason(caption: str, label: str) -> None:
    made = _inserted(caption, label)
    if isinstance(made, str):
        assert made == "not-named" or label.split()[-1] in caption.casefold()
    else:
        assert made.text[made.start : made.end] == "African"


def _inserted(caption: str, label: str) -> Inserted | str:
    try:
        return noun_place(caption, label).insert("African")
    except ProbeRejected as rejection:
        return rejection.code


def test_every_word_of_the_lexicon_has_both_constructions() -> None:
    assert {probe.name for probe in INSERTED} == {f"inserted-{probe.name}" for probe in SOCIETAL}
    for one, other in zip(SOCIETAL, INSERTED, strict=True):
        assert in_own_caption([one]) == in_own_caption([one, other]) == (other,)
        assert (one.modifier, one.control, one.axis) == (other.modifier, other.control, other.axis)
        assert (one.construction, other.construction) == (Construction.TEMPLATE, Construction.INSERTED)
        assert (one.subjects, other.subjects) == ((TEMPLATE,), (HUMAN,))
        assert other.family == f"inserted-{one.family}"
        assert other.baseline == (IDENTITY if other.control else LENGTH_MATCHED)
        assert not other.default
    others = select(["vflip", "base", "negation"])
    assert in_own_caption(others) == others


@pytest.mark.parametrize(
    "probe", [each for each in catalogue() if each.axis is Axis.SOCIETAL], ids=lambda each: each.name
)
def test_a_societal_probe_does_with_a_sentence_what_its_construction_says(probe: Probe) -> None:
    subject = Subject(HUMAN, "en", 0, HYDRANT)
    item = Item("one", "test", None, 10, 10, label="dog", category="animal", captions={"en": ("A happy dog.",)})
    made = Pairs(item, np.zeros((10, 10, 3), np.uint8)).make(probe, subject)
    if isinstance(made, ProbeRejected):
        assert made.code != "probe-failed"
        return
    assert made.caption is not None
    if probe.construction is Construction.INSERTED:
        assert made.caption.endswith("dog is tied to a fire hydrant.")
        assert str(probe.modifier) in made.caption.split()
    elif probe.construction is Construction.TEMPLATE:
        assert made.caption.startswith("There is a")
    else:
        assert probe in NATURAL
        assert made.caption.endswith("dog.")


def test_the_description_of_older_probes_says_no_more_than_it_did() -> None:
    told = [name for name in catalogue().names() if "construction" in describe_probe(catalogue().get(name))]
    assert told == [probe.name for probe in catalogue() if probe.construction is Construction.INSERTED]
    assert describe_probe(INSERTED[0])["subjects"] == ["human"]


def _reference(family_name: str, caption: str, modified: str, options: Sequence[str]) -> str:
    """Closest in characters, then first in the alphabet; written down without the code under test."""
    sizes = {word: len(make(f"inserted-{family_name}:{word}", caption)) for word in options}
    return min(sorted(sizes), key=lambda word: abs(sizes[word] - len(modified)))


@pytest.mark.parametrize("caption", [HYDRANT, "Two old dogs", "An old dog", "Dog on a bench"])
@pytest.mark.parametrize("word", ["cultural:American", "cultural:Arab", "emotion:sad", "economic:expensive"])
def test_a_modifier_is_held_against_the_neutral_word_at_its_place_that_is_closest_in_length(
    caption: str, word: str
) -> None:
    owner = word.partition(":")[0]
    modified = make(f"inserted-{word}", caption)
    wanted = _reference(owner, caption, modified, [each.word for each in family(owner).controls])
    assert length_matched_in(caption, modified, "dog", owner) == f"inserted-{owner}:{wanted}"


def test_tokens_decide_between_neutral_words_of_one_length() -> None:
    caption, modified = "A dog.", "A Russian dog."
    fewer = {"A typical dog.": 4}
    chosen = length_matched_in(caption, modified, "dog", "cultural", count_tokens=lambda text: fewer.get(text, 9))
    assert chosen == "inserted-cultural:typical"

"""Taggers: which word modifies which object, which captions count, and what is said where one is not here."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from core.audit.fingerprints import describe_probe
from core.corpora.schema import Corpus, Item
from core.errors import NotAvailable, ProbeRejected, UnknownName
from core.probes.families import natural
from core.probes.registry import catalogue, select, with_taggers
from core.probes.scene import Scene
from core.probes.words import taggers
from core.probes.words.categories import annotated
from core.probes.words.natural_captions import NEUTRALISED, SWAPPED, NaturalName, find, find_in, labelled, read_name
from core.probes.words.screening import family
from core.probes.words.taggers import (
    MODEL_SHA256,
    PINNED,
    RULES,
    SPACY,
    ObjectNoun,
    Rules,
    Tagger,
    lacking,
    tagger,
    unavailable,
)
from core.seeds import stream
from tests.plans import make_plan
from tests.probes.painted import SUBJECT

needs_spacy = pytest.mark.skipif(bool(lacking()), reason=lacking() or "spaCy is here")

READ_BY_HAND = [
    # caption, family, rules take it, amod of the one object
    ("A cheap car parked outside.", "economic", True, True),
    ("A cheap red car parked outside.", "economic", False, True),
    ("An expensive car dealership", "economic", False, False),
    ("Two people in an expensive car", "economic", True, False),
    ("A sad dog and a cat", "emotion", True, False),
    ("The dog is happy.", "emotion", False, False),
    ("A happy, wet dog is running.", "emotion", False, True),
    ("A male tennis player, serving", "gender", True, True),
    ("A Russian man's hat", "cultural", False, False),
    ("An African elephant walks.", "cultural", False, False),
    ("A cheap luxury car", "economic", False, False),
    ("🐶", "emotion", False, False),
    ("", "emotion", False, False),
]


class OneWord:
    """One's own tagger: every caption names one dog, and every word modifies it."""

    name, single = "one-word", True

    def __init__(self, dogs: int = 1) -> None:
        self.dogs = dogs

    def objects(self, caption: str) -> tuple[ObjectNoun, ...]:
        return tuple(ObjectNoun(place, place + 3, "dog", "animal") for place in range(self.dogs))

    def modified(self, caption: str, start: int, end: int, *, noun: bool) -> ObjectNoun | None:
        return self.objects(caption)[0]

    def head(self, caption: str) -> ObjectNoun | None:
        return self.objects(caption)[0]

    def describe(self) -> Mapping[str, str]:
        return {"name": self.name}


def item(*captions: str, name: str = "one") -> Item:
    return Item(name, "test", None, 10, 10, captions={"en": captions}, label="dog", category="animal")


@pytest.mark.parametrize(("caption", "name", "taken", "_amod"), READ_BY_HAND)
def test_the_rules_take_what_was_read_by_hand(caption: str, name: str, taken: bool, _amod: bool) -> None:
    assert (find_in(caption, family(name)) is not None) is taken


@needs_spacy
@pytest.mark.parametrize(("caption", "name", "_rules", "taken"), READ_BY_HAND)
def test_the_parser_takes_what_was_read_by_hand(caption: str, name: str, _rules: bool, taken: bool) -> None:
    assert (find_in(caption, family(name), tagger(SPACY)) is not None) is taken


@pytest.mark.parametrize(
    ("caption", "nouns"),
    [
        ("A man rides a horse.", ["man", "horse"]),
        ("two wine glasses on a table", ["wine glass", "table"]),
        ("an expensive car dealership", []),
        ("Dogs, cats and a bird", ["dog", "cat", "bird"]),
        ("", []),
    ],
)
def test_the_rules_count_objects_from_left_to_right(caption: str, nouns: list[str]) -> None:
    found = Rules().objects(caption)
    assert [each.noun for each in found] == nouns
    for each in found:
        assert caption[each.start : each.end].casefold()[:3] == each.noun[:3]


HEADS = [
    # caption, by the rules, by the parser
    ("A man rides a horse.", "man", "man"),
    ("Two big brown dogs on a couch.", "dog", "dog"),
    ("A group of young men near a car.", "men", "men"),
    ("A couple of parking meters on a street.", "parking meter", "parking meter"),
    ("There is a dog in the snow.", "dog", "dog"),
    ("Dog.", "dog", "dog"),
    ("A man drives a motorcycle down a road.", "man", "man"),
    ("In the kitchen a man cooks.", None, "man"),
    ("The top of a car.", None, None),
    ("A wug beside a car.", None, None),
    ("An expensive car dealership", None, None),
    ("A dog house in the snow.", None, None),
    ("No dog is here.", None, None),
    ("🐶", None, None),
    ("", None, None),
]


@pytest.mark.parametrize(("caption", "noun", "_parsed"), HEADS)
def test_the_rules_say_what_a_caption_is_about_or_nothing(caption: str, noun: str | None, _parsed: str | None) -> None:
    found = Rules().head(caption)
    assert (found.noun if found else None) == noun


@needs_spacy
@pytest.mark.parametrize(("caption", "_rules", "noun"), HEADS)
def test_the_parser_says_what_a_caption_is_about(caption: str, _rules: str | None, noun: str | None) -> None:
    found = tagger(SPACY).head(caption)
    assert (found.noun if found else None) == noun


def test_a_label_of_a_caption_is_no_annotation() -> None:
    read = labelled(Corpus("c", (replace(item("A zebra in the snow."), label=None, category=None),), read_labels=RULES))
    assert [(each.label, each.category, each.label_by) for each in read.items] == [("zebra", "animal", RULES)]
    assert not annotated(read.items[0])
    given = Corpus("c", (item("A zebra in the snow."),), read_labels=RULES)
    assert [(each.label, each.label_by) for each in labelled(given).items] == [("dog", "")], "what was given stays"


def test_labels_ask_for_their_tagger_by_its_name() -> None:
    unread = Corpus("c", (item(),), read_labels="guessing")
    with pytest.raises(UnknownName, match="no tagger is named 'guessing'; there are: rules, spacy"):
        labelled(unread)


@needs_spacy
def test_the_parser_tells_objects_from_parts_of_a_compound() -> None:
    reader = tagger(SPACY)
    assert [each.noun for each in reader.objects("two wine glasses on a table")] == ["wine glass", "table"]
    assert reader.objects("an expensive car dealership") == ()
    text = "A luxury car is parked."
    assert reader.modified(text, 2, 8, noun=True) == ObjectNoun(9, 12, "car", "vehicle")
    assert reader.modified(text, 2, 8, noun=False) is None, "an adjective has amod, and compound is no amod"
    assert reader.modified(text, 2, 5, noun=True) is None, "no word stands there"


@needs_spacy
def test_loading_the_model_reads_no_pickle_and_no_network() -> None:
    import subprocess
    import sys

    code = (
        "import sys\n"
        "def heard(event, args):\n"
        "    if event.startswith(('pickle.', 'socket.connect', 'urllib.')):\n"
        "        raise RuntimeError(event)\n"
        "import spacy\n"
        "sys.addaudithook(heard)\n"
        "from core.probes.words.taggers import tagger\n"
        "print(tagger('spacy').modified('a sad dog', 2, 5, noun=False).noun)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "dog", done.stderr


@needs_spacy
def test_a_model_of_other_files_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taggers, "MODEL_SHA256", "0" * 64)
    with pytest.raises(NotAvailable, match="are not read"):
        taggers.SpacyTagger()


def test_one_object_is_asked_for_where_a_tagger_says_so() -> None:
    found = find_in("happy words about nothing", family("emotion"), OneWord())
    assert found is not None
    assert (found.noun, found.modifier.word, found.with_word("sad")) == ("dog", "happy", "sad words about nothing")
    assert find_in("happy words about nothing", family("emotion"), OneWord(dogs=2)) is None
    assert find_in("happy and sad words", family("emotion"), OneWord()) is None, "two words of the family"
    assert find(item("No word here.", "a sad one"), family("emotion"), OneWord()) is not None


def test_a_tagger_of_its_name_alone_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def made(name: str) -> Tagger:
        asked.append(name)
        return OneWord()

    monkeypatch.setattr(natural, "tagger", made)
    scene = Scene(item("happy words about nothing"), np.zeros((10, 10, 3), np.uint8))
    for name, caption in (
        ("happy", "happy words about nothing"),
        (NEUTRALISED, "plain words about nothing"),
        ("swapped-sad", "sad words about nothing"),
    ):
        probe = catalogue().get(f"natural-emotion-spacy:{name}")
        assert probe.make(scene, SUBJECT, stream(1)).caption == caption
        assert describe_probe(probe)["tagger"] == SPACY
    assert asked == [SPACY] * 3
    assert "tagger" not in describe_probe(catalogue().get("natural-emotion:happy")), "old runs keep their fingerprint"


def test_the_parsers_probes_are_chosen_by_their_own_names_alone() -> None:
    for wide in ("default", "societal", "natural-economic"):
        assert not [probe for probe in select([wide]) if probe.tagger]
    chosen = select(["natural-economic-spacy"])
    assert {probe.tagger for probe in chosen} == {SPACY}
    assert {probe.baseline for probe in chosen if not probe.control} == {"natural-economic-spacy:neutralised"}


def test_a_name_is_read_back() -> None:
    assert read_name("natural-economic-spacy:swapped-cheap") == NaturalName("economic", SPACY, SWAPPED, "cheap")
    assert read_name("natural-gender-colloquial:boy") == NaturalName("gender-colloquial", RULES, "", "boy")
    assert read_name("natural-emotion:neutralised") == NaturalName("emotion", RULES, NEUTRALISED, "")
    assert read_name("emotion:happy") is None
    for probe in natural.NATURAL:
        read = read_name(probe.name)
        assert read is not None
        assert (read.word or None, read.tagger) == (probe.modifier, probe.tagger or RULES)


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taggers, "PINNED", {"no-such-package-as-this": "1"})
    tagger.cache_clear()
    yield
    tagger.cache_clear()


def test_a_tagger_that_is_not_here_is_told_with_its_extra(without: None) -> None:
    assert "invariscope[tagger]" in unavailable(SPACY)
    assert unavailable(RULES) == ""
    with pytest.raises(NotAvailable, match=r"requirements-tagger\.txt"):
        tagger(SPACY)
    scene = Scene(item("a happy dog"), np.zeros((10, 10, 3), np.uint8))
    with pytest.raises(ProbeRejected, match="invariscope") as caught:
        catalogue().get("natural-emotion-spacy:happy").make(scene, SUBJECT, stream(1))
    assert caught.value.code == "no-tagger"
    with pytest.raises(UnknownName, match="rules, spacy"):
        tagger("nltk")


def test_another_version_is_no_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taggers, "PINNED", {"pytest": "0.0.1"})
    assert "reads captions by pytest 0.0.1" in unavailable(SPACY)


def test_an_audit_refuses_a_tagger_that_is_not_here_and_a_wide_choice_says_what_it_lacks(without: None) -> None:
    corpus = Corpus("test", (item("a happy dog"),), ())
    with pytest.raises(NotAvailable, match="natural-emotion-spacy"):
        make_plan(corpus, evaluators=["blind-length"], probes=["natural-emotion-spacy"])
    kept, said = with_taggers(select(["all"]), ["all"])
    assert not [probe for probe in kept if probe.tagger]
    assert len(said) == 1
    assert "probes are left out" in said[0]
    plan = make_plan(corpus, evaluators=["blind-length"], probes=["all"])
    assert said[0] in plan.warnings
    assert plan.taggers == {}


def test_a_plan_of_the_rules_keeps_its_fingerprint_and_one_of_another_tagger_has_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    corpus = Corpus("test", (item("a happy dog"),), ())
    plan = make_plan(corpus, evaluators=["blind-length"], probes=["natural-emotion"])
    assert plan.taggers == {}
    other = replace(plan, probes=(catalogue().get("natural-emotion-spacy:happy"),))
    told = {"name": SPACY, "model": MODEL_SHA256}
    monkeypatch.setattr("core.audit.plan.tagger", lambda name: type("Told", (), {"describe": lambda self: told})())
    first = other.fingerprint()
    assert other.taggers == {"taggers": [told]}
    told = told | {"model": "another"}
    assert other.fingerprint() != first


def test_the_extra_pins_what_the_code_reads_and_every_file_has_a_hash() -> None:
    import re
    import tomllib

    from core.settings import ROOT

    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["tagger"]
    assert dict(each.split("==") for each in extra) == dict(PINNED)
    hashed, lock = ((ROOT / f"requirements-{name}.txt").read_text() for name in ("tagger", "lock"))
    pins = dict(re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", hashed, flags=re.M))
    assert pins.items() >= PINNED.items()
    assert not pins.keys() & set(re.findall(r"^([A-Za-z0-9._-]+)==", lock, flags=re.M)), "one pin a package"
    entries = re.split(r"^(?=[a-z])", re.sub(r"^#.*\n", "", hashed, flags=re.M), flags=re.M)[1:]
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in hashed

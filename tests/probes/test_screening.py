"""The compatibility screen: what it lets through, what it keeps out, and what it says about it."""

from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.corpora.labels import load_taxonomy
from core.corpora.registry import catalogue
from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES, Item
from core.errors import InvalidInput, UnknownName
from core.probes.rejections import CODES
from core.probes.tables import lexicon_path
from core.probes.words.screening import RULE_CODES, accepted_controls, families, rejected_pairs, rules, screen

HEADER = "decision,family,modifier,category,label,code,reason\n"
EVERY_WORD = [(each.name, word.word) for each in families().values() for word in each.words]


def item(label: str | None, category: str | None) -> Item:
    return Item(f"{label}", "test", None, 10, 10, label=label, category=category)


@pytest.mark.parametrize(
    ("phrase", "category", "family", "code"),
    [
        ("angry chair", "furniture", "emotion", "animacy"),
        ("happy teddy bear", "indoor", "emotion", "animacy"),
        ("male chair", "furniture", "gender", "animacy"),
        ("typical chair", "furniture", "gender", "animacy"),
        ("cheap man", "person", "economic", "animacy"),
        ("plain man", "person", "economic", "animacy"),
        ("immigrant bed", "furniture", "occupational", "animacy"),
        ("tourist bus", "vehicle", "occupational", "animacy"),
        ("refugee dog", "animal", "occupational", "animacy"),
        ("boy person", "person", "gender", "part-of-speech"),
        ("citizen person", "person", "occupational", "part-of-speech"),
        ("female man", "person", "gender", "lexical-gender"),
        ("male boy", "person", "gender", "lexical-gender"),
        ("female rooster", "animal", "gender", "lexical-gender"),
        ("girl beetle", "animal", "gender", "implausible"),
        ("girl magpie", "animal", "gender", "colloquial"),
        ("boy elephant", "animal", "gender", "colloquial"),
        ("girl wild boar", "animal", "gender", "colloquial"),
        ("girl boar", "animal", "gender-colloquial", "lexical-gender"),
        ("girl beetle", "animal", "gender-colloquial", "implausible"),
        ("girl hen", "animal", "gender-colloquial", "lexical-gender"),
        ("girl photographer", "person", "gender-colloquial", "animacy"),
        ("girl firefighter", "person", "gender", "implausible"),
        ("angry bird", "animal", "emotion", "lexicalised"),
        ("sad starfish", "animal", "emotion", "implausible"),
        ("luxury dog", "animal", "economic", "implausible"),
        ("cheap zebra", "animal", "economic", "implausible"),
        ("typical zebra", "animal", "economic", "no-modifier"),
        ("luxury fire hydrant", "outdoor", "economic", "implausible"),
        ("budget banana", "food", "economic", "implausible"),
        ("cheap moon", "outdoor", "economic", "implausible"),
        ("African gnu", "animal", "cultural", "lexicalised"),
        ("African hippopotamus", "animal", "cultural", "lexicalised"),
        ("African kangaroo", "animal", "cultural", "false-origin"),
        ("European elephant", "animal", "cultural", "false-origin"),
        ("African sea lion", "animal", "cultural", "false-origin"),
        ("Asian badger", "animal", "cultural", "lexicalised"),
        ("Oceanian badger", "animal", "cultural", "false-origin"),
        ("Oceanian hornet", "animal", "cultural", "false-origin"),
        ("Oceanian mallard", "animal", "cultural", "false-origin"),
        ("American wild boar", "animal", "cultural", "false-origin"),
        ("American lionfish", "animal", "cultural", "false-origin"),
        ("Asian dromedary", "animal", "cultural", "false-origin"),
        ("typical kangaroo", "animal", "cultural", "no-modifier"),
        ("Russian stop sign", "outdoor", "cultural", "false-origin"),
        ("European keyboard", "electronics", "cultural", "lexicalised"),
        ("luxury ear of corn", "food", "economic", "implausible"),
        ("plain umbrella", "accessory", "cultural", "literal-sense"),
        ("African elephant", "animal", "cultural", "lexicalised"),
        ("African baby elephant", "animal", "cultural", "lexicalised"),
        ("European African elephant", "animal", "cultural", "already-modified"),
        ("Arab horse", "animal", "cultural", "lexicalised"),
        ("plain person", "person", "cultural", "literal-sense"),
        ("plain birthday cake", "food", "cultural", "literal-sense"),
        ("local train", "vehicle", "occupational", "lexicalised"),
        ("luxury fire truck", "vehicle", "economic", "implausible"),
        ("plain mug", "kitchen", "economic", "literal-sense"),
        ("Asian rhinoceros", "animal", "cultural", "lexicalised"),
        ("female boar", "animal", "gender", "lexical-gender"),
        ("sad dog", None, "emotion", "no-category"),
        ("cheap bed", None, "economic", "no-category"),
    ],
)
def test_the_screen_keeps_out(phrase: str, category: str | None, family: str, code: str) -> None:
    word, label = phrase.split(maxsplit=1)
    rejection = screen(label, category, family, word)
    assert rejection is not None
    assert rejection.code == code
    assert rejection.subject == phrase
    assert rejection.detail.startswith(f"'{phrase}' is left out: ")


@pytest.mark.parametrize(
    ("phrase", "category", "family"),
    [
        ("African bed", "furniture", "cultural"),
        ("African bed", None, "cultural"),
        ("African person", "person", "cultural"),
        ("African cow", "animal", "cultural"),
        ("Asian goose", "animal", "cultural"),
        ("American hot dog", "food", "cultural"),
        ("luxury sofa", "furniture", "economic"),
        ("luxury car", "vehicle", "economic"),
        ("expensive dog", "animal", "economic"),
        ("cheap fire hydrant", "outdoor", "economic"),
        ("cheap hot dog", "food", "economic"),
        ("male dog", "animal", "gender"),
        ("boy elephant", "animal", "gender-colloquial"),
        ("male beetle", "animal", "gender"),
        ("female cow", "animal", "gender"),
        ("male person", "person", "gender"),
        ("female wild boar", "animal", "gender"),
        ("girl wild boar", "animal", "gender-colloquial"),
        ("American sea lion", "animal", "cultural"),
        ("luxury Christmas tree", "outdoor", "economic"),
        ("luxury potted plant", "furniture", "economic"),
        ("girl photographer", "person", "gender"),
        ("female astronaut", "person", "gender"),
        ("angry person", "person", "emotion"),
        ("happy zebra", "animal", "emotion"),
        ("plain zebra", "animal", "gender"),
        ("typical person", "person", "gender"),
        ("immigrant person", "person", "occupational"),
        ("foreign dog", "animal", "occupational"),
    ],
)
def test_the_screen_lets_through(phrase: str, category: str | None, family: str) -> None:
    word, label = phrase.split(maxsplit=1)
    assert screen(label, category, family, word) is None


@pytest.mark.parametrize("label", [None, "", " \n"])
def test_an_object_without_a_name_is_rejected_as_such(label: str | None) -> None:
    rejection = screen(label, "furniture", "cultural", "African")
    assert rejection is not None
    assert rejection.code == "no-label"


def test_unknown_words_are_an_error_and_no_rejection() -> None:
    with pytest.raises(UnknownName):
        screen("bed", "furniture", "cultural", "Martian")


@given(
    st.one_of(st.none(), st.text(max_size=80), st.sampled_from(["x" * 10_000, "dog " * 2_500, "🐶", "‏כלב"])),
    st.one_of(st.none(), st.sampled_from(CATEGORIES + EXTRA_CATEGORIES)),
    st.sampled_from(EVERY_WORD),
)
@example("_", None, ("cultural", "American"))
def test_any_label_is_decided_with_a_known_code_in_a_short_sentence(
    label: str | None, category: str | None, word: tuple[str, str]
) -> None:
    rejection = screen(label, category, *word)
    if rejection is not None:
        assert rejection.code in CODES
        assert len(rejection.detail) < 400


@given(st.text(min_size=1, max_size=80).filter(str.split), st.sampled_from(list(families())))
def test_every_label_keeps_a_control_in_every_family(label: str, family: str) -> None:
    assert accepted_controls(label, family)


@pytest.mark.parametrize(
    "label", sorted({label for rule in rules(lexicon_path("compatibility.csv")) for label in rule.labels})
)
def test_every_label_that_a_line_names_keeps_a_control(label: str) -> None:
    assert all(accepted_controls(f"small {label}", family) for family in families())


def test_every_rejected_pair_is_listed_once_with_the_number_of_its_items() -> None:
    items = [item("chair", "furniture"), item("dog", "animal"), item("dog", "animal"), item(None, None)]
    listed = rejected_pairs(items)
    assert len({(pair.family, pair.modifier, pair.label) for pair in listed}) == len(listed)
    for pair in listed:
        again = screen(pair.label, pair.category, pair.family, pair.modifier)
        assert again is not None
        assert (again.code, again.detail) == (pair.code, pair.detail)
    kept_out = {(pair.modifier, pair.label): pair.items for pair in listed}
    assert kept_out["angry", "chair"] == 1
    assert kept_out["luxury", "dog"] == 2
    assert ("happy", "dog") not in kept_out
    assert sum(pair.label is None for pair in listed) == len(EVERY_WORD)


@cache
def animals() -> tuple[str, ...]:
    """Every animal label of COCO and of the demo corpora."""
    coco = {entry.label for entry in load_taxonomy("coco").entries.values() if entry.category == "animal"}
    ours = (each for name in ("demo", "demo-prototypes", "demo-scenes") for each in catalogue().get(name).load().items)
    return tuple(sorted(coco | {each.label for each in ours if each.label and each.category == "animal"}))


def test_colloquial_phrases_are_off_in_the_default_grid_and_can_be_asked_for() -> None:
    default = {(word.family, word.word) for each in families().values() if each.default for word in each.modifiers}
    assert screen("magpie", "animal", "gender-colloquial", "girl") is None
    assert not {pair for pair in default if pair[0] == "gender-colloquial"}
    assert len(animals()) > 60
    for label in animals():
        said = {word for family, word in default if screen(label, "animal", family, word) is None}
        assert not said & {"boy", "girl"}, label


def test_every_code_that_a_line_may_give_is_explained() -> None:
    assert set(RULE_CODES) <= set(CODES)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("refuse,*,cheap,*,dog,implausible,why", "decision is 'refuse'; write one of accept, reject"),
        ("reject,price,cheap,*,dog,implausible,why", "family 'price' is not known"),
        ("reject,emotion,cheap,*,dog,implausible,why", "modifier 'cheap' is not known"),
        ("reject,*,cheap,pets,dog,implausible,why", "category 'pets' is not known"),
        ("reject,*,cheap,*,dog,silly,why", "code is 'silly'; write one of"),
        ("reject,*,cheap,*,dog,implausible,", "reason is empty"),
        ("reject,*,cheap,*,dog||cat,implausible,why", "label holds an empty alternative"),
        ("reject,*,cheap,*,,implausible,why", "label is empty"),
        ("reject,*,cheap,*,slice of bread,implausible,why", "can match nothing"),
        ("reject,*,plain,food,cake,literal-sense,why", "about a control, so the category must be"),
        ("reject,*,plain,*,*,literal-sense,why", "about a control, so the category must be"),
        ("reject,*,plain|typical|ordinary,*,cake,literal-sense,why", "no control of cultural is left before 'cake'"),
    ],
)
def test_a_slip_in_the_screen_is_told_with_file_line_and_remedy(tmp_path: Path, line: str, told: str) -> None:
    table = tmp_path / "compatibility.csv"
    table.write_text(f"{HEADER}{line}\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=rf"compatibility\.csv, line 2: .*{told}"):
        rules(table)


def test_the_first_line_that_matches_decides(tmp_path: Path) -> None:
    table = tmp_path / "compatibility.csv"
    table.write_text(f"{HEADER}accept,*,cheap,*,dog,,sold\nreject,*,*,*,*,implausible,why\n", encoding="utf-8")
    first, second = rules(table)
    cheap = families()["economic"].get("cheap")
    plain = families()["economic"].get("plain")
    assert first.matches(cheap, "animal", frozenset({"dog"}))
    assert not first.matches(cheap, "animal", frozenset({"cat"}))
    assert second.matches(cheap, None, frozenset({"cat"}))
    assert not second.matches(plain, None, frozenset({"cat"}))

"""The societal lexicon holds what the paper lists, and every slip in its tables is told with its line."""

import re
import shutil
from pathlib import Path

import pytest

from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES
from core.errors import InvalidInput, UnknownName
from core.probes.tables import lexicons_fingerprint
from core.probes.words.screening import Scope, families, family, read_families
from core.settings import assets_dir

PAPER = {
    "cultural": {"American", "European", "Asian", "Arab", "African", "Russian", "Oceanian"},
    "economic": {"cheap", "expensive", "luxury", "budget"},
    "gender": {"male", "female", "boy", "girl"},
    "emotion": {"happy", "sad", "angry"},
    "gender-colloquial": {"boy", "girl"},
    "occupational": {"local", "foreign", "immigrant", "citizen", "refugee", "tourist"},
}

HEADS = "family,applies_to,default,summary,source\ncultural,anything,yes,A word.,paper A\n"
WORDS = "family,modifier,role,part_of_speech,applies_to,contrast\n"
GOOD = "cultural,African,modifier,adjective,,\ncultural,plain,control,adjective,,\n"


def read(folder: Path, words: str, heads: str = HEADS) -> object:
    (folder / "families.csv").write_text(heads, encoding="utf-8")
    (folder / "societal.csv").write_text(words, encoding="utf-8")
    return read_families(folder / "families.csv", folder / "societal.csv")


def test_the_lexicon_is_the_papers_with_the_colloquial_phrases_kept_apart() -> None:
    assert {name: {word.word for word in each.modifiers} for name, each in families().items()} == PAPER


def test_every_family_has_the_three_neutral_controls() -> None:
    assert all(
        {word.word for word in each.controls} == {"typical", "plain", "ordinary"} for each in families().values()
    )


def test_occupations_and_colloquial_phrases_are_for_targeted_probes() -> None:
    assert [name for name, each in families().items() if not each.default] == ["gender-colloquial", "occupational"]


def test_every_modifier_has_a_contrast_of_its_own_family() -> None:
    for each in families().values():
        under_test = {word.word for word in each.modifiers}
        assert all(word.contrast in under_test - {word.word} for word in each.modifiers)


@pytest.mark.parametrize(
    ("scope", "held"),
    [
        (Scope.ANYTHING, set(CATEGORIES + EXTRA_CATEGORIES)),
        (Scope.NON_PERSON, set(CATEGORIES + EXTRA_CATEGORIES) - {"person"}),
        (Scope.ANIMATE, {"person", "animal"}),
        (Scope.PERSON, {"person"}),
    ],
)
def test_a_scope_holds_its_categories(scope: Scope, held: set[str]) -> None:
    assert {category for category in CATEGORIES + EXTRA_CATEGORIES if scope.holds(category)} == held


def test_unknown_names_list_what_is_known() -> None:
    with pytest.raises(UnknownName, match="known: cultural, economic"):
        family("religious")
    with pytest.raises(UnknownName, match="it has happy, sad, angry"):
        family("emotion").get("bored")


def test_comments_blank_lines_and_a_byte_order_mark_are_for_the_reader_only(tmp_path: Path) -> None:
    assert read(tmp_path, f"\ufeff# a note\n\n{WORDS}\n# more\n{GOOD}")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("economic,cheap,modifier,adjective,,", "line 2: family is 'economic'; write one of cultural"),
        ("cultural,,modifier,adjective,,", "line 2: modifier is empty"),
        ("cultural,very old,modifier,adjective,,", "line 2: the modifier 'very old' must be one word"),
        ("cultural,a:b,modifier,adjective,,", "line 2: the modifier 'a:b' must be one word"),
        ("cultural,old,modifer,adjective,,", "line 2: role is 'modifer'; write one of modifier, control"),
        ("cultural,old,modifier,adverb,,", "line 2: part_of_speech is 'adverb'; write one of adjective, noun"),
        ("cultural,old,modifier,adjective,people,", "line 2: applies_to is 'people'"),
        ("cultural,old,control,adjective,person,", "line 2: the control 'old' must apply to what its family"),
        ("cultural,old,modifier,adjective,,new", "line 2: contrast is 'new'; write another modifier"),
        ("cultural,old,modifier,adjective,,old", "line 2: contrast is 'old'; write another modifier"),
        ("cultural,African,modifier,adjective,,", "line 3: cultural:African stands twice"),
        ("cultural,old,modifier", "line 2: 3 cells under 6 columns"),
        ('cultural,"old,modifier,adjective,,', "line 2: .*close every double quote"),
    ],
)
def test_a_slip_in_the_lexicon_is_told_with_file_line_and_remedy(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=rf"societal\.csv, {told}"):
        read(tmp_path, f"{WORDS}{line}\n{GOOD}")


def test_a_family_without_a_control_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="needs at least one modifier and one control"):
        read(tmp_path, WORDS + "cultural,African,modifier,adjective,,\n")


def test_a_family_that_stands_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"families\.csv, line 3: the family 'cultural' stands twice"):
        read(tmp_path, WORDS + GOOD, HEADS + "cultural,anything,yes,Again.,paper A\n")


@pytest.mark.parametrize(
    ("text", "told"), [("", "is empty"), ("family,word\n", "they must be"), ("# only\n", "is empty")]
)
def test_a_table_without_its_header_says_which_one_it_needs(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        read(tmp_path, text)


def test_a_missing_table_and_one_in_another_encoding_are_named(tmp_path: Path) -> None:
    (tmp_path / "families.csv").write_bytes("family,\xe9".encode("latin-1"))
    with pytest.raises(InvalidInput, match="is not UTF-8 text"):
        read_families(tmp_path / "families.csv", tmp_path / "societal.csv")
    with pytest.raises(InvalidInput, match=re.escape(f"{tmp_path / 'no.csv'} cannot be read")):
        read_families(tmp_path / "no.csv", tmp_path / "societal.csv")


def test_the_fingerprint_follows_every_edit_of_a_table_and_nothing_else(tmp_path: Path) -> None:
    copy = shutil.copytree(assets_dir() / "lexicons", tmp_path / "lexicons")
    assert lexicons_fingerprint(copy) == lexicons_fingerprint()
    (copy / "README.md").write_text("other words", encoding="utf-8")
    assert lexicons_fingerprint(copy) == lexicons_fingerprint()
    with (copy / "nouns.csv").open("a", encoding="utf-8") as table:
        table.write("alms,plural\n")
    assert lexicons_fingerprint(copy) != lexicons_fingerprint()

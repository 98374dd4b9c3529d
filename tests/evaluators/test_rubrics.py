"""Rubrics: the published prompts word for word, their variants, and files that are refused in a sentence."""

import hashlib
import tomllib
from pathlib import Path

import pytest

from core.errors import InvalidInput
from core.evaluators.network.rubrics import MADE, find_rubric, rubric_names
from core.settings import assets_dir

CLAIR = (  # DavidMChan/clair, clair.py, as filled there for one candidate and two references
    "You are trying to tell if a candidate set of captions is describing the same image as a reference set of "
    "captions.\nCandidate set:\n- A cat.\n\nReference set:\n- A pet.\n- An animal.\n\nOn a precise scale from 0 to "
    "100, how likely is it that the candidate set is describing the same image as the reference set? (JSON format, "
    'with a key "score", value between 0 and 100, and a key "reason" with a string value.)\n'
)
FLEUR = (  # Yebin46/FLEUR, fleur.py
    "Your task is to evaluate and rate the caption on a scale of 0.0 to 1.0 based on the given Grading Criteria. "
    "(Print Real Number Score ONLY)\n\nGrading Criteria:\n\n0.0: The caption does not describe the image at all.\n"
    "1.0: The caption accurately and clearly describes the image.\n\nCaption: A cat.\n\n"
    "Score(Choose a rating from 0.0 to 1.0):"
)


def test_published_prompts_are_asked_word_for_word() -> None:
    clair, fleur = find_rubric("clair")[1], find_rubric("fleur")[1]
    assert clair.messages("A cat.", ["A pet.", "An animal."], picture="data:x") == [
        {"role": "user", "content": [{"type": "text", "text": CLAIR}]}
    ]
    picture, text = fleur.messages("A cat.", picture="data:x")[0]["content"]
    assert (picture["image_url"]["url"], text["text"]) == ("data:x", FLEUR)
    assert (clair.low, clair.high, clair.whole, fleur.low, fleur.high, fleur.answer) == (0, 100, False, 0, 1, "number")
    assert rubric_names() == ("clair", "fleur", "judge", "protoscore")


def test_the_judges_own_rubric_has_the_digits_of_its_text_so_that_kept_answers_count() -> None:
    rubric = find_rubric("judge")[1]
    assert rubric.digest == hashlib.sha256(rubric.text.encode()).hexdigest()[:16] == "348747bc72a0b718"


@pytest.mark.parametrize("caption", ["A {references} cat.", "{caption}", "{low} {0} {"])
def test_braces_in_a_caption_are_its_own(caption: str) -> None:
    assert caption in find_rubric("clair")[1].question(caption, ["A pet."])
    assert find_rubric("clair")[1].question(caption, ["A pet."]).count("A pet.") == 1


def test_every_variant_is_another_question_with_a_name_of_its_own() -> None:
    base = find_rubric("judge")[1]
    written = tomllib.loads((assets_dir() / "rubrics" / "judge.toml").read_text(encoding="utf-8"))["variants"]
    names = [*written, *(name for name in MADE if name != "picture-first")]
    found = dict(find_rubric(f"judge~{name}") for name in names)
    assert len(found) == len(names) == len({each.digest for each in found.values()} - {base.digest})
    assert {"paraphrase-3", "scale-5", "scale-100", "criteria-reversed", "picture-last", "repeat-2", "warm-1"} <= set(
        names
    )
    five, again, warm = (found[f"judge~{name}"] for name in ("scale-5", "repeat-2", "warm-2"))
    assert (five.low, five.high, "from 1 to 5" in five.text) == (1, 5, True)
    assert (again.text, again.temperature, again.seed) == (base.text, 0, base.seed)
    assert (warm.text, warm.temperature, warm.seed != base.seed) == (base.text, 1, True)


def test_criteria_are_read_from_the_end_and_nothing_else_moves() -> None:
    base, turned = find_rubric("judge")[1].text, find_rubric("judge~criteria-reversed")[1].text
    assert sorted(base.splitlines()) == sorted(turned.splitlines())
    listed = [line for line in turned.splitlines() if line.startswith("- ")]
    assert [line[:5] for line in listed] == ["- 0: ", "- 2: ", "- 4: ", "- 6: ", "- 8: ", "- 10:"]
    assert turned.split("- 0: ")[0] == base.split("- 10:")[0]


def test_the_picture_stands_where_the_variant_says() -> None:
    for name, kinds in (("judge", ["image_url", "text"]), ("judge~picture-last", ["text", "image_url"])):
        asked = find_rubric(name)[1].messages("A cat.", picture="data:x")
        assert [part["type"] for part in asked[1]["content"]] == kinds
        assert asked[0]["role"] == "system"


@pytest.mark.parametrize("name", ["clair~picture-last", "fleur~criteria-reversed", "judge~picture-first", "judge~x"])
def test_a_variant_that_changes_nothing_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="has no variant"):
        find_rubric(name)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('text = "Judge."', "does not say its scale \\(low and high missing\\)"),
        ('text = "Judge."\nlow = 0', "does not say its scale \\(high missing\\)"),
        ("low = 0\nhigh = 5", "text: Field required"),
        ('text = "Judge."\nlow = 5\nhigh = 5', "goes from low to high, got 5 to 5"),
        ('text = "Judge."\nlow = 0\nhigh = inf', "high: Input should be a finite number"),
        ('text = "Judge."\nlow = 0\nhigh = 5\ncolour = 1', "colour: Extra inputs"),
        ('text = "{references}"\nlow = 0\nhigh = 5', "needs {caption}, too"),
        ('text_file = "../secret"\nlow = 0\nhigh = 5', "name of a file beside it"),
        ("text = ", "is no TOML"),
    ],
)
def test_a_rubric_that_cannot_be_used_is_refused_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=said):
        find_rubric(str(file))


def test_a_rubric_of_ones_own_is_named_by_what_it_says(tmp_path: Path) -> None:
    file, names = tmp_path / "judge.toml", set[str]()
    for text in ("Judge.", "Judge it."):
        file.write_text(f'text = "{text}"\nlow = 0\nhigh = 5\n[variants.kind]\ntext = "Be kind."\n', encoding="utf-8")
        name, found = find_rubric(f"{file}~kind")
        names |= {find_rubric(str(file))[0], name}
        assert (found.text, found.high) == ("Be kind.", 5)
    assert len(names) == 4
    assert all(name.startswith("judge-") for name in names)


def test_what_is_no_rubric_is_told_with_those_there_are() -> None:
    with pytest.raises(InvalidInput, match="no rubric 'no-such'; take one of clair, fleur, judge, protoscore"):
        find_rubric("no-such")
    with pytest.raises(InvalidInput, match="does not say its scale"):
        find_rubric("grounding-judge")

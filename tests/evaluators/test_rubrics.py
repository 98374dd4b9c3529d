"""Rubrics: the published prompts word for word, their variants, and files that are refused in a sentence."""

import hashlib
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.corpora.images import encode_png, pixel_hash
from core.errors import InvalidInput
from core.evaluators.metrics.judge import sent
from core.evaluators.network.rubrics import MADE, find_rubric, rubric_names
from core.evaluators.registry import find
from core.evaluators.scoring import score_pairs_with_errors
from core.settings import assets_dir
from tests.evaluators.judge_server import KEY, JudgeServer, true_score

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


IMAGE = np.random.default_rng(4).integers(0, 256, (24, 27, 3), dtype=np.uint8)
JURORS = ("a", "b", "c")
CAPTIONS = [f"Cat {number}." for number in range(30)]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[JudgeServer]:
    with JudgeServer().running() as running:
        monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
        for name, value in {"URL": running.url, "KEY": KEY, "FIRST_WAIT_S": "0.01", "ATTEMPTS": "1"}.items():
            monkeypatch.setenv(f"INVARISCOPE_JUDGE_{name}", value)
        yield running


def panel(way: str, rubric: str = "judge") -> str:
    return f"panel:{way}=" + "+".join(f"judge:{each}@{rubric}" for each in JURORS)


def said(low: int = 0, high: int = 10) -> np.ndarray:
    png = encode_png(sent(IMAGE))
    return np.array([[true_score(png, text, low, high, juror) for text in CAPTIONS] for juror in JURORS])


def test_mean_and_median_are_of_the_judges_own_answers_which_are_asked_once(server: JudgeServer) -> None:
    key = pixel_hash(IMAGE)
    pairs = [(key, caption) for caption in CAPTIONS]
    for way, expected in (("mean", said().mean(axis=0) / 10), ("median", np.median(said(), axis=0) / 10)):
        loaded = find(panel(way)).load()
        found = score_pairs_with_errors(loaded, {key: IMAGE}, pairs)
        np.testing.assert_allclose(found.scores, expected)
        assert loaded.spec.score_range == (0, 1)
    own = find("judge:b@judge").load().score([IMAGE] * len(CAPTIONS), CAPTIONS)
    assert own.tolist() == said()[1].tolist()
    assert len(server.requests) == len(JURORS) * len(CAPTIONS)


def test_a_majority_is_what_more_than_half_say_and_without_one_there_is_no_score(server: JudgeServer) -> None:
    key = pixel_hash(IMAGE)
    loaded = find(panel("majority", "protoscore")).load()
    found = score_pairs_with_errors(loaded, {key: IMAGE}, [(key, caption) for caption in CAPTIONS])
    answers = said(1, 4).T
    for row, score, error in zip(answers, found.scores, found.errors, strict=True):
        values, times = np.unique(row, return_counts=True)
        if times.max() > len(row) / 2:
            assert score == pytest.approx((values[times.argmax()] - 1) / 3)
            assert error is None
        else:
            assert np.isnan(score)
            assert str(error).endswith("[no-majority]")
    assert 0 < np.isnan(found.scores).sum() < len(CAPTIONS)


def test_a_pair_that_one_judge_cannot_score_has_no_score_with_that_judges_reason(server: JudgeServer) -> None:
    key = pixel_hash(IMAGE)
    found = score_pairs_with_errors(find(panel("mean")).load(), {key: IMAGE}, [(key, "no json: x"), (key, "A cat.")])
    assert np.isnan(found.scores[0])
    assert "not the JSON" in str(found.errors[0])
    assert found.errors[1] is None


def test_scales_are_brought_together_and_the_fingerprint_holds_every_judge(server: JudgeServer) -> None:
    name = "panel:mean=judge:a@judge+judge:a@judge~scale-5"
    kind = find(name)
    loaded = kind.load()
    png = encode_png(sent(IMAGE))
    ten, five = true_score(png, "A cat.", 0, 10, "a"), true_score(png, "A cat.", 1, 5, "a")
    assert loaded.score([IMAGE], ["A cat."])[0] == pytest.approx((ten / 10 + (five - 1) / 4) / 2)
    assert kind.spec.name == name
    assert set(loaded.fingerprint.settings["parts"]) == {"judge:a@judge", "judge:a@judge~scale-5"}
    assert loaded.see(IMAGE, "A cat.").evidence[0][1] == max(ten, five)
    assert "from 1 to 5" in loaded.asked


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("panel:mean", "give a panel as"),
        ("panel:mode=judge:a@judge+judge:b@judge", "give a panel as"),
        ("panel:mean=clipscore+judge:a@judge", "give a panel as"),
        ("panel:mean=judge:a@judge", "at least two judges"),
        ("panel:mean=judge:a@judge+judge:a@judge", "each once"),
        ("panel:mean=judge:a@judge+judge:a@clair", "is shown references"),
        ("panel:majority=judge:a@judge+judge:b@protoscore", "a majority is of one scale"),
        ("panel:mean=judge:a@judge+judge:b@none", "no rubric 'none'"),
    ],
)
def test_what_is_no_panel_is_refused_in_a_sentence(name: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        find(name)

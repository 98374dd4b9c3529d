"""The judge: which nouns it finds, how it assigns them, and what costs."""

import itertools
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage import data

from core.errors import InvalidInput
from core.evaluators.base import PartlyScored
from core.evaluators.metrics.conse import ConseLite0
from core.evaluators.metrics.grounding_judge import NO_NOUN, GroundingJudge, NounPhrase, Rubric, find_nouns
from core.probes.rejections import code_of, coded, meaning
from core.settings import assets_dir


@pytest.fixture(scope="module")
def judge() -> GroundingJudge:
    return GroundingJudge.load()


@pytest.mark.parametrize(
    ("caption", "nouns"),
    [
        ("There is a bed.", ["bed"]),
        ("There is an African bed.", ["bed"]),
        ("There are expensive scissors.", ["scissors"]),
        ("Two dogs play with an expensive tennis ball.", ["dog", "tennis ball"]),
        ("Two men stand in the woods near a dog.", ["man", "woods", "dog"]),
        ("A breakfast plate with toast, eggs and bacon.", ["breakfast plate", "toast", "egg", "bacon"]),
        ("A man rides a blue wave on top of a surfboard.", ["man", "wave", "surfboard"]),
        ("A red stop sign next to a large bush with red flowers.", ["stop sign", "bush", "flower"]),
        ("A train sitting inside of a train station.", ["train", "train station"]),
        ("A cat and a cat.", ["cat"]),
        ("LARGE PANDA BEAR WALKING AROUND", ["panda bear"]),
        ("a restaraunt", ["restaraunt"]),
        ("There is an orange.", ["orange"]),
        ("There is no orange.", ["orange"]),
        ("Is there an orange?", ["orange"]),
        ("An orange bus on a white road.", ["bus", "road"]),
        ("A man in white.", ["man"]),
        ("There is a red and white bus.", ["bus"]),
        ("There is a remote.", ["remote"]),
        ("There is an American orange.", ["orange"]),
        ("There is a nice cheap orange.", ["orange"]),
        ("There is an Oceanian orange.", ["orange"]),
        ("American orange.", []),
        ("There is a remote beach.", ["beach"]),
        ("There are scissors.", ["scissors"]),
        ("There are skis.", ["ski"]),
        ("There is a lionfish.", ["lionfish"]),
        ("It is very nice.", []),
        ("🐱 12 !?", []),
        ("", []),
    ],
)
def test_the_nouns_of_a_caption_are_found(caption: str, nouns: list[str]) -> None:
    assert [phrase.text for phrase in find_nouns(caption)] == nouns


@settings(max_examples=50)
@given(st.text(max_size=200))
def test_any_text_at_all_gives_phrases_without_repeats(text: str) -> None:
    phrases = find_nouns(text)
    assert len({phrase.text for phrase in phrases}) == len(phrases)
    assert all(phrase.head and phrase.text.endswith(phrase.head) for phrase in phrases)


def test_adjectives_and_word_order_do_not_cost(judge: GroundingJudge) -> None:
    captions = [
        "A cat beside a cup.",
        "A happy African cat beside an expensive cup.",
        "A cup beside a cat.",
        "A red cup and a sad cat.",
    ]
    scores = judge.score([data.chelsea()] * len(captions), captions)
    np.testing.assert_allclose(scores, scores[0], atol=1e-6)


def test_a_noun_that_the_image_does_not_show_costs(judge: GroundingJudge) -> None:
    photo = data.chelsea()
    only, with_bus = judge.score([photo] * 2, ["There is a cat.", "There is a cat and a bus."])
    assert only > 9
    assert with_bus < 0.75 * only


def test_a_noun_before_another_never_lowers_the_score(judge: GroundingJudge) -> None:
    bare, luxury = judge.score([data.chelsea()] * 2, ["There is a cat.", "There is a luxury cat."])
    assert luxury >= bare - 1e-9


def test_the_assignment_is_the_best_of_all(judge: GroundingJudge) -> None:
    photo, caption = data.coffee(), "A cup of coffee with a spoon on a table."
    evidence = judge._image_tower.evidence([photo])[0]
    top = sorted(range(1000), key=lambda index: -evidence[index])[: judge._rubric.classes]
    texts = judge._class_texts.embeddings.numpy().astype(float)
    worth = []
    for phrase in find_nouns(caption):
        likeness = []
        for text in (phrase.head, phrase.text):
            cosines = texts @ judge._class_texts.tower.encode([text])[0].numpy()
            likeness.append((cosines - cosines.mean()) / (cosines.max() - cosines.mean()))
        weights = [(evidence[index] / max(evidence)) ** judge._rubric.root for index in top]
        best = np.max(likeness, axis=0)
        worth.append([max(best[index], 0) * weight for index, weight in zip(top, weights, strict=True)])
    # Every way to give four nouns different classes, among the eight classes that suit each noun best.
    choices = [sorted(range(len(top)), key=lambda column: -row[column])[:8] for row in worth]
    most = max(
        sum(row[column] for row, column in zip(worth, columns, strict=True))
        for columns in itertools.product(*choices)
        if len(set(columns)) == len(columns)
    )
    assert judge.score([photo], [caption])[0] == pytest.approx(10 * most / len(worth), abs=1e-4)


@pytest.mark.parametrize("noun", ["person", "woman", "man", "child"])
def test_what_people_wear_and_hold_is_seven_tenths_like_them_at_least(judge: GroundingJudge, noun: str) -> None:
    plain, likeness = _plain_likeness(judge, noun), judge._likeness(NounPhrase(noun, noun))
    names = np.array([each.name for each in judge._class_texts.classes])
    worn = np.isin(names, sorted(judge._rubric.people.classes))
    assert {"groom", "jersey", "ski", "Windsor tie", "cardigan"} <= set(names[worn])
    assert not {"Cardigan", "tabby", "school bus"} & set(names[worn])
    np.testing.assert_allclose(likeness[worn], np.maximum(plain[worn], 0.7), atol=1e-6)
    np.testing.assert_allclose(likeness[~worn], plain[~worn], atol=1e-6)
    assert plain[worn].min() < 0.5


@pytest.mark.parametrize("noun", ["firefighter", "pitcher", "dog", "jersey"])
def test_no_other_noun_is_like_what_people_wear(judge: GroundingJudge, noun: str) -> None:
    likeness = judge._likeness(NounPhrase(noun, noun))
    np.testing.assert_allclose(likeness, _plain_likeness(judge, noun), atol=1e-6)


def test_a_man_is_seen_where_a_woman_is(judge: GroundingJudge) -> None:
    man, woman, bus = judge.score([data.astronaut()] * 3, ["There is a man.", "There is a woman.", "There is a bus."])
    assert min(man, woman) > bus


def _plain_likeness(judge: GroundingJudge, text: str) -> np.ndarray:
    cosines = judge._class_texts.embeddings.numpy().astype(float) @ judge._class_texts.tower.encode([text])[0].numpy()
    likeness: np.ndarray = (cosines - cosines.mean()) / (cosines.max() - cosines.mean())
    return likeness


def test_what_is_shown_adds_up_to_the_score(judge: GroundingJudge) -> None:
    photo, caption = data.coffee(), "A cup of coffee with a spoon on a table."
    sight = judge.see(photo, caption)
    values = [value for _, value in sight.evidence]
    assert judge.score([photo], [caption])[0] == pytest.approx(10 * sum(values) / len(values))
    assert [label.split(" → ")[0] for label, _ in sight.evidence].count("coffee") == 1
    assert sight.prompt == "cup, coffee, spoon, table"


def test_a_caption_without_a_noun_is_missing_and_says_so(judge: GroundingJudge) -> None:
    with pytest.raises(PartlyScored, match="no noun was found in the caption") as caught:
        judge.score([data.chelsea()] * 2, ["It is very nice.", "A cat."])
    assert np.isnan(caught.value.scores).tolist() == [True, False]
    assert caught.value.errors == (coded("caption-no-noun", NO_NOUN), None)
    assert code_of(caught.value.errors[0]) == "caption-no-noun"
    assert meaning("caption-no-noun") == "the caption holds no noun that the judge could look for in the picture"
    assert "No noun was found" in judge.see(data.chelsea(), "It is very nice.").notes[0]


def test_more_nouns_than_classes_are_scored(judge: GroundingJudge) -> None:
    names = [each.name for each in judge._class_texts.classes[:60]]
    caption = ", ".join(f"a {name}" for name in names)
    assert len(find_nouns(caption)) > judge._rubric.classes
    (score,) = judge.score([data.chelsea()], [caption])
    assert 0 < score < 10
    assert any(label.endswith("no class left") for label, _ in judge.see(data.chelsea(), caption).evidence)


def test_the_judge_shares_its_image_tower_with_conse_lite0(judge: GroundingJudge) -> None:
    assert ConseLite0.load()._image_tower is judge._image_tower


def test_another_rubric_is_another_fingerprint(judge: GroundingJudge, tmp_path: Path) -> None:
    folder = tmp_path / "rubrics"
    shutil.copytree(assets_dir() / "rubrics", folder)
    text = folder / "grounding-judge.md"
    text.write_text(text.read_text(encoding="utf-8") + "\nOne more sentence.\n", encoding="utf-8")
    other = GroundingJudge(judge._image_tower, judge._class_texts, Rubric.read(folder))
    assert other.fingerprint.key != judge.fingerprint.key


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("classes = 30", ""),
        ("classes = 30", "classes = "),
        ("[matching]", "[matching]\nmore = 1"),
        ("[people]", "[crowd]"),
        ("likeness = 0.7", ""),
    ],
)
def test_a_rubric_with_a_slip_is_refused_with_its_folder(tmp_path: Path, old: str, new: str) -> None:
    folder = tmp_path / "rubrics"
    shutil.copytree(assets_dir() / "rubrics", folder)
    values = folder / "grounding-judge.toml"
    values.write_text(values.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"rubric in .* cannot be used"):
        Rubric.read(folder)


def test_a_rubric_that_names_no_class_is_refused_by_the_name(judge: GroundingJudge) -> None:
    rubric = Rubric.read()
    wrong = replace(rubric, people=replace(rubric.people, classes=frozenset({"jersey", "tricorne"})))
    with pytest.raises(InvalidInput, match="'tricorne', which is no class of ImageNet"):
        GroundingJudge(judge._image_tower, judge._class_texts, wrong)

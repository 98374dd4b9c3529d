"""VATEX-EVAL and ActivityNet-FOIL as they are read, and the ten lines of the documentation that convert pickles."""

import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.corpora.suites.model import ACCURACY, TAU_B_RATERS, with_references
from core.corpora.suites.suite_files import read_suite, with_companions
from core.errors import BadCorpus
from core.settings import ROOT

VIDEOS = ["v1", "v1", "v2"]
CANDIDATES = ["a  cat", "a dog", "a bird"]
REFERENCES = [["a cat", "the cat", "one cat"], ["a cat", "the cat", "one cat"], ["a crow", "the crow", "a crow"]]
HUMAN = np.array([[5, 1, 3], [4, 2, 3], [5, 1, 2]])


def vatex(folder: Path, **change: object) -> Path:
    held = {"video_ids": VIDEOS, "candidates": CANDIDATES, "references": REFERENCES, "human_scores": HUMAN.tolist()}
    path = folder / "vatex_eval.json"
    path.write_text(json.dumps(held | change))
    return path


def activitynet(folder: Path, *, references: bool = True) -> Path:
    """Two videos; of the second the foil has another number of sentences."""

    def entry(*sentences: str) -> list[dict[str, object]]:
        return [{"sentence": each, "timestamp": [0, 1]} for each in sentences]

    files: dict[str, object] = {
        "final_right_video_sentences.json": {"results": {"v1": entry("A cat sits.", "It runs."), "v2": entry("Dog.")}},
        "final_foil_video_sentences.json": {"results": {"v1": entry("A dog sits.", "It runs."), "v2": []}},
        "anet_entities_test_1.json": {
            "v1": {"duration": 40.0, "timestamps": [[0, 10.5], [10.5, 40]]},
            "v2": {"duration": 10.0, "timestamps": [[0, 10]]},
        },
    }
    if references:
        files["anet_entities_test_2.json"] = {
            "v1": {
                "duration": 40.0,
                "timestamps": [[0, 9], [6, 30]],
                "sentences": ["A cat is there.", "It flees."],
            }
        }
    folder.mkdir(exist_ok=True)
    for name, held in files.items():
        (folder / name).write_text(json.dumps(held))
    return folder / "final_right_video_sentences.json"


def test_vatex_has_a_rating_of_every_annotator_and_the_first_references(tmp_path: Path) -> None:
    suite = read_suite(vatex(tmp_path))
    assert (suite.name, suite.convention, suite.videos, suite.left_out) == ("VATEX-EVAL", TAU_B_RATERS, True, 0)
    assert [(each.image, each.rater, each.rating) for each in suite.rated[:3]] == [
        ("v1", "annotator 1", 5),
        ("v1", "annotator 2", 4),
        ("v1", "annotator 3", 5),
    ]
    assert np.array([each.rating for each in suite.rated]).reshape(3, 3).T.tolist() == HUMAN.tolist()
    assert suite.rated[0].references == ("the cat", "one cat")  # never the caption itself
    assert suite.rated[6].references == ("a crow", "the crow")
    one = with_references(suite, 1, draw=3)
    assert [each.references for each in one.rated[::3]] == [("the cat",), ("a cat",), ("a crow",)]
    assert next(each.count for each in suite.decisions if each.id == "own-reference") == 1


def test_an_entry_of_vatex_that_cannot_be_used_is_left_out_with_all_its_ratings(tmp_path: Path) -> None:
    people = HUMAN.tolist()
    people[1][0] = None
    suite = read_suite(vatex(tmp_path, human_scores=people, candidates=["a cat", " ", "a bird"]))
    assert (len(suite.rated), suite.left_out) == (3, 6)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"candidates": CANDIDATES[:2]}, "candidates has 2 entries for 3 captions"),
        ({"human_scores": HUMAN[:, :2].tolist()}, "human_scores of annotator 1 has 2 entries"),
        ({"human_scores": [3]}, "human_scores of annotator 1 has -1 entries"),
        ({"human_scores": []}, "human_scores has 0 entries"),
        ({"references": "none"}, "has no list 'references'"),
    ],
)
def test_lists_of_vatex_that_do_not_belong_together_are_refused(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    with pytest.raises(BadCorpus, match=said):
        read_suite(vatex(tmp_path, **change))


def test_a_pickle_is_refused_by_name_and_never_opened(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.touch, (tmp_path / "opened",)

    for name in ("candidates_list.pkl", "HUMAN_SCORES.PICKLE"):
        (tmp_path / name).write_bytes(pickle.dumps(Trap()))
        with pytest.raises(BadCorpus, match=r"never opened here; convert .* docs/video\.md"):
            read_suite(tmp_path / name)
    assert not (tmp_path / "opened").exists()


def test_the_ten_lines_of_the_documentation_make_the_file_that_is_read(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "video.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    held = {
        "candidates_list": np.array(CANDIDATES),
        "gts_list": np.array(REFERENCES),
        "video_ids": np.array(VIDEOS),
        "human_scores": HUMAN.reshape(-1),
    }
    for name, values in held.items():
        (tmp_path / f"{name}.pkl").write_bytes(pickle.dumps(values))
    (tmp_path / "convert.py").write_text(code)
    subprocess.run([sys.executable, "convert.py"], cwd=tmp_path, check=True)
    (tmp_path / "other").mkdir()
    assert read_suite(tmp_path / "vatex_eval.json").rated == read_suite(vatex(tmp_path / "other")).rated


def test_activitynet_is_read_sentence_by_sentence_with_parts_and_references(tmp_path: Path) -> None:
    path = activitynet(tmp_path / "anet")
    suite = read_suite(path)
    assert (suite.name, suite.convention, suite.videos, suite.left_out) == ("ActivityNet-FOIL", ACCURACY, True, 1)
    (pair,) = suite.compared
    assert (pair.image, pair.preferred, pair.other) == ("v1", "A cat sits. It runs.", "A dog sits. It runs.")
    first, second = pair.sentences
    assert (first.part, second.part) == ((0.0, 10.5 / 40), (10.5 / 40, 1.0))
    assert first.references == ("A cat is there.",)  # of seconds 6 to 30 five of 25 lie in it: too few
    assert second.references == ("It flees.",)
    assert suite.most_references == 1
    assert [each.name for each in with_companions([path])] == [
        "final_right_video_sentences.json",
        "final_foil_video_sentences.json",
        "anet_entities_test_1.json",
        "anet_entities_test_2.json",
    ]


def test_activitynet_without_the_other_paragraphs_has_no_reference_and_without_times_is_refused(tmp_path: Path) -> None:
    path = activitynet(tmp_path / "anet", references=False)
    assert read_suite(path).most_references == 0
    (path.parent / "anet_entities_test_1.json").write_text('{"v1": {"duration": 0, "timestamps": []}}')
    with pytest.raises(BadCorpus, match="no paragraph in common"):
        read_suite(path)
    (path.parent / "anet_entities_test_1.json").unlink()
    with pytest.raises(BadCorpus, match=r"anet_entities_test_1\.json cannot be read"):
        read_suite(path)

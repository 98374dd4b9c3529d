"""What a suite would cost is what is then done."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.corpora.suites import read_suite, with_references
from core.errors import InvalidInput
from core.evaluators.registry import find
from core.scoring.suite_scores import score_suite, suite_cost
from tests.analysis.suites.made import GROUPS, pascal_file
from tests.commands.conftest import EVALUATORS


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    for group in GROUPS[:3]:
        for number in range(12):
            Image.new("RGB", (8, 8), (10 * number, 0, 0)).save(folder / f"{group}{number}.jpg")
    return folder


def test_captions_pictures_and_what_is_missing_are_counted(tmp_path: Path, pictures: Path) -> None:
    suite = read_suite(pascal_file(tmp_path / "source"))
    counted = find(f"{EVALUATORS}:WordCount")
    cost = suite_cost(suite, [pictures], [find("conse-lite0"), find("blind-length"), find("refclipscore")])
    assert (cost.captions, cost.images, len(cost.missing)) == (72, 36, 12)
    assert set(cost.missing) == {f"MM{number}.jpg" for number in range(12)}
    dual, pairwise, referenced = cost.work
    assert (dual.draws, dual.inputs) == (1, 36)
    assert (pairwise.draws, pairwise.inputs) == (1, 72)
    assert (referenced.draws, referenced.inputs) == (5, 5 * 36)  # five draws of five of six references
    scores = score_suite(counted.load(), suite, [pictures])
    assert np.isfinite(scores.preferred).sum() + np.isfinite(scores.other).sum() == cost.captions
    assert cost.seconds({"conse-lite0": 0.5}) is None
    known = {"conse-lite0": 0.5, "blind-length": 0.25, "refclipscore": 1.0}
    assert cost.seconds(known) == pytest.approx(18 + 18 + 180)


def test_metrics_of_references_read_no_picture_and_need_references(tmp_path: Path, pictures: Path) -> None:
    suite = read_suite(pascal_file(tmp_path / "source"))
    cost = suite_cost(suite, [pictures], [find("blind-length")], words=("cider-d",))
    assert [(each.evaluator, each.draws, each.inputs) for each in cost.work] == [
        ("blind-length", 1, 72),
        ("cider-d", 5, 0),
    ]
    assert cost.seconds({"blind-length": 0.25}) == pytest.approx(18)
    with pytest.raises(InvalidInput, match="holds none"):
        suite_cost(with_references(suite, 0), [pictures], [], words=("cider-d",))


def test_a_folder_without_any_of_the_pictures_is_refused(tmp_path: Path) -> None:
    suite = read_suite(pascal_file(tmp_path / "source"))
    with pytest.raises(InvalidInput, match="none of the 48 pictures"):
        suite_cost(suite, [tmp_path], [find("blind-length")])

"""The README against the code: what it shows runs, and what it lists exists."""

import re
from pathlib import Path

import numpy as np

from core.evaluators import registry as evaluators
from core.evaluators.base import Evaluator
from core.features.feature import entries

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", README, flags=re.M | re.S)
    assert found, f"README has no section {title!r}"
    return found.group(1)


def test_the_evaluator_shown_can_be_found_by_path_and_scores(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", section("Add your own"), flags=re.S)
    path = tmp_path / "brightness.py"
    path.write_text(code, encoding="utf-8")
    found = evaluators.find(str(path)).load()
    assert isinstance(found, Evaluator)
    grey = np.full((4, 4, 3), 51, np.uint8)
    np.testing.assert_allclose(found.score([grey], ["anything"]), [0.2])


def test_the_pages_listed_are_those_of_the_menu_in_its_order() -> None:
    titles = [each.title for each in entries() if each.listed]
    for text in (section("The pages"), (ROOT / "docs" / "pages.md").read_text(encoding="utf-8")):
        assert re.findall(r"^\| \*\*(.*?)\*\* \|", text, flags=re.M) == titles


def test_the_evaluators_that_need_no_download_are_the_ones_named_so() -> None:
    free = {kind.spec.name for kind in evaluators.catalogue() if kind.spec.offline and kind.availability().ready}
    first = section("Evaluators").partition(".")[0]
    assert set(re.findall(r"`([^`]+)`", first)) == free

"""The README against the code: what it shows runs, and what it lists exists."""

import re
from pathlib import Path

import numpy as np
import pytest

from core.evaluators import registry as evaluators
from core.evaluators.base import Evaluator
from core.probes import registry as probes

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
    found = evaluators.find(f"{path}:Brightness").load()
    assert isinstance(found, Evaluator)
    grey = np.full((4, 4, 3), 51, np.uint8)
    np.testing.assert_allclose(found.score([grey], ["anything"]), [0.2])


def test_every_registered_evaluator_is_listed_and_every_listed_one_is_registered() -> None:
    listed = {
        name for row in re.findall(r"^\| (`.*?) \|", section("Evaluators"), flags=re.M) for name in row.split(", ")
    }
    assert {name.strip("`") for name in listed} == set(evaluators.catalogue().names())


def test_every_family_listed_is_registered() -> None:
    rows = re.findall(r"^\| (?:spatial|societal|null) \| (.*?) \|", section("Probes"), flags=re.M)
    listed = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert listed <= {probe.family for probe in probes.catalogue()}


def test_every_family_of_the_grid_is_listed() -> None:
    grid = {probe.family for probe in probes.catalogue() if probe.default and probe.family != "base"}
    assert grid <= set(re.findall(r"`([^`]+)`", section("Probes")))


@pytest.mark.parametrize("link", re.findall(r"\]\(((?!https?:)[^)#]+)\)", README))
def test_every_file_linked_is_there(link: str) -> None:
    assert (ROOT / link).is_file()


@pytest.mark.parametrize("target", re.findall(r"`?make (\w+)", README))
def test_every_make_target_named_exists(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M)

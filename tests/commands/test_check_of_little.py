"""Of a metric that shows too little, ``check`` says what it cannot tell and why; no interval has no width."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from core.analysis.facts import MAY_BE_TRUE, WHY
from core.corpora.registry import catalogue
from core.corpora.schema import Item
from core.errors import InvalidInput
from core.features.metric_check.check_command import _print
from core.features.metric_check.metric_check import check_metric
from core.probes.registry import select

METRICS = """
import numpy as np

def flat(image, caption):
    return 0.5

def bright(image, caption):
    return 0.2 + np.asarray(image).mean() / 255 + len(caption) / 200
"""
FEW, ONE, EQUAL = "n = 3, below 10", "of 1 source, below 10", "all values are equal"


@pytest.fixture(scope="module")
def items() -> Sequence[Item]:
    return catalogue().get("demo").load().items


@pytest.mark.parametrize(
    ("metric", "count", "source", "why"),
    [("bright", 3, None, FEW), ("bright", 12, "s", ONE), ("flat", 16, None, EQUAL), ("flat", 12, "s", ONE)],
)
def test_check_says_why_it_cannot_tell(
    items: Sequence[Item],
    metric: str,
    count: int,
    source: str | None,
    why: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    file = tmp_path / "little.py"
    file.write_text(METRICS)
    chosen = [replace(each, group=(source,)) if source else each for each in items]
    probes = select(("vertical-flip", "blur", "jumble"))
    report = check_metric(f"{file}:{metric}", chosen, probes, count=count, directional=True)
    _print(report)
    lines = capsys.readouterr().out.splitlines()
    rows = [each for each in lines if re.search(r"\b(null|blur)\b", each)]
    assert len(rows) == 4
    assert all(re.search(rf"{why}|below \d\d", each) for each in rows), rows
    assert any(why in each for each in rows)
    for low, high in re.findall(r"([\d.e+-]+) to ([\d.e+-]+)", "\n".join(lines[lines.index(rows[0]) :])):
        assert low != high
    undecided = {each.family for each in report.families if each.verdict == "undecided"}
    assert undecided == (set() if why == EQUAL else {"null", "vertical-flip", "blur"})


def test_one_item_is_no_check_and_the_error_says_how_many_are_needed(items: Sequence[Item], tmp_path: Path) -> None:
    file = tmp_path / "little.py"
    file.write_text(METRICS)
    with pytest.raises(InvalidInput, match="the corpus has 1 item with an English caption; at least 3 are needed"):
        check_metric(f"{file}:bright", items[:1], select(("blur",)), count=3)


def test_ends_that_two_digits_cannot_tell_apart_are_told_by_more(
    items: Sequence[Item], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "little.py"
    file.write_text(METRICS.replace("/ 200", "* 1000"))
    _print(check_metric(f"{file}:bright", items, select(("blur",)), count=12))
    assert not re.search(r"\b0\.00 to 0\.00\b", capsys.readouterr().out)


@pytest.mark.parametrize("named", [("vertical-flip",), ("vertical-flip", "cultural")])
def test_check_says_of_words_that_the_picture_may_support_them(
    items: Sequence[Item], named: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "little.py"
    file.write_text(METRICS)
    _print(check_metric(f"{file}:bright", items, select(named), count=3))
    said = " ".join("".join(capsys.readouterr()).split())
    assert (f"cultural: {MAY_BE_TRUE} is no known failure; {WHY}" in said) == ("cultural" in named)


def test_a_gap_that_one_item_does_not_tell_is_left_blank(
    items: Sequence[Item], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    file = tmp_path / "little.py"
    file.write_text(METRICS)
    _print(check_metric(f"{file}:bright", items, select(("vertical-flip", "gender")), count=3))
    said = capsys.readouterr().out
    assert "one item makes no pair" in said
    assert not re.search(r"\bnan\b.*one item makes no pair", said)

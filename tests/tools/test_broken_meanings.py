"""The tables of broken meanings against two runs whose scores are written by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from core.statistics.shares import share
from tests.analysis.broken_runs import write_broken
from tests.analysis.made_runs import score
from tools.broken_meanings import compared, tables

TOLD = {
    "masking": {"axis": "lexical", "family": "masking", "baseline": "identity", "expectation": "directional"},
    "masking:p0.8": {"axis": "lexical", "family": "masking", "baseline": "identity", "expectation": "directional"},
    "foil": {"axis": "semantic", "family": "foil", "baseline": "identity", "expectation": "directional"},
    "foil:2": {"axis": "semantic", "family": "foil", "baseline": "identity", "expectation": "directional"},
    "foil:3": {"axis": "semantic", "family": "foil", "baseline": "identity", "expectation": "directional"},
    "mention:2": {"axis": "object", "family": "mention", "baseline": "identity", "expectation": "response"},
    "vflip": {"axis": "spatial", "family": "vertical-flip", "baseline": "identity", "expectation": "invariant"},
}


def run(folder: Path, scores: Mapping[str, Sequence[float | None]], *, rank: int = 0) -> Path:
    rows = [
        score(f"i{place}", probe, value, subject="human", rank=rank, **TOLD.get(probe, {}))
        for probe, values in scores.items()
        for place, value in enumerate(values)
    ]
    return write_broken(folder, rows, refused=[("i0", "foil:2", "no-mention"), ("i0", "foil:3", "no-mention")])


@pytest.fixture
def halves(tmp_path: Path) -> list[Path]:
    """Two halves of a corpus whose items have the same names."""
    one = {
        "identity": [0.5, 0.5],
        "masking": [0.5, 0.4],
        "masking:p0.8": [0.1, 0.1],
        "foil": [0.6, 0.1],
        "foil:2": [0.6, 0.6],
        "foil:3": [0.4, 0.6],
        "mention:2": [0.5, 0.6],
        "vflip": [0.9, 0.9],
    }
    other: dict[str, list[float | None]]
    other = {"identity": [0.5, None], "masking": [0.7, 0.1], "masking:p0.8": [0.6, 0.1], "mention:2": [0.4, 0.9]}
    return [run(tmp_path / "one", one), run(tmp_path / "two", other)]


def said(hits: list[bool], groups: list[str] | None = None) -> str:
    found = share(hits, groups=groups)
    return f"{100 * found.estimate:.0f} ({100 * found.low:.0f}–{100 * found.high:.0f}; n {len(hits)})"


def test_rates_are_of_the_items_of_both_runs_ties_among_the_failures(halves: list[Path]) -> None:
    failures, readings, answers = tables(*compared(halves)).split("\n\n")
    assert failures.splitlines()[2:] == [
        f"| `masking` | {said([True, False, True])} | none |",
        f"| `foil` | {said([True, False])} | none |",
    ]
    siblings = said([True, False, True, True], ["i0", "i0", "i1", "i1"])
    assert readings.splitlines()[2:] == [
        f"| `masking:p0.8` | {said([False, False, True])} | none |",
        f"| `foil-siblings` | {siblings} | no-mention 2 by each |",
    ]
    assert answers.splitlines()[2:] == [f"| `mention:2` | {said([False, True, False])} | none |"]


def test_only_the_first_caption_of_an_item_counts(tmp_path: Path, halves: list[Path]) -> None:
    later = run(tmp_path / "later", {"identity": [0.5], "masking": [0.9]}, rank=1)
    assert tables(*compared([*halves, later])).split("\n\n")[0].splitlines()[2].startswith("| `masking` | 67 (")

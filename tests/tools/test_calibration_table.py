"""The tables of docs/calibration.md against the measurement that they are made of."""

from pathlib import Path

import pytest

from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.calibration.fit import fit
from core.calibration.measured import find
from core.calibration.measuring import Asked, measure
from core.evaluators.pool import Pool
from core.store.store import Store
from tests.calibration.corners import corner_run
from tools.calibration_table import BEGIN, CHOICES, END, PAPER, calibrations, tables

FLIPS = ("vertical-flip", "horizontal-flip")


def test_a_table_holds_what_was_measured_and_is_refused_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path))
    run = corner_run(tmp_path)
    with pytest.raises(SystemExit, match="orbit was not measured"):
        calibrations(run.path, "corner", FLIPS)
    with Store.open(run.path) as store:
        found = fit(read_table(store).view(Slice(families=FLIPS)), evaluator="corner", reading="orbit")
        measure(Asked(store.runs()[0], found, "human", "en"), pool=Pool(100, "cpu"))
        own, _ = find(found, store.runs()[0], subject="human", language="en")
    assert own is not None
    made = tables(calibrations(run.path, "corner", FLIPS))
    assert own.choice is not None
    row = own.effect(own.choice.strength).set_index(["measure", "name"]).loc[("sensitivity", "vertical-flip")]
    line = next(line for line in made.splitlines() if line.startswith("| `orbit` |") and "vertical-flip" in line)
    assert f"{row['after']:.4f} [{row['after_low']:.4f}, {row['after_high']:.4f}]" in line
    assert f"**{row['ratio']:.3f} [" in line
    assert f"| {row['n']} |" in line
    assert f"| `orbit` | {own.choice.strength:g}, chosen on dev, measured |" in made
    assert made.count("mean of these") == len(CHOICES)


def test_the_document_has_a_place_for_the_tables_and_they_are_filled() -> None:
    text = PAPER.read_text(encoding="utf-8")
    inside = text.split(BEGIN)[1].split(END)[0]
    for name in ("`shift`", "`quantile`", "`orbit`", "`orbit`, weights `each`"):
        assert inside.count(f"\n| {name} |") == 5  # three families, their mean, and the correlations

"""Answers that are kept are those of the view that asks: whatever was looked at before changes none."""

from dataclasses import replace

import pandas as pd
import pytest

from core.analysis.effects import effects, family_groups
from core.analysis.flip_cells import IQR, cell_curves, cell_risks, evident_gaps, shift_cells
from core.analysis.reading import read_table
from core.analysis.scores import Memo
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.store.store import Store

FAMILIES = ("rotation", "null")
SLICES = {
    "everything": Slice(families=FAMILIES),
    "whole objects": Slice(families=FAMILIES, whole=True),
    "falling": Slice(families=FAMILIES, sign="down"),
    "inside the crop": Slice(families=FAMILIES, inside=(0.95, 1.0)),
    "animals": Slice(families=FAMILIES, categories=("animal",)),
    "one bin": Slice(families=FAMILIES, coverage_bins=("10-20",)),
    "two probes": Slice(families=FAMILIES, probes=("rotate+10", "rotate-10", "null:jpeg95")),
    "one evaluator": Slice(families=FAMILIES, evaluators=("conse-lite2",)),
}


@pytest.fixture(scope="module")
def table(store: Store) -> ScoreTable:
    return read_table(store)


def answers(table: ScoreTable, chosen: Slice) -> dict[str, pd.DataFrame]:
    view = table.view(chosen)
    cells = shift_cells(view)
    return {
        "effects": effects(view, family_groups(view)),
        "risks": cell_risks(cells, gaps=(0.007,), unit=IQR),
        "evident": evident_gaps(cells),
        "curves": cell_curves(cells, gaps=(0.01, 0.1), unit=IQR),
    }


def test_every_filter_gives_what_a_table_gives_that_nobody_asked_before(table: ScoreTable) -> None:
    fresh = {name: answers(replace(table, kept=Memo()), chosen) for name, chosen in SLICES.items()}
    for _ in range(2):  # the second time everything is kept
        for name, chosen in SLICES.items():
            for what, found in answers(table, chosen).items():
                pd.testing.assert_frame_equal(found, fresh[name][what], obj=f"{what} of {name}")
    for what, everything in fresh["everything"].items():
        for name in list(SLICES)[1:]:
            assert not everything.equals(fresh[name][what]), f"{name} changes nothing: {what} cannot tell it apart"

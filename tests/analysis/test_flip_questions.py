"""What the questions on flip risk say beside their numbers."""

from pathlib import Path

import pytest

from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.features.flips.flip_questions import _by_gap_said
from core.store.store import Store
from tests.analysis.made_runs import scores_of, write_run


@pytest.mark.parametrize(
    ("scale", "iqr", "said"),
    [
        ("", "", ""),
        ("few", "few", "few"),
        ("few", "few; flat", "few; gap of 0.7 % of the IQR: flat"),
        ("far", "", "gap of 0.7 % of the scale: far"),
    ],
)
def test_a_remark_names_the_gap_that_it_speaks_of(scale: str, iqr: str, said: str) -> None:
    assert _by_gap_said(scale, iqr) == said


def test_scores_without_spread_have_a_remark_on_the_gap_in_their_iqr_alone(tmp_path: Path) -> None:
    rows = scores_of(["identity", "vflip"], 80, lambda probe, item: 0.5 if probe == "identity" else 0.4 + item / 400)
    with Store.open(write_run(tmp_path / "r", rows)) as store:
        table = read_table(store)
        question = next(each for each in catalogue(table) if each.id == "T13")
        notes = question.compute(table.view(), Options())["note"]
    assert len(notes)
    assert notes.str.contains("gap of 0.7 % of the IQR: ", regex=False).all()

"""Where a score leaves its margin along the strength of an edit: against the raw rows, and in words."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.questions import Options, Question, catalogue
from core.analysis.reading import read_table
from core.store.store import Store
from tests.analysis.made_runs import raw, score, write_run

ANGLES = (1, 2, 5, 10, 20)
QUALITIES = (95, 75, 40)


def swept(sizes: dict[float, float], *, items: int = 40, family: str = "rotation", fact: str = "degrees") -> list[dict]:
    """An audit whose items move by so many percent, a little more or less, at each strength."""
    rng, rows = np.random.default_rng(5), []
    for place in range(items):
        item, clean = f"i{place:02d}", float(rng.uniform(0.4, 0.8))
        rows.append(score(item, "identity", clean))
        rows.append(score(item, "null:shift1", clean * 1.001))
        for strength, percent in sizes.items():
            moved = clean * (1 + percent * rng.uniform(0.9, 1.1) * rng.choice((-1, 1)) / 100)
            about = {"axis": "spatial", "family": family, "baseline": "identity"}
            rows.append(score(item, f"{family}:{fact}{strength:g}", moved, **about))
    return rows


def asked(folder: Path, rows: list[dict], id_: str, options: Options = Options()) -> pd.DataFrame:  # noqa: B008
    write_run(folder / "r", rows, corpus={"name": "c"})
    with Store.open(folder) as store:
        table = read_table(store)
        question = next(each for each in catalogue(table) if each.id == id_)
        assert not question.needs(table)
        return question.compute(table.view(), options)


RISING = dict(zip(ANGLES, (0.2, 0.4, 0.8, 2.0, 6.0), strict=True))


def test_the_strength_at_which_the_margin_is_left_is_read_off_the_raw_medians(tmp_path: Path) -> None:
    row = asked(tmp_path, swept(RISING), "S31").iloc[0]
    wide = raw(tmp_path / "r").pivot_table(index="item", columns="probe", values="score")
    sizes = [float((100 * (wide[f"rotation:degrees{at}"] / wide["identity"] - 1)).abs().median()) for at in ANGLES]
    assert row["crossing"] == pytest.approx(np.interp(1.0, sizes, ANGLES))
    assert row["crossing_low"] <= row["crossing"] <= row["crossing_high"]
    assert (row["within"], row["beyond"], row["n_items"]) == (5.0, 10.0, 40)
    assert row["said"] == "beyond the margin from 10° on"


def test_each_strength_has_its_row_in_rising_order(tmp_path: Path) -> None:
    found = asked(tmp_path, swept(RISING), "S31-rotation")
    assert list(found["label"]) == list(ANGLES)
    assert list(found["n_items"]) == [40] * 5
    assert (found["m_tests"] == 5).all()
    assert found["median_abs_percent"].is_monotonic_increasing
    assert list(found["null_median"]) == pytest.approx([0.1] * 5)


def test_a_quality_does_more_the_lower_it_is(tmp_path: Path) -> None:
    rows = swept(dict(zip(QUALITIES, (0.1, 0.5, 3.0), strict=True)), family="compression", fact="quality")
    row = asked(tmp_path, rows, "S31").iloc[0]
    assert 40 < row["crossing"] < 75
    assert row["crossing_low"] <= row["crossing"] <= row["crossing_high"]
    assert (row["within"], row["beyond"]) == (75.0, 40.0)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ((3, 4, 5, 6, 7), "beyond the margin at 1° already, the least that was tried"),
        ((0.1, 0.2, 0.3, 0.4, 0.5), "within the margin up to 20°, the most that was tried"),
    ],
)
def test_a_margin_that_is_never_or_always_left_has_no_crossing(
    tmp_path: Path, sizes: tuple[float, ...], said: str
) -> None:
    row = asked(tmp_path, swept(dict(zip(ANGLES, sizes, strict=True))), "S31").iloc[0]
    assert np.isnan(row["crossing"])
    assert (row["said"], row["power"]) == (said, "")


def test_few_items_are_shown_neither_way(tmp_path: Path) -> None:
    row = asked(tmp_path, swept(dict.fromkeys(ANGLES, 0.9), items=6), "S31").iloc[0]
    assert row["said"] == "not shown to leave the margin up to 20°, nor to stay within it"
    assert row["power"] == ""  # six items have no interval that would tell


def test_a_strength_that_is_shown_neither_way_says_what_would_have_shown(tmp_path: Path) -> None:
    row = asked(tmp_path, swept(dict.fromkeys(ANGLES, 1.0), items=12), "S31").iloc[0]
    assert row["said"] == "not shown to leave the margin up to 20°, nor to stay within it"
    assert "% on would have shown" in row["power"]


def test_the_margin_is_the_readers(tmp_path: Path) -> None:
    wide = asked(tmp_path, swept(RISING), "S31", Options(margin=3.0)).iloc[0]
    assert 10 < wide["crossing"] < 20


def test_the_points_are_no_part_of_their_family_and_three_make_a_curve(tmp_path: Path) -> None:
    write_run(tmp_path / "r", swept(RISING), corpus={"name": "c"})
    with Store.open(tmp_path) as store:
        table = read_table(store)
        assert list(table.families()) == ["null"]
        figure = _of(catalogue(table), "S31-rotation").figures[0]
        assert figure.figure(_of(catalogue(table), "S31-rotation").compute(table.view(), Options())).along.unit == "°"
    write_run(tmp_path / "two", swept({1: 0.2, 5: 3.0}), corpus={"name": "d"})
    with Store.open(tmp_path / "two") as store:
        table = read_table(store)
        question = _of(catalogue(table), "S31")
        assert "--probes strength-sweep does" in question.needs(table)
        assert question.compute(table.view(), Options()).empty


def _of(questions: tuple[Question, ...], id_: str) -> Question:
    return next(each for each in questions if each.id == id_)

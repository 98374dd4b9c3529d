"""Drops along the strength of an edit, and where a score leaves its margin: worked out anew from the stored rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.questions import Options, Question, catalogue
from core.analysis.reading import read_table
from core.analysis.table import ScoreTable
from core.store.store import Store
from tests.analysis.broken_runs import facts_of, write_broken
from tests.analysis.made_runs import raw, score, write_run

POINTS = {"hidden": "0.4", "hidden:p0.1": "0.1", "hidden:p0.8": "0.8", "hidden:printed": "0.4", "hidden:draw2": "0.4"}
ITEMS = 20


def rows() -> list[dict[str, object]]:
    rng, found = np.random.default_rng(5), []
    clean = rng.uniform(0.4, 0.9, ITEMS)
    for name in ("identity", *POINTS, "few", "few:p0.1"):
        told = (
            {}
            if name == "identity"
            else {
                "axis": "lexical",
                "family": name.partition(":")[0],
                "baseline": "identity",
                "expectation": "directional",
            }
        )
        drop = float(POINTS.get(name, 0)) * 0.2
        found += [
            score(f"i{place:03d}", name, float(clean[place] - rng.normal(drop, 0.02)), subject="human", **told)
            for place in range(ITEMS)
        ]
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    facts = [fact for name, share in POINTS.items() for fact in facts_of([name], {"share": [share]}, items=ITEMS)]
    facts += facts_of(["hidden:printed"], {"algorithm": ["printed"]}, items=ITEMS)
    facts += facts_of(["hidden:draw2"], {"draw": ["2"]}, items=ITEMS)
    facts += [
        fact
        for name, share in (("few", "0.4"), ("few:p0.1", "0.1"))
        for fact in facts_of([name], {"share": [share]}, items=ITEMS)
    ]
    return write_broken(tmp_path_factory.mktemp("runs") / "r", rows(), facts=facts)


def answer(folder: Path, id_: str) -> tuple[Question, ScoreTable]:
    with Store.open(folder) as store:
        table = read_table(store)
    return next(each for each in catalogue(table) if each.id == id_), table


def test_a_curve_has_a_point_a_strength_and_each_is_the_median_change_of_its_items(folder: Path) -> None:
    question, table = answer(folder, "C-sweep")
    assert question.needs(table) == ""
    frame = question.compute(table.view(), Options())
    wide = raw(folder).pivot_table(index="item", columns="probe", values="score", aggfunc="first")
    assert list(zip(frame["family"], frame["label"], strict=True)) == [
        ("hidden", 0.1),
        ("hidden", 0.4),
        ("hidden", 0.8),
    ]
    for row, name in zip(frame.to_dict("records"), ("hidden:p0.1", "hidden", "hidden:p0.8"), strict=True):
        change = 100 * (wide[name] - wide["identity"]) / wide["identity"]
        assert row["median_percent"] == pytest.approx(change.median())
        assert row["failure"] == pytest.approx(100 * (wide[name] >= wide["identity"]).mean())
    assert frame["median_percent"].is_monotonic_decreasing
    figure = question.figures[0].figure(frame)
    assert figure.frame["label"].tolist() == [0.1, 0.4, 0.8]
    assert pd.api.types.is_numeric_dtype(figure.frame["label"])


def test_fewer_strengths_make_no_curve(tmp_path: Path) -> None:
    some = [row for row in rows() if row["probe"] in ("identity", "few", "few:p0.1")]
    question, table = answer(write_broken(tmp_path / "r", some), "C-sweep")
    assert "no edit here was made at several strengths" in question.needs(table)


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
        assert "--probes strength-sweep" in question.needs(table)
        assert question.compute(table.view(), Options()).empty


def _of(questions: tuple[Question, ...], id_: str) -> Question:
    return next(each for each in questions if each.id == id_)

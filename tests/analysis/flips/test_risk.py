"""Cells of flip risk, and the gaps that are evidence, against every cell worked out on its own from the raw rows."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.flip_cells import (
    IQR,
    REVERSED,
    SCALE,
    UNITS,
    cell_curves,
    cell_risks,
    evident_gaps,
    middle_gap,
    shift_cells,
)
from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.analysis.table import View
from core.errors import InvalidInput
from core.features.flips.flip_questions import _by_gap_said
from core.statistics.flip_risk import GAPS, intervals_of
from core.statistics.shift_pairs import ShiftPairs
from core.store.store import Store
from tests.analysis import two_sources
from tests.analysis.made_runs import raw, scores_of, shifts, write_run


@pytest.fixture(scope="module")
def view(store: Store) -> View:
    return read_table(store).view()


def view_of(folder: Path, *runs: list[dict]) -> View:
    for place, rows in enumerate(runs):
        write_run(folder / f"r{place}", rows)
    with Store.open(folder) as store:
        return read_table(store).view()


def two_scales(probe: str, item: int) -> float:
    return item / 10 + {"identity": 0.0, "rotate-5": 0.03, "rotate+5": -0.02}[probe] * (item % 7)


def one_by_one(scores: pd.DataFrame, gap: float, unit: str, sources: pd.Series | None = None) -> pd.DataFrame:
    """Every cell on its own, with pandas: the spread is that of the unedited pairs' scores."""
    rows = shifts(scores)
    rows = rows[(rows["expectation"] == "invariant") & (~rows["control"].astype(bool) | (rows["axis"] == "null"))]
    clean = scores[scores["probe"] == "identity"].groupby(["evaluator", "corpus"])["score"]
    spread = clean.quantile(0.75) - clean.quantile(0.25)
    found = []
    for (evaluator, corpus, family), cell in rows.groupby(["evaluator", "corpus", "family"]):
        d = gap * (spread[evaluator, corpus] if unit == IQR else SPANS.get(evaluator, 1.0))
        names = cell["item"].astype("category")
        owners = None if sources is None else two_sources.numbers(names.cat.categories)
        pairs = ShiftPairs(cell["delta"].to_numpy(dtype=float), names.cat.codes.to_numpy(), owners)
        risk = intervals_of(pairs, [d])[0]
        counts = cell["delta"].count(), cell["delta"].isna().sum()
        found.append((evaluator, corpus, family, d, risk.estimate, risk.low, risk.high, risk.n, *counts, risk.note))
    return pd.DataFrame(found, columns=COLUMNS)


SPANS = {"grounding-judge": 10.0}
"""From the lowest to the highest score that an evaluator can give, where it is not 1."""

COLUMNS = ["evaluator", "corpus", "family", "d", "risk", "low", "high", "n_items", "n_shifts", "n_missing", "note"]


def of_the_risk(found: pd.DataFrame) -> pd.DataFrame:
    """COLUMNS, without what a note says of the risk less the null family's."""
    return found[COLUMNS].assign(
        note=found["note"].str.replace(r"(; )?(less null: .*|the floor itself)$", "", regex=True)
    )


@pytest.mark.parametrize("unit", UNITS)
def test_cells_of_the_table_are_the_cells_one_by_one(view: View, unit: str) -> None:
    found = cell_risks(shift_cells(view), gaps=(0.007,), unit=unit)
    of = raw(table="items").set_index("item")
    sources = of["item_group"].fillna(of["pixels_sha256"]) if "item_group" in of else of["pixels_sha256"]
    expected = one_by_one(raw(), 0.007, unit, sources)
    pd.testing.assert_frame_equal(of_the_risk(found), expected, check_dtype=False, rtol=1e-12)
    assert set(found.loc[found["family"] == "null", "note"]) == {"the floor itself"}
    lacking = found[found["over_low"].isna() & (found["family"] != "null")]
    assert lacking["note"].str.contains("less null: no interval: ").all()
    assert set(found["family"]) >= {"null", "rotation", "cultural"}
    assert not {"blur", "base"} & set(found["family"])
    drawn = cell_curves(shift_cells(view), gaps=(0.007,), unit=unit)
    pd.testing.assert_frame_equal(drawn, found[list(drawn.columns)])


def test_two_corpora_have_cells_and_spreads_of_their_own(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    rows = [
        scores_of(
            ["identity", "vflip", "rotate-5", "rotate+5"],
            n,
            lambda *_, scale=scale: scale * rng.normal(),
            corpus=corpus,
        )
        for corpus, n, scale in (("c", 60, 1.0), ("d", 20, 10.0))
    ]
    for row in rows[0][70:90]:
        row["score"] = None
    view = view_of(tmp_path / "runs", *rows)
    scores = pd.concat([raw(tmp_path / "runs" / run) for run in ("r0", "r1")])
    found = cell_risks(shift_cells(view), gaps=(0.4,), unit=IQR)
    expected = one_by_one(scores, 0.4, IQR)
    pd.testing.assert_frame_equal(of_the_risk(found), expected, check_dtype=False, rtol=1e-12)
    assert found["note"].str.endswith("less null: no invisible edit was scored on these items").all()
    assert set(found["corpus"]) == {"c", "d"}


def test_cells_carry_their_gaps_counts_and_intervals(tmp_path: Path) -> None:
    rows = scores_of(["identity", "rotate-5", "rotate+5"], 60, two_scales)
    rows[-1]["score"] = None
    found = cell_risks(shift_cells(view_of(tmp_path, rows)), gaps=(0.1, 0.5)).set_index("gap")
    cell = found.loc[0.5]
    assert (cell["d"], cell["n_items"], cell["n_shifts"], cell["n_missing"]) == (0.5, 60, 119, 1)
    assert cell["low"] <= cell["risk"] <= cell["high"]


def test_a_gap_as_a_share_of_the_interquartile_range_does_not_know_the_scale(tmp_path: Path) -> None:
    rows = [
        row
        for scale in (1, 128)
        for row in scores_of(
            ["identity", "rotate-5", "rotate+5"],
            30,
            lambda *pair, scale=scale: scale * two_scales(*pair),
            evaluator=f"times {scale}",
        )
    ]
    found = cell_risks(shift_cells(view_of(tmp_path, rows)), gaps=(0.05,), unit=IQR)
    found = found.set_index("evaluator")
    assert found.loc["times 128", "d"] == pytest.approx(128 * found.loc["times 1", "d"])
    assert found.loc["times 128", "risk"] == found.loc["times 1", "risk"] > 0


def test_the_spread_is_that_of_the_corpus_whatever_the_slice(view: View) -> None:
    for chosen in (Slice(categories=("animal",)), Slice(families=("gender",)), Slice(sign="down")):
        whole = {(cell.evaluator, cell.family): cell.spread for cell in shift_cells(view)}
        part = shift_cells(view.table.view(chosen))
        assert part
        assert all(whole[cell.evaluator, cell.family] == cell.spread for cell in part)


def test_a_slice_leaves_its_own_shifts_in_the_cells(view: View) -> None:
    chosen = Slice(categories=("animal",), families=("rotation",), evaluators=("conse-lite0",))
    (cell,) = shift_cells(view.table.view(chosen))
    rows = shifts(raw())
    own = rows[(rows["category"] == "animal") & (rows["family"] == "rotation") & (rows["evaluator"] == "conse-lite0")]
    counts = cell.shifts.counts
    assert (counts.n_shifts, counts.n_items) == (own["delta"].count(), own["item"].nunique())


def test_the_usual_gaps_are_those_of_the_paper_on_the_scale_of_the_score(view: View) -> None:
    found = cell_risks(shift_cells(view.of("conse-lite0")))
    assert sorted(found["gap"].unique()) == list(GAPS) == [0.003, 0.005, 0.007, 0.010]
    assert (found["d"] == found["gap"]).all()
    judge = cell_risks(shift_cells(view.of("grounding-judge")))
    assert judge["d"].tolist() == pytest.approx((10 * judge["gap"]).tolist())


def test_the_middle_gap_is_the_median_of_the_families_gaps_of_evidence(view: View) -> None:
    cells = shift_cells(view)
    gaps = evident_gaps(cells)
    own = gaps[(gaps["axis"] != "null") & (gaps["of_iqr"] > 0)]
    assert middle_gap(cells, unit=IQR) == pytest.approx(own["of_iqr"].median() / 100)
    assert math.isnan(middle_gap((), unit=IQR))


def test_an_unknown_unit_is_refused(view: View) -> None:
    cells = shift_cells(view.of("conse-lite0"))
    for ask in (cell_risks, cell_curves):
        with pytest.raises(InvalidInput, match=r"scale, interquartile range, got 'percent'"):
            ask(cells, unit="percent")


def test_no_shift_makes_no_row_and_every_column(view: View) -> None:
    assert shift_cells(view.table.view(Slice(categories=("nothing",)))) == ()
    assert list(cell_risks(()).columns)[-1] == "note"
    assert cell_curves(()).empty


def test_a_cell_without_a_score_says_so(tmp_path: Path) -> None:
    rows = scores_of(["identity", "vflip"], 3, lambda probe, item: 0.5 if probe == "identity" else None)
    found = cell_risks(shift_cells(view_of(tmp_path, rows)), unit=SCALE).iloc[0]
    assert math.isnan(found["risk"])
    assert (found["n_items"], found["n_shifts"], found["n_missing"], found["note"]) == (0, 0, 3, "no shifts")


@pytest.mark.parametrize("score_range", [[0.0, None], [0.0], None])
def test_a_scale_without_a_bound_has_no_gap_in_its_own_units_and_says_so(
    tmp_path: Path, score_range: list | None
) -> None:
    spec = {} if score_range is None else {"score_range": score_range}
    rows = scores_of(["identity", "vflip"], 30, lambda probe, item: item / 10 + (probe == "vflip") * (item % 3))
    write_run(tmp_path / "r", rows, evaluators=[{"name": "e", "spec": spec}])
    with Store.open(tmp_path) as store:
        cells = shift_cells(read_table(store).view())
    own, share = (cell_risks(cells, gaps=(0.1,), unit=unit).iloc[0] for unit in UNITS)
    assert math.isnan(own["risk"])
    assert "no upper bound" in own["note"]
    assert share["risk"] > 0
    assert cell_curves(cells, unit=SCALE)["risk"].isna().all()


def test_every_risk_stands_beside_that_of_edits_that_nobody_can_see(view: View) -> None:
    found = cell_risks(shift_cells(view), gaps=(0.007,), unit=IQR).set_index(["evaluator", "family"])
    for evaluator in view.evaluators:
        floor = found.loc[(evaluator, "null"), "risk"]
        own = found.loc[evaluator].drop(index="null")
        assert (own["null_risk"] == floor).all()
        np.testing.assert_allclose(own["over"], own["risk"] - floor)
        known = own.dropna(subset=["over_low"])
        assert len(known) >= 6
        assert ((known["over_low"] < known["over"]) & (known["over"] < known["over_high"])).all()
    assert found.xs("null", level="family")["over"].isna().all()
    rotated = cell_risks(shift_cells(view.table.view(Slice(families=("rotation",)))), gaps=(0.007,), unit=IQR)
    assert rotated["null_risk"].tolist() == found.xs("null", level="family")["risk"].tolist()


def test_gaps_of_evidence_are_what_the_raw_rows_give(view: View) -> None:
    found = evident_gaps(shift_cells(view)).set_index(["evaluator", "family"])
    rows = shifts(raw())
    clean = raw()[lambda frame: frame["probe"] == "identity"].groupby("evaluator")["score"]
    for evaluator, family in [("conse-lite0", "vertical-flip"), ("grounding-judge", "horizontal-flip")]:
        delta = rows[(rows["evaluator"] == evaluator) & (rows["family"] == family)]["delta"].dropna().to_numpy(float)
        apart = np.sort((delta[:, None] - delta[None, :])[~np.eye(len(delta), dtype=bool)])
        expected = next(gap for gap in np.unique(apart[apart >= 0]) if (apart > gap).mean() < 0.05)
        row = found.loc[(evaluator, family)]
        assert row["d"] == pytest.approx(expected, rel=1e-6)
        quarters = clean.get_group(evaluator).quantile([0.25, 0.75])
        assert row["of_iqr"] == pytest.approx(100 * expected / (quarters[0.75] - quarters[0.25]), rel=1e-6)
        assert row["of_sd"] == pytest.approx(100 * expected / clean.get_group(evaluator).std(), rel=1e-6)
        assert row["low"] < row["d"] < row["high"]
        pictures = "captions of two different pictures"
        assert row["said"] == f"differences below {expected:.3g} between {pictures} are {REVERSED}"
        assert row["null_d"] == found.loc[(evaluator, "null"), "d"]


@pytest.mark.parametrize(
    ("shift", "said"),
    [
        (lambda item: 0.0, f"no difference between captions of two different pictures is {REVERSED}"),
        (lambda item: 9.0 * (item % 2), "all differences between captions of two"),
        (lambda item: 0.01 * (item % 5), "differences below 0.0"),
    ],
)
def test_a_gap_that_is_nothing_or_more_than_the_scores_have_is_said_in_words(
    tmp_path: Path, shift: Callable[[int], float], said: str
) -> None:
    rows = scores_of(["identity", "vflip"], 24, lambda probe, item: item / 10 + (probe == "vflip") * shift(item))
    found = evident_gaps(shift_cells(view_of(tmp_path, rows))).iloc[0]
    assert found["said"].startswith(said)
    assert math.isnan(found["low"])
    assert found["note"] == "no interval (n = 24, below 72)"
    assert math.isnan(found["null_d"])


def test_items_of_one_source_widen_the_interval_of_a_risk(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    own = rng.normal(size=70)
    rows = scores_of(
        ["identity", "vflip"], 210, lambda probe, item: 5.0 + (probe == "vflip") * (own[item % 70] + 0.1 * rng.normal())
    )
    items = [{"corpus": "c", "item": f"i{place:03d}", "item_group": f"cut-out {place % 70}"} for place in range(210)]
    widths = []
    for name, known in (("alone", None), ("together", items)):
        write_run(tmp_path / name / "r", rows, items=known)
        with Store.open(tmp_path / name) as store:
            row = cell_risks(shift_cells(read_table(store).view()), gaps=(0.5,)).iloc[0]
        widths.append((row["risk"], row["high"] - row["low"]))
    assert widths[0][0] == widths[1][0]
    assert widths[1][1] > 1.4 * widths[0][1]


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

"""Artifact filters on composites whose diagnostics are known."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.questions import Options, catalogue
from core.analysis.questions.artefacts import (
    NOTHING,
    SAME,
    TURNED,
    UNCLEAR,
    UNMEASURED,
    USUAL,
    beside,
    direction,
    filtered_moves,
    untold,
)
from core.analysis.reading import read_table
from core.errors import InvalidInput
from core.statistics.bootstrap import Interval, median_bca
from core.statistics.changes import percent_change
from core.store.store import Store
from tests.analysis.made_runs import raw, score, write_run

Composites = tuple[np.ndarray, dict[str, np.ndarray]]


def composites(n: int = 40) -> Composites:
    """Scores of both places, [2, n], and diagnostics: seam rising, background falling from item to item."""
    order = np.arange(n, dtype=np.float64)
    scores = np.array([np.ones(n), 1.0 + np.random.default_rng(0).uniform(0, 0.1, n)])
    return scores, {"seam_energy": np.array([order, order]), "bg_delta": np.array([n - order, n - order])}


def filtered(scores: np.ndarray, measured: dict[str, np.ndarray], **how: object) -> pd.DataFrame:
    return pd.DataFrame(filtered_moves(scores, measured, **how))  # type: ignore[arg-type]


def test_the_unfiltered_row_is_the_contrast_of_the_two_places() -> None:
    scores, measured = composites()
    found = filtered(scores, measured).iloc[0]
    expected = median_bca(100 * (scores[1] - 1.0))
    assert (found["filter"], found["median_percent"]) == ("none", pytest.approx(expected.estimate))
    assert (found["low"], found["n_items"]) == (pytest.approx(expected.low), 40)


def test_filters_drop_the_top_share_of_the_composites() -> None:
    found = filtered(*composites()).set_index(["filter", "q"])
    assert found["cut_items"].to_dict() == {
        ("none", 0): 0,
        ("seam", 5): 2,
        ("seam", 10): 4,
        ("background", 5): 2,
        ("background", 10): 4,
        ("fill", 5): 0,
        ("fill", 10): 0,
        ("seam or fill", 5): 2,
        ("seam or fill", 10): 4,
    }
    assert set(found["direction"]) == {SAME, UNMEASURED}
    assert set(found.loc[["fill"], "direction"]) == {UNMEASURED}


def test_dropping_what_carries_the_effect_shows() -> None:
    scores, measured = composites()
    scores[1] = np.where(measured["seam_energy"][1] >= 19, 2.0, 0.5)
    found = filtered(scores, measured, shares=(10,)).set_index("filter")
    assert (found.loc["none", "median_percent"], found.loc["seam", "median_percent"]) == (100.0, -50.0)
    assert found.loc["seam", "low"] < 0 < found.loc["seam", "high"]
    assert found.loc["seam", "direction"] == UNCLEAR


@pytest.mark.parametrize(
    ("whole", "found", "said"),
    [
        ((-1.88, -3.74, -0.22), (-0.41, -2.26, 0.89), UNCLEAR),
        ((-1.88, -3.74, -0.22), (-0.41, -2.26, -0.01), SAME),
        ((-1.88, -3.74, -0.22), (0.41, 0.01, 0.9), TURNED),
        ((-0.41, -2.26, 0.89), (-1.88, -3.74, -0.22), SAME),
        ((-1.88, -3.74, -0.22), (-0.41, math.nan, math.nan), UNCLEAR),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), UNCLEAR),
        ((0.0, -1.0, 1.0), (0.4, 0.1, 0.9), UNCLEAR),
        ((-1.88, -3.74, -0.22), (math.nan,) * 3, ""),
    ],
)
def test_a_direction_is_the_same_only_where_the_interval_shows_it(
    whole: tuple[float, float, float], found: tuple[float, float, float], said: str
) -> None:
    one, other = (Interval(*each, 40, 0.95) for each in (found, whole))
    assert direction(one, other) == said
    assert ("would have shown" in untold(one, other)) == (said == UNCLEAR and found[1] < 0 < found[2])


def test_a_direction_turns_only_where_its_interval_lies_on_the_other_side() -> None:
    scores, measured = composites()
    scores[1] = np.where(measured["seam_energy"][1] >= 19, 2.0, 0.5) * np.linspace(0.99, 1.01, scores.shape[1])
    found = filtered(scores, measured, shares=(60,)).set_index("filter").loc["seam"]
    assert found["high"] < 0
    assert found["direction"] == TURNED


def test_a_cut_never_falls_among_equals_in_whatever_order_they_stand() -> None:
    scores, measured = composites()
    measured["bg_delta"][:] = 0.0
    measured["seam_energy"] = np.tile([0.0, 1.0], (2, 20))
    found = filtered(scores, measured).set_index(["filter", "q"])
    assert set(found.loc[["background"], "direction"]) == {NOTHING}
    unfiltered = found.loc[("none", 0), ["median_percent", "n_items"]]
    assert (found.loc[("background", 10), ["median_percent", "n_items"]] == unfiltered).all()
    assert found.loc[("seam", 10), "cut_items"] == 0
    order = np.random.default_rng(1).permutation(40)
    again = filtered(scores[:, order], {name: values[:, order] for name, values in measured.items()})
    assert again["cut_items"].tolist() == found["cut_items"].tolist()


def test_a_fill_is_as_suspicious_where_it_is_too_smooth_as_where_it_is_too_rough() -> None:
    scores, measured = composites()
    measured["fill_ratio"] = np.exp(np.linspace(0, 0.01, 80)).reshape(2, 40)
    measured["fill_ratio"][0, 3], measured["fill_ratio"][1, 5] = 0.1, 9.0
    found = filtered(scores, measured, shares=(2.5,)).set_index("filter").loc["fill"]
    assert found["cut_items"] == 2
    assert found["fill"] == pytest.approx(1.005, abs=0.01)


def test_a_flat_fill_is_the_most_suspicious_one_and_texture_counts_where_the_gradient_is_blind() -> None:
    scores, measured = composites()
    measured["fill_ratio"] = np.exp(np.linspace(0, 0.01, 80)).reshape(2, 40)
    measured["texture_ratio"] = np.exp(np.linspace(0, 0.01, 80)).reshape(2, 40)
    measured["fill_ratio"][0, 3], measured["texture_ratio"][1, 5] = 0.0, 0.0
    rows = filtered(scores, measured, shares=(2.5,)).set_index("filter")
    assert rows.loc["fill", "cut_items"] == 2
    assert rows.loc["fill", "texture"] == pytest.approx(1.005, abs=0.01)
    measured["fill_ratio"][0, 3], measured["texture_ratio"][1, 5] = 1.3, 1.5  # log 1.3 is more than half log 1.5
    one = filtered(scores, measured, shares=(1.25,)).set_index("filter").loc["fill"]
    without = np.delete(percent_change(scores[1], scores[0]), 3)
    assert (one["cut_items"], one["median_percent"]) == (1, np.median(without))


def test_seam_or_fill_drops_what_either_finds_suspicious() -> None:
    scores, measured = composites()
    measured["fill_ratio"] = np.ones((2, 40))
    measured["fill_ratio"][0, :2] = 0.2
    measured["seam_energy"][:] = 0.0
    measured["seam_energy"][1, -2:] = 5.0
    rows = filtered(scores, measured, shares=(2.5,)).set_index("filter")
    assert rows["cut_items"].to_dict() == {"none": 0, "seam": 2, "background": 1, "fill": 2, "seam or fill": 4}


def test_a_run_that_did_not_measure_its_fills_says_so_and_has_a_dash() -> None:
    scores, measured = composites()
    rows = filtered(scores, measured).set_index(["filter", "q"])
    assert set(rows.loc["fill", "direction"]) == {UNMEASURED}
    assert rows.loc["fill", ["fill", "texture"]].isna().all(axis=None)
    measured["fill_ratio"] = np.exp(np.linspace(0, 1, 80)).reshape(2, 40)  # a run before the texture was measured
    rows = filtered(scores, measured).set_index(["filter", "q"])
    assert UNMEASURED not in set(rows.loc["fill", "direction"])
    assert rows.loc["fill", "cut_items"].tolist() == [4, 8]
    assert rows["texture"].isna().all()


def test_composites_without_a_diagnostic_or_a_score_are_no_traceback() -> None:
    scores, measured = composites(4)
    measured["seam_energy"][:] = math.nan
    scores[:, 0] = math.nan
    scores[:, 1] = 0.0
    found = filtered(scores, measured).set_index(["filter", "q"])
    assert found.loc[("seam", 10), "cut_items"] == 0
    assert found.loc[("none", 0), "n_items"] == 2
    assert filtered(scores[:, :0], {name: values[:, :0] for name, values in measured.items()})["n_items"].eq(0).all()


def test_composites_of_one_source_are_resampled_together() -> None:
    scores, measured = composites()
    apart = filtered(scores, measured).iloc[0]
    together = filtered(scores, measured, sources=np.repeat(np.arange(20), 2)).iloc[0]
    assert together["median_percent"] == apart["median_percent"]
    assert (together["low"], together["high"]) != (apart["low"], apart["high"])


@pytest.mark.parametrize("value", [0.0, math.nan])
def test_without_a_change_in_percent_no_direction_is_said_to_be_the_same_or_turned(value: float) -> None:
    scores, measured = composites()
    found = filtered(np.full_like(scores, value), measured)
    assert found["n_items"].eq(0).all()
    assert set(found["direction"]) <= {"", NOTHING, UNMEASURED}
    assert not found["overlaps"].any()


def test_an_impossible_share_is_refused() -> None:
    with pytest.raises(InvalidInput, match="100"):
        filtered(*composites(2), shares=(100,))


def test_both_edges_are_compared_item_by_item() -> None:
    scores, measured = composites()
    rng = np.random.default_rng(4)
    hard = np.array([scores[0], scores[1] + rng.normal(0.02, 0.01, 40)])
    hard[:, 7] = math.nan
    rough = {name: values + 1 for name, values in measured.items()} | {"seam_ratio": np.full((2, 40), 2.0)}
    soft = {**measured, "seam_ratio": np.full((2, 40), 0.5)}
    one, other = beside("hard", {USUAL: scores, "hard": hard}, {USUAL: soft, "hard": rough})
    both = np.arange(40) != 7
    percent = [100 * (each[1] - each[0])[both] / each[0][both] for each in (scores, hard)]
    assert (one["filter"], other["filter"]) == ("usual-hard", "hard")
    assert one["n_items"] == other["n_items"] == 39
    assert one["median_percent"] == pytest.approx(np.median(percent[0]))
    assert other["median_percent"] == pytest.approx(np.median(percent[1]))
    expected = median_bca(percent[0] - percent[1])
    assert [other[name] for name in ("apart", "apart_low", "apart_high")] == pytest.approx(
        [expected.estimate, expected.low, expected.high]
    )
    assert (one["seam"], other["seam"], other["direction"]) == (0.5, 2.0, SAME)


def test_an_edge_turns_the_effect_only_where_its_interval_lies_on_the_other_side() -> None:
    scores, measured = composites()
    middle = float(np.median(scores[1]))
    for shift, words in ((0.98 - middle, UNCLEAR), (0.9 - middle, TURNED), (-0.001, SAME)):
        spread = np.where(np.arange(40) % 2, 0.5, 1.5) if words == UNCLEAR else 1.0
        hard = np.array([scores[0], 1 + spread * (scores[1] + shift - 1)])
        if words == UNCLEAR:
            hard[1, ::4] += 0.2
        row = beside("hard", {USUAL: scores, "hard": hard}, {USUAL: measured, "hard": measured})[1]
        assert row["direction"] == words
        assert (row["median_percent"] > 0) == (words == SAME)
        assert (row["high"] < 0) == (words == TURNED)
        assert ("would have shown" in row["power"]) == (words == UNCLEAR)


def test_medians_that_no_draw_moves_are_said_to_be_exact_bounds_and_no_intervals() -> None:
    scores, measured = composites()
    still = np.array([scores[0], np.where(np.arange(40) < 36, scores[0], scores[1])])
    rows = list(filtered_moves(still, measured))
    assert (rows[0]["low"], rows[0]["high"]) == (0.0, 0.0)
    assert rows[0]["note"] == "36 of 40 values equal the median: exact bound"
    _, other = beside("hard", {USUAL: still, "hard": still}, {USUAL: measured, "hard": measured})
    assert np.isnan([other["apart_low"], other["apart_high"]]).all()
    assert "difference: all values are equal: no interval" in str(other["note"])


def test_a_filter_that_takes_no_item_with_a_shift_says_that_there_is_nothing_to_drop() -> None:
    scores, measured = composites()
    measured["seam_energy"] = np.zeros((2, 40))
    measured["seam_energy"][1, :2] = 5.0
    scores[0, :2] = math.nan  # what it drops has one place only, and no shift
    found = filtered(scores, measured, shares=(2.5,)).set_index("filter").loc["seam"]
    assert (found["cut_items"], found["direction"]) == (0, NOTHING)


WAYS = ("hard-", "telea-", "true-")
OTHERS = ("", "-hard", "-telea", "-true")


def repositioned(*, others: bool) -> list[dict]:
    """An audit of twenty items moved to two places, as usual and perhaps in every other way."""
    rng, rows = np.random.default_rng(2), []
    for place in range(20):
        item, clean = f"i{place:02d}", float(rng.uniform(0.4, 0.8))
        rows.append(score(item, "identity", clean))
        for edge in ("", *WAYS) if others else ("",):
            family = f"reposition-{edge}".removesuffix("-")
            for anchor in ("TL", "BR"):
                about = {
                    "axis": "spatial",
                    "family": family,
                    "baseline": "identity",
                    "seam_energy": rng.uniform(),
                    "bg_delta": rng.uniform(0, 1e-3),
                    "seam_ratio": 2.0 if edge else 0.5,
                }
                rows.append(score(item, f"reposition-{edge}{anchor}", clean + float(rng.normal(0, 0.05)), **about))
    return rows


def table_2(folder: Path, *, others: bool) -> tuple[pd.DataFrame, str]:
    write_run(folder / "r", repositioned(others=others), corpus={"name": "c"})
    with Store.open(folder) as store:
        table = read_table(store)
        question = next(each for each in catalogue(table) if each.id == "T2")
        return question.compute(table.view(), Options()), question.note


def test_where_other_ways_were_run_table_2_has_their_lines(tmp_path: Path) -> None:
    found, note = table_2(tmp_path, others=True)
    rows = found.set_index("filter")
    wide = raw(tmp_path / "r").pivot_table(index="item", columns="probe", values="score")
    moves = {way: 100 * (wide[f"reposition{way}-BR"] / wide[f"reposition{way}-TL"] - 1) for way in OTHERS}
    for way, label in (
        ("hard", "hard edge, the same items"),
        ("telea", "fill=telea, the same items"),
        ("true", "true plate, the same items"),
    ):
        usual, other = moves[""], moves[f"-{way}"]
        assert rows.loc[f"usual-{way}", "median_percent"] == pytest.approx(usual.median())
        assert rows.loc[way, "median_percent"] == pytest.approx(other.median())
        assert rows.loc[way, "apart"] == pytest.approx((usual - other).median())
        assert rows.loc[way, "apart_low"] <= rows.loc[way, "apart"] <= rows.loc[way, "apart_high"]
        assert rows.loc[way, "label"] == label
    assert (rows.loc["usual-hard", "seam"], rows.loc["hard", "seam"]) == (0.5, 2.0)
    assert "compared item by item" in note


def test_where_one_way_was_run_the_lines_say_what_they_need(tmp_path: Path) -> None:
    found, note = table_2(tmp_path, others=False)
    assert found["label"].tolist()[-2:] == ["fill by example and Telea's", "filled and true plate"]
    row = found.iloc[-3]
    assert (row["label"], row["n_items"]) == ("feathered and hard edge", 0)
    assert row["direction"] == "needs an audit with --probes reposition-hard-TL,reposition-hard-BR"
    assert math.isnan(row["median_percent"])
    assert math.isnan(row["retained"])
    assert "--probes reposition-hard-TL,reposition-hard-BR" in note
    assert "an item goes where either is dropped" in note


def test_every_row_of_table_2_says_how_disturbed_its_composites_are(tmp_path: Path) -> None:
    found, note = table_2(tmp_path, others=False)
    rows = found[found["n_items"] > 0].set_index(["filter", "q"])
    assert rows[["seam", "background"]].notna().all(axis=None)
    scores = raw(tmp_path / "r")
    moved = scores[scores["probe"].isin(["reposition-TL", "reposition-BR"])]
    worst = moved.nlargest(4, "bg_delta")["item"]
    left = moved[~moved["item"].isin(worst)]
    assert rows.loc[("background", 10.0), "background"] == pytest.approx(1000 * left["bg_delta"].median())
    assert rows.loc[("background", 10.0), "retained"] == 100 * left["item"].nunique() / 20
    assert "BGΔ is the same in every composite" not in note

"""Pictures whose lead flips under an edit: by hand, against scipy, and against pandas on a leaderboard."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.features.systems.system_board import by_family, edits
from core.features.systems.system_captions import swapped
from core.features.systems.system_tables import FLIPS, LeadFlips, flips, lead_flips
from tests.analysis.systems.test_board import scored

NAN = math.nan


def gaps(*rows: tuple[float, float, float, float]) -> LeadFlips:
    """A and B before, A and B after, a picture each, under one edit."""
    a, b, c, d = np.array(rows, dtype=float).T
    return lead_flips(a - b, (c - d)[None])


HAND = (
    (2, 1, 1, 2),  # changes sides
    (2, 1, 3, 1),  # stays
    (1, 1, 2, 1),  # a tie is broken
    (1, 2, 1, 1),  # a lead becomes a tie
)


def test_flips_and_ties_are_counted_apart() -> None:
    found = gaps(*HAND)
    assert (found.pointwise.estimate, found.strict.estimate) == (0.75, 0.25)
    assert (found.tied_before, found.tied_after, found.n_pairs) == (1, 1, 4)


def test_a_picture_counts_once_however_many_edits_it_has() -> None:
    after = np.full((10, 2), NAN)
    after[:9, 0], after[9, 1] = -1, 1
    assert lead_flips(np.ones(2), after).pointwise.estimate == 0.5


def test_the_interval_equals_scipys_within_monte_carlo_error() -> None:
    values = np.random.default_rng(0).normal(size=(80, 4))
    found = gaps(*values)
    turned = (np.sign(values[:, 0] - values[:, 1]) != np.sign(values[:, 2] - values[:, 3])).astype(float)
    reference = stats.bootstrap((turned,), np.mean, n_resamples=5000, method="BCa", rng=1)
    assert found.pointwise.low == pytest.approx(reference.confidence_interval.low, abs=0.02)
    assert found.pointwise.high == pytest.approx(reference.confidence_interval.high, abs=0.02)


def test_pictures_of_one_source_count_once_in_both_intervals() -> None:
    before, after = np.random.default_rng(1).normal(size=(2, 30))
    copies = (np.repeat(before, 5), np.repeat(after, 5)[None])
    alone = lead_flips(before, after[None])
    together = lead_flips(*copies, sources=[f"{place // 5:02d}" for place in range(150)])
    apart = lead_flips(*copies)
    for risk in ("pointwise", "strict"):
        own, repeated, blind = (getattr(each, risk) for each in (alone, together, apart))
        assert (repeated.estimate, repeated.n) == (pytest.approx(own.estimate), 150)
        assert repeated.high - repeated.low >= own.high - own.low  # Student's quantile: the variance was estimated
        assert repeated.high - repeated.low < 1.2 * (own.high - own.low)
        assert blind.high - blind.low < 0.6 * (own.high - own.low)


def test_pairs_that_lack_a_score_are_left_out() -> None:
    found = gaps((2, 1, NAN, 2), (2, 1, 1, 2))
    assert (found.n_pairs, found.pointwise.n, found.pointwise.estimate) == (1, 1, 1.0)
    assert math.isnan(found.pointwise.low)
    assert "one picture" in found.pointwise.note


def test_no_whole_pair_gives_no_share_and_says_so() -> None:
    found = gaps((2, 1, NAN, 2))
    assert math.isnan(found.pointwise.estimate)
    assert (found.pointwise.note, found.n_pairs) == ("no pairs", 0)


def test_neighbours_of_a_leaderboard_are_counted_over_the_edits_of_a_family() -> None:
    moves = {"flip-1": {"A": 0.5}, "flip-2": {}, "blur-1": {"A": 0.1}}
    rows = scored({"A": 0.2, "B": 0.3, "C": 0.3}, probes=moves)
    rows["score"] = rows["score"].round(2)  # so that some tie
    rows = rows[~((rows["item"] == "i3") & (rows["probe"] == "flip-1"))]
    found = flips(rows, ["one"], ["A", "B", "C"]).set_index(["family", "higher", "lower"])
    assert len(found) == 4  # two pairs of neighbours under two families
    own = rows[rows["evaluator"] == "one"]
    wide = own.pivot_table(index=["item", "probe"], columns="system", values="score").reset_index()
    clean = wide[wide["probe"] == ""].set_index("item")
    for (family, higher, lower), row in found.iterrows():
        part = wide[wide["probe"].str.startswith(f"{family}-")]
        before = (clean[higher] - clean[lower]).reindex(part["item"]).to_numpy()
        after = (part[higher] - part[lower]).to_numpy()
        turned = pd.Series(np.sign(before) != np.sign(after)).groupby(part["item"].to_numpy()).mean()
        assert row["flips"] == pytest.approx(turned.mean())
        assert row[["tied_before", "tied_after"]].tolist() == [(before == 0).sum(), (after == 0).sum()]
        assert (row["n_pictures"], row["n_pairs"]) == (20, len(part))
        sides = swapped(rows, "one", str(higher), str(lower), str(family))
        counts = part.groupby("item").size()
        assert row["sides"] == pytest.approx((sides.groupby("item").size() / counts).fillna(0).mean())
        assert 0 <= row["flips_low"] <= row["flips"] <= row["flips_high"] <= 1
    assert found["tied_before"].sum() > 0
    assert (found["flips"] > found["sides"]).any()
    assert found["sides"].max() > 0


def test_they_stand_beside_the_swaps_of_the_same_neighbours() -> None:
    rows = scored({"A": 0.2, "B": 0.3, "C": 0.5}, probes={"flip-1": {"A": 0.5}})
    keys = ["evaluator", "family", "higher", "lower"]
    of_means = by_family(edits(rows, ["one", "other"], ["A", "B", "C"]))
    leads = flips(rows, ["one", "other"], ["A", "B", "C"])
    assert leads[keys].to_numpy().tolist() == of_means[keys].to_numpy().tolist()
    assert flips(rows, ["other"], ["A"]).columns.tolist() == list(FLIPS)

"""What is found of planted evaluators: by references that know nothing of how it is done."""

import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from core.analysis.effects import effects, family_groups
from core.analysis.reading import read_table
from core.analysis.verdicts import CLAIMS
from core.errors import InvalidInput
from core.features.selfcheck import detection
from core.features.selfcheck.detection import (
    Selfcheck,
    count_tests,
    digest_of,
    drifts,
    figure,
    kept_selfchecks,
    lines,
    read_selfcheck,
    redrawn,
    selfcheck,
    smallest_said,
    smallest_told,
    write_selfcheck,
)
from core.features.selfcheck.planted import FALLS, FLIPPED, NOISES, PLANTED, UPRIGHT, PlantedAudit, Planting, Sides
from core.seeds import stream
from core.statistics.bootstrap import Interval
from core.store.store import Store
from tests.analysis.made_runs import score, write_run

LARGE, SMALL = Planting(fall=0.25, noise=0.02), Planting(fall=0.05, noise=0.1)


def audit_of(n: int, sides: tuple[Sides, ...] = ()) -> PlantedAudit:
    return PlantedAudit(
        "made", tuple((f"i{place:03d}", f"s{place}", f"s{place}") for place in range(n)), np.arange(n), sides=sides
    )


@pytest.fixture(scope="module")
def small() -> Selfcheck:
    return selfcheck(audit_of(40), "0" * 16, repeats=6, seed=1)


def rate(planting: Planting, n: int, repeats: int = 20) -> float:
    found = [drifts(planting, np.arange(n), None, tests=4, seed=str(seed)) for seed in range(repeats)]
    return float(np.mean(found))


def test_a_large_fall_is_found_at_a_usual_n_and_nothing_at_a_tiny_one() -> None:
    assert rate(LARGE, 200) >= 0.95
    assert rate(LARGE, 8) == 0  # fewer than are claimed anything of
    assert rate(SMALL, 12) <= 0.2


def test_noise_alone_is_found_no_more_often_than_the_level_says() -> None:
    found = sum(drifts(Planting(noise=0.05), np.arange(60), None, tests=1, seed=str(seed)) for seed in range(150))
    assert found <= binom.ppf(0.999, 150, 0.1)  # three numbers may show a drift, and its test alone holds to 5 %


def test_resampling_one_draw_of_noise_would_find_it_far_too_often() -> None:
    """Why every repeat draws its noise anew: this is what a bootstrap of one audit gives."""
    items = np.arange(60)
    found = 0
    for audit in range(15):
        before, after = (
            Planting(noise=0.05).scores(items, items, np.full(60, way), seed=str(audit)) for way in (UPRIGHT, FLIPPED)
        )
        for repeat in range(10):
            places = np.random.default_rng((audit, repeat)).integers(60, size=60)
            shift = (after - before)[places]
            found += abs(shift.mean()) > 2 * shift.std(ddof=1) / math.sqrt(60)
    assert found > binom.ppf(0.999, 150, 0.05)


def test_the_finding_is_the_one_that_reports_make(tmp_path: Path) -> None:
    """A run with the same scores, read and asked as reports ask."""
    n, probes, told = 60, ("identity", "vflip", "hflip"), set()
    for number, (planting, seed) in enumerate(product((LARGE, SMALL, Planting(noise=0.05), Planting()), range(2))):
        items = np.arange(n)
        scores = {
            probe: planting.scores(items, items, np.full(n, way), seed=str(seed)) for way, probe in enumerate(probes)
        }
        rows = [score(f"i{place:03d}", probe, float(scores[probe][place])) for probe in probes for place in items]
        write_run(tmp_path / str(number), rows)
        with Store.open([tmp_path / str(number)]) as store:
            view = read_table(store).view()
        row = effects(view, family_groups(view)).set_index("label").loc["vertical-flip"]
        reported = row["drift"] in CLAIMS
        assert drifts(planting, items, None, tests=2, seed=str(seed)) == reported
        told.add(reported)
    assert told == {True, False}


def test_as_many_sources_are_drawn_as_there_are_each_with_all_of_its_items() -> None:
    sources = np.array([5, 5, 2, 9, 9, 9])
    places, copies = redrawn(sources, stream(1, "x"))
    assert len(set(copies.tolist())) == 3
    for copy in set(copies.tolist()):
        own = places[copies == copy]
        assert len(set(sources[own].tolist())) == 1
        assert sorted(own) == np.flatnonzero(sources == sources[own[0]]).tolist()


def test_a_source_that_is_drawn_twice_is_two_and_a_second_source_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(detection, "drifts", lambda *_, **__: seen.append(_[2]) or False)
    both = np.stack([np.arange(12), np.arange(12) % 5], axis=1)
    selfcheck(replace(audit_of(12), sources=both), "0" * 16, repeats=1, seed=3)
    assert len(np.unique(seen[0][:, 0])) == 12
    assert set(seen[0][:, 1].tolist()) <= set(range(5))


def test_every_line_says_what_was_due(small: Selfcheck) -> None:
    due = {each.planting.name: each.due for each in small.tried}
    assert due == {each.name: each.fall > 0 for each in PLANTED if each.looks_at == "picture"}
    still = next(each for each in small.tried if each.planting == Planting())
    assert not any(still.found)
    assert "by construction" in still.note
    assert {row["is"] for row in lines(small)} == {"detection", "false alarm"}


def test_a_reader_of_captions_is_judged_as_check_judges() -> None:
    right, blind, sees = np.full((1, 30), 0.8), np.full((1, 30), 0.8), np.full((1, 30), 0.4)
    sides = (
        Sides("negation", "order", "lexical", right, blind, np.arange(30)),
        Sides("negation", "negation", "semantic", right, sees, np.arange(30)),
        Sides("length", "negation", "semantic", right, sees, np.arange(30)),
    )
    told = {
        (each.planting.looks_at, each.family): (each.due, each.rate.estimate)
        for each in selfcheck(audit_of(30, sides), "0" * 16, repeats=2, seed=1).tried
        if each.finding == detection.NOT_NOTICED
    }
    assert told == {
        ("negation", "order"): (True, 1.0),
        ("negation", "negation"): (False, 0.0),
        ("length", "negation"): (True, 0.0),
    }


def interval(value: float, low: float, high: float) -> Interval:
    return Interval(value, low, high, 100, 0.95)


def test_the_smallest_fall_lies_on_the_line_between_the_sizes_that_were_planted() -> None:
    rates = [interval(0.4, 0.3, 0.5), interval(0.9, 0.7, 0.95), interval(1.0, 0.9, 1.0)]
    found = smallest_told([5, 10, 25], rates)
    assert found.estimate == pytest.approx(np.interp(0.8, [0.4, 0.9], [5, 10]))
    assert found.low == pytest.approx(np.interp(0.8, [0.5, 0.95], [5, 10]))
    assert found.high == pytest.approx(np.interp(0.8, [0.7, 0.9], [10, 25]))
    assert smallest_said(found) == "9 % (8.3 to 18)"


def test_a_fall_that_is_not_reached_and_one_below_the_smallest_are_said() -> None:
    never, always = [interval(0.1, 0.0, 0.2)] * 3, [interval(1.0, 0.9, 1.0)] * 3
    assert smallest_said(smallest_told([5, 10, 25], never)) == "not reached up to 25 %"
    assert smallest_said(smallest_told([5, 10, 25], always)) == "5 % or less"
    upper = [interval(0.1, 0.0, 0.2), interval(0.2, 0.1, 0.3), interval(0.7, 0.6, 0.9)]  # 22.5
    assert smallest_said(smallest_told([5, 10, 25], upper)) == "not reached (22 to not reached)"


def test_rates_have_wilsons_interval_and_the_line_every_noise(small: Selfcheck) -> None:
    line = small.tried[-1]
    k, n, z = sum(line.found), len(line.found), 1.959964
    middle, half = (k + z * z / 2) / (n + z * z), z * math.sqrt(k * (n - k) / n + z * z / 4) / (n + z * z)
    assert (line.rate.low, line.rate.high) == pytest.approx((max(middle - half, 0), min(middle + half, 1)), abs=1e-6)
    said = small.sentence()
    assert "40 items, 40 sources" in said
    assert "6 repeats each" in said
    assert all(f"at a noise of {100 * noise:g} %" in said for noise in NOISES)
    assert f"of {len(NOISES) * 6} repeats" in said


def test_the_figure_has_a_mark_for_every_fall_and_noise(small: Selfcheck) -> None:
    frame = figure(small).frame
    assert len(frame) == len(NOISES) * (1 + len(FALLS))
    assert list(frame["label"].unique()) == pytest.approx([0, 5, 10, 25])
    assert list(frame["series"].unique()) == [f"noise of {100 * noise:g} %" for noise in NOISES]


def test_a_selfcheck_is_read_as_it_was_written_and_another_file_is_refused(small: Selfcheck, tmp_path: Path) -> None:
    path = write_selfcheck(small, tmp_path)
    assert read_selfcheck(path) == small
    path.write_text(path.read_text().replace('"repeats"', '"x"').replace('"due": true', '"due": 7'))
    with pytest.raises(InvalidInput, match="is no selfcheck"):
        read_selfcheck(path)


def test_what_is_kept_is_found_by_its_items_in_any_order() -> None:
    items = [("a", "s", "s"), ("b", "t", "s")]
    assert digest_of(items) == digest_of(reversed(items)) != digest_of(items[:1])
    assert all(each.repeats >= 100 for each in kept_selfchecks()[0])


@pytest.mark.parametrize(("n", "repeats", "said"), [(1, 5, "one"), (20, 0, "repeats are from 1"), (20, 5000, "5,000")])
def test_what_cannot_be_resampled_is_refused_in_a_sentence(n: int, repeats: int, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        selfcheck(audit_of(n), "0" * 16, repeats=repeats, seed=1)


def test_the_flip_is_one_of_the_tests_of_its_axis() -> None:
    assert count_tests() == len({"vertical-flip", "horizontal-flip", "rotation", "reposition"})

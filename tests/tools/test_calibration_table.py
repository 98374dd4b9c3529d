"""The tables of docs/calibration.md against the measurement that they are made of."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.analysis.reading import read_table
from core.analysis.scope import narrow
from core.analysis.slices import Slice
from core.evaluators.pool import Pool
from core.features.calibration.fit import Fit, fit
from core.features.calibration.measured import Asked, Measured, find, measure
from core.features.calibration.readings import EACH, UNIFORM
from core.store.store import Store
from tests.features.calibration.corners import corner_run
from tools.calibration_table import BEGIN, CHOICES, END, FAMILIES, PAPER, RUN, Told, calibrations, tables

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


@pytest.fixture(scope="module")
def text() -> str:
    return PAPER.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def prose(text: str) -> str:
    """The document on one line."""
    return " ".join(text.split())


@pytest.fixture(scope="module")
def shipped() -> dict[str, Told]:
    """The calibrations of the shipped measurement, by name."""
    return {each.name: each for each in calibrations(RUN, "conse-lite0", FAMILIES)}


@pytest.fixture(scope="module")
def fitted() -> Iterator[Callable[..., tuple[Fit, Measured]]]:
    """Fits a reading over orbits to the shipped run, and finds what was measured of it."""
    with Store.open(RUN) as store:
        scope = narrow(store).only()
        view, source = read_table(store, scope).view(Slice(families=FAMILIES)), store.runs()[0]

        def made(weights: str, epsilon: float = 0.01) -> tuple[Fit, Measured]:
            found = fit(view, evaluator="conse-lite0", reading="orbit", weights=weights, epsilon=epsilon)
            own, _ = find(found, source, subject=scope.subject, language=scope.language)
            assert own is not None
            return found, own

        yield made


def sensitivity(told: Told, name: str) -> Mapping[Any, Any]:
    """The row of a family, or of the mean over all."""
    measure = "axis sensitivity" if name == "spatial" else "sensitivity"
    return next(row for row in told.rows if (row["measure"], row["name"]) == (measure, name))


def test_the_tables_of_the_document_are_those_of_the_shipped_measurement(text: str, shipped: dict[str, Told]) -> None:
    inside = text.split(BEGIN)[1].split(END)[0]
    assert inside.strip().splitlines() == tables(list(shipped.values())).splitlines()


def test_what_the_document_says_of_the_gains_is_what_was_measured(prose: str, shipped: dict[str, Told]) -> None:
    names = (*FAMILIES, "spatial")
    for name in ("`shift`", "`quantile`"):
        ends = [sensitivity(shipped[name], each) for each in names]
        assert all(row["ratio_low"] <= 1 <= row["ratio_high"] for row in ends)
    assert f"gain nothing that {ends[0]['n']} items could show: the interval of every ratio includes 1" in prose
    orbit = shipped["`orbit`"]
    rows = {each: sensitivity(orbit, each) for each in names}
    assert {name for name, row in rows.items() if row["ratio_high"] >= 1} == {"vertical-flip"}
    assert f"the vertical flip's ends at {rows['vertical-flip']['ratio_high']:.2f}." in prose
    assert f"on the mean of the three families {100 * (1 - rows['spatial']['ratio']):.0f} % of the sensitivity" in prose
    shares = {f"{orbit.constructed['sensitivity', each] / rows[each]['before']:.3f}" for each in FAMILIES}
    assert len(shares) == 1
    measured = {each: f"{rows[each]['ratio']:.2f}" for each in FAMILIES}
    assert (
        f"formula says {shares.pop()} for each family alike; measured it is {measured['horizontal-flip']} for the "
        f"horizontal flip, {measured['rotation']} for rotations and {measured['vertical-flip']} for the vertical flip"
    ) in prose
    assert f"own spread shrinks by {100 * (1 - orbit.spread):.1f} %" in prose
    lost = max(row["before"] - row["after"] for row in orbit.rows if row["measure"] == "spearman")
    assert f"falls by up to {lost:.3f} on the held-out half" in prose
    each = shipped["`orbit`, weights `each`"]
    assert f"`uniform` at w·λ = {orbit.strength / len(FAMILIES):.3f} and `each`, whose steps" in prose
    assert f"three times as wide, at {each.strength:g}." in prose
    assert orbit.about.startswith("10,079 pictures")
    assert "The first command scores 10,079 pictures" in prose


def test_what_the_document_says_of_further_strengths_is_what_was_measured(
    prose: str, fitted: Callable[..., tuple[Fit, Measured]]
) -> None:
    found, own = fitted(EACH)
    assert f"learnt on {found.n_dev} items of the demo corpus, all numbers are of the {found.n_test} others" in prose
    told = own.effect(1.0).set_index(["measure", "name"]).loc["sensitivity"]
    horizontal, turned, vertical = (
        f"{row['ratio']:.2f} [{row['ratio_low']:.2f}, {row['ratio_high']:.2f}]"
        for row in (told.loc[name] for name in ("horizontal-flip", "rotation", "vertical-flip"))
    )
    assert (
        f"the horizontal flip changes the score {horizontal} times as far as before, rotations {turned} times, the "
        f"vertical flip {vertical} times, n = {told['n'].iloc[0]}"
    ) in prose
    assert found.test.total[-1] == pytest.approx(0, abs=1e-12)  # the formula leaves no shift at 1
    assert own.choice is not None
    uniform, of_uniform = fitted(UNIFORM)
    assert of_uniform.choice is not None
    assert found.choice.strength == own.choice.strength
    assert (
        f"{of_uniform.choice.strength:g} with uniform weights, where the formula would go to "
        f"{uniform.choice.strength:g}, and {found.choice.strength:g} with `each`"
    ) in prose
    wide, of_wide = fitted(EACH, epsilon=0.02)
    assert of_wide.choice is not None
    assert (
        f"At ε = 0.02 with `each` the measurement chooses {of_wide.choice.strength:g} and the formula would go to "
        f"{wide.choice.strength:g}"
    ) in prose
    assert own.dev is not None
    least = int(np.argmin(own.dev.total))
    shares = own.dev.total / own.dev.total[0]
    assert (
        f"is least at {own.dev.lambdas[least]:g} ({shares[least]:.2f} of that before) and {shares[-1]:.2f} of it at 1"
    ) in prose
    edits = sum(len(family.probes) for family in found.scores.families.values())
    words = {7: "seven"}
    assert f"An image costs {words[1 + edits]} times as much to score under `orbit`" in prose


def test_the_document_has_a_place_for_the_tables_and_they_are_filled(text: str) -> None:
    inside = text.split(BEGIN)[1].split(END)[0]
    for name in ("`shift`", "`quantile`", "`orbit`", "`orbit`, weights `each`"):
        assert inside.count(f"\n| {name} |") == 5  # three families, their mean, and the correlations

"""The gate against a baseline: how often it cries of nothing, what it catches, and which baselines it refuses."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from core.analysis.reading import read_table
from core.errors import InvalidInput
from core.features.metric_check.regression_gate import (
    CLEAN,
    LEVEL,
    SHARE,
    TOLERANCE,
    FamilyOfItems,
    MetricBaseline,
    gate,
    held_to,
    read_baseline,
)
from core.store.store import Store

Measured = tuple[dict[str, np.ndarray], np.ndarray]


@pytest.fixture(scope="module")
def measured(store: Store) -> Measured:
    """%Δ [252] of each family of the shipped run, and the items' two sources."""
    view = read_table(store).view().of("conse-lite0")
    found = {name: view.changes("conse-lite0", probes).percent for name, probes in view.families().items()}
    sources = view.table.sources
    assert sources is not None
    assert len(sources) == 252
    return {name: values for name, values in found.items() if name != "base"}, sources


def tried(measured: Measured, rng: np.random.Generator, noise: float, fall: float = 0.0) -> list[str]:
    """Families that fail of a sample of the demo's items, under noise of every score in percent, heavy in its tails.

    Args:
        noise: SD of a score's own noise.
        fall: percent by which the scores of a third of the items fall, edited or not.
    """
    shifts, sources = measured
    own = rng.integers(0, len(sources), len(sources))
    fell = np.where(rng.permutation(len(own)) < len(own) // 3, fall, 0.0)

    def moved() -> np.ndarray:
        return noise * rng.standard_t(5, len(own)) / np.sqrt(5 / 3)

    clean = np.full(len(own), 100.0)
    pairs = {CLEAN: (False, clean + moved(), clean - fell + moved())}
    for name, values in shifts.items():
        pairs[name] = (False, *(np.abs(values[own] + moved() - moved()) for _ in range(2)))
    found = held_to(pairs, [str(each) for each in own], sources[own])
    return [each.family for each in found if each.failed]


@pytest.mark.parametrize("noise", [0.0, 0.5, 3.0])
def test_an_unchanged_metric_fails_at_most_one_of_two_hundred_times(measured: Measured, noise: float) -> None:
    rng = np.random.default_rng(11)
    assert sum(bool(tried(measured, rng, noise)) for _ in range(200)) <= 1


@pytest.mark.parametrize("noise", [0.0, 0.5, 1.5])
def test_a_fall_of_a_twentieth_in_a_third_of_the_items_is_caught(measured: Measured, noise: float) -> None:
    rng = np.random.default_rng(12)
    assert sum(CLEAN in tried(measured, rng, noise, fall=5.0) for _ in range(200)) >= 190


@pytest.mark.parametrize("noise", [3.0, 8.0])
def test_what_is_said_to_be_caught_is_caught_and_not_much_less(noise: float) -> None:
    rng, groups, names = np.random.default_rng(13), np.arange(252), [str(each) for each in range(252)]
    clean = np.full(252, 100.0)

    def held(every: float, some: float) -> "tuple[bool, float, float]":
        fell = every + np.where(rng.random(252) < SHARE, some, 0.0)
        before, now = clean + rng.normal(0, noise, 252), clean - fell + rng.normal(0, noise, 252)
        (found,) = held_to({CLEAN: (False, before, now)}, names, groups)
        return found.failed, found.smallest, found.smallest_of_some

    told = np.array([held(0.0, 0.0)[1:] for _ in range(50)]).mean(axis=0)
    for falls in ((told[0], 0.0), (0.0, told[1])):
        caught = sum(held(*falls)[0] for _ in range(400))
        assert stats.binomtest(caught, 400, 0.95).pvalue > 0.001, (falls, caught)


def test_the_allowance_is_students_of_the_differences() -> None:
    rng = np.random.default_rng(3)
    before, now = rng.normal(5, 1, (2, 60))
    (found,) = held_to({"blur": (False, before, now)}, [str(each) for each in range(60)], np.arange(60))
    error = stats.sem(now - before)
    assert found.allowance == pytest.approx(stats.t.isf(LEVEL, 59) * error)
    assert found.worse == pytest.approx((now - before).mean())
    assert found.low == pytest.approx(found.worse - found.allowance)


def test_items_of_one_source_are_no_evidence_twice() -> None:
    rng = np.random.default_rng(4)
    apart = np.repeat(rng.normal(0.4, 1, 12), 10)
    names = [str(each) for each in range(120)]
    alone, joined = (
        held_to({"blur": (False, np.zeros(120), apart)}, names, groups)[0]
        for groups in (np.arange(120), np.repeat(np.arange(12), 10))
    )
    assert joined.allowance > 3 * alone.allowance


def made(**changed: object) -> MetricBaseline:
    families = {"blur": FamilyOfItems(directional=False, probes=("blur-1",), shift=(1.0,) * 20, size=(1.0,) * 20)}
    usual = {
        "invariscope": "0.1.0",
        "evaluator": "mine",
        "fingerprint": "abc",
        "seed": 2025,
        "items": tuple((f"i{number}", "0f", "A dog.") for number in range(20)),
        "sources": tuple((f"i{number}", f"i{number}") for number in range(20)),
        "clean": (0.5,) * 20,
        "families": families,
    }
    return MetricBaseline.model_validate({**usual, **changed})


def test_a_family_that_got_worse_is_told_by_how_much_and_with_its_worst_item() -> None:
    sizes = [1.0 + 0.1 * number for number in range(20)]
    worse = FamilyOfItems(directional=False, probes=("blur-1",), shift=(-3.0,) * 20, size=tuple(sizes))
    found = gate(made(), made(families={"blur": worse}))
    (failed,) = found.failed
    assert failed.worse == pytest.approx(np.mean(sizes) - 1)
    assert failed.worst == ("i19", 1.0, sizes[-1])
    said = failed.sentence()
    assert "blur: the score moves further, by 0.95 points in the mean of 20 items" in said
    assert "worst item i19: 1 % before, 2.9 % now" in said


def test_equal_checks_pass_and_say_what_would_be_caught() -> None:
    found = gate(made(), made())
    assert not found.failed
    assert {each.family for each in found.families} == {"blur", CLEAN}
    assert all(each.worse == 0 and each.smallest == TOLERANCE for each in found.families)


def test_what_differs_is_refused_and_with_common_compared_over_what_both_hold() -> None:
    items = made().items
    others = {
        "1 of its 20 items are not here": {"items": (*items[:19], ("new", "0f", "A dog."))},
        "its version is 0.1.0 and here 9.0": {"invariscope": "9.0"},
        "its fingerprint is abc and here xyz": {"fingerprint": "xyz"},
        "its seed is 2025 and here 1": {"seed": 1},
        "the probes of blur differ": {
            "families": {"blur": made().families["blur"].model_copy(update={"probes": ("blur-2",)})}
        },
    }
    for said, changed in others.items():
        with pytest.raises(InvalidInput, match=said):
            gate(made(), made(**changed))
        found = gate(made(), made(**changed), common=True)
        assert found.items == (19 if "items" in changed else 20)
        assert said in "; ".join(found.left_out)
        assert ("blur" in {each.family for each in found.families}) == ("families" not in changed)
    strangers = tuple((f"x{number}", "0f", "A dog.") for number in range(20))
    with pytest.raises(InvalidInput, match="no item in common"):
        gate(made(), made(items=strangers), common=True)


def test_a_newer_a_truncated_and_a_strange_file_are_one_sentence_each(tmp_path: Path) -> None:
    path, text = tmp_path / "b.json", json.dumps(made().model_dump(mode="json"))
    path.write_text(text)
    assert read_baseline(path) == made()
    wrong = {
        "format 2, and this version reads up to 1": text.replace('"format": 1', '"format": 2'),
        "b.json": text[:-40],
        "is not a baseline of check": '{"id": 0.5}',
        "does not hold a number for each of its 20 items": json.dumps(
            {**made().model_dump(mode="json"), "clean": [0.5]}
        ),
    }
    for said, held in wrong.items():
        path.write_text(held)
        with pytest.raises(InvalidInput, match=said) as told:
            read_baseline(path)
        assert "\n" not in str(told.value)

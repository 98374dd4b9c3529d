"""Planted evaluators do what they were made to do, and the shipped self-check is what the code computes."""

import numpy as np
import pytest

from core.analysis.reading import read_table
from core.evaluators.registry import catalogue, offered
from core.features.selfcheck.detection import DRIFT, digest_of, of_table, selfcheck
from core.features.selfcheck.planted import (
    FLIPPED,
    LENGTH,
    NEGATION,
    OTHER,
    PLANTED,
    SHARE,
    UPRIGHT,
    PlantedAudit,
    Planting,
    items_of,
    planted_evaluator,
    sources_of,
    ways,
)
from core.settings import results_dir
from core.store.store import Store

N = 4000


def planted(planting: Planting, stands: int, *, seed: str = "s") -> np.ndarray:
    each = np.arange(N)
    return planting.scores(each, each, np.full(N, stands), seed=seed)


@pytest.mark.parametrize("fall", [0.05, 0.1, 0.25])
def test_a_planted_fall_has_its_size_in_its_share_of_the_sources(fall: float) -> None:
    before, after = (planted(Planting(fall=fall), stands) for stands in (UPRIGHT, FLIPPED))
    fell = before != after
    assert np.allclose(1 - after[fell] / before[fell], fall)
    assert abs(fell.mean() - SHARE) < 4 * np.sqrt(SHARE * (1 - SHARE) / N)
    assert np.array_equal(planted(Planting(fall=fall), OTHER), before)


def test_the_mean_over_items_is_the_fall_times_its_share_under_noise_too() -> None:
    before, after = (planted(Planting(fall=0.25, noise=0.05), stands) for stands in (UPRIGHT, FLIPPED))
    error = 0.05 * np.sqrt(2 / N) + 0.25 * np.sqrt(SHARE * (1 - SHARE) / N)
    assert abs((after / before - 1).mean() + 0.25 * SHARE - 0.05**2) < 5 * error


def test_noise_has_its_size_and_half_of_its_variance_is_of_the_source() -> None:
    level = planted(Planting(), UPRIGHT)
    noise = planted(Planting(noise=0.1), UPRIGHT) / level - 1
    assert noise.std() == pytest.approx(0.1, rel=0.05)
    items, sources = np.arange(N), np.arange(N) // 2
    made = (Planting(noise=each).scores(items, sources, np.full(N, UPRIGHT), seed="s") for each in (0.1, 0.0))
    one, two = (next(made) / next(made) - 1).reshape(-1, 2).T
    assert np.corrcoef(one, two)[0, 1] == pytest.approx(0.5, abs=0.06)


def test_what_stands_still_does() -> None:
    assert np.array_equal(planted(Planting(), UPRIGHT), planted(Planting(), FLIPPED))


def test_a_score_depends_on_the_seed_and_on_its_own_picture_alone() -> None:
    planting = Planting(fall=0.1, noise=0.05)
    every = planted(planting, FLIPPED)
    alone = planting.scores(np.array([7]), np.array([7]), np.array([FLIPPED]), seed="s")
    assert alone[0] == every[7]
    assert (planted(planting, FLIPPED, seed="t") != every).all()


def test_a_planted_evaluator_scores_its_pictures_as_planted_and_knows_no_others() -> None:
    rng = np.random.default_rng(0)
    pictures = [rng.integers(0, 256, (20 + place, 31, 3), dtype=np.uint8) for place in range(5)]
    known = {digest: (place, place, way) for place, each in enumerate(pictures) for way, digest in ways(each).items()}
    planting = Planting(fall=0.25, noise=0.02)
    evaluator = planted_evaluator(planting, known, seed="s").load()
    every = np.arange(5)
    for way, edit in ((UPRIGHT, lambda p: p), (FLIPPED, lambda p: p[::-1]), (OTHER, lambda p: p[:, ::-1])):
        scores = evaluator.score([edit(each) for each in pictures], ["a"] * 5)
        assert np.array_equal(scores, planting.scores(every, every, np.full(5, way), seed="s"))
    assert np.isnan(evaluator.score([np.zeros((9, 9, 3), dtype=np.uint8)], ["a"])).all()


def test_readers_of_captions_read_what_they_are_said_to() -> None:
    pictures, captions = [np.zeros((9, 9, 3), dtype=np.uint8)] * 3, ["a dog", "dog a", "no dog"]
    length, negation = (
        planted_evaluator(Planting(each), {}, seed="s").load().score(pictures, captions) for each in (LENGTH, NEGATION)
    )
    assert length[0] == length[1] > length[2]
    assert negation[0] == negation[1] > negation[2]


def test_planted_evaluators_are_listed_only_while_they_are_audited() -> None:
    kinds = [planted_evaluator(each, {}, seed="s") for each in PLANTED]
    names = {kind.spec.name for kind in kinds}
    assert len(names) == len(PLANTED)
    with offered(kinds):
        assert names <= set(catalogue().names())
    assert not names & set(catalogue().names())


def test_the_first_repeats_of_the_shipped_selfcheck_are_made_again() -> None:
    with Store.open([results_dir() / "demo"]) as store:
        table = read_table(store)
    shipped = of_table(table)
    assert shipped is not None
    assert (shipped.items, shipped.compared > 0, shipped.apart) == (len(table.items), True, 0)
    items = items_of(table)
    assert shipped.digest == digest_of(items)
    audit = PlantedAudit(table.scope.corpus, items, sources_of(table))
    again = selfcheck(audit, shipped.digest, repeats=2, seed=shipped.seed)
    pictures = [each for each in shipped.tried if each.finding == DRIFT]
    assert [each.found for each in again.tried] == [each.found[:2] for each in pictures]

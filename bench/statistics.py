"""Flip risk, the sweep over λ and the mixed model at the sizes that the pages must follow at once."""

import numpy as np

from bench.median import seconds
from bench.report import row
from core.features.calibration.orbits import Family, Orbits
from core.features.calibration.readings import Terms, learn
from core.features.calibration.sweep import LAMBDAS, choose, sweep
from core.statistics.flip_risk import GAPS, intervals_of
from core.statistics.mixed_model import mixed_effect
from core.statistics.rank_agreement import BAND_RESAMPLES, spearman_bands
from core.statistics.shift_pairs import ShiftPairs

ITEMS = 10_000
EVALUATORS = 5
FAMILIES = {"vertical-flip": 1, "horizontal-flip": 1, "rotation": 4, "reposition": 4, "cultural": 7}
"""Families and how many probes each has."""

REPEATS = 5


def made_up(seed: int) -> Orbits:
    """Scores of one evaluator over ITEMS items and FAMILIES."""
    rng = np.random.default_rng(seed)
    clean = rng.beta(8, 3, size=ITEMS)
    families = {
        name: Family(
            "spatial", tuple(map(str, range(k))), clean + rng.normal(0.01, 0.02, (k, ITEMS)), np.tile(clean, (k, 1))
        )
        for name, k in FAMILIES.items()
    }
    return Orbits(str(seed), tuple(("c", str(item)) for item in range(ITEMS)), clean, families)


def flip_risk_row() -> None:
    """RRF at one gap."""
    shifts = np.random.default_rng(0).normal(scale=0.02, size=ITEMS)
    taken = seconds(lambda: ShiftPairs(shifts, None).risks(np.array([0.007])), REPEATS)
    row("flip risk at a fixed gap, exact over all pairs", f"{1000 * taken:.1f} ms", f"{ITEMS} shifts", "< 50 ms")
    taken = seconds(lambda: intervals_of(ShiftPairs(shifts, None), GAPS), REPEATS)
    row("flip risk with 95 % intervals", f"{1000 * taken:.1f} ms", f"{ITEMS} shifts, {len(GAPS)} gaps", "")


def sweep_rows() -> None:
    """Sweep and choice of λ* for every evaluator against the four others, by reading."""
    scores = [made_up(seed) for seed in range(EVALUATORS)]
    # what the page does once, and what it does at every change
    for reading in ("orbit", "shift", "absolute"):
        terms = [learn(each, reading=reading) for each in scores]

        def every(learnt: list[Terms] = terms) -> None:
            for each, terms_of in zip(scores, learnt, strict=True):
                others = {other.evaluator: other.clean for other in scores if other is not each}
                choose(sweep(each, terms_of, others))

        taken = seconds(every, REPEATS)
        probes = sum(FAMILIES.values())
        row(
            f"sweep over λ, reading `{reading}`",
            f"{1000 * taken:.0f} ms",
            f"{len(LAMBDAS)} steps × {EVALUATORS} evaluators × {ITEMS} items, {probes} probes",
            "< 150 ms",
        )


def band_row() -> None:
    """Bootstrap band of Spearman's ρ along λ."""
    s, c, *rest = np.random.default_rng(0).normal(size=(EVALUATORS + 1, ITEMS))
    others = {str(rank): ratings for rank, ratings in enumerate(rest)}
    taken = seconds(lambda: spearman_bands(s, c, others, LAMBDAS), 3)
    row(
        "bootstrap band of Spearman's ρ along λ",
        f"{taken:.2f} s",
        f"{ITEMS} items, {BAND_RESAMPLES} resamples, {len(others)} H",
        "< 1 s",
    )


def mixed_model_row() -> None:
    """Crossed random intercepts by REML."""
    rng = np.random.default_rng(0)
    images = ITEMS // 2
    image, perturbed = np.repeat(np.arange(images), 2), np.tile([0, 1], images)
    category = rng.integers(9, size=images)[image]
    scores = 0.5 + 0.03 * perturbed + rng.normal(0, 0.1, images)[image] + rng.normal(0, 0.05, 9)[category]
    scores = scores + rng.normal(0, 0.02, ITEMS)
    taken = seconds(lambda: mixed_effect(scores, perturbed, image, category), 3)
    row("mixed model, crossed intercepts, exact REML", f"{1000 * taken:.0f} ms", f"{ITEMS} rows, all of them", "< 5 s")


def main() -> None:
    """Print the rows."""
    flip_risk_row()
    sweep_rows()
    band_row()
    mixed_model_row()


if __name__ == "__main__":
    main()

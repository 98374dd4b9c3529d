"""Median BCa interval by order statistics against scipy's resampling bootstrap."""

import time
from collections.abc import Callable
from statistics import median

import numpy as np
from scipy import stats

from bench.report import row
from core.statistics.bootstrap import median_bca

N = 2000
RESAMPLES = 10_000
REPEATS = 5


def seconds(function: Callable[[], object], repeats: int) -> float:
    """Median wall-clock seconds of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return median(times)


def main() -> None:
    """Print the ratio and how far the two intervals lie apart."""
    values = np.random.default_rng(0).gamma(2.0, size=N)
    reference = stats.bootstrap((values,), np.median, n_resamples=RESAMPLES, method="BCa", rng=1)
    ours = median_bca(values, resamples=RESAMPLES)
    ratio = seconds(
        lambda: stats.bootstrap((values,), np.median, n_resamples=RESAMPLES, method="BCa", rng=1), 3
    ) / seconds(lambda: median_bca(values, resamples=RESAMPLES), REPEATS)
    bounds = reference.confidence_interval
    apart = max(abs(ours.low - bounds.low), abs(ours.high - bounds.high)) / reference.standard_error
    row(
        "median BCa interval against `scipy.stats.bootstrap`",
        f"{ratio:.0f} × faster, bounds {apart:.2f} standard errors apart",
        f"n = {N}, {RESAMPLES} resamples",
        "≥ 100 ×",
    )


if __name__ == "__main__":
    main()

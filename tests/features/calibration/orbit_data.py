"""Scores made up for the calibration tests."""

import numpy as np

from core.features.calibration.orbits import Family, Orbits


def made(seed: int = 0, n: int = 200, families: dict[str, int] | None = None, *, bias: float = 0.1) -> Orbits:
    """Scores whose variants lie ``bias`` above the clean ones, each with noise of its own."""
    rng = np.random.default_rng(seed)
    clean = rng.uniform(0.2, 0.8, size=n)
    chosen = families if families is not None else {"flip": 1, "rotation": 4}
    return Orbits(
        "e",
        tuple(("c", str(item)) for item in range(n)),
        clean,
        {
            name: Family(
                "spatial",
                tuple(f"{name}-{t}" for t in range(k)),
                clean + bias + rng.normal(scale=0.03, size=(k, n)),
                np.broadcast_to(clean, (k, n)),
            )
            for name, k in chosen.items()
        },
    )

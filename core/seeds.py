"""Random streams that depend on what is computed, never on the order it is computed in."""

import hashlib

import numpy as np

RUN_SEED = 2025  # default seed of a run (PROTOCOL section 3)


def stream(run_seed: int, *parts: str) -> np.random.Generator:
    """Return the generator of one unit of work, e.g. ``stream(2025, item_id, probe_name)``.
    The same arguments give the same stream on any machine and in any order, so a resumed or a distributed run draws
    what an uninterrupted one would have drawn."""
    digest = hashlib.sha256("\x1f".join((str(run_seed), *parts)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))

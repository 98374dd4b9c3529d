"""Score over place: the object put down on a grid of places, coarse first, under several evaluators.

The grid spans every place at which the object's box stays inside the picture, so that its outer points are the
outermost places. The object keeps its size; the plate is the one that repositioning uses.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from core.corpora.images import pixel_hash
from core.errors import InvariscopeError, ProbeRejected
from core.evaluators.cache import EmbeddingCache, cache_for
from core.evaluators.pool import Pool
from core.evaluators.references import references_of
from core.evaluators.scoring import score_pairs
from core.probes.families.reposition import LEAST_ROOM, is_free
from core.probes.pixels.cutout import put_down
from core.scoring.workbench import Workbench
from core.statistics.changes import percent_change

STEPS = 7  # places along each side of the grid
COARSE = 3  # the first pass takes every third place, the others the rest
PART = 10  # places of a further pass
AT_ONCE = 2  # evaluators that score at the same time: each waits for itself alone, so two fill two processors


@dataclass(frozen=True, slots=True)
class PositionMap:
    """What is known of a picture's places so far."""

    columns: np.ndarray  # x of the object's centroid at each place, in pixels, float64 [k]; rises
    rows: np.ndarray  # y, likewise
    # evaluator -> % change from the unedited pair, float64 [k, k], rows first; NaN where the object would cover another
    # one, where the baseline scores 0, and where nothing was scored yet
    percent: Mapping[str, np.ndarray]
    failures: Mapping[str, str]  # evaluator -> why it could not score
    done: bool  # whether the last pass is in
    share: float  # of the places that are in, in [0, 1]

    def rows_of_places(self) -> pd.DataFrame:
        """A row a place and evaluator: evaluator, x, y, percent."""
        at = {"x": np.tile(self.columns, len(self.rows)), "y": np.repeat(self.rows, len(self.columns))}
        parts = [
            pd.DataFrame({"evaluator": name, **at, "percent": values.ravel()}) for name, values in self.percent.items()
        ]
        return pd.concat(parts or [pd.DataFrame(columns=["evaluator", "x", "y", "percent"])], ignore_index=True)


def position_map(
    bench: Workbench,
    caption: str,
    evaluators: Sequence[str],
    *,
    pool: Pool,
    cache: EmbeddingCache | Callable[[str], EmbeddingCache] | None = None,
) -> Iterator[PositionMap]:
    """Score the places of a grid beside one caption: first every third one, then the rest in parts; the map after each
    pass.

    Raises ProbeRejected as repositioning does, where the object cannot be cut out or has too little room.
    """
    scene, (height, width) = bench.scene, bench.pixels.shape[:2]
    cutout = scene.cutout
    if min(1 - cutout.width / width, 1 - cutout.height / height) < LEAST_ROOM:
        raise ProbeRejected("too-large", f"the object needs {LEAST_ROOM:.0%} of the width and of the height to move in")
    across = np.rint(np.linspace(-cutout.left, width - cutout.width - cutout.left, STEPS)).astype(int)
    down = np.rint(np.linspace(-cutout.top, height - cutout.height - cutout.top, STEPS)).astype(int)
    percent = {name: np.full((STEPS, STEPS), np.nan) for name in dict.fromkeys(evaluators)}
    failures: dict[str, str] = {}
    centre = cutout.centroid
    coarse = [(row, column) for row in range(0, STEPS, COARSE) for column in range(0, STEPS, COARSE)]
    rest = [(row, column) for row in range(STEPS) for column in range(STEPS) if (row, column) not in set(coarse)]
    passes, scored = [coarse, *(rest[start : start + PART] for start in range(0, len(rest), PART))], 0
    for number, chosen in enumerate(passes, 1):
        places = [(row, column) for row, column in chosen if is_free(scene, int(across[column]), int(down[row]))]
        images = [put_down(scene.background, cutout, int(across[column]), int(down[row])) for row, column in places]
        keys = [pixel_hash(image) for image in images]
        ask = partial(_shifts, bench, caption, keys, images, pool=pool, cache=cache)
        able = [name for name in percent if name not in failures]
        with ThreadPoolExecutor(AT_ONCE) as workers:
            for name, shifts in zip(able, workers.map(ask, able), strict=True):
                if isinstance(shifts, str):
                    failures[name] = shifts
                    continue
                for place, shift in zip(places, shifts, strict=True):
                    percent[name][place] = shift
        scored += len(chosen)
        known = {name: values.copy() for name, values in percent.items() if name not in failures}
        at, done = (centre[0] + across, centre[1] + down), number == len(passes)
        yield PositionMap(*at, known, dict(failures), done=done, share=scored / STEPS**2)


def _shifts(
    bench: Workbench,
    caption: str,
    keys: Sequence[str],
    images: Sequence[np.ndarray],
    name: str,
    *,
    pool: Pool,
    cache: EmbeddingCache | Callable[[str], EmbeddingCache] | None,
) -> np.ndarray | str:
    """% change of each picture, named by its hash, from the unedited one, float64 [n]; or why there is none."""
    held = {bench.image_key: bench.pixels, **dict(zip(keys, images, strict=True))}
    pairs = list(dict.fromkeys((key, caption) for key in (bench.image_key, *keys)))
    others = references_of(bench.item.captions, caption)
    try:
        with pool.lease(name) as evaluator:
            own = cache_for(cache, name)
            scores = score_pairs(evaluator, held, pairs, references=[others] * len(pairs), cache=own)
    except InvariscopeError as error:
        return str(error)
    known = {key: float(score) for (key, _), score in zip(pairs, scores, strict=True)}
    after = np.array([known[key] for key in keys])
    return np.asarray(percent_change(after, np.full(len(after), known[bench.image_key])))

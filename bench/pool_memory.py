"""Memory of six evaluators that take turns in one pool: ``python -m bench.pool_memory``.

Counted is the memory of the process that the system cannot drop (resident, without the pages of files) above what
Python and the libraries take before the first load, every few milliseconds: the weights, and whatever loading and
scoring take beside them. Weights are random, architectures and file formats those of the published models.
"""

import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

import numpy as np

from bench.checkpoints import EVALUATORS, write
from bench.report import row
from core.evaluators.base import Evaluator
from core.evaluators.memory import give_back
from core.evaluators.pool import Pool
from core.evaluators.references import Referenced

BUDGET_MB, ROUNDS, PHOTOS = 2000.0, 2, 4
EVERY_S = 0.002


def main(budget_mb: float = BUDGET_MB) -> None:
    """Print the memory at rest after each turn and the most at any moment, as shares of the budget."""
    with tempfile.TemporaryDirectory() as folder:
        references = write(Path(folder), EVALUATORS)
        _warm_up()
        pool = Pool(budget_mb, "cpu")
        watch = Watch()
        held, counted = [], []
        with watch:
            for reference in [*references.values()] * ROUNDS:
                take_turn(pool, reference)
                held.append(watch.now_mb())
                counted.append(sum(each.memory_mb for each in pool.loaded()))
        pool.release()
        left = watch.now_mb()
    turns = f"{len(references)} evaluators, {ROUNDS} rounds, {PHOTOS} photographs each, {budget_mb:.0f} MB"
    row(
        "Pool, memory after each turn",
        f"{max(held) / budget_mb:.2f} of the budget (median {median(held):.0f} MB)",
        turns,
        "≤ 1",
    )
    row(
        "Pool, most at any moment, loading and scoring included",
        f"{watch.most_mb / budget_mb:.2f} of the budget ({watch.most_mb:.0f} MB)",
        turns,
        "≤ 1",
    )
    apart = [mine - told for mine, told in zip(held, counted, strict=True)]
    row("Pool, measured less what it counts", f"{min(apart):.0f} to {max(apart):.0f} MB", turns)
    row("Pool, still held once all are unloaded", f"{left:.0f} MB", turns)


def take_turn(pool: Pool, reference: str) -> None:
    """Load and score; nothing of the evaluator outlives the call."""
    with pool.lease(reference) as evaluator:
        score(evaluator)


def score(evaluator: Evaluator) -> np.ndarray:
    """Score a few noisy photographs."""
    rng = np.random.default_rng(0)
    photos = [rng.integers(0, 256, (480, 640, 3), dtype=np.uint8) for _ in range(PHOTOS)]
    captions = [f"a photo of {index} things" for index in range(PHOTOS)]
    if isinstance(evaluator, Referenced):
        return evaluator.score(photos, captions, [["a photo of things"]] * PHOTOS)
    return evaluator.score(photos, captions)


class Watch:
    """Follows the memory of this process above what it was when it was made."""

    def __init__(self) -> None:
        give_back()
        self._before = _anonymous_mb()
        self.most_mb = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def now_mb(self) -> float:
        """Memory now, in MB."""
        return _anonymous_mb() - self._before

    def _run(self) -> None:
        while not self._ended.is_set():
            self.most_mb = max(self.most_mb, self.now_mb())
            time.sleep(EVERY_S)


def _anonymous_mb() -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon", "RssShmem"))) / 1024


def _warm_up() -> None:
    """Import what the evaluators import and start the threads, so that they are in the baseline."""
    import open_clip
    import sentence_transformers
    import timm
    import torch
    import transformers

    warm = [open_clip.get_tokenizer("ViT-B-32"), timm.__version__, sentence_transformers.SentenceTransformer]
    warm += [transformers.CLIPModel, transformers.DistilBertModel]  # imported when first asked for
    assert all(warm)
    torch.randn(512, 512).matmul(torch.randn(512, 512))


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))

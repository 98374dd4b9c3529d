"""A run over pictures of four plain quarters, whose calibrated scores can be written down."""

import csv
from pathlib import Path

import numpy as np
from PIL import Image

from core.audit.run import run_audit
from core.corpora.registry import catalogue
from core.evaluators.pool import Pool
from core.store.run_files import Run
from tests.plans import make_plan

CORNER = "tests/plugins/corner.py:Corner"
HISTOGRAM = "tests/plugins/histogram.py:PairedHistogram"
SIDE = 64


def quarters(items: int, seed: int = 0) -> np.ndarray:
    """Brightness of each picture's quarters, uint8 [items, 2, 2]; the last is no sum of the others."""
    return np.random.default_rng(seed).integers(10, 245, size=(items, 2, 2), dtype=np.uint8)


def corner_run(data: Path, *, items: int = 80, probes: str = "vflip,hflip", seed: int = 0) -> Run:
    """Audit such pictures; the run is ``corners`` in the folder of runs below ``data``."""
    folder = data / "corpora" / "folder"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "captions.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["image", "caption"])
        for place, four in enumerate(quarters(items, seed)):
            pixels = np.kron(four, np.ones((SIDE // 2, SIDE // 2), dtype=np.uint8))
            Image.fromarray(np.repeat(pixels[..., None], 3, axis=2)).save(folder / f"p{place:03d}.png")
            rows.writerow([f"p{place:03d}.png", f"Quarters, number {place}."])
    plan = make_plan(
        catalogue().get("folder").load(folder),
        evaluators=[CORNER, HISTOGRAM],
        probes=probes.split(","),
        subjects=("human",),
        root=folder,
    )
    return run_audit(plan, data / "runs", run_id="corners", pool=Pool(100, "cpu"))

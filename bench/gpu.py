"""Published evaluators on a card: ``python -m bench.gpu``; without one it says so and measures nothing.

Weights are random, architectures and file formats those of the published models. ``python -m bench.gpu cpu`` runs the
same measurements small on the CPU, to try them out: its rows are no measurement of a card.
"""

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from PIL import Image

from bench.checkpoints import EVALUATORS, write
from bench.pool_memory import BUDGET_MB, ROUNDS, take_turn
from bench.report import row
from core.audit.plan import make_plan
from core.audit.request import AuditRequest
from core.audit.run import run_audit
from core.corpora.schema import Corpus, Item
from core.evaluators.memory import MB, give_back
from core.evaluators.pool import Pool
from core.evaluators.towers.clip import load_clip, side_of
from core.evaluators.towers.encoder import Towers

NAMES = ("clipscore", "pac-s-l14")
ITEMS, REPEATS, PAIRS = 336, 3, 512
PROBES = ("rotation", "vflip")
"""Five edits, so that 336 photographs are 2016 images."""


def main(device: str | None = None) -> None:
    """Print throughput, parity and memory, on a card or, asked for by name, on another device."""
    if device is None and not torch.cuda.is_available():
        row("Published evaluators on a card", "no GPU: not measured", "", "≥ 0.8 of the bare network")
        return
    device = device or "cuda"
    small = device.startswith("cpu")
    what = "CPU, a trial and no measurement" if small else torch.cuda.get_device_name(device)
    with tempfile.TemporaryDirectory() as folder:
        references = write(Path(folder), EVALUATORS)
        for name in NAMES[: 1 if small else None]:
            for renderers in (0, max(1, (os.cpu_count() or 1) - 2)):
                throughput(references[name], device, what, items=3 if small else ITEMS, renderers=renderers)
        parity(Path(references["clipscore"].split("@")[1]), device, what, pairs=8 if small else PAIRS)
        if not small:
            memory([*references.values()], device, what)


def throughput(reference: str, device: str, what: str, *, items: int, renderers: int) -> None:
    """Images a second of a whole audit, from JPEG files to tables on the disk, against the network alone."""
    pool = Pool(BUDGET_MB, device)
    with tempfile.TemporaryDirectory() as place, pool.hold(reference), pool.lease(reference) as evaluator:
        folder = Path(place)
        towers: Towers = evaluator._towers  # type: ignore[attr-defined]
        request = AuditRequest.of(evaluators=(reference,), probes=PROBES, subject="template")
        plan = make_plan(_photographs(folder / "corpus", items), request)
        count = plan.cost().images
        pixels = torch.zeros(evaluator.full_batch, 3, towers.preprocessing.side, towers.preprocessing.side)

        def ours(turn: int) -> None:
            run = run_audit(plan, folder / "runs", run_id=f"r{turn}", pool=pool, renderers=renderers)
            assert run.manifest["counts"]["unique_images"] == count, run.manifest["counts"]

        def bare() -> None:
            ready = pixels.to(device=device, dtype=getattr(torch, towers.precision))
            with torch.inference_mode():
                for start in range(0, count, towers.image.batch):
                    towers.image.network.encode_image(ready[: min(towers.image.batch, count - start)])
            _finish(device)

        shares, speeds = [], []
        for turn in range(REPEATS + 1):  # the first one warms up, and finds the batch that fits
            mine, plain = _seconds(lambda turn=turn: ours(turn)), _seconds(bare)
            if turn:
                shares.append(plain / mine)
                speeds.append(count / mine)
        row(
            f"Audit with {evaluator.spec.name}, reading, editing and writing included",
            f"{median(shares):.2f} of the bare network ({median(speeds):.0f}/s)",
            f"{what}, {towers.precision}, {count} images of 640 × 480 px, batches of {towers.image.batch} of "
            f"{evaluator.full_batch} asked for, pictures prepared by {renderers or 'one thread and no'} processes",
            "≥ 0.8",
        )


def parity(path: Path, device: str, what: str, *, pairs: int) -> None:
    """Cosines in half precision against those in float32 on the same device."""
    from scipy.stats import spearmanr

    exact = _cosines(path, device, "float32", pairs)
    for precision in ("float16", "bfloat16"):
        found = _cosines(path, device, precision, pairs)
        told = f"{what}, ViT-B/32, {pairs} pairs of noise and random words; standard deviation {exact.std():.1g}"
        apart, order = np.abs(found - exact).max(), spearmanr(found, exact)[0]
        row(f"Cosines in {precision} against float32", f"largest difference {apart:.1g}, Spearman {order:.4f}", told)


def memory(references: Sequence[str], device: str, what: str) -> None:
    """Most memory of the card that six evaluators in turns take, scoring included."""
    give_back()
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    pool = Pool(BUDGET_MB, device)
    for reference in [*references] * ROUNDS:
        take_turn(pool, reference)
    most = (torch.cuda.max_memory_allocated(device) - before) / MB
    pool.release()
    left = (torch.cuda.memory_allocated(device) - before) / MB
    row(
        "Pool on a card, most at any moment",
        f"{most / BUDGET_MB:.2f} of the budget; {left:.0f} MB after unloading",
        f"{what}, {len(references)} evaluators, {ROUNDS} rounds, {BUDGET_MB:.0f} MB",
        "≤ 1",
    )


def _cosines(path: Path, device: str, precision: str, pairs: int) -> np.ndarray:
    """Cosines of random pictures and random tokens, float64 [pairs]."""
    network, _ = load_clip(path, quick_gelu=True, precision=precision)
    network = network.to(device)
    rng = torch.Generator().manual_seed(0)
    side, kind = side_of(network), getattr(torch, precision)
    tokens = torch.randint(1, 49_000, (pairs, network.context_length), generator=rng)
    tokens[:, 0], tokens[:, 20] = 49_406, 49_407
    tokens[:, 21:] = 0
    rows = []
    with torch.inference_mode():
        for part in tokens.split(64):
            pixels = torch.randn(len(part), 3, side, side, generator=rng)
            seen = network.encode_image(pixels.to(device, kind)).float()
            read = network.encode_text(part.to(device)).float()
            rows.append(torch.nn.functional.cosine_similarity(seen, read).double().cpu())
    found: np.ndarray = torch.cat(rows).numpy()
    return found


def _photographs(folder: Path, count: int) -> Corpus:
    """JPEG files as coarse as photographs are: noise of 80 × 60 px, enlarged."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    items = []
    for index in range(count):
        coarse = Image.fromarray(rng.integers(0, 256, (60, 80, 3), dtype=np.uint8))
        path = folder / f"{index:04d}.jpg"
        coarse.resize((640, 480), Image.Resampling.BICUBIC).save(path, "JPEG", quality=90)
        items.append(
            Item(
                id=path.stem,
                corpus="noise",
                image_path=path,
                width=640,
                height=480,
                label="dog",
                licence="CC0-1.0",
                source="made by the benchmark",
            )
        )
    return Corpus("noise", tuple(items))


def _finish(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)


def _seconds(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main(*sys.argv[1:2])

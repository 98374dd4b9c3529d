"""Published evaluators on a card: ``python -m bench.gpu``; without one it says so and measures nothing.

Weights are random, architectures and file formats those of the published models. ``python -m bench.gpu cpu`` runs the
same measurements small on the CPU, to try them out: its rows are no measurement of a card.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from PIL import Image

from bench.checkpoints import EVALUATORS, write
from bench.pool_memory import BUDGET_MB, ROUNDS, take_turn
from bench.report import row
from core.audit.prefetch import prefetch
from core.corpora.images import decode_image
from core.evaluators.memory import MB, give_back, out_of_memory
from core.evaluators.pool import Pool
from core.evaluators.published.clip import load_clip
from core.evaluators.published.clip_towers import side_of
from core.evaluators.published.encoder import Towers
from core.evaluators.registry import find
from core.probes.image_edits import rotate

NAMES = ("clipscore", "pac-s-l14")
IMAGES, MOST, REPEATS, PAIRS = 2048, 4096, 3, 512
DEGREES = 10.0


def main(device: str | None = None) -> None:
    """Print throughput, parity of precisions and memory, on a card or, asked for by name, on another device."""
    if device is None and not torch.cuda.is_available():
        row("Published evaluators on a card", "no GPU: not measured", "", "≥ 0.8 of the bare network")
        return
    device = device or "cuda"
    small = device.startswith("cpu")
    what = "CPU, a trial and no measurement" if small else torch.cuda.get_device_name(device)
    with tempfile.TemporaryDirectory() as folder:
        references = write(Path(folder), EVALUATORS)
        for name in NAMES[: 1 if small else None]:
            throughput(references[name], device, what, count=16 if small else IMAGES, most=8 if small else MOST)
        parity(Path(references["clipscore"].split("@")[1]), device, what, pairs=8 if small else PAIRS)
        if not small:
            memory([*references.values()], device, what)


def throughput(reference: str, device: str, what: str, *, count: int, most: int) -> None:
    """Images a second from JPEG bytes through decoding, a perturbation and the evaluator, against the network alone."""
    evaluator: Any = find(reference).load(device=device)
    towers: Towers = evaluator._towers
    batch = towers.image.batch = largest_batch(towers, device, most)
    files = _jpegs(min(count, 64))
    todo = [files[index % len(files)] for index in range(max(count, 2 * batch))]
    pixels = torch.zeros(batch, 3, towers.preprocessing.side, towers.preprocessing.side)

    def ours() -> None:
        for part in prefetch(_edited(todo, batch), depth=2):
            evaluator.encode_images(part)

    def bare() -> None:
        ready = pixels.to(device=device, dtype=getattr(torch, towers.precision))
        with torch.inference_mode():
            for _ in range(0, len(todo), batch):
                towers.image.network.encode_image(ready)
        _finish(device)

    shares, speeds = [], []
    for turn in range(REPEATS + 1):  # the first one warms up
        mine, plain = _seconds(ours), _seconds(bare)
        if turn:
            shares.append(plain / mine)
            speeds.append(len(todo) / mine)
    row(f"{evaluator.entry.backbone}, decoding and rotation included",
        f"{median(shares):.2f} of the bare network ({median(speeds):.0f}/s)",
        f"{what}, {towers.precision}, {len(todo)} JPEGs of 640 × 480 px, batches of {batch}", "≥ 0.8")  # fmt: skip


def largest_batch(towers: Towers, device: str, most: int) -> int:
    """The largest power of two, up to ``most``, that the image tower takes at once."""
    side, size = towers.preprocessing.side, most
    while size > 1:
        try:
            with torch.inference_mode():
                towers.embed_pixels(torch.zeros(size, 3, side, side), device)
            _finish(device)
            return size
        except Exception as error:
            if not out_of_memory(error):
                raise
        size //= 2
        give_back()
    return 1


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
    row("Pool on a card, most at any moment", f"{most / BUDGET_MB:.2f} of the budget; {left:.0f} MB after unloading",
        f"{what}, {len(references)} evaluators, {ROUNDS} rounds, {BUDGET_MB:.0f} MB", "≤ 1")  # fmt: skip


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


def _edited(files: Sequence[bytes], batch: int) -> Iterator[list[np.ndarray]]:
    for start in range(0, len(files), batch):
        yield [rotate(decode_image(data, name="photo.jpg").pixels, DEGREES) for data in files[start : start + batch]]


def _jpegs(count: int) -> list[bytes]:
    """Pictures as coarse as photographs are: noise of 80 × 60 px, enlarged."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(count):
        coarse = Image.fromarray(rng.integers(0, 256, (60, 80, 3), dtype=np.uint8))
        stream = BytesIO()
        coarse.resize((640, 480), Image.Resampling.BICUBIC).save(stream, "JPEG", quality=90)
        found.append(stream.getvalue())
    return found


def _finish(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)


def _seconds(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main(*sys.argv[1:2])

"""Throughput of a published CLIP-like evaluator against its bare network: ``python -m bench.published``.

The architecture is ViT-B/32 with random weights, written as a checkpoint and loaded by the code that users run: the
publishers' weights change no timing. The bare network is given prepared tensors in batches of the same size; captions
are cut to as many columns for it as for the evaluator (``bench.captions`` compares with all 77).
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import torch

from bench.report import row
from core.evaluators.base import DualEncoder
from core.evaluators.memory import CPU_BATCH
from core.evaluators.registry import find

IMAGES, REPEATS = 64, 5
HEIGHT, WIDTH = 480, 640


def main(images: int = IMAGES, repeats: int = REPEATS) -> None:
    """Print images and captions a second through the evaluator, and their share of the bare network's."""
    with tempfile.TemporaryDirectory() as folder:
        loaded = find(f"clipscore@{_checkpoint(Path(folder) / 'random.pt')}").load()
    assert isinstance(loaded, DualEncoder)
    towers = loaded._towers  # type: ignore[attr-defined]
    network = towers.image.network
    rng = np.random.default_rng(0)
    photos = [rng.integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8) for _ in range(images)]
    captions = [f"A photograph of {index} things on a table." for index in range(images)]
    pixels = towers.preprocessing.tensor(photos)
    ((_, tokens),) = towers.causal.cut(towers.prompts.tokens([f"A photo depicts {caption}" for caption in captions]))
    pairs: tuple[tuple[str, Callable[[], object], Callable[[], object]], ...] = (
        ("images", lambda: loaded.encode_images(photos), lambda: _bare(network.encode_image, pixels)),
        ("captions", lambda: loaded.encode_captions(captions), lambda: _bare(towers.causal.embed, torch.stack(tokens))),
    )
    for what, ours, bare in pairs:
        shares, speeds = [], []
        ours()
        bare()
        for _ in range(repeats):  # one after the other, so that a busy machine slows both
            mine, plain = _seconds(ours), _seconds(bare)
            shares.append(plain / mine)
            speeds.append(images / mine)
        how = f"ViT-B/32, random weights, CPU, {torch.get_num_threads()} threads, {images} of {WIDTH} × {HEIGHT} px"
        row(
            f"clipscore, {what} encoded",
            f"{median(shares):.2f} of the bare network ({median(speeds):.1f}/s)",
            how,
            "≥ 0.9",
        )


def _bare(encode: Callable[[torch.Tensor], torch.Tensor], inputs: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        return torch.cat([encode(part) for part in inputs.split(CPU_BATCH)])


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _checkpoint(path: Path) -> Path:
    import open_clip

    torch.manual_seed(0)
    network = open_clip.create_model("ViT-B-32-quickgelu", load_weights=False)
    torch.save(network.state_dict(), path)
    return path


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

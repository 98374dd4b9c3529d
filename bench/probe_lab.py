"""Probe lab: from the bytes of an uploaded 12-megapixel photo to every score, the models being warm."""

import time
from io import BytesIO
from statistics import median

import numpy as np
from PIL import Image

from bench.report import row
from core.corpora import registry as corpora
from core.corpora.images import decode_image, read_item
from core.corpora.schema import Box
from core.evaluators import registry as evaluators
from core.evaluators.cache import EmbeddingCache
from core.evaluators.pool import Pool
from core.probes.pixels.grabcut import mask_from_box
from core.probes.registry import select
from core.scoring.lab import run_lab
from core.scoring.workbench import Workbench, in_memory_item, with_object

WORKING_SIDE = 1024
REPEATS = 5
PROBES = (
    "vflip", "hflip", "rotate+10", "blur-2", "reposition-TL", "reposition-BR", "cultural:American",
    "cultural:African", "economic:luxury", "economic:cheap", "gender:female", "emotion:happy",
)  # fmt: skip


def photo(index: int) -> tuple[bytes, Box, str, str]:
    """A demo photograph enlarged to 12 megapixels, as JPEG bytes, with its box as shares of its sides."""
    items = [item for item in corpora.catalogue().get("demo").load().items if item.box and item.label]
    item = items[index * 37 % len(items)]
    across, down = (4000, 3000) if item.width >= item.height else (3000, 4000)
    grain = np.random.default_rng(index).normal(0, 4, (down, across, 1))
    large = Image.fromarray(read_item(item).pixels).resize((across, down), Image.Resampling.BICUBIC)
    buffer = BytesIO()
    Image.fromarray(np.clip(np.asarray(large) + grain, 0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=92)
    assert item.box is not None
    box = Box(item.box.x / item.width, item.box.y / item.height, item.box.width / item.width,
              item.box.height / item.height)  # fmt: skip
    return buffer.getvalue(), box, item.label or "", item.category or ""


def main() -> None:
    """Print the median seconds of an upload that no cache has seen, and of a second caption for it."""
    names = [found.spec.name for found in evaluators.catalogue() if found.spec.offline and found.availability().ready]
    probes = select(PROBES)
    pool, cache = Pool(), EmbeddingCache()
    first, second = [], []
    for index in range(REPEATS + 1):
        data, share, label, category = photo(index)
        start = time.perf_counter()
        pixels = decode_image(data, name="photo.jpg", max_side=WORKING_SIDE).pixels
        height, width = pixels.shape[:2]
        box = Box(share.x * width, share.y * height, share.width * width, share.height * height)
        item = with_object(in_memory_item(pixels, label=label, category=category), box, mask_from_box(pixels, box))
        bench = Workbench(item, pixels)
        run_lab(bench, f"There is a {label}.", probes, names, pool=pool, cache=cache)
        first.append(time.perf_counter() - start)
        start = time.perf_counter()
        run_lab(bench, f"A photograph of a {label} somewhere.", probes, names, pool=pool, cache=cache)
        second.append(time.perf_counter() - start)
    megapixels = f"{len(probes)} probes × {len(names)} offline evaluators, {REPEATS} photos of 12 Mpx, GrabCut included"
    row("Probe lab, new upload, models warm", f"{median(first[1:]):.2f} s (slowest {max(first[1:]):.2f} s)", megapixels,
        "< 2 s")  # fmt: skip
    row("Probe lab, another caption for it", f"{median(second[1:]):.2f} s", megapixels)


if __name__ == "__main__":
    main()

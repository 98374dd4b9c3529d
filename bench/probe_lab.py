"""Probe lab: from the bytes of an uploaded 12-megapixel photo to every score, the models being warm."""

import time
from collections.abc import Sequence
from io import BytesIO

import numpy as np
from PIL import Image

from bench.report import row
from core.corpora import registry as corpora
from core.corpora.images import decode_image
from core.corpora.item_pictures import read_item
from core.corpora.schema import Box
from core.evaluators import registry as evaluators
from core.evaluators.cache import EmbeddingCache
from core.evaluators.pool import Pool
from core.features.lab.edited_copies import occlusion_map, word_losses
from core.features.lab.lab import run_lab
from core.features.lab.position_map import STEPS, position_map
from core.probes.base import Probe, Variant
from core.probes.pairs import subject_of
from core.probes.pixels.cutout import mask_from_box
from core.probes.registry import select
from core.scoring.workbench import Workbench, in_memory_item, with_object

WORKING_SIDE = 1024
REPEATS = 5
ROOM = 0.8  # of either side: what a position map can move
PROBES = (
    "vflip",
    "hflip",
    "rotate+10",
    "blur-2",
    "reposition-TL",
    "reposition-BR",
    "cultural:American",
    "cultural:African",
    "economic:luxury",
    "economic:cheap",
    "gender:female",
    "emotion:happy",
)
MAPPED = ("conse-lite0", "conse-lite2", "grounding-judge")


def photo(index: int) -> tuple[bytes, Box, str, str]:
    """A demo photograph enlarged to 12 megapixels, as JPEG bytes, with its box as shares of its sides."""
    known = corpora.catalogue().get("demo").load().items
    items = [
        item
        for item in known
        if item.label and item.box and item.box.width < ROOM * item.width and item.box.height < ROOM * item.height
    ]
    item = items[index * 37 % len(items)]
    across, down = (4000, 3000) if item.width >= item.height else (3000, 4000)
    grain = np.random.default_rng(index).normal(0, 4, (down, across, 1))
    large = Image.fromarray(read_item(item).pixels).resize((across, down), Image.Resampling.BICUBIC)
    buffer = BytesIO()
    Image.fromarray(np.clip(np.asarray(large) + grain, 0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=92)
    assert item.box is not None
    box = Box(
        item.box.x / item.width, item.box.y / item.height, item.box.width / item.width, item.box.height / item.height
    )
    return buffer.getvalue(), box, item.label or "", item.category or ""


def upload(data: bytes, share: Box, label: str, category: str) -> Workbench:
    """What the page does with the bytes of a photograph, its object boxed and named."""
    pixels = decode_image(data, name="photo.jpg", max_side=WORKING_SIDE).pixels
    height, width = pixels.shape[:2]
    box = Box(share.x * width, share.y * height, share.width * width, share.height * height)
    item = with_object(in_memory_item(pixels, label=label, category=category), box, mask_from_box(pixels, box))
    return Workbench(item, pixels)


def measured(
    index: int, probes: Sequence[Probe], names: Sequence[str], pool: Pool, cache: EmbeddingCache
) -> dict[str, float]:
    """Seconds of every step on one photograph, from its bytes."""
    taken = photo(index)
    start = [time.perf_counter()]
    bench = upload(*taken)
    caption, other = (said.format(bench.item.label) for said in ("There is a {}.", "A photograph of a {} somewhere."))
    start.append(time.perf_counter())
    for probe in probes:
        bench.make(probe, subject_of(bench.item, caption))
    start.append(time.perf_counter())
    run_lab(bench, caption, probes, names, pool=pool, cache=cache)
    start.append(time.perf_counter())
    run_lab(bench, other, probes, names, pool=pool, cache=cache)
    start.append(time.perf_counter())
    list(position_map(bench, caption, MAPPED, pool=pool, cache=cache))
    start.append(time.perf_counter())
    for name in MAPPED:
        hidden(bench, probes[0], caption, name, pool)
        start.append(time.perf_counter())
    steps = ("upload", "made", "scored", "another", "places", *MAPPED)
    return dict(zip(steps, np.diff(start).tolist(), strict=True))


def hidden(bench: Workbench, probe: Probe, caption: str, name: str, pool: Pool) -> None:
    """What *the metric saw* asks of one evaluator: parts hidden and words left out, of the original and a variant."""
    subject = subject_of(bench.item, caption)
    made = bench.make(probe, subject)
    assert isinstance(made, Variant)
    for variant in (None, made):
        with pool.lease(name) as loaded:
            pixels = bench.image(variant)[1]
            occlusion_map(loaded, pixels, caption)
            word_losses(loaded, pixels, caption, language=subject.language)


def main() -> None:
    """Print median seconds: an upload that no cache has seen, a second caption, the maps; the first round warms up."""
    names = [found.spec.name for found in evaluators.catalogue() if found.spec.offline and found.availability().ready]
    probes = select(PROBES)
    pool, cache = Pool(), EmbeddingCache()
    took = [measured(index, probes, names, pool, cache) for index in range(REPEATS + 1)]
    told = {what: np.array([each[what] for each in took[1:]]) for what in took[0]}
    first = told["upload"] + told["made"]
    n = f"{len(probes)} probes × {len(names)} offline evaluators, {REPEATS} photos of 12 Mpx, GrabCut included"
    mapped = f"{len(MAPPED)} offline evaluators, the same photos"
    row("Probe lab, new upload, models warm: variants made", _said(first), n, "< 1.5 s")
    row("… and scored", _said(first + told["scored"]), n, "< 2 s")
    row("… another caption for it", _said(told["another"]), n)
    row(f"… position map of {STEPS} × {STEPS}", _said(told["places"]), mapped, "< 4 s")
    for name in MAPPED:
        what = f"… what the score rests on under {name}"
        row(what, _said(told[name]), "two occlusion maps, each word left out of both, the same photos", "< 3 s")


def _said(seconds: np.ndarray) -> str:
    return f"{np.median(seconds):.2f} s (slowest {seconds.max():.2f} s)"


if __name__ == "__main__":
    main()

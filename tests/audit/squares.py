"""A corpus small enough to audit in a second, made of seeded noise and rectangles."""

from pathlib import Path

import numpy as np
from PIL import Image

from core.corpora.schema import Box, Corpus, Item, Mask, Rejection

PLUGINS = Path(__file__).resolve().parents[1] / "plugins"
HISTOGRAM = f"{PLUGINS / 'histogram.py'}:Histogram"
PAIRED = f"{PLUGINS / 'histogram.py'}:PairedHistogram"
SHORT_MEMORY = f"{PLUGINS / 'histogram.py'}:ShortMemory"
ENGLISH = f"{PLUGINS / 'histogram.py'}:EnglishHistogram"
ORDERED = f"{PLUGINS / 'ordered.py'}:Ordered"
GATED = f"{PLUGINS / 'gated.py'}:Gated"

LABELS = ("bed", "dog", "car", "umbrella")
CATEGORIES = ("furniture", "animal", "vehicle", "accessory")


def build_corpus(root: Path, count: int = 7) -> Corpus:
    root.mkdir(parents=True, exist_ok=True)
    items = []
    for index in range(count):
        rng = np.random.default_rng(index)
        pixels = rng.integers(0, 60, (64, 80, 3), dtype=np.uint8) + np.uint8(20 * (index % 5))
        mask = np.zeros((64, 80), dtype=bool)
        mask[20:40, 24:44] = True
        pixels[mask] = (200, 40 * (index % 6), 30)
        path = root / f"{index:03d}.png"
        Image.fromarray(pixels).save(path)
        items.append(
            Item(
                id=f"item-{index}",
                corpus="squares",
                image_path=path,
                width=80,
                height=64,
                captions={"en": (f"Noise number {index} behind a square.",)},
                label=LABELS[index % 4],
                category=CATEGORIES[index % 4],
                box=Box(24, 20, 20, 20),
                mask=Mask.from_array(mask),
                licence="CC0-1.0",
                source="made by a test",
            )
        )
    return Corpus("squares", tuple(items), (Rejection("item-x", "crowd", "it is a crowd"),), "Squares on noise.")

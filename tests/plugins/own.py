"""A corpus, two probes and one's own metrics, as a user writes them into one file."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from core.corpora.registry import catalogue, corpus_loader
from core.corpora.schema import Corpus
from core.probes.base import Axis, Edits, Subject, Variant, probe
from core.probes.scene import Scene


@probe(name="brighter", axis=Axis.SPATIAL, family="brighter", edits=Edits.IMAGE, default=False, summary="20 levels up.")
def brighter(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    """Add 20 levels to every pixel below 236."""
    return Variant(probe="brighter", pixels=np.minimum(scene.pixels.astype(int) + 20, 255).astype(np.uint8))


@probe(name="vflip", axis=Axis.SPATIAL, family="brighter", edits=Edits.IMAGE, summary="Has another probe's name.")
def taken(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    """Never made."""
    raise NotImplementedError


@corpus_loader(name="own", summary="A folder under another name.", options={"called": "what runs call it"})
def own(root: Path, *, called: str = "own") -> Corpus:
    """Read a folder of pictures."""
    return replace(catalogue().get("folder").load(root), name=called)


def brightness(image: Image.Image, caption: str) -> float:
    """Mean brightness of a PIL picture."""
    assert isinstance(image, Image.Image)
    return float(np.asarray(image).mean() / 255)


def of_array(image: np.ndarray, caption: str, scale: float = 255.0) -> np.floating:
    """The same of an array."""
    assert image.dtype == np.uint8
    return image.mean() / scale


def sometimes(image: Image.Image, caption: str) -> object:
    """A number for some captions alone."""
    if "raise" in caption:
        raise ValueError("no such caption")
    return {"nan": float("nan"), "text": "0.5", "nothing": None, "two": [1, 2], "array": np.array([0.25])}.get(
        caption, len(caption)
    )


def helper(image: Image.Image) -> None:
    """No metric: it takes no caption."""

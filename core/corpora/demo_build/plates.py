"""The picture behind the object of a composed item, drawn again as the builder drew it.

An item's background is the first thing that its own random stream draws, so its name and the item's id are enough: no
stamp is needed, and no picture of it ships.
"""

from functools import cache

import cv2
import numpy as np
from PIL import Image

from core import settings
from core.corpora.demo_build.backgrounds import make_background
from core.corpora.demo_build.compose import shadowed
from core.corpora.demo_build.plan import ItemEntry, Plan, read_plan
from core.corpora.demo_build.write import encode_jpeg
from core.corpora.images import decode_image
from core.corpora.schema import Item, Mask
from core.errors import BadCorpus
from core.seeds import RUN_SEED, stream

NEAR = 0.05
"""Share of the longer side around the object that the check leaves out: the object's soft edge lies there."""

TOLERANCE = 1.0
"""Largest mean difference from the item's picture away from its object, in grey levels of 255. Both are JPEGs of one
drawing; another drawing of the same place differs by some twenty."""


def true_plate(item: Item, pixels: np.ndarray) -> np.ndarray:
    """Draw the background of a composed item as if nothing had been put there: neither its object nor its shadow.

    Args:
        item: of the demo corpus, composed.
        pixels: uint8 RGB [H, W, 3], the item's picture.

    Returns:
        uint8 RGB [H, W, 3], compressed as the item's picture was.

    Raises:
        BadCorpus: if no list holds the item, or what is drawn is not what the picture shows around its object.
    """
    entry = _entries().get(item.id)
    if entry is None or item.mask is None or (item.width, item.height) != (entry.width, entry.height):
        raise BadCorpus(f"no list in {settings.assets_dir() / 'demo'} says how item {item.id!r} was composed")
    rng = stream(RUN_SEED, "build-demo", item.id)
    ground = make_background(entry.background, entry.width, entry.height, rng).image
    pose = _plan().stamps[entry.stamp].pose
    around = ground if pose == "float" else _shadow(ground, item.mask, standing=pose == "stand")
    apart = _apart(_compressed(around), pixels, item.mask)
    if not apart <= TOLERANCE:
        raise BadCorpus(
            f"what is drawn behind item {item.id!r} differs from its picture by {apart:.1f} of 255 on average, at most "
            f"{TOLERANCE:g} are the compression's; rebuild the corpus with the pinned packages"
        )
    return _compressed(ground)


def _compressed(drawn: Image.Image) -> np.ndarray:
    return decode_image(encode_jpeg(np.asarray(drawn)), name="the background").pixels


def _shadow(ground: Image.Image, mask: Mask, *, standing: bool) -> Image.Image:
    """The builder's shadow, from the mask in the place of the cut-out's opacity."""
    assert mask.box is not None
    left, top, right, bottom = (int(each) for each in (mask.box.x, mask.box.y, mask.box.right, mask.box.bottom))
    solid = mask.to_array()[top:bottom, left:right]
    alpha = Image.fromarray(np.where(solid, 255, 0).astype(np.uint8))
    return shadowed(ground, alpha, (left, top), standing=standing)


def _apart(plate: np.ndarray, pixels: np.ndarray, mask: Mask) -> float:
    """Mean absolute difference where the object is not near; NaN where it is near everywhere."""
    away = cv2.distanceTransform((~mask.to_array()).view(np.uint8), cv2.DIST_L2, 5) > NEAR * max(pixels.shape)
    return float(np.abs(plate[away].astype(int) - pixels[away]).mean()) if away.any() else float("nan")


def _entries() -> dict[str, ItemEntry]:
    return _by_id(_plan().items)


@cache
def _by_id(items: tuple[ItemEntry, ...]) -> dict[str, ItemEntry]:
    return {entry.id: entry for entry in items}


@cache
def _plan() -> Plan:
    return read_plan(settings.assets_dir() / "demo")

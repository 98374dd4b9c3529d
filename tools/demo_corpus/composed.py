"""One composed item: a stamp with its captions on a background, its size, place, edge, light and shadow."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image, ImageFilter

from core.corpora.demo import CORPUS
from core.corpora.demo_backgrounds import Background, encode_jpeg, make_background, shadowed
from core.corpora.demo_plan import LANGUAGES, ItemEntry, StampEntry
from core.corpora.schema import COVERAGE_BINS, COVERAGE_EDGES, Item, Mask
from core.errors import BadCorpus
from core.seeds import RUN_SEED, stream
from tools.demo_corpus.plan import Plan, said_of
from tools.demo_corpus.stamps import LICENCE, PACKAGE, PACKAGE_VERSION, read_captions, read_stamp

MAX_SCALE = 1.6
"""A stamp is never magnified more than this."""

TURN_DEGREES = 10
"""Objects of the bins below 70 % stay inside the frame when the image is turned by this much."""


_TRIES = 400
_MARGIN = 0.015
_GROUND = 0.06
"""Feet stand at least this share of the height below the horizon."""


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """A composed image, uint8 RGB [H, W, 3], and the object's mask, bool [H, W]."""

    pixels: np.ndarray
    mask: np.ndarray
    scale: float
    photographs: tuple[str, ...]


def compose(
    stamp: Image.Image,
    *,
    bin_name: str,
    background: str,
    pose: str,
    size: tuple[int, int],
    rng: np.random.Generator,
) -> Composition:
    """Put a stamp on a background so that its box covers a share of the frame that lies in the bin.

    Args:
        stamp: RGBA, cut to its box.
        bin_name: one of COVERAGE_BINS.
        background: name of a place.
        pose: ``stand`` (on the ground, with a shadow at its feet), ``lie`` (seen from above) or ``float``.
        size: width and height of the frame, in pixels.

    Raises:
        BadCorpus: if the stamp is too small for that bin, or fits nowhere.
    """
    place = make_background(background, *size, rng)
    scale = _draw_scale(stamp, bin_name, size, rng)
    cutout = cut_out(stamp, (max(1, round(stamp.width * scale)), max(1, round(stamp.height * scale))))
    solid = np.asarray(cutout.getchannel("A")) > 127
    left, top = _position(solid, bin_name, place if pose == "stand" else None, size, rng)
    canvas = place.image.copy()
    cutout = matched_light(cutout, canvas, solid)
    if pose != "float":
        canvas = shadowed(canvas, cutout.getchannel("A"), (left, top), standing=pose == "stand")
    canvas.paste(cutout, (left, top), cutout)
    mask = np.zeros((size[1], size[0]), bool)
    mask[top : top + solid.shape[0], left : left + solid.shape[1]] = solid
    return Composition(np.asarray(canvas), mask, scale, place.photographs)


def scale_range(stamp: Image.Image, bin_name: str, size: tuple[int, int]) -> tuple[float, float]:
    """Return the smallest and the largest magnification that puts a stamp into a bin; none where they cross.

    The largest respects MAX_SCALE and the room in the frame: for the box, and below the two largest bins for
    the whole outline turned by TURN_DEGREES about the centre. Both keep clear of the bin's edges.
    """
    index = COVERAGE_BINS.index(bin_name)
    low, high = COVERAGE_EDGES[index], COVERAGE_EDGES[index + 1]
    low, high = max(low, 0.02) + 0.15 * (high - low), high - 0.1 * (high - low)
    per_scale = stamp.width * stamp.height / (size[0] * size[1])
    room = min(size[0] / stamp.width, size[1] / stamp.height) * (1 - _MARGIN / 2)
    if _must_turn(bin_name):
        outline = _outline(np.asarray(stamp.getchannel("A")) > 127)
        reach = [np.abs(turned).max(axis=0) for turned in _turns(outline - np.array(stamp.size) / 2)]
        across, down = np.max(reach, axis=0)
        room = min(size[0] / across, size[1] / down) * (0.5 - 2 * _MARGIN)
    return math.sqrt(low / per_scale), min(MAX_SCALE, room, math.sqrt(high / per_scale))


def _draw_scale(stamp: Image.Image, bin_name: str, size: tuple[int, int], rng: np.random.Generator) -> float:
    smallest, largest = scale_range(stamp, bin_name, size)
    if smallest > largest:
        raise BadCorpus(
            f"a stamp of {stamp.width} × {stamp.height} px cannot cover {bin_name} % of {size[0]} × {size[1]} px "
            f"(magnified at most {MAX_SCALE} times, inside the frame); choose a smaller bin or another frame"
        )
    return math.sqrt(rng.uniform(smallest**2, largest**2))


def cut_out(stamp: Image.Image, target: tuple[int, int]) -> Image.Image:
    """Resize with colours weighted by opacity, drop specks, and soften the edge a little inwards."""
    resized = stamp.convert("RGBa").resize(target, Image.Resampling.LANCZOS).convert("RGBA")
    alpha = np.asarray(resized.getchannel("A"))
    count, parts, stats, _ = cv2.connectedComponentsWithStats((alpha > 16).astype(np.uint8), connectivity=8)
    areas = stats[:, cv2.CC_STAT_AREA]
    kept = [part for part in range(1, count) if areas[part] >= 0.01 * areas[1:].max()]
    alpha = np.where(np.isin(parts, kept), alpha, 0).astype(np.uint8)
    soft = Image.fromarray(alpha).filter(ImageFilter.GaussianBlur(0.7))
    resized.putalpha(soft.point([min(255, max(0, (value - 60) * 255 // 165)) for value in range(256)]))
    return resized


def _position(
    solid: np.ndarray, bin_name: str, standing_on: Background | None, size: tuple[int, int], rng: np.random.Generator
) -> tuple[int, int]:
    """Draw where the object's box starts: inside the frame, on the ground, and whole after a turn."""
    outline = _outline(solid)
    (height, width), (frame_width, frame_height) = solid.shape, size
    slack = frame_width - width + 1, frame_height - height + 1
    for attempt in range(_TRIES):
        left, top = int(rng.integers(slack[0])), int(rng.integers(slack[1]))
        calm = 1 - attempt / _TRIES
        left = round(left * calm + (slack[0] - 1) / 2 * (1 - calm))
        grounded = standing_on is None or top + height >= standing_on.horizon + _GROUND * frame_height
        if grounded and (not _must_turn(bin_name) or _whole_after_turns(outline + np.array((left, top)), size)):
            return left, top
    raise BadCorpus(
        f"an object of {width} × {height} px fits nowhere in {frame_width} × {frame_height} px so that a turn by "
        f"{TURN_DEGREES}° keeps it whole; choose a smaller bin or its own frame shape"
    )


def _must_turn(bin_name: str) -> bool:
    return COVERAGE_BINS.index(bin_name) < COVERAGE_BINS.index("70-90")


def _outline(solid: np.ndarray) -> np.ndarray:
    """Corners of the convex hull of a mask, as [n, 2] columns and rows."""
    rows, columns = np.nonzero(solid)
    return cv2.convexHull(np.column_stack([columns, rows]).astype(np.int32))[:, 0].astype(float)


def _turns(points: np.ndarray) -> list[np.ndarray]:
    """Points [n, 2] turned about the origin to either side and not at all."""
    angles = [math.radians(degrees) for degrees in (-TURN_DEGREES, 0, TURN_DEGREES)]
    return [points @ np.array([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]) for a in angles]


def _whole_after_turns(outline: np.ndarray, size: tuple[int, int]) -> bool:
    centre, margin = np.array(size) / 2, _MARGIN * np.array(size)
    turned = np.concatenate(_turns(outline - centre)) + centre
    return bool((turned >= margin).all() and (turned <= np.array(size) - margin).all())


def matched_light(cutout: Image.Image, canvas: Image.Image, solid: np.ndarray) -> Image.Image:
    """Bring the object's brightness an eighth of the way towards the background's, in whole numbers."""
    around = int(np.asarray(canvas.convert("L")).astype(np.int64).sum()) // (canvas.width * canvas.height)
    inside = int(np.asarray(cutout.convert("L")).astype(np.int64)[solid].sum()) // int(solid.sum())
    gain = min(280, max(235, 256 + (around - inside) // 8 * 256 // max(inside, 64)))
    red, green, blue, alpha = cutout.split()
    lit = [channel.point([min(255, value * gain // 256) for value in range(256)]) for channel in (red, green, blue)]
    return Image.merge("RGBA", (*lit, alpha))


def composed_item(entry: ItemEntry, plan: Plan, stamps: Path) -> tuple[Item, bytes, dict[str, Any]]:
    """Compose one item of the plan.

    Args:
        stamps: folder of the stamps.

    Returns:
        The item without hashes, the bytes of its JPEG, and what it was made from.

    Raises:
        BadCorpus: naming the item, if its stamp does not fit its bin or frame, or has no captions.
    """
    about = plan.stamps[entry.stamp]
    try:
        composition = compose(
            read_stamp(stamps, entry.stamp),
            bin_name=entry.coverage_bin,
            background=entry.background,
            pose=about.pose,
            size=(entry.width, entry.height),
            rng=stream(RUN_SEED, "build-demo", entry.id),
        )
    except BadCorpus as error:
        raise BadCorpus(f"item {entry.id!r}: {error}") from error
    mask = Mask.from_array(composition.mask)
    item = Item(
        id=entry.id,
        corpus=CORPUS,
        image_path=Path(f"{entry.id}.jpg"),
        width=entry.width,
        height=entry.height,
        captions=_captions(entry, plan, stamps, mask),
        label=about.label,
        category=about.category,
        box=mask.box,
        mask=mask,
        licence=LICENCE,
        source=_source(about, entry.background, composition.photographs),
        backdrop=entry.background,
    )
    if item.coverage_bin != entry.coverage_bin:
        raise BadCorpus(f"item {entry.id!r} covers {item.coverage:.3f} of its frame, not {entry.coverage_bin} %")
    made_from = {
        "stamp_sha256": hashlib.sha256((stamps / entry.stamp).read_bytes()).hexdigest(),
        "scale": round(composition.scale, 3),
        "background": entry.background,
        "photographic": about.photographic,
        "captions": "a sentence of this corpus's grammar, then one "
        + ("of the stamp's own text" if about.captions == "stamp" else "written for this corpus"),
    }
    return item, encode_jpeg(composition.pixels), made_from


def _captions(entry: ItemEntry, plan: Plan, stamps: Path, mask: Mask) -> dict[str, tuple[str, ...]]:
    """The sentence, then the short caption of the stamp, of every language."""
    about = plan.stamps[entry.stamp]
    short = _short_captions(about, plan, stamps)
    said = said_of(plan.grammar, label=about.label, stamp=about.stamp, background=entry.background, mask=mask)
    return {language: (*said[language], *short[language]) for language in LANGUAGES}


def _short_captions(about: StampEntry, plan: Plan, stamps: Path) -> Mapping[str, tuple[str, ...]]:
    if about.captions == "stamp":
        return read_captions(stamps, about.stamp, LANGUAGES)
    if about.stamp not in plan.captions:
        raise BadCorpus(f"captions.csv has no captions of {about.stamp!r}; write them in every language")
    return plan.captions[about.stamp]


def _source(about: StampEntry, background: str, photographs: tuple[str, ...]) -> str:
    kind = "photographic cut-out" if about.photographic else "drawing"
    return (
        f"{PACKAGE} {PACKAGE_VERSION}: {about.stamp} ({kind}) on background {background!r} made of "
        f"scikit-image's {' and '.join(photographs)}"
    )

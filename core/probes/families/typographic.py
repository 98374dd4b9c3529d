"""A word written into the picture: the object's own name, one of something that is not there, or one about nothing.

The picture shows the same objects, so a score of what it shows must not move; towers that were trained on captions of
the web read letters too. ``typographic:right`` writes the object's name, ``:wrong`` that of a category of another kind
that is annotated absent, ``:neutral`` a word that names nothing. The word stands on a white plate in the corner that
the object covers least, one for all three, in letters of one height unless a word is too long for it.
Where the corpus was asked to (``text=read``), each variant says whether the photograph held text before.
Source: typographic attacks on CLIP (Goh et al., Multimodal neurons in artificial neural networks, Distill 2021).
"""

from dataclasses import dataclass

import cv2
import numpy as np

from core.corpora.images import check_rgb
from core.errors import NotAvailable, ProbeRejected
from core.probes.base import Axis, Probe, Subject, Variant, picture_probe
from core.probes.pixels.text_reader import WRITTEN_IN, text_reader
from core.probes.scene import Scene, boxed
from core.probes.words.categories import another_kind
from core.probes.words.templates import item_label

_HEIGHT = 0.08  # height of a capital letter, as a share of the picture's shorter side

_LEAST_HEIGHT, _MOST_WIDTH = 8, 0.6
"""Smallest height of a capital in pixels that can be read, and the largest share of the picture's width of a word."""

_FONT = cv2.FONT_HERSHEY_SIMPLEX  # OpenCV's own, so that the pixels are the same everywhere
_UNIT = 21  # px, height of a capital of the font at scale 1


@dataclass(frozen=True, slots=True)
class Plate:
    """Where a word stands."""

    # x, y: left and top of the white plate in pixels
    x: int
    y: int
    # width, height: of the plate
    width: int
    height: int
    margin: int  # of white around the letters
    scale: float  # of the font
    stroke: int  # width of a letter's lines in pixels
    baseline: int  # how far letters reach below their line


def write_word(pixels: np.ndarray, word: str, covered: np.ndarray | None = None) -> tuple[np.ndarray, Plate]:
    """Write a word into the emptiest corner: the one of which the object covers least, bottom right before the others.
    The corners that are compared are a quarter of the sides long, whatever the word, so that all words of a picture
    stand in one corner.
    ``pixels``: uint8 RGB [H, W, 3]. ``word``: printable ASCII, which is what OpenCV's font holds.
    ``covered``: boolean [H, W] of the object; None: the first corner is taken.
    Returns the picture, and where the word stands; outside the plate no pixel changes.
    Raises ProbeRejected ``not-writable`` where a letter is none of the font's, or the word is too long or the picture
    too small for letters that can be read."""
    check_rgb(pixels)
    places = _places(pixels.shape[1], pixels.shape[0], word)
    place = 0
    if covered is not None:  # pixels of the object in each corner, in the order of the places
        down, across = (max(1, side // 4) for side in covered.shape)
        corners = covered[-down:, -across:], covered[-down:, :across], covered[:down, -across:], covered[:down, :across]
        place = int(np.argmin([int(each.sum()) for each in corners]))
    plate = places[place]
    written = pixels.copy()
    written[_inside(plate)] = 255
    at = plate.x + plate.margin, plate.y + plate.height - plate.margin - plate.baseline
    cv2.putText(written, word, at, _FONT, plate.scale, (0, 0, 0), plate.stroke, cv2.LINE_AA)
    found = pixels.copy()
    found[_inside(plate)] = written[_inside(plate)]  # a letter's smoothed edge never leaves the plate
    return found, plate


def _places(width: int, height: int, word: str) -> list[Plate]:
    """The four corners, bottom right first."""
    if not word.strip() or not word.isascii() or not word.isprintable():
        raise ProbeRejected("not-writable", f"{word!r} holds letters that OpenCV's font lacks; only ASCII can be drawn")
    capital = round(_HEIGHT * min(width, height))
    wide, tall, below, stroke, scale = _size(word, capital)
    while capital > _LEAST_HEIGHT and wide > _MOST_WIDTH * width:
        capital -= 1
        wide, tall, below, stroke, scale = _size(word, capital)
    margin = max(2, capital // 3)
    across, down = wide + 2 * margin, tall + below + 2 * margin
    if capital < _LEAST_HEIGHT or across > width or down > height or wide > _MOST_WIDTH * width:
        told = f"{word!r} cannot be written into {width} × {height} px in letters of {_LEAST_HEIGHT} px or more"
        raise ProbeRejected("not-writable", told)
    gap = max(0, min(capital // 2, (width - across) // 2, (height - down) // 2))
    left, top, right, bottom = gap, gap, width - across - gap, height - down - gap
    corners = ((right, bottom), (left, bottom), (right, top), (left, top))
    return [Plate(x, y, across, down, margin, scale, stroke, below) for x, y in corners]


def _size(word: str, capital: int) -> tuple[int, int, int, int, float]:
    """Width, height above the line and below it, stroke and scale of a word whose capitals are so high."""
    scale, stroke = capital / _UNIT, max(1, round(capital / 8))
    (wide, tall), below = cv2.getTextSize(word, _FONT, scale, stroke)
    return wide, tall, below, stroke, scale


def _inside(plate: Plate) -> tuple[slice, slice]:
    return slice(plate.y, plate.y + plate.height), slice(plate.x, plate.x + plate.width)


NEUTRAL = "sample"  # a word that names nothing a picture could show; stock pictures bear it

_SAYS = {
    "right": "the name of its object",
    "wrong": "the name of something that is not in it",
    "neutral": f"the word {NEUTRAL!r}",
}


def _written(kind: str) -> Probe:
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        word = NEUTRAL
        if kind != "neutral":
            word = item_label(scene.item) if kind == "right" else another_kind(scene.item, rng)
        pixels, plate = write_word(scene.pixels, word, _object(scene))
        box, mask = scene.item.box, scene.item.mask
        area = plate.width * plate.height / (scene.item.width * scene.item.height)
        facts: dict[str, str | float] = {"word": word, "plate": area, **_held(scene)}
        return Variant(f"{WRITTEN_IN}:{kind}", pixels=pixels, object_box=box, object_mask=mask, facts=facts)

    name, source = f"{WRITTEN_IN}:{kind}", "typographic attacks: Goh et al., Distill 2021"
    summary = f"In a corner of the picture stands {_SAYS[kind]}; it shows the same objects."
    return picture_probe(name, WRITTEN_IN, summary, make, axis=Axis.SURFACE, source=source, draws="absent-category")


def _held(scene: Scene) -> dict[str, str]:
    """Facts of the text that the photograph holds; none where it is not to be read."""
    if not scene.item.read_text:
        return {}
    try:
        return text_reader().facts(scene.pixels)
    except NotAvailable as error:
        raise ProbeRejected("no-reader", str(error)) from error


def _object(scene: Scene) -> np.ndarray | None:
    """Where the object is, as far as that is known without looking for it."""
    try:
        if scene.item.mask is not None:
            return scene.mask
    except ProbeRejected:
        return None
    return boxed(scene.item.box, scene.item.width, scene.item.height) if scene.item.box else None


WRITTEN = tuple(_written(kind) for kind in _SAYS)

"""Quadruples: one text, and four pictures of it that differ in the kind shown, in one knob, or in both.

Paper E's adversary differs from the right picture in two things: it shows the prototype, and its knob is wrong. With
all four pictures the two can be told apart: {non-prototype, prototype} × {knob right, knob wrong}. The background, its
light and every place are drawn once for the four.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from PIL import Image

from core.corpora.demo import PROTOTYPES
from core.corpora.demo_backgrounds import Background, encode_jpeg, make_background, shadowed
from core.corpora.demo_plan import Texts, capital, rows_of
from core.corpora.schema import (
    NONPROTO_WRONG,
    PROTO_RIGHT,
    PROTO_WRONG,
    PROTOTYPE_ROLES,
    Item,
    Mask,
    Rival,
    SceneObject,
)
from core.errors import BadCorpus
from core.seeds import RUN_SEED, stream
from tools.demo_corpus.composed import cut_out, matched_light
from tools.demo_corpus.stamps import LICENCE, PACKAGE, PACKAGE_VERSION, read_stamp
from tools.demo_corpus.write import Built

HUES = {"red": 0, "yellow": 52, "green": 120, "blue": 228}
"""Degrees."""

_GREY = 60
"""Least saturation, of 255, of a pixel that has a hue."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one thing stands, as shares of the frame's sides: centre of its feet, and its largest width and height."""

    across: float
    down: float
    width: float
    height: float

    def box(self, stamp: Image.Image, side: int) -> tuple[int, int, int, int]:
        """Return left, top, width, height in pixels of a stamp that fills the place as far as its shape lets it."""
        scale = min(self.width * side / stamp.width, self.height * side / stamp.height)
        width, height = max(1, round(stamp.width * scale)), max(1, round(stamp.height * scale))
        return round(self.across * side - width / 2), round(self.down * side) - height, width, height


_SLOTS = (
    Place(0.66, 0.93, 0.19, 0.21),
    Place(0.88, 0.93, 0.19, 0.21),
    Place(0.66, 0.69, 0.19, 0.21),
    Place(0.88, 0.69, 0.19, 0.21),
)
"""Copies for the knob ``count``: the first ones are taken, so that copies are only added or left out."""


def main_place(knob: str) -> Place:
    """Where the main thing stands: in the middle where the other one changes sides, else on the left."""
    return Place(0.5, 0.88, 0.42, 0.5) if knob == "layout_relation" else Place(0.29, 0.88, 0.46, 0.5)


def other_places(knob: str, value: str, *, heights: Sequence[float], horizon: float) -> tuple[Place, ...]:
    """Where the things beside the main one stand.

    Args:
        heights: of the main things of the quadruple, as shares of the frame: *shorter* and *taller* hold for each.
        horizon: first row of the ground, as a share of the frame.
    """
    if knob == "count":
        return _SLOTS[: int(value)]
    if knob == "color":
        return (Place(0.78, 0.9, 0.3, 0.42),)
    if knob == "layout_relation":  # the main thing is on this side of the other one
        return (Place(0.86 if value == "left" else 0.14, 0.9, 0.24, 0.34),)
    if knob == "spatial":
        near, far = Place(0.79, 0.99, 0.38, 0.44), Place(0.79, horizon + 0.08, 0.16, 0.15)
        return (near if value == "foreground" else far,)
    height = 0.65 * min(heights) if value == "shorter" else min(0.86, 1.4 * max(heights))
    return (Place(0.78, 0.9, 0.4, height),)


def turned(stamp: Image.Image, colour: str) -> Image.Image:
    """Turn the hue of a stamp so that its median is that of a colour; grey parts and brightness stay.

    Args:
        stamp: RGBA with one dominant hue.
        colour: one of HUES.
    """
    hue, saturation, value = stamp.convert("RGB").convert("HSV").split()
    solid = np.asarray(stamp.getchannel("A")) > 127
    own = np.asarray(hue).astype(np.int64)[solid & (np.asarray(saturation) >= _GREY)]
    # The median about the hue that most pixels have, because hues go round.
    most = int(np.bincount(own, minlength=256).argmax())
    middle = most + int(np.median((own - most + 128) % 256 - 128))
    shift = round(HUES[colour] * 256 / 360) - middle
    hue = hue.point([(each + shift) % 256 for each in range(256)])
    painted = Image.merge("HSV", (hue, saturation, value)).convert("RGB")
    painted.putalpha(stamp.getchannel("A"))
    return painted


KNOBS: Mapping[str, tuple[str, ...]] = {
    "count": ("1", "2", "3", "4"),
    "color": ("red", "green", "blue", "yellow"),
    "layout_relation": ("left", "right"),
    "spatial": ("foreground", "background"),
    "scale_size": ("shorter", "taller"),
}
"""Knob -> what it can be turned to. Source: paper E, prompt templates of Tables 3 and 5."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A non-prototypical and a prototypical kind of one hypernym, each with the stamp that shows it.

    Args:
        source: where the pair is from.
    """

    hypernym: str
    subcategory: str
    domain: str
    nonproto: str
    nonproto_stamp: str
    proto: str
    proto_stamp: str
    source: str


@dataclass(frozen=True, slots=True)
class Auxiliary:
    """A thing beside the main one, whose knob is turned."""

    stamp: str
    label: str
    plural: str


@dataclass(frozen=True, slots=True)
class Quadruple:
    """One item: a pair, a thing beside it, and the knob's right and wrong value."""

    id: str
    pair: Pair
    knob: str
    auxiliary: Auxiliary
    right: str
    wrong: str
    background: str


def read_quadruples(prototypes: Path, folder: Path) -> tuple[Quadruple, ...]:
    """Read the pairs, ``auxiliaries.csv`` and ``quadruples.csv``.

    Args:
        prototypes: file of the pairs.
        folder: of the other lists.

    Raises:
        BadCorpus: naming the file, the line and the value that cannot be used.
    """
    pairs = {}
    for _, row in rows_of(prototypes, tuple(field.name for field in fields(Pair))):
        pair = Pair(**row)
        pairs[pair.nonproto_stamp, pair.proto_stamp] = pair
    auxiliaries = {
        row["stamp"]: Auxiliary(**row) for _, row in rows_of(folder / "auxiliaries.csv", ("stamp", "label", "plural"))
    }
    columns = ("id", "nonproto_stamp", "proto_stamp", "knob", "auxiliary", "right", "wrong", "background")
    lines = rows_of(folder / "quadruples.csv", columns)
    return tuple(_quadruple(row, where, pairs, auxiliaries) for where, row in lines)


def _quadruple(
    row: Mapping[str, str], where: str, pairs: Mapping[tuple[str, str], Pair], auxiliaries: Mapping[str, Auxiliary]
) -> Quadruple:
    pair = pairs.get((row["nonproto_stamp"], row["proto_stamp"]))
    if pair is None:
        raise BadCorpus(f"{where}: no pair of prototypes.csv has stamps {row['nonproto_stamp']}, {row['proto_stamp']}")
    if row["auxiliary"] not in auxiliaries:
        raise BadCorpus(f"{where}: auxiliaries.csv has no stamp {row['auxiliary']!r}; add it with label and plural")
    values = KNOBS.get(row["knob"])
    if values is None:
        raise BadCorpus(f"{where}: {row['knob']!r} must be one of {', '.join(KNOBS)}")
    if not {row["right"], row["wrong"]} <= set(values) or row["right"] == row["wrong"]:
        raise BadCorpus(
            f"{where}: right and wrong must be two of {', '.join(values)}, got {row['right']}, {row['wrong']}"
        )
    return Quadruple(
        row["id"], pair, row["knob"], auxiliaries[row["auxiliary"]], row["right"], row["wrong"], row["background"]
    )


SIDE = 224
"""Width and height of every picture, in pixels: what evaluators see of a square picture is all of it."""

_QUALITY = 72
_CATEGORIES = {"animal": "animal", "vehicle": "vehicle", "tableware": "kitchen"}
_NUMBERS = {"1": "one", "2": "two", "3": "three", "4": "four"}
_LYING = ("food/fruit/lemon.png",)
"""Things that have no feet to stand on: their shadow lies beside them."""


def quadruple(entry: Quadruple, places: Texts, stamps: Path) -> Built:
    """Compose the four pictures of one item.

    Args:
        places: what the backgrounds are called, in English.
        stamps: folder of the stamps.

    Raises:
        BadCorpus: naming the quadruple, if a stamp is missing or a thing would leave the picture.
    """
    ground = make_background(entry.background, SIDE, SIDE, stream(RUN_SEED, "build-demo", entry.id))
    pair = entry.pair
    mains = {"nonproto": read_stamp(stamps, pair.nonproto_stamp), "proto": read_stamp(stamps, pair.proto_stamp)}
    spot = main_place(entry.knob)
    heights = [spot.box(stamp, SIDE)[3] / SIDE for stamp in mains.values()]
    auxiliary = read_stamp(stamps, entry.auxiliary.stamp)
    pictures, masks = {}, {}
    for kind, stamp in mains.items():
        for knob, value in (("right", entry.right), ("wrong", entry.wrong)):
            others = other_places(entry.knob, value, heights=heights, horizon=ground.horizon / SIDE)
            shown = turned(auxiliary, value) if entry.knob == "color" else auxiliary
            things = [(stamp, spot, True), *((shown, place, entry.auxiliary.stamp not in _LYING) for place in others)]
            pictures[f"{kind}-{knob}"], masks[f"{kind}-{knob}"] = _paint(ground, things, entry.id)
    item = _item(entry, places, masks["nonproto-right"], ground)
    return Built(
        item,
        encode_jpeg(pictures["nonproto-right"], quality=_QUALITY),
        {
            "stamp_sha256": hashlib.sha256((stamps / pair.nonproto_stamp).read_bytes()).hexdigest(),
            "background": entry.background,
            "captions": "a text of this corpus",
        },
        tuple(encode_jpeg(pictures[role], quality=_QUALITY) for role in PROTOTYPE_ROLES),
    )


def _item(entry: Quadruple, places: Texts, masks: Sequence[Mask], ground: Background) -> Item:
    pair = entry.pair
    facts = {
        "domain": pair.domain,
        "subcategory": pair.subcategory,
        "hypernym": pair.hypernym,
        "nonproto": pair.nonproto,
        "proto": pair.proto,
        "knob": entry.knob,
        "auxiliary": entry.auxiliary.label,
        "right": entry.right,
        "wrong": entry.wrong,
        "falsity": "verified",
    }
    shows = {NONPROTO_WRONG: (pair.nonproto, entry.wrong), PROTO_RIGHT: (pair.proto, entry.right)}
    shows[PROTO_WRONG] = (pair.proto, entry.wrong)
    return Item(
        id=entry.id,
        corpus=PROTOTYPES,
        image_path=Path(f"{entry.id}.jpg"),
        width=SIDE,
        height=SIDE,
        captions={"en": (text(entry, places),)},
        label=pair.nonproto,
        category=_CATEGORIES.get(pair.subcategory, "animal"),
        box=masks[0].box,
        mask=masks[0],
        others=tuple(_seen(entry.auxiliary.label, mask) for mask in masks[1:]),
        licence=LICENCE,
        source=_source(entry, ground),
        rivals=tuple(
            Rival(role, Path(f"{entry.id}-{role}.jpg"), {"shown": shows[role][0], "value": shows[role][1]})
            for role in PROTOTYPE_ROLES
        ),
        facts=facts,
    )


def text(entry: Quadruple, places: Texts) -> str:
    """Say the right value of the knob of the hypernym, e.g. *A bird is next to a red post box in a meadow.*"""
    if entry.background not in places:
        raise BadCorpus(f"places.csv has no phrase for background {entry.background!r}; write it")
    subject, label = _one(entry.pair.hypernym), entry.auxiliary.label
    place = places[entry.background]["en"]
    if entry.knob == "count":
        noun = label if entry.right == "1" else entry.auxiliary.plural
        return capital(f"{subject} is next to exactly {_NUMBERS[entry.right]} {noun} {place}.")
    if entry.knob == "color":
        return capital(f"{subject} is next to a {entry.right} {label} {place}.")
    if entry.knob == "layout_relation":
        return capital(f"{subject} is to the {entry.right} of {_one(label)} {place}.")
    if entry.knob == "spatial":
        return capital(f"{subject} is {place}, with {_one(label)} in the {entry.right}.")
    return capital(f"{subject} is next to a {entry.right} {label} {place}.")


def _one(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _paint(
    ground: Background, things: Sequence[tuple[Image.Image, Place, bool]], name: str
) -> tuple[np.ndarray, list[Mask]]:
    """Draw shadows, then things, the farthest first; return uint8 RGB [H, W, 3] and masks in their order."""
    canvas = ground.image.copy()
    boxes = [place.box(stamp, SIDE) for stamp, place, _ in things]
    for (left, top, width, height), (_, place, _) in zip(boxes, things, strict=True):
        if left < 0 or top < 0 or left + width > SIDE or top + height > SIDE:
            raise BadCorpus(f"quadruple {name!r}: a thing at {place} leaves the picture; give it less room")
    cuts = [cut_out(stamp, box[2:]) for box, (stamp, _, _) in zip(boxes, things, strict=True)]
    for (left, top, _, _), cut, (_, _, standing) in zip(boxes, cuts, things, strict=True):
        canvas = shadowed(canvas, cut.getchannel("A"), (left, top), standing=standing)
    masks = []
    for (left, top, width, height), cut in zip(boxes, cuts, strict=True):
        solid = np.asarray(cut.getchannel("A")) > 127
        lit = matched_light(cut, ground.image, solid)
        canvas.paste(lit, (left, top), lit)
        mask = np.zeros((SIDE, SIDE), bool)
        mask[top : top + height, left : left + width] = solid
        masks.append(Mask.from_array(mask))
    return np.asarray(canvas), masks


def _seen(label: str, mask: Mask) -> SceneObject:
    assert mask.box is not None
    return SceneObject(label, mask.box, mask)


def _source(entry: Quadruple, ground: Background) -> str:
    return (
        f"{PACKAGE} {PACKAGE_VERSION}: {entry.pair.nonproto_stamp} or {entry.pair.proto_stamp}, and "
        f"{entry.auxiliary.stamp} (cut-outs) on background {entry.background!r} made of scikit-image's "
        f"{' and '.join(ground.photographs)}"
    )

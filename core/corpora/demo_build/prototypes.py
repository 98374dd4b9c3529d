"""Quadruples: one text, and four pictures of it that differ in the kind shown, in one knob, or in both.

Paper E's adversary differs from the right picture in two things: it shows the prototype, and its knob is wrong. With
all four pictures the two can be told apart: {non-prototype, prototype} × {knob right, knob wrong}. The background, its
light and every place are drawn once for the four.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from core.corpora.demo_build.backgrounds import Background, make_background
from core.corpora.demo_build.compose import cut_out, matched_light, shadowed
from core.corpora.demo_build.knobs import Place, main_place, other_places, turned
from core.corpora.demo_build.prototype_plan import Quadruple
from core.corpora.demo_build.records import PROTOTYPES
from core.corpora.demo_build.sentences import Texts, capital
from core.corpora.demo_build.stamps import LICENCE, PACKAGE, PACKAGE_VERSION, read_stamp
from core.corpora.demo_build.write import Built, encode_jpeg
from core.corpora.rivals import NONPROTO_WRONG, PROTO_RIGHT, PROTO_WRONG, PROTOTYPE_ROLES
from core.corpora.schema import Item, Mask, Rival, SceneObject
from core.errors import BadCorpus
from core.seeds import RUN_SEED, stream

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
        "domain": pair.domain, "subcategory": pair.subcategory, "hypernym": pair.hypernym, "nonproto": pair.nonproto,
        "proto": pair.proto, "knob": entry.knob, "auxiliary": entry.auxiliary.label, "right": entry.right,
        "wrong": entry.wrong, "falsity": "verified",
    }  # fmt: skip
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

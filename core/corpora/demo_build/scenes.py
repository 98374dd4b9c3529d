"""Scenes: two or three kinds of things on one background, counted, measured and named from left to right."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from core.corpora.demo_build.arrange import Kind, Spot, arrange
from core.corpora.demo_build.backgrounds import Background, make_background
from core.corpora.demo_build.compose import cut_out, matched_light, shadowed
from core.corpora.demo_build.plan import LANGUAGES, Plan, read_texts, rows_of
from core.corpora.demo_build.records import SCENES
from core.corpora.demo_build.sentences import Texts, capital
from core.corpora.demo_build.stamps import LICENCE, PACKAGE, PACKAGE_VERSION, read_stamp
from core.corpora.demo_build.write import encode_jpeg
from core.corpora.schema import Item, Mask, SceneObject
from core.corpora.taxonomy import load_taxonomy
from core.errors import BadCorpus
from core.seeds import RUN_SEED, stream

MOST = 4
"""Copies of one kind."""

_COLUMNS = ("id", "background", "width", "height", "first", "second", "third")
_QUALITY = 82
_WHERE = {2: ("left", "right"), 3: ("left", "middle", "right")}
"""Number of kinds -> where each stands: names of ``where:…`` in ``grammar.csv``."""


@dataclass(frozen=True, slots=True)
class KindEntry:
    """A kind of a scene: which stamp, how many copies, and the percent of the frame that they have together."""

    stamp: str
    count: int
    percent: int


@dataclass(frozen=True, slots=True)
class SceneEntry:
    """One scene; its kinds stand from left to right."""

    id: str
    background: str
    width: int
    height: int
    kinds: tuple[KindEntry, ...]


@dataclass(frozen=True, slots=True)
class ScenePlan:
    """Every scene, and the words that its caption is made of.

    Args:
        plurals: by label; Japanese: the counter and the noun.
        phrases: ``pattern:one``, ``pattern:two``, ``pattern:three`` and ``number:1`` to ``number:4``.
    """

    scenes: tuple[SceneEntry, ...]
    plurals: Texts
    phrases: Texts


def read_scenes(folder: Path, plan: Plan) -> ScenePlan:
    """Read ``scenes.csv``, ``plurals.csv`` and ``scene_grammar.csv``.

    Raises:
        BadCorpus: naming the file, the line and the value that cannot be used.
    """
    scenes = tuple(_scene(row, where, plan) for where, row in rows_of(folder / "scenes.csv", _COLUMNS))
    return ScenePlan(scenes, read_texts(folder / "plurals.csv"), read_texts(folder / "scene_grammar.csv"))


def _scene(row: Mapping[str, str], where: str, plan: Plan) -> SceneEntry:
    kinds = tuple(_kind(row[name], where, plan) for name in ("first", "second", "third") if row[name] != "none")
    labels = [plan.stamps[kind.stamp].label for kind in kinds]
    if len(kinds) < 2 or len(set(labels)) < len(labels):
        raise BadCorpus(f"{where}: a scene needs two or three kinds of different labels, got {', '.join(labels)}")
    if not (row["width"].isdigit() and row["height"].isdigit()):
        raise BadCorpus(f"{where}: width and height must be whole pixels, got {row['width']} × {row['height']}")
    return SceneEntry(row["id"], row["background"], int(row["width"]), int(row["height"]), kinds)


def _kind(text: str, where: str, plan: Plan) -> KindEntry:
    words = text.split()
    if len(words) != 3 or words[0] not in plan.stamps or not all(word.isdigit() for word in words[1:]):
        raise BadCorpus(f"{where}: {text!r} must be a stamp of stamps.csv, how many, and their percent of the frame")
    kind = KindEntry(words[0], int(words[1]), int(words[2]))
    if not (1 <= kind.count <= MOST and 1 <= kind.percent <= 40):
        raise BadCorpus(f"{where}: {text!r} must have 1 to {MOST} copies and 1 to 40 percent of the frame")
    return kind


def scene_item(entry: SceneEntry, plan: Plan, words: ScenePlan, stamps: Path) -> tuple[Item, bytes, dict[str, Any]]:
    """Compose one scene.

    Args:
        stamps: folder of the stamps.

    Returns:
        The item without hashes, the bytes of its JPEG, and what it was made from. The item's object is the copy with
        the most pixels; the others stand in ``others``, with their masks, from left to right.

    Raises:
        BadCorpus: naming the scene, if its things do not fit its frame.
    """
    rng = stream(RUN_SEED, "build-demo", entry.id)
    size = (entry.width, entry.height)
    place = make_background(entry.background, *size, rng)
    kinds = [
        Kind(read_stamp(stamps, kind.stamp), plan.stamps[kind.stamp].pose == "stand", kind.count, kind.percent / 100)
        for kind in entry.kinds
    ]
    try:
        spots = arrange(kinds, size, place.horizon, rng)
    except BadCorpus as error:
        raise BadCorpus(f"scene {entry.id!r}: {error}") from error
    pixels, masks = paint(place, kinds, spots)
    labels = [plan.stamps[entry.kinds[spot.kind].stamp].label for spot in spots]
    things = sorted(zip(labels, masks, strict=True), key=lambda thing: _left(thing[1]))
    largest = max(things, key=lambda thing: thing[1].area)
    category = next(each.category for each in plan.stamps.values() if each.label == largest[0])
    hashes = sorted(hashlib.sha256((stamps / kind.stamp).read_bytes()).hexdigest() for kind in entry.kinds)
    item = Item(
        id=entry.id,
        corpus=SCENES,
        image_path=Path(f"{entry.id}.jpg"),
        width=entry.width,
        height=entry.height,
        captions=captions(entry, plan, words),
        label=largest[0],
        category=category,
        box=largest[1].box,
        mask=largest[1],
        others=tuple(_seen(label, mask) for label, mask in things if mask is not largest[1]),
        licence=LICENCE,
        source=_source(entry, place.photographs),
    )
    made_from = {
        "stamp_sha256": hashlib.sha256("".join(hashes).encode()).hexdigest(),
        "stamps_sha256": hashes,
        "background": entry.background,
        "captions": "a sentence of this corpus's grammar",
    }
    return item, encode_jpeg(pixels, quality=_QUALITY), made_from


def paint(place: Background, kinds: Sequence[Kind], spots: Sequence[Spot]) -> tuple[np.ndarray, list[Mask]]:
    """Draw every shadow, then every thing; return uint8 RGB [H, W, 3] and a mask a spot."""
    canvas = place.image.copy()
    cuts = [cut_out(kinds[spot.kind].stamp, (spot.width, spot.height)) for spot in spots]
    for spot, cut in zip(spots, cuts, strict=True):
        canvas = shadowed(canvas, cut.getchannel("A"), (spot.left, spot.top), standing=kinds[spot.kind].standing)
    masks = []
    for spot, cut in zip(spots, cuts, strict=True):
        solid = np.asarray(cut.getchannel("A")) > 127
        lit = matched_light(cut, place.image, solid)
        canvas.paste(lit, (spot.left, spot.top), lit)
        masks.append(_mask(solid, spot, canvas))
    return np.asarray(canvas), masks


def _mask(solid: np.ndarray, spot: Spot, canvas: Image.Image) -> Mask:
    mask = np.zeros((canvas.height, canvas.width), bool)
    mask[spot.top : spot.top + spot.height, spot.left : spot.left + spot.width] = solid
    return Mask.from_array(mask)


def captions(entry: SceneEntry, plan: Plan, words: ScenePlan) -> dict[str, tuple[str, ...]]:
    """Say in every language what a scene shows.

    Returns:
        Two captions a language: the first names every kind with its number, from left to right, the second one of
        them, with its number and where it stands.

    Raises:
        BadCorpus: if a list lacks the words.
    """
    pattern = words.phrases["pattern:two" if len(entry.kinds) == 2 else "pattern:three"]
    one = _told_alone(entry, plan)
    where = _WHERE[len(entry.kinds)][one]
    found: dict[str, tuple[str, ...]] = {}
    for language in LANGUAGES:
        phrases = [_counted(kind, plan, words, language) for kind in entry.kinds]
        named = dict(zip(("first", "second", "third"), phrases, strict=False))
        place = plan.grammar.places[entry.background][language]
        # Japanese places stand before a noun, with の; before a verb they take に.
        place = f"{place.removesuffix('の')}に" if language == "ja" else place
        alone = words.phrases["pattern:one"][language].format(
            one=phrases[one], where=plan.grammar.phrases[f"where:{where}"][language], place=place
        )
        found[language] = (capital(pattern[language].format(place=place, **named)), capital(alone))
    return found


def _told_alone(entry: SceneEntry, plan: Plan) -> int:
    """Place of the kind that the second caption names: the first of COCO's categories, else the largest kind.

    COCO's categories are what another object can be named instead of.
    """
    known = load_taxonomy("coco").entries
    found = [index for index, kind in enumerate(entry.kinds) if plan.stamps[kind.stamp].label in known]
    return found[0] if found else max(range(len(entry.kinds)), key=lambda index: entry.kinds[index].percent)


def _counted(kind: KindEntry, plan: Plan, words: ScenePlan, language: str) -> str:
    label = plan.stamps[kind.stamp].label
    if label not in words.plurals:
        raise BadCorpus(f"plurals.csv has no plural of {label!r}; write it in every language")
    if kind.count == 1 and language != "ja":
        return plan.grammar.nouns[label][language]
    blank = "" if language == "ja" else " "
    return f"{words.phrases[f'number:{kind.count}'][language]}{blank}{words.plurals[label][language]}"


def _left(mask: Mask) -> float:
    assert mask.box is not None
    return mask.box.x


def _seen(label: str, mask: Mask) -> SceneObject:
    assert mask.box is not None
    return SceneObject(label, mask.box, mask)


def _source(entry: SceneEntry, photographs: tuple[str, ...]) -> str:
    named = ", ".join(f"{kind.count} × {kind.stamp}" for kind in entry.kinds)
    return (
        f"{PACKAGE} {PACKAGE_VERSION}: {named} (cut-outs) on background {entry.background!r} made of "
        f"scikit-image's {' and '.join(photographs)}"
    )

"""Scenes: two or three kinds of things on one background, counted, measured and named from left to right."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from core.corpora.demo import SCENES
from core.corpora.demo_backgrounds import Background, encode_jpeg, make_background, shadowed
from core.corpora.demo_plan import LANGUAGES, Plan, Texts, capital, read_texts, rows_of
from core.corpora.labels import load_taxonomy
from core.corpora.schema import Item, Mask, SceneObject
from core.errors import BadCorpus
from core.seeds import RUN_SEED, stream
from tools.demo_corpus.composed import MAX_SCALE, cut_out, matched_light
from tools.demo_corpus.stamps import LICENCE, PACKAGE, PACKAGE_VERSION, read_stamp

_AIR = 1.12
"""A thing's cell is this much wider and higher than the thing."""

_EDGE = 0.02
"""Share of the frame that stays free at its edges."""

_SHRINK, _TRIES = 0.96, 200
"""Where the kinds do not fit side by side, the one that is too wide for its share shrinks, step by step."""

_LEAST = 0.007
"""Share of the frame's pixels that a copy keeps as long as another kind can still shrink."""


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """Copies of one cut-out.

    Args:
        stamp: RGBA, cut to its box.
        standing: whether its feet need ground, where the frame has a horizon.
        count: how many.
        share: of the frame's pixels that the copies are to have together, in (0, 1).
    """

    stamp: Image.Image
    standing: bool
    count: int
    share: float

    @property
    def solid(self) -> int:
        """Pixels of the cut-out that are more than half opaque."""
        return int((np.asarray(self.stamp.getchannel("A")) > 127).sum())


@dataclass(frozen=True, slots=True)
class Spot:
    """One copy: which kind, where its upper left corner is, and its size, in pixels."""

    kind: int
    left: int
    top: int
    width: int
    height: int


def arrange(kinds: Sequence[Kind], size: tuple[int, int], horizon: int, rng: np.random.Generator) -> tuple[Spot, ...]:
    """Give every copy its own spot; kinds stand from left to right in the order given.

    Sizes follow the shares as far as the frame has room: otherwise the kind shrinks that is the widest for its share.

    Args:
        size: width and height of the frame, in pixels.
        horizon: first row of the ground; 0: everything is seen from above.

    Raises:
        BadCorpus: if the kinds do not fit even when they are small.
    """
    scales = [min(MAX_SCALE, math.sqrt(kind.share * size[0] * size[1] / kind.count / kind.solid)) for kind in kinds]
    for _ in range(_TRIES):
        cells = [_cell(kind, scale) for kind, scale in zip(kinds, scales, strict=True)]
        grids = [_grid(kind.count, cell, size, horizon) for kind, cell in zip(kinds, cells, strict=True)]
        widths = [(columns * cell[0]) for (columns, _), cell in zip(grids, cells, strict=True)]
        if all(rows for _, rows in grids) and sum(widths) <= size[0] * (1 - 2 * _EDGE):
            return _spots(kinds, scales, grids, widths, size, horizon, rng)
        wide = max(
            range(len(kinds)),
            key=lambda index: (
                not grids[index][1],
                kinds[index].solid * scales[index] ** 2 > _LEAST * size[0] * size[1],
                widths[index] / kinds[index].share,
            ),
        )
        scales[wide] *= _SHRINK
    raise BadCorpus(
        f"{sum(kind.count for kind in kinds)} things do not fit side by side; choose fewer or a larger frame"
    )


def _cell(kind: Kind, scale: float) -> tuple[int, int]:
    return math.ceil(kind.stamp.width * scale * _AIR), math.ceil(kind.stamp.height * scale * _AIR)


def _grid(count: int, cell: tuple[int, int], size: tuple[int, int], horizon: int) -> tuple[int, int]:
    """Columns and rows of a kind; no rows where a copy is too high for the frame."""
    room = size[1] * (1 - 2 * _EDGE)
    deep = size[1] * (1 - _EDGE) - _nearest(cell[1], size[1], horizon) >= cell[1] if horizon else 2 * cell[1] <= room
    rows = 0 if cell[1] > room else 2 if count > 1 + bool(horizon) and deep else 1
    return (math.ceil(count / rows), rows) if rows else (count, 0)


def _nearest(height: int, frame: int, horizon: int) -> int:
    """Row on which the farthest feet stand: on the ground, and the head inside the frame."""
    return max(horizon + (frame - horizon) // 4, height + round(_EDGE * frame))


def _spots(
    kinds: Sequence[Kind],
    scales: Sequence[float],
    grids: Sequence[tuple[int, int]],
    widths: Sequence[int],
    size: tuple[int, int],
    horizon: int,
    rng: np.random.Generator,
) -> tuple[Spot, ...]:
    gaps = rng.integers(2, 9, size=len(kinds) + 1)
    slack, given, left = size[0] - sum(widths), 0, 0
    spots = []
    for index, (kind, scale, (columns, rows)) in enumerate(zip(kinds, scales, grids, strict=True)):
        given += int(gaps[index])
        left = slack * given // int(gaps.sum()) + sum(widths[:index])
        column = widths[index] // columns
        for copy in range(kind.count):
            width = max(1, round(kind.stamp.width * scale))
            height = max(1, round(kind.stamp.height * scale))
            across = left + copy // rows * column + int(rng.integers(column - width + 1))
            down = _down(height, copy % rows, rows, size[1], horizon if kind.standing else 0, rng)
            spots.append(Spot(index, across, down, width, height))
    return tuple(spots)


def _down(height: int, row: int, rows: int, frame: int, horizon: int, rng: np.random.Generator) -> int:
    """Draw the first row of a copy: with its feet on the ground, or anywhere in its own row of the frame."""
    edge = round(_EDGE * frame)
    if horizon:
        low, high = _nearest(height, frame, horizon), frame - edge
        if rows == 2:  # the heads of the front row come below the feet of the back row
            middle = (low + high - height) // 2
            low, high = (low, middle) if row == 0 else (middle + height, high)
        return int(rng.integers(low, max(low, high) + 1)) - height
    top, bottom = frame * row // rows + edge // 2, frame * (row + 1) // rows - edge // 2 - height
    return int(rng.integers(top, max(top, bottom) + 1))


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

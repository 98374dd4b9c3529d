"""Contact sheets of filled plates, and how well a discriminator tells what was filled from the rest of its photograph.

``python tools/fills.py`` writes ``docs/fills-telea.jpg`` and ``docs/fills-example.jpg``, 40 plates of the demo corpus
each, and prints the areas under the curve and, where it is known what was behind the objects, how far the plates are
from that. ``--coco FOLDER --out FOLDER`` looks at photographs of COCO instead, none of which belongs into this
repository.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.corpora.item_pictures import read_item
from core.corpora.registry import catalogue
from core.corpora.schema import Item
from core.errors import InvariscopeError
from core.probes.families.reposition import LEAST_ROOM
from core.probes.pixels.inpainting import Fill, crop_around, hole_of
from core.probes.scene import Scene
from core.settings import ROOT

PLATES = 40
COLUMNS = 8
CELL = (236, 158)
"""Width and height of a plate on the sheet, in pixels."""

PATCH = 16
"""Side of the patches that the discriminator sees, in pixels."""

MOST = 12
"""Patches of either kind from one plate."""

BLUR = 4.0
"""Standard deviation in pixels of the blur under which plates are held against the truth: where a horizon or a shadow
lies shows, which blade of grass does not."""


@dataclass(frozen=True, slots=True)
class Plates:
    """One item's plates by the way that they were filled, and how its patches look beside those around them.

    Args:
        away: how far each is from the truth, see :func:`away_from`; empty where nobody knows that.
    """

    item: str
    pictures: dict[str, np.ndarray]
    features: dict[str, np.ndarray]
    away: dict[str, float]


def make(item: Item) -> Plates | None:
    """Fill one item's hole in every way; None where its object cannot be moved."""
    cv2.setNumThreads(1)
    if item.box is None or item.mask is None:
        return None
    room = min(1 - item.box.width / item.width, 1 - item.box.height / item.height)
    if room < LEAST_ROOM:
        return None
    try:
        scene = Scene(item, read_item(item).pixels)
        hole = hole_of(scene.mask, scene.obstacles)
        made = {fill.value: scene.plate(fill).pixels for fill in Fill}
        made |= {"true": scene.true_plate.pixels} if item.backdrop else {}
    except InvariscopeError as error:
        print(f"{item.id}: {error}")
        return None
    features = {name: told(picture, hole, scene.obstacles) for name, picture in made.items()}
    truth = made.get("true")
    away = {} if truth is None else {name: away_from(truth, picture, hole) for name, picture in made.items()}
    return Plates(item.id, made, features, away)


def away_from(truth: np.ndarray, picture: np.ndarray, hole: np.ndarray) -> float:
    """Mean difference of two pictures inside a hole once both are blurred, in percent of the range of a channel."""
    soft, right = (cv2.GaussianBlur(each.astype(np.float32), (0, 0), BLUR) for each in (picture, truth))
    return float(np.abs(soft - right)[hole].mean() / 2.55)


def told(picture: np.ndarray, hole: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Features of patches in the hole and around it, float64 [n, 1 + k]; the first column is 1 for the hole.

    Each feature is taken relative to other patches around the same hole, which the discriminator does not see again.
    """
    rng = np.random.default_rng(0)
    crop = crop_around(hole)
    picture, inside = picture[crop], hole[crop]
    around = ~(cv2.dilate(inside.view(np.uint8), np.ones((5, 5), np.uint8)) > 0) & ~others[crop]
    kinds = [_corners(rng, inside, MOST), _corners(rng, around, 2 * MOST)]
    if min(len(each) for each in kinds) < 4:
        return np.empty((0, 8))
    filled = np.array([_seen(picture, *corner) for corner in kinds[0]])
    real = np.array([_seen(picture, *corner) for corner in kinds[1]])
    known, shown = real[::2], real[1::2][: len(filled)]
    centre = np.median(known, axis=0)
    rows = [np.column_stack([np.full(len(each), mark), each - centre]) for mark, each in ((1, filled), (0, shown))]
    return np.concatenate(rows)


def _corners(rng: np.random.Generator, where: np.ndarray, most: int) -> np.ndarray:
    """Upper left corners of patches that lie wholly inside a region, int [n, 2]."""
    sums = cv2.integral(where.astype(np.uint8))
    full = sums[PATCH:, PATCH:] - sums[:-PATCH, PATCH:] - sums[PATCH:, :-PATCH] + sums[:-PATCH, :-PATCH]
    found = np.argwhere(full == PATCH * PATCH)
    return found[rng.permutation(len(found))[:most]]


def _seen(picture: np.ndarray, top: int, left: int) -> list[float]:
    """Logarithms of how much a patch varies: raw, in four bands of detail, in colour, and along its edges."""
    patch = picture[top : top + PATCH, left : left + PATCH].astype(np.float64)
    grey = patch.mean(axis=2)
    blurred = [grey, *(cv2.GaussianBlur(grey, (0, 0), sigma) for sigma in (0.7, 1.4, 2.8))]
    bands = [float(np.abs(a - b).mean()) for a, b in pairwise(blurred)]
    edges = np.hypot(cv2.Sobel(grey, cv2.CV_64F, 1, 0), cv2.Sobel(grey, cv2.CV_64F, 0, 1))
    values = [grey.std(), *bands, edges.mean(), (patch - grey[..., None]).std(), edges.std()]
    return [float(np.log(value + 0.5)) for value in values]


def auc(plates: Sequence[Plates], way: str) -> tuple[float, int, int]:
    """Area under the ROC curve of boosted trees that are tested on other photographs; with it patches and plates."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import GroupKFold, cross_val_predict

    own = [(each.item, each.features[way]) for each in plates if len(each.features.get(way, ()))]
    rows = np.concatenate([features for _, features in own])
    groups = np.concatenate([np.full(len(features), index) for index, (_, features) in enumerate(own)])
    model = HistGradientBoostingClassifier(max_iter=80, max_depth=4, random_state=0)
    held = cross_val_predict(model, rows[:, 1:], rows[:, 0], groups=groups, cv=GroupKFold(5), method="predict_proba")[
        :, 1
    ]
    return float(roc_auc_score(rows[:, 0], held)), len(rows), len(own)


def sheet(plates: Sequence[Plates], way: str) -> np.ndarray:
    """Forty plates in rows, uint8 RGB."""
    step = max(1, len(plates) // PLATES)
    cells = [_cell(each.pictures[way]) for each in plates[::step][:PLATES]]
    cells += [np.full_like(cells[0], 255)] * (-len(cells) % COLUMNS)
    return np.vstack([np.hstack(cells[start : start + COLUMNS]) for start in range(0, len(cells), COLUMNS)])


def _cell(picture: np.ndarray) -> np.ndarray:
    width, height = CELL
    scale = min(width / picture.shape[1], height / picture.shape[0])
    small = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)[:height, :width]
    cell = np.full((height + 4, width + 4, 3), 255, np.uint8)
    cell[2 : 2 + small.shape[0], 2 : 2 + small.shape[1]] = small
    return cell


def items(coco: Path | None) -> Iterator[Item]:
    """Composed items of the demo corpus, or the largest object of every picture of a COCO folder, both its splits."""
    if coco is not None:
        for split in ("val2017", "train2017"):
            yield from catalogue().get("coco").load(coco, split=split, slice="all").items
        return
    yield from (item for item in catalogue().get("demo").load().items if item.backdrop)


def main() -> None:
    """Write the sheets and print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coco", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    given = parser.parse_args()
    with ProcessPoolExecutor(2) as workers:
        plates = [each for each in workers.map(make, items(given.coco), chunksize=4) if each]
    for way in plates[0].pictures:
        area, patches, count = auc(plates, way)
        far = [each.away[way] for each in plates if way in each.away]
        beside = f"; {np.mean(far):.2f} % from the truth over {len(far)} plates" if far else ""
        print(f"{way}: AUC {area:.3f} over {patches} patches of {count} plates{beside}")
        if way != "true":
            picture = cv2.cvtColor(sheet(plates, way), cv2.COLOR_RGB2BGR)
            cv2.imwrite(str(given.out / f"fills-{way}.jpg"), picture, [cv2.IMWRITE_JPEG_QUALITY, 74])


if __name__ == "__main__":
    main()

"""Right-of-two accuracy of the offline evaluators: does the right caption (image) beat a wrong one?

Each item's first English caption against every other item's, both ways: the image fixed and two captions, the
caption fixed and two images; likewise the template of its object's name, where it has one. A tie counts one half, a
pair that cannot be scored as lost. The interval is a bootstrap over items, each drawn with all its pairs.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from bench.report import row
from core.corpora.item_pictures import read_item
from core.corpora.registry import catalogue
from core.corpora.schema import Item, languages
from core.errors import InvalidInput
from core.evaluators.base import DualEncoder, Evaluator
from core.evaluators.pool import shared_pool
from core.evaluators.scoring import score_pairs
from core.probes.base import ENGLISH
from core.probes.words.templates import base_caption
from core.seeds import RUN_SEED

OFFLINE = ("conse-lite0", "conse-lite2", "grounding-judge", "conse-multilingual", "offline-ensemble")
RESAMPLES = 2000
TARGET = 0.95


def all_scores(evaluator: Evaluator, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
    """Score every image with every caption: float64 [n, m]."""
    if isinstance(evaluator, DualEncoder):
        left, right = evaluator.encode_images(images), evaluator.encode_captions(captions)
        return np.stack([evaluator.combine(one.expand_as(right), right) for one in left])
    shown = {str(place): image for place, image in enumerate(images)}
    pairs = [(key, caption) for key in shown for caption in captions]
    return score_pairs(evaluator, shown, pairs).reshape(len(images), len(captions))


def wins(scores: np.ndarray, captions: Sequence[str]) -> np.ndarray:
    """Compare the diagonal with the rest of its row: float64 [n, n] of 1, ½, 0; NaN where the caption is the same."""
    values = np.where(np.isnan(scores), -np.inf, scores)
    right = np.diag(values)[:, None]
    result: np.ndarray = (right > values) + 0.5 * (right == values)
    said = np.asarray(captions, dtype=object)
    result[said[:, None] == said] = np.nan
    return result


def accuracy(
    scores: np.ndarray, captions: Sequence[str], of: Sequence[bool] | None = None
) -> tuple[float, float, float]:
    """Return the mean of :func:`wins` and its 95 % bootstrap interval over items; ``of``: of these rows alone."""
    table = wins(scores, captions)
    if of is not None:
        table[~np.asarray(of, dtype=bool)] = np.nan
    rng = np.random.default_rng(RUN_SEED)
    means = []
    for _ in range(RESAMPLES):
        drawn = rng.integers(len(table), size=len(table))
        sample = table[np.ix_(drawn, drawn)]
        if np.isfinite(sample).any():  # an item beside itself is no pair
            means.append(np.nanmean(sample))
    low, high = np.quantile(means, [0.025, 0.975])
    return float(np.nanmean(table)), float(low), float(high)


def by_people(items: Sequence[Item], language: str = ENGLISH) -> list[str]:
    """A caption an item. Of the demo corpus the short ones serve, which stand last: its sentences share most words."""
    return [item.captions[language][-1 if item.corpus == "demo" else 0] for item in items]


def report(
    name: str,
    items: Sequence[Item],
    captions: Sequence[str],
    target: str,
    evaluators: Sequence[str],
    language: str = ENGLISH,
    of: Sequence[bool] | None = None,
) -> None:
    """Print the rows of one set of items, for the evaluators that read the language; ``of``: these beside them all."""
    images = [read_item(item).pixels for item in items]
    for reference in evaluators:
        with shared_pool().lease(reference) as evaluator:
            if not evaluator.spec.reads(language):
                continue
            scores = all_scores(evaluator, images, captions)
        for what, table in (("captions", scores), ("images", scores.T)):
            mean, low, high = accuracy(table, captions, of)
            value = f"{100 * mean:.1f} % (95 % CI {100 * low:.1f} to {100 * high:.1f})"
            counted = f"{len(items)} items" if of is None else f"{sum(of)} of {len(items)} items"
            row(f"`{reference}` right of two {what}, {name}", value, counted, target)
        if of is not None:
            continue
        zeros = int(np.sum(np.diag(scores) <= 0))
        low, middle = np.nanmin(np.diag(scores)), np.nanmedian(np.diag(scores))
        row(
            f"`{reference}` score of the right pairs, {name}",
            f"median {middle:.3g}, least {low:.2g}, {zeros} zeros",
            f"{len(items)} items",
        )


def templates(name: str, items: Sequence[Item], evaluators: Sequence[str]) -> None:
    """The same on the template of the object's name, which audits hold; two items of one name are no pair."""
    named = [item for item in items if item.label]
    people = [item for item in named if item.category == "person"]
    for which, own in ((name, named), (f"{name}, people among themselves", people)):
        if len({item.label for item in own}) > 1:
            report(f"{which}, template", own, [base_caption(item.label or "") for item in own], "", evaluators)
    if people:
        captions = [base_caption(item.label or "") for item in named]
        persons = [item.category == "person" for item in named]
        report(f"{name}, people beside all, template", named, captions, "", evaluators, of=persons)


def coco_items(root: Path, split: str) -> list[Item]:
    """Every item of a split that has an English caption."""
    return [
        item for item in catalogue().get("coco").load(root, split=split, slice="all").items if item.captions.get("en")
    ]


def main() -> int:
    """Print every row; return 1 if COCO photographs were asked for and are not there."""
    parser = argparse.ArgumentParser(description=__doc__)
    beside = Path(__file__).resolve().parents[2] / "shared" / "data" / "coco_mini"
    default = Path(os.environ.get("INVARISCOPE_COCO") or beside)
    parser.add_argument("--root", type=Path, default=default, help="folder in COCO's layout")
    parser.add_argument("--evaluators", nargs="+", default=OFFLINE, help="those to measure")
    root, evaluators = parser.parse_args().root, parser.parse_args().evaluators
    sets: list[tuple[str, Callable[[], Sequence[Item]], str]] = []
    if root.is_dir():
        sets.append(("COCO train2017 (tuned on)", lambda: coco_items(root, "train2017"), ""))
        sets.append(("COCO val2017", lambda: coco_items(root, "val2017"), f"≥ {100 * TARGET:.0f} %"))
    else:
        print(f"no COCO photographs at {root}: give --root or set INVARISCOPE_COCO", file=sys.stderr)
    demo = catalogue().get("demo").load().items
    try:
        for name, load, target in sets:
            items = load()
            report(name, items, by_people(items), target, evaluators)
            templates(name, items, evaluators)
        templates("demo", demo, evaluators)
        for language in languages(demo):
            own = [item for item in demo if item.captions.get(language)]
            said = "demo" if language == ENGLISH else f"demo, {language}"
            report(said, own, by_people(own, language), "", evaluators, language)
    except InvalidInput as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

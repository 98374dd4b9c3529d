"""Number and size of the mentioned objects, and their crossings with order and negation.

``mention:1``, ``mention:2`` and ``mention:3`` name one, two and three annotated categories of the picture;
``size:small`` and ``size:large`` name the smaller or the larger of two. All are true, so the score's *response* is
reported and nothing is a failure. What is crossed with them is directional: the same words shuffled, or the objects
denied. ``mention-order`` names the second object first, which changes nothing: it is invariant. The baseline of
``mention:2`` is ``mention:1`` and so on.

An item needs three annotated categories for the first, two whose areas differ by more than a threshold for the
second: 15 000 px² in the image's own pixels (paper D's code, strict), or 5 % of the image (``…-share``). A category's
area is the sum of its instances' masks, crowds included; of an instance without a mask its box counts. Objects are
drawn, seeded.
Source: paper D, 4.3.1, 4.3.2 and 4.5, and its authors' code.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from core.corpora.schema import Box, Item, Mask
from core.errors import ProbeRejected
from core.probes.base import (
    FALSITY,
    IDENTITY,
    TEMPLATE,
    VERIFIED,
    Axis,
    Expectation,
    Probe,
    Subject,
    Variant,
    caption_probe,
)
from core.probes.scene import Scene
from core.probes.words.categories import absence, annotated, another_kind
from core.probes.words.templates import denied_objects, draw_keys, item_label, named_objects, shuffled_objects

MOST = 3  # objects that are named at most; an item needs as many categories
PIXELS = 15_000  # least difference of two areas in square pixels, not reached by itself. Source: paper D's code.
SHARE = 0.05  # least difference of two areas as a share of the image

Facts = Mapping[str, str | float]
Make = Callable[[Item, np.random.Generator], tuple[str, Facts]]


def drawn_labels(item: Item, rng: np.random.Generator) -> list[str]:
    """Draw three annotated categories of an item, in the order of their mention.
    Raises ProbeRejected ``few-objects`` where fewer are annotated."""
    item_label(item)
    found = sorted(annotated(item))
    if len(found) < MOST:
        raise ProbeRejected("few-objects", f"item {item.id!r} has {len(found)} annotated categories; {MOST} are needed")
    return [found[index] for index in rng.permutation(len(found))[:MOST]]


def drawn_sizes(item: Item, rng: np.random.Generator, *, least: float) -> tuple[str, str, dict[str, float]]:
    """Draw two annotated categories, the smaller first, whose areas differ by more than ``least`` square pixels; and
    the areas of all.
    Raises ProbeRejected ``few-objects`` below two categories, ``similar-size`` where none differ enough."""
    item_label(item)
    sizes = areas(item)
    if len(sizes) < 2:
        raise ProbeRejected("few-objects", f"item {item.id!r} has {len(sizes)} annotated categories; two are needed")
    names = sorted(sizes)
    found = [(a, b) for a in names for b in names if sizes[a] > 0 and sizes[b] - sizes[a] > least]
    if not found:
        raise ProbeRejected("similar-size", f"no two categories of item {item.id!r} differ by over {least:g} px²")
    return *found[int(rng.integers(len(found)))], sizes


def areas(item: Item) -> dict[str, float]:
    """Area of each annotated category in square pixels: its instances' masks, else their boxes, summed."""
    found: dict[str, float] = {}
    for label, mask, box in _instances(item):
        found[label] = found.get(label, 0.0) + _area(mask, box)
    return found


def distances(item: Item) -> dict[str, float]:
    """How far each annotated category with an area lies from the picture's centre: 0 there, 1 in a corner.
    The mean over its instances of the distance of an instance's centre (of its mask, else of its box), each weighing by
    its area, in units of half the diagonal."""
    sums: dict[str, tuple[float, float]] = {}
    for label, mask, box in _instances(item):
        area = _area(mask, box)
        if area > 0:
            if mask is not None:
                rows, columns = np.nonzero(mask.to_array())
                x, y = float(columns.mean()) + 0.5, float(rows.mean()) + 0.5
            else:
                assert box is not None
                x, y = box.centre
            away = math.hypot(x - item.width / 2, y - item.height / 2)
            total, weight = sums.get(label, (0.0, 0.0))
            sums[label] = (total + area * away, weight + area)
    half = math.hypot(item.width, item.height) / 2
    return {label: total / weight / half for label, (total, weight) in sums.items()}


def _instances(item: Item) -> list[tuple[str, Mask | None, Box | None]]:
    own = [] if item.label is None else [(item.label, item.mask, item.box)]
    return [*own, *((each.label, each.mask, each.box) for each in item.others)]


def _area(mask: Mask | None, box: Box | None) -> float:
    if mask is not None:
        return float(mask.area)
    return 0.0 if box is None else float(box.area)


def _objects(name: str, family: str, summary: str, make: Make, axis: Axis = Axis.OBJECT, **more: Any) -> Probe:
    def made(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        text, facts = make(scene.item, rng)
        return Variant(name, caption=text, facts=facts)

    return caption_probe(name, family, summary, made, axis=axis, subjects=(TEMPLATE,), **more)


def _named(labels: Sequence[str]) -> Facts:
    return {"objects": float(len(labels)), "named": ", ".join(labels)}


def _mention(count: int) -> Probe:
    def make(item: Item, rng: np.random.Generator) -> tuple[str, Facts]:
        labels = drawn_labels(item, rng)[:count]
        return named_objects(labels), _named(labels)

    baseline = IDENTITY if count == 1 else f"mention:{count - 1}"
    return _objects(
        f"mention:{count}",
        "mention",
        f"The template names {count} of the picture's objects: it is true.",
        make,
        expectation=Expectation.RESPONSE,
        baseline=baseline,
        draws="mention",
        source="paper D, 4.3.1",
    )


def _mention_order(item: Item, rng: np.random.Generator) -> tuple[str, Facts]:
    first, second = drawn_labels(item, rng)[:2]
    return named_objects([second, first]), _named([second, first])


def _crossed(count: int, *, shuffled: bool) -> Probe:
    """The words of a mention in another order, or its objects denied."""
    name = f"mention:{count}"

    def make(item: Item, rng: np.random.Generator) -> tuple[str, Facts]:
        labels = drawn_labels(item, rng)[:count]
        if shuffled:
            return shuffled_objects(labels, draw_keys(rng, MOST)), _named(labels)
        return denied_objects(labels), {**_named(labels), FALSITY: VERIFIED}

    how, source = ("shuffled", "paper D, 4.5") if shuffled else ("negated", "paper D, 4.4.1, 4.5")
    says = f"The words of {name} stand in another order."
    says = says if shuffled else f"Every object of {name} is denied: it is false."
    return _objects(f"{name}-{how}", f"mention-{how}", says, make, baseline=name, draws="mention", source=source)


def _mention_absent(item: Item, rng: np.random.Generator) -> tuple[str, Facts]:
    labels = drawn_labels(item, rng)[:2]
    chosen = another_kind(item, rng)
    facts = {**_named(labels), "absent": chosen, **absence(item, chosen)}
    return named_objects([*labels, chosen]), facts


def _size(which: str, share: bool, shuffled: bool) -> Probe:
    tail = "-share" if share else ""
    draws = f"size{tail}"

    def make(item: Item, rng: np.random.Generator) -> tuple[str, Facts]:
        least = SHARE * item.width * item.height if share else float(PIXELS)
        small, large, sizes = drawn_sizes(item, rng, least=least)
        label = small if which == "small" else large
        text = shuffled_objects([label], draw_keys(rng, 1)) if shuffled else named_objects([label])
        away, whole = distances(item), 1 / (item.width * item.height)
        facts: dict[str, str | float] = {"said": label, "small": small, "large": large}
        facts |= {"small_area": sizes[small], "large_area": sizes[large]}
        facts |= {"small_share": sizes[small] * whole, "large_share": sizes[large] * whole}
        facts |= {"ratio": sizes[large] / sizes[small]}
        return text, facts | {"small_centre": away[small], "large_centre": away[large]}

    plain = f"size:{which}{tail}"
    rule = "5 % of the image" if share else "15 000 px²"
    if shuffled:
        return _objects(
            f"{plain}-shuffled",
            f"size{tail}-shuffled",
            f"The words of {plain} stand in another order.",
            make,
            baseline=plain,
            draws=draws,
            source="paper D, 4.5",
        )
    which_one = "smaller" if which == "small" else "larger"
    summary = f"The template names the {which_one} of two objects whose areas differ by over {rule}."
    return _objects(
        plain,
        f"size{tail}",
        summary,
        make,
        expectation=Expectation.RESPONSE,
        baseline=IDENTITY if which == "small" else f"size:small{tail}",
        draws=draws,
        source="paper D, 4.3.2",
    )


COUNTS = range(1, MOST + 1)
MENTIONS = tuple(_mention(count) for count in COUNTS)
MENTION_ORDER = _objects(
    "mention-order",
    "mention-order",
    "The template names the same two objects, the second one first.",
    _mention_order,
    expectation=Expectation.INVARIANT,
    baseline="mention:2",
    draws="mention",
    source="paper D, 4.3.1 (its order test)",
    axis=Axis.LEXICAL,
    selector="mention-order",
)
SIZES = tuple(_size(which, share, False) for share in (False, True) for which in ("small", "large"))
MENTION_ABSENT = _objects(
    "mention:3-absent",
    "mention-absent",
    "In mention:3 a category that is annotated absent stands for the third object: it is false.",
    _mention_absent,
    baseline="mention:3",
    draws="mention",
    source="paper D, 4.3.1, extended",
)
CROSSINGS = (
    *(_crossed(count, shuffled=shuffled) for shuffled in (True, False) for count in COUNTS),
    *(_size(which, share, True) for share in (False, True) for which in ("small", "large")),
)

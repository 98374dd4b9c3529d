"""Easy and hard wrong captions of a folder of photographs: how often does each evaluator prefer the right one?

python -m bench.foils FOLDER       # pictures with captions, in any layout that docs/corpora.md lists, COCO's too

Every item's caption by people stands against wrong ones, a kind a column: captions of other pictures (easy); one noun
exchanged for another of its kind; *man* for *woman* and the like; the caption's own words in random order; an object
that nobody mentions added at the end, as in SugarCrepe's *add*, where whoever prefers the shorter caption is always
right. A tie counts one half, a caption without a score as lost. The interval is a bootstrap over items.
"""

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from bench.offline_accuracy import OFFLINE, RESAMPLES, coco_items
from bench.report import machine
from core.corpora.item_pictures import read_item
from core.corpora.registry import catalogue
from core.corpora.schema import Item
from core.errors import InvariscopeError
from core.evaluators.cache import EmbeddingCache
from core.evaluators.pool import shared_pool
from core.evaluators.scoring import score_pairs
from core.probes.base import ENGLISH
from core.seeds import RUN_SEED

BLIND = ("blind-length", "blind-typicality")
OTHERS = 20
"""Captions of other pictures that each caption stands against."""
MOST = 200
"""Items, evenly spaced, unless told otherwise."""

KINDS = tuple(
    tuple(line.split())
    for line in (
        "dog cat horse cow sheep bird elephant bear zebra giraffe",
        "car bus truck train motorcycle bicycle boat airplane",
        "chair couch bed table bench",
        "pizza sandwich cake banana apple orange carrot salad",
        "skateboard surfboard snowboard frisbee kite ball bat racket",
        "shirt hat jacket dress helmet",
        "beach street field forest kitchen mountain river bathroom",
        "laptop phone book clock vase umbrella suitcase bottle cup",
    )
)
"""Nouns by kind; a noun is exchanged for one of its own kind, in the plural where it stands in the plural."""
SIBLINGS = {noun: kind for kind in KINDS for noun in kind}
NOUN = re.compile(rf"\b(?:(an?) )?({'|'.join(SIBLINGS)})(e?s)?\b", re.IGNORECASE)
OPPOSITES = {"man": "woman", "men": "women", "boy": "girl", "boys": "girls"}
PERSONS = OPPOSITES | {woman: man for man, woman in OPPOSITES.items()}
PERSON = re.compile(rf"\b({'|'.join(PERSONS)})\b", re.IGNORECASE)

Pair = tuple[str, list[str]]
"""A right caption and its wrong ones."""


def others(place: int, items: Sequence[Item], rng: np.random.Generator) -> Pair | None:
    """The item's caption and those of other items."""
    rest = [item.captions[ENGLISH][0] for item in items if item.id != items[place].id]
    drawn = rng.choice(len(rest), size=min(OTHERS, len(rest)), replace=False)
    return items[place].captions[ENGLISH][0], [rest[index] for index in drawn]


def other_noun(place: int, items: Sequence[Item], rng: np.random.Generator) -> Pair | None:
    """The first caption with a noun of KINDS, and the same with a sibling that no caption of the item names."""
    for caption in items[place].captions[ENGLISH]:
        if found := NOUN.search(caption):
            new = _unnamed(SIBLINGS[found[2].lower()], items[place], rng)
            article = f"{_article(new)} " if found[1] else ""
            said = _capital(article + _number(new, found[3]), found[0])
            return caption, [caption[: found.start()] + said + caption[found.end() :]]
    return None


def other_person(place: int, items: Sequence[Item], rng: np.random.Generator) -> Pair | None:
    """The first caption with a word of PERSONS, and the same with every such word's opposite."""
    del rng  # there is nothing to draw
    for caption in items[place].captions[ENGLISH]:
        if PERSON.search(caption):
            return caption, [PERSON.sub(lambda found: _capital(PERSONS[found[0].lower()], found[0]), caption)]
    return None


def jumbled(place: int, items: Sequence[Item], rng: np.random.Generator) -> Pair | None:
    """The item's caption, and its words in random order."""
    words = items[place].captions[ENGLISH][0].split()
    return (" ".join(words), [" ".join(rng.permutation(words))]) if len(set(words)) > 1 else None


def added(place: int, items: Sequence[Item], rng: np.random.Generator) -> Pair | None:
    """The item's caption, and the same with an object at its end that no caption of the item names."""
    caption = items[place].captions[ENGLISH][0].rstrip(" .")
    new = _unnamed(tuple(SIBLINGS), items[place], rng)
    return caption, [f"{caption} and {_article(new)} {new}"]


Maker = Callable[[int, Sequence[Item], np.random.Generator], Pair | None]
TESTS: Mapping[str, Maker] = {
    "another picture's caption": others,
    "one noun exchanged": other_noun,
    "*man* for *woman*": other_person,
    "words jumbled": jumbled,
    "an object added": added,
}


def wins(scores: Mapping[tuple[str, str], float], pairs: Mapping[str, Pair]) -> np.ndarray:
    """Share of the wrong captions that each item's right one beats; float64 [n], ties half."""

    def beaten(item: str, right: str, wrong: str) -> float:
        first, second = (-np.inf if np.isnan(s := scores[item, each]) else s for each in (right, wrong))
        return float(first > second) + 0.5 * float(first == second)

    return np.array([np.mean([beaten(item, right, each) for each in wrong]) for item, (right, wrong) in pairs.items()])


def interval(shares: np.ndarray) -> tuple[float, float]:
    """95 % percentile bootstrap interval of the mean over items."""
    rng = np.random.default_rng(RUN_SEED)
    means = shares[rng.integers(len(shares), size=(RESAMPLES, len(shares)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def made(items: Sequence[Item]) -> dict[str, dict[str, Pair]]:
    """Right and wrong captions by test and item; an item of which nothing can be made is left out of that test."""
    found: dict[str, dict[str, Pair]] = {}
    for name, maker in TESTS.items():
        rng = np.random.default_rng(RUN_SEED)
        pairs = {item.id: maker(place, items, rng) for place, item in enumerate(items)}
        found[name] = {key: pair for key, pair in pairs.items() if pair is not None}
    return found


def measure(items: Sequence[Item], tests: Mapping[str, Mapping[str, Pair]], evaluators: Sequence[str]) -> None:
    """Print a row an evaluator: the share of right captions preferred, with its interval, a column a test."""
    asked = list(
        dict.fromkeys(
            (item, text)
            for pairs in tests.values()
            for item, (right, wrong) in pairs.items()
            for text in (right, *wrong)
        )
    )
    images = {item.id: partial(_pixels, item) for item in items}
    cache = EmbeddingCache()
    heads = [f"{name}, n = {len(pairs)}" for name, pairs in tests.items()]
    print(f"| evaluator | {' | '.join(heads)} |\n| --- |{' --- |' * len(heads)}", flush=True)
    for reference in evaluators:
        with shared_pool().lease(reference) as evaluator:
            scores = dict(zip(asked, score_pairs(evaluator, images, asked, cache=cache).tolist(), strict=True))
        cells = []
        for pairs in tests.values():
            shares = wins(scores, pairs)
            low, high = interval(shares)
            cells.append(f"{100 * shares.mean():.1f} % ({100 * low:.1f} to {100 * high:.1f})")
        print(f"| `{reference}` | {' | '.join(cells)} |", flush=True)


def _pixels(item: Item) -> np.ndarray:
    return read_item(item).pixels


def _unnamed(nouns: Sequence[str], item: Item, rng: np.random.Generator) -> str:
    said = " ".join(item.captions[ENGLISH]).lower()
    free = [noun for noun in nouns if noun not in said] or list(nouns)
    return str(free[rng.integers(len(free))])


def _capital(new: str, old: str) -> str:
    return new[0].upper() + new[1:] if old[0].isupper() else new


def _article(noun: str) -> str:
    return "an" if noun[0] in "aeiou" and not noun.startswith("uni") else "a"


def _number(noun: str, ending: str | None) -> str:
    if not ending or noun == "sheep":
        return noun
    return noun + ("es" if noun.endswith(("s", "sh", "ch", "x")) else "s")


def main() -> int:
    """Measure one folder; return 1 if it cannot be read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="pictures with captions, or COCO's layout (its val2017 is read)")
    parser.add_argument("--evaluators", nargs="+", default=(*OFFLINE, *BLIND), help="those to measure")
    parser.add_argument("--limit", type=int, default=MOST, help=f"most items, evenly spaced ({MOST})")
    given = parser.parse_args()
    try:
        coco = (given.folder / "annotations").is_dir()
        items = coco_items(given.folder, "val2017") if coco else catalogue().get("folder").load(given.folder).items
        held = [item for item in items if item.captions.get(ENGLISH)]
        held = [held[index] for index in np.linspace(0, len(held) - 1, min(given.limit, len(held))).astype(int)]
        print(f"Machine: {machine()}; {len(held)} of {len(items)} pictures of {given.folder.name}\n")
        measure(held, made(held), given.evaluators)
    except InvariscopeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A seeded sample of a corpus that is even over category and coverage, and the table that shows how even it is.

Every cell of category × coverage bin gives the same number of items as long as it has some left; cells that run out
give all they have. Within a cell the draw is uniform without replacement, from its own stream, so the sample does
not depend on the order of the items, and a smaller sample is part of a larger one of the same seed.
Source: paper A, 3.1 (categories and bins); stratified sampling with equal allocation, Cochran (1977), 5.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.corpora.schema import COVERAGE_BINS, Corpus, Item
from core.errors import InvalidInput
from core.seeds import RUN_SEED, stream

NO_CATEGORY, NO_BOX = "none", "no box"

Cell = tuple[str, str]
"""Category and coverage bin; NO_CATEGORY and NO_BOX where an item has none."""


def cell_of(item: Item) -> Cell:
    """The cell that an item lies in."""
    return item.category or NO_CATEGORY, item.coverage_bin or NO_BOX


def stratified(corpus: Corpus, count: int, *, seed: int = RUN_SEED) -> Corpus:
    """Return a corpus of ``count`` items, in the order of the given one; all of them where it has no more.

    Args:
        count: at least 1.
        seed: of the draws.

    Raises:
        InvalidInput: if count is below 1.
    """
    if count < 1:
        raise InvalidInput(f"sample must be at least 1, got {count}")
    cells: dict[Cell, list[str]] = {}
    for item in corpus.items:
        cells.setdefault(cell_of(item), []).append(item.id)
    names = sorted(cells)
    order = [names[place] for place in stream(seed, "sample", "cells").permutation(len(names))]
    given = quotas({cell: len(cells[cell]) for cell in order}, count)
    chosen: set[str] = set()
    for cell, ids in cells.items():
        shuffled = stream(seed, "sample", *cell).permutation(sorted(ids))
        chosen.update(shuffled[: given[cell]].tolist())
    return replace(corpus, items=tuple(item for item in corpus.items if item.id in chosen))


def quotas(sizes: Mapping[Cell, int], count: int) -> dict[Cell, int]:
    """Share a number of items over cells as evenly as their sizes allow; what is left over goes to the first ones."""
    given = dict.fromkeys(sizes, 0)
    left = min(count, sum(sizes.values()))
    while left:
        open_cells = [cell for cell in sizes if given[cell] < sizes[cell]]
        each = max(left // len(open_cells), 1)
        for cell in open_cells[:left]:
            more = min(each, sizes[cell] - given[cell])
            given[cell] += more
            left -= more
    return given


def balance(items: Sequence[Item]) -> tuple[tuple[str, ...], list[tuple[str, tuple[int, ...]]]]:
    """Count the items of every cell.

    Returns:
        The coverage bins that occur, in order, and a row a category, the most frequent first: its counts by bin.
    """
    counts = Counter(cell_of(item) for item in items)
    bins = tuple(name for name in (*COVERAGE_BINS, NO_BOX) if any(name == found for _, found in counts))
    totals = Counter(category for category, _ in counts.elements())
    categories = sorted(totals, key=lambda name: (-totals[name], name))
    return bins, [(name, tuple(counts[name, each] for each in bins)) for name in categories]

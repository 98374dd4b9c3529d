"""Where several kinds of things stand in one frame: a column of the frame for each kind, nothing over anything."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from core.corpora.demo_build.compose import MAX_SCALE
from core.errors import BadCorpus

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
    """Give every copy a spot of its own; kinds stand from left to right in the order given.

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

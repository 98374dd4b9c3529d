"""The item under the knife: pixels, mask and what several probes of one item share."""

from functools import cached_property

import numpy as np

from core.corpora.schema import Item, Mask
from core.errors import ProbeRejected


class Scene:
    """One item with its decoded image; probes read it and never change it.

    Args:
        item: the item; its width and height are those of ``pixels``.
        pixels: uint8 RGB [H, W, 3]; a read-only view is kept.
    """

    def __init__(self, item: Item, pixels: np.ndarray) -> None:
        self.item = item
        self.pixels = pixels.view()
        self.pixels.flags.writeable = False

    @cached_property
    def mask(self) -> np.ndarray:
        """Boolean [H, W] of the dominant object: the item's own mask.

        Raises:
            ProbeRejected: where the item has none (an owner of pixels may derive one, see grabcut).
        """
        found = self.object_mask
        if found is None:
            raise ProbeRejected("no-mask", f"item {self.item.id!r} has no mask; give a box or a mask of the object")
        return found.to_array()

    @property
    def object_mask(self) -> Mask | None:
        """The item's mask, run-length encoded."""
        return self.item.mask

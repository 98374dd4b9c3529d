"""A picture that a reader brought: held in memory alone, packed without a loss, unpacked for who edits or draws it."""

from dataclasses import dataclass

import cv2
import numpy as np

from core.corpora.schema import Item
from core.scoring.workbench import in_memory_item

_FAST = (cv2.IMWRITE_PNG_COMPRESSION, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Upload:
    """A picture that a reader brought, decoded and packed.

    Args:
        name: of the file.
        item: that stands for it; its id and hash are of the pixels.
        notes: what was done to it when it was decoded.
        packed: the pixels as PNG.
    """

    name: str
    item: Item
    notes: tuple[str, ...]
    packed: bytes

    @classmethod
    def of(cls, name: str, pixels: np.ndarray, notes: tuple[str, ...]) -> "Upload":
        """Pack a picture, uint8 RGB [H, W, 3]."""
        done, packed = cv2.imencode(".png", pixels, _FAST)
        if not done:
            raise AssertionError(f"a picture of {pixels.shape} was not packed")
        return cls(name, in_memory_item(pixels), notes, packed.tobytes())

    @property
    def key(self) -> str:
        """What links call it: the start of its pixels' hash, so the same picture has the same key whoever brings it."""
        return str(self.item.pixels_sha256)[:32]

    @property
    def size(self) -> int:
        """Bytes of its pixels, which a session's quota counts."""
        return self.item.width * self.item.height * 3

    def pixels(self) -> np.ndarray:
        """Unpack the picture, uint8 RGB [H, W, 3]; to the bit what was packed."""
        found = cv2.imdecode(np.frombuffer(self.packed, np.uint8), cv2.IMREAD_COLOR)  # the order of colours is kept
        if found is None:
            raise AssertionError(f"{self.name} was not unpacked")
        return found

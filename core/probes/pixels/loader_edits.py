"""What a loader does to a picture before any metric sees it: shrinking it, and saving it with loss.

Pure edits: uint8 RGB in, a new uint8 RGB out; the input is never changed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import cv2
import numpy as np
from PIL import Image

from core.corpora.images import check_rgb
from core.corpora.schema import Box
from core.errors import InvalidInput
from core.probes.pixels.object_moves import Move

Resampler = Callable[[np.ndarray, int, int], np.ndarray]
"""(pixels, width, height) -> the pixels at that size."""


def _pillow(filter_: Image.Resampling) -> Resampler:
    return lambda pixels, width, height: np.asarray(Image.fromarray(pixels).resize((width, height), filter_))


def _opencv(flag: int) -> Resampler:
    return lambda pixels, width, height: cv2.resize(pixels, (width, height), interpolation=flag)


RESAMPLERS: Mapping[str, Resampler] = MappingProxyType(
    {
        "bicubic": _pillow(Image.Resampling.BICUBIC),
        "bilinear": _pillow(Image.Resampling.BILINEAR),
        "lanczos": _pillow(Image.Resampling.LANCZOS),
        "area": _opencv(cv2.INTER_AREA),
        "cubic-aliased": _opencv(cv2.INTER_CUBIC),
        "linear-aliased": _opencv(cv2.INTER_LINEAR),
    }
)
"""Pillow's filters grow with the reduction, so that nothing aliases; OpenCV's cubic and linear ones look at a fixed
number of pixels. Both are in use before one and the same model."""


def shrunk(pixels: np.ndarray, *, width: int, height: int, resampler: str) -> np.ndarray:
    """Shrink an image to a size.

    Args:
        pixels: uint8 RGB [H, W, 3].
        width, height: of the result, each at most that of the image.
        resampler: of RESAMPLERS.

    Raises InvalidInput if the resampler is not known, or the size is no reduction.
    """
    check_rgb(pixels)
    if resampler not in RESAMPLERS:
        raise InvalidInput(f"resampler must be one of {', '.join(RESAMPLERS)}, got {resampler!r}")
    tall, wide = pixels.shape[:2]
    if not (1 <= width <= wide and 1 <= height <= tall):
        raise InvalidInput(f"{width} × {height} px is no reduction of {wide} × {tall} px")
    return np.ascontiguousarray(RESAMPLERS[resampler](pixels, width, height))


@dataclass(frozen=True, slots=True)
class Target:
    """A size to shrink to that keeps the shape.

    Args:
        side: in pixels.
        longer: whether the longer side becomes so long, the other rounded; else the shorter one, and the other is cut
            off at a whole pixel, as loaders cut it: another rounding would have them shrink the picture once more.
    """

    side: int
    longer: bool = False

    def size(self, width: int, height: int) -> tuple[int, int]:
        """Width and height of an image of that size once it is shrunk; never larger than it is."""
        own = max(width, height) if self.longer else min(width, height)
        if own <= self.side:
            return width, height
        if not self.longer:
            return width * self.side // own, height * self.side // own
        return max(1, round(width * self.side / own)), max(1, round(height * self.side / own))

    @property
    def move(self) -> Move:
        """How boxes and masks follow: they shrink alike."""
        return Move(self._box, self._mask)

    def _box(self, box: Box, width: int, height: int) -> Box | None:
        wide, tall = self.size(width, height)
        across, down = wide / width, tall / height
        return Box(box.x * across, box.y * down, box.width * across, box.height * down).inside(wide, tall)

    def _mask(self, mask: np.ndarray) -> np.ndarray:
        height, width = mask.shape
        return cv2.resize(mask.astype(np.uint8), self.size(width, height), interpolation=cv2.INTER_NEAREST).astype(bool)

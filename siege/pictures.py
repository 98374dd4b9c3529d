"""Pictures for sessions, each of its own, and whether what was decoded is one."""

from io import BytesIO

import numpy as np
from PIL import Image

from core.corpora.image_header import DecodedImage
from core.corpora.images import check_rgb


def rough_png(seed: int) -> bytes:
    """A PNG of 640 × 480 px in a few smooth colours, another one for every seed."""
    rough = np.random.default_rng(seed).integers(0, 255, (6, 8, 3), dtype=np.uint8)
    buffer = BytesIO()
    Image.fromarray(rough).resize((640, 480), Image.Resampling.BICUBIC).save(buffer, "PNG")
    return buffer.getvalue()


def sound(decoded: DecodedImage) -> None:
    """Find out whether what was read is a picture that an evaluator may be given."""
    check_rgb(decoded.pixels)

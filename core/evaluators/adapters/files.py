"""Pictures as files, for packages that read paths."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from core.corpora.images import check_rgb


@contextmanager
def as_files(images: Sequence[np.ndarray]) -> Iterator[tuple[Path, list[Path]]]:
    """Write pictures as PNG, which keeps every pixel, until the ``with`` block ends.

    Args:
        images: n arrays, uint8 RGB [H, W, 3]; one that stands there several times is written once.

    Yields:
        A folder that goes with them, and n paths in it.

    Raises:
        InvalidInput: for an array that is no such picture.
    """
    for image in images:
        check_rgb(image)
    with TemporaryDirectory(prefix="invariscope-") as name:
        folder = Path(name)
        written: dict[int, Path] = {}
        for image in images:
            if id(image) not in written:
                written[id(image)] = folder / f"{len(written):06d}.png"
                Image.fromarray(image).save(written[id(image)], compress_level=1)
        yield folder, [written[id(image)] for image in images]

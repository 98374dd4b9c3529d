"""Regions found in pictures, and files of regions found by the hash of their pixels."""

import io
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from core.corpora.images import read_image
from core.corpora.item_pictures import read_item
from core.corpora.schema import Corpus
from core.errors import BadImage, InvalidInput, InvariscopeError
from core.evaluators.regions.region_folder import (
    DETECTOR_FILE,
    INDEX,
    RegionDetector,
    RegionFolder,
    Regions,
    read_index,
)
from core.evaluators.regions.source import detect
from core.writing import write_bytes

TOGETHER = 8
"""Pictures that are given to the detector at once."""


def extract_regions(
    pictures: Sequence[Path], out: Path, detector: RegionDetector, *, progress: Callable[[int], None] | None = None
) -> tuple[int, list[str]]:
    """Write the regions of pictures as ``<hash of the pixels>.npz``, in the layout of UNITER's authors.

    Each file holds ``features`` [n, d], ``norm_bb`` [n, 6] and ``conf`` [n, 1] in half precision, the surest region
    first, and ``detector.json`` the detector's digest. Files that are there already are left alone, so that a second
    call goes on where the first one stopped.
    ``progress``: called with the number of pictures dealt with so far.
    Returns the number of pictures that have regions now; a sentence for each one that cannot be read.
    Raises InvalidInput if the folder has regions of another detector.
    """
    out.mkdir(parents=True, exist_ok=True)
    held = RegionFolder(out)
    if held.detector != detector.digest and (held.detector or held.names()):
        raise InvalidInput(
            f"{out} holds regions of another detector, and the two may not be mixed; choose another folder"
        )
    write_bytes(out / DETECTOR_FILE, json.dumps({"detector": detector.digest}).encode())
    found, unread = 0, []
    for start in range(0, len(pictures), TOGETHER):
        read: dict[str, np.ndarray] = {}
        part = pictures[start : start + TOGETHER]
        for path in part:
            try:
                decoded = read_image(path)
            except BadImage as error:
                unread.append(str(error))
                continue
            found += 1
            if not (out / f"{decoded.pixels_sha256}.npz").exists():
                read[decoded.pixels_sha256] = decoded.pixels
        for key, regions in zip(read, detect(detector, list(read.values())), strict=True):
            write_bytes(out / f"{key}.npz", _npz(regions))
        if progress is not None:
            progress(start + len(part))
    return found, unread


def _npz(regions: Regions) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        features=regions.features.astype(np.float16),
        norm_bb=regions.boxes.astype(np.float16),
        conf=regions.confidence.astype(np.float16)[:, None],
    )
    return buffer.getvalue()


def index_regions(corpus: Corpus, folder: Path) -> tuple[int, int]:
    """Find each item's picture among a folder's regions by its file name, and write ``index.json``.

    UNITER's authors name an entry after the picture, with the data set before it (``coco_val2014_000000060623.npz``)
    and often without its leading zeros; an entry belongs to the picture whose name, or number, it ends with.
    Returns items that were found, items of the corpus.
    Raises InvalidInput if nothing was found.
    """
    names = {_tail(Path(name).stem): name for name in RegionFolder(folder).names()}
    index = read_index(folder)
    found = 0
    for item in corpus.items:
        name = names.get(_tail(item.image_path.stem)) if item.image_path else None
        if name is None:
            continue
        try:
            index[read_item(item).pixels_sha256] = name
        except (InvariscopeError, OSError):  # a picture that cannot be read has no score either
            continue
        found += 1
    if not found:
        raise InvalidInput(
            f"none of the {len(corpus.items)} pictures of corpus {corpus.name!r} has an entry in {folder}, which holds "
            f"e.g. {', '.join(sorted(names.values())[:2]) or 'nothing'}; check the folder"
        )
    write_bytes(folder / INDEX, json.dumps(index, indent=1, sort_keys=True).encode())
    return found, len(corpus.items)


def _tail(stem: str) -> str:
    """Number at the end of a name without its zeros, or the whole name where there is none."""
    number = re.search(r"(\d+)$", stem)
    return str(int(number[1])) if number else stem.casefold()

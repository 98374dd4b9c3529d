"""A stored pair made again: the picture that a run scored and its variant, from (item, probe, seed)."""

from dataclasses import dataclass, replace

import numpy as np

from core.corpora.item_pictures import as_picture, read_item
from core.corpora.schema import Box, Item
from core.errors import BadImage, ProbeRejected
from core.probes.base import Probe, Subject
from core.scoring.workbench import Workbench


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """The two pictures of a pair; of a video, its frames side by side.

    Args:
        before: the item's picture, uint8 RGB [H, W, 3], read-only.
        after: the variant's; None where the probe leaves the picture as it is.
        box_before, box_after: where the object is in each, in pixels, where that is known.
        notes: what the probe says of its edit.
    """

    before: np.ndarray
    after: np.ndarray | None
    box_before: Box | None
    box_after: Box | None
    notes: tuple[str, ...] = ()


def open_bench(item: Item, *, pixels_sha256: str | None, seed: int) -> Workbench:
    """Put an item of a run on a workbench.

    Args:
        item: from its corpus.
        pixels_sha256: hash of the decoded picture that the run scored; None: it was not recorded. A file whose
            bytes changed and whose pixels did not is the same picture.
        seed: of the run.

    Raises:
        BadImage: if the file is gone, broken, or no longer the picture that the run scored.
    """
    try:
        image = read_item(item)
    except BadImage as error:
        raise BadImage(f"the picture of item {item.id!r} cannot be shown: {error}") from error
    if pixels_sha256 not in (None, image.pixels_sha256):
        raise BadImage(
            f"the picture of item {item.id!r} is not the one that the run scored: its pixels changed since; put the "
            "old file back, or audit the corpus again"
        )
    return Workbench(replace(item, bytes_sha256=image.bytes_sha256), image.pixels, seed=seed)


def replay(bench: Workbench, probe: Probe, subject: Subject | None = None) -> Replay:
    """Make a pair of a run again.

    Args:
        bench: from :func:`open_bench`.
        probe: the one that the run used.
        subject: the caption that it edited; None: the probe edits the image.

    Raises:
        ProbeRejected: if the probe cannot be applied (its code or the corpus's annotations changed since).
    """
    made = bench.make(probe, subject)
    if isinstance(made, ProbeRejected):
        raise made
    after = None if made.pixels is None else as_picture(made.pixels)
    return Replay(bench.picture, after, bench.item.box, made.object_box, made.notes)

"""One image on the bench: the variants that probes make of it, each made once."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from threading import RLock

import numpy as np

from core.corpora.images import pixel_hash
from core.corpora.item_pictures import as_picture
from core.corpora.schema import Box, Item, Mask
from core.errors import InvalidInput, ProbeRejected
from core.probes.base import Edits, Probe, Subject, Variant
from core.probes.pairs import Pairs, subject_of
from core.probes.scene import Scene
from core.seeds import RUN_SEED

UPLOAD = "upload"
"""Corpus of the items that are pictures somebody brought."""


class Workbench(Pairs):
    """The pairs of one item, each variant made once and kept; safe to share between threads.

    Args:
        item: its width and height are those of ``pixels``.
        pixels: uint8 RGB [H, W, 3], of a video [T, H, W, 3].
        seed: run seed; with the seed of a run, an item's variants are those of the run.
        grown: told of this bench after each variant that was made, for who has many benches :meth:`forget` in turn.
    """

    def __init__(
        self,
        item: Item,
        pixels: np.ndarray,
        *,
        seed: int = RUN_SEED,
        grown: Callable[["Workbench"], object] | None = None,
    ) -> None:
        super().__init__(item, pixels, seed=seed, image_key=pixel_hash(pixels))
        self._grown = grown
        self._made: dict[tuple[str, Subject | None], Variant | ProbeRejected] = {}
        self._hashes: dict[str, str] = {}
        self._lock = RLock()

    @property
    def uploaded(self) -> bool:
        """Whether somebody brought the picture, so that nothing of it may be kept on the disk."""
        return self.item.corpus == UPLOAD

    @property
    def picture(self) -> np.ndarray:
        """What stands for the item where one picture is shown, uint8 RGB [H, W, 3]: of a video, its frames."""
        return as_picture(self.pixels)

    def make(self, probe: Probe, subject: Subject | None = None) -> Variant | ProbeRejected:
        """Return the variant of a probe, or why the probe cannot be applied; an edited image is made once for all."""
        key = _kept_under(probe, subject)
        with self._lock:
            new = key not in self._made
            if new:
                self._made[key] = super().make(probe, key[1])
            found = self._made[key]
        if new and self._grown is not None:
            self._grown(self)  # outside the lock: it may have another bench forget, which another thread holds
        return found

    def forget(self) -> None:
        """Let go of what was made; it is made again, the same, when it is asked for."""
        with self._lock:
            self._made.clear()
            self._hashes.clear()
            self.scene = Scene(self.item, self.pixels)

    def variants(self, probes: Iterable[Probe], caption: str) -> dict[str, Variant]:
        """Return the variants of the probes that can be applied beside a subject caption, by probe name."""
        subject = subject_of(self.item, caption)
        made = {probe.name: self.make(probe, subject) for probe in probes}
        return {name: variant for name, variant in made.items() if isinstance(variant, Variant)}

    def image(self, variant: Variant | None) -> tuple[str, np.ndarray]:
        """Return (pixel hash, pixels) of a variant; None, or a variant of the caption, has the item's own image."""
        if variant is None or variant.pixels is None:
            return self.image_key, self.pixels
        with self._lock:
            if variant.probe not in self._hashes:
                self._hashes[variant.probe] = pixel_hash(variant.pixels)
            return self._hashes[variant.probe], variant.pixels


def _kept_under(probe: Probe, subject: Subject | None) -> tuple[str, Subject | None]:
    """What a variant is kept under: an edited image is the same beside every caption."""
    return probe.name, None if probe.edits is Edits.IMAGE else subject


def in_memory_item(pixels: np.ndarray, *, label: str | None = None, category: str | None = None) -> Item:
    """Describe an image that has no file, such as an upload; its id is the start of its pixel hash."""
    digest = pixel_hash(pixels)
    return Item(
        id=digest[:16],
        corpus=UPLOAD,
        image_path=None,
        width=pixels.shape[1],
        height=pixels.shape[0],
        label=label,
        category=category,
        pixels_sha256=digest,
        source="upload",
    )


def with_object(item: Item, box: Box, mask: np.ndarray) -> Item:
    """Return the item with another dominant object.

    Args:
        box: as drawn, in pixels.
        mask: boolean [H, W]; the object.
    """
    return replace(item, box=box, mask=Mask.from_array(mask))


def parse_box(text: str, *, width: int, height: int) -> Box:
    """Read ``x, y, width, height`` in pixels and keep the part inside the image.

    Raises:
        InvalidInput: if the text is not four numbers or the box misses the image.

    Example:
        >>> parse_box("10, 20, 30, 40", width=100, height=100)
        Box(x=10.0, y=20.0, width=30.0, height=40.0)
    """
    parts = text.replace(";", ",").split(",")
    try:
        x, y, across, down = (float(part) for part in parts)
    except ValueError:
        raise InvalidInput(f"a box is four numbers x, y, width, height in pixels, got {text[:80]!r}") from None
    inside = Box(x, y, across, down).inside(width, height)
    if inside is None:
        raise InvalidInput(f"the box {text[:80]!r} lies outside the image of {width} × {height} px")
    return inside


def format_box(box: Box) -> str:
    """Write a box as :func:`parse_box` reads it, in whole pixels."""
    return ",".join(str(round(value)) for value in (box.x, box.y, box.width, box.height))

"""The item under the knife: pixels, mask and what several probes of one item share."""

from collections.abc import Callable
from threading import RLock
from typing import Any, TypeVar

import numpy as np

from core.corpora.demo_backgrounds import true_plate
from core.corpora.images import check_rgb, check_stack
from core.corpora.item_pictures import read_rival
from core.corpora.schema import Box, Item, SceneObject
from core.errors import BadImage, InvalidInput, InvariscopeError, ProbeRejected
from core.probes.pixels.cutout import Cutout, cut_out, mask_from_box, seam_energy
from core.probes.pixels.inpainting import Fill, Plate, kept_plates

T = TypeVar("T")

TRUE = "true"  # what a hole was filled with where the picture behind the object is known

MASK_SOURCE, GRABCUT = "mask_source", "grabcut"
"""The fact that names where a mask comes from, and its value where GrabCut found it; untold for the item's own."""

GRABCUT_NOTE = "The item has a box and no mask: the object's mask was found by GrabCut inside the box."


class Scene:
    """One item with its decoded image; probes read it and never change it. Safe to share between threads.
    What several probes need (the mask, the clean plate behind the object, the object cut out) is computed when it
    is first asked for, once, and arrays handed out are read-only.
    ``pixels``: uint8 RGB [H, W, 3], of a video [T, H, W, 3]; a read-only view is kept.
    Raises InvalidInput if ``pixels`` is not such an array, or the item, or its mask, has another size."""

    def __init__(self, item: Item, pixels: np.ndarray) -> None:
        _check(item, pixels)
        self.item = item
        self.pixels = pixels.view()
        self.pixels.flags.writeable = False
        self._kept: dict[str, Any] = {}
        self._lock = RLock()

    @property
    def mask(self) -> np.ndarray:
        """Boolean [H, W] of the dominant object: the item's own mask, else GrabCut from its box.
        Raises ProbeRejected ``no-mask`` where the item has neither; ``empty-mask`` where its mask has no pixel; a code
        of :func:`core.probes.pixels.cutout.mask_from_box` where GrabCut finds nothing."""
        return self._once("mask", self._find_mask)

    @property
    def mask_notes(self) -> tuple[str, ...]:
        """Sentences on where the mask comes from; empty for the item's own."""
        return () if self.item.mask is not None else (GRABCUT_NOTE,)

    @property
    def mask_facts(self) -> dict[str, str]:
        """``mask_source`` where the mask was found by GrabCut, for the table of variants; empty for the item's own."""
        return {} if self.item.mask is not None else {MASK_SOURCE: GRABCUT}

    @property
    def background(self) -> np.ndarray:
        """Uint8 [H, W, 3]: the image without the object, the hole filled by example (the clean plate)."""
        return self.plate(Fill.EXAMPLE).pixels

    def plate(self, fill: Fill) -> Plate:
        """The image without the object, its place filled in one of several ways.
        Raises ProbeRejected, see :func:`core.probes.pixels.inpainting.clean_plate`."""
        made = self._once(
            f"plate-{fill.value}", lambda: kept_plates().get(self.pixels, self.mask, self._outlined(), fill)
        )
        made.pixels.flags.writeable = False
        return made

    @property
    def true_plate(self) -> Plate:
        """The image as it was before the object was put there, its shadow neither, where that is known.
        Raises ProbeRejected ``no-true-plate`` where the item was not composed, or is not what its builder draws."""
        return self._once("true_plate", self._find_true_plate)

    @property
    def cutout(self) -> Cutout:
        """The object, cut out of the image."""
        return self._once("cutout", lambda: cut_out(self.pixels, self.mask))

    @property
    def seam_energy(self) -> float:
        """Edge energy around the object in the unedited image (:func:`~core.probes.pixels.cutout.seam_energy`)."""
        return self._once("seam_energy", lambda: seam_energy(self.pixels, self.cutout))

    @property
    def obstacles(self) -> np.ndarray:
        """Boolean [H, W] of the other annotated instances, without the object itself: the salient regions.
        An instance without a mask counts with its whole box."""
        return self._once("obstacles", self._find_obstacles)

    def _once(self, name: str, compute: Callable[[], T]) -> T:
        """Compute a shared value the first time, and a rejection too: it is raised again without the work."""
        with self._lock:
            if name not in self._kept:
                try:
                    self._kept[name] = compute()
                except ProbeRejected as rejection:
                    self._kept[name] = rejection.to_keep()
            value: T | ProbeRejected = self._kept[name]
        if isinstance(value, ProbeRejected):
            raise value.to_keep()
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        return value

    def _find_mask(self) -> np.ndarray:
        item = self.item
        if item.mask is None and item.box is None:
            raise ProbeRejected("no-mask", f"item {item.id!r} has no mask; give a box or a mask of the object")
        if item.mask is None:
            assert item.box is not None
            return mask_from_box(self.pixels, item.box)
        mask = item.mask.to_array()
        if not mask.any():
            raise ProbeRejected("empty-mask", f"the mask of item {item.id!r} has no pixel; give one of the object")
        return mask

    def _find_true_plate(self) -> Plate:
        if not self.item.backdrop:
            told = f"nobody knows what is behind the object of item {self.item.id!r}: it was not composed"
            raise ProbeRejected("no-true-plate", told)
        try:
            pixels = true_plate(self.item, self.pixels)
        except InvariscopeError as error:
            raise ProbeRejected("no-true-plate", str(error)) from error
        pixels.flags.writeable = False
        return Plate(pixels, TRUE)

    def _find_obstacles(self) -> np.ndarray:
        height, width = self.pixels.shape[:2]
        unknown = (boxed(each.box, width, height) for each in self.item.others if not self._has_outline(each))
        others: np.ndarray = np.logical_or.reduce([self._outlined(), *unknown]) & ~self.mask
        return others

    def _outlined(self) -> np.ndarray:
        """Boolean [H, W] of the other instances whose masks are known."""
        return self._once("outlined", self._find_outlined)

    def _find_outlined(self) -> np.ndarray:
        masks = [other.mask.to_array() for other in self.item.others if other.mask and self._has_outline(other)]
        others: np.ndarray = np.logical_or.reduce([np.zeros(self.pixels.shape[:2], bool), *masks]) & ~self.mask
        return others

    def _has_outline(self, other: SceneObject) -> bool:
        return other.mask is not None and (other.mask.height, other.mask.width) == self.pixels.shape[:2]


def boxed(box: Box, width: int, height: int) -> np.ndarray:
    """Boolean [height, width] of the pixels that a box touches, as far as it lies inside the image."""
    covered = np.zeros((height, width), bool)
    inside = box.inside(width, height)
    if inside is not None:
        covered[int(inside.y) : int(np.ceil(inside.bottom)), int(inside.x) : int(np.ceil(inside.right))] = True
    return covered


def _check(item: Item, pixels: np.ndarray) -> None:
    (check_stack if item.frames else check_rgb)(pixels, what=f"the image of item {item.id!r}")
    height, width = pixels.shape[-3:-1]
    if (item.width, item.height) != (width, height):
        raise InvalidInput(
            f"item {item.id!r} is annotated for {item.width} × {item.height} px but its image has {width} × {height}; "
            "scale its annotations with the image"
        )
    mask = item.mask
    if mask is not None and (mask.width, mask.height) != (width, height):
        raise InvalidInput(
            f"the mask of item {item.id!r} has {mask.width} × {mask.height} px, its image {width} × {height}; "
            "draw the mask on this image"
        )


def rival_pixels(item: Item, role: str) -> np.ndarray:
    """Read the item's other picture of a role; uint8 RGB [H, W, 3], of its own size, of a video [T, H, W, 3].
    Raises ProbeRejected ``no-rival`` where the item has none; ``bad-rival`` where it cannot be used."""
    rival = item.rival(role)
    if rival is None:
        known = ", ".join(each.role for each in item.rivals) or "none"
        raise ProbeRejected("no-rival", f"item {item.id!r} has no rival of role {role!r}; it has {known}")
    try:
        return read_rival(item, rival).pixels
    except BadImage as error:
        raise ProbeRejected("bad-rival", f"rival {role!r} of item {item.id!r}: {error}") from error

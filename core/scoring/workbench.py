"""One image on the bench: the variants that probes make of it, each made once; and a stored pair made again. The
picture that a run scored and its variant follow from (item, probe, seed). A visitor may draw the object's box or paint
its mask, which is a picture of a stranger until it was decoded as one."""

from base64 import b64decode
from binascii import Error
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from threading import RLock

import cv2
import numpy as np

from core.corpora.images import decode_stranger, pixel_hash
from core.corpora.item_pictures import as_picture, read_item
from core.corpora.schema import Box, Item, Mask
from core.errors import BadImage, InvalidInput, ProbeRejected
from core.probes.base import Edits, Probe, Subject, Variant
from core.probes.pairs import Pairs, subject_of
from core.probes.scene import Scene
from core.seeds import RUN_SEED

UPLOAD = "upload"  # corpus of the items that are pictures somebody brought


class Workbench(Pairs):
    """The pairs of one item, each variant made once and kept; safe to share between threads.
    ``item``: its width and height are those of ``pixels``. ``pixels``: uint8 RGB [H, W, 3], of a video [T, H, W, 3].
    ``seed``: run seed; with the seed of a run, an item's variants are those of the run.
    ``grown``: told of this bench after each variant that was made, for who has many benches :meth:`forget` in turn."""

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
        key = probe.name, None if probe.edits is Edits.IMAGE else subject  # an edited image is one for all captions
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
    """Return the item with another dominant object. ``mask``: boolean [H, W]; the object."""
    return replace(item, box=box, mask=Mask.from_array(mask))


def parse_box(text: str, *, width: int, height: int) -> Box:
    """Read ``x, y, width, height`` in pixels and keep the part inside the image.
    Raises InvalidInput if the text is not four numbers or the box misses the image.

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


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """The two pictures of a pair; of a video, its frames side by side."""

    before: np.ndarray  # the item's picture, uint8 RGB [H, W, 3], read-only
    after: np.ndarray | None  # the variant's; None where the probe leaves the picture as it is
    # box_before, box_after: where the object is in each, in pixels, where that is known
    box_before: Box | None
    box_after: Box | None
    notes: tuple[str, ...] = ()  # what the probe says of its edit


def open_bench(item: Item, *, pixels_sha256: str | None, seed: int) -> Workbench:
    """Put an item of a run on a workbench.
    ``pixels_sha256``: hash of the decoded picture that the run scored; None: it was not recorded. A file whose bytes
    changed and whose pixels did not is the same picture.
    Raises BadImage if the file is gone, broken, or no longer the picture that the run scored."""
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
    """Make a pair of a run again. ``subject``: the caption that it edited; None: the probe edits the image.
    Raises ProbeRejected if the probe cannot be applied (its code or the corpus's annotations changed since)."""
    made = bench.make(probe, subject)
    if isinstance(made, ProbeRejected):
        raise made
    after = None if made.pixels is None else as_picture(made.pixels)
    return Replay(bench.picture, after, bench.item.box, made.object_box, made.notes)


MOST_MASK_BYTES = 1_000_000  # most that a painted mask may take as a PNG; one of 640 px takes some 20 kB
_BEGIN = "data:image/png;base64,"
_HALF = 127  # grey above which a pixel of the mask is the object's: a brush has soft edges


def read_painted(address: str, *, before: np.ndarray, shown: tuple[int, int]) -> np.ndarray:
    """Read a painted mask, and keep what was not painted over as it was before, pixel by pixel.
    ``address``: of the PNG, ``data:image/png;base64,…``, white where the object is.
    ``before``: boolean [H, W] in the pixels of the item, the mask that was painted on; all False where there was none.
    ``shown``: (h, w) of :func:`at_size`, as the browser had it and as the PNG must be. Returns boolean [H, W].
    Raises BadImage if it is no such file, or too large, or takes too much to decode; InvalidInput if its size is not
    that of the picture it was painted on, or nothing is left of the object."""
    height, width = shown
    if not address.startswith(_BEGIN):
        raise BadImage(f"a painted mask is a PNG, got {address[:30]!r}; paint it again")
    if len(address) > MOST_MASK_BYTES * 4 // 3 + len(_BEGIN) + 4:
        raise BadImage(f"a painted mask takes at most {MOST_MASK_BYTES // 1000} kB, got {len(address) // 1000} kB")
    try:
        data = b64decode(address[len(_BEGIN) :], validate=True)
    except (Error, ValueError) as error:
        raise BadImage("the painted mask did not arrive whole; paint it again") from error
    decoded = decode_stranger(data, name="the painted mask", max_pixels=height * width)
    if decoded.pixels.shape[:2] != shown:
        got = f"{decoded.width} × {decoded.height}"
        raise InvalidInput(f"a mask painted here has {width} × {height} px, got {got}; paint it again")
    painted = decoded.pixels[..., 0] > _HALF
    changed = at_size(painted != at_size(before, shown), before.shape)
    whole = np.where(changed, at_size(painted, before.shape), before)
    if not whole.any():
        raise InvalidInput("nothing is left of the mask; paint the object, or clear what was drawn")
    return whole


def at_size(mask: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A boolean mask at another size (height, width)."""
    height, width = shape
    if mask.shape == (height, width):
        return mask
    return np.asarray(cv2.resize(mask.astype(np.float32), (width, height), interpolation=cv2.INTER_LINEAR) > 0.5)

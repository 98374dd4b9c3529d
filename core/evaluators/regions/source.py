"""Where the regions of a picture come from: a folder of precomputed ones first, then a detector."""

from collections.abc import Sequence

import numpy as np

from core.corpora.images import pixel_hash
from core.errors import InvalidInput, NotAvailable
from core.evaluators.regions.bottom_up import BottomUp
from core.evaluators.regions.region_folder import RegionDetector, RegionFolder, Regions
from core.evaluators.weights.device import Runner
from core.registry import is_apart, load_object

DETECTOR = "INVARISCOPE_UMIC_DETECTOR"
"""Environment: ``path/to/file.py:Name`` of a class with ``load(device)`` and ``regions(image)``; it comes first."""

_UNKNOWN = (
    "UMIC is precomputed only, and there are no regions of this image; extract them and add them, or fetch the "
    "detector with: python -m core evaluators get umic"
)
_OTHER = (
    "no regions of this image in {folder}, whose regions come from another detector than the one here, and the two "
    "may not be mixed; add this image's regions, or take the folder away to find all regions in pixels"
)
REMEMBERED = 64
"""Pictures whose regions stay in memory after a detector found them; a hundred regions take 0.8 MB."""


class RegionSource:
    """Regions of any picture, by the hash of its pixels.

    The regions of an audit must all come from one detector: else the score of an edited picture would also move
    because another network looked at it. So bottom-up attention adds to a folder only where it made the folder
    itself; beside any other folder it is left aside. A detector of the user's own adds to any folder that they name.

    Args:
        folder: precomputed regions.
        detector: finds those of the pictures that the folder does not have.

    Attributes:
        unknown: why a picture has no regions, where it has none.
    """

    def __init__(self, folder: RegionFolder | None, detector: RegionDetector | None) -> None:
        self.unknown = _UNKNOWN
        if folder and isinstance(detector, BottomUp) and folder.detector != detector.digest:
            self.unknown = _OTHER.format(folder=folder.folder)
            detector = None
        self._folder, self._detector = folder, detector
        self._remembered: dict[str, Regions] = {}

    @property
    def digests(self) -> dict[str, str | None]:
        """What the regions depend on, for the fingerprint."""
        return {
            "regions": self._folder.digest() if self._folder else None,
            "detector": self._detector.digest if self._detector else None,
        }

    @property
    def libraries(self) -> tuple[str, ...]:
        """Packages that compute regions."""
        return ("torchvision",) if isinstance(self._detector, BottomUp) else ()

    @property
    def runners(self) -> tuple[Runner, ...]:
        """Networks of bottom-up attention; what a detector of the user's own loads is not known."""
        return (self._detector.runner,) if isinstance(self._detector, BottomUp) else ()

    def find(self, images: Sequence[np.ndarray]) -> list[Regions | None]:
        """Regions of n pictures, each picture looked at once; None where nothing knows them."""
        same: dict[int, str] = {}
        for image in images:
            if id(image) not in same:
                same[id(image)] = pixel_hash(image)
        pictures = {same[id(image)]: image for image in images}
        found: dict[str, Regions | None] = {key: self._known(key) for key in pictures}
        new = [key for key, regions in found.items() if regions is None]
        if new and self._detector is not None:
            detected = detect(self._detector, [pictures[key] for key in new])
            found.update(zip(new, detected, strict=True))
            self._remember(dict(zip(new, detected, strict=True)))
        return [found[same[id(image)]] for image in images]

    def forget(self) -> None:
        """Drop the regions of pictures met before: a detector may have looked at several at once."""
        self._remembered = {}

    def _known(self, key: str) -> Regions | None:
        found = self._folder.find(key) if self._folder else None
        return self._remembered.get(key) if found is None else found

    def _remember(self, new: dict[str, Regions]) -> None:
        kept = list({**self._remembered, **new}.items())[-REMEMBERED:]
        self._remembered = dict(kept)


def detect(detector: RegionDetector, images: Sequence[np.ndarray]) -> list[Regions]:
    """Regions of n pictures: of all at once, where the detector has ``regions_of``, else one after the other."""
    together = getattr(detector, "regions_of", None)
    return list(together(images)) if together else [detector.regions(image) for image in images]


def own_detector(reference: str | None, device: str) -> RegionDetector | None:
    """Load the detector that the user names; None where they name none.

    Raises:
        NotAvailable: in a server, which runs no file of code in itself.
        InvalidInput: if the file, or what it holds, cannot be used.
    """
    if not reference:
        return None
    if is_apart():
        raise NotAvailable(
            f"{DETECTOR} names code of a file, which this server does not run in itself; audit with it (audits are "
            "their own processes), or extract the regions: python -m core regions extract"
        )
    kind = load_object(reference)
    if not callable(getattr(kind, "load", None)) or not callable(getattr(kind, "regions", None)):
        raise InvalidInput(f"{DETECTOR}={reference!r} needs a class with load(device) and regions(image)")
    made: RegionDetector = kind.load(device)  # type: ignore[attr-defined]
    return made


def drawn(image: np.ndarray, regions: Regions) -> np.ndarray:
    """Return the picture with the boxes of its regions."""
    import cv2

    picture = image.copy()
    height, width = image.shape[:2]
    thickness = max(1, round(max(height, width) / 300))
    for box in regions.boxes[:, :4] * [width, height, width, height]:
        left, top, right, bottom = (round(float(side)) for side in box)
        cv2.rectangle(picture, (left, top), (right, bottom), (0, 121, 189), thickness)
    return picture

"""Where the regions of a picture come from: a folder of precomputed ones first, then a detector."""

import hashlib
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from core.corpora.images import pixel_hash, read_image
from core.corpora.item_pictures import read_item
from core.corpora.schema import Corpus
from core.errors import BadImage, InvalidInput, InvariscopeError, NotAvailable
from core.evaluators.memory import Runner
from core.evaluators.regions.region_folder import DETECTOR_FILE, INDEX, RegionDetector, RegionFolder, Regions
from core.evaluators.weights.catalogue import Description
from core.evaluators.weights.fetched import Place
from core.registry import is_apart, load_object
from core.writing import write_bytes

if TYPE_CHECKING:
    from torch import Tensor

CPU_PICTURES, DEVICE_PICTURES = 1, 8
LEAST_SIDE = 16  # pixels that a side of the picture has at least when it enters: one cell of the feature map
_WEIGHTS = ("pytorch_model.bin", "model.safetensors")


@dataclass(frozen=True, slots=True)
class Selection:
    """How UNITER's authors choose regions.
    Source: https://github.com/peteanderson80/bottom-up-attention, lib/fast_rcnn/config.py and tools/generate_tsv.py;
    https://github.com/ChenRocks/BUTD-UNITER-NLVR2, generate_npz.py."""

    short_side: int = 600  # pixels to which the picture's shorter side is scaled
    long_side: int = 1000  # pixels that the longer one may then have; else it decides the scale
    least_side: float = 16.0  # pixels of the picture, as it came, that a region's sides have at least
    proposals: int = 300  # regions that get a feature
    overlap: float = 0.3  # intersection over union above which, class by class, the less sure of two regions goes
    most: int = 100  # regions that are returned

    @classmethod
    def of(cls, entry: Description) -> Self:
        """The settings of UMIC in the catalogue."""
        called = {"most": "most_regions"}
        own: dict[str, Any] = asdict(cls())
        return cls(**{name: type(each)(entry.number(called.get(name, name), each)) for name, each in own.items()})

    @property
    def digest(self) -> str:
        """Short hash: regions that were chosen otherwise are other regions."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:8]

    def scaled(self, height: int, width: int) -> tuple[int, int]:
        """Height and width in which a picture enters the network."""
        scale = min(self.short_side / min(height, width), self.long_side / max(height, width))
        return max(LEAST_SIDE, int(height * scale + 0.5)), max(LEAST_SIDE, int(width * scale + 0.5))


class BottomUp:
    """Faster R-CNN, trained on Visual Genome, that finds the regions of a picture.
    A region is a proposal of the network, not yet refined, with the mean of res5 over it as its feature; its confidence
    is its highest class probability after non-maximum suppression within each class. So the regions were made that UMIC
    was trained and published with. Two differences remain: those came from Caffe's model for 10 to 100 regions, and the
    publisher of these PyTorch weights does not say from which of Caffe's two models they were converted; and boxes are
    continuous here, where Caffe counts whole pixels.
    ``digest`` names the weights and how regions are chosen.
    The publisher's own code, written for another network than UNITER, refines boxes, suppresses across classes, keeps a
    fixed number of regions, and swaps red and blue against the means; none of this is done here.
    Source: Anderson et al. 2018, section 3.1; https://huggingface.co/unc-nlp/frcnn-vg-finetuned."""

    def __init__(self, runner: Runner, digest: str, selection: Selection) -> None:
        self.runner, self._selection = runner, selection
        self.digest = digest
        self.width: int = runner.network.width  # length of a region's feature

    @classmethod
    def load(cls, place: Place, *, device: str = "cpu", selection: Selection | None = None) -> Self:
        """Load the network. Raises NotAvailable if a file is missing, damaged, or of another network."""
        from core.evaluators.regions.faster_rcnn import CONFIG, load_faster_rcnn, read_recipe

        digest = place.digest()
        path = checkpoint(place)
        network = load_faster_rcnn(path, read_recipe(path.with_name(CONFIG))).to(device)
        pictures = CPU_PICTURES if device.startswith("cpu") else DEVICE_PICTURES
        runner = Runner(path.name, network, device, batch=pictures, cpu_batch=CPU_PICTURES)
        chosen = selection or Selection()
        return cls(runner, f"{digest}+{chosen.digest}", chosen)

    def regions(self, image: np.ndarray) -> Regions:
        """Find the regions of one picture; see :meth:`regions_of`."""
        return self.regions_of([image])[0]

    def regions_of(self, images: Sequence[np.ndarray]) -> list[Regions]:
        """Find regions in n pictures, uint8 RGB [H, W, 3]. Pictures that enter in the same size go through the network
        together, at most 8 on a GPU and one by one on a CPU; none is padded, so that a picture's regions do not depend
        on the others. Returns for each picture at most ``selection.most`` regions, the surest first.
        Raises InvalidInput if the network gives no finite number; NotAvailable if even the CPU has no memory."""
        together: dict[tuple[int, int], list[int]] = {}
        for index, image in enumerate(images):
            together.setdefault(self._selection.scaled(*image.shape[:2]), []).append(index)
        found: dict[int, Regions] = {}
        for size, indices in together.items():
            rows = self.runner.each([images[index] for index in indices], partial(self._rows, size))
            for index, row in zip(indices, rows.numpy(), strict=True):
                there = row[row[:, 0] >= 0]
                shares = there[:, 1:5]
                boxes = np.concatenate([shares, shares[:, 2:] - shares[:, :2]], axis=1)
                found[index] = Regions(there[:, 5:].copy(), boxes, there[:, 0].copy())
        return [found[index] for index in range(len(images))]

    def _rows(self, size: tuple[int, int], images: Sequence[np.ndarray], device: str) -> "Tensor":
        """Regions as float32 [n, most, 5 + d]: confidence (-1 where there is none), shares of the sides, feature."""
        import torch
        from torch.nn import functional

        from core.evaluators.regions.faster_rcnn import confidence

        chosen, network = self._selection, self.runner.network
        entering = []
        for image in images:  # blue first
            values = torch.from_numpy(np.ascontiguousarray(image[:, :, ::-1])).to(device).permute(2, 0, 1)[None].float()
            entering.append(functional.interpolate(values, size=size, mode="bilinear", align_corners=False))
        pixels = network.recipe.model
        mean, deviation = (values.new_tensor(each).view(1, 3, 1, 1) for each in (pixels.pixel_mean, pixels.pixel_std))
        pictures = (torch.cat(entering) - mean) / deviation
        scales = [size[0] / image.shape[0] for image in images]
        least = chosen.least_side * min(scales)
        rows = torch.full((len(images), chosen.most, 5 + network.width), -1.0)
        sides = torch.tensor([size[1], size[0], size[1], size[0]])
        for row, (boxes, features, scores) in zip(
            rows, network(pictures, most=chosen.proposals, least_side=least), strict=True
        ):
            sure = confidence(boxes, scores, chosen.overlap)
            kept = sure.argsort(descending=True, stable=True)[: chosen.most]
            told = torch.cat([sure[:, None], boxes.cpu() / sides, features.cpu()], dim=1)
            row[: len(kept)] = told[kept]
        return rows


def checkpoint(place: Place) -> Path:
    """The file of the network among those of its set. Raises NotAvailable if it is missing."""
    if place.path.is_file():
        return place.path
    found = next((place.path / name for name in _WEIGHTS if (place.path / name).is_file()), None)
    if found is None:
        raise NotAvailable(f"{place.weights.title}: no {_WEIGHTS[0]} at {place.path}; fetch it again")
    return found


DETECTOR = "INVARISCOPE_UMIC_DETECTOR"  # ``file.py:Name`` of a class with load(device) and regions(image)
_UNKNOWN = (
    "UMIC is precomputed only, and there are no regions of this image; extract them and add them, or fetch the "
    "detector with: python -m core evaluators get umic"
)
_OTHER = (
    "no regions of this image in {folder}, whose regions come from another detector than the one here, and the two "
    "may not be mixed; add this image's regions, or take the folder away to find all regions in pixels"
)
REMEMBERED = 64  # pictures whose regions stay in memory after a detector found them; a hundred regions take 0.8 MB


class RegionSource:
    """Regions of any picture, by the hash of its pixels. The regions of an audit must all come from one detector: else
    the score of an edited picture would also move because another network looked at it. So bottom-up attention adds to
    a folder only where it made the folder itself; beside any other folder it is left aside. A detector of the user's
    own adds to any folder that they name.
    ``folder``: precomputed regions. ``detector``: finds those of the pictures that the folder does not have.
    ``unknown``: why a picture has no regions, where it has none."""

    def __init__(self, folder: RegionFolder | None, detector: RegionDetector | None) -> None:
        self.unknown = _UNKNOWN
        if folder and isinstance(detector, BottomUp) and folder.detector != detector.digest:
            self.unknown = _OTHER.format(folder=folder.folder)
            detector = None
        self._folder, self._detector = folder, detector
        # of bottom-up attention: what a detector of the user's own loads is not known
        self.libraries = ("torchvision",) if isinstance(detector, BottomUp) else ()
        self.runners = (detector.runner,) if isinstance(detector, BottomUp) else ()
        self._remembered: dict[str, Regions] = {}

    @property
    def digests(self) -> dict[str, str | None]:
        """What the regions depend on, for the fingerprint."""
        return {
            "regions": self._folder.digest() if self._folder else None,
            "detector": self._detector.digest if self._detector else None,
        }

    def find(self, images: Sequence[np.ndarray]) -> list[Regions | None]:
        """Regions of n pictures, each picture looked at once; None where nothing knows them."""
        same: dict[int, str] = {}
        for image in images:
            if id(image) not in same:
                same[id(image)] = pixel_hash(image)
        pictures = {same[id(image)]: image for image in images}
        found: dict[str, Regions | None] = {key: self._folder.find(key) if self._folder else None for key in pictures}
        found = {key: self._remembered.get(key) if held is None else held for key, held in found.items()}
        new = [key for key, regions in found.items() if regions is None]
        if new and self._detector is not None:
            detected = detect(self._detector, [pictures[key] for key in new])
            found.update(zip(new, detected, strict=True))
            kept = {**self._remembered, **dict(zip(new, detected, strict=True))}
            self._remembered = dict(list(kept.items())[-REMEMBERED:])
        return [found[same[id(image)]] for image in images]

    def forget(self) -> None:
        """Drop the regions of pictures met before: a detector may have looked at several at once."""
        self._remembered = {}


def detect(detector: RegionDetector, images: Sequence[np.ndarray]) -> list[Regions]:
    """Regions of n pictures: of all at once, where the detector has ``regions_of``, else one after the other."""
    together = getattr(detector, "regions_of", None)
    return list(together(images)) if together else [detector.regions(image) for image in images]


def own_detector(reference: str | None, device: str) -> RegionDetector | None:
    """Load the detector that the user names; None where they name none. Raises NotAvailable in a server, which runs no
    file of code in itself; InvalidInput if the file, or what it has, cannot be used."""
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


TOGETHER = 8  # pictures that are given to the detector at once


def extract_regions(
    pictures: Sequence[Path], out: Path, detector: RegionDetector, *, progress: Callable[[int], None] | None = None
) -> tuple[int, list[str]]:
    """Write the regions of pictures as ``<hash of the pixels>.npz``, in the layout of UNITER's authors. Each file holds
    ``features`` [n, d], ``norm_bb`` [n, 6] and ``conf`` [n, 1] in half precision, the surest region first, and
    ``detector.json`` the detector's digest. Files that are there already are left alone, so that a second call goes on
    where the first one stopped. ``progress``: called with the number of pictures dealt with so far.
    Returns the number of pictures that have regions now; a sentence for each one that cannot be read.
    Raises InvalidInput if the folder has regions of another detector."""
    out.mkdir(parents=True, exist_ok=True)
    there = RegionFolder(out)
    if there.detector != detector.digest and (there.detector or there.names()):
        raise InvalidInput(f"{out} holds regions of another detector, and they may not be mixed; choose another folder")
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
            buffer = io.BytesIO()
            held = {"features": regions.features, "norm_bb": regions.boxes, "conf": regions.confidence[:, None]}
            halves: dict[str, Any] = {name: values.astype(np.float16) for name, values in held.items()}
            np.savez_compressed(buffer, **halves)
            write_bytes(out / f"{key}.npz", buffer.getvalue())
        if progress is not None:
            progress(start + len(part))
    return found, unread


def index_regions(corpus: Corpus, folder: Path) -> tuple[int, int]:
    """Find each item's picture among a folder's regions by its file name, and write ``index.json``. UNITER's authors
    name an entry after the picture, with the data set before it (``coco_val2014_000000060623.npz``) and often without
    its leading zeros; an entry belongs to the picture whose name, or number, it ends with.
    Returns items that were found, items of the corpus. Raises InvalidInput if nothing was found."""
    held = RegionFolder(folder)
    names = {_tail(Path(name).stem): name for name in held.names()}
    index, found = dict(held.index), 0
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

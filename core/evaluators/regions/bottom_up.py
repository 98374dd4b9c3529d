"""Regions from pixels: bottom-up attention's detector as UNITER's authors used it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from core.errors import NotAvailable
from core.evaluators.regions.region_folder import Regions
from core.evaluators.weights.catalogue import Description
from core.evaluators.weights.device import Runner
from core.evaluators.weights.fetched import Place

if TYPE_CHECKING:
    from torch import Tensor

CPU_PICTURES, DEVICE_PICTURES = 1, 8
LEAST_SIDE = 16
"""Pixels that a side of the picture has at least when it enters: one cell of the feature map."""
_WEIGHTS = ("pytorch_model.bin", "model.safetensors")


@dataclass(frozen=True, slots=True)
class Selection:
    """How UNITER's authors choose regions.

    Args:
        short_side: pixels to which the picture's shorter side is scaled.
        long_side: pixels that the longer one may then have; else it decides the scale.
        least_side: pixels of the picture, as it came, that a region's sides have at least.
        proposals: regions that get a feature.
        overlap: intersection over union above which, class by class, the less sure of two regions goes.
        most: regions that are returned.

    Source: https://github.com/peteanderson80/bottom-up-attention, lib/fast_rcnn/config.py and tools/generate_tsv.py;
    https://github.com/ChenRocks/BUTD-UNITER-NLVR2, generate_npz.py.
    """

    short_side: int = 600
    long_side: int = 1000
    least_side: float = 16.0
    proposals: int = 300
    overlap: float = 0.3
    most: int = 100

    @classmethod
    def of(cls, entry: Description) -> Self:
        """The settings of UMIC in the catalogue."""
        own = cls()
        return cls(
            short_side=int(entry.number("short_side", own.short_side)),
            long_side=int(entry.number("long_side", own.long_side)),
            least_side=entry.number("least_side", own.least_side),
            proposals=int(entry.number("proposals", own.proposals)),
            overlap=entry.number("overlap", own.overlap),
            most=int(entry.number("most_regions", own.most)),
        )

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

    A region is a proposal of the network, not yet refined, with the mean of res5 over it as its feature; its
    confidence is its highest class probability after non-maximum suppression within each class. So the regions were
    made that UMIC was trained and published with. Two differences remain: those came from Caffe's model for 10 to 100
    regions, and the publisher of these PyTorch weights does not say from which of Caffe's two models they were
    converted; and boxes are continuous here, where Caffe counts whole pixels.

    ``digest`` names the weights and how regions are chosen.

    The publisher's own code, written for another network than UNITER, refines boxes, suppresses across classes, keeps
    a fixed number of regions, and swaps red and blue against the means; none of this is done here.

    Source: Anderson et al. 2018, section 3.1; https://huggingface.co/unc-nlp/frcnn-vg-finetuned.
    """

    def __init__(self, runner: Runner, digest: str, selection: Selection) -> None:
        self.runner, self._selection = runner, selection
        self.digest = digest

    @property
    def width(self) -> int:
        """Length of a region's feature."""
        found: int = self.runner.network.width
        return found

    @classmethod
    def load(cls, place: Place, *, device: str = "cpu", selection: Selection | None = None) -> Self:
        """Load the network.

        Raises:
            NotAvailable: if a file is missing, damaged, or of another network.
        """
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
        """Find regions in n pictures, uint8 RGB [H, W, 3].

        Pictures that enter in the same size go through the network together, at most 8 on a GPU and one by one on a
        CPU; none is padded, so that a picture's regions do not depend on the others.

        Returns:
            For each picture at most ``selection.most`` regions, the surest first.

        Raises:
            InvalidInput: if the network gives no finite number.
            NotAvailable: if there is no memory for a single picture, even on the CPU.
        """
        together: dict[tuple[int, int], list[int]] = {}
        for index, image in enumerate(images):
            together.setdefault(self._selection.scaled(*image.shape[:2]), []).append(index)
        found: dict[int, Regions] = {}
        for size, indices in together.items():
            rows = self.runner.each([images[index] for index in indices], partial(self._rows, size))
            found.update(zip(indices, map(_regions, rows.numpy()), strict=True))
        return [found[index] for index in range(len(images))]

    def _rows(self, size: tuple[int, int], images: Sequence[np.ndarray], device: str) -> "Tensor":
        """Regions as float32 [n, most, 5 + d]: confidence (-1 where there is none), shares of the sides, feature."""
        import torch

        from core.evaluators.regions.faster_rcnn import confidence

        chosen, network = self._selection, self.runner.network
        pictures = torch.cat([self._entering(image, size, device) for image in images])
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

    def _entering(self, image: np.ndarray, size: tuple[int, int], device: str) -> "Tensor":
        """A picture as float32 [1, 3, h, w], blue first."""
        import torch
        from torch.nn import functional

        pixels = self.runner.network.recipe.model
        values = torch.from_numpy(np.ascontiguousarray(image[:, :, ::-1])).to(device).permute(2, 0, 1)[None].float()
        values = functional.interpolate(values, size=size, mode="bilinear", align_corners=False)
        mean, deviation = (values.new_tensor(each).view(1, 3, 1, 1) for each in (pixels.pixel_mean, pixels.pixel_std))
        return (values - mean) / deviation


def _regions(rows: np.ndarray) -> Regions:
    rows = rows[rows[:, 0] >= 0]
    shares = rows[:, 1:5]
    boxes = np.concatenate([shares, shares[:, 2:] - shares[:, :2]], axis=1)
    return Regions(rows[:, 5:].copy(), boxes, rows[:, 0].copy())


def checkpoint(place: Place) -> Path:
    """The file of the network among those of its set.

    Raises:
        NotAvailable: if it is missing.
    """
    if place.path.is_file():
        return place.path
    found = next((place.path / name for name in _WEIGHTS if (place.path / name).is_file()), None)
    if found is None:
        raise NotAvailable(f"{place.weights.title}: no {_WEIGHTS[0]} at {place.path}; fetch it again")
    return found

"""Image tower: how probable each of ImageNet's 1000 classes is, in the whole picture and cell by cell."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import cv2
import numpy as np

from core.corpora.images import check_rgb
from core.corpora.schema import Box
from core.errors import InvalidInput, NotAvailable
from core.evaluators.memory import Shared
from core.evaluators.other_packages import LITE0, LITE2, PackagedFile, library_versions

CLASSES = 1000
MEMORY_BYTES = 64 * 2**20  # evidence kept in memory, per tower: 16 thousand pictures
_CPU_BATCH, _DEVICE_BATCH = 1, 32
# One by one is fastest on a CPU (the layers stay in its caches), and there no picture can touch another's rounding.


@dataclass(frozen=True, slots=True)
class Backbone:
    """A network and the size of picture that it is given here."""

    architecture: str  # its name in timm
    # of the square that enters, in pixels; 1.5 times the size it was trained on, rounded to the network's stride of 32,
    # so that each cell of its last layer sees a part of the picture
    side: int
    weights: PackagedFile


BACKBONES = {
    "lite0": Backbone("tf_efficientnet_lite0", 336, LITE0),
    "lite2": Backbone("tf_efficientnet_lite2", 384, LITE2),
}


def square(width: int, height: int) -> Box:
    """Return the centre square of an image of that size, in its pixels: what reaches the network."""
    side = min(width, height)
    return Box((width - side) // 2, (height - side) // 2, side, side)


def prepare(image: np.ndarray, side: int) -> np.ndarray:
    """Cut the centre square out of an image and resize it. Cropping comes first: the other order makes a 1-pixel-high
    image enormous. Shrinking averages the pixels that fall together, enlarging is bicubic.
    ``image``: uint8 RGB [H, W, 3], at least 1 × 1. Returns uint8 RGB [side, side, 3].
    Raises InvalidInput if the array has another shape or type."""
    check_rgb(image)
    box = square(image.shape[1], image.shape[0])
    left, top, size = int(box.x), int(box.y), int(box.width)
    shrinks = size > side
    cut = image[top : top + size, left : left + size]
    return cv2.resize(cut, (side, side), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC)


class ImageTower:
    """EfficientNet-Lite on ImageNet's classes, run fully convolutionally. The evidence for a class is the mean of two
    probabilities from one pass: that of the picture as a whole (the classifier on the average of the last layer's
    cells) and the average over cells of that of each cell (the classifier on one cell). The second sees what is small
    or off centre. Evidence is remembered by the hash of what enters the network, within a limit."""

    def __init__(self, name: str, device: str, *, memory_bytes: int = MEMORY_BYTES) -> None:
        if name not in BACKBONES:
            raise InvalidInput(f"no backbone is named {name!r}; known: {', '.join(BACKBONES)}")
        self.name = name
        self.backbone = BACKBONES[name]
        self._device = device
        self._network = _load(self.backbone).to(device)
        if device == "cpu":
            from core.evaluators.offline.networks import pack

            pack(self._network)
        self._limit = memory_bytes // (4 * CLASSES)
        self._memory: OrderedDict[str, np.ndarray] = OrderedDict()
        self._lock = threading.Lock()
        side = self.backbone.side
        self.preprocessing = f"centre square, area/bicubic to {side}x{side}, (x-127)/128, whole + cells"
        self.versions = library_versions("torch", "timm", "opencv-python-headless")  # that the evidence depends on

    def view(self, image: np.ndarray) -> np.ndarray:
        """Return what enters the network, uint8 RGB [side, side, 3]."""
        return prepare(image, self.backbone.side)

    def evidence(self, images: Sequence[np.ndarray]) -> np.ndarray:
        """Return the evidence for each class. ``images``: n arrays, uint8 RGB [H, W, 3], of any sizes.
        Returns float32 [n, 1000]; rows sum to 1."""
        import torch

        views = {id(image): self.view(image) for image in {id(image): image for image in images}.values()}
        hashes = {name: hashlib.sha256(view.data).hexdigest() for name, view in views.items()}
        keys = [hashes[id(image)] for image in images]  # pairs of one image come as the same array
        with self._lock:
            rows = {key: self._memory[key] for key in keys if key in self._memory}
        new = {hashes[name]: view for name, view in views.items() if hashes[name] not in rows}
        fresh, made = list(new.values()), list[np.ndarray]()
        batch = _CPU_BATCH if self._device == "cpu" else _DEVICE_BATCH
        with torch.inference_mode():
            for start in range(0, len(fresh), batch):
                stack = torch.from_numpy(np.stack(fresh[start : start + batch])).to(self._device)
                pixels = stack.permute(0, 3, 1, 2).float().sub_(127).div_(128)  # channels stay last in memory
                cells = self._network.forward_features(pixels).flatten(2).transpose(1, 2)  # [n, cells, channels]
                scene = torch.softmax(self._network.classifier(cells.mean(dim=1)), dim=-1)
                parts = torch.softmax(self._network.classifier(cells), dim=-1).mean(dim=1)
                made += list(((scene + parts) / 2).cpu().numpy())
        rows.update(zip(new, made, strict=True))
        with self._lock:
            for key in keys:
                self._memory[key] = rows[key]
                self._memory.move_to_end(key)
            while len(self._memory) > self._limit:
                self._memory.popitem(last=False)
        return np.stack([rows[key] for key in keys]) if keys else np.empty((0, CLASSES), np.float32)

    def forget(self) -> None:
        """Drop the evidence of pictures met before, where it was made in batches that others shared."""
        if self._device != "cpu":
            with self._lock:
                self._memory.clear()


# the process's tower of a name on a device, loaded if nobody holds it; NotAvailable with what gets the weights
shared_image_tower = Shared(ImageTower).get


def _load(backbone: Backbone) -> Any:
    import torch

    from core.evaluators.offline.networks import EfficientNetLite

    path = backbone.weights.verified()
    network = EfficientNetLite(backbone.architecture)
    given = torch.load(path, map_location="cpu", weights_only=True)
    wanted = network.state_dict()
    # The file is another implementation's: same layers in the same order under other names.
    misfits = [
        f"{theirs} {tuple(value.shape)} for {ours} {tuple(wanted[ours].shape)}"
        for (theirs, value), ours in zip(given.items(), wanted, strict=False)
        if value.shape != wanted[ours].shape
    ]
    if len(given) != len(wanted) or misfits:
        raise NotAvailable(
            f"{path} holds {len(given)} tensors and {backbone.architecture} {len(wanted)}"
            f"{'; first misfit ' + misfits[0] if misfits else ''}; run: {backbone.weights.command}"
        )
    network.load_state_dict(dict(zip(wanted, given.values(), strict=True)))
    fold(network.eval())
    return network.to(memory_format=torch.channels_last)


def fold(network: Any) -> None:
    """Put each batch norm of a network that is not trained any more into the convolution before it, in place. The
    norm's activation takes its place. Features change by rounding alone, and cost about two thirds of the time."""
    from torch import nn
    from torch.nn.utils.fusion import fuse_conv_bn_eval

    parts = list(network.named_children())
    for (first, layer), (second, norm) in pairwise(parts):
        if isinstance(layer, nn.Conv2d) and isinstance(norm, nn.BatchNorm2d):
            setattr(network, first, fuse_conv_bn_eval(layer, norm))
            setattr(network, second, norm.act)
    for _, part in parts:
        fold(part)

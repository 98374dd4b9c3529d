"""Convolutions whose weights lie as the processor's kernel wants them, where that changes no bit of a feature.

PyTorch lays a convolution's weights out anew in every call, or, for one picture and one thread, takes a slower way for
kernels of one pixel. The kernel that its compiler calls takes weights that were laid out once.
"""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

from core.evaluators.offline.efficientnet import same_padding

if TYPE_CHECKING:
    from torch import Tensor

_Met = tuple[torch.Size, int]
"""Shape of an input and threads for one operation: what chooses a kernel."""


class Packed(nn.Module):
    """A convolution on a processor and the ReLU6 behind it.

    The packed way is tried once for every shape and number of threads on random numbers, and taken where it gives the
    very bits of the plain one: where sums over channels are short enough for both to add up in one order.

    Args:
        convolution: plain, or with TensorFlow's *same* padding.
        relu6: whether values are cut to 0 … 6 afterwards.
    """

    def __init__(self, convolution: nn.Conv2d, *, relu6: bool) -> None:
        super().__init__()
        self.convolution, self._relu6 = convolution, relu6
        self._same = type(convolution) is not nn.Conv2d
        self._met: dict[_Met, Tensor | None] = {}

    def forward(self, values: "Tensor") -> "Tensor":
        """Features of float32 [n, channels, height, width]."""
        if self._same:
            values = self._padded(values)
        weight = self._packed(values) if torch.is_inference_mode_enabled() else None
        return self._plain(values) if weight is None else self._fast(values, weight)

    def _packed(self, values: "Tensor") -> "Tensor | None":
        """The weights for such an input; None where the plain way is to be taken."""
        met = values.shape, torch.get_num_threads()
        if met not in self._met:
            own = self.convolution
            weight = torch.ops.mkldnn._reorder_convolution_weight(
                own.weight, list(own.padding), list(own.stride), list(own.dilation), own.groups, list(values.shape)
            )
            tried = torch.randn(values.shape, generator=torch.Generator().manual_seed(0))
            tried = tried.contiguous(memory_format=torch.channels_last)
            same = torch.equal(self._plain(tried), self._fast(tried, weight))
            self._met[met] = weight if same else None
        return self._met[met]

    def _plain(self, values: "Tensor") -> "Tensor":
        own = self.convolution
        made = functional.conv2d(values, own.weight, own.bias, own.stride, own.padding, own.dilation, own.groups)
        return functional.relu6(made, inplace=True) if self._relu6 else made

    def _fast(self, values: "Tensor", weight: "Tensor") -> "Tensor":
        own = self.convolution
        after: tuple[str, list[float]] = ("hardtanh", [0.0, 6.0]) if self._relu6 else ("none", [])
        made: Tensor = torch.ops.mkldnn._convolution_pointwise(
            values, weight, own.bias, list(own.padding), list(own.stride), list(own.dilation), own.groups, *after, ""
        )
        return made

    def _padded(self, values: "Tensor") -> "Tensor":
        """Zeros around an input, as many as TensorFlow puts there; its inside is written once."""
        own = self.convolution
        height, width = values.shape[-2:]
        left, right, top, bottom = same_padding((height, width), own.kernel_size, own.stride)  # type: ignore[arg-type]
        shape = (*values.shape[:2], top + height + bottom, left + width + right)
        made = torch.empty(shape, dtype=values.dtype, device=values.device, memory_format=torch.channels_last)
        made[..., :top, :], made[..., top + height :, :] = 0, 0
        made[..., :left], made[..., left + width :] = 0, 0
        made[..., top : top + height, left : left + width] = values
        return made


def pack(network: Any) -> None:
    """Replace the convolutions of a network that is not trained any more, in place; needs PyTorch's oneDNN."""
    if not (torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_convolution_pointwise")):
        return
    parts = list(network.named_children())
    for (first, layer), (second, behind) in pairwise(parts):
        if isinstance(layer, nn.Conv2d):
            relu6 = isinstance(behind, nn.ReLU6)
            setattr(network, first, Packed(layer, relu6=relu6))
            if relu6:
                setattr(network, second, nn.Identity())
    for _, part in parts:
        pack(part)

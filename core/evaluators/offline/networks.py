"""EfficientNet-Lite as TensorFlow published it, in PyTorch: layers under timm's names, to timm's bits.

timm itself is not imported for it: it brings torchvision and PyTorch's compiler, which take longer than all pictures of
a short call.

Convolutions whose weights lie as the processor's kernel wants them, where that changes no bit of a feature.

PyTorch lays a convolution's weights out anew in every call, or, for one picture and one thread, takes a slower way for
kernels of one pixel. The kernel that its compiler calls takes weights that were laid out once.

MiniLM's network: BERT of six layers, under the names of its file, to the bits of ``transformers``.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

_STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
"""Layers, kernel, stride, expansion and channels of each stage of the smallest network."""
_STEM, _HEAD, _CLASSES = 32, 1280, 1000
_EPSILON = 1e-3  # of TensorFlow's batch norms

SCALES: Mapping[str, tuple[float, float]]
SCALES = {"tf_efficientnet_lite0": (1.0, 1.0), "tf_efficientnet_lite2": (1.1, 1.2)}
"""How many times the channels and the layers of the smallest network an architecture has, by its name in timm."""


def same_padding(size: Sequence[int], kernel: tuple[int, int], stride: tuple[int, int]) -> tuple[int, int, int, int]:
    """Zeros that TensorFlow's *same* padding puts left, right, above and below an input of that height and width."""
    around: list[int] = []
    for length, width, step in zip(size, kernel, stride, strict=True):
        needed = max((math.ceil(length / step) - 1) * step + width - length, 0)
        around = [needed // 2, needed - needed // 2, *around]
    left, right, top, bottom = around
    return left, right, top, bottom


def padded(values: Tensor, convolution: nn.Conv2d) -> Tensor:
    """An input, float32 [n, channels, height, width], with the zeros of :func:`same_padding` around it."""
    return functional.pad(values, same_padding(values.shape[-2:], convolution.kernel_size, convolution.stride))  # type: ignore[arg-type]


class SameConvolution(nn.Conv2d):
    """A convolution whose stride has the zeros around its input depend on its size."""

    def forward(self, values: Tensor) -> Tensor:
        """Features of float32 [n, channels, height, width]."""
        return functional.conv2d(
            padded(values, self), self.weight, self.bias, self.stride, 0, self.dilation, self.groups
        )


class _Norm(nn.BatchNorm2d):
    def __init__(self, channels: int, *, relu6: bool = True) -> None:
        super().__init__(channels, eps=_EPSILON)
        self.act = nn.ReLU6(inplace=True) if relu6 else nn.Identity()

    def forward(self, values: Tensor) -> Tensor:
        return self.act(super().forward(values))  # type: ignore[no-any-return]


class _Block(nn.Sequential):
    """A convolution in each channel, between such as mix channels; the first of them where it makes them more."""

    def __init__(self, channels: int, made: int, kernel: int, stride: int, expansion: int) -> None:
        inner = channels * expansion
        layers: list[nn.Module] = []
        if expansion > 1:
            layers += [_mixing(channels, inner), _Norm(inner)]
        layers += [_convolution(inner, inner, kernel, stride, groups=inner), _Norm(inner)]
        super().__init__(*layers, _mixing(inner, made), _Norm(made, relu6=False))
        self._adds = channels == made and stride == 1

    def forward(self, values: Tensor) -> Tensor:
        made: Tensor = super().forward(values)  # type: ignore[no-untyped-call]
        return made + values if self._adds else made


class EfficientNetLite(nn.Module):
    """EfficientNet without what phones lack, on ImageNet's 1000 classes.
    Source: Tan and Le, EfficientNet, ICML 2019; https://github.com/tensorflow/tpu, ``efficientnet/lite``."""

    def __init__(self, architecture: str) -> None:
        super().__init__()
        wider, deeper = SCALES[architecture]
        self.conv_stem, self.bn1 = _convolution(3, _STEM, 3, 2), _Norm(_STEM)
        blocks, channels = [], _STEM
        for place, (layers, kernel, stride, expansion, most) in enumerate(_STAGES):
            near = max(8, int(most * wider + 4) // 8 * 8)  # a multiple of eight, not less than nine tenths
            made = near if near >= 0.9 * (most * wider) else near + 8
            inside = 0 < place < len(_STAGES) - 1
            for layer in range(math.ceil(layers * deeper) if inside else layers):
                blocks.append(_Block(channels, made, kernel, 1 if layer else stride, expansion))
                channels = made
        self.blocks = nn.Sequential(*blocks)
        self.conv_head, self.bn2 = _mixing(channels, _HEAD), _Norm(_HEAD)
        self.classifier = nn.Linear(_HEAD, _CLASSES)

    def forward_features(self, pixels: Tensor) -> Tensor:
        """The last layer's cells, float32 [n, 1280, height / 32, width / 32]."""
        values = self.blocks(self.bn1(self.conv_stem(pixels)))
        return self.bn2(self.conv_head(values))  # type: ignore[no-any-return]

    def forward(self, pixels: Tensor) -> Tensor:
        """Logits of the classes, float32 [n, 1000]."""
        return self.classifier(self.forward_features(pixels).mean(dim=(2, 3)))  # type: ignore[no-any-return]


def _mixing(channels: int, made: int) -> nn.Conv2d:
    return nn.Conv2d(channels, made, 1, bias=False)


def _convolution(channels: int, made: int, kernel: int, stride: int, *, groups: int = 1) -> nn.Conv2d:
    if stride == 1:
        return nn.Conv2d(channels, made, kernel, padding=kernel // 2, groups=groups, bias=False)
    return SameConvolution(channels, made, kernel, stride, groups=groups, bias=False)


class Packed(nn.Module):
    """A convolution on a processor and the ReLU6 behind it. The packed way is tried once for every shape and number of
    threads on random numbers, and taken where it gives the very bits of the plain one: where sums over channels are
    short enough for both to add up in one order. ``convolution``: plain, or with TensorFlow's *same* padding.
    ``relu6``: whether values are cut to 0 … 6 afterwards."""

    def __init__(self, convolution: nn.Conv2d, *, relu6: bool) -> None:
        super().__init__()
        self.convolution, self._relu6 = convolution, relu6
        self._same = type(convolution) is not nn.Conv2d
        # by shape of an input and threads for one operation, which choose a kernel
        self._met: dict[tuple[torch.Size, int], Tensor | None] = {}

    def forward(self, values: "Tensor") -> "Tensor":
        """Features of float32 [n, channels, height, width]."""
        if self._same:
            values = padded(values, self.convolution)
        if not torch.is_inference_mode_enabled():
            return self._plain(values)
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
        kept = self._met[met]
        return self._plain(values) if kept is None else self._fast(values, kept)

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


WORDS, PLACES, KINDS = 30522, 512, 2
WIDTH, INNER, LAYERS, HEADS = 384, 1536, 6, 12
_NORM_EPSILON = 1e-12  # of MiniLM's layer norms


class _Layer(nn.Module):
    """Attention and what follows it, each added to its input and normed."""

    def __init__(self) -> None:
        super().__init__()
        read = nn.ModuleDict({name: nn.Linear(WIDTH, WIDTH) for name in ("query", "key", "value")})
        self.attention = nn.ModuleDict({"self": read, "output": _dense_and_norm(WIDTH)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(WIDTH, INNER)})
        self.output = _dense_and_norm(INNER)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        n, length, _ = states.shape
        query, key, value = (
            read(states).view(n, length, HEADS, -1).transpose(1, 2)
            for read in self.attention["self"].values()  # type: ignore[operator]
        )
        found = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        states = _added(self.attention["output"], found.transpose(1, 2).reshape(n, length, WIDTH), states)
        return _added(self.output, functional.gelu(self.intermediate["dense"](states)), states)


class MiniLm(nn.Module):
    """BERT without its pooler. Source: Devlin et al., BERT, NAACL 2019; Wang et al., MiniLM, NeurIPS 2020."""

    def __init__(self) -> None:
        super().__init__()
        tables = {"word": WORDS, "position": PLACES, "token_type": KINDS}
        self.embeddings = nn.ModuleDict({f"{name}_embeddings": nn.Embedding(n, WIDTH) for name, n in tables.items()})
        self.embeddings["LayerNorm"] = nn.LayerNorm(WIDTH, eps=_NORM_EPSILON)
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(_Layer() for _ in range(LAYERS))})

    def forward(self, ids: Tensor, seen: Tensor) -> Tensor:
        """States of tokens.
        ``ids``: integers [n, length]. ``seen``: booleans [n, length]; False where a token fills a row up.
        Returns float32 [n, length, 384]."""
        n, length = ids.shape
        words, places, kinds, norm = self.embeddings.values()
        states = norm(words(ids) + kinds(torch.zeros_like(ids)) + places(torch.arange(length, device=ids.device)))
        mask = None if bool(seen.all()) else seen[:, None, None, :].expand(n, 1, length, length)
        for layer in self.encoder["layer"].children():
            states = layer(states, mask)
        return states  # type: ignore[no-any-return]


def _dense_and_norm(width: int) -> nn.ModuleDict:
    return nn.ModuleDict({"dense": nn.Linear(width, WIDTH), "LayerNorm": nn.LayerNorm(WIDTH, eps=_NORM_EPSILON)})


def _added(layer: nn.Module, values: Tensor, before: Tensor) -> Tensor:
    assert isinstance(layer, nn.ModuleDict)
    made: Tensor = layer["LayerNorm"](layer["dense"](values) + before)
    return made

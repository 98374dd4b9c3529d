"""Weights that are laid out once change no bit of a feature, whatever the layer, the threads and the picture."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from timm.layers.conv2d_same import Conv2dSame
from torch import nn

from core.evaluators.offline import efficientnet
from core.evaluators.offline.efficientnet import Packed
from core.evaluators.offline.image_tower import BACKBONES, ImageTower


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def layers(tower: ImageTower) -> list[Packed]:
    return [each for each in tower._network.modules() if isinstance(each, Packed)]


@pytest.mark.parametrize("name", BACKBONES)
def test_a_packed_network_gives_the_bits_of_the_plain_one(
    name: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = ImageTower(name, "cpu")
    monkeypatch.setattr(efficientnet, "pack", lambda _network: None)
    plain = ImageTower(name, "cpu")
    assert not layers(plain)
    assert len(layers(fast)) == sum(isinstance(each, nn.Conv2d) for each in plain._network.modules())
    random = np.random.default_rng(5)
    pictures = [random.integers(0, 256, (90 + side, 140, 3), dtype=np.uint8) for side in range(4)]
    assert np.array_equal(fast.evidence(pictures), plain.evidence(pictures))
    taken = [weight is not None for each in layers(fast) for weight in each._met.values()]
    assert len(taken) == len(layers(fast))
    assert any(taken)


@pytest.mark.parametrize(("size", "stride"), [(3, 2), (5, 2), (3, 1), (4, 3)])
@pytest.mark.parametrize("shape", [(16, 16), (17, 30)])
def test_same_padding_is_timm_s(size: int, stride: int, shape: tuple[int, int]) -> None:
    torch.manual_seed(1)
    theirs = Conv2dSame(8, 12, size, stride, bias=True).to(memory_format=torch.channels_last)
    ours = Packed(theirs, relu6=True)
    values = torch.randn(2, 8, *shape).contiguous(memory_format=torch.channels_last)
    with torch.inference_mode():
        assert torch.equal(ours(values), nn.functional.relu6(theirs(values)))
        assert torch.equal(ours._padded(values)[:, :, -1], torch.zeros_like(ours._padded(values)[:, :, -1])) == (
            (-(-shape[0] // stride) - 1) * stride + size > shape[0]
        )


def test_a_layer_whose_bits_would_change_stays_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(1)
    layer = Packed(nn.Conv2d(4, 4, 1), relu6=False)
    values = torch.randn(1, 4, 6, 6)
    with torch.inference_mode():
        expected = layer.convolution(values)
        kept = layer._fast
        monkeypatch.setattr(
            layer, "_fast", lambda values, weight: torch.nextafter(kept(values, weight), torch.tensor(9.0))
        )
        assert torch.equal(layer(values), expected)
    assert list(layer._met.values()) == [None]


def test_a_network_that_is_trained_on_takes_the_plain_way() -> None:
    layer = Packed(nn.Conv2d(4, 4, 3), relu6=True)
    layer(torch.randn(1, 4, 6, 6)).sum().backward()
    assert layer.convolution.weight.grad is not None
    assert not layer._met

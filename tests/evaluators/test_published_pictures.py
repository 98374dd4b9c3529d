"""What enters an image tower, against torchvision pixel by pixel."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from PIL import Image
from torch.utils._python_dispatch import TorchDispatchMode
from torchvision.transforms import CenterCrop, Compose, InterpolationMode, Resize

from core.corpora.schema import Box
from core.errors import InvalidInput
from core.evaluators.towers.preprocessing import CLIP_MEAN, CLIP_STD, Preprocessing, Triple
from tests.tiny.reference import picture

SIDE = 32


def noise(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(height * 1000 + width).integers(0, 256, (height, width, 3), dtype=np.uint8)


@settings(max_examples=30, deadline=None)
@given(height=st.integers(1, 200), width=st.integers(1, 200))
def test_the_view_is_torchvisions_byte_for_byte(height: int, width: int) -> None:
    assume(max(height, width) <= 64 * min(height, width))
    image = noise(height, width)
    steps = Compose([Resize(SIDE, InterpolationMode.BICUBIC), CenterCrop(SIDE)])
    np.testing.assert_array_equal(Preprocessing(SIDE).view(image), np.asarray(steps(Image.fromarray(image))))


@pytest.mark.parametrize("shape", [(1, 500), (500, 1), (3, 1000)])
def test_the_centre_of_a_ribbon_is_torchvisions_but_for_rounding(shape: tuple[int, int]) -> None:
    image = np.repeat(noise(*shape)[:, ::20], 20, axis=1)[: shape[0], : shape[1]]
    steps = Compose([Resize(224, InterpolationMode.BICUBIC), CenterCrop(224)])
    difference = np.abs(Preprocessing(224).view(image).astype(int) - np.asarray(steps(Image.fromarray(image))))
    assert difference.mean() < 0.5


def test_an_ordinary_photograph_is_read_exactly_as_torchvision_reads_it() -> None:
    from skimage import data

    for image in (data.chelsea(), data.coffee(), data.astronaut()):
        ours = Preprocessing(224).tensor([image])[0].double().numpy()
        np.testing.assert_allclose(ours, picture(image, 224), atol=1e-6)


def test_squashing_resizes_the_whole_picture() -> None:
    image = noise(50, 90)
    expected = np.asarray(Resize((SIDE, SIDE), InterpolationMode.BICUBIC)(Image.fromarray(image)))
    np.testing.assert_array_equal(Preprocessing(SIDE, mode="squash").view(image), expected)
    assert Preprocessing(SIDE, mode="squash").crop(90, 50) == Box(0, 0, 90, 50)


def test_half_a_pixel_goes_where_each_library_puts_it() -> None:
    assert Preprocessing(SIDE, centre="round").crop(35, 32).x == 2  # 1.5 rounds to even
    assert Preprocessing(SIDE, centre="floor").crop(35, 32).x == 1


@settings(max_examples=40, deadline=None)
@given(width=st.integers(1, 3000), height=st.integers(1, 3000))
def test_the_crop_is_a_square_inside_the_picture(width: int, height: int) -> None:
    crop = Preprocessing(224).crop(width, height)
    assert crop.inside(width, height) == crop
    assert min(width, height) * 0.98 <= min(crop.width, crop.height)
    assert crop.width == pytest.approx(crop.height, rel=0.05)


def test_a_ribbon_of_a_million_pixels_stays_small() -> None:
    assert Preprocessing(224).view(np.zeros((1, 1_000_000, 3), np.uint8)).shape == (224, 224, 3)


@pytest.mark.parametrize("image", [np.zeros((8, 8), np.uint8), np.zeros((8, 8, 3)), np.zeros((0, 8, 3), np.uint8)])
def test_what_is_no_rgb_picture_is_refused(image: np.ndarray) -> None:
    with pytest.raises(InvalidInput, match="uint8 RGB"):
        Preprocessing(SIDE).view(image)


def test_several_threads_prepare_the_same_pixels_in_the_same_order() -> None:
    images = [noise(20 + 7 * index, 90 - index) for index in range(9)]
    torch.testing.assert_close(
        Preprocessing(SIDE).tensor(images, threads=4), Preprocessing(SIDE).tensor(images), rtol=0, atol=0
    )


@pytest.mark.parametrize(("mean", "std"), [(CLIP_MEAN, CLIP_STD), ((0.5,) * 3, (0.5,) * 3)])
def test_every_byte_becomes_the_number_that_float32_gives(mean: Triple, std: Triple) -> None:
    whole = Preprocessing(16, mean=mean, std=std)
    views = np.arange(256, dtype=np.uint8).reshape(1, 16, 16, 1).repeat(3, axis=3)
    expected = views.astype(np.float32) / np.float32(255)
    expected = (expected - np.array(mean, np.float32)) / np.array(std, np.float32)
    found = whole.normalised(torch.from_numpy(views))
    np.testing.assert_array_equal(found.numpy(), expected.transpose(0, 3, 1, 2))


class Moves(TorchDispatchMode):
    """Bytes of every tensor that is moved to another device; constants of a few numbers aside."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes: list[int] = []

    def __torch_dispatch__(self, call: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = call(*args, **(kwargs or {}))
        if call is torch.ops.aten._to_copy.default and found.device != args[0].device and found.numel() > 3:
            self.bytes.append(found.nbytes)
        return found


def test_views_go_to_a_device_as_bytes_and_become_numbers_there() -> None:
    with Moves() as moves:
        found = Preprocessing(SIDE).tensor([noise(40, 50), noise(50, 40)], device="meta")
    assert (found.device.type, found.dtype, found.shape) == ("meta", torch.float32, (2, 3, SIDE, SIDE))
    assert moves.bytes == [2 * SIDE * SIDE * 3]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a card")
def test_a_card_is_given_the_numbers_that_the_cpu_is_given() -> None:
    images = [noise(40 + index, 50) for index in range(5)]
    found = Preprocessing(SIDE).tensor(images, device="cuda", threads=2)
    torch.testing.assert_close(found.cpu(), Preprocessing(SIDE).tensor(images), rtol=0, atol=0)

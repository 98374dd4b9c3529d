"""Files that are not what they should be: one sentence each, and never a Python object."""

import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from core.errors import InvalidInput, NotAvailable, UnknownName
from core.evaluators.registry import catalogue as registered
from core.evaluators.registry import find
from core.evaluators.towers.clip import merge_adapters
from core.evaluators.weights import catalogue
from core.evaluators.weights import fetched as weights
from core.evaluators.weights.checkpoints import read_state
from core.evaluators.weights.fetched import Published
from core.settings import assets_dir
from tests.tiny import clip, hub


class Rogue:
    """What a hostile pickle holds."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return print, ("code from a checkpoint ran",)


def page(path: Path) -> None:
    path.write_text("\n<!DOCTYPE html><html>Sign in to Drive</html>", encoding="utf-8")


def cut(path: Path) -> None:
    whole = clip.write_pac(path).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def newer(path: Path) -> None:
    clip.write_pac(path)
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in content.items():
            archive.writestr(name, b"999\n" if name.endswith("/version") else data)


def objects(path: Path) -> None:
    torch.save({"state_dict": clip.clip_state(), "args": Rogue()}, path)


def old_pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps({"state_dict": Rogue()}))


def numbers(path: Path) -> None:
    torch.save({"epoch": 3, "loss": 0.5}, path)


def resnet(path: Path) -> None:
    torch.save({"layer1.0.conv1.weight": torch.zeros(4, 3, 3, 3), "fc.bias": torch.zeros(10)}, path)


def shorter(path: Path) -> None:
    state = clip.clip_state()
    del state["transformer.resblocks.1.mlp.c_fc.bias"]
    torch.save({"state_dict": state}, path)


def wider(path: Path) -> None:
    torch.save({"state_dict": clip.clip_state() | {"visual.proj": torch.zeros(clip.WIDTH, 99)}}, path)


def other_base(path: Path) -> None:
    state = clip.clip_state() | clip.adapters()
    state["visual.transformer.resblocks.0.attn.out_proj.lora_B"] = torch.zeros(128, 4)
    torch.save({"state_dict": state}, path)


def half_adapter(path: Path) -> None:
    state = clip.clip_state() | clip.adapters()
    del state["visual.transformer.resblocks.0.attn.out_proj.lora_B"]
    torch.save({"state_dict": state}, path)


def no_number(path: Path) -> None:
    state = clip.clip_state()
    state["visual.proj"][1, 2] = float("nan")
    torch.save({"state_dict": state}, path)


def infinite(path: Path) -> None:
    state = clip.clip_state()
    state["ln_final.weight"] = state["ln_final.weight"].half()
    state["ln_final.weight"][3] = -float("inf")
    torch.save({"state_dict": state}, path)


BAD: dict[Callable[[Path], object], str] = {
    page: "is a web page, not a checkpoint",
    cut: "is cut off or damaged",
    newer: "was written by a newer PyTorch",
    objects: "holds Python objects beside tensors and is refused",
    old_pickle: "holds Python objects beside tensors and is refused",
    numbers: "holds more than tensors, e.g. 'epoch'",
    resnet: "is no CLIP with a vision transformer and OpenAI's names: it has no 'visual.conv1.weight'",
    shorter: "is for another architecture: 1 tensors missing, first 'transformer.resblocks.1.mlp.c_fc.bias'",
    wider: "is for another architecture: visual.proj is (64, 99) for (64, 24)",
    other_base: "the adapter is for another base",
    no_number: "the tensor 'visual.proj' holds values that are NaN or infinite",
    infinite: "the tensor 'ln_final.weight' holds values that are NaN or infinite",
    half_adapter: "no other half: it is for another base",
    lambda path: path.write_bytes(b""): "is empty; fetch it again",
    lambda path: path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid"): "is a Git LFS pointer",
    lambda path: path.write_bytes(bytes(range(256)) * 20): "give the publisher's file",
}


@pytest.mark.parametrize("spoil", BAD, ids=lambda each: each.__name__)
def test_a_bad_checkpoint_is_one_sentence(
    spoil: Callable[[Path], object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "given.pth"
    spoil(path)
    with pytest.raises(NotAvailable) as caught:
        find(f"pac-s++@{path}").load()
    assert BAD[spoil] in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "ran" not in capsys.readouterr().out


def test_a_broken_safetensors_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"\x08\x00\x00\x00\x00\x00\x00\x00{}      and no tensors")
    with pytest.raises(NotAvailable, match="is no whole safetensors file"):
        read_state(tmp_path / "model.safetensors")


def test_a_mask_of_minus_infinity_is_no_fault_of_a_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "given.pth"
    whole = {"attn_mask": torch.full((3, 3), -float("inf")).triu(1), "weight": torch.ones(2), "step": torch.tensor(4)}
    torch.save(whole, path)
    assert read_state(path).keys() == whole.keys()


def test_a_state_without_adapters_stays_as_it_is() -> None:
    state = {"a.weight": torch.ones(2, 2)}
    assert merge_adapters(state).state == state
    assert merge_adapters(state).rank == 0


@pytest.mark.parametrize("name", sorted(path.stem for path in (assets_dir() / "evaluators").glob("*.toml")))
def test_every_file_of_the_catalogue_is_whole(name: str) -> None:
    entry = catalogue.description(name)
    for identifier in entry.weights:
        assert catalogue.weights(identifier).where


def test_what_the_catalogue_pins_is_pinned_by_the_publisher() -> None:
    from open_clip.pretrained import get_pretrained_cfg

    told = catalogue.weights("openai-clip-vit-b-32")
    assert told.url == get_pretrained_cfg("ViT-B-32", "openai")["url"]
    assert told.files[0].sha256 in str(told.url)


GOOD = """
title = "x"
kind = "https"
url = "https://example.org/a.pt"
licence = "MIT"
[[files]]
name = "a.pt"
"""


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ('licence = "MIT"', "", "licence: Field required"),
        (
            'kind = "https"',
            'kind = "ftp"',
            "kind: Input should be 'hub', 'https', 'page', 'unpublished' or 'made', got 'ftp'",
        ),
        ("https://example.org/a.pt", "http://example.org/a.pt", "url: String should match pattern"),
        ('name = "a.pt"', 'name = "../a.pt"', "files.0.name: String should match pattern"),
        ('name = "a.pt"', 'name = "a.pt"\nsha256 = "abc"', "files.0.sha256: String should match pattern"),
        ('kind = "https"', 'kind = "hub"', "kind 'hub' needs 'repository'"),
        ('title = "x"', 'title = "x"\ncolour = "red"', "colour: Extra inputs are not permitted"),
        ('title = "x"', "title = ", "is not TOML"),
    ],
)
def test_a_mistake_in_the_catalogue_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, match: str
) -> None:
    monkeypatch.setattr(catalogue, "assets_dir", lambda: tmp_path)
    (tmp_path / "evaluators" / "weights").mkdir(parents=True)
    (tmp_path / "evaluators" / "weights" / "w.toml").write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        catalogue.weights("w")
    assert match in str(caught.value)


def test_an_unknown_set_of_weights_lists_the_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match=r"has no set of weights '\.\./pac-s'"):
        catalogue.weights("../pac-s")
    monkeypatch.setattr(catalogue, "assets_dir", lambda: tmp_path)
    with pytest.raises(UnknownName, match=r"has no evaluator 'x'; it has none"):
        catalogue.description("x")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path / "weights"))
    return tmp_path


def test_on_a_fresh_machine_every_missing_one_says_what_gets_it(own: Path) -> None:
    published = [kind for kind in registered() if issubclass(kind, Published)]
    assert len(published) >= 15
    for kind in published:
        available = kind.availability()
        assert not available.ready
        assert available.reason
        assert available.command.startswith("python -m core")


def test_a_file_in_its_place_makes_every_evaluator_on_it_ready(own: Path) -> None:
    place = own / "weights" / "pac-s-vit-b-32"
    place.mkdir(parents=True)
    clip.write_pac(place / "clip_ViT-B-32.pth")
    assert find("pac-s").availability().ready
    assert find("refpac-s").availability().ready
    assert not find("clipscore").availability().ready
    assert find("pac-s").load().fingerprint.name == "pac-s"


def test_what_the_hubs_client_keeps_beside_the_files_changes_no_hash(tmp_path: Path) -> None:
    hub.write_hub_clip(tmp_path / "model", tmp_path / "processor")
    place = weights.Place(catalogue.weights("pickscore-v1"), tmp_path / "model")
    before = place.digest()
    notes = tmp_path / "model" / ".cache" / "huggingface" / "config.json.metadata"
    notes.parent.mkdir(parents=True)
    notes.write_text("1763711000.5", encoding="utf-8")
    assert place.digest() == before
    (tmp_path / "model" / "config.json").write_text("{}", encoding="utf-8")
    assert place.digest() != before


def test_a_file_that_is_not_the_published_one_is_not_taken_for_it(own: Path) -> None:
    place = own / "weights" / "openai-clip-vit-b-32"
    place.mkdir(parents=True)
    clip.write_openai(place / "ViT-B-32.pt")
    with pytest.raises(NotAvailable, match=r"has sha256 .*…, published 40d365715913c9da…: it is damaged or another"):
        find("clipscore").load()


def test_a_kept_checkpoint_stands_in_the_list_under_its_own_name(own: Path) -> None:
    path = clip.write_openai(own / "some file.pt")
    weights.keep("clipscore@tuned", path)
    assert "clipscore@tuned" in registered()
    kind = find("clipscore@tuned")
    assert kind.spec.name == "clipscore@tuned"
    assert kind.availability().ready
    path.unlink()
    assert not kind.availability().ready
    weights.keep("gone@x", path)
    assert "gone@x" not in registered()


def test_a_damaged_list_of_kept_checkpoints_is_named(own: Path) -> None:
    (own / "weights").mkdir()
    (own / "weights" / weights.KEPT).write_text(json.dumps(["x"]), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"kept\.json must map names to paths"):
        weights.kept()


@pytest.mark.parametrize(
    ("reference", "match"),
    [
        ("clipscore@nowhere.pt", "no checkpoint 'nowhere.pt' for clipscore"),
        ("clipscore@", "no checkpoint"),
        ("conse-lite0@x.pt", "runs no checkpoint of your own"),
    ],
)
def test_a_checkpoint_that_cannot_be_is_refused(own: Path, reference: str, match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        find(reference)

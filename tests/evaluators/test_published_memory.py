"""Real loaders on a device that runs out: images, captions, answers; and what the catalogue says that models take."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.errors import NotAvailable
from core.evaluators.memory import CPU_BATCH, DEVICE_BATCH, Runner
from core.evaluators.pool import Pool
from core.evaluators.registry import find
from core.evaluators.weights.catalogue import Description, description
from core.evaluators.weights.fetched import Published
from tests.tiny import clip
from tests.tiny.vlm import write_llava

CARD = "cpu:0"
"""torch calculates there as on the CPU; to the evaluators it is another device, which they may leave."""
CAPTIONS = [f"A cat and {count} dogs." for count in range(9)]


def pictures(count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(count)
    return [rng.integers(0, 256, (40 + 3 * index, 50, 3), dtype=np.uint8) for index in range(count)]


def crowd(runner: Any, module: torch.nn.Module, room: int) -> list[int]:
    """Let a module on the card raise as a full card does for more than ``room`` inputs; returns the sizes it took."""
    taken: list[int] = []

    def check(_: object, given: tuple[torch.Tensor, ...], named: dict[str, Any]) -> None:
        count = len(given[0] if given else next(iter(named.values())))
        if runner.device == CARD and count > room:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        taken.append(count)

    module.register_forward_pre_hook(check, with_kwargs=True)
    return taken


@pytest.mark.parametrize(("room", "device", "words"), [(4, CARD, "batches of 4"), (0, "cpu", "going on on the CPU")])
@pytest.mark.parametrize("part", ["images", "captions"])
def test_a_clip_encodes_the_same_in_smaller_batches_or_on_the_cpu(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, part: str, room: int, device: str, words: str
) -> None:
    reference = f"clipscore@{clip.write_openai(tmp_path / 'openai.pt')}"
    untroubled: Any = find(reference).load()
    pool = Pool(700, CARD)
    with pool.lease(reference) as evaluator:
        towers = evaluator._towers  # type: ignore[attr-defined]
        network = towers.image.network
        taken = crowd(towers.image, network.visual if part == "images" else network.transformer, room)
        scores = evaluator.score(pictures(9), CAPTIONS)
        assert max(taken) <= (room or 16)
    np.testing.assert_allclose(scores, untroubled.score(pictures(9), CAPTIONS), atol=1e-5)
    (loaded,) = pool.loaded()
    assert loaded.device == device
    assert words in loaded.note
    assert words in caplog.text


@pytest.mark.parametrize(("room", "device"), [(1, CARD), (0, "cpu")])
def test_a_chat_model_answers_the_same_in_smaller_batches_or_on_the_cpu(tmp_path: Path, room: int, device: str) -> None:
    write_llava(tmp_path / "llava")
    evaluator: Any = find(f"vqascore-qwen@{tmp_path / 'llava'}").load(device=CARD)
    other: Any = find(f"vqascore-qwen@{tmp_path / 'llava'}").load(device="cpu")
    model, images = evaluator._model, pictures(3)
    asked = [evaluator.prompt(caption) for caption in CAPTIONS[:3]]
    expected, said = other.score(images, CAPTIONS[:3]), other._model.answers(images, asked, tokens=4)
    model.runner.batch = 4
    crowd(model.runner, model.runner.network.get_output_embeddings(), room)
    np.testing.assert_allclose(evaluator.score(images, CAPTIONS[:3]), expected, atol=1e-5)
    assert (evaluator.footprint().device, bool(evaluator.footprint().note)) == (device, True)
    assert [each.text for each in model.answers(images, asked, tokens=4)] == [each.text for each in said]


def test_the_pool_counts_a_checkpoint_of_the_users_own_as_it_is(tmp_path: Path) -> None:
    reference = f"clipscore@{clip.write_openai(tmp_path / 'openai.pt')}"
    pool = Pool(700, "cpu")
    with pool.lease(reference) as evaluator:
        network = evaluator._towers.image.network  # type: ignore[attr-defined]
        state = sum(value.numel() * 4 for value in clip.clip_state().values())
        masks = sum(value.numel() * 4 for value in network.buffers())
    (loaded,) = pool.loaded()
    assert loaded.memory_mb == int(np.ceil((state + masks) / 2**20))
    assert loaded.memory_mb < find(reference).spec.memory_mb


def open_clip_network(name: str) -> Callable[[], torch.nn.Module]:
    import open_clip

    return lambda: open_clip.create_model(name, load_weights=False, pretrained_text=False, device="meta")


def llava(width: int, inner: int, layers: int) -> torch.nn.Module:
    from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaForConditionalGeneration

    vision = CLIPVisionConfig(
        hidden_size=1024,
        intermediate_size=4096,
        num_attention_heads=16,
        num_hidden_layers=24,
        patch_size=14,
        image_size=336,
        projection_dim=768,
    )
    text = LlamaConfig(
        vocab_size=32_064,
        hidden_size=width,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=width // 128,
    )
    return LlavaForConditionalGeneration(LlavaConfig(vision_config=vision, text_config=text))


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("clipscore", open_clip_network("ViT-B-32-quickgelu")),
        ("pac-s-l14", open_clip_network("ViT-L-14")),
        ("pickscore", open_clip_network("ViT-H-14")),
        ("siglip", open_clip_network("ViT-B-16-SigLIP")),
        ("siglip2", open_clip_network("ViT-B-16-SigLIP2")),
        ("fleur-7b", lambda: llava(4096, 11_008, 32)),
        ("fleur", lambda: llava(5120, 13_824, 40)),
    ],
)
def test_the_catalogue_states_the_parameters_of_the_architecture(
    name: str, make: Callable[[], torch.nn.Module]
) -> None:
    with torch.device("meta"):
        network = make()
    assert description(name).parameters == sum(value.numel() for value in network.parameters())


def test_what_is_declared_for_half_precision_needs_twice_that_on_a_cpu() -> None:
    entry: Description = description("fleur-7b")
    assert (entry.precision.cpu, entry.precision.gpu) == ("float32", "float16")
    assert entry.memory_mb("cpu") == 2 * entry.memory_mb("cuda:1")
    assert entry.memory_mb("cpu") > 26_000
    assert find("fleur-7b").spec.memory_mb == int(np.ceil(entry.memory_mb("cpu")))


class Card:
    """A device with room for a few inputs at once; counts what it was given."""

    def __init__(self, room: int, *, cpu_room: int = 10_000) -> None:
        self.network = torch.nn.Linear(3, 2)
        self.room, self.cpu_room = room, cpu_room
        self.given: list[tuple[str, int]] = []

    def call(self, part: Sequence[torch.Tensor], device: str) -> torch.Tensor:
        self.given.append((device, len(part)))
        if len(part) > (self.cpu_room if device == "cpu" else self.room):
            raise torch.OutOfMemoryError("out of memory")
        found: torch.Tensor = self.network(torch.stack(list(part)))
        return found


INPUTS = list(torch.randn(20, 3, generator=torch.Generator().manual_seed(0)))


def expected(card: Card) -> torch.Tensor:
    with torch.inference_mode():
        return torch.nn.functional.normalize(card.network(torch.stack(INPUTS)), dim=-1)


def test_smaller_batches_give_the_same_rows_in_the_same_order(caplog: pytest.LogCaptureFixture) -> None:
    card = Card(room=3)
    runner = Runner("tiny", card.network, "cpu:0", batch=16)
    with caplog.at_level(logging.WARNING):
        rows = runner.rows(INPUTS, card.call)
    torch.testing.assert_close(rows, expected(card))
    assert (runner.batch, runner.full_batch) == (2, 16)
    assert "tiny: cpu:0 has no memory left; going on with batches of 8" in caplog.text
    assert {device for device, _ in card.given} == {"cpu:0"}


def test_a_device_without_room_for_one_is_left_for_the_cpu(caplog: pytest.LogCaptureFixture) -> None:
    card = Card(room=0)
    runner = Runner("tiny", card.network, "cpu:0", batch=4)
    with caplog.at_level(logging.WARNING):
        rows = runner.rows(INPUTS, card.call)
    torch.testing.assert_close(rows, expected(card))
    assert (runner.device, runner.batch) == ("cpu", CPU_BATCH)
    assert "no memory for a single input; going on on the CPU" in caplog.text


def test_no_memory_anywhere_is_one_sentence() -> None:
    card = Card(room=0, cpu_room=0)
    with pytest.raises(NotAvailable, match="tiny: no memory left for a single input, even on the CPU"):
        Runner("tiny", card.network, "cpu:0", batch=2).rows(INPUTS, card.call)


@pytest.mark.parametrize(("device", "asked"), [("cpu", 32), ("cuda", DEVICE_BATCH), ("cuda:1", DEVICE_BATCH)])
def test_a_published_evaluator_asks_for_what_fills_its_device(device: str, asked: int) -> None:
    class Tiny(Published):
        runner = Runner("tiny", torch.nn.Linear(3, 2), device)

        def runners(self) -> Sequence[Runner]:
            return self.runner, Runner("slow", torch.nn.Linear(3, 2), device, batch=4)

    Tiny.__abstractmethods__ = frozenset()  # type: ignore[attr-defined]  # only its size is asked for
    found = Tiny()  # type: ignore[abstract]
    assert found.full_batch == asked
    Tiny.runner.batch //= 4  # as where memory ran out
    assert found.full_batch == asked

"""A network runs compiled only where that gives the same embeddings; what does not runs as written, and says so."""

import gc
import logging
import os
import re
import shutil
import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from core import settings
from core.audit.plan import make_plan
from core.audit.run import run_audit
from core.audit.workers import cluster
from core.audit.workers.children import child
from core.evaluators.base import Fingerprint
from core.evaluators.memory import reserved_mb
from core.evaluators.pool import Pool
from core.evaluators.registry import find
from core.evaluators.towers.encoder import PublishedEncoder
from core.evaluators.weights.compiled import GRAPHS, TOLERANCE, Compiled, Way, filled, way
from core.evaluators.weights.device import CPU_BATCH, DEVICE_BATCH, Runner
from tests.audit.squares import build_corpus

Network = Callable[[torch.Tensor], torch.Tensor]

FULL = Way("default", (4,), padded=False)
POWERS = Way(GRAPHS, (2, 4, 8), padded=True)
"""A card's way; on a CPU the same calls are made, and PyTorch records no graph."""

needs_compiler = pytest.mark.skipif(
    shutil.which(os.environ.get("CXX", "g++")) is None, reason="no C++ compiler: nothing can be compiled for a CPU"
)


def example(count: int) -> torch.Tensor:
    return torch.randn(count, 6, generator=torch.Generator().manual_seed(count))


def linear(seed: int = 0) -> Network:
    weight = torch.randn(6, 5, generator=torch.Generator().manual_seed(seed))
    return lambda inputs: torch.tanh(inputs @ weight) + inputs.mean(dim=-1, keepdim=True)


def asks_itself(inputs: torch.Tensor) -> torch.Tensor:
    """Gives other numbers compiled: it asks whether it is."""
    return inputs + 1e-3 * inputs.flip(-1) if torch.compiler.is_compiling() else inputs * 1.0


def branches(inputs: torch.Tensor) -> torch.Tensor:
    """Cannot be one graph: what it does depends on numbers."""
    return inputs * 2 if inputs.sum() > 0 else inputs * 3


def takes_memory(inputs: torch.Tensor) -> torch.Tensor:
    raise torch.OutOfMemoryError(f"out of memory for {len(inputs)}")


def made(network: Network, how: Way | None = FULL, device: str = "cpu") -> Compiled:
    return Compiled("tiny: the tower", network, device, how=how, example=example)


def rows(network: Network, inputs: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        return network(inputs)


@pytest.mark.parametrize(
    ("device", "full", "expected"),
    [
        ("cpu", CPU_BATCH, Way("default", (16,), padded=False)),
        ("cuda", DEVICE_BATCH, Way(GRAPHS, (2, 4, 8, 16, 32, 64, 128, 256), padded=True)),
        ("cuda:1", 20, Way(GRAPHS, (2, 4, 8, 16, 20), padded=True)),
        ("cuda", 1, Way(GRAPHS, (2,), padded=True)),
        ("mps", 16, None),
    ],
)
def test_each_device_has_its_way(device: str, full: int, expected: Way | None) -> None:
    assert way(device, full) == expected


def test_a_batch_runs_in_the_next_size_on_a_card_and_in_its_own_or_none_elsewhere() -> None:
    assert [POWERS.size(count) for count in (1, 2, 3, 8, 9)] == [2, 2, 4, 8, None]
    assert [FULL.size(count) for count in (1, 3, 4, 5)] == [None, None, 4, None]
    assert all(size < 2 * count for count in range(2, 9) if (size := POWERS.size(count)))


def test_a_batch_is_filled_up_in_the_layout_that_it_has() -> None:
    inputs = torch.randn(3, 4, 4, 2).permute(0, 3, 1, 2)
    batch = filled(inputs, 5)
    assert torch.equal(batch[:3], inputs)
    assert torch.equal(batch[3:], inputs[:1].expand(2, -1, -1, -1))
    assert batch.stride() == inputs.stride()
    assert filled(inputs, 3) is inputs


@pytest.mark.parametrize(
    ("network", "how", "device", "why"),
    [
        (branches, FULL, "cpu", "compiling it failed (Unsupported: "),
        (branches, POWERS, "cpu", "compiling it failed (Unsupported: "),
        (takes_memory, POWERS, "cpu", "there is no memory to try it."),
        (linear(), None, "mps", "nothing is compiled for mps."),
    ],
)
def test_what_cannot_be_compiled_runs_as_written_and_says_why(
    network: Network, how: Way | None, device: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "invariscope.evaluators"):
        found = made(network, how, device)
    assert not found.in_use
    assert found.said.startswith(f"tiny: the tower runs as written and not compiled: {why}")
    assert found.said in caplog.messages
    if network is not takes_memory:
        assert torch.equal(rows(found, example(4)), network(example(4)))


@needs_compiler
def test_full_batches_run_compiled_on_a_cpu_and_others_as_written(caplog: pytest.LogCaptureFixture) -> None:
    network = linear()
    with caplog.at_level(logging.INFO, "invariscope.evaluators"):
        found = made(network)
    assert found.in_use
    assert found.said.startswith("tiny: the tower runs compiled (torch.compile, mode default, batches of 4): ")
    assert found.said in caplog.messages
    torch.testing.assert_close(rows(found, example(4)), network(example(4)), atol=1e-6, rtol=0)
    for count in (1, 3, 5):
        assert torch.equal(rows(found, example(count)), network(example(count)))


@needs_compiler
def test_filling_up_changes_no_row_and_no_later_batch_an_earlier_one() -> None:
    tried: list[int] = []

    def noted(count: int) -> torch.Tensor:
        tried.append(count)
        return example(count)

    network = linear(1)
    found = Compiled("tiny", network, "cpu", how=POWERS, example=noted)
    assert tried == [8]
    kept = {count: rows(found, example(count)) for count in (7, 1, 3, 8, 5, 6)}
    for count, embeddings in kept.items():
        torch.testing.assert_close(embeddings, network(example(count)), atol=1e-6, rtol=0)
    assert torch.equal(rows(found, example(8)[:5]), kept[8][:5])  # beside other rows
    assert sorted(tried) == [2, 4, 8]  # each size once
    before = torch.get_num_threads()
    torch.set_num_threads(before + 1)  # other code, so it is tried again
    try:
        rows(found, example(8))
    finally:
        torch.set_num_threads(before)
    assert sorted(tried) == [2, 4, 8, 8]


@needs_compiler
def test_what_differs_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "invariscope.evaluators"):
        found = made(asks_itself)
    assert not found.in_use
    assert re.search(rf"embeddings of 4 inputs would lie 0\.000\d apart, more than {TOLERANCE:g}\.", found.said)
    assert found.said in caplog.messages
    assert torch.equal(rows(found, example(4)), example(4))


@needs_compiler
def test_a_size_that_differs_is_refused_alone(caplog: pytest.LogCaptureFixture) -> None:
    def network(inputs: torch.Tensor) -> torch.Tensor:
        return asks_itself(inputs) if len(inputs) < 4 else inputs * 1.0

    with caplog.at_level(logging.WARNING, "invariscope.evaluators"):
        found = made(network, POWERS)
        assert found.in_use
        assert torch.equal(rows(found, example(3)), example(3))
        assert not caplog.messages  # 3 are filled up to 4
        assert torch.equal(rows(found, example(2)), example(2))
    assert caplog.messages[0].startswith("tiny: the tower runs batches of 2 as written and not compiled: embeddings of")


def test_without_a_compiler_it_runs_as_written() -> None:
    with torch._inductor.config.patch({"cpp.cxx": ("no-such-compiler",)}):
        found = made(linear(2))
    assert not found.in_use
    assert "compiling it failed (" in found.said
    assert torch.equal(rows(found, example(4)), linear(2)(example(4)))


@pytest.fixture(scope="module")
def images() -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [rng.integers(0, 256, (40, 60, 3), dtype=np.uint8) for _ in range(CPU_BATCH + 3)]


def loaded(reference: str) -> PublishedEncoder:
    found = find(reference).load()
    assert isinstance(found, PublishedEncoder)
    return found


def as_written_and_asked(
    reference: str, images: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> tuple[torch.Tensor, Fingerprint, PublishedEncoder]:
    """Embeddings and fingerprint of the network as written, and the evaluator that was asked to compile it."""
    usual = loaded(reference)
    expected, plain = usual.encode_images(images), usual.fingerprint
    assert usual.footprint().compiled == ""
    del usual  # who still holds the towers would share them as they are
    monkeypatch.setenv(settings.COMPILE, "yes")
    return expected, plain, loaded(reference)


@pytest.mark.parametrize(("given", "asked"), [("", False), ("no", False), ("yes", True), (" YES ", True), ("1", True)])
def test_it_is_asked_for_by_a_setting(given: str, asked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.COMPILE, given)
    assert settings.compiles() is asked


def test_workers_on_this_machine_and_on_others_are_asked_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.COMPILE, "yes")
    process, link = child("tests.audit.says_whether_it_compiles", 1)
    with link:
        assert link.recv() is True
    assert process.wait() == 0
    assert cluster._environment()[settings.COMPILE] == "yes"


@needs_compiler
def test_a_published_tower_gives_the_same_embeddings_and_its_fingerprint_says_that_it_is_compiled(
    weights: Path, images: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, plain, found = as_written_and_asked(f"clipscore@{weights}", images, monkeypatch)
    assert plain.settings.get("compiled") is None
    embeddings = found.encode_images(images)
    torch.testing.assert_close(embeddings, expected, atol=TOLERANCE, rtol=0)
    assert torch.equal(embeddings[CPU_BATCH:], expected[CPU_BATCH:])  # the tail runs as written
    told = {"compiled": "image tower, torch.compile, mode default, batches of 16"}
    assert found.fingerprint.settings == {**plain.settings, **told}
    assert found.spec.name == "clipscore@openai"  # the same evaluator
    said = found.footprint().compiled
    assert said.startswith("openai.pt: the image tower runs compiled (torch.compile, mode default, batches of 16): ")
    assert said in found.see(images[0], "a dog").notes
    before, tower = found.footprint().memory_mb, found.runners()[0].compiled
    assert tower is not None
    assert (reserved_mb("cpu"), tower.graphs_mb) == (0, 0)
    tower.graphs_mb = 12  # as on a card
    assert found.footprint().memory_mb == before + 12  # once, though both towers are one network
    del tower
    network = weakref.ref(found.runners()[0].network)
    del found
    gc.collect()
    assert network() is None


@needs_compiler
def test_half_precision_is_refused_and_keeps_its_fingerprint(
    weights: Path, images: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, plain, found = as_written_and_asked(f"clipscore:bf16@{weights}", images, monkeypatch)
    assert "the image tower runs as written and not compiled: embeddings of 16 inputs" in found.footprint().compiled
    assert found.fingerprint == plain
    assert torch.equal(found.encode_images(images), expected)


@needs_compiler
def test_the_record_of_a_run_says_it(tmp_path: Path, weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.COMPILE, "yes")
    plan = make_plan(build_corpus(tmp_path / "in", 6), evaluators=[f"clipscore@{weights}"], probes=["rotation"])
    run = run_audit(plan, tmp_path / "runs", run_id="r", pool=Pool(2000, "cpu"))
    (told,) = run.manifest["evaluators"]
    assert told["compiled"].startswith("openai.pt: the image tower runs compiled (torch.compile, mode default")
    assert told["fingerprint"]["settings"]["compiled"] == "image tower, torch.compile, mode default, batches of 16"


def test_a_network_that_leaves_its_device_leaves_its_code_there() -> None:
    runner = Runner("tiny", torch.nn.Linear(3, 2), "cpu:0", batch=1)
    runner.compiled = made(linear(), None)

    def call(part: object, device: str) -> torch.Tensor:
        if device != "cpu":
            raise torch.OutOfMemoryError("out of memory")
        return torch.ones(1, 2)

    runner.rows([0], call)
    assert (runner.device, runner.compiled) == ("cpu", None)

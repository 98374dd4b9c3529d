"""A device that runs out of memory: smaller batches, then the CPU, said aloud."""

import logging
from collections.abc import Sequence

import pytest
import torch

from core.errors import NotAvailable
from core.evaluators.weights.device import CPU_BATCH, DEVICE_BATCH, Runner
from core.evaluators.weights.fetched import Published


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

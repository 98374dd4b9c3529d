"""A network compiled by ``torch.compile``, with CUDA graphs on a card, where what it gives stays the same to 1e-5.

Only what differs by rounding is taken, so a compiled tower is the same evaluator and has no name of its own, as another
precision has; its fingerprint says that it is compiled, since the last bits of a score may differ.

A batch of one size and for one number of threads is code of its own. Each is tried once, on a batch that is always the
same, beside the network as written, and taken where the difference is small enough. What cannot be compiled or differs
runs as written, and a sentence says so.

Source: PyTorch's documentation of ``torch.compile``, ``torch.compiler.cudagraph_mark_step_begin`` and CUDA graph trees.
"""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import in_one_line
from core.evaluators.memory import give_back, out_of_memory, reserved_mb

if TYPE_CHECKING:
    from torch import Tensor

TOLERANCE = 1e-5
"""Largest difference of a number of an embedding of unit length between the compiled network and the one as written."""

GRAPHS = "reduce-overhead"
"""The mode of ``torch.compile`` that records CUDA graphs."""

_WARM = 3
"""Calls until a CUDA graph is what runs: the first warms up, the second records, the third replays."""

_NO_MEMORY = "there is no memory to try it"

_log = logging.getLogger("invariscope.evaluators")


@dataclass(frozen=True, slots=True)
class Way:
    """How a network is compiled on a device.

    Args:
        mode: of ``torch.compile``.
        sizes: of the batches that run compiled, ascending.
        padded: whether other batches are filled up to the next size; else they run as written.
    """

    mode: str
    sizes: tuple[int, ...]
    padded: bool

    def size(self, count: int) -> int | None:
        """Rows of the batch in which ``count`` inputs run compiled; None: they run as written."""
        if not self.padded:
            return count if count in self.sizes else None
        return next((each for each in self.sizes if each >= count), None)

    def __str__(self) -> str:
        """A few words for the fingerprint."""
        sizes = ", ".join(map(str, self.sizes))
        return f"torch.compile, mode {self.mode}, batches {'filled up to' if self.padded else 'of'} {sizes}"


def way(device: str, full_batch: int) -> Way | None:
    """How networks are compiled on a device; None where they are not.

    A processor's code is for full batches alone: it gains less than filling up costs, if anything, and compiling for
    another size takes seconds. A card's code is for any size, and a graph of it for one: powers of two, so that there
    are few and no more than half of a batch is filling, and the full batch.

    Args:
        full_batch: most inputs in one call.

    Example:
        >>> way("cpu", 16).sizes, way("cuda", 256).sizes
        ((16,), (2, 4, 8, 16, 32, 64, 128, 256))
    """
    match _kind(device):
        case "cpu":
            return Way("default", (full_batch,), padded=False)
        case "cuda":  # from 2: for a batch of 1 PyTorch would compile again
            powers = [1 << place for place in range(1, full_batch.bit_length()) if 1 << place < full_batch]
            return Way(GRAPHS, (*powers, max(2, full_batch)), padded=True)
    return None


class Compiled:
    """A network that runs compiled where it may, and as written otherwise.

    Args:
        name: for messages.
        network: maps float32 [n, …] to raw embeddings [n, d], each row by itself.
        device: on which it is compiled; inputs on another run as written.
        how: which batches are compiled; None: none, on this device.
        example: makes the batch of n inputs, on the device, that a size is tried with; always the same.

    Attributes:
        in_use: whether any batch runs compiled.
        said: what became of compiling it, one sentence.
        graphs_mb: memory of the card that graphs take, in MB: what was reserved more once they were recorded.
    """

    def __init__(
        self,
        name: str,
        network: "Callable[[Tensor], Tensor]",
        device: str,
        *,
        how: Way | None,
        example: "Callable[[int], Tensor]",
    ) -> None:
        import torch

        self._name, self._network, self._device = name, network, device
        self._how, self._example = how, example
        self._met: dict[tuple[int, int], bool] = {}
        self._code, self._thread = network, None
        self.in_use, self.said, self.graphs_mb = False, "", 0.0
        if how is None:
            self._refuse(f"nothing is compiled for {device}")
            return
        # A network that is not one whole graph raises instead of being compiled in parts, and what other evaluators
        # compile of the same lines does not count against this one.
        self._code = torch.compile(  # type: ignore[call-overload]  # its overloads lack the last option
            network, mode=how.mode, fullgraph=True, isolate_recompiles=True
        )
        # Graphs belong to the thread that recorded them, and a page has a new one for every turn.
        self._thread = ThreadPoolExecutor(1) if how.mode == GRAPHS else None
        with torch.inference_mode():
            self._try(how)

    def __call__(self, inputs: "Tensor") -> "Tensor":
        """Raw embeddings [n, d] of float32 [n, …]; called in inference mode."""
        size = self._how.size(len(inputs)) if self._how and self.in_use else None
        if size is None or inputs.device.type != _kind(self._device) or not self._may(size):
            return self._network(inputs)
        return self._run(filled(inputs, size))[: len(inputs)]

    def _try(self, how: Way) -> None:
        """Try the largest size for which there is memory, and say what came of it."""
        for size in reversed(how.sizes):
            why, apart = self._compared(size)
            if why == _NO_MEMORY:
                continue
            if why:
                break
            self.in_use, self._met[self._key(size)] = True, True
            told = f"embeddings of {size} inputs lie within {apart:.1g} of those of the network as written"
            self.said = f"{self._name} runs compiled ({how}): {told}."
            _log.info("%s", self.said)
            return
        self._refuse(why)

    def _refuse(self, why: str) -> None:
        self._code, self._thread, self.graphs_mb = self._network, None, 0.0
        give_back()
        self.said = f"{self._name} runs as written and not compiled: {why}."
        _log.warning("%s", self.said)

    def _may(self, size: int) -> bool:
        """Whether batches of that size run compiled; tried when one is met first."""
        key = self._key(size)
        if key not in self._met:
            why, _ = self._compared(size)
            self._met[key] = not why
            if why:
                _log.warning("%s runs batches of %d as written and not compiled: %s", self._name, size, why)
        return self._met[key]

    def _compared(self, size: int) -> tuple[str, float]:
        """Why a batch of that size may not run compiled, empty where it may; how far embeddings lie apart."""
        before = reserved_mb(self._device)
        try:
            example = self._example(size)
            expected = _unit(self._network(example))
            for _ in range(_WARM if self._thread else 1):
                found = self._run(example)
            apart = float((_unit(found) - expected).abs().max())
        except Exception as error:  # compilers raise as their parts do
            failed = f"compiling it failed ({in_one_line(error)})"
            return _NO_MEMORY if out_of_memory(error) else failed, float("nan")
        del example, expected, found
        self.graphs_mb += max(0.0, reserved_mb(self._device) - before)
        if apart <= TOLERANCE:
            return "", apart
        return f"embeddings of {size} inputs would lie {apart:.1g} apart, more than {TOLERANCE:g}", apart

    def _run(self, inputs: "Tensor") -> "Tensor":
        if self._how and self._how.padded:
            import torch

            torch._dynamo.mark_dynamic(inputs, 0)  # one code for all sizes
        return self._code(inputs) if self._thread is None else self._thread.submit(self._replay, inputs).result()

    def _replay(self, inputs: "Tensor") -> "Tensor":
        """Embeddings in memory of their own: the next replay of a graph writes where this one wrote."""
        import torch

        with torch.inference_mode():
            torch.compiler.cudagraph_mark_step_begin()
            return self._code(inputs).clone()

    @staticmethod
    def _key(size: int) -> tuple[int, int]:
        import torch

        return size, torch.get_num_threads()


def filled(inputs: "Tensor", size: int) -> "Tensor":
    """A batch of ``size`` rows, [size, …]: the inputs and, behind them, the first one again and again.

    Its rows lie in memory as those of the inputs do: another layout would be compiled anew.
    """
    count = len(inputs)
    if count == size:
        return inputs
    batch = inputs.new_empty_strided((size, *inputs.shape[1:]), inputs.stride())
    batch[:count], batch[count:] = inputs, inputs[:1]
    return batch


def _unit(embeddings: "Tensor") -> "Tensor":
    import torch

    return torch.nn.functional.normalize(embeddings.float(), dim=-1)


def _kind(device: str) -> str:
    return device.partition(":")[0]

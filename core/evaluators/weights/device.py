"""Running a network batch by batch on a device that may run out of memory."""

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from core.errors import NotAvailable
from core.evaluators.memory import give_back, out_of_memory

if TYPE_CHECKING:
    from torch import Tensor

CPU_BATCH, DEVICE_BATCH = 16, 256
T = TypeVar("T")
_log = logging.getLogger("invariscope.evaluators")


class Runner:
    """A network on a device; where memory runs out, smaller batches, then the CPU, each said aloud.

    On the CPU the weights keep the precision that they were loaded with, so that a fingerprint stays true.
    ``network``: anything with ``.to(device)``.
    ``batch``: most inputs in one call; None: what suits the device. It shrinks where memory runs out.
    ``cpu_batch``: most inputs in one call once it has left its device for the CPU.
    ``full_batch``: what ``batch`` began with.
    ``note``: what was done last about memory that ran out, one sentence; empty where it sufficed."""

    def __init__(
        self, name: str, network: Any, device: str, *, batch: int | None = None, cpu_batch: int = CPU_BATCH
    ) -> None:
        self.name = name
        self.network = network
        self.device = device
        self.batch = batch or (CPU_BATCH if device.startswith("cpu") else DEVICE_BATCH)
        self.full_batch = self.batch
        self._cpu_batch = cpu_batch
        self.note = ""

    def rows(self, inputs: Sequence[T], call: Callable[[Sequence[T], str], "Tensor"]) -> "Tensor":
        """Return ``call`` over all inputs, one row of unit length an input; see :meth:`each`."""
        import torch

        return torch.nn.functional.normalize(self.each(inputs, call), dim=-1)

    def each(self, inputs: Sequence[T], call: Callable[[Sequence[T], str], "Tensor"]) -> "Tensor":
        """Return ``call`` over all inputs.
        ``call``: maps at most ``batch`` inputs and the device to a tensor [n, …].
        Returns float32 [n, …] on the CPU.
        Raises NotAvailable if even the CPU has no memory for a single input."""
        import torch

        found: list[Tensor] = []
        done = 0
        with torch.inference_mode():
            while done < len(inputs):
                part = inputs[done : done + self.batch]
                rows = self._rows(part, call)
                if rows is None:
                    self._retreat(len(part))
                    continue
                found.append(rows)
                done += len(part)
            return torch.cat(found)

    def _rows(self, part: Sequence[T], call: Callable[[Sequence[T], str], "Tensor"]) -> "Tensor | None":
        """One call; None where memory ran out. Its error ends here: it would keep what the call had made."""
        try:
            return call(part, self.device).float().cpu()
        except Exception as error:
            if not out_of_memory(error):
                raise
            return None

    def _retreat(self, tried: int) -> None:
        if tried > 1:
            self.batch = min(self.batch, tried) // 2
            self._say(f"{self.name}: {self.device} has no memory left; going on with batches of {self.batch}")
        elif self.device != "cpu":
            self._say(f"{self.name}: {self.device} has no memory for a single input; going on on the CPU")
            self.network.to("cpu")
            self.device, self.batch = "cpu", self._cpu_batch
        else:
            raise NotAvailable(f"{self.name}: no memory left for a single input, even on the CPU")
        give_back()

    def _say(self, sentence: str) -> None:
        self.note = f"{sentence}."
        _log.warning("%s", sentence)

"""Running a network batch by batch on a device that may run out of memory."""

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from core.errors import NotAvailable

if TYPE_CHECKING:
    from torch import Tensor

CPU_BATCH, DEVICE_BATCH = 16, 256
T = TypeVar("T")
_log = logging.getLogger("invariscope.evaluators")


class Runner:
    """A network on a device; where memory runs out, smaller batches, then the CPU, each said aloud.

    On the CPU the weights keep the precision that they were loaded with, so that a fingerprint stays true.

    Args:
        name: for messages.
        network: anything with ``.to(device)``.
        batch: most inputs in one call; None: what suits the device.
    """

    def __init__(self, name: str, network: Any, device: str, *, batch: int | None = None) -> None:
        self.name = name
        self.network = network
        self.device = device
        self.batch = batch or (CPU_BATCH if device.startswith("cpu") else DEVICE_BATCH)

    def rows(self, inputs: Sequence[T], call: Callable[[Sequence[T], str], "Tensor"]) -> "Tensor":
        """Return ``call`` over all inputs, one row of unit length an input; see :meth:`each`."""
        import torch

        return torch.nn.functional.normalize(self.each(inputs, call), dim=-1)

    def each(self, inputs: Sequence[T], call: Callable[[Sequence[T], str], "Tensor"]) -> "Tensor":
        """Return ``call`` over all inputs.

        Args:
            call: maps at most ``batch`` inputs and the device to a tensor [n, …].

        Returns:
            float32 [n, …] on the CPU.

        Raises:
            NotAvailable: if even the CPU has no memory for a single input.
        """
        import torch

        found: list[Tensor] = []
        done = 0
        with torch.inference_mode():
            while done < len(inputs):
                part = inputs[done : done + self.batch]
                try:
                    found.append(call(part, self.device).float().cpu())
                except torch.OutOfMemoryError as error:
                    self._retreat(error)
                    continue
                done += len(part)
            return torch.cat(found)

    def _retreat(self, error: Exception) -> None:
        if self.batch > 1:
            self.batch //= 2
            _log.warning("%s: %s has no memory left; going on with batches of %d", self.name, self.device, self.batch)
        elif self.device != "cpu":
            _log.warning("%s: %s has no memory for a single input; going on on the CPU", self.name, self.device)
            self.network.to("cpu")
            self.device, self.batch = "cpu", CPU_BATCH
        else:
            raise NotAvailable(f"{self.name}: no memory left for a single input, even on the CPU") from error
        self._forget()

    def _forget(self) -> None:
        import torch

        if torch.cuda.is_available():
            torch.cuda.empty_cache()

"""What is loaded on which device: one copy of a model a process, inside a memory budget."""

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache

from core.errors import InvalidInput, NotAvailable
from core.evaluators.base import Evaluator
from core.evaluators.registry import find
from core.settings import pool_budget_mb


def best_device() -> str:
    """``cuda`` where torch finds one, else ``cpu``. Imports torch."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


@dataclass(frozen=True, slots=True)
class Loaded:
    """One row of what the pool holds: reference, device, size of the weights, whether it is in use."""

    reference: str
    device: str
    memory_mb: int
    in_use: bool


@dataclass(slots=True, eq=False)
class _Slot:
    reference: str
    kind: type[Evaluator]
    turn: threading.RLock = field(default_factory=threading.RLock)  # one thread at a time runs the model
    holders: int = 0
    used: float = 0.0
    evaluator: Evaluator | None = None

    @property
    def memory_mb(self) -> int:
        return self.kind.spec.memory_mb


class Pool:
    """Keeps evaluators loaded, the least recently used one going first when the budget is spent.

    Two threads never run one model at once, and a model that several ask for at once is loaded once.
    An evaluator that someone holds is never evicted.

    Args:
        budget_mb: most memory that loaded evaluators may take together, by their specs, in MB;
            None: ``core.settings.pool_budget_mb()``.
        device: ``cpu``, ``cuda``, ``cuda:1``…; None: the best one, chosen at the first load.
        patience_s: how long a lease waits for others to release memory, in seconds.
    """

    def __init__(self, budget_mb: float | None = None, device: str | None = None, *, patience_s: float = 60.0) -> None:
        self.budget_mb = pool_budget_mb() if budget_mb is None else float(budget_mb)
        if not self.budget_mb > 0:
            raise InvalidInput(f"budget_mb must be positive, got {budget_mb!r} MB")
        self._device = device
        self._patience_s = patience_s
        self._slots: dict[str, _Slot] = {}
        self._changed = threading.Condition()

    @property
    def device(self) -> str:
        """Where models are loaded."""
        if self._device is None:
            self._device = best_device()
        return self._device

    @contextmanager
    def lease(self, reference: str) -> Iterator[Evaluator]:
        """Give a loaded evaluator to this thread alone, until the ``with`` block ends.

        Args:
            reference: a registered name, or ``path/to/file.py:Name``.

        Raises:
            UnknownName: if no evaluator has that name.
            NotAvailable: if its weights are not on this machine, or it cannot fit into the budget.
        """
        with self._held(reference) as slot, slot.turn:
            yield self._evaluator(slot)

    @contextmanager
    def hold(self, reference: str) -> Iterator[None]:
        """Keep an evaluator loaded until the ``with`` block ends, while others may still lease it."""
        with self._held(reference) as slot:
            with slot.turn:
                self._evaluator(slot)
            yield

    def loaded(self) -> tuple[Loaded, ...]:
        """What is loaded now, least recently used first."""
        with self._changed:
            slots = sorted((slot for slot in self._slots.values() if slot.evaluator), key=lambda slot: slot.used)
            return tuple(Loaded(slot.reference, self.device, slot.memory_mb, slot.holders > 0) for slot in slots)

    def release(self) -> None:
        """Unload everything that nobody holds."""
        with self._changed:
            self._evict(keep_mb=0.0)

    @contextmanager
    def _held(self, reference: str) -> Iterator[_Slot]:
        slot = self._enter(reference)
        try:
            yield slot
        finally:
            with self._changed:
                slot.holders -= 1
                slot.used = time.monotonic()
                if slot.evaluator is None and slot.holders == 0:  # its load failed: nothing to keep
                    self._slots.pop(reference, None)
                self._changed.notify_all()

    def _enter(self, reference: str) -> _Slot:
        with self._changed:
            known = self._slots.get(reference)
            if known is not None:
                known.holders += 1
                return known
        kind = find(reference)  # outside the lock: it may import a plugin
        spec = kind.spec
        if spec.memory_mb > self.budget_mb:
            raise NotAvailable(
                f"evaluator {spec.name!r} needs {spec.memory_mb} MB and the pool may hold {self.budget_mb:.0f} MB; "
                f"set INVARISCOPE_POOL_MB to at least {spec.memory_mb}"
            )
        deadline = time.monotonic() + self._patience_s
        with self._changed:
            while reference not in self._slots:
                self._evict(keep_mb=self.budget_mb - spec.memory_mb)
                if self._total_mb() + spec.memory_mb <= self.budget_mb:
                    self._slots[reference] = _Slot(reference, kind)
                elif not self._changed.wait(timeout=deadline - time.monotonic()) or time.monotonic() > deadline:
                    raise NotAvailable(
                        f"no room for evaluator {spec.name!r} ({spec.memory_mb} MB of {self.budget_mb:.0f} MB) while "
                        f"{', '.join(self._slots)} are in use; wait for them or set INVARISCOPE_POOL_MB higher"
                    )
            slot = self._slots[reference]
            slot.holders += 1
            return slot

    def _evaluator(self, slot: _Slot) -> Evaluator:
        """Load on first use. The caller has the slot's turn, so a stampede loads once."""
        if slot.evaluator is None:
            availability = slot.kind.availability()
            if not availability.ready:
                raise NotAvailable(
                    f"evaluator {slot.kind.spec.name!r} is not available: {availability.reason}; get it with: "
                    f"{availability.command}"
                )
            slot.evaluator = slot.kind.load(device=self.device)
        return slot.evaluator

    def _total_mb(self) -> float:
        return sum(slot.memory_mb for slot in self._slots.values())

    def _evict(self, *, keep_mb: float) -> None:
        idle = sorted((slot for slot in self._slots.values() if slot.holders == 0), key=lambda slot: slot.used)
        evicted = False
        for slot in idle:
            if self._total_mb() <= keep_mb:
                break
            del self._slots[slot.reference]
            slot.evaluator = None
            evicted = True
        if evicted:
            gc.collect()
            if self._device is not None and self._device.startswith("cuda"):
                import torch

                torch.cuda.empty_cache()


@cache
def shared_pool() -> Pool:
    """The pool of this process: every page and the command line load models through it."""
    return Pool()

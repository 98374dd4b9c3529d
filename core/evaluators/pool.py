"""What is loaded on which device: one copy of a model a process, inside a memory budget."""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache

from core.errors import InvalidInput, NotAvailable
from core.evaluators.base import Evaluator
from core.evaluators.memory import card_budget_mb, give_back, out_of_memory
from core.evaluators.registry import find
from core.evaluators.remote import Remote
from core.settings import given_pool_mb, pool_budget_mb

_log = logging.getLogger("invariscope.evaluators")


def load(kind: type[Evaluator], device: str, *, make_room: Callable[[], bool]) -> tuple[Evaluator, str, str]:
    """Load on a device; where that has no memory left, on the CPU, said aloud.
    ``make_room``: unloads what nobody uses; returns whether there was anything.
    Returns the evaluator, the device that it was loaded on, and a sentence where that is another one.
    Raises NotAvailable if its weights, or the memory for them, are not here; InvalidInput if it ends the process."""
    kind.check_available()
    name = kind.spec.name
    found = _attempt(kind, device)
    if found is None and make_room():
        found = _attempt(kind, device)
    if found is not None:
        return found, device, ""
    if not device.startswith("cpu"):
        needed, most = kind.needs_mb("cpu"), pool_budget_mb()
        if needed > most:
            raise NotAvailable(
                f"evaluator {name!r}: {device} has no memory left for it, and the CPU would need {needed:.0f} MB of at "
                f"most {most:.0f} MB; free the card or take a smaller evaluator"
            )
        note = f"{name}: {device} has no memory left to load it; going on on the CPU"
        _log.warning("%s", note)
        if (found := _attempt(kind, "cpu")) is not None:
            return found, "cpu", f"{note}."
    raise NotAvailable(f"evaluator {name!r}: no memory left to load it, even on the CPU; free some and ask again")


def _attempt(kind: type[Evaluator], device: str) -> Evaluator | None:
    """Load; None where memory ran out. Its error ends here: it would keep what the load had made."""
    try:
        return kind.load(device=device)
    except SystemExit as error:
        said = f"evaluator {kind.spec.name!r} ends the process that loads it (SystemExit: {error.code})"
        raise InvalidInput(f"{said}; take the exit out of its load") from error
    except Exception as error:
        if not out_of_memory(error):
            raise
    give_back()
    return None


def best_device() -> str:
    """``cuda`` where torch finds one, else ``cpu``. Imports torch."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def devices() -> tuple[str, ...]:
    """Names of the devices of this machine, the CPU first. Imports torch."""
    import torch

    cards = tuple(f"cuda:{place}" for place in range(torch.cuda.device_count())) if torch.cuda.is_available() else ()
    return ("cpu", *cards, *(("mps",) if torch.backends.mps.is_available() else ()))


def check_device(name: str) -> str:
    """Return the name of a device that is here: ``cpu``, ``cuda``, ``cuda:1``, ``mps``. Imports torch.
    Raises NotAvailable naming what is here."""
    here = devices()
    if name not in here and not (name == "cuda" and "cuda:0" in here):
        raise NotAvailable(
            f"there is no device {name[:80]!r} on this machine, which has {', '.join(here)}; "
            "name one of these, or leave the device out for the best"
        )
    return name


@dataclass(frozen=True, slots=True)
class Loaded:
    """One row of what the pool holds."""

    reference: str
    device: str  # where the weights lie; the CPU where the card had no memory for them
    memory_mb: int  # size of the weights, in MB
    in_use: bool
    note: str = ""  # where memory ran out and what was done about it; empty where it did not


@dataclass(slots=True, eq=False)
class _Slot:
    reference: str
    kind: type[Evaluator]
    memory_mb: float  # expected until loaded, then as it is
    turn: threading.RLock = field(default_factory=threading.RLock)  # one thread at a time runs the model
    holders: int = 0
    used: float = 0.0
    evaluator: Evaluator | None = None
    device: str = ""
    note: str = ""

    def look(self) -> None:
        """Bring size, device and note up to date: a network may have left the card since."""
        found = self.evaluator.footprint() if self.evaluator else None
        if found is not None:
            self.memory_mb, self.device = found.memory_mb, found.device
            self.note = found.note or self.note


class Pool:
    """Keeps evaluators loaded, the least recently used one going first when the budget is spent.
    Two threads never run one model at once, and a model that several ask for at once is loaded once. An evaluator that
    someone holds is never evicted.
    The budget is one of weights on the pool's device; what a batch needs while it is scored comes on top. Room is made
    before a load for what an evaluator says that it needs there. Once loaded, its tensors are counted: one that turns
    out larger costs idle ones their place, and is dropped again where that does not suffice. One for which a card has
    no memory is loaded on the CPU and, lying there, takes nothing of the card's budget.
    ``budget_mb``: most memory that the weights of loaded evaluators may take together, in MB; None:
    ``INVARISCOPE_POOL_MB``, without it half the machine's memory, or nine tenths of the card's.
    ``device``: ``cpu``, ``cuda``, ``cuda:1``…; None: the best one, chosen at the first load.
    ``patience_s``: how long a lease waits for others to release memory, in seconds."""

    def __init__(self, budget_mb: float | None = None, device: str | None = None, *, patience_s: float = 60.0) -> None:
        self._budget_mb = given_pool_mb() if budget_mb is None else float(budget_mb)
        if self._budget_mb is not None and not self._budget_mb > 0:
            raise InvalidInput(f"budget_mb must be positive, got {budget_mb!r} MB")
        self._device, self._patience_s = device, patience_s
        self._slots: dict[str, _Slot] = {}
        self._sizes: dict[str, float] = {}  # of what was loaded before, in MB
        self._changed = threading.Condition()

    @property
    def device(self) -> str:
        """Where models are loaded."""
        if self._device is None:
            self._device = best_device()
        return self._device

    @property
    def budget_mb(self) -> float:
        """Most memory that the weights may take on the device, in MB."""
        if self._budget_mb is None:
            self._budget_mb = pool_budget_mb() if self.device.startswith("cpu") else card_budget_mb(self.device)
        return self._budget_mb

    @contextmanager
    def lease(self, reference: str) -> Iterator[Evaluator]:
        """Give a loaded evaluator to this thread alone, until the ``with`` block ends.
        Raises UnknownName if none has that name; NotAvailable if its weights are not here, or over the budget."""
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
            for slot in slots:
                slot.look()
            return tuple(
                Loaded(slot.reference, slot.device, math.ceil(slot.memory_mb), slot.holders > 0, slot.note)
                for slot in slots
            )

    def note(self, reference: str) -> str:
        """Where memory ran out for a loaded evaluator and what was done about it; empty where it did not."""
        return next((each.note for each in self.loaded() if each.reference == reference), "")

    def release(self) -> bool:
        """Unload everything that nobody holds; returns whether there was anything."""
        with self._changed:
            return self._evict(keep_mb=-1.0)

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
            if known is not None and not issubclass(known.kind, Remote):
                known.holders += 1
                return known
        kind = find(reference)  # outside the lock: it may import a plugin
        if known is not None:  # somebody's file may be another than the one that its name stood for
            with self._changed:
                known = self._slots.get(reference)
                if known is not None and known.kind is not kind and known.holders == 0:
                    del self._slots[reference]
        needed = kind.needs_mb(self.device)
        if needed > self.budget_mb:
            raise self._too_large(kind, needed)
        needed = min(max(needed, self._sizes.get(reference, 0.0)), self.budget_mb)  # the file may be another by now
        deadline = time.monotonic() + self._patience_s
        with self._changed:
            while reference not in self._slots:
                self._evict(keep_mb=self.budget_mb - needed)
                if self._total_mb() + needed <= self.budget_mb:
                    self._slots[reference] = _Slot(reference, kind, needed)
                elif not self._changed.wait(timeout=deadline - time.monotonic()) or time.monotonic() > deadline:
                    raise self._no_room(kind, needed)
            slot = self._slots[reference]
            slot.holders += 1
            return slot

    def _evaluator(self, slot: _Slot) -> Evaluator:
        """Load on first use. The caller has the slot's turn, so a stampede loads once."""
        if slot.evaluator is None:
            evaluator, device, note = load(slot.kind, self.device, make_room=self.release)
            with self._changed:  # it is let in if it fits as it is
                slot.evaluator, slot.device, slot.note = evaluator, device, note
                del evaluator  # the slot alone holds it
                slot.look()
                if device == self.device:
                    self._sizes[slot.reference] = slot.memory_mb
                self._evict(keep_mb=self.budget_mb)
                if self._total_mb() > self.budget_mb:
                    slot.evaluator = None
            if slot.evaluator is None:
                give_back()
                too_large = slot.memory_mb > self.budget_mb
                raise (self._too_large if too_large else self._no_room)(slot.kind, slot.memory_mb)
        return slot.evaluator

    def _too_large(self, kind: type[Evaluator], needed: float) -> NotAvailable:
        return NotAvailable(
            f"evaluator {kind.spec.name!r} needs {needed:.0f} MB and the pool may hold {self.budget_mb:.0f} MB; "
            f"set INVARISCOPE_POOL_MB to at least {math.ceil(needed)}"
        )

    def _no_room(self, kind: type[Evaluator], needed: float) -> NotAvailable:
        return NotAvailable(
            f"no room for evaluator {kind.spec.name!r} ({needed:.0f} MB of {self.budget_mb:.0f} MB) while "
            f"{', '.join(self._slots)} are in use; wait for them or set INVARISCOPE_POOL_MB higher"
        )

    def _total_mb(self) -> float:
        for slot in self._slots.values():
            slot.look()
        here = (slot for slot in self._slots.values() if not slot.device or self.device in slot.device.split("+"))
        return sum(slot.memory_mb for slot in here)  # where the parts of one lie apart, all of it counts

    def _evict(self, *, keep_mb: float) -> bool:
        """Unload idle evaluators until so much is left at most; return whether there was any to unload."""
        idle = sorted((slot for slot in self._slots.values() if slot.holders == 0), key=lambda slot: slot.used)
        evicted = False
        for slot in idle:
            if self._total_mb() <= keep_mb:
                break
            del self._slots[slot.reference]
            slot.evaluator = None
            evicted = True
        if evicted:
            give_back()
        return evicted


@cache
def shared_pool() -> Pool:
    """The pool of this process: every page and the command line load models through it."""
    return Pool()

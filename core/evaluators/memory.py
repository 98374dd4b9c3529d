"""Memory of loaded models: what weights take, one copy for all, giving it back, going on where there is none left."""

import ctypes
import gc
import logging
import sys
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakValueDictionary

from core.errors import NotAvailable

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")
_log = logging.getLogger("invariscope.evaluators")
CPU_BATCH, DEVICE_BATCH = 16, 256
MB = 2**20
KEPT_MB, AUDIT_KEPT_MB = 64, 512  # what heaps keep at their end: of a server, which trims after every turn, of an audit
_FROM_HEAP_MB, _ADDED = 32, 1 / 8
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -2, -3, -8  # of malloc.h
_SIGNS = ("can't allocate memory", "not enough memory", "out of memory", "alloc_failed")
# On the CPU torch raises a bare RuntimeError, and so do the libraries of a card that allocate on their own.


def out_of_memory(error: BaseException) -> bool:
    """Whether an error says that a device, or the machine, has no memory left."""
    torch = sys.modules.get("torch")
    if isinstance(error, MemoryError) or (torch is not None and isinstance(error, torch.OutOfMemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in _SIGNS)


def weights_mb(networks: Iterable[Any]) -> float:
    """Memory of the parameters and buffers of modules, in MB; what several of them share counts once."""
    found: dict[int, Tensor] = {}
    for network in networks:
        for tensor in (*network.parameters(), *network.buffers()):
            found[id(tensor)] = tensor
    return sum(tensor.numel() * tensor.element_size() for tensor in found.values()) / MB


def give_back() -> None:
    """Return freed memory to the card's driver and to the system.
    Freed tensors stay with torch's allocator on a card, and with the C library on the CPU, until they are asked for."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    trim()


def trim() -> None:
    """Return what the C library holds and nobody uses to the system; takes about a millisecond.
    Many threads that make and drop pictures leave holes between what is kept; what is freed there stays otherwise."""
    give = _of_glibc("malloc_trim")
    if give is not None:
        give(0)


def share_arenas() -> None:
    """Have threads that are started from now on share the C library's memory: each keeps what it freed, otherwise."""
    _set_options({_M_ARENA_MAX: 2})


def keep_freed(kept_mb: int = KEPT_MB) -> None:
    """Let this process keep what it frees at the end of a heap, instead of giving it back and asking for it anew.
    A network's layers and edits of pictures take and free blocks of some megabytes all the time. By themselves these
    come from the system one by one, which fills every page that it hands out with zeros: a tenth of an audit's work and
    of a turn of the Probe lab. Blocks of 32 MB and more still do. Where the C library is not glibc, nothing is done.
    ``kept_mb``: at most so much; an eighth of it is asked for at once."""
    _set_options({_M_TRIM_THRESHOLD: kept_mb * MB, _M_TOP_PAD: int(_ADDED * kept_mb * MB)})
    _set_options({_M_MMAP_THRESHOLD: _FROM_HEAP_MB * MB})


def _set_options(options: Mapping[int, int]) -> None:
    set_option = _of_glibc("mallopt")
    if set_option is not None:
        for name, value in options.items():
            set_option(name, value)


def leave_out_of_collections() -> None:
    """Leave what is there now, modules above all, out of every later collection of garbage. Python looks through
    everything that it holds each time: 0.1 to 0.2 s in a server, in the midst of somebody's page. What is garbage
    already is let go of first. Nothing of it is held longer than its last reference, but for cycles."""
    gc.collect()
    gc.freeze()


def _of_glibc(name: str) -> Callable[..., int] | None:
    """A function of the C library; None where it is not the one that has it."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None


def card_budget_mb(device: str) -> float:
    """Memory of a card that weights may take, in MB."""
    import torch

    # the rest is for what a batch needs, and batches shrink
    return 0.9 * float(torch.cuda.get_device_properties(device).total_memory) / MB


class Shared(Generic[T]):
    """Makes a thing once a key and hands the same one to all, until the last holder lets go. References are weak, so
    that a pool which drops an evaluator frees its towers too.
    ``make``: called with the key's parts when nobody holds the thing."""

    def __init__(self, make: Callable[..., T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._alive: WeakValueDictionary[tuple[Hashable, ...], T] = WeakValueDictionary()

    def get(self, *key: Hashable) -> T:
        """Return the thing of that key, made now if nobody holds one."""
        with self._lock:  # held while making: two threads must not load the same weights twice
            thing = self._alive.get(key)
            if thing is None:
                thing = self._make(*key)
                self._alive[key] = thing
            return thing


class Runner:
    """A network on a device; where memory runs out, smaller batches, then the CPU, each said aloud. On the CPU the
    weights keep the precision that they were loaded with, so that a fingerprint stays true.
    ``network``: anything with ``.to(device)``.
    ``batch``: most inputs in one call; None: what suits the device. It shrinks where memory runs out.
    ``cpu_batch``: most inputs in one call once it has left its device for the CPU.
    ``full_batch``: what ``batch`` began with.
    ``note``: what was done last about memory that ran out, one sentence; empty where it sufficed."""

    def __init__(
        self, name: str, network: Any, device: str, *, batch: int | None = None, cpu_batch: int = CPU_BATCH
    ) -> None:
        self.name, self.network, self.device = name, network, device
        self.batch = batch or (CPU_BATCH if device.startswith("cpu") else DEVICE_BATCH)
        self.full_batch = self.batch
        self._cpu_batch = cpu_batch
        self.note = ""

    def rows(self, inputs: Sequence[T], call: Callable[[Sequence[T], str], "Tensor"]) -> "Tensor":
        """Return ``call`` over all inputs, one row of unit length an input; see :meth:`each`."""
        import torch

        return torch.nn.functional.normalize(self.each(inputs, call), dim=-1)

    def each(self, inputs: Sequence[T], call: Callable[[Sequence[T], str], "Tensor"]) -> "Tensor":
        """Return ``call`` over all inputs. ``call``: maps at most ``batch`` inputs and the device to a tensor [n, …].
        Returns float32 [n, …] on the CPU. Raises NotAvailable if even the CPU has no memory for a single input."""
        import torch

        found: list[Tensor] = []
        done = 0
        with torch.inference_mode():
            while done < len(inputs):
                part = inputs[done : done + self.batch]
                rows = self._rows(part, call)
                if rows is not None:
                    found.append(rows)
                    done += len(part)
                    continue
                if len(part) > 1:
                    self.batch = min(self.batch, len(part)) // 2
                    self._say(f"{self.name}: {self.device} has no memory left; going on with batches of {self.batch}")
                elif self.device != "cpu":
                    self._say(f"{self.name}: {self.device} has no memory for a single input; going on on the CPU")
                    self.network.to("cpu")
                    self.device, self.batch = "cpu", self._cpu_batch
                else:
                    raise NotAvailable(f"{self.name}: no memory left for a single input, even on the CPU")
                give_back()
            return torch.cat(found)

    def _rows(self, part: Sequence[T], call: Callable[[Sequence[T], str], "Tensor"]) -> "Tensor | None":
        """One call; None where memory ran out. Its error ends here: it would keep what the call had made."""
        try:
            return call(part, self.device).float().cpu()
        except Exception as error:
            if not out_of_memory(error):
                raise
            return None

    def _say(self, sentence: str) -> None:
        self.note = f"{sentence}."
        _log.warning("%s", sentence)

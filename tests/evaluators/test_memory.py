"""What weights take, and that a process gives back or keeps what it frees."""

import gc
import platform
import subprocess
import sys
import weakref

import pytest
import torch

from core.evaluators.memory import AUDIT_KEPT_MB, KEPT_MB, leave_out_of_collections, out_of_memory, weights_mb
from core.settings import ROOT

GIVEN_BACK = """
import sys
import weakref
from pathlib import Path
import torch
from core.evaluators import memory

def held():
    lines = Path("/proc/self/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024

torch.ones(1)
before = held()
blocks = [torch.ones(2**18) for _ in range(400)]  # 1 MB each: from the heap, not from the system
kept = blocks[::40]
full = held()
del blocks
getattr(memory, sys.argv[1])()
print(full - before, held() - before)
"""


def test_shared_tensors_count_once_and_buffers_count() -> None:
    one = torch.nn.Linear(1024, 1024, bias=False)
    two = torch.nn.Linear(1024, 1024, bias=False)
    two.weight = one.weight
    assert weights_mb([one, two, one]) == 4
    assert weights_mb([one.half()]) == 2
    one.register_buffer("table", torch.zeros(2**18))
    assert weights_mb([one]) == 3


def test_a_real_failure_to_allocate_is_recognised() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(10**14)
    assert not isinstance(caught.value, torch.OutOfMemoryError)  # the CPU's is a bare one
    assert out_of_memory(caught.value)


@pytest.mark.parametrize(
    ("error", "is_one"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."), True),
        (MemoryError(), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_only_what_says_that_memory_ran_out_is_taken_for_it(error: Exception, is_one: bool) -> None:
    assert out_of_memory(error) is is_one


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a process holds in this way")
@pytest.mark.parametrize("how", ["give_back", "trim"])
def test_freed_weights_go_back_to_the_system(how: str) -> None:
    done = subprocess.run([sys.executable, "-c", GIVEN_BACK, how], capture_output=True, text=True, check=True)
    full, left = map(float, done.stdout.split())
    assert full > 390
    assert left < 40


class _Cycle:
    """Something that only a collection lets go of, since it holds itself."""

    def __init__(self) -> None:
        self.own = self


def test_what_is_there_is_left_out_of_collections_and_what_is_garbage_goes_first() -> None:
    kept, garbage = _Cycle(), _Cycle()
    gone = weakref.ref(garbage)
    del garbage
    gc.disable()
    try:
        leave_out_of_collections()
        assert gone() is None
        later = _Cycle()
        looked = {id(each) for each in gc.get_objects()}
        assert id(kept) not in looked
        assert id(later) in looked
    finally:
        gc.enable()


MEASURE = """
import resource, sys
if sys.argv[1] != "0":
    from core.evaluators.memory import keep_freed
    keep_freed(int(sys.argv[1]))

def work():
    for _ in range(20):
        blocks = [bytearray(2**20) for _ in range(20)]
        for block in blocks:
            block[::4096] = bytes(256)

work()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
work()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(kept_mb: int) -> int:
    """Pages that the system cleared for work that was done before with the same memory."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(kept_mb)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has mallopt")
@pytest.mark.parametrize("kept_mb", [KEPT_MB, AUDIT_KEPT_MB])
def test_freed_memory_is_kept(kept_mb: int) -> None:
    assert faults(kept_mb) < 1000 < faults(0)  # 20 times 20 MB are 102,400 pages of 4 KB

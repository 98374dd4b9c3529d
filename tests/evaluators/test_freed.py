"""A process keeps memory that it frees, so that the system need not clear the same pages again."""

import platform
import subprocess
import sys

import pytest

from core.evaluators.memory import AUDIT_KEPT_MB, KEPT_MB
from core.settings import ROOT

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

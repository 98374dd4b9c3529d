"""A process of an audit keeps memory that it frees, so that the system need not clear the same pages again."""

import platform
import subprocess
import sys

import pytest

from core.settings import ROOT

MEASURE = """
import resource, sys
if sys.argv[1] == "keep":
    from core.audit.workers.freed import keep_freed
    keep_freed()

def work():
    for _ in range(20):
        blocks = [bytearray(2**20) for _ in range(40)]
        for block in blocks:
            block[::4096] = bytes(256)

work()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
work()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how: str) -> int:
    """Pages that the system cleared for work that was done before with the same memory."""
    done = subprocess.run([sys.executable, "-c", MEASURE, how], cwd=ROOT, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has mallopt")
def test_freed_memory_is_kept() -> None:
    assert faults("keep") < 1000 < faults("give back")  # 20 times 40 MB are 204,800 pages of 4 KB

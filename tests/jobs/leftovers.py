"""What a test that starts its own processes does at its end."""

from contextlib import suppress
from pathlib import Path

import psutil


def end_all(data: Path) -> None:
    """End whatever runs on a data folder, however many processes it has by now."""
    while found := [each for each in psutil.process_iter(["environ"]) if _works_on(each, data)]:
        for process in found:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(found, timeout=1)


def _works_on(process: psutil.Process, data: Path) -> bool:
    return (process.info["environ"] or {}).get("INVARISCOPE_DATA") == str(data)

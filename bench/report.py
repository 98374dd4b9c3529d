"""How a measurement is printed: one row of a Markdown table, and the machine it ran on."""

import os
import platform
from pathlib import Path


def machine() -> str:
    """Processor, cores and Python of this machine, in words."""
    names = [line.split(":", 1)[1].strip() for line in _cpuinfo() if line.startswith("model name")]
    name = names[0] if names else platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}"


def row(measured: str, value: str, n: str, target: str = "") -> None:
    """Print one line of the table."""
    print(f"| {measured} | {value} | {n} | {target} |", flush=True)


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []

"""What a manifest says of the machine and the packages that a run was made with, and whether Ray is among them."""

import inspect
import os
import platform
from collections.abc import Iterable
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import core
from core.corpora.schema import COVERAGE_EDGES
from core.probes.base import Probe

PACKAGES = (
    "torch",
    "torchvision",
    "timm",
    "transformers",
    "open_clip_torch",
    "numpy",
    "opencv-python-headless",
    "pillow",
    "pyarrow",
    "duckdb",
    "pycocotools",
    "scipy",
)


def versions() -> dict[str, str]:
    """Versions of Invariscope, Python and the packages that a score may depend on."""
    found = {"invariscope": core.__version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def describe_machine(device: str) -> dict[str, Any]:
    """Processor, cores, system and the device that the evaluators ran on."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "device": device,
    }


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def usual_threads(workers: int, *, cluster: bool) -> int:
    """Threads for one operation in each worker, where nobody says how many.

    Args:
        workers: that share this machine's cores.
        cluster: whether they are actors of a cluster, whose machines may have any number of cores: one each then.
    """
    return 1 if cluster else max(1, cores() // max(1, workers))


def constants(probes: Iterable[Probe]) -> dict[str, dict[str, Any]]:
    """Module-level constants of the modules that made the probes, by module, and the coverage bins."""
    found: dict[str, dict[str, Any]] = {"core.corpora.schema": {"COVERAGE_EDGES": list(COVERAGE_EDGES)}}
    for probe in probes:
        function: Any = probe.make_function
        while isinstance(function, partial):
            function = function.func
        module = inspect.getmodule(function)
        if module is None or module.__name__ in found:
            continue
        values = {name: plain for name, value in vars(module).items() if _constant(name) for plain in _plain(value)}
        if values:
            found[module.__name__] = values
    return dict(sorted(found.items()))


def _constant(name: str) -> bool:
    return name.isupper() and not name.startswith("_")


def _plain(value: object) -> list[Any]:
    """A number, or several, as JSON knows them, in a list; an empty list for anything else."""
    if isinstance(value, int | float):
        return [value]
    if isinstance(value, tuple) and value and all(isinstance(each, int | float | str) for each in value):
        return [list(value)]
    return []


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


GET_RAY = "python -m pip install --no-deps --require-hashes -r requirements-cluster.txt"
"""The command that brings what a cluster needs."""


def has_ray() -> bool:
    """Whether the optional extra is installed; nothing is imported."""
    found = find_spec("ray")
    return found is not None and found.origin is not None  # a folder of that name has none

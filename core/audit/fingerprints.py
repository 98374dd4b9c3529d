"""What a corpus and a probe are to a manifest: a digest of the items, a probe as a plain dictionary, paths as told.

What a manifest says of the machine and the packages that a run was made with, and whether Ray is among them.
"""

import hashlib
import inspect
import json
import os
import platform
from collections.abc import Iterable
from functools import lru_cache, partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import core
from core import settings
from core.corpora.labels import load_labels
from core.corpora.schema import COVERAGE_EDGES, Corpus
from core.probes.base import Construction, Edits, Probe
from core.probes.registry import brought_from
from core.store.run_sources import code_sha256


def describe_probe(probe: Probe) -> dict[str, Any]:
    """A probe as a plain dictionary, for manifests; what inserts a word says so, too."""
    told = {"construction": Construction.INSERTED.value} if probe.construction is Construction.INSERTED else {}
    told |= {"tagger": probe.tagger} if probe.tagger else {}
    if reference := brought_from(probe.name):
        path = Path(reference.rpartition(":")[0])
        told |= {"reference": f"{told_path(path)}:{reference.rpartition(':')[2]}", "file": code_sha256(path)}
    return {
        "name": probe.name,
        "axis": probe.axis.value,
        "family": probe.family,
        "expectation": probe.expectation.value,
        "edits": probe.edits.value,
        "baseline": probe.baseline,
        "modifier": probe.modifier,
        "control": probe.control,
        "subjects": list(probe.subjects if probe.edits is Edits.CAPTION else probe.held),
        "summary": probe.summary,
        "source": probe.source,
        **told,  # runs of before know neither
    }


def corpus_fingerprint(corpus: Corpus) -> str:
    """sha256 over the items' ids, labels, captions, boxes, masks, rivals, own columns, hashes; not where they lie."""
    digest = hashlib.sha256(corpus.name.encode())
    for item in corpus.items:
        box = None if item.box is None else (item.box.x, item.box.y, item.box.width, item.box.height)
        mask = None if item.mask is None else hashlib.sha256(item.mask.counts).hexdigest()
        captions = {language: list(texts) for language, texts in item.captions.items()}
        parts = [item.id, item.width, item.height, item.label, item.category, box, mask, captions]
        parts += [item.bytes_sha256, item.pixels_sha256]
        digest.update(json.dumps(parts, sort_keys=True).encode() + b"\n")
        for rival in item.rivals:  # nothing is added for an item without, so that its corpus keeps its fingerprint
            told = (rival.role, dict(rival.facts), rival.bytes_sha256, rival.pixels_sha256, dict(item.facts))
            digest.update(json.dumps(told, sort_keys=True).encode() + b"\n")
        if item.named:
            digest.update(json.dumps(dict(item.named), sort_keys=True).encode() + b"\n")
        if item.wrong:
            digest.update(json.dumps((dict(item.wrong), dict(item.facts)), sort_keys=True).encode() + b"\n")
        if item.synonyms:
            told_also = {label: list(names) for label, names in item.synonyms.items()}
            digest.update(json.dumps(("synonyms", told_also), sort_keys=True).encode() + b"\n")
        if item.looked_for or item.also_there:
            digest.update(_told_absences(item.looked_for, item.also_there))
        if item.frames:
            digest.update(json.dumps(("frames", *item.frames)).encode() + b"\n")
        if own := item.own:  # what a run stores of its items: with another column it is another run
            digest.update(json.dumps(("own", own), sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


@lru_cache(maxsize=1000)
def _told_absences(looked_for: frozenset[str], also_there: tuple[str, ...]) -> bytes:
    """What a source says of absence, for a digest; nothing of one that looked for COCO's categories, as ever."""
    usual = looked_for == load_labels("coco").taxonomy.names and not also_there
    return b"" if usual else json.dumps(("looked_for", sorted(looked_for), also_there)).encode() + b"\n"


def told_path(path: Path) -> str:
    """A path as it may be shown to others: relative to the checkout where it lies inside."""
    absolute = Path(path).absolute()
    inside = absolute.is_relative_to(settings.ROOT)
    return absolute.relative_to(settings.ROOT).as_posix() if inside else str(path)


PACKAGES = (
    *("torch", "torchvision", "timm", "transformers", "open_clip_torch", "numpy"),
    *("opencv-python-headless", "pillow", "pyarrow", "duckdb", "pycocotools", "scipy"),
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
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    processor = names[0] if names else platform.processor() or platform.machine()
    system = f"{platform.system()} {platform.machine()}"
    return {"processor": processor, "cores": os.cpu_count(), "system": system, "device": device}


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def usual_threads(workers: int, *, cluster: bool) -> int:
    """Threads for one operation in each worker, where nobody says how many.
    ``workers``: that share this machine's cores.
    ``cluster``: whether they are actors of a cluster, whose machines may have any number of cores: one each then."""
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
        constants = {name: value for name, value in vars(module).items() if name.isupper() and name[0] != "_"}
        values = {name: plain for name, value in constants.items() for plain in _plain(value)}
        if values:
            found[module.__name__] = values
    return dict(sorted(found.items()))


def _plain(value: object) -> list[Any]:
    """A number, or several, as JSON knows them, in a list; an empty list for anything else."""
    if isinstance(value, int | float):
        return [value]
    if isinstance(value, tuple) and value and all(isinstance(each, int | float | str) for each in value):
        return [list(value)]
    return []


GET_RAY = "python -m pip install --no-deps --require-hashes -r requirements-cluster.txt"
"""The command that brings what a cluster needs."""


def has_ray() -> bool:
    """Whether the optional extra is installed; nothing is imported."""
    found = find_spec("ray")
    return found is not None and found.origin is not None  # a folder of that name has none

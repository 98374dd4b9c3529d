"""Files of metrics that an operator brings through the browser: kept by their content, read without being run."""

import hashlib
import re
from pathlib import Path

from core.errors import InvalidInput
from core.evaluators.metric_source import metrics_in
from core.settings import uploads_dir
from core.writing import write_bytes

MOST_BYTES = 1 << 20
"""Of a file of code; no metric is larger."""

_STEM = re.compile(r"[^A-Za-z0-9_]+")


def metrics_dir() -> Path:
    """Folder of the files, each in a folder named by its content."""
    return uploads_dir() / "metrics"


def keep_metric(name: str, data: bytes) -> tuple[str, ...]:
    """Keep a file of a metric; nothing of it is run.

    Args:
        name: as its owner calls it.
        data: its content.

    Returns:
        The evaluators that it defines, as ``path/to/file.py:Name``.

    Raises:
        InvalidInput: if it is no Python file, too large, or defines no metric.
        OSError: if the disk refuses.
    """
    if len(data) > MOST_BYTES:
        raise InvalidInput(
            f"{name} has {len(data):,} bytes and at most {MOST_BYTES:,} are taken; bring the metric alone"
        )
    metrics_in(data, name)
    folder = metrics_dir() / hashlib.sha256(data).hexdigest()[:16]
    stem = _STEM.sub("_", Path(name).stem).strip("_")[:60] or "metric"
    path = folder / f"{stem}.py"
    known = sorted(folder.glob("*.py"))
    if not known:
        write_bytes(path, data)
    return _references(known[0] if known else path)


def kept_metrics() -> tuple[str, ...]:
    """Every evaluator of the files that were brought, as ``path/to/file.py:Name``; a broken file is left out."""
    found: list[str] = []
    for path in sorted(metrics_dir().glob("*/*.py"), key=lambda each: (each.name, each.parent.name)):
        try:
            found += _references(path)
        except (InvalidInput, OSError):
            continue
    return tuple(found)


def _references(path: Path) -> tuple[str, ...]:
    return tuple(f"{path.absolute()}:{each}" for each in metrics_in(path.read_bytes(), path.name))

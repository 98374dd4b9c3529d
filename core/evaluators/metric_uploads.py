"""Files of metrics that an operator brings through the browser: kept by their content, read without being run."""

import ast
import hashlib
import re
from pathlib import Path

from core.errors import InvalidInput
from core.evaluators.functions import names_metric
from core.settings import uploads_dir
from core.writing import write_bytes

MOST_BYTES = 1 << 20
"""Of a file of code; no metric is larger."""

_MARK = "evaluator"
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
        InvalidInput: if it is no Python file, too large, or marks no class with ``@evaluator(...)``.
        OSError: if the disk refuses.
    """
    if len(data) > MOST_BYTES:
        raise InvalidInput(
            f"{name} has {len(data):,} bytes and at most {MOST_BYTES:,} are taken; bring the metric alone"
        )
    if not classes_in(data, name):
        raise InvalidInput(
            f"{name} marks no class with @evaluator(...) and has no function of (image, caption); copy "
            "assets/templates/metric.py to begin"
        )
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


def classes_in(data: bytes, name: str) -> tuple[str, ...]:
    """Names of a file's evaluators, read without running it: classes with ``@evaluator(...)``, functions of a pair.

    Raises:
        InvalidInput: if it is no Python file.
    """
    try:
        parsed = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InvalidInput(f"{name} cannot be read as Python ({str(error)[:200]}); mend it") from error
    return tuple(
        each.name
        for each in parsed.body
        if isinstance(each, ast.ClassDef | ast.FunctionDef) and (names_metric(each) or _is_marked(each))
    )


def _references(path: Path) -> tuple[str, ...]:
    return tuple(f"{path.absolute()}:{each}" for each in classes_in(path.read_bytes(), path.name))


def _is_marked(found: ast.ClassDef | ast.FunctionDef) -> bool:
    if isinstance(found, ast.FunctionDef):
        return False
    called = (each.func for each in found.decorator_list if isinstance(each, ast.Call))
    return any(getattr(each, "attr", getattr(each, "id", "")) == _MARK for each in called)

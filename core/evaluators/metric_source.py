"""Which metrics a Python file defines: read, and nothing of it is run.

Files of metrics that an operator brings through the browser: kept by their content, read without being run.
"""

import ast
import hashlib
import re
from pathlib import Path
from typing import TypeGuard

from core.corpora.ordinary_paths import ordinary
from core.errors import InvalidInput
from core.settings import uploads_dir
from core.writing import write_bytes

PAIR, BATCH = ("image", "caption"), ("images", "captions")
"""What the two parameters of a metric that is a function are called: of one pair, or of lists of the same length."""

HOW = "give it one function of (images, captions) or (image, caption); assets/templates/function.py is one"

_MARK = "evaluator"


def metrics_in(data: bytes, name: str) -> tuple[str, ...]:
    """Names of the metrics that a file defines: classes with ``@evaluator(...)``, and public functions of pairs.
    Raises InvalidInput if it is no Python file or defines no metric; says the line that comes nearest."""
    try:
        parsed = ast.parse(data)
    except SyntaxError as error:
        place = f"line {error.lineno}: {error.msg}" if error.lineno else error.msg
        what = f", in “{error.text.strip()[:80]}”" if error.text and error.text.strip() else ""
        raise InvalidInput(f"{name} cannot be read as Python: {place}{what}; mend that line") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise InvalidInput(f"{name} cannot be read as Python ({str(error)[:200]}); mend it") from error
    found = tuple(each.name for each in parsed.body if _is_marked(each) or names_metric(each))
    if not found:
        near = next(filter(None, map(_nearly, parsed.body)), "")
        raise InvalidInput(f"{name} defines no metric{f': {near}' if near else ''}; {HOW}")
    return found


def the_metric(reference: str) -> str:
    """The whole reference of an evaluator: ``file.py`` is ``file.py:Name`` where the file defines one metric.
    Raises InvalidInput if there is no such file, or it defines none or several."""
    if not reference.endswith(".py"):
        return reference
    path = Path(reference).expanduser()
    try:
        found = metrics_in(ordinary(path).read_bytes(), path.name)
    except OSError as error:
        raise InvalidInput(f"no file {path}; give the path of an existing .py file") from error
    if len(found) > 1:
        ways = " or ".join(f"{path}:{each}" for each in found)
        raise InvalidInput(f"{path.name} defines {len(found)} metrics; say which: {ways}")
    return f"{path}:{found[0]}"


def names_metric(found: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    """Whether a statement defines a public function of a pair, or of lists of pairs; others have defaults."""
    if not isinstance(found, ast.FunctionDef) or found.name.startswith("_"):
        return False
    return _asked(found) in (PAIR, BATCH) and None not in found.args.kw_defaults


def _asked(found: ast.FunctionDef) -> tuple[str, ...]:
    """Parameters that must be given, in order."""
    named = [each.arg for each in (*found.args.posonlyargs, *found.args.args)]
    return tuple(named[: max(len(named) - len(found.args.defaults), 2)])


def _is_marked(found: ast.stmt) -> TypeGuard[ast.ClassDef]:
    if not isinstance(found, ast.ClassDef):
        return False
    called = (each.func for each in found.decorator_list if isinstance(each, ast.Call))
    return any(getattr(each, "attr", getattr(each, "id", "")) == _MARK for each in called)


def _nearly(found: ast.stmt) -> str:
    """What a statement lacks to be a metric; empty where it is none of one's attempts."""
    if isinstance(found, ast.ClassDef) and any(getattr(each, "name", "") == "score" for each in found.body):
        return f"line {found.lineno}, class {found.name}, lacks @evaluator(...) above it"
    if isinstance(found, ast.AsyncFunctionDef):
        return f"line {found.lineno}, {found.name}, is async; take that word out"
    if isinstance(found, ast.FunctionDef) and not found.name.startswith("_") and _asked(found):
        return f"line {found.lineno}, {found.name} takes ({', '.join(_asked(found))})"
    return ""


MOST_BYTES = 1 << 20
"""Of a file of code; no metric is larger."""

_STEM = re.compile(r"[^A-Za-z0-9_]+")


def metrics_dir() -> Path:
    """Folder of the files, each in a folder named by its content."""
    return uploads_dir() / "metrics"


def keep_metric(name: str, data: bytes) -> tuple[str, ...]:
    """Keep a file of a metric; nothing of it is run.
    Returns the evaluators that it defines, as ``path/to/file.py:Name``.
    Raises InvalidInput if it is no Python file, too large, or defines no metric; OSError if the disk refuses."""
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

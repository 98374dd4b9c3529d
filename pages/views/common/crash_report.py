"""What a bug leaves for whoever mends it: versions, the page and the way through the code, and nothing of the reader's.

No message, value, argument, local variable, line of source, environment or path outside the program is ever read into
a report: a message such as ``KeyError: 'a dog on Ann's sofa'`` holds a caption.
"""

import hashlib
import json
import platform
import sys
import sysconfig
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any

import core

PACKAGES = ("streamlit", "numpy", "pandas", "pyarrow", "duckdb", "pillow", "plotly", "scipy", "torch", "transformers")
"""Whose versions a report states: what pages compute and draw with."""

ELSEWHERE = "(elsewhere)"
"""Stands for code and types that are neither Invariscope's nor those of an installed package."""

MOST_FRAMES = 60
"""Frames of an exception that are kept: the innermost ones."""

MOST_CAUSES = 5

_OWN = ("core", "pages", "app.py")
_BASES = (Path(core.__file__).resolve().parents[1], Path(__file__).resolve().parents[3])
_LIBRARIES = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib", "stdlib"))


def report(error: BaseException, page: str) -> dict[str, Any]:
    """Return what is told of an exception, ready for JSON.

    Args:
        error: what was raised; what caused it is told too, at most ``MOST_CAUSES`` in all.
        page: name of the page that was open.

    Returns:
        ``id`` (the same for the same type and way through the code), ``at`` (UTC, to the minute), ``page``, ``action``
        (the innermost function of Invariscope), ``errors`` (the exception first, then its causes; each with type and
        frames, the outermost frame first), ``versions`` and ``platform``.
    """
    errors: list[dict[str, Any]] = [
        {"type": _type(each), "frames": _frames(each.__traceback__)} for each in _causes(error)
    ]
    known = [frame for frame in errors[0]["frames"] if frame["file"].partition("/")[0] in _OWN]
    return {
        "what": "crash report of Invariscope: no captions, pictures, paths, values or settings are in it",
        "id": hashlib.sha256(json.dumps(errors).encode()).hexdigest()[:12],
        "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ"),
        "page": page,
        "action": "{file}:{line} {function}".format(**known[-1]) if known else ELSEWHERE,
        "errors": errors,
        "versions": {"invariscope": core.__version__, "python": platform.python_version()} | _versions(),
        "platform": {"system": platform.system(), "release": platform.release(), "machine": platform.machine()},
    }


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and len(found) < MOST_CAUSES and all(following is not each for each in found):
        found.append(following)
        following = following.__cause__ or (None if following.__suppress_context__ else following.__context__)
    return found


def _type(error: BaseException) -> str:
    """Name of the type, unless somebody's own code made it up."""
    kind = type(error)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    told = kind.__module__ == "builtins" or (file is not None and _told(file) != ELSEWHERE)
    return f"{kind.__module__}.{kind.__qualname__}" if told else ELSEWHERE


def _frames(trace: TracebackType | None) -> list[dict[str, Any]]:
    found = []
    while trace is not None:
        code = trace.tb_frame.f_code
        file = _told(code.co_filename)
        function = ELSEWHERE if file == ELSEWHERE else code.co_qualname
        found.append({"file": file, "line": 0 if file == ELSEWHERE else trace.tb_lineno, "function": function})
        trace = trace.tb_next
    return found[-MOST_FRAMES:]


def _told(file: str) -> str:
    """The path inside the program or inside an installed package; nothing of where these lie."""
    path = Path(file).resolve()
    for base in _BASES:
        if path.is_relative_to(base) and path.relative_to(base).as_posix().partition("/")[0] in _OWN:
            return path.relative_to(base).as_posix()
    for base in _LIBRARIES:
        if path.is_relative_to(base):
            return f"library:{path.relative_to(base).as_posix()}"
    return ELSEWHERE


def _versions() -> dict[str, str]:
    return {name: found for name in PACKAGES if (found := _version(name))}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None

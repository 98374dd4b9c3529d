"""A plain function of ``(image, caption)``, or ``(images, captions)`` at once, as an evaluator. Which metrics a file
defines is read, and nothing of it is run; files that an operator brings are kept by their content."""

import ast
import hashlib
import inspect
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, TypeGuard

import numpy as np
from PIL import Image

from core.corpora.ordinary_paths import ordinary
from core.errors import InvalidInput
from core.evaluators.base import Evaluator, EvaluatorSpec, Fingerprint, all_scored, check_lengths
from core.registry import line_of
from core.settings import uploads_dir
from core.writing import write_bytes

_Scored = tuple[float, str | None]  # a score, NaN where there is none, and why there is none


class FunctionEvaluator(Evaluator):
    """Asks a function for one pair after the other, or for lists of pairs where its parameters say so. An image comes
    as a PIL picture (RGB), as transforms and processors of published models take it, and as a uint8 array [H, W, 3]
    where the function's first parameter is annotated with ``np.ndarray``."""

    function: ClassVar[Callable[..., Any]]
    source_sha256: ClassVar[str]

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:  # the function knows no device
        return cls()

    @property
    def fingerprint(self) -> Fingerprint:
        """Of the file that the function stands in, since it may depend on all of it."""
        return Fingerprint(self.spec.name, f"sha256 {self.source_sha256}", "the function's own", "the function's own")

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Score n pairs. Raises PartlyScored where the function raises, or gives no finite number, for some;
        InvalidInput where it gives another number of scores than it was given pairs."""
        check_lengths(images, captions)
        function = type(self).function
        parameters = inspect.signature(function).parameters
        asked = next(iter(parameters.values())).annotation
        arrays = asked is np.ndarray or "ndarray" in str(asked)
        given = list(images) if arrays else [Image.fromarray(each) for each in images]
        if tuple(parameters)[:2] == BATCH:
            found = self._batch(given, captions)
        else:
            found = []
            for pair in zip(given, captions, strict=True):
                try:
                    found.append(self._number(function(*pair)))
                except Exception as error:  # a stranger's function may raise anything: it costs this pair
                    found.append((math.nan, self._raised(error)))
        return all_scored(np.array([score for score, _ in found], dtype=np.float64), [error for _, error in found])

    def _batch(self, images: Sequence[Any], captions: Sequence[str]) -> list[_Scored]:
        """Ask for lists of pairs; where that raises, for each pair alone, since one may be at fault."""
        if not captions:
            return []
        name = type(self).function.__name__
        try:
            answer = type(self).function(list(images), list(captions))
        except Exception as error:  # a stranger's function may raise anything
            if len(captions) == 1:
                return [(math.nan, self._raised(error))]
            alone = (self._batch([image], [caption]) for image, caption in zip(images, captions, strict=True))
            return [each for (each,) in alone]
        try:
            values = list(answer)
        except TypeError as error:
            raise InvalidInput(
                f"{name} gave {str(answer)[:60]!r} for {len(captions)} pairs; return a list or an array of "
                f"{len(captions)} numbers"
            ) from error
        if len(values) != len(captions):
            pairs = f"{len(captions)} pair{'' if len(captions) == 1 else 's'}"
            raise InvalidInput(f"{name} gave {len(values)} scores for {pairs}; return one for each pair")
        return [self._number(each) for each in values]

    def _number(self, answer: object) -> _Scored:
        try:
            bare = answer.item() if hasattr(answer, "item") else answer  # of an array or a tensor with one number
            score = math.nan if isinstance(bare, str | bytes) else float(bare)  # type: ignore[arg-type]  # tried
        except (TypeError, ValueError, RuntimeError):
            score = math.nan
        if math.isfinite(score):
            return score, None
        return math.nan, f"{type(self).function.__name__} gave {str(answer)[:60]!r}, which is no finite number"

    def _raised(self, error: Exception) -> str:
        function = type(self).function
        where = line_of(error, function.__code__.co_filename)
        return f"{function.__name__} raised {type(error).__name__}: {error}{where}"


def is_metric(value: object) -> TypeGuard[Callable[..., Any]]:
    """Whether something is a function that can be asked for (image, caption), or for (images, captions)."""
    if not inspect.isfunction(value):
        return False
    parameters = list(inspect.signature(value).parameters.values())
    free = [
        each
        for each in parameters
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    return tuple(each.name for each in parameters[:2]) in (PAIR, BATCH) and len(free) <= 2


def from_function(function: Callable[..., Any]) -> type[FunctionEvaluator]:
    """Make an evaluator of a function, by its name. Raises InvalidInput if its source cannot be read."""
    try:
        path = Path(inspect.getfile(function))
        source = path.read_bytes() if path.is_file() else inspect.getsource(function).encode()
    except (OSError, TypeError) as error:
        raise InvalidInput(f"the source of {function.__name__} cannot be read ({error}); put it into a file") from error
    said = (inspect.getdoc(function) or "Your own function.").splitlines()[0]
    spec = EvaluatorSpec(
        name=function.__name__,
        title=function.__name__,
        summary=said,
        family="own",
        score_range=(None, None),
        memory_mb=1,
        offline=True,
        source=path.name,
        licence="unknown",
    )
    own = {"spec": spec, "function": staticmethod(function), "source_sha256": hashlib.sha256(source).hexdigest()}
    told = {**own, "__module__": function.__module__, "__doc__": said}
    return type(function.__name__, (FunctionEvaluator,), told)


PAIR, BATCH = ("image", "caption"), ("images", "captions")
"""What the two parameters of a metric that is a function are called: of one pair, or of lists of the same length."""

HOW = "give it one function of (images, captions) or (image, caption); assets/templates/function.py is one"


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
    found = tuple(each.name for each in parsed.body if _defines_metric(each))
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


def _defines_metric(found: ast.stmt) -> TypeGuard[ast.ClassDef | ast.FunctionDef]:
    """Whether a statement defines a class with ``@evaluator(...)``, or a public function of a pair, or of lists of
    pairs, whose other parameters have defaults."""
    if isinstance(found, ast.ClassDef):
        called = (each.func for each in found.decorator_list if isinstance(each, ast.Call))
        return any(getattr(each, "attr", getattr(each, "id", "")) == "evaluator" for each in called)
    if not isinstance(found, ast.FunctionDef) or found.name.startswith("_"):
        return False
    return _asked(found) in (PAIR, BATCH) and None not in found.args.kw_defaults


def _asked(found: ast.FunctionDef) -> tuple[str, ...]:
    named = [each.arg for each in (*found.args.posonlyargs, *found.args.args)]
    return tuple(named[: max(len(named) - len(found.args.defaults), 2)])


def _nearly(found: ast.stmt) -> str:
    """What a statement lacks to be a metric; empty where it is none of one's attempts."""
    if isinstance(found, ast.ClassDef) and any(getattr(each, "name", "") == "score" for each in found.body):
        return f"line {found.lineno}, class {found.name}, lacks @evaluator(...) above it"
    if isinstance(found, ast.AsyncFunctionDef):
        return f"line {found.lineno}, {found.name}, is async; take that word out"
    if isinstance(found, ast.FunctionDef) and not found.name.startswith("_") and _asked(found):
        return f"line {found.lineno}, {found.name} takes ({', '.join(_asked(found))})"
    return ""


MOST_BYTES = 1 << 20  # of a file of code; no metric is larger
_STEM = re.compile(r"[^A-Za-z0-9_]+")


def metrics_dir() -> Path:
    """Folder of the files, each in a folder named by its content."""
    return uploads_dir() / "metrics"


def keep_metric(name: str, data: bytes) -> tuple[str, ...]:
    """Keep a file of a metric; nothing of it is run.
    Returns the evaluators that it defines, as ``path/to/file.py:Name``.
    Raises InvalidInput if it is no Python file, too large, or defines no metric; OSError if the disk refuses."""
    if len(data) > MOST_BYTES:
        raise InvalidInput(f"{name} has {len(data):,} bytes and at most {MOST_BYTES:,} are taken; bring one metric")
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

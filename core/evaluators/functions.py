"""A plain function ``metric(image, caption)`` of a file or a notebook as an evaluator."""

import ast
import hashlib
import inspect
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, TypeGuard

import numpy as np
from PIL import Image

from core.errors import InvalidInput
from core.evaluators.base import Evaluator, EvaluatorSpec, Fingerprint, PartlyScored, check_lengths

PAIR = ("image", "caption")
"""What the two parameters of such a function are called; further ones must have defaults."""


class FunctionEvaluator(Evaluator):
    """Asks a function for one pair after the other.

    The image comes as a PIL picture (RGB), as transforms and processors of published models take it, and as a uint8
    array [H, W, 3] where the function says ``image: np.ndarray``.
    """

    function: ClassVar[Callable[..., Any]]
    source_sha256: ClassVar[str]

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:  # the function knows no device
        """There is nothing to load."""
        return cls()

    @property
    def fingerprint(self) -> Fingerprint:
        """Of the file that the function stands in, since it may depend on all of it."""
        return Fingerprint(self.spec.name, f"sha256 {self.source_sha256}", "the function's own", "the function's own")

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Score n pairs.

        Raises:
            PartlyScored: where the function raises, or gives no finite number, for some.
        """
        check_lengths(images, captions)
        found = [self._one(image, caption) for image, caption in zip(images, captions, strict=True)]
        scores = np.array([score for score, _ in found], dtype=np.float64)
        if any(error for _, error in found):
            raise PartlyScored(scores, [error for _, error in found])
        return scores

    def _one(self, image: np.ndarray, caption: str) -> tuple[float, str | None]:
        function = type(self).function
        given = image if _takes_array(function) else Image.fromarray(image)
        try:
            answer = function(given, caption)
        except Exception as error:  # a stranger's function may raise anything: it costs this pair
            return math.nan, f"{function.__name__} raised {type(error).__name__}: {error}"
        try:
            bare = answer.item() if hasattr(answer, "item") else answer  # of an array or a tensor with one number
            score = math.nan if isinstance(bare, str | bytes) else float(bare)
        except (TypeError, ValueError, RuntimeError):
            score = math.nan
        if math.isfinite(score):
            return score, None
        return math.nan, f"{function.__name__} gave {str(answer)[:60]!r}, which is no finite number"


def is_metric(value: object) -> TypeGuard[Callable[..., Any]]:
    """Whether something is a function that can be asked for (image, caption)."""
    if not inspect.isfunction(value):
        return False
    parameters = list(inspect.signature(value).parameters.values())
    free = [
        each
        for each in parameters
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    return tuple(each.name for each in parameters[:2]) == PAIR and len(free) <= 2


def names_metric(found: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    """The same of a statement that was read and not run."""
    if not isinstance(found, ast.FunctionDef):
        return False
    given = found.args
    names = [each.arg for each in (*given.posonlyargs, *given.args)]
    return tuple(names[:2]) == PAIR and len(given.defaults) >= len(names) - 2 and None not in given.kw_defaults


def from_function(function: Callable[..., Any]) -> type[FunctionEvaluator]:
    """Make an evaluator of a function, called by its name.

    Raises:
        InvalidInput: if its source, which the fingerprint is of, cannot be read.
    """
    try:
        path = Path(inspect.getfile(function))
        source = path.read_bytes() if path.is_file() else inspect.getsource(function).encode()
    except (OSError, TypeError) as error:
        raise InvalidInput(f"the source of {function.__name__} cannot be read ({error}); put it into a file") from error
    said = (inspect.getdoc(function) or "A function of one's own.").splitlines()[0]
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
    told = {
        "spec": spec,
        "function": staticmethod(function),
        "source_sha256": hashlib.sha256(source).hexdigest(),
        "__module__": function.__module__,
        "__doc__": said,
    }
    return type(function.__name__, (FunctionEvaluator,), told)


def _takes_array(function: Callable[..., Any]) -> bool:
    asked = next(iter(inspect.signature(function).parameters.values())).annotation
    return asked is np.ndarray or "ndarray" in str(asked)

"""A plain function of a file or a notebook as an evaluator: ``(image, caption)``, or ``(images, captions)`` at once."""

import hashlib
import inspect
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, TypeGuard

import numpy as np
from PIL import Image

from core.errors import InvalidInput
from core.evaluators.base import Evaluator, EvaluatorSpec, Fingerprint, all_scored, check_lengths
from core.evaluators.metric_source import BATCH, PAIR
from core.registry import line_of

_Scored = tuple[float, str | None]
"""A score, NaN where there is none, and why there is none."""


class FunctionEvaluator(Evaluator):
    """Asks a function for one pair after the other, or for lists of pairs where its parameters say so.

    An image comes as a PIL picture (RGB), as transforms and processors of published models take it, and as a uint8
    array [H, W, 3] where the function's first parameter is annotated with ``np.ndarray``.
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
        Raises PartlyScored where the function raises, or gives no finite number, for some; InvalidInput where it gives
        another number of scores than it was given pairs."""
        check_lengths(images, captions)
        function = type(self).function
        given = list(images) if _takes_array(function) else [Image.fromarray(each) for each in images]
        found = self._batch(given, captions) if _takes_lists(function) else self._each(given, captions)
        return all_scored(np.array([score for score, _ in found], dtype=np.float64), [error for _, error in found])

    def _each(self, images: Sequence[Any], captions: Sequence[str]) -> list[_Scored]:
        function = type(self).function
        found = []
        for pair in zip(images, captions, strict=True):
            try:
                found.append(self._number(function(*pair)))
            except Exception as error:  # a stranger's function may raise anything: it costs this pair
                found.append((math.nan, self._raised(error)))
        return found

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
    """Make an evaluator of a function, called by its name.
    Raises InvalidInput if its source, which the fingerprint is of, cannot be read."""
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


def _takes_lists(function: Callable[..., Any]) -> bool:
    return tuple(inspect.signature(function).parameters)[:2] == BATCH

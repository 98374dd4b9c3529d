"""Evaluators by name, by entry point, by ``path/to/file.py:Name``, or by ``path/to/calibrator.json``."""

import inspect
from functools import cache
from pathlib import Path
from typing import TypeGuard

from core.errors import InvalidInput
from core.evaluators.base import Evaluator
from core.registry import Catalogue, discover, load_object


@cache
def catalogue() -> Catalogue[type[Evaluator]]:
    """Every registered evaluator class of this machine, loaded or not."""
    return discover("evaluator", package="core.evaluators", group="invariscope.evaluators", accept=_evaluators)


def find(reference: str) -> type[Evaluator]:
    """Return an evaluator class by registered name, ``path/to/file.py:Name``, or ``path/to/calibrator.json``.

    Raises:
        UnknownName: if no evaluator has that name.
        InvalidInput: if the path, or what it holds, is not an evaluator or a calibrator.
    """
    if reference.endswith(".json"):
        from core.evaluators.calibrated import calibrated

        return calibrated(Path(reference))
    if ":" not in reference:
        return catalogue().get(reference)
    found = load_object(reference)
    if not _is_evaluator(found):
        raise InvalidInput(f"{reference!r} is not an Evaluator class marked with @evaluator(...)")
    return found


def _is_evaluator(value: object) -> TypeGuard[type[Evaluator]]:
    return (
        inspect.isclass(value)
        and issubclass(value, Evaluator)
        and "spec" in vars(value)
        and not inspect.isabstract(value)
    )


def _evaluators(value: object) -> list[tuple[str, type[Evaluator]]]:
    return [(value.spec.name, value)] if _is_evaluator(value) else []

"""Evaluators of a file, looked at in their own process: a server never runs somebody's file in itself.

What a plan asks of an evaluator before anything is scored (its spec, its kind, whether it is ready) comes back as data;
a stand-in class carries it. An audit is a job, which is another process anyway; what a page scores at once is scored in
its own process too, which the stand-in asks once it is loaded (:mod:`core.evaluators.remote`).
"""

import hashlib
import importlib
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, fields
from functools import cache, partial
from pathlib import Path
from typing import Any, NoReturn

from core.errors import InvalidInput, NotAvailable
from core.evaluators.base import Availability, Evaluator, EvaluatorSpec
from core.evaluators.remote import Remote
from core.registry import PLUGIN

WAIT_S = 60.0
"""Seconds that a file has to be imported and described."""

_HOUSE = "core.evaluators."
_VIDEOS = "core.evaluators.video."


def find_apart(reference: str) -> type[Evaluator]:
    """A stand-in for ``path/to/file.py:Name``, which can be asked what a plan asks and not loaded.

    Raises:
        InvalidInput: if the file cannot be imported, holds no such evaluator, or does not answer in time.
    """
    try:
        return _described(reference, _digest(reference))
    except OSError as error:
        path = reference.rpartition(":")[0]
        raise InvalidInput(f"no file {path} (from {reference!r}); give the path of an existing .py file") from error


def _digest(reference: str) -> str:
    return hashlib.sha256(Path(reference.rpartition(":")[0]).read_bytes()).hexdigest()


@cache
def _described(reference: str, sha256: str) -> type[Evaluator]:  # noqa: ARG001  # the cache's key
    return _stand_in(reference, _ask(reference))


def _ask(reference: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="invariscope-") as folder:
        answer = Path(folder) / "answer.json"
        command = [sys.executable, "-m", "core.evaluators.apart_process", reference, str(answer)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=WAIT_S, check=False, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired as error:
            raise InvalidInput(
                f"{reference} was not imported within {WAIT_S:g} seconds; does it wait for something?"
            ) from error
        try:
            told: dict[str, Any] = json.loads(answer.read_bytes())
        except (OSError, ValueError) as error:
            last = (done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
            how = f"exit code {done.returncode}" if done.returncode >= 0 else f"signal {-done.returncode}"
            raise InvalidInput(
                f"{reference} ended the process that imported it ({how}): {last[:200]}; mend the file"
            ) from error
    if "problem" in told:
        raise InvalidInput(str(told["problem"])[:600])
    return told


def _stand_in(reference: str, told: dict[str, Any]) -> type[Evaluator]:
    try:
        spec = EvaluatorSpec(
            **{
                **told["spec"],
                "score_range": tuple(told["spec"]["score_range"]),
                "languages": tuple(told["spec"]["languages"]),
            }
        )
        ready = Availability(**told["available"])
        bases = tuple(_base(str(name)) for name in told["bases"])
    except (KeyError, TypeError, ValueError, AttributeError, ImportError) as error:
        raise InvalidInput(f"{reference} was described in a way that nobody can read: {error}") from error
    made = {
        "spec": spec,
        "availability": classmethod(lambda _: ready),
        "reference": reference,
        "__doc__": spec.summary,
        "__module__": f"{PLUGIN}{Path(reference.rpartition(':')[0]).stem}",
    }
    if any(each.__module__.startswith(_VIDEOS) for base in bases for each in base.__mro__):
        made["load"] = classmethod(partial(_only_in_audits, reference))
    kind = type(str(told["name"]), (Remote, *bases), made)
    kind.__abstractmethods__ = frozenset()  # type: ignore[attr-defined]  # the process has what the house asks for
    return kind


def _only_in_audits(reference: str, *_: object, **__: object) -> NoReturn:
    raise NotAvailable(f"{reference} scores videos, which no page asks of code of a file; start an audit with it")


def _base(name: str) -> type[Evaluator]:
    module, _, own = name.partition(":")
    if not module.startswith(_HOUSE):
        raise ValueError(f"{name!r} is no kind of evaluator")
    found = getattr(importlib.import_module(module), own)
    if not isinstance(found, type):
        raise ValueError(f"{name!r} is no class")
    return found


def describe(kind: type[Evaluator]) -> dict[str, Any]:
    """What a plan asks of an evaluator, as JSON takes it.

    Args:
        kind: of a file.
    """
    house = [each for each in kind.__mro__[1:] if each.__module__.startswith(_HOUSE)]
    nearest = [each for each in house if not any(other is not each and issubclass(other, each) for other in house)]
    ready = kind.availability()
    return {
        "name": kind.__name__,
        "bases": [f"{each.__module__}:{each.__qualname__}" for each in nearest],
        "spec": {each.name: getattr(kind.spec, each.name) for each in fields(EvaluatorSpec)},
        "available": asdict(ready),
    }

"""Evaluators by name, entry point, ``path/to/file.py:Name``, ``calibrator.json``, checkpoint, or made on demand."""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeGuard, cast

from core.corpora.ordinary_paths import ordinary
from core.errors import InvalidInput, InvariscopeError
from core.evaluators.base import Evaluator, Family
from core.evaluators.calibrated import calibrated, read_calibrator
from core.evaluators.functions import from_function, is_metric, the_metric
from core.evaluators.imported import is_imported, refuse
from core.evaluators.remote import find_apart
from core.evaluators.weights.catalogue import NO_PREFIX, PRECISIONS, PrecisionPlan
from core.evaluators.weights.fetched import Published, checked_label, kept
from core.registry import Catalogue, discover, is_apart, load_object, names_code

CHECKPOINT = "@"  # between a name and the checkpoint that it is to run: ``clipscore@/path/to/file.pt``


_KIND = "an Evaluator class marked with @evaluator(...) or a function of (images, captions) or (image, caption)"
_OFFERED: dict[str, type[Evaluator]] = {}  # by name, those of this process alone, as a notebook defines them
_OF_FILES: dict[str, str] = {}  # by the name that a run stored their scores under; see :func:`know`
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


def catalogue() -> Catalogue[type[Evaluator]]:
    """Every registered evaluator class of this machine, loaded or not. Last come the user's own checkpoints and the
    evaluators made on demand whose weights were fetched, and what this process offered itself."""
    found = _registered()
    usable = {}
    for name, path in kept().items():
        base, at, label = name.partition(CHECKPOINT)
        with suppress(InvariscopeError):  # of an evaluator that is not known any more
            kind = _made(base) if ":" in base else _discovered().get(base) if at else None
            if kind is not None and issubclass(kind, Published):
                usable[name] = _bound(kind, path, label) if at else kind
    if not usable:
        return found
    return Catalogue(found.kind, MappingProxyType({**found.entries, **usable}), found.broken)


@cache
def families() -> Catalogue[Family]:
    """Every family whose evaluators are made on demand."""
    return discover(
        "family of evaluators",
        package="core.evaluators.metrics",
        group="invariscope.evaluators",
        accept=lambda value: [(value.prefix, value)] if isinstance(value, Family) else [],
    )


def find(reference: str) -> type[Evaluator]:
    """Return an evaluator class.
    ``reference``: a registered name; ``path/to/file.py:Name``, or the file alone where it defines one metric;
    ``path/to/calibrator.json``; ``family:argument`` such as ``open_clip:ViT-B-32/laion2b_s34b_b79k``; a name or a
    family's with ``@path`` of a checkpoint to run instead of the publisher's, or ``@label`` of one that the user keeps
    in the list; either with ``:no-prefix`` behind the name, for captions without the publisher's words before them, and
    with ``:bf16``, ``:fp16`` or ``:fp32`` behind that, for other numbers than the publisher's; each makes another
    evaluator.
    Raises UnknownName if no evaluator has that name; InvalidInput if the path, or what it has, is not an evaluator or a
    calibrator, or the name is one of imported scores."""
    if is_imported(reference):
        raise refuse(reference)
    reference = _OF_FILES.get(reference, reference)
    if (prefix := reference.partition(":")[0]) != reference and prefix in families() and families().get(prefix).whole:
        return _made(reference)
    if reference.endswith(".json"):
        model = read_calibrator(ordinary(Path(reference)))
        if is_imported(model.evaluator):
            raise refuse(model.evaluator)
        return calibrated(model, catalogue().get(model.evaluator))  # a file names no other file: it cannot name code
    if names_code(reference) or reference.endswith(".py"):
        code = the_metric(reference)
        ordinary(Path(code.rpartition(":")[0]))
        if is_apart():
            return find_apart(code)
        found = load_object(code, among=lambda value: _is_evaluator(value) or is_metric(value), kind=_KIND)
        return from_function(found) if is_metric(found) else cast("type[Evaluator]", found)
    name, at, checkpoint = reference.partition(CHECKPOINT)
    if at and reference in kept():
        return catalogue().get(reference)
    name, low = _split(name, PRECISIONS)
    name, bare = _split(name, (NO_PREFIX,))
    kind = _made(name) if ":" in name else _registered().get(name)
    kind = _without_prefix(kind) if bare else kind
    kind = _with_precision(kind, low) if low else kind
    return _with_checkpoint(kind, ordinary(Path(checkpoint))) if at else kind


def know(name: str, reference: str) -> None:
    """Let a name stand for an evaluator of a file in this process; nothing is imported or described yet.
    ``name``: as a run stored its scores; that of a registered evaluator stays that evaluator's.
    ``reference``: ``path/to/file.py:Name``, absolute."""
    if name not in catalogue():
        _OF_FILES[name] = reference


def is_known(name: str) -> bool:
    """Whether a name that is only read somewhere, as from a run, is of an evaluator that this machine has by itself. To
    :func:`find`, a name may be a path, of code too: what a stranger can write is asked here before."""
    base, _, low = name.rpartition(":")
    known = catalogue()
    return name not in _OF_FILES and (name in known or (low in PRECISIONS and base in known))


def names_file(reference: str) -> bool:
    """Whether :func:`find` would look for a file: of code, of a calibrator, or a checkpoint by path."""
    return (
        reference.endswith((".json", ".py"))
        or ".toml" in reference
        or names_code(reference)
        or "/" in reference.partition(CHECKPOINT)[2]
    )


def is_offered(reference: str) -> bool:
    """Whether an evaluator is known in this process alone, by :func:`offer`."""
    return reference in _OFFERED


def offer(given: Any) -> str:
    """Make an evaluator known by its name in this process alone; one of before with that name is forgotten.
    ``given``: a class marked with ``@evaluator(...)``, or a function of (image, caption). One that an installed package
    offers is known already. Returns its name, for :func:`find`.
    Raises InvalidInput if it is no such class, or its name cannot be a reference or is another evaluator's."""
    kind = from_function(given) if is_metric(given) else given
    if not _is_evaluator(kind):
        raise InvalidInput(f"{kind.__name__!r} is not {_KIND}")
    name = kind.spec.name
    if not _NAME.fullmatch(name) or name.endswith((".py", ".json")):
        why = f"an evaluator's name has letters, digits and . _ + -, got {name!r}; give {kind.__name__} one"
        raise InvalidInput(why)
    known = _discovered().entries.get(name)
    if known is None:
        _OFFERED[name] = kind
    elif known is not kind:
        raise InvalidInput(f"an evaluator named {name!r} is installed; give {kind.__name__} another name")
    return name


@contextmanager
def offered(kinds: Iterable[type[Evaluator]]) -> Iterator[None]:
    """Make evaluators known as :func:`offer` does, until the ``with`` block ends."""
    names = [offer(kind) for kind in kinds]
    try:
        yield
    finally:
        for name in names:
            _OFFERED.pop(name, None)


def _registered() -> Catalogue[type[Evaluator]]:
    found = _discovered()
    if not _OFFERED:
        return found
    return Catalogue(found.kind, MappingProxyType({**found.entries, **_OFFERED}), found.broken)


@cache
def _discovered() -> Catalogue[type[Evaluator]]:
    return discover(
        "evaluator",
        package="core.evaluators.metrics",
        group="invariscope.evaluators",
        accept=lambda value: [(value.spec.name, value)] if _is_evaluator(value) else [],
    )


def _made(reference: str) -> type[Evaluator]:
    prefix, _, argument = reference.partition(":")
    if prefix not in families():
        forms = "; ".join(each.form for each in families())
        raise InvalidInput(f"{reference!r} is neither path/to/file.py:Name nor one of: {forms}")
    return families().get(prefix).make(argument)


def _split(name: str, ways: Iterable[str]) -> tuple[str, str]:
    """Split a way to run an evaluator off its name; empty where it ends in none of these."""
    base, _, way = name.rpartition(":")
    return (base, way) if base and way in ways else (name, "")


@lru_cache(maxsize=64)
def _without_prefix(kind: type[Evaluator]) -> type[Evaluator]:
    """The evaluator that reads the caption alone; another one, since its publisher's reads words before it."""
    if not issubclass(kind, Published) or not kind.entry.settings.get("prefix"):
        raise InvalidInput(f"evaluator {kind.spec.name!r} has no prefix; leave the :{NO_PREFIX} out")
    settings = {**kind.entry.settings, "prefix": ""}
    return _variant(kind, NO_PREFIX, "no prefix", {"settings": settings})


@lru_cache(maxsize=64)
def _with_precision(kind: type[Evaluator], low: str) -> type[Evaluator]:
    """The evaluator in another precision: never a faster same one, hence under its own name."""
    if not issubclass(kind, Published) or not kind.any_precision:
        raise InvalidInput(f"evaluator {kind.spec.name!r} has one precision; leave the :{low} out")
    plan = PrecisionPlan(cpu=PRECISIONS[low], gpu=PRECISIONS[low])
    return _variant(kind, low, low, {"precision": plan})


def _variant(kind: type[Published], way: str, title: str, update: Mapping[str, Any]) -> type[Evaluator]:
    spec = replace(kind.spec, name=f"{kind.spec.name}:{way}", title=f"{kind.spec.title}, {title}")
    told = {"entry": kind.entry.model_copy(update=dict(update)), "spec": spec, "__doc__": kind.__doc__}
    return type(kind.__name__, (kind,), told)


def _with_checkpoint(kind: type[Evaluator], path: Path) -> type[Evaluator]:
    if not issubclass(kind, Published):
        raise InvalidInput(f"evaluator {kind.spec.name!r} runs no checkpoint of your own; leave the @ out")
    if not str(path).strip(".") or not path.exists():
        raise InvalidInput(f"no checkpoint {str(path)!r} for {kind.spec.name}; give {kind.spec.name}@PATH of a file")
    return _bound(kind, path.absolute(), checked_label(path.stem.replace(" ", "-")))


@lru_cache(maxsize=64)
def _bound(kind: type[Published], path: Path, label: str) -> type[Published]:
    spec = replace(kind.spec, name=f"{kind.spec.name}{CHECKPOINT}{label}", title=f"{kind.spec.title}, {label}")
    return type(kind.__name__, (kind,), {"at": path, "spec": spec, "__doc__": kind.__doc__})


def _is_evaluator(value: object) -> TypeGuard[type[Evaluator]]:
    return (
        inspect.isclass(value)
        and issubclass(value, Evaluator)
        and "spec" in vars(value)
        and not inspect.isabstract(value)
    )

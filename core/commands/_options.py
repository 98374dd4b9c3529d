"""Options of an audit, as :class:`core.audit.request.AuditRequest` has them: at once, as a job, for pairs elsewhere."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer

from core.audit.request import AuditRequest
from core.commands._shared import key_values, listed, references

_FIELDS = MappingProxyType({"option": "options", "language": "languages"})
"""Option -> field, where one has another name."""

_LISTS = ("option", "probes", "evaluators", "language")
_PATHS = ("root", "idf")


def asks(options: str, **changed: Mapping[str, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of an audit; it is told them as ``asked``: option -> value.

    ``options`` names all of the command's in their order, those that it declares itself and the request's; ``changed``
    is what is another here of one of the request's: default, help or min.
    """

    def wrap(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command).parameters
        shared = [name for name in options.split() if name not in own]

        @wraps(command)
        def called(**given: Any) -> None:
            asked = {name: given.pop(name) for name in shared}
            command(**given, asked=asked)

        order = [own["ctx"]] if "ctx" in own else []
        order += [own[name] if name in own else _option(name, **changed.get(name, {})) for name in options.split()]
        by_name = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in order]
        called.__signature__ = inspect.Signature(by_name)  # type: ignore[attr-defined]
        called.__annotations__ = {each.name: each.annotation for each in order}
        return called

    return wrap


def request(asked: Mapping[str, Any], **usual: Any) -> AuditRequest:
    """What was asked, as a request; ``usual``: fields where nothing is asked of them. Raises InvalidInput for what
    cannot be used."""
    return AuditRequest.of(**{**usual, **fields(asked)})


def fields(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a request that options say something of."""
    read = {"option": key_values, "evaluators": references, "probes": listed, "language": listed}
    found = {_FIELDS.get(name, name): read[name](value) if name in read else value for name, value in asked.items()}
    return {name: value for name, value in found.items() if value not in (None, (), {})}


def _option(name: str, **changed: Any) -> inspect.Parameter:
    field = AuditRequest.model_fields[_FIELDS.get(name, name)]
    kind: Any = list[str] | None if name in _LISTS else Path | None if name in _PATHS else field.annotation
    least = next((each.ge for each in field.metadata if hasattr(each, "ge")), None)
    default = changed.pop("default", None if name in _LISTS else field.default)
    told = {"help": field.description, **({} if least is None else {"min": least}), **changed}
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, typer.Option(**told)]
    )

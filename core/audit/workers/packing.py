"""What goes from one process of an audit to another, as bytes."""

import io
import pickle
from types import MappingProxyType
from typing import Any

from core.errors import InvalidInput
from core.probes.base import Probe
from core.probes.registry import bring, brought_from, catalogue


def packed(value: Any) -> bytes:
    """Pickle what goes to a worker; a probe goes by its name, one of a file by the file's.

    Raises:
        InvalidInput: for a probe that a worker could not find.
    """
    made = io.BytesIO()
    _Packer(made, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return made.getvalue()


class _Packer(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, MappingProxyType):
            return _read_only, (dict(value),)
        if not isinstance(value, Probe):
            return NotImplemented
        if reference := brought_from(value.name):
            return _of_file, (reference, value.name)
        if value.name not in catalogue() or catalogue().get(value.name) != value:
            raise InvalidInput(f"probe {value.name!r} is known in this process alone; run the audit with one worker")
        return _probe, (value.name,)


def _read_only(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


def _probe(name: str) -> Probe:
    return catalogue().get(name)


def _of_file(reference: str, name: str) -> Probe:
    return next(probe for probe in bring(reference) if probe.name == name)

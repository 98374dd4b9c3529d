"""Probes by name: a module-level Probe, or a tuple of them, is found by :func:`catalogue`."""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

from core.corpora.ordinary_paths import ordinary
from core.errors import InvalidInput, NotAvailable
from core.probes.base import BASE_CAPTION, IDENTITY, LENGTH_MATCHED, Edits, Expectation, Probe
from core.probes.words.taggers import unavailable
from core.registry import Catalogue, absolute_code, discover, load_object, names_code

DEFAULT = "default"  # selects the paper's grid

DIRECTIONAL = "directional"
"""Selects every probe that asks for a drop or for a response; its further readings and sweeps aside."""

_BROUGHT: dict[str, tuple[Probe, str]] = {}
"""Probes of files that this process was told to use, by name, each with its reference."""


def catalogue() -> Catalogue[Probe]:
    """Every probe of this machine, in a stable order; last come those of files that this process was told to use."""
    found = _registered()
    if not _BROUGHT:
        return found
    brought = {name: probe for name, (probe, _) in _BROUGHT.items()}
    return Catalogue(found.kind, MappingProxyType({**found.entries, **brought}), found.broken)


def bring(reference: str) -> tuple[Probe, ...]:
    """Make the probes of ``path/to/file.py:Name`` known by their names in this process; a user named the file.
    Raises InvalidInput if the file, or what it has, is no probe, or a probe's name is another's."""
    ordinary(Path(reference.rpartition(":")[0]))
    kind = "a probe marked with @probe(...), or a tuple of such"
    found = [probe for _, probe in _probes(load_object(reference, among=lambda value: bool(_probes(value)), kind=kind))]
    path = absolute_code(reference)
    for probe in found:
        if probe.name in _registered() or _BROUGHT.get(probe.name, (probe, path))[1] != path:
            raise InvalidInput(f"{reference} holds a probe {probe.name!r}, and another one has that name; rename it")
        _BROUGHT[probe.name] = (probe, path)
    further_readings.cache_clear()
    return tuple(found)


def brought_from(name: str) -> str:
    """Reference of the file that a probe of this process came from; empty where it is registered."""
    return _BROUGHT[name][1] if name in _BROUGHT else ""


@cache
def _registered() -> Catalogue[Probe]:
    return discover("probe", package="core.probes.families", group="invariscope.probes", accept=_probes)


def select(patterns: Iterable[str]) -> tuple[Probe, ...]:
    """Return the probes that names, families or axes select, each once, in catalogue order.
    ``patterns``: probe names (``vflip``), families (``rotation``), axes (``spatial``), ``default``, ``directional``,
    ``all``, the word of a set that only it selects (``lexical-sweep``), or ``path/to/file.py:Name``.
    Raises UnknownName for a pattern that selects nothing; InvalidInput for none at all, or a file that holds none."""
    asked = list(patterns)
    wanted = {probe.name for pattern in asked if names_code(pattern) for probe in bring(pattern)}
    known = catalogue()
    for pattern in (each for each in asked if not names_code(each)):
        matched = {probe.name for probe in known if _selects(pattern, probe)}
        wanted |= matched or {known.get(pattern).name}
    if not wanted:
        raise InvalidInput("no probe is selected; name a probe, a family, an axis, 'default', 'directional' or 'all'")
    return tuple(probe for probe in known if probe.name in wanted)


@cache
def further_readings() -> frozenset[str]:
    """Probes of a family that are another reading of its edit, or a point of a sweep: they are no headline.
    A further draw of the headline edit is one: what it says counts with the first."""
    return frozenset(probe.name for probe in catalogue() if probe.selector and not probe.redrawn)


def with_baselines(probes: Sequence[Probe]) -> tuple[Probe, ...]:
    """Return the probes with those that they are compared with, in catalogue order.
    Raises InvalidInput if a family has no neutral control to compare with."""
    known = catalogue()
    wanted = {probe.name: probe for probe in probes}
    queue = list(probes)
    while queue:
        probe = queue.pop()
        if probe.baseline == IDENTITY:
            continue
        if probe.baseline == LENGTH_MATCHED:
            needed = [each for each in known if each.family == probe.family and each.control]
            if not needed:
                raise InvalidInput(f"probe {probe.name!r} needs a neutral control in family {probe.family!r}; add one")
        else:
            needed = [known.get(BASE_CAPTION if probe.baseline == BASE_CAPTION else probe.baseline)]
        for each in needed:
            lacking = [name for name in probe.subjects if name not in each.subjects]
            if lacking and each.edits is Edits.CAPTION:
                told = f"edits the subject {lacking[0]!r} and its baseline {each.name!r} does not"
                cure = "so it would have nothing to be compared with; give both the same subjects"
                raise InvalidInput(f"probe {probe.name!r} {told}, {cure}")
            if each.name not in wanted:
                wanted[each.name] = each
                queue.append(each)
    order = {name: rank for rank, name in enumerate(known.names())}
    return tuple(sorted(wanted.values(), key=lambda probe: order.get(probe.name, len(order))))


def with_taggers(probes: Sequence[Probe], patterns: Sequence[str]) -> tuple[tuple[Probe, ...], tuple[str, ...]]:
    """Return the probes whose tagger is here, and a sentence on those that a wide choice is left without.
    ``patterns``: as of :func:`select`; ``all`` alone chooses widely.
    Raises NotAvailable for a probe that was chosen by its name or its family's."""
    lacking = {name: unavailable(name) for name in dict.fromkeys(probe.tagger for probe in probes if probe.tagger)}
    gone = [probe for probe in probes if lacking.get(probe.tagger)]
    for probe in gone:
        if {probe.name, probe.selector} & set(patterns):
            raise NotAvailable(f"probe {probe.name!r} cannot be made: {lacking[probe.tagger]}")
    said = tuple(
        f"{sum(probe.tagger == name for probe in gone)} probes are left out: {why}"
        for name, why in lacking.items()
        if why
    )
    return tuple(probe for probe in probes if probe not in gone), said


def _selects(pattern: str, probe: Probe) -> bool:
    if pattern in (probe.name, "all", probe.selector or probe.name):
        return True
    if pattern == DEFAULT:
        return probe.default
    if probe.selector:
        return False
    asks = probe.expectation is not Expectation.INVARIANT
    return pattern in (probe.family, probe.axis.value) or (pattern == DIRECTIONAL and asks)


def _probes(value: object) -> list[tuple[str, Probe]]:
    values = value if isinstance(value, tuple) else (value,)
    return [(each.name, each) for each in values if isinstance(each, Probe)]

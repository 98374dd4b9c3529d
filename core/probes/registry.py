"""Probes by name: a module-level Probe, or a tuple of them, is found by :func:`catalogue`."""

from collections.abc import Iterable
from functools import cache

from core.errors import InvalidInput
from core.probes.base import Probe
from core.registry import Catalogue, discover


@cache
def catalogue() -> Catalogue[Probe]:
    """Every probe of this machine, in a stable order."""
    return discover("probe", package="core.probes", group="invariscope.probes", accept=_probes)


def select(patterns: Iterable[str]) -> tuple[Probe, ...]:
    """Return the probes that names, families or axes select, each once, in catalogue order.

    Args:
        patterns: probe names (``vflip``), families (``rotation``), axes (``spatial``), ``default`` or ``all``.

    Raises:
        UnknownName: for a pattern that selects nothing.
    """
    known = catalogue()
    wanted: set[str] = set()
    for pattern in patterns:
        matched = {probe.name for probe in known if _selects(pattern, probe)}
        wanted |= matched or {known.get(pattern).name}
    if not wanted:
        raise InvalidInput("no probe is selected; name a probe, a family, an axis, 'default' or 'all'")
    return tuple(probe for probe in known if probe.name in wanted)


def _selects(pattern: str, probe: Probe) -> bool:
    return pattern in (probe.name, probe.family, probe.axis.value, "all") or (pattern == "default" and probe.default)


def _probes(value: object) -> list[tuple[str, Probe]]:
    values = value if isinstance(value, tuple) else (value,)
    return [(each.name, each) for each in values if isinstance(each, Probe)]

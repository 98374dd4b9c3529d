"""Points of a sweep by their names: ``rotation:degrees5`` is the edit ``rotation`` at a strength of 5 degrees."""

import re
from collections.abc import Iterable, Mapping

LEAST = 3
"""Points that make a curve."""

_POINT = re.compile(r"^(?P<family>[a-z-]+):(?P<fact>[a-z]+)(?P<strength>\d+(?:\.\d+)?)$")

UNITS: Mapping[str, tuple[str, str]] = {
    "degrees": ("angle", "°"),
    "sigma": ("standard deviation of the blur", " px"),
    "offset": ("way, of the width", " %"),
    "zoom": ("enlargement", " %"),
    "brightness": ("change of the brightness", " %"),
    "quality": ("quality of the JPEG", ""),
}
"""Fact of a strength -> what it counts, and its unit."""


def measured_in(fact: str) -> tuple[str, str]:
    """What a strength counts, and its unit as it stands after the number; its own name and none where it is unknown."""
    return UNITS.get(fact, (fact, ""))


FALLING = ("quality",)
"""Strengths that do more the smaller they are."""


def sweeps_among(names: Iterable[str]) -> dict[tuple[str, str], dict[float, str]]:
    """(family, fact) -> strength -> its probe, from the least effect on, of sweeps with LEAST points or more.

    Example:
        >>> sweeps_among(["zoom:zoom5", "vflip", "zoom:zoom1", "zoom:zoom10"])
        {('zoom', 'zoom'): {1.0: 'zoom:zoom1', 5.0: 'zoom:zoom5', 10.0: 'zoom:zoom10'}}
    """
    found: dict[tuple[str, str], dict[float, str]] = {}
    for name in names:
        if told := _POINT.match(name):
            found.setdefault((told["family"], told["fact"]), {})[float(told["strength"])] = name
    return {
        key: dict(sorted(own.items(), reverse=key[1] in FALLING))
        for key, own in sorted(found.items())
        if len(own) >= LEAST
    }

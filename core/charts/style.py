"""What every figure shares: colours that hold on a light and on a dark page, and how changes are written."""

import math
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

PALETTE = ("#0079BD", "#C47A00", "#00936B", "#C0609A", "#D55E00", "#3D93C8", "#8A8200", "#7A7F87")
"""Okabe and Ito's colours, each moved in lightness until its contrast is at least 3:1 on both backgrounds.

Source: Okabe and Ito (2008), Color Universal Design; WCAG 2.2, 1.4.11.
"""

NEUTRAL = "#7A7F87"
GRID = "rgba(122,127,135,0.25)"
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "pentagon", "triangle-down")

AROUND = ("#E3A548", "#F6F5F2", "#6CB0DE")
"""Colours of a map on both sides of zero."""

UPWARD = ("#F7FAFC", "#A9D0EC", "#4FA0D6")
"""Colours of a map from its least to its largest value."""

INK = "#17202A"
"""Of what is written on a map or on paper: on any of a map's colours at least 5.5:1."""

AROUND_DARK = ("#8A5600", "#1E2630", "#1F5F94")
UPWARD_DARK = ("#16202B", "#1B4468", "#1F659E")
"""A map's colours on a dark page: what is least lies closest to the page there too."""

CHALK = "#F2F5F8"
"""Of what is written on a map of a dark page: on any of its colours at least 5.5:1."""

FAINT = 0.2
"""Opacity of a band, and of a mark that is drawn open."""


_FIXED: Mapping[str, tuple[int, int]] = {
    name: (row, column)
    for row, names in enumerate(
        (
            "conse-lite0 siglip pac-s++ emscore protoscore",
            "conse-lite2 vqascore refclipscore pac-s-l14 siglip2",
            "grounding-judge judge refpac-s refemscore vqascore-xl",
            "conse-multilingual umic pac-s++-l14 mcs judge-protoscore",
            "offline-ensemble pac-s refpac-s++ reffleur vqascore-qwen pac-s++-video",
            "clipscore refpac-s-l14 pr-mcs protoscore-base",
            "blind-typicality fleur refpac-s++-l14 judge-local",
            "blind-length pickscore fleur-7b refpac-s++-video",
        )
    )
    for column, name in enumerate(names.split())
}
"""Evaluator that comes with Invariscope -> its place in the palette and among those of one colour, whoever stands
beside it; those that are often seen together differ."""


def colours(names: Iterable[str]) -> dict[str, str]:
    """Give each name a colour: evaluators that come with Invariscope their own, others one that depends on the name
    first, and differs from the others' while colours last.

    Example:
        >>> colours(["conse-lite0"]) == {"conse-lite0": colours(["conse-lite0", "judge"])["conse-lite0"]}
        True
    """
    return _given(names, PALETTE, {name: row for name, (row, _) in _FIXED.items()})


def symbols(names: Iterable[str]) -> dict[str, str]:
    """Give each name a marker, by the rule of :func:`colours`; two evaluators of one colour have different ones.

    Example:
        >>> symbols(["conse-lite0", "conse-lite2"]), symbols(["conse-lite2"])
        ({'conse-lite0': 'circle', 'conse-lite2': 'square'}, {'conse-lite2': 'square'})
    """
    return _given(names, SYMBOLS, {name: (row + column) % len(SYMBOLS) for name, (row, column) in _FIXED.items()})


def _given(names: Iterable[str], looks: Sequence[str], fixed: Mapping[str, int]) -> dict[str, str]:
    different = sorted(set(names))
    given = {name: looks[fixed[name]] for name in different if name in fixed}
    for name in (each for each in different if each not in given):
        start = sha256(name.encode()).digest()[0] % len(looks)
        order = [looks[(start + step) % len(looks)] for step in range(len(looks))]
        free = [look for look in order if look not in given.values()]
        given[name] = (free or order)[0]
    return given


def faded(colour: str, alpha: float) -> str:
    """Return ``#rrggbb`` as an rgba colour; alpha in [0, 1]."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


def signed(value: float | None, *, digits: int = 1, unit: str = " %") -> str:
    """Write a change with its sign, or a dash where there is none.

    Example:
        >>> signed(-2.34), signed(None), signed(0.0)
        ('−2.3 %', '—', '0.0 %')
    """
    if value is None or math.isnan(value):
        return "—"
    text = f"{abs(value):.{digits}f}"
    sign = "" if float(text) == 0 else "+" if value > 0 else "−"
    return f"{sign}{text}{unit}"


def counted(count: float, one: str = "item") -> str:
    """How many items, or other things, a mark is of, in words: ``counted(1) == "1 item"``."""
    return f"{count:,.0f} {one if count == 1 else f'{one}s'}"


def plain(text: str) -> str:
    """Escape what plotly would read as markup in labels and hovers."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

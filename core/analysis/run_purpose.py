"""What a run tests, in a few plain words, from the probes that its manifest names."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from core.probes.titles import family_title, sweeps_among

SHOWN = 2  # Kinds of edits that are named; the rest is counted

_KINDS = {"invariant": "Harmless edits", "directional": "Broken meanings", "response": "True captions compared"}
"""Expectation of a probe -> what its edits are."""

_EDITED = {("image",): "of pictures", ("caption",): "of captions", ("caption", "image"): "of pictures and captions"}


def purpose(manifest: Mapping[str, Any]) -> str:
    """Say what a run tests: of what most of its probes are first, invisible edits and unedited baselines aside.

    Args:
        manifest: of the run; its probes are dictionaries with name, axis, family, expectation and edits.

    Returns:
        Such as ``Harmless edits of pictures at several strengths: Moved over a grid, Turned and 7 more``; empty where
        the manifest names no probe.
    """
    listed = manifest.get("probes")
    probes = [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
    told = [each for each in probes if each.get("axis") != "null" and each.get("family") not in ("base", "identity")]
    groups = {kind: [each for each in told if each.get("expectation") == kind] for kind in _KINDS}
    largest = sorted((kind for kind in _KINDS if groups[kind]), key=lambda kind: -len(groups[kind]))
    if not largest:
        return "Invisible edits alone" if any(each.get("axis") == "null" for each in probes) else ""
    first, *others = largest
    more = "".join(f"; {_KINDS[kind].lower()}" for kind in others if kind != "response")
    return f"{_group(_KINDS[first], groups[first])}{more}"


def _group(said: str, probes: Sequence[Mapping[str, Any]]) -> str:
    edited = tuple(sorted({str(each.get("edits")) for each in probes} & {"image", "caption"}))
    of = f" {_EDITED[edited]}" if edited in _EDITED and said == "Harmless edits" else ""
    swept = " at several strengths" if sweeps_among(str(each.get("name")) for each in probes) else ""
    families = [family_title(str(name)) for name, _ in Counter(each.get("family") for each in probes).most_common()]
    names = families[: SHOWN + 1] if len(families) == SHOWN + 1 else families[:SHOWN]
    rest = f" and {len(families) - len(names)} more" if len(families) > len(names) else ""
    return f"{said}{of}{swept}: {', '.join(names)}{rest}"

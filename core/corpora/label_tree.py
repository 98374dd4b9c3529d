"""Open Images' hierarchy of labels: which label is more general than another, and which names a part of it.

Layout of ``bbox_labels_600_hierarchy.json``: ``{"LabelName": "/m/0bl9f", "Subcategory": [{"LabelName": …,
"Subcategory": […], "Part": […]}, …]}``; a label may stand in several places.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from core.corpora.files import read_json
from core.errors import BadCorpus

KINDS, PARTS = "Subcategory", "Part"

_Edges = list[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class LabelTree:
    """Labels by their codes.

    Args:
        above: a label -> every label that is more general.
        wholes: a label -> every label of a thing that it names a part of, kinds of that thing not spelled out.
    """

    above: Mapping[str, frozenset[str]]
    wholes: Mapping[str, frozenset[str]]

    def more_general(self, label: str, other: str) -> bool:
        """Whether ``label`` is more general than ``other``, e.g. Person than Man."""
        return label in self.above.get(other, frozenset())

    def part_of(self, label: str, other: str) -> bool:
        """Whether ``label`` names a part of ``other``, e.g. Human face of Man: of it, or of what it is a kind of."""
        kinds = self.above.get(other, frozenset()) | {other}
        return bool(self.wholes.get(label, frozenset()) & kinds)


def read_label_tree(path: Path) -> LabelTree:
    """Read a hierarchy.

    Raises:
        BadCorpus: if the file is malformed, or a label is more general than itself; names the labels of the cycle.
    """
    held = read_json(path)
    if not isinstance(held, dict) or not isinstance(held.get("LabelName"), str):
        raise BadCorpus(f"{path} must hold an object with LabelName and {KINDS}; give the publisher's hierarchy")
    edges: _Edges = []
    try:
        edges.extend(_edges(held, path))
    except RecursionError as error:
        raise BadCorpus(f"{path} is nested too deeply; give the publisher's hierarchy") from error
    top = held["LabelName"]
    parents: dict[str, set[str]] = {}
    whole: dict[str, set[str]] = {}
    for parent, child, how in edges:
        into = parents if how == KINDS else whole
        into.setdefault(child, set()).update({parent} - {top})  # everything is a kind, or a part, of the top
    return LabelTree(_ancestors(parents, path), {label: frozenset(found) for label, found in whole.items() if found})


def _edges(node: dict[str, Any], path: Path) -> Iterator[tuple[str, str, str]]:
    for how in (KINDS, PARTS):
        below = node.get(how, [])
        if not isinstance(below, list):
            raise BadCorpus(f"{path}: {how} of {node['LabelName']!r} must be a list, got {type(below).__name__}")
        for child in below:
            if not isinstance(child, dict) or not isinstance(child.get("LabelName"), str):
                raise BadCorpus(f"{path}: an entry below {node['LabelName']!r} has no LabelName, got {str(child)[:60]}")
            yield node["LabelName"], child["LabelName"], how
            yield from _edges(child, path)


def _ancestors(parents: Mapping[str, set[str]], path: Path) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    try:
        for label in TopologicalSorter(parents).static_order():
            direct = parents.get(label, set())
            found[label] = frozenset(direct).union(*(found[each] for each in direct))
    except CycleError as error:
        raise BadCorpus(f"{path} has a cycle: {' is above '.join(error.args[1])}; restore the file") from error
    return found

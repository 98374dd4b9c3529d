"""The lists that quadruples are made from: pairs of kinds, things beside them, and which knob is turned how."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from core.corpora.demo_build.plan import rows_of
from core.errors import BadCorpus

KNOBS: Mapping[str, tuple[str, ...]] = {
    "count": ("1", "2", "3", "4"),
    "color": ("red", "green", "blue", "yellow"),
    "layout_relation": ("left", "right"),
    "spatial": ("foreground", "background"),
    "scale_size": ("shorter", "taller"),
}
"""Knob -> what it can be turned to. Source: paper E, prompt templates of Tables 3 and 5."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A non-prototypical and a prototypical kind of one hypernym, each with the stamp that shows it.

    Args:
        source: where the pair is from.
    """

    hypernym: str
    subcategory: str
    domain: str
    nonproto: str
    nonproto_stamp: str
    proto: str
    proto_stamp: str
    source: str


@dataclass(frozen=True, slots=True)
class Auxiliary:
    """A thing beside the main one, whose knob is turned."""

    stamp: str
    label: str
    plural: str


@dataclass(frozen=True, slots=True)
class Quadruple:
    """One item: a pair, a thing beside it, and the knob's right and wrong value."""

    id: str
    pair: Pair
    knob: str
    auxiliary: Auxiliary
    right: str
    wrong: str
    background: str


def read_quadruples(prototypes: Path, folder: Path) -> tuple[Quadruple, ...]:
    """Read the pairs, ``auxiliaries.csv`` and ``quadruples.csv``.

    Args:
        prototypes: file of the pairs.
        folder: of the other lists.

    Raises:
        BadCorpus: naming the file, the line and the value that cannot be used.
    """
    pairs = {}
    for _, row in rows_of(prototypes, tuple(field.name for field in fields(Pair))):
        pair = Pair(**row)
        pairs[pair.nonproto_stamp, pair.proto_stamp] = pair
    auxiliaries = {
        row["stamp"]: Auxiliary(**row) for _, row in rows_of(folder / "auxiliaries.csv", ("stamp", "label", "plural"))
    }
    columns = ("id", "nonproto_stamp", "proto_stamp", "knob", "auxiliary", "right", "wrong", "background")
    lines = rows_of(folder / "quadruples.csv", columns)
    return tuple(_quadruple(row, where, pairs, auxiliaries) for where, row in lines)


def _quadruple(
    row: Mapping[str, str], where: str, pairs: Mapping[tuple[str, str], Pair], auxiliaries: Mapping[str, Auxiliary]
) -> Quadruple:
    pair = pairs.get((row["nonproto_stamp"], row["proto_stamp"]))
    if pair is None:
        raise BadCorpus(f"{where}: no pair of prototypes.csv has stamps {row['nonproto_stamp']}, {row['proto_stamp']}")
    if row["auxiliary"] not in auxiliaries:
        raise BadCorpus(f"{where}: auxiliaries.csv has no stamp {row['auxiliary']!r}; add it with label and plural")
    values = KNOBS.get(row["knob"])
    if values is None:
        raise BadCorpus(f"{where}: {row['knob']!r} must be one of {', '.join(KNOBS)}")
    if not {row["right"], row["wrong"]} <= set(values) or row["right"] == row["wrong"]:
        raise BadCorpus(
            f"{where}: right and wrong must be two of {', '.join(values)}, got {row['right']}, {row['wrong']}"
        )
    return Quadruple(
        row["id"], pair, row["knob"], auxiliaries[row["auxiliary"]], row["right"], row["wrong"], row["background"]
    )

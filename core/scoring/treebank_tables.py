"""The automaton of the Penn Treebank tokenizer that captioning papers run, read from the jar that pycocoevalcap brings.

The tokenizer is a scanner that JFlex made: tables of states in one Java class, and a few lines for each rule. The
tables are constants of that class, so they can be read without Java; :mod:`core.scoring.treebank` walks them.

References:
    [1] The Java Virtual Machine Specification, chapter 4: the class file format.
    [2] JFlex, user's manual, section on the code generator: tables are packed as runs (count, value) in strings.
"""

import hashlib
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import numpy as np

from core.errors import InvalidInput

JAR = "pycocoevalcap/tokenizer/stanford-corenlp-3.4.1.jar"
_SCANNER = "edu/stanford/nlp/process/PTBLexer.class"
_SHA256 = "715fdfb3652cc6796f90f28442378a0c71c92b5909f1fc934f698497987b6dd0"
_DEAD = -1
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 18: 4}
"""Bytes behind the tag of an entry of the constant pool [1, table 4.4-A]."""
_TEXT, _WIDE, _STRING = 1, (5, 6), 8


@dataclass(frozen=True, slots=True)
class Automaton:
    """A finite automaton over UTF-16 code units.

    Args:
        classes: class of each of the 65,536 code units.
        rows: by state, the state that follows by class; -1 where none does.
        accepts: by state, whether a token may end there.
        stops: by state, whether no longer token can follow.
        actions: by state that accepts, the number of its rule.
    """

    classes: list[int]
    rows: list[list[int]]
    accepts: list[bool]
    stops: list[bool]
    actions: list[int]


@cache
def automaton() -> Automaton:
    """Read the tables.

    Raises:
        InvalidInput: if the class in the jar is not the one whose rules are known here.
    """
    path = Path(str(distribution("pycocoevalcap").locate_file(JAR)))
    with zipfile.ZipFile(path) as jar:
        data = jar.read(_SCANNER)
    if hashlib.sha256(data).hexdigest() != _SHA256:
        raise InvalidInput(f"{path}: {_SCANNER} is not CoreNLP 3.4.1's; install the pycocoevalcap of requirements.txt")
    packed = _constants(data)
    classes = _runs(packed["ZZ_CMAP_PACKED"])
    # ZZ_TRANS stores a state plus one, so that 0 is none
    steps = np.concatenate([_runs(packed[name]) for name in sorted(packed) if name.startswith("ZZ_TRANS")]) + _DEAD
    starts = _units(packed["ZZ_ROWMAP_PACKED_0"]).reshape(-1, 2) @ [1 << 16, 1]
    width = int(classes.max()) + 1
    shared = {start: steps[start : start + width].tolist() for start in np.unique(starts).tolist()}
    marks = _runs(packed["ZZ_ATTRIBUTE_PACKED_0"])
    return Automaton(
        classes.tolist(),
        [shared[start] for start in starts.tolist()],
        (marks & 1 > 0).tolist(),
        (marks & 8 > 0).tolist(),
        _runs(packed["ZZ_ACTION_PACKED_0"]).tolist(),
    )


def _units(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2").astype(np.int64)


def _runs(text: str) -> np.ndarray:
    """Values of a string of runs."""
    pairs = _units(text).reshape(-1, 2)
    return np.repeat(pairs[:, 1], pairs[:, 0])


def _constants(data: bytes) -> dict[str, str]:
    """Text constants of a class, by field [1, sections 4.1, 4.4, 4.5 and 4.7.2]."""
    texts, strings, at = _pool(data)
    found = {}
    at += 6
    at += 2 + 2 * _u2(data, at)  # interfaces
    fields, at = _u2(data, at), at + 2
    for _ in range(fields):
        name, attributes = texts[_u2(data, at + 2)], _u2(data, at + 6)
        at += 8
        for _ in range(attributes):
            kind, size = struct.unpack_from(">HI", data, at)
            if texts[kind] == "ConstantValue" and (place := _u2(data, at + 6)) in strings:
                found[name] = texts[strings[place]]
            at += 6 + size
    return found


def _pool(data: bytes) -> tuple[dict[int, str], dict[int, int], int]:
    """The constant pool: texts by index, strings as indices of their texts, and where it ends."""
    texts: dict[int, str] = {}
    strings: dict[int, int] = {}
    for index, tag, at, end in _entries(data):
        if tag == _TEXT:
            # Java writes 0 in two bytes and a surrogate by itself
            texts[index] = data[at + 2 : end].replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        elif tag == _STRING:
            strings[index] = _u2(data, at)
    return texts, strings, end


def _entries(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    index, at, count = 1, 10, _u2(data, 8)
    while index < count:
        tag, at = data[at], at + 1
        end = at + (2 + _u2(data, at) if tag == _TEXT else _SIZES[tag])
        yield index, tag, at, end
        index, at = index + (2 if tag in _WIDE else 1), end


def _u2(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "big")

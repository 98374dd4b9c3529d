"""Captions as words, exactly as captioning papers cut them: the Penn Treebank tokenizer of pycocoevalcap, without Java.

The tokenizer is a scanner that JFlex made: tables of states in one Java class of the jar that pycocoevalcap brings,
which can be read without Java [1, 2], and a few lines for each rule. The longest token that the automaton accepts is
taken, then the rule of the state that accepts it shortens or rewrites it. What the rules do is written here from the
behaviour of CoreNLP 3.4.1 with pycocoevalcap's options: lines kept, lower case, and the escapes of the Treebank
(brackets as *-lrb-*, pounds as *#*, dashes as *--*).

References:
    [1] The Java Virtual Machine Specification, chapter 4: the class file format.
    [2] JFlex, user's manual, section on the code generator: tables are packed as runs (count, value) in strings.
"""

import hashlib
import re
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib.metadata import distribution
from pathlib import Path

import numpy as np

from core.errors import InvalidInput

JAR = "pycocoevalcap/tokenizer/stanford-corenlp-3.4.1.jar"
_SCANNER = "edu/stanford/nlp/process/PTBLexer.class"
_SHA256 = "715fdfb3652cc6796f90f28442378a0c71c92b5909f1fc934f698497987b6dd0"
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 18: 4}
"""Bytes behind the tag of an entry of the constant pool [1, table 4.4-A]."""
_TEXT, _WIDE, _STRING = 1, (5, 6), 8


@dataclass(frozen=True, slots=True)
class Automaton:
    """A finite automaton over UTF-16 code units."""

    classes: list[int]  # class of each of the 65,536 code units
    rows: list[list[int]]  # by state, the state that follows by class; -1 where none does
    accepts: list[bool]  # by state, whether a token may end there
    stops: list[bool]  # by state, whether no longer token can follow
    actions: list[int]  # by state that accepts, the number of its rule


@cache
def automaton() -> Automaton:
    """Read the tables. Raises InvalidInput if the class in the jar is not the one whose rules are known here."""
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
    rows, actions = [shared[start] for start in starts.tolist()], _runs(packed["ZZ_ACTION_PACKED_0"])
    return Automaton(classes.tolist(), rows, (marks & 1 > 0).tolist(), (marks & 8 > 0).tolist(), actions.tolist())


def _units(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2").astype(np.int64)


def _runs(text: str) -> np.ndarray:
    """Values of a string of runs."""
    pairs = _units(text).reshape(-1, 2)
    return np.repeat(pairs[:, 1], pairs[:, 0])


def _constants(data: bytes) -> dict[str, str]:
    """Text constants of a class, by field [1, sections 4.1, 4.4, 4.5 and 4.7.2]."""
    texts: dict[int, str] = {}  # of the constant pool, by index
    strings: dict[int, int] = {}  # as indices of their texts
    index, at, count = 1, 10, _u2(data, 8)
    while index < count:
        tag, at = data[at], at + 1
        end = at + (2 + _u2(data, at) if tag == _TEXT else _SIZES[tag])
        if tag == _TEXT:
            # Java writes 0 in two bytes and a surrogate by itself
            texts[index] = data[at + 2 : end].replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        elif tag == _STRING:
            strings[index] = _u2(data, at)
        index, at = index + (2 if tag in _WIDE else 1), end
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


def _u2(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "big")


PUNCTUATION = frozenset(["''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";"])
"""Tokens that pycocoevalcap leaves out. Its list names brackets in capitals too, which tokens never are."""

_DEAD, _START = -1, 2  # no state, and that in which the Treebank's traditional rules begin
_DROPPED = frozenset([1, 5, 7, 23])  # rules of what is no token: white space, line ends, characters without a rule
_AHEAD = {24: (13, 14), 30: (3, 4), 40: (5, 6), 41: (16, 17), 43: (15, 14), 44: (9, 10), 47: (7, 8), 49: (11, 12)}
"""Rules with a condition on what follows -> the states in which the token's and the condition's own automata start."""

_SHORTER = {25: 1, 26: 1, 32: 1, 34: 1, 36: 1, 42: 2, 46: 1, 48: 2, 50: 3, 51: 1, 53: 4}
"""Rules that give code units back -> how many."""

_OVERLAP = frozenset([33, 47, 49])  # abbreviations at the end of a sentence: the full stop is read once more
_TRIMS = frozenset(" \t\n\v\f\r\x85")
_FIRST_ALONE, _TRIMMED = 35, frozenset([44, 47])
"""The rule that keeps one code unit of those that it saw, and those that give the white space at their end back."""


class _Open(Exception):
    """What a text says depends on what follows it."""


def tokens(caption: str) -> list[str]:
    """Cut a caption into words; it is read for itself. pycocoevalcap reads all captions of a set in one file, so
    that the first word of the next caption may decide on a full stop (*plan B.*), and a carriage return moves every
    later caption by a line; a line end inside a caption is a space here.

    >>> tokens("The dog's t-shirt isn't $3,000!")
    ['the', 'dog', "'s", 't-shirt', 'is', "n't", '$', '3,000']
    """
    text = caption.replace("\n", " ")
    found: list[str] = []
    *pieces, last = text.split(" ")
    held = ""
    for piece in pieces:
        held += piece
        if (said := _inner(held)) is not None:
            found += said
            held = ""
        elif held.count(" ") < 4:  # a number or an article waits for one piece or two
            held += " "
        else:
            return list(_final(text))
    return [*found, *_final(held + last)]


@lru_cache(maxsize=1 << 16)
def _inner(text: str) -> tuple[str, ...] | None:
    """Words of a part of a caption, if they are the same whatever stands behind the space that ends it."""
    try:
        return tuple(_cut(text, ends=False))
    except _Open:
        return None


@lru_cache(maxsize=1 << 16)
def _final(text: str) -> tuple[str, ...]:
    return tuple(_cut(text + "\n"))


def _cut(text: str, *, ends: bool = True) -> Iterator[str]:
    """The words of a text; raises _Open if what follows decides. ``ends``: no space follows, the caption ends."""
    tables = automaton()
    raw = text.encode("utf-16-le", "surrogatepass")
    units = [tables.classes[unit] for unit in np.frombuffer(raw, "<u2").tolist()]
    at = 0
    while at < len(units):
        rule, end = _longest(tables, units, at, ends=ends)
        kept, end = _bounds(tables, units, raw, rule, at, end)
        if rule not in _DROPPED:
            token = raw[2 * at : 2 * kept].decode("utf-16-le", "surrogatepass")
            written = (_NAMED.get(rule) or _REWRITES.get(rule, str)(token)).lower()
            yield from (word for word in written.split(" ") if word not in PUNCTUATION)
        at = end


def _longest(tables: Automaton, units: list[int], at: int, *, ends: bool) -> tuple[int, int]:
    state, accepted, end = _START, _START, at
    for place in range(at, len(units)):
        state = tables.rows[state][units[place]]
        if state == _DEAD:
            return tables.actions[accepted], end
        if tables.accepts[state]:
            accepted, end = state, place + 1
            if tables.stops[state]:
                return tables.actions[accepted], end
    if not ends and tables.rows[state][tables.classes[ord(" ")]] != _DEAD:
        raise _Open
    return tables.actions[accepted], end


def _bounds(tables: Automaton, units: list[int], raw: bytes, rule: int, at: int, end: int) -> tuple[int, int]:
    if rule == _FIRST_ALONE:
        return at + 1, at + 1
    if rule in _AHEAD:
        # the last place at which the token's automaton accepts what is before and the condition's what is behind
        own, condition = _AHEAD[rule]
        fits, state = [tables.accepts[own]], own
        for unit in units[at:end]:
            state = tables.rows[state][unit] if state != _DEAD else _DEAD
            fits.append(state != _DEAD and tables.accepts[state])
        state = condition  # which reads backwards
        while not (fits[end - at] and tables.accepts[state]):
            end -= 1
            state = tables.rows[state][units[end]]
    if rule in _TRIMMED:
        while raw[2 * end - 2 : 2 * end].decode("utf-16-le", "surrogatepass") in _TRIMS:
            end -= 1
    if rule in _OVERLAP:
        single = rule == min(_TRIMMED & _OVERLAP) and end - at == len("I.")
        return (end - 1 if single else end), end - 1
    end -= _SHORTER.get(rule, 0)
    return end, end


def _replaced(pairs: dict[str, str], text: str) -> str:
    for old, new in pairs.items():
        text = re.sub(old, new, text)
    return text


def _rewrites() -> dict[int, Callable[[str], str]]:
    marks = {"[\x91‘‛‹]": "`", "[\x92’›]": "'", "[\x93“«]": "``", "[\x94”»]": "''"}
    closing = partial(_replaced, {"&apos;|'": "'", '"|&quot;': "''"} | marks)
    opening = partial(_replaced, {"&apos;|'": "`", '"|&quot;': "``"} | marks)
    fractions = partial(_replaced, {"¼": "1/4", "½": "1/2", "¾": "3/4", "⅓": "1/3", "⅔": "2/3"})
    currency = partial(_replaced, {"¢": "cents", "£": "#", "[\x80¤₠€]": "$"})
    brackets = {r"\(": "-LRB-", r"\)": "-RRB-"}
    ampersand = partial(_replaced, {"(?i:&amp;)": "&"})
    spaces = partial(_replaced, {" ": "\xa0"})
    hyphens = [6, 12, 29, 30, 32, 40, 46]  # soft ones
    made: dict[int, Callable[[str], str]] = dict.fromkeys(hyphens, lambda text: text.replace("\xad", "") or "-")
    made |= {4: lambda text: "--" if len(text) in (3, 4) else text, 14: fractions, 15: currency}
    made |= {8: closing, 36: closing, 26: opening, 35: opening, 37: ampersand, 51: ampersand}
    made |= {27: spaces, 38: spaces, 39: spaces, 28: partial(_replaced, brackets), 34: partial(_replaced, brackets)}
    return made | {54: partial(_replaced, {" ": "\xa0"} | brackets)}


_NAMED = {2: "<", 10: ">", 11: "--", 13: "...", 16: "-RCB-", 17: "-LRB-", 18: "-RRB-", 20: "-LCB-", 21: "-RSB-"}
_NAMED[22] = "-LSB-"
_REWRITES = _rewrites()  # by rule, how a token is written otherwise than it stands

"""Hostile text: bytes that are no text, JSON of any shape, and valid files in which one value is another."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 10**400, 1e308, float("nan"), float("-inf"), "", " ", "x" * 100_000, "../../../../etc/passwd",
    "/dev/zero", "=cmd|' /C calc'!A0", "\u202e\u0000\ud800", "<script>alert(1)</script>", [], {}, [[]], {"a": {}},
    [0] * 5000, "NaN", "🐈" * 500, "/proc/self/environ", "{0.__class__}", "%s%s%n", "'; drop table scores; --",
)  # fmt: skip
"""What is put in the place of a value."""

BYTES: dict[str, bytes] = {
    "nothing": b"",
    "a blank": b" ",
    "zeros": bytes(5000),
    "a mark of order alone": b"\xef\xbb\xbf",
    "UTF-16": '{"a": "b"}\na,b\n'.encode("utf-16"),
    "Latin-1": "größe,straße\nä,ö\n".encode("latin-1"),
    "half a character": b'{"a": "\xe2\x82',
    "deep brackets": b"[" * 200_000,
    "deep objects": b'{"a":' * 100_000,
    "half an object": b'{"a": [1, 2',
    "a huge number": b"9" * 20_000,
    "a word": b"null",
    "a list": b"[]",
    "an object": b"{}",
    "a string": b'"x"',
    "a line without end": b"a" * 5_000_000,
    "a million commas": b"," * 1_000_000,
    "half a million lines": b"\n" * 500_000,
    "quotes without end": b'image,caption\n"' + b"a\n" * 100_000,
    "names twice": b'{"a": 1, "a": 2}',
    "random": random.Random(0).randbytes(20_000),
    "an archive": b"PK\x03\x04" + bytes(100),
    "a pickle": b"\x80\x04cposix\nsystem\nX\x04\0\0\0true\x85R.",
    "a database": b"SQLite format 3\0" + bytes(100),
    "carriage returns": b"image,caption\r001.png,a\rb\r",
}
"""By name, what is no file of any kind that is read."""


def changed(valid: Any, rng: random.Random, count: int) -> Iterator[tuple[str, bytes]]:
    """Copies of a JSON value in each of which one value, or a name, is another.

    Args:
        valid: what a valid file holds.
        rng: chooses places and values.
        count: copies.
    """
    places = list(_places(valid))
    for number in range(count):
        held = copy.deepcopy(valid)
        place, value = rng.choice(places), rng.choice(VALUES)
        told = f"{'/'.join(map(str, place))[:60]} = {repr(value)[:30]} ({number})"
        yield told, json.dumps(_put(held, place, value, rename=rng.random() < 0.15), default=str).encode()


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if at:
        yield at
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _places(each, (*at, name))
    elif isinstance(value, list):
        for number, each in enumerate(value[:3]):
            yield from _places(each, (*at, number))


def _put(held: Any, place: tuple[Any, ...], value: Any, *, rename: bool) -> Any:
    inner = held
    for step in place[:-1]:
        inner = inner[step]
    if rename and isinstance(inner, dict):
        inner[str(value)[:200]] = inner.pop(place[-1])
    else:
        inner[place[-1]] = value
    return held


def lines(valid: list[list[str]], rng: random.Random, count: int) -> Iterator[tuple[str, bytes]]:
    """Copies of a table with one cell, row or head changed, as CSV without any quoting."""
    for number in range(count):
        held = copy.deepcopy(valid)
        row, value = rng.randrange(len(held)), str(rng.choice(VALUES)).encode("utf-8", "replace").decode()
        way = rng.choice(("cell", "cell", "cell", "short", "twice"))
        if way == "cell":
            held[row][rng.randrange(len(held[row]))] = value
        elif way == "short":
            held[row] = held[row][:-1]
        else:
            held.insert(row, list(held[row]))
        yield f"{way} of row {row}: {value[:30]!r} ({number})", "\n".join(",".join(each) for each in held).encode()

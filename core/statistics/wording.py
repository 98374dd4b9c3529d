"""Counts in words: remarks are read, and one item is no items."""

from collections.abc import Iterable, Mapping, Sequence


def counted(count: float, one: str, many: str = "") -> str:
    """A count with its noun. ``many``: of several; empty: with an s.

    >>> counted(1, "item"), counted(1200, "item"), counted(2, "corpus", "corpora")
    ('1 item', '1,200 items', '2 corpora')
    """
    return f"{count:,.0f} {one if count == 1 else many or f'{one}s'}"


def remarks(*said: str) -> str:
    """Those of some remarks that say something, in one text."""
    return "; ".join(filter(None, said))


def listed(names: Sequence[str], *, most: int = 0) -> str:
    """Names as a list in a sentence, of more than ``most`` the first and how many more; 0: all.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(list("abcd"), most=3), listed([])
    ('a', 'a, b and c', 'a, b and 2 more', 'none')
    """
    named = [*names[: most - 1], f"{len(names) - most + 1} more"] if 0 < most < len(names) else list(names)
    return " and ".join(filter(None, (", ".join(named[:-1]), *named[-1:]))) or "none"


def between(values: Iterable[float], *, digits: int = 0) -> str:
    """The ends of some values, once where they read the same.

    >>> between([3.1, 12.4]), between([1200.0])
    ('3 to 12', '1,200')
    """
    known = sorted(values)
    return " to ".join(dict.fromkeys(f"{end:,.{digits}f}" for end in (known[0], known[-1])))


def metrics(names: Sequence[str]) -> str:
    """One or two metrics by name, more by their number: a figure beside the sentence names them.

    >>> metrics(["a", "b"]), metrics(["a", "b", "c"])
    ('a and b', '3 metrics')
    """
    return listed(names) if len(names) < 3 else counted(len(names), "metric")


def tallied(counts: Mapping[str, tuple[int, int]], verb: str, one: str, many: str = "") -> str:
    """How many of how many each metric has, the largest share first, those with the same numbers together. ``one``,
    ``many``: the noun of what is counted, as of :func:`counted`.

    >>> tallied({"a": (0, 2), "b": (2, 3), "c": (2, 3)}, "on", "test")
    'b and c on 2 of 3 tests, a on none of 2 tests'
    """
    alike: dict[tuple[int, int], list[str]] = {}
    for name, count in counts.items():
        alike.setdefault(count, []).append(name)
    said, before = [], 0
    for (some, asked), names in sorted(alike.items(), key=lambda each: -each[0][0] / each[0][1]):
        of = "" if asked == before else f" of {counted(asked, one, many)}"
        said.append(f"{metrics(names)} {verb} {some or 'none'}{of}")
        before = asked
    return ", ".join(said)

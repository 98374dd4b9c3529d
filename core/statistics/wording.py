"""Counts in words: remarks are read, and one item is no items."""

from collections.abc import Sequence


def counted(count: float, one: str, many: str = "") -> str:
    """A count with its noun.

    Args:
        count: whole.
        one: the noun of one.
        many: of several; empty: with an s.

    Example:
        >>> counted(1, "item"), counted(1200, "item"), counted(2, "corpus", "corpora")
        ('1 item', '1,200 items', '2 corpora')
    """
    return f"{count:,.0f} {one if count == 1 else many or f'{one}s'}"


def listed(names: Sequence[str], *, most: int = 0) -> str:
    """Names as a list in a sentence, of more than ``most`` the first and how many more; 0: all.

    Example:
        >>> listed(["a"]), listed(["a", "b", "c"]), listed(list("abcd"), most=3), listed([])
        ('a', 'a, b and c', 'a, b and 2 more', 'none')
    """
    named = [*names[: most - 1], f"{len(names) - most + 1} more"] if 0 < most < len(names) else list(names)
    return " and ".join(filter(None, (", ".join(named[:-1]), *named[-1:]))) or "none"

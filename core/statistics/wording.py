"""Counts in words: remarks are read, and one item is no items."""


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

"""Cells of a table that say yes, no or nothing, as spreadsheets, data frames and annotation tools write them."""

from core.errors import InvalidInput

_YES = frozenset(("yes", "y", "true", "t", "1", "1.0", "on"))
_NO = frozenset(("no", "n", "false", "f", "0", "0.0", "off"))
_NOTHING = frozenset(("", "na", "n/a", "#n/a", "nan", "none", "null", "nil", "<na>", "nat", "-nan", "+nan"))


def says_nothing(cell: object) -> bool:
    """Whether a cell is empty, or holds what a program writes for an empty one.

    Example:
        >>> [says_nothing(each) for each in (None, float("nan"), " ", "NA", "no", 0)]
        [True, True, True, True, False, False]
    """
    return cell is None or str(cell).strip().lower() in _NOTHING


def yes_or_no(cell: object) -> bool | None:
    """What a cell says; None where it says nothing.

    Raises:
        InvalidInput: for any other word or number.

    Example:
        >>> [yes_or_no(each) for each in (True, "False", 1.0, "0", "NA", " Yes ")]
        [True, False, True, False, None, True]
    """
    said = str(cell).strip().lower()
    if says_nothing(cell):
        return None
    if said not in _YES | _NO:
        raise InvalidInput(f"yes or no (true or false, 1 or 0, or nothing) is wanted, got {str(cell)[:60]!r}")
    return said in _YES

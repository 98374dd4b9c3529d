"""Cells that say yes, no or nothing, as spreadsheets and annotation tools write them; and signs that nobody sees."""

import re
import unicodedata

from core.errors import InvalidInput

_YES = frozenset(("yes", "y", "true", "t", "1", "1.0", "on"))
_NO = frozenset(("no", "n", "false", "f", "0", "0.0", "off"))
_NOTHING = frozenset(("", "na", "n/a", "#n/a", "nan", "none", "null", "nil", "<na>", "nat", "-nan", "+nan"))


_UNSEEN = re.compile(
    "[\u00ad\u180e\u200b\u2060\ufeff]"
    "|(?<![^\\x00-\\x7f\u200b-\u200f])[\u200c\u200d]|[\u200c\u200d](?![^\\x00-\\x7f\u200b-\u200f])"
)
"""Signs without width that say nothing; joiners do between the letters of some scripts and in emoji."""

_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")  # letters or marks by category, and blank


def seen(text: str) -> str:
    """A text without the signs that nobody sees; empty where it has no other than such and blanks.

    >>> seen("a\\u200b cat\\ufeff"), seen("\\u200d\\u200d\\u2800"), seen("می\\u200cخواهم") == "می\\u200cخواهم"
    ('a cat', '', True)
    """
    if text.isascii():
        return text
    shown = any(
        not (each.isspace() or each in _FILLERS or "\ufe00" <= each <= "\ufe0f" or unicodedata.category(each)[0] == "C")
        for each in text
    )
    return _UNSEEN.sub("", text) if shown else ""


def says_nothing(cell: object) -> bool:
    """Whether a cell is empty, or holds what a program writes for an empty one.

    >>> [says_nothing(each) for each in (None, float("nan"), " ", "NA", "no", 0)]
    [True, True, True, True, False, False]
    """
    return cell is None or str(cell).strip().lower() in _NOTHING


def yes_or_no(cell: object) -> bool | None:
    """What a cell says; None where it says nothing.
    Raises InvalidInput for any other word or number.

    >>> [yes_or_no(each) for each in (True, "False", 1.0, "0", "NA", " Yes ")]
    [True, False, True, False, None, True]
    """
    said = str(cell).strip().lower()
    if says_nothing(cell):
        return None
    if said not in _YES | _NO:
        raise InvalidInput(f"yes or no (true or false, 1 or 0, or nothing) is wanted, got {str(cell)[:60]!r}")
    return said in _YES

"""Text from data, made safe for Streamlit's markdown, and numbers as a reader expects them."""

import math
import re
import unicodedata
from datetime import UTC, datetime

from core.report.document import decimals
from core.statistics.wording import listed as listed

_BREAKS = re.compile(r"[^\S\u00a0\u202f]+")
"""White space where a line may break; a space that does not, as in ``67 %``, stays what it is."""

_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&=^])")


def safe(text: str, *, limit: int = 200) -> str:
    """Return text that Streamlit's markdown shows as it is: every mark escaped, on one line, at most ``limit`` long.

    Example:
        >>> safe("**bold** :red[x] <b>")
        '\\\\*\\\\*bold\\\\*\\\\* \\\\:red\\\\[x\\\\] \\\\<b\\\\>'
    """
    line = _BREAKS.sub(" ", _visible(text)).strip()
    shortened = line if len(line) <= limit else line[: limit - 1] + "…"
    return _MARKUP.sub(r"\\\1", shortened)


def number(value: float | None, *, digits: int = 3) -> str:
    """Write a number, or a dash where there is none."""
    if value is None or math.isnan(value):
        return "—"
    return ("−" if value < 0 else "") + decimals(value, digits=digits)


def thousands(count: int) -> str:
    """Write a count: ``thousands(25743) == "25,743"``, which breaks over no line."""
    return f"{count:,}"


def moment(written: str) -> str:
    """Write a time that a file holds as ISO 8601 for a reader; anything else is left as it is.

    Example:
        >>> moment("2026-11-21T06:03:53Z")
        '2026-11-21 06:03 UTC'
    """
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        return written
    return f"{found.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if found.tzinfo else f"{found:%Y-%m-%d %H:%M}"


THE_PAPER = "The paper is paper A: Agarwal et al., *Do Image–Text Metrics Respect Semantic Invariances?*"
"""Named once on every page that speaks of it, where it is first met."""


def as_percent(value: float) -> str:
    """Write a share as a percentage that does not break: ``as_percent(0.666) == "67\\u00a0%"``."""
    return f"{100 * value:.0f}\u00a0%"


def counted(count: int, one: str, many: str | None = None) -> str:
    """Write a count with its noun: ``counted(1, "probe") == "1 probe"``."""
    return f"{thousands(count)} {one if count == 1 else many or one + 's'}"


def _visible(text: str) -> str:
    """Drop control characters and the marks that turn the direction of the text around them."""
    return "".join(each for each in text if each.isspace() or unicodedata.category(each) not in ("Cc", "Cf", "Cs"))

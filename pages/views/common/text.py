"""Words for a reader: text from data made safe for Streamlit's markdown, numbers, coined words and their help icons.

A help icon is no stop for the Tab key. Streamlit draws a button behind every label that has a help, and its words only
while a pointer is over it; here they become the description of the button and of its control, which assistive
technology reads out with either.
"""

import csv
import math
import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

import streamlit as st

from core.report.document import decimals
from core.settings import assets_dir
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
    # drop control characters and the marks that turn the direction of the text around them
    line = _BREAKS.sub(
        " ", "".join(each for each in text if each.isspace() or unicodedata.category(each) not in ("Cc", "Cf", "Cs"))
    ).strip()
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


class Word(NamedTuple):
    """A coined word."""

    meaning: str  # in a sentence or two
    page: str  # where it is met, as the page's address; empty where it is met everywhere


@cache
def glossary() -> Mapping[str, Word]:
    """Every word, in the order in which one builds on another (``assets/glossary.csv``)."""
    with (assets_dir() / "glossary.csv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return {row["term"]: Word(row["meaning"], row["page"]) for row in rows}


def meaning(*terms: str) -> str:
    """What words mean, for a hint beside a label. Raises KeyError if a word is not in the glossary."""
    known = glossary()
    return "\n\n".join(f"**{term[0].upper()}{term[1:]}**: {known[term].meaning}" for term in terms)


def component(name: str) -> Any:
    """Register a component of the pages; its markup, style and script have its name in ``assets/style``."""
    parts = {kind: assets_dir() / "style" / f"{name}.{kind}" for kind in ("html", "css", "js")}
    texts: dict[str, Any] = {kind: path.read_text(encoding="utf-8") for kind, path in parts.items() if path.is_file()}
    return st.components.v2.component(f"invariscope_{name}", **texts)


_watch = component("help_icons")


def describe_help() -> None:
    """Keep the help icons of the page out of the tab order, their words with their controls."""
    _watch(key="help_icons", height=1)

"""The coined words of the dashboard, each with its meaning: for hints, for one page of them all, for finding."""

import csv
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from core.settings import assets_dir


class Word(NamedTuple):
    """A coined word.

    Args:
        meaning: in a sentence or two.
        page: where it is met, as the page's address; empty where it is met everywhere.
    """

    meaning: str
    page: str


@cache
def glossary() -> Mapping[str, Word]:
    """Every word, in the order in which one builds on another (``assets/glossary.csv``)."""
    with (assets_dir() / "glossary.csv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return {row["term"]: Word(row["meaning"], row["page"]) for row in rows}


def meaning(*terms: str) -> str:
    """What words mean, for a hint beside a label.

    Raises:
        KeyError: if a word is not in the glossary.
    """
    known = glossary()
    return "\n\n".join(f"**{term[0].upper()}{term[1:]}**: {known[term].meaning}" for term in terms)

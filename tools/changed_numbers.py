"""List the published numbers of the demo run that changed since the first results, and why.

``docs/first-numbers.csv`` holds the medians of the first published tables as they were; the present ones are those of
``docs/example-report``. ``--write`` writes ``docs/changed-numbers.md``.
"""

import argparse
import math
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

Row = Mapping[Hashable, Any]

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "changed-numbers.md"

WHY = {
    "a": "The interval draws items of one cut-out together: the 252 items are made of 197.",
    "b": "Holes are filled by example, not smeared.",
    "c": "Phrases that name a kind, are false of it, or are colloquial left the default grid, neutral ones too: some "
    "items are left out, or have fewer words or another neutral caption.",
    "d": "The judge's rules find the noun of captions that had no score: more items, and other scores of some.",
    "e": "The run was made anew: a few scores differ, by 0.8 % at most.",
    "f": "The bare caption is what others are compared with, and no family of its own any more.",
}

SOCIETAL = {"S4", "S5", "T7", "T8"}
MOVED = ("reposition", "bottom right vs top left")
WORDS = ("cultural", "economic", "emotion", "gender")


def numbers() -> pd.DataFrame:
    """Both readings of every row of the first tables: columns of the first, and the present ones with ``_now``."""
    first = pd.read_csv(DOCS / "first-numbers.csv", keep_default_na=False, na_values=[""])
    parts = []
    for name in dict.fromkeys(first["table"]):
        now = pd.read_csv(DOCS / "example-report" / "data" / f"{name}.csv", keep_default_na=False, na_values=[""])
        told = now.assign(table=name, label=now["label"].astype(str).str.strip("'"))
        parts.append(told[list(first.columns)])
    keys = ["table", "evaluator", "label"]
    return first.merge(pd.concat(parts), on=keys, how="left", suffixes=("", "_now"))


def why(row: Row) -> str:
    """Letters of the reasons for a row's change; empty where nothing that is printed changed."""
    if said(row, "") == said(row, "_now"):
        return ""
    if pd.isna(row["median_percent_now"]):
        return "f"
    label, evaluator = str(row["label"]), str(row["evaluator"])
    found = ["a"] * (said(row, "", bounds=True) != said(row, "_now", bounds=True))
    found += ["b"] * (label in MOVED)
    moved = said(row, "", bounds=False) != said(row, "_now", bounds=False)
    found += ["c"] * (moved and (row["table"] in SOCIETAL or label in WORDS))
    found += ["d"] * (evaluator == "grounding-judge" and row["n_items"] < row["n_items_now"])
    return " ".join(found + ["e"] * (moved and not set(found) & {"b", "c", "d"}))


def said(row: Row, end: str, *, bounds: bool | None = None) -> str:
    """A number as it is printed: median with its interval, and n; ``bounds``: the interval alone, or all but it."""
    value, low, high = (float(str(row[f"{name}{end}"])) for name in ("median_percent", "low", "high"))
    if math.isnan(value):
        return "not listed"
    ends = "no interval" if math.isnan(low) else f"{_signed(low)} to {_signed(high)}"
    if bounds is not None:
        return ends if bounds else f"{_signed(value)}, n = {row[f'n_items{end}']:.0f}"
    return f"{_signed(value)} ({ends}), n = {row[f'n_items{end}']:.0f}"


def _cells(row: Row) -> tuple[str, ...]:
    return (str(row["table"]), f"`{row['evaluator']}`", str(row["label"]), said(row, ""), said(row, "_now"),
            str(row["why"]))  # fmt: skip


def _signed(value: float) -> str:
    text = f"{value:+.2f}".replace("-", "−")
    return "0.00" if text in ("+0.00", "−0.00") else text


def page() -> str:
    """The page, from both readings."""
    rows = [{**row, "why": why(row)} for row in numbers().to_dict("records")]
    changed = [row for row in rows if row["why"]]
    lines = [
        "# Published numbers that changed",
        "",
        f"Median %Δ of the demo run in the tables of the first example report that the present one still has, "
        f"{len(rows)} rows: {len(changed)} of them read otherwise now, {len(rows) - len(changed)} as before. What "
        "changed by rule, in words and for all other tables: [CHANGELOG](../CHANGELOG.md).",
        "`python tools/changed_numbers.py --write` makes this page.",
        "",
        *(f"- **{letter}**: {text}" for letter, text in WHY.items()),
        "",
        "| table | evaluator | row | first, % (95 % CI) | now, % (95 % CI) | why |",
        "| --- | --- | --- | --- | --- | --- |",
        *(" ".join(("|", " | ".join(each), "|")) for each in map(_cells, changed)),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name} in place of printing it")
    if parser.parse_args().write:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page(), end="")


if __name__ == "__main__":
    main()

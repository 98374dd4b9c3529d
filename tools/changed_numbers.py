"""List the published numbers of the demo run that changed since the first results, and why.

``docs/first-numbers.csv`` holds the numbers of the first example report's tables as they were; the present ones are
those of ``docs/example-report``. ``--write`` writes ``docs/changed-numbers.csv``, every number both ways, and
``docs/changed-numbers.md``, a page on it.
"""

import argparse
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

Row = Mapping[Hashable, Any]

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "changed-numbers.md"
FILE = DOCS / "changed-numbers.csv"
KEYS = ["table", "evaluator", "row", "quantity"]
NUMBERS = ["value", "low", "high", "n"]

WHY = {
    "a": "The interval draws items of one cut-out together: the 252 items are made of 197.",
    "b": "Holes are filled by example, not smeared.",
    "c": "Phrases that name a kind, are false of it, or are colloquial left the default grid, neutral ones too: some "
    "items are left out, or have fewer words or another neutral caption.",
    "d": "The judge's rules find the noun of captions that had no score, and people by what they wear and hold: more "
    "items, and other scores of some.",
    "e": "The run was made anew: a few scores differ, by 0.8 % at most.",
    "f": "The row is not listed any more: the bare caption is what others are compared with, and no family of its own.",
    "g": "A test counts a cut-out once, by the mean over its items.",
    "h": "Holm's correction runs within an evaluator and the families of one axis, without controls.",
    "i": "No interval is given where it would not hold: medians below ten sources, flip risks below sixty.",
    "j": "A cut of composites never splits ties, and a diagnostic without spread drops nothing.",
    "k": "Items of one cut-out stay on one side of a calibration's split; sensitivities and gaps are divided by the "
    "spread of each side's own clean scores.",
    "l": "A gap of 0.7 % is a share of the score's own span: 0.07 on the judge's 0 to 10, where it was 0.007.",
    "m": "Levels of fewer than five items are left out of tests of levels, and a rank test needs five items with all.",
}

SOCIETAL = {"S4", "S5", "S6", "S7", "S8", "S9", "S12", "T7", "T8", "T15"}
CALIBRATED = {"T14", "T15", "T16"}
RISKS = {"S10", "T13", "T16"}
LEVELS = {"S2", "S3", "S6", "S7", "S8", "S9"}
MOVED = ("reposition", "bottom right vs top left")
WORDS = ("cultural", "economic", "emotion", "gender", "societal")
SHIFTS = {
    "median %Δ": ("median_percent", "low", "high"),
    "median |%Δ|": ("median_abs_percent", "abs_low", "abs_high"),
    "median Δ": ("median_delta",),
    "standardised Δ": ("standardised",),
    "Cliff's δ": ("cliffs_delta",),
    "p": ("p",),
    "p (Holm)": ("p_holm",),
}
TESTS = {"H": ("h",), "p": ("p",), "χ² (Friedman)": ("chi",), "p (Friedman)": ("friedman_p",)}
SIDES = {"before": ("before", "before_low", "before_high"), "after": ("after", "after_low", "after_high")}


def _label(row: Row) -> str:
    return str(row["label"]).strip("'")


def _family(name: str) -> str:
    return {"vertical flip": "vertical-flip", "cultural vs neutral": "cultural"}.get(name, name)


def _whole(row: Row) -> bool:
    return str(row["of"]) in ("whole family", "contrast and whole family")


def _orbit(row: Row) -> bool:
    return bool(row["reading"] == "orbit") and ("of" not in row or _whole(row))


@dataclass(frozen=True)
class Shape:
    """How a table of the present report is read: which rows, what they are called, and which columns are numbers."""

    quantities: Mapping[str, tuple[str, ...]]
    name: Callable[[Row], str] | None = _label  # none: the file's, and there is one row an evaluator
    n: str = "n_items"
    files: Mapping[str, str] = field(default_factory=dict)  # what each file's row is called; none: the table's own file
    wanted: Callable[[Row], bool] | None = None  # none: all rows


_LEVELS = Shape(TESTS, None, "n")
_MIXED = Shape({**SHIFTS, "β": ("beta", "beta_low", "beta_high")})
_SCORES = Shape({"median score": ("value", "low", "high")}, lambda row: str(row["level"]))
_CALIBRATED = Shape(SIDES, lambda row: f"{row['measure']}, {_family(str(row['name']))}", "n", wanted=_orbit)
_GAPS = {f"risk at {gap}": (f"risk_{gap}", f"low_{gap}", f"high_{gap}") for gap in ("0.003", "0.005", "0.007", "0.01")}

SHAPES: Mapping[str, Shape] = {
    **dict.fromkeys(("S1", "S4", "S5", "T7", "T8"), Shape(SHIFTS)),
    **dict.fromkeys(("T3", "T4"), _MIXED),
    "S12": Shape(SHIFTS, lambda row: f"{row['family']}:{_label(row).removesuffix(' (control)')}"),
    **dict.fromkeys(("S2", "S6", "S7", "S8", "S9"), _LEVELS),
    "S3": Shape(TESTS, None, "n", {"S3-category": "category", "S3-coverage": "coverage"}),
    "S10": Shape(_GAPS, lambda row: str(row["family"]).strip("'"), wanted=_whole),
    "S11": Shape(
        {"ρ": ("spearman",), "τ_b": ("kendall_b",), "τ_c": ("kendall_c",), "p": ("p",)}, lambda row: str(row["other"])
    ),
    "S13": Shape({"left out": ("n",)}, lambda row: f"{row['probe']}, {row['code']}", "n"),
    "T2": Shape({"median %Δ": ("median_percent", "low", "high"), "kept, %": ("retained",)}),
    **dict.fromkeys(("T5", "T6"), _SCORES),
    "T13": Shape(
        {"risk at 0.007": ("value", "low", "high"), "risk at the IQR": ("iqr_risk", "iqr_low", "iqr_high")},
        lambda row: str(row["family"]).strip("'"),
        wanted=_whole,
    ),
    **dict.fromkeys(("T14", "T15", "T16"), _CALIBRATED),
}  # fmt: skip


def present(table: str) -> pd.DataFrame:
    """Numbers of a table as they stand in the example report: columns of :data:`KEYS` and :data:`NUMBERS`."""
    shape = SHAPES[table]
    rows: list[dict[str, object]] = []
    for name, only in (shape.files or {table: "levels"}).items():
        file = DOCS / "example-report" / "data" / f"{name}.csv"
        for row in pd.read_csv(file, keep_default_na=False, na_values=[""]).to_dict("records"):
            if shape.wanted is None or shape.wanted(row):
                for quantity, columns in shape.quantities.items():
                    numbers = [row[column] for column in columns] + [None] * (3 - len(columns)) + [row[shape.n]]
                    keys = (table, row.get("evaluator", ""), only if shape.name is None else shape.name(row), quantity)
                    rows.append(dict(zip([*KEYS, *NUMBERS], [*keys, *numbers], strict=True)))
    return pd.DataFrame(rows).astype(dict.fromkeys(NUMBERS, float))


def numbers() -> pd.DataFrame:
    """Both readings of every number of the first tables, the present ones with ``_now``, and the reasons, ``why``."""
    first = pd.read_csv(DOCS / "first-numbers.csv", keep_default_na=False, na_values={name: [""] for name in NUMBERS})
    now = pd.concat([present(table) for table in dict.fromkeys(first["table"])])
    rows = first.merge(now, on=KEYS, how="left", suffixes=("", "_now"), indicator="listed", validate="1:1")
    return rows.assign(why=[why(row) for row in rows.to_dict("records")])


def why(row: Row) -> str:
    """Letters of the reasons for a number's change; empty where nothing that is printed changed."""
    if said(row, "") == said(row, "_now"):
        return ""
    if row["listed"] != "both":
        return "f"
    moved = said(row, "", bounds=False) != said(row, "_now", bounds=False)
    found = [*_of_bounds(row), *(_of_value(row) if moved else ())]
    return " ".join(sorted(found)) or "e"


def _of_bounds(row: Row) -> list[str]:
    first, now = (said(row, end, bounds=True) for end in ("", "_now"))
    if first == now:
        return []
    return ["i" if now == "no interval" else "a"]


def _of_value(row: Row) -> set[str]:
    table, name, quantity = str(row["table"]), str(row["row"]), str(row["quantity"])
    judge = row["evaluator"] == "grounding-judge" or name == "grounding-judge"
    reasons = {
        "b": table in ("S2", "T2") or name.endswith(MOVED),
        "c": table in SOCIETAL | {"S13"} or name.endswith(WORDS),
        "d": judge and table not in RISKS | CALIBRATED and row["n"] < row["n_now"],
        "g": quantity.startswith("p") or table in LEVELS,
        "h": quantity == "p (Holm)",
        "j": table == "T2" and name != "all composites",
        "k": table in CALIBRATED,
        "l": judge and table in RISKS and quantity != "risk at the IQR",
        "m": table in ("S3", "S8"),
    }
    return {letter for letter, holds in reasons.items() if holds}


def said(row: Row, end: str, *, bounds: bool | None = None) -> str:
    """A number as it is printed: value with its interval, and n; ``bounds``: the interval alone, or all but it."""
    value, low, high, n = (row[f"{name}{end}"] for name in NUMBERS)
    if pd.isna(value) and pd.isna(n):
        return "not listed"
    ends = "no interval" if pd.isna(low) else f"{_figure(low)} to {_figure(high)}"
    alone = f"{_figure(value)}, n = {n:.0f}"
    if bounds is not None:
        return ends if bounds else alone
    return alone if ends == "no interval" else f"{_figure(value)} ({ends}), n = {n:.0f}"


def _figure(value: float) -> str:
    return "none" if pd.isna(value) else f"{value:.3g}".replace("-", "−")


def file(rows: pd.DataFrame) -> str:
    """Every number both ways, as CSV."""
    texts = {"first": [said(row, "") for row in rows.to_dict("records")],
             "now": [said(row, "_now") for row in rows.to_dict("records")]}  # fmt: skip
    return str(rows[KEYS].assign(**texts, why=rows["why"]).to_csv(index=False, lineterminator="\n"))


def page(rows: pd.DataFrame) -> str:
    """The page: reasons, changes counted by table and quantity, and the medians of shifts one by one."""
    changed = rows[rows["why"] != ""]
    medians = changed[changed["quantity"] == "median %Δ"]
    lines = [
        "# Published numbers that changed",
        "",
        f"The tables of the first example report hold {len(rows)} numbers, each with its interval and n: "
        f"{len(changed)} of them read otherwise now, {len(rows) - len(changed)} as before, to three figures. "
        "[Every one of them, first and now, with the reason](changed-numbers.csv). Figures draw the tables' numbers. "
        "T14 to T16 are compared by the reading that the first report had, `orbit`. What changed by rule: "
        "[CHANGELOG](../CHANGELOG.md).",
        "`python tools/changed_numbers.py --write` makes this page and that file.",
        "",
        *(f"- **{letter}**: {text}" for letter, text in WHY.items()),
        "",
        "| table | quantity | numbers | changed | why |",
        "| --- | --- | --- | --- | --- |",
        *_counted(rows),
        "",
        "## Median shifts one by one",
        "",
        "| table | evaluator | row | first, % (95 % CI) | now, % (95 % CI) | why |",
        "| --- | --- | --- | --- | --- | --- |",
        *(_told(row) for row in medians.to_dict("records")),
    ]
    return "\n".join(lines) + "\n"


def _counted(rows: pd.DataFrame) -> list[str]:
    lines = []
    for (table, quantity), own in rows.groupby(["table", "quantity"], sort=False):
        letters = sorted(set(" ".join(own["why"]).split()))
        changed = int((own["why"] != "").sum())
        lines.append(f"| {table} | {_escaped(quantity)} | {len(own)} | {changed} | {' '.join(letters)} |")
    return lines


def _told(row: Row) -> str:
    cells = (row["table"], f"`{row['evaluator']}`", row["row"], said(row, ""), said(row, "_now"), row["why"])
    return f"| {' | '.join(map(str, cells))} |"


def _escaped(text: object) -> str:
    return str(text).replace("|", "\\|")


def main() -> None:
    """Print the page, or write page and file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name} and {FILE.name}, do not print")
    written, rows = parser.parse_args().write, numbers()
    if written:
        PAGE.write_text(page(rows), encoding="utf-8")
        FILE.write_text(file(rows), encoding="utf-8")
    else:
        print(page(rows), end="")


if __name__ == "__main__":
    main()

"""The tables of docs/calibration.md: some calibrations before and after, measured, each over its own side's spread.

python tools/calibration_table.py                 # print them
python tools/calibration_table.py --write         # put them into docs/calibration.md

The readings over orbits need a measurement first: the command stands in docs/calibration.md.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.analysis.reading import read_table
from core.analysis.scope import narrow
from core.analysis.slices import Slice
from core.features.calibration.effect import before_after
from core.features.calibration.fit import Fit, fit
from core.features.calibration.measured import find, settled
from core.features.calibration.readings import EACH, MEASURED, UNIFORM
from core.settings import ROOT
from core.store.store import Store

PAPER = ROOT / "docs" / "calibration.md"
RUN = ROOT / "data" / "results" / "demo"
FAMILIES = ("vertical-flip", "horizontal-flip", "rotation")
CHOICES = (("shift", UNIFORM), ("quantile", UNIFORM), ("orbit", UNIFORM), ("orbit", EACH))
BEGIN, END = "<!-- calibration: tables -->", "<!-- end of calibration: tables -->"


@dataclass(frozen=True, slots=True)
class Told:
    """One calibration.

    Args:
        name: reading, with its weights where it knows any.
        strength: λ.
        whence: where it comes from; see :class:`core.features.calibration.measured.Settled`.
        rows: before and after, every score of them scored.
        constructed: what holds by construction, by measure and name; empty for a reading that is measured as it is.
        spread: of the unedited scores after, as a share of that before.
        about: where the scores come from.
    """

    name: str
    strength: float
    whence: str
    rows: Sequence[Mapping[Any, Any]]
    constructed: Mapping[tuple[str, str], float]
    spread: float
    about: str


def calibrations(run: Path, evaluator: str, families: Sequence[str]) -> list[Told]:
    """Fit each choice, and look up what was measured of it.

    Raises:
        SystemExit: where it was not measured.
    """
    with Store.open(run) as store:
        scope = narrow(store).only()
        view = read_table(store, scope).view(Slice(families=tuple(families)))
        source = next(each for each in store.runs() if each.id == scope.run)
        return [
            _told(fit(view, evaluator=evaluator, reading=reading, weights=weights), weights, source, scope)
            for reading, weights in CHOICES
        ]


def tables(told: Sequence[Told]) -> str:
    """Sensitivities and correlations as two Markdown tables."""
    lines = [
        "| calibration | λ | family | n | before, SD | by construction | after, SD | after / before |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for each in told:
        for row in each.rows:
            if row["measure"] not in ("sensitivity", "axis sensitivity"):
                continue
            name = row["name"] if row["measure"] == "sensitivity" else "mean of these"
            held = each.constructed.get((row["measure"], row["name"]))
            cells = [
                each.name,
                f"{each.strength:g}",
                name,
                str(row["n"]),
                _ends(row, "before", 4),
                "" if held is None else f"{held:.4f}",
                _ends(row, "after", 4),
                f"**{_ends(row, 'ratio', 3)}**",
            ]
            lines.append(f"| {' | '.join(cells)} |")
    head = (
        "calibration",
        "λ",
        "SD of the unedited scores, after / before",
        "Spearman's ρ, before → after",
        "after from",
    )
    lines += ["", f"| {' | '.join(head)} |", "| --- | --- | --- | --- | --- |"]
    for each in told:
        kept = [
            f"{row['name']} {_ends(row, 'before', 3)} → {_ends(row, 'after', 3)}, n = {row['n']}"
            for row in each.rows
            if row["measure"] == "spearman"
        ]
        strength = f"{each.strength:g}, {each.whence}"
        lines.append(f"| {each.name} | {strength} | {each.spread:.3f} | {'; '.join(kept)} | {each.about} |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables, or put them where they belong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, default=RUN)
    parser.add_argument("--evaluator", default="conse-lite0")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    made = tables(calibrations(asked.run, asked.evaluator, FAMILIES))
    if not asked.write:
        print(made)
        return
    text = PAPER.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    PAPER.write_text(f"{before}{BEGIN}\n{made}\n{END}{rest.split(END)[1]}", encoding="utf-8")


def _told(found: Fit, weights: str, source: Any, scope: Any) -> Told:
    reading = found.terms.reading
    own = None
    if found.basis != MEASURED:
        own, stale = find(found, source, subject=scope.subject, language=scope.language)
        if own is None:
            raise SystemExit(
                "\n".join((*stale, f"{reading} was not measured; see docs/calibration.md for the command"))
            )
    usual = settled(found, own)
    held = before_after(found.scores, found.terms, usual.strength, found.others)
    swept = found.test if own is None else own.sweep
    spread = float(swept.spread[swept.lambdas.index(usual.strength)] / swept.spread[0])
    if own is None:
        return Told(f"`{reading}`", usual.strength, usual.whence, held.to_dict("records"), {}, spread, "stored scores")
    constructed = {(row["measure"], row["name"]): row["after"] for row in held.to_dict("records")}
    name = f"`{reading}`" if weights == UNIFORM else f"`{reading}`, weights `{weights}`"
    about = f"{own.file.images:,} pictures scored, {own.file.made[:10]}"
    rows = own.effect(usual.strength).to_dict("records")
    return Told(name, usual.strength, usual.whence, rows, constructed, spread, about)


def _ends(row: Mapping[Any, Any], side: str, digits: int) -> str:
    value, low, high = (row[f"{side}{end}"] for end in ("", "_low", "_high"))
    if value != value:
        return "—"
    return f"{value:.{digits}f}" + (f" [{low:.{digits}f}, {high:.{digits}f}]" if low == low else "")


if __name__ == "__main__":
    main()

"""Tables 9 to 12, figures 9 and 10: does what one corpus shows hold on the others?"""

import numpy as np
import pandas as pd

from core.analysis.bootstrap import median_bca
from core.analysis.rank_agreement import direction_agreement
from core.report.cube import Cube, per_item, percent
from core.report.framing import non_person
from core.report.model import Column, Figure, Missing, Part, Table
from core.report.shifts import CORPUS, COUNT, EVALUATOR, PERCENT, corpora
from core.report.spatial import FLIP, dots

CULTURAL = tuple(f"cultural:{word}" for word in ("American", "European", "Asian", "African"))
ECONOMIC = ("economic:cheap", "economic:expensive")
_IDS = {"T9": "Table 9", "T10": "Table 10", "T11": "Table 11", "T12": "Table 12", "F9": "Figure 9", "F10": "Figure 10"}


def replication(cube: Cube) -> Part:
    """Every table and figure across corpora."""
    if len(cube.corpora) < 2:
        reason = (
            f"it compares corpora and the runs hold one, {cube.corpora[0]}; audit a second corpus and name both runs"
        )
        return Part(missing=tuple(Missing(one, paper, reason) for one, paper in _IDS.items()))
    tables, figures, missing = [], [], []
    subsets = (
        ("T9", "", cube.chosen(family=FLIP, control=False), "Vertical flips", None),
        ("T10", "F9", _there(cube, CULTURAL), "Cultural subset (American, European, Asian, African)", None),
        ("T11", "F10", _there(cube, ECONOMIC), "Economic subset (cheap, expensive)", non_person(cube)),
    )
    for table_id, figure_id, probes, said, keep in subsets:
        if not probes:
            absent = Missing(table_id, _IDS[table_id], "the runs hold none of its probes")
            missing += [absent, *([Missing(figure_id, _IDS[figure_id], absent.reason)] if figure_id else [])]
            continue
        frame = _means(cube, probes, keep)
        note = "Median over items of an item's mean %Δ over the modifiers named; 95 % BCa intervals, seed 2025."
        tables.append(Table(table_id, f"{said}, corpus by corpus", note, frame, (EVALUATOR, CORPUS, COUNT, PERCENT),
                            _IDS[table_id]))  # fmt: skip
        if figure_id:
            figures.append(Figure(figure_id, f"{said}, corpus by corpus", note,
                                  dots(frame, label="evaluator", series="corpus"), "median %Δ",
                                  paper=_IDS[figure_id]))  # fmt: skip
    return Part((*tables, _directions(cube)), tuple(figures), tuple(missing))


def _directions(cube: Cube) -> Table:
    held, rows = cube.reference, []
    for family in sorted(map(str, cube.probes["family"].dropna().unique())):
        probes = cube.chosen(family=family, control=False)
        for evaluator in cube.evaluators if probes else ():
            delta = per_item(cube.after(evaluator, probes) - cube.before(evaluator, probes))
            there = ~np.isnan(delta)
            rows.append(
                pd.DataFrame(
                    {
                        "evaluator": evaluator,
                        "family": family,
                        "corpus": cube.items["corpus"][there],
                        "item": np.flatnonzero(there),
                        "delta": delta[there],
                    }
                )
            )
    shifts = pd.concat(rows, ignore_index=True)
    frame = direction_agreement(shifts, reference=held, by=("evaluator", "family"))
    for name in ("agreement", "low", "high"):
        frame[name] = 100 * frame[name]
    frame["same"] = [{True: "same", False: "opposite"}.get(each, "") for each in frame["same_direction"]]
    note = (
        f"Share of a corpus' items whose shift has the direction of the median shift on {held}; an item that does not "
        "move counts one half. 95 % BCa intervals. Medians: is the direction of the two medians the same?"
    )
    columns = (
        EVALUATOR, Column("family", "Family", kind="text"), CORPUS, COUNT,
        Column("agreement", "Agreement % [95 % CI]", digits=0, low="low", high="high"),
        Column("same", "Medians", kind="text"),
    )  # fmt: skip
    return Table("T12", f"Agreement with the direction on {held}", note, frame, columns, "Table 12")


def _there(cube: Cube, probes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in probes if name in cube.probes.index)


def _means(cube: Cube, probes: tuple[str, ...], keep: np.ndarray | None) -> pd.DataFrame:
    records = []
    for evaluator in cube.evaluators:
        change = percent(cube.after(evaluator, probes), cube.before(evaluator, probes))
        count = (~np.isnan(change)).sum(axis=0)
        mean = np.where(count > 0, np.nansum(change, axis=0) / np.maximum(count, 1), np.nan)
        for corpus, of_corpus in corpora(cube):
            found = median_bca(mean[of_corpus if keep is None else of_corpus & keep])
            records.append({"evaluator": evaluator, "corpus": corpus, "n_items": found.n,
                            "median_percent": found.estimate, "low": found.low, "high": found.high})  # fmt: skip
    return pd.DataFrame(records)

"""Tables 14 to 17, figure 12: what calibration changes, learnt on the dev split and reported on the test split."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.analysis.calibration import learn
from core.analysis.calibration_effect import before_after
from core.analysis.calibration_sweep import Choice, Sweep, choose, sweep
from core.analysis.orbits import Orbits, dev_split
from core.report.cube import Cube
from core.report.flips import GAP
from core.report.model import Column, Figure, Missing, Part, Table
from core.report.shifts import EVALUATOR

EPSILON = 0.01
READING = "orbit"
_IDS = {"T14": "Table 14", "T15": "Table 15", "T16": "Table 16", "F12a": "Figure 12", "F12b": "Figure 12"}
PREFERENCES = Missing(
    "T17", "Table 17",
    "it needs captions that people have compared (Flickr8k-CF, Pascal-50S, COMPOSITE); a run holds none",
)  # fmt: skip
HOW = (
    "Reading orbit, uniform weights over families; terms and λ* are learnt on the dev split (half of the images), "
    "the numbers are those of the held-out test split. λ*: the smallest λ of 0, 0.05, …, 1 that minimises the total "
    "median |Δ| while Spearman's ρ with every other evaluator loses at most ε = 0.01 on the dev split."
)


_FAMILY, _N = Column("name", "Family", kind="text"), Column("n", "n", digits=0)
_BOUNDS = ("before", "before_low", "before_high", "after", "after_low", "after_high")


@dataclass(frozen=True, slots=True)
class _Calibrated:
    """One evaluator's calibration."""

    choice: Choice
    swept: Sweep
    table: pd.DataFrame


def calibration(cube: Cube) -> Part:
    """Before and after calibration, for every evaluator.

    Args:
        cube: scores.
    """
    images = cube.items["pixels"].fillna(cube.items["corpus"] + "/" + cube.items["item"]).tolist()
    dev = dev_split([str(image) for image in images])
    if dev.all() or not dev.any():
        return _none("there are too few images for a dev and a test split")
    scores = {name: cube.orbits(name) for name in cube.evaluators}
    made = {name: _calibrate(name, scores, dev) for name in cube.evaluators if scores[name].families}
    if not made:
        return _none("no run holds an invariant family to calibrate for")
    tables = (_summary(made), _gaps(made), _risks(made))
    return Part(tuple(each for each in tables if len(each.frame)), (_sensitivity(made), _utility(made)), (PREFERENCES,))


def _none(reason: str) -> Part:
    return Part(missing=(*(Missing(one, paper, reason) for one, paper in _IDS.items()), PREFERENCES))


def _calibrate(name: str, scores: dict[str, Orbits], dev: np.ndarray) -> _Calibrated:
    learning, test = scores[name].part(dev), scores[name].part(~dev)
    others = {other: orbits.clean for other, orbits in scores.items() if other != name}
    terms = learn(learning, reading=READING)
    swept = sweep(learning, terms, {other: clean[dev] for other, clean in others.items()})
    choice = choose(swept, epsilon=EPSILON)
    table = before_after(
        test, terms, choice.strength, {other: clean[~dev] for other, clean in others.items()},
        gaps=(GAP,),
    )  # fmt: skip
    return _Calibrated(choice, swept, table)


def _summary(made: dict[str, _Calibrated]) -> Table:
    frames = []
    for name, each in made.items():
        kept = each.table[each.table["measure"] == "spearman"].dropna(subset=["before", "after"])
        loss = float((kept["after"] - kept["before"]).min()) if len(kept) else math.nan
        rows = each.table[each.table["measure"] == "axis sensitivity"].copy()
        rows[list(_BOUNDS)] = 100 * rows[list(_BOUNDS)]
        frames.append(rows.assign(evaluator=name, strength=each.choice.strength, loss=loss, note=each.choice.note))
    columns = (
        EVALUATOR, Column("axis", "Axis", kind="text"), _N, Column("strength", "λ*"),
        _change("Median |Δ| · 100, before → after [95 % CI]"),
        Column("loss", "Largest loss of ρ", digits=3, signed=True), Column("note", "Remark", kind="text"),
    )  # fmt: skip
    note = (f"{HOW} Sensitivity: median over items of an item's median |Δ| in score units, times 100, mean over the "
            "axis' families. Largest loss: the most negative change of ρ with another evaluator.")  # fmt: skip
    return Table("T14", "Calibration: sensitivity by axis, before and after", note,
                 pd.concat(frames, ignore_index=True), columns, "Table 14")  # fmt: skip


def _gaps(made: dict[str, _Calibrated]) -> Table:
    frame = _measure(made, "percent")
    columns = (EVALUATOR, _FAMILY, _N, _change("Median |%Δ|, before → after [95 % CI]"))
    return Table("T15", "Calibration: societal gaps, before and after", HOW,
                 frame[frame["axis"] == "societal"].reset_index(drop=True), columns, "Table 15")  # fmt: skip


def _risks(made: dict[str, _Calibrated]) -> Table:
    frame = _measure(made, "flip risk")
    frame[list(_BOUNDS)] = 100 * frame[list(_BOUNDS)]
    frame["d"] = GAP
    columns = (
        EVALUATOR,
        _FAMILY,
        _N,
        Column("d", "d", digits=4),
        _change("Risk %, before → after [95 % CI]", digits=1),
    )
    return Table("T16", "Calibration: flip risk at a gap of 0.007, before and after", HOW, frame, columns, "Table 16")


def _measure(made: dict[str, _Calibrated], measure: str) -> pd.DataFrame:
    frames = [each.table[each.table["measure"] == measure].assign(evaluator=name) for name, each in made.items()]
    return pd.concat(frames, ignore_index=True)


def _change(header: str, *, digits: int = 2) -> Column:
    return Column("before", header, digits=digits, low="before_low", high="before_high", to="after")


def _sensitivity(made: dict[str, _Calibrated]) -> Figure:
    rows = []
    for name, each in made.items():
        axes = each.table[each.table["measure"] == "axis sensitivity"]
        for stem in ("before", "after"):
            rows.append(
                pd.DataFrame(
                    {
                        "label": axes["axis"],
                        "series": stem,
                        "panel": name,
                        "value": 100 * axes[stem],
                        "low": 100 * axes[f"{stem}_low"],
                        "high": 100 * axes[f"{stem}_high"],
                        "n": axes["n"],
                    }
                )
            )
    return Figure("F12a", "Calibration: sensitivity by axis", f"{HOW} Each evaluator on its own scale.",
                  pd.concat(rows, ignore_index=True), "median |Δ| · 100", free=True,
                  paper="Figure 12, left")  # fmt: skip


def _utility(made: dict[str, _Calibrated]) -> Figure:
    rows = []
    for name, each in made.items():
        for other, values in each.swept.spearman.items():
            rows.append(
                pd.DataFrame(
                    {
                        "label": each.swept.lambdas,
                        "series": other,
                        "panel": name,
                        "value": values,
                        "low": np.nan,
                        "high": np.nan,
                        "n": each.swept.n,
                        "chosen": np.isclose(each.swept.lambdas, each.choice.strength),
                    }
                )
            )
    columns = ["label", "series", "panel", "value", "low", "high", "n", "chosen"]
    data = pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=columns)
    return Figure("F12b", "Calibration: agreement along λ", f"Spearman's ρ with every other evaluator on the dev "
                  f"split; the larger mark is λ*. {HOW}", data, "Spearman’s ρ", lines=True, mark="chosen",
                  paper="Figure 12, right")  # fmt: skip

"""Tables 7 and 8, figures 7, 8, 14 and 15: cultural, economic, gender and emotion words before the noun."""

import numpy as np
import pandas as pd

from core.report.cube import Cube
from core.report.model import Column, Figure, Missing, Part, Table
from core.report.shifts import CORPUS, COUNT, EVALUATOR, HOW, PERCENT, TESTS, contrasts
from core.report.spatial import dots, factor_table

_WORD = Column("group", "Modifier", kind="text")
_PLACES = (
    ("cultural", "T7", "F7", "Table 7", "Figure 7"),
    ("economic", "T8", "F8", "Table 8", "Figure 8"),
    ("gender", "S4", "F14", "", "Figure 14"),
    ("emotion", "S5", "F15", "", "Figure 15"),
)
_FACTORS = {"cultural": "S6", "economic": "S7", "gender": "S8", "emotion": "S9"}


def framing(cube: Cube) -> Part:
    """Every table and figure on modifiers."""
    tables, figures, missing = [], [], []
    for family, table_id, figure_id, table_paper, figure_paper in _PLACES:
        probes = cube.chosen(family=family, control=False)
        if not probes:
            reason = f"no run holds {family} modifiers; audit the family {family}"
            missing += [Missing(table_id, table_paper, reason), Missing(figure_id, figure_paper, reason)]
            continue
        keep = non_person(cube) if family == "economic" else None
        frame = contrasts(cube, {str(cube.probes.loc[name, "modifier"]): (name,) for name in probes}, keep=keep)
        if frame.empty:
            missing.append(Missing(table_id, table_paper, f"no {family} modifier was scored"))
            continue
        said = f"{family.capitalize()} modifiers"
        tables.append(
            Table(
                table_id,
                f"{said}: how far scores move from the neutral caption",
                f"{HOW} {_baseline(family)}",
                frame,
                (EVALUATOR, CORPUS, _WORD, COUNT, PERCENT, *TESTS),
                table_paper,
            )
        )
        if len(probes) > 1:
            tables.append(
                factor_table(
                    cube, probes, id_=_FACTORS[family], title=f"{said}: do they differ?", of="modifier", keep=keep
                )
            )
        data = dots(frame, label="group", series="evaluator", panel="corpus")
        figures.append(
            Figure(
                figure_id,
                said,
                f"Median %Δ with its 95 % BCa interval. {_baseline(family)}",
                data,
                "median %Δ",
                paper=figure_paper,
            )
        )
    return Part(tuple(tables), tuple(figures), tuple(missing))


def non_person(cube: Cube) -> np.ndarray:
    """Items that show no person, bool [N]."""
    return np.array(cube.items["category"].fillna("") != "person")


def controls(cube: Cube) -> pd.DataFrame:
    """Shift of every neutral control from the bare caption, by family and word."""
    probes = cube.probes.index[cube.probes["control"] & cube.probes["modifier"].notna()]
    return contrasts(cube, {str(name): (str(name),) for name in probes})


def _baseline(family: str) -> str:
    said = "The baseline is the item's neutral caption closest in length (typical, plain or ordinary)."
    return f"{said} Objects that are no persons." if family == "economic" else said

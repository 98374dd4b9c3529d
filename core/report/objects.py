"""Tables 5 and 6, figures 5, 6 and 13: scores by the object's size and category, captions held fixed."""

import numpy as np
import pandas as pd

from core.analysis.bootstrap import median_bca
from core.corpora.schema import COVERAGE_BINS
from core.report.cube import Cube
from core.report.model import Column, Figure, Missing, Part, Table
from core.report.shifts import CORPUS, COUNT, EVALUATOR, corpora
from core.report.spatial import FACTOR_COLUMNS, FACTOR_HOW, factor_row, on_reference

_SCORE = Column("value", "Median score [95 % CI]", digits=3, low="low", high="high")
_HOW = "Clean scores, the caption held fixed; 95 % BCa intervals, 10 000 resamples, seed 2025."


def objects(cube: Cube) -> Part:
    """Every table and figure on the objects themselves."""
    bins = [name for name in COVERAGE_BINS if (cube.items["coverage_bin"] == name).any()]
    categories = sorted(cube.items["category"].dropna().unique())
    if not np.isfinite(cube.scores).any() or all(np.isnan(cube.clean(name)).all() for name in cube.evaluators):
        reason = "no run scored an unedited image with its caption"
        return Part(missing=tuple(Missing(one, paper, reason) for one, paper in _PAPERS.items()))
    size = _levels(cube, "coverage_bin", bins)
    kind = _levels(cube, "category", categories)
    missing, tables, figures = [], [], []
    for frame, column, ids, what in ((size, "Coverage", ("T5", "F5"), "the object's share of the image, in percent"),
                                     (kind, "Category", ("T6", "F6"), "the object's category")):  # fmt: skip
        if frame.empty:
            why = f"the items have no {column.lower()}"
            missing += [Missing(one, _PAPERS[one], why) for one in ids]
            continue
        tables.append(
            Table(
                ids[0],
                f"Scores by {column.lower()}",
                f"{_HOW} A row is a level of {what}.",
                frame,
                (EVALUATOR, CORPUS, Column("level", column, kind="text"), COUNT, _SCORE),
                _PAPERS[ids[0]],
            )
        )
        data = pd.DataFrame(
            {"label": frame["level"], "series": frame["corpus"], "panel": frame["evaluator"], "value": frame["value"],
             "low": frame["low"], "high": frame["high"], "n": frame["n_items"]}
        )  # fmt: skip
        figures.append(
            Figure(
                ids[1],
                f"Scores by {column.lower()}",
                f"{_HOW} Each evaluator on its own scale.",
                data,
                "median score",
                lines=column == "Coverage",
                free=True,
                paper=_PAPERS[ids[1]],
            )
        )
    factors = [_factor(cube, "coverage_bin", bins), _factor(cube, "category", categories)]
    tests = pd.DataFrame([row for rows in factors for row in rows])
    if len(tests):
        columns = (FACTOR_COLUMNS[0], CORPUS, Column("factor", "Factor", kind="text"), *FACTOR_COLUMNS[1:5],
                   *FACTOR_COLUMNS[8:])  # fmt: skip
        tables.append(Table("S3", "Size and category: do the levels differ?", f"{FACTOR_HOW} {on_reference(cube)}",
                            tests, columns, "B.2"))  # fmt: skip
    return Part((*tables,), (*figures, _composition(cube)), (*missing,))


_PAPERS = {"T5": "Table 5", "F5": "Figure 5", "T6": "Table 6", "F6": "Figure 6"}


def _levels(cube: Cube, column: str, levels: list[str]) -> pd.DataFrame:
    """Median clean score of every level, in the order given."""
    records = []
    for evaluator in cube.evaluators:
        clean = cube.clean(evaluator)
        for corpus, keep in corpora(cube):
            for level in levels:
                found = median_bca(clean[keep & (cube.items[column] == level).to_numpy()])
                if found.n:
                    records.append(
                        {"evaluator": evaluator, "corpus": corpus, "level": level, "n_items": found.n,
                         "value": found.estimate, "low": found.low, "high": found.high}
                    )  # fmt: skip
    return pd.DataFrame(records)


def _factor(cube: Cube, column: str, levels: list[str]) -> list[dict[str, object]]:
    position = {level: number for number, level in enumerate(levels)}
    codes = cube.items[column].map(position).to_numpy(dtype=np.float64)
    rows, keep = [], cube.of_corpus(cube.reference)
    for evaluator in cube.evaluators:
        row = factor_row(cube.clean(evaluator)[keep], codes[keep], np.flatnonzero(keep), levels)
        rows.append({"evaluator": evaluator, "corpus": cube.reference, "factor": column.replace("_bin", ""), **row})
    return rows


def _composition(cube: Cube) -> Figure:
    counts = cube.items.assign(category=cube.items["category"].fillna("none")).groupby(["corpus", "category"]).size()
    share = 100 * counts / counts.groupby(level="corpus").transform("sum")
    data = pd.DataFrame(
        {"label": share.index.get_level_values("category"), "series": share.index.get_level_values("corpus"),
         "panel": "", "value": share.to_numpy(), "low": np.nan, "high": np.nan, "n": counts.to_numpy()}
    )  # fmt: skip
    return Figure("F13", "Categories of the items", "Share of each corpus' items that were scored; n counts items.",
                  data, "share of items, %", paper="Figure 13")  # fmt: skip

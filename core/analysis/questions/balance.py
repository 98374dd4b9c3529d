"""Which kinds of things are large in these pictures? How many items each cell of category and coverage holds.

Scores by category and scores by coverage are of the same items: where one category fills the large bins, a difference
of sizes is one of kinds. Source: paper A, section 5.2.
"""

import pandas as pd

from core.analysis.questions.base import Column, Options, Question
from core.analysis.questions.columns import CORPUS, in_order
from core.analysis.table import ScoreTable, View

ALL = "all"


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """One table: a row a category, a column a bin."""
    bins = in_order(list(map(str, table.items["coverage_bin"].dropna().unique())), "coverage_bin")
    columns = (
        CORPUS, Column("category", "Category", kind="text"),
        *(Column(name, f"{name} %", digits=0) for name in bins), Column(ALL, "n", digits=0, help="Items"),
    )  # fmt: skip
    note = (
        "Items that were scored, by category and by the object's share of the image in percent. Where a category has "
        "few items in some bins, a difference between bins may be one between categories, and the other way round."
    )

    def compute(view: View, options: Options) -> pd.DataFrame:
        items = view.table.items[view.items].dropna(subset=["category", "coverage_bin"])
        frames = [_of(rows, str(corpus), bins) for corpus, rows in items.groupby("corpus", sort=True)]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=["corpus", "category", *bins])

    return (
        Question("S-balance", "Items by category and coverage: is either balanced over the other?", "object", "map",
                 note, columns, compute, _needs),
    )  # fmt: skip


def _needs(table: ScoreTable) -> str:
    for column, said in (("category", "category"), ("coverage_bin", "coverage")):
        if table.items[column].isna().all():
            return f"the items have no {said}; a corpus with boxes and categories gives them"
    return ""


def _of(rows: pd.DataFrame, corpus: str, bins: list[str]) -> pd.DataFrame:
    counts = pd.crosstab(rows["category"], rows["coverage_bin"]).reindex(columns=bins, fill_value=0)
    counts = pd.concat([counts, counts.sum().to_frame(ALL).T])
    counts = counts.assign(**{ALL: counts.sum(axis=1)}).rename_axis("category").rename_axis(columns=None)
    found = counts.reset_index()
    found.insert(0, "corpus", corpus)
    return found

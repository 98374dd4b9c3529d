"""Which kinds of things are large in these pictures? How many items each cell of category and coverage holds.

Scores by category and scores by coverage are of the same items: where one category fills the large bins, a difference
of sizes is one of kinds. Source: paper A, section 5.2. Beside it: the labels that could as well belong to another
category (paper A, A.2), and where the masks come from that objects were cut out by.
"""

import numpy as np
import pandas as pd

from core.analysis.questions.base import Column, Options, Question
from core.analysis.questions.columns import CORPUS, in_order
from core.analysis.questions.needs import no_family
from core.analysis.slices import TIES, other_category
from core.analysis.table import ScoreTable, View
from core.probes.scene import GRABCUT, MASK_SOURCE

ALL = "all"
PART = "map"


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """Items by category (rows) and bin (columns), tied labels, and the origins of the masks."""
    return _balance(table), _tied(), _masks()


def _balance(table: ScoreTable) -> Question:
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

    return Question("S-balance", "Items by category and coverage: is either balanced over the other?", "object", PART,
                    note, columns, compute, _needs, clean=True)  # fmt: skip


def _tied() -> Question:
    note = (
        "Items that were scored and whose label could as well belong to another category: the first is the one they "
        "count in. The share is of the corpus's items here that have a category. The readings stand in "
        "assets/taxonomy; the filter 'Without labels of two categories' leaves these items out of every number."
    )
    columns = (
        CORPUS, Column("label", "Label", kind="text"), Column("category", "Category", kind="text"),
        Column("other", "Could as well be", kind="text"), Column("n", "n", digits=0, help="Items"),
        Column("share", "Share of items, %", digits=1),
    )  # fmt: skip

    def compute(view: View, options: Options) -> pd.DataFrame:
        items = view.table.items[view.items].dropna(subset="category")
        of_corpus = items.groupby("corpus").size()
        tied = items.assign(other=other_category(items, view.table.about[TIES])).dropna(subset="other")
        counts = tied.groupby(["corpus", "label", "category", "other"]).size().rename("n").reset_index()
        counts["share"] = 100 * counts["n"] / counts["corpus"].map(of_corpus)
        found: pd.DataFrame = counts.sort_values(
            ["corpus", "n", "label"], ascending=[True, False, True], ignore_index=True
        )
        return found

    return Question("S-ties", "Labels that could as well belong to another category", "object", PART, note, columns,
                    compute, _needs_ties, clean=True)  # fmt: skip


def _needs_ties(table: ScoreTable) -> str:
    ties = table.about.get(TIES)
    lacking = [name for name in table.corpora if ties is None or name not in set(ties["corpus"])]
    if len(lacking) == len(table.corpora):
        return "the runs do not record it: they were made before tied labels were counted; audit again to have it"
    if table.tied.any():
        return ""
    told = f"; the runs of {', '.join(lacking)} do not record it" if lacking else ""
    return f"no scored item has a label that could as well belong to another category{told}"


def _masks() -> Question:
    note = (
        "Items whose object was cut out and put down elsewhere, by where the outline comes from: the source's own "
        "annotation (a polygon, run lengths or a mask), or GrabCut inside the box where the source gives a box alone. "
        "Items whose object was not moved, or could not be, do not count."
    )
    columns = (
        CORPUS, Column("mask", "Outline", kind="text"), Column("n", "n", digits=0, help="Items"),
        Column("share", "Share of items, %", digits=1),
    )  # fmt: skip

    def compute(view: View, options: Options) -> pd.DataFrame:
        items = view.table.items.assign(mask=_mask_of(view.table))[view.items].dropna(subset="mask")
        counts: pd.DataFrame = items.groupby(["corpus", "mask"]).size().rename("n").reset_index()
        counts["share"] = 100 * counts["n"] / counts.groupby("corpus")["n"].transform("sum")
        return counts

    return Question("S-masks", "Where the outlines of moved objects come from", "object", PART, note, columns,
                    compute, _needs_masks, clean=True)  # fmt: skip


def _mask_of(table: ScoreTable) -> pd.Series:
    """Where the outline of every item's object comes from; None where no variant was cut out by it, object [N]."""
    cut_out = table.diagnostics["bg_delta"].there()
    facts = table.about["facts"]
    found = facts[(facts["key"] == MASK_SOURCE) & (facts["value"] == GRABCUT)][["corpus", "item"]].astype(object)
    named = pd.MultiIndex.from_frame(table.items[["corpus", "item"]].astype(object))
    grabbed = named.isin(pd.MultiIndex.from_frame(found))
    names = np.where(grabbed, "GrabCut from the box", "annotated outline")
    return pd.Series(names, index=table.items.index, dtype=object).where(cut_out, None)


def _needs_masks(table: ScoreTable) -> str:
    if table.diagnostics["bg_delta"].there().any():
        return ""
    return no_family(table, "reposition", what="a moved object") or "no object could be moved; S13 says why"


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

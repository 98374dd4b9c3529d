"""Example cards: one comparison of every family with its pictures, and one caption with all its lexical edits.

Sources: paper E, Figure 1 (C27); paper D, Figures 4 to 6; paper B, Figure 5 (C6).
"""

import numpy as np
import pandas as pd

from core.analysis.beside import every_caption
from core.analysis.comparisons import families, pairs
from core.analysis.failures import scales
from core.analysis.questions import Options, papers
from core.analysis.questions.base import Column
from core.analysis.questions.directional import needs
from core.analysis.questions.examples import examples
from core.analysis.reading import read_table
from core.analysis.scope import Narrowed
from core.analysis.table import ScoreTable
from core.probes.base import IDENTITY, Axis
from core.report.failures import slides
from core.report.model import Missing, Table
from core.seeds import RUN_SEED, stream
from core.store.store import Store
from core.stories.slide import Slide
from core.stories.story import Telling

AXIS, CARD = Axis.LEXICAL.value, "C6"
AS_IT_IS = "as it is"

_CAPTIONS = """select probe, evaluator, any_value(caption) as caption, any_value(score) as score from scores
where run = $run and item = $item and subject = $subject and language = $language and rank = $rank
and list_contains($probes, probe) group by probe, evaluator"""


def cards(store: Store, scope: Narrowed) -> Telling:
    """One comparison of every directional family, each under its own caption, as C27 draws it.

    Args:
        store: opened runs.
        scope: whose corpus in view is looked at.
    """
    seen, made, told = scope.only(), list[Slide](), set[str]()
    for table in every_caption(read_table(store, seen)):
        frame = examples(table.view(), Options())
        frame = frame[~frame["family"].isin(told)]
        told |= set(frame["family"])
        named = frame[["corpus", "item", "probe"]].assign(run=seen.run, subject=table.scope.subject)
        made += slides(store, table, named, scales(table))
    return Telling(f"One comparison of every family: {seen.corpus}, run {seen.run}", tuple(made), (), ())


def edited_caption(store: Store, table: ScoreTable) -> Table | Missing:
    """C6: one caption, and the same after each lexical edit, with the score of every evaluator.

    Args:
        store: opened runs.
        table: whose caption, in the corpus that the others are held against.

    Returns:
        The table, or what the runs lack.
    """
    paper, _ = papers.ELSEWHERE[CARD]
    found = {family: probes[0] for family, probes in families(table.view(), axis=AXIS).items()}
    item = _drawn(table, list(found.values())) if found else None
    if item is None:
        return Missing(CARD, paper, needs(table, axis=AXIS) or "no caption here was scored after a lexical edit")
    frame = _scored(store, table, item, found)
    columns = (
        Column("family", "Edit", kind="text"), Column("caption", "Caption", kind="text"),
        *(Column(name, name, digits=4) for name in table.evaluators),
    )  # fmt: skip
    note = (
        f"The caption of item {item} of corpus {table.reference}, drawn with seed {RUN_SEED} among those that most "
        "edits and evaluators scored, whatever these made of it. An example proves nothing; the rates do."
    )
    return Table(CARD, "One caption and its lexical edits", note, frame, columns, paper)


def _drawn(table: ScoreTable, probes: list[str]) -> str | None:
    """Draw one of the items with the most scores after these edits; None where there is none."""
    sides = [pairs(table.view(), name, probes) for name in table.evaluators]
    scored = np.array([~np.isnan(each.right - each.wrong) for each in sides]).sum(axis=(0, 1))
    scored = np.where(table.of_corpus(table.reference), scored, 0)
    if not scored.any():
        return None
    most = np.flatnonzero(scored == scored.max())
    place = most[int(stream(RUN_SEED, "example", AXIS).integers(len(most)))]
    return str(table.items["item"].to_numpy(dtype=object)[place])


def _scored(store: Store, table: ScoreTable, item: str, found: dict[str, str]) -> pd.DataFrame:
    scope, named = table.scope, {AS_IT_IS: IDENTITY, **found}
    rows = store.query(_CAPTIONS, {
        "run": dict(scope.runs)[table.reference], "item": item, "subject": scope.subject, "language": scope.language,
        "rank": scope.rank, "probes": list(named.values()),
    })  # fmt: skip
    scores = rows.pivot_table(index="probe", columns="evaluator", values="score", dropna=False)
    texts = rows.drop_duplicates("probe").set_index("probe")["caption"]
    return pd.DataFrame([
        {"family": family, "caption": texts[probe],
         **{name: scores[name].get(probe, np.nan) if name in scores else np.nan for name in table.evaluators}}
        for family, probe in named.items() if probe in texts.index
    ])  # fmt: skip

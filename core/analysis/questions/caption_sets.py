"""Sets of captions that an item brings: is every wrong one told from every right one?"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from core.analysis.comparisons import DIRECTIONAL, families, pairs, percent
from core.analysis.effects import corpora
from core.analysis.questions import papers
from core.analysis.questions.columns import CORPUS, EVALUATOR
from core.analysis.questions.directional import DEPTH, SECTION, needs
from core.analysis.questions.question import Column, Options, Question
from core.analysis.table import ScoreTable, View
from core.statistics.crossed_sources import first_of
from core.statistics.shares import share
from core.statistics.wording import counted

BOTH_WAYS = "every comparison"

_SET_COLUMNS = (
    "evaluator",
    "corpus",
    "label",
    "n_sets",
    "n",
    "share",
    "low",
    "high",
    "each",
    "each_low",
    "each_high",
    "note",
)


def of_sets(table: ScoreTable) -> tuple[Question, ...]:
    """One table: shares of sets that are right as a whole."""
    id_, paper = papers.SETS
    columns = (
        EVALUATOR,
        CORPUS,
        Column("label", "Right in", kind="text"),
        Column("n_sets", "n sets", digits=0),
        Column("n", "n comparisons", digits=0),
        Column(
            "share",
            "Sets right as a whole, % [95 % CI]",
            digits=1,
            low="low",
            high="high",
            help="Every comparison of the set has the right side strictly above; Wilson’s interval over sets",
        ),
        Column(
            "each",
            "Comparisons right, % [95 % CI]",
            digits=1,
            low="each_low",
            high="each_high",
            help="The same comparisons one by one, for comparison; those of one set together",
        ),
        Column("note", "Remark", kind="text"),
    )
    note = (
        "A set is the comparisons of one source, two at least, all with scores: the example of a suite, or one "
        "picture. It is right where the right side of every one of them scores strictly higher. Of a set of two "
        "pictures and two captions, a blind choice gives 25 % for captions, 25 % for pictures and 16.7 % for both."
    )
    return (
        Question(id_, "Sets that must be right as a whole", SECTION, DEPTH, note, columns, _sets, lacking, paper=paper),
    )


def lacking(table: ScoreTable) -> str:
    """Why there is no set; empty where there is."""
    if not _given(table):
        return needs(table) or "no run holds pairs that a corpus gives; python -m core audit --corpus pairs has them"
    return "" if table.sources is not None else "no two comparisons here share a picture or an example"


def _given(table: ScoreTable) -> dict[str, tuple[str, ...]]:
    found = table.of_expectation(DIRECTIONAL)
    return {name: found[name] for name in papers.GIVEN if name in found}


def _sets(view: View, options: Options) -> pd.DataFrame:
    rows = (
        [row for evaluator in view.evaluators for row in _set_rows(view, evaluator)] if not lacking(view.table) else []
    )
    return pd.DataFrame(rows, columns=list(_SET_COLUMNS))


def _set_rows(view: View, evaluator: str) -> Iterator[Mapping[str, object]]:
    kept = families(view)
    named = {name: kept[name] for name in _given(view.table) if name in kept}
    asked = (
        {**named, BOTH_WAYS: tuple(probe for probes in named.values() for probe in probes)} if len(named) > 1 else named
    )
    for corpus, own in corpora(view.table):
        for label, probes in asked.items():
            found = pairs(view, evaluator, probes)
            right = np.where(found.asked, found.right - found.wrong, np.nan)[:, own]
            made = _set_record(right, found.asked[:, own], first_of(view.table.sources[own]))  # type: ignore[index]
            if made:
                yield {"evaluator": evaluator, "corpus": corpus, "label": label, **made}


def _set_record(margin: np.ndarray, asked: np.ndarray, sources: np.ndarray) -> Mapping[str, object]:
    """Share of sets, from margins [k, N] of which ``asked`` are comparisons; empty without a set."""
    held = np.broadcast_to(sources, margin.shape)[asked]
    frame = pd.DataFrame({"source": held, "margin": margin[asked]})
    by = frame.groupby("source")["margin"]
    sets = pd.DataFrame({"size": by.size(), "scored": by.count(), "lowest": by.min()})
    several = sets[sets["size"] > 1]
    whole = several[several["size"] == several["scored"]]
    if whole.empty:
        return {}
    found = share(whole["lowest"] > 0)
    own = frame[frame["source"].isin(whole.index)]
    each = share(own["margin"] > 0, groups=own["source"])
    left = len(several) - len(whole)
    return {
        "n_sets": found.n,
        "n": len(own),
        "share": 100 * found.estimate,
        "low": 100 * found.low,
        "high": 100 * found.high,
        **percent("each", each),
        "note": f"no score for a comparison of {counted(left, 'set')}" if left else "",
    }

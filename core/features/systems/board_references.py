"""Captioners beside references: BLEU, METEOR, ROUGE-L and CIDEr-D on the pictures of a leaderboard."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.features.systems.board_scores import COLUMNS, PEOPLE
from core.scoring.reference_metrics import CIDER, METRICS, ROUGE, SUMMED, Compared, compare, fingerprint, lacking
from core.statistics.bootstrap import Interval
from core.statistics.corpus_sums import summed_intervals
from core.statistics.ratios import mean_bca

BESIDE = ("system", "metric", "value", "low", "high", "n_items", "note")
"""Columns of what stands beside the standings."""

RANKED = (ROUGE, CIDER)
"""Metrics whose value of a system is the mean over its pictures, so that they rank systems as evaluators do. BLEU and
METEOR count over all pictures together."""


@dataclass(frozen=True, slots=True)
class BoardReferences:
    """What references say of the systems."""

    # :data:`core.features.systems.board_scores.COLUMNS`, scores of the RANKED metrics; empty where none can be had
    rows: pd.DataFrame
    beside: pd.DataFrame  # BESIDE, every metric of every system on the pictures that all of them caption
    prints: Mapping[str, str]  # by RANKED metric, what its scores depend on
    remark: str = ""  # one sentence on what could not be had; empty otherwise


def beside(records: Sequence[Sequence[object]] = ()) -> pd.DataFrame:
    """The table BESIDE of some records."""
    kinds = dict.fromkeys(("value", "low", "high"), "float64") | {"n_items": "int64"}
    return pd.DataFrame(list(records), columns=list(BESIDE)).astype(kinds)


def score_references(
    rows: pd.DataFrame, references: Mapping[str, Sequence[str]], *, people: Collection[str] = (PEOPLE,)
) -> BoardReferences:
    """Compare every caption of one evaluator's rows of ``score_board`` with the references of its picture, captions by
    people by item id.

    CIDEr-D weighs words by the references of all the pictures on the leaderboard, whichever a system captions. What is
    a caption by people is never compared with itself: its references, for the systems named ``people``, are those
    without it.
    """
    clean = rows[rows["probe"] == ""].reset_index(drop=True)
    items = [item for item in dict.fromkeys(clean["item"]) if references.get(item)]
    scores = {metric: np.full(len(clean), np.nan) for metric in RANKED}
    counts: dict[str, tuple[list[str], Mapping[str, np.ndarray]]] = {}
    for (system, place), part in clean.groupby(["system", "place"], sort=False):
        said = dict(zip(part["item"], part["caption"].astype(str), strict=True))
        found = _compared(items, said, references, own=system in people, meteor=place == 0 and not lacking())
        at = {item: row for row, item in enumerate(items)}
        for metric in RANKED:
            scores[metric][part.index] = [
                found.per_caption[metric][at[item]] if item in at else np.nan for item in part["item"]
            ]
        if place == 0:
            counts[str(system)] = (items, found.counts)
    common = _common(clean, scores)
    if not common:
        nothing = pd.DataFrame(columns=list(COLUMNS))
        return BoardReferences(nothing, beside(), {}, f"no {', '.join(METRICS)}: {_why(len(items))}")
    made = pd.concat([_rows(clean, metric, scores[metric]) for metric in RANKED], ignore_index=True)
    return BoardReferences(
        made, _values(clean, scores, counts, common), dict.fromkeys(RANKED, fingerprint()), lacking()
    )


def _compared(
    items: Sequence[str], said: Mapping[str, str], references: Mapping[str, Sequence[str]], *, own: bool, meteor: bool
) -> Compared:
    """One system's captions; a picture without one keeps its references among those that weigh words."""
    people = [[text for text in references[item] if not own or text != said.get(item)] for item in items]
    return compare([said.get(item) for item in items], people, meteor=meteor)


def _common(clean: pd.DataFrame, scores: Mapping[str, np.ndarray]) -> list[str]:
    """Pictures on which every system's own caption has every score."""
    whole = np.isfinite(np.column_stack(list(scores.values()))).all(axis=1)
    own = clean[(clean["place"] == 0) & whole]
    systems = clean["system"].nunique()
    held = own.groupby("item", sort=False)["system"].nunique()
    return [str(item) for item in held[held == systems].index]


def _why(items: int) -> str:
    if items < 2:
        return f"{items} of these pictures {'has' if items == 1 else 'have'} references, and two are needed"
    return "no picture with references has a caption of every system"


def _rows(clean: pd.DataFrame, metric: str, scores: np.ndarray) -> pd.DataFrame:
    """Rows as of an evaluator without a tokenizer."""
    return clean.assign(evaluator=metric, score=scores, tokens=np.nan, cut=None)[list(COLUMNS)]


def _values(
    clean: pd.DataFrame,
    scores: Mapping[str, np.ndarray],
    counts: Mapping[str, tuple[list[str], Mapping[str, np.ndarray]]],
    common: Sequence[str],
) -> pd.DataFrame:
    sources = clean.drop_duplicates("item").set_index("item")["source"].reindex(list(common))
    records: list[tuple[object, ...]] = []
    for system, (items, held) in counts.items():
        places = [items.index(item) for item in common]
        own = clean[(clean["system"] == system) & (clean["place"] == 0)]
        found: dict[str, Interval] = {}
        for key, table in held.items():
            names, score = SUMMED[key]
            found |= dict(zip(names, summed_intervals(table[places], score, groups=sources), strict=True))
        for metric in RANKED:
            by_item = pd.Series(scores[metric][own.index], index=own["item"]).reindex(list(common))
            found[metric] = mean_bca(by_item, groups=sources)
        records += [(system, metric, *_told(found[metric])) for metric in METRICS if metric in found]
    return beside(records)


def _told(each: Interval) -> tuple[float, float, float, int, str]:
    return *each.numbers(), each.n, each.note

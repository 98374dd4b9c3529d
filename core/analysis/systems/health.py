"""The health of each system's captions, on the pictures that all systems caption."""

import math
from collections.abc import Sequence
from functools import partial

import pandas as pd

from core.analysis.systems.board import own_rows, word_count
from core.probes.words.health import MOST_REPEATED, distinct, ends_hollow, ends_wrongly, repeated
from core.statistics.ratios import mean_bca, ratio_bca
from core.statistics.shares import share

CLIP_TOKENS = 77
"""Tokens that CLIP's text tower reads, both markers included; what is longer is cut off."""

HEALTH = ("system", "measure", "value", "low", "high", "n_captions", "note")

MEASURES = {
    **{f"rep-{n}": f"Rep-{n}, repeated {n}-grams a caption" for n in range(1, MOST_REPEATED + 1)},
    "distinct-1": "Distinct-1, different words of all words, %",
    "distinct-2": "Distinct-2, different pairs of words, %",
    "wrong-ending": "Wrong endings, %",
    "hollow-ending": "Hollow endings, %",
    "words": "Words a caption",
    "over-77": "Over CLIP's 77 tokens, %",
    "chair-s": "CHAIR_s, captions with an invented object, %",
    "chair-i": "CHAIR_i, invented of named objects, %",
}
"""Measure -> its name for a reader, in order; ``cut EVALUATOR`` follows for evaluators with a tokenizer."""


def health(rows: pd.DataFrame, systems: Sequence[str], *, level: float = 0.95) -> pd.DataFrame:
    """Measure the systems' own captions; HEALTH, a row a system and measure.

    Shares are per cent. Means have BCa intervals and shares Wilson's, over pictures or their sources; distinct-n has
    none, since it falls with the number of captions, which is why all systems are read on the same pictures.
    Objects can be invented only where the instances are known, tokens cut only where there is a tokenizer: a measure
    without a value says why.
    """
    own = own_rows(rows)
    own = own[own["system"].isin(list(systems))]
    first = own.drop_duplicates(["system", "item"])
    counts = first["item"].value_counts()
    shared = set(counts[counts == len(systems)].index)
    told = "" if shared else "no picture has a caption of every system: each on its own"
    records = []
    for system in systems:
        part = first[(first["system"] == system) & (first["item"].isin(shared) if shared else True)]
        for measure, found in _measured(part, level).items():
            records.append((system, measure, *found[:3], len(part), found[3] or told))
        for evaluator, each in own[own["system"] == system].groupby("evaluator", sort=False):
            cut = each[each["item"].isin(set(part["item"]))].dropna(subset=["cut"])
            if len(cut):
                value, low, high, note = _share(cut["cut"].astype(float), cut, level)
                records.append((system, f"cut {evaluator}", value, low, high, len(cut), note or told))
    return pd.DataFrame(records, columns=list(HEALTH))


def wide(table: pd.DataFrame) -> pd.DataFrame:
    """A row a system, a column a measure: the values alone."""
    found = table.pivot_table(
        index="system", columns="measure", values="value", aggfunc="first", dropna=False, sort=False
    )
    return found.reset_index().rename_axis(columns=None)


def told_as(measure: str) -> str:
    """Name of a measure for a reader."""
    return MEASURES.get(measure) or f"Cut by the text tower of {measure.removeprefix('cut ')}, %"


_Found = tuple[float, float, float, str]


def _measured(part: pd.DataFrame, level: float) -> dict[str, _Found]:
    captions = part["caption"].astype(str)
    found = {f"rep-{n}": _mean(captions.map(partial(repeated, n=n)), part, level) for n in range(1, MOST_REPEATED + 1)}
    for n in (1, 2):
        different, every = distinct(captions, n)
        value = 100 * different / every if every else math.nan
        found[f"distinct-{n}"] = (value, math.nan, math.nan, "no interval: it falls with the number of captions")
    found["wrong-ending"] = _share(captions.map(ends_wrongly).astype(float), part, level)
    found["hollow-ending"] = _share(captions.map(ends_hollow).astype(float), part, level)
    found["words"] = _mean(captions.map(word_count), part, level)
    found["over-77"] = _share((part["clip_tokens"] > CLIP_TOKENS).astype(float), part, level)
    return found | _chair(part, level)


def _chair(part: pd.DataFrame, level: float) -> dict[str, _Found]:
    known = part.dropna(subset=["named"])
    if known.empty:
        nothing = (
            math.nan,
            math.nan,
            math.nan,
            "the things in these pictures are not annotated with COCO's categories",
        )
        return {"chair-s": nothing, "chair-i": nothing}
    found = ratio_bca(known["invented"], known["named"], groups=known["source"], level=level)
    ratio = (100 * found.estimate, 100 * found.low, 100 * found.high, found.note)
    return {"chair-s": _share((known["invented"] > 0).astype(float), known, level), "chair-i": ratio}


def _mean(values: pd.Series, part: pd.DataFrame, level: float) -> _Found:
    found = mean_bca(values.astype(float), groups=part["source"], level=level)
    return found.estimate, found.low, found.high, found.note


def _share(values: pd.Series, part: pd.DataFrame, level: float) -> _Found:
    found = share(values, groups=part["source"], level=level)
    return 100 * found.estimate, 100 * found.low, 100 * found.high, found.note

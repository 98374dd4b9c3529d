"""A judge beside itself, asked in another way: other words, another order or scale, the picture behind the text, again.

Picture and caption are the same, and so is what is meant by the question: what a score moves by is how it is asked.
Scales differ, so scores are shares of theirs. The band is the very same question again, or invisible edits.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from core.analysis.effects import bounds, corpora, ends
from core.analysis.lacks import no_clean
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR, Dots
from core.analysis.questions.question import Column, Drawing, Options, Question
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import FURTHER, NO_CLAIM, NO_FURTHER, NOT_TOLD, against_null
from core.evaluators.imported import IMPORTED
from core.evaluators.network.rubrics import MARK
from core.probes.base import Axis
from core.statistics.agreement import agreement
from core.statistics.bootstrap import median_bca
from core.statistics.crossed_sources import first_of
from core.statistics.rank_agreement import spearman
from core.statistics.selectivity import item_selectivity
from core.statistics.shares import share_of_fractions

_REPEAT = "the same question again"
_EDITS = "invisible edits"
_TITLE = "The way a judge is asked: how much it alone changes the score"
_NOTE = (
    "The score of an unedited item by a variant of the judge, less that by the judge as it is usually asked, both as "
    f"percent of their scales. The band is {_REPEAT} (repeat-2, repeat-3, …) where it was audited, else {_EDITS} of "
    "the same item. More than the band: how often the variant moves an item's score more than one of the band does, "
    "ties half; 50 % is no more. Intervals at 95 %, medians by BCa, items of one source together. ρ: Spearman's, "
    "of the two orders of the items."
)
_MEASURED = (*bounds("shift"), *bounds("size"), "rho", "against", "band", *bounds("further"))
_NAMES = ("evaluator", "base", "way", "corpus", "n_items", *_MEASURED, "claim", "note")

PREFIX = "judge:"


class Variant(NamedTuple):
    """A judge asked in another way, and the same one asked as usual."""

    name: str  # name, base: of evaluators
    base: str
    way: str  # what differs, e.g. ``scale-5``.

    @property
    def repeats(self) -> bool:
        """Whether it is the very same question again."""
        return self.way.startswith("repeat-")


def variants(table: ScoreTable) -> Iterator[Variant]:
    """Judges of a table that are asked in another way than one that is there too."""
    for name in table.evaluators:
        plain, imported = (name.removesuffix(IMPORTED), IMPORTED if name.endswith(IMPORTED) else "")
        base, mark, way = plain.rpartition(MARK)
        if name.startswith(PREFIX) and mark and f"{base}{imported}" in table.evaluators:
            yield Variant(name, f"{base}{imported}", way)


def asked_as_usual(table: ScoreTable) -> tuple[str, ...]:
    """Judges of a table that are no variants."""
    judges = (name for name in table.evaluators if name.startswith((PREFIX, "judge-")) or name == "judge")
    return tuple(name for name in judges if MARK not in name)


def scale(table: ScoreTable, name: str) -> tuple[float, float]:
    """Lowest score of an evaluator, and from there to its highest; NaN where no run tells it, or runs do not agree."""
    known = table.about.get("evaluators", pd.DataFrame(columns=["evaluator", "lowest"]))
    found = known.loc[known["evaluator"] == name, "lowest"].unique()
    return (float(found[0]) if len(found) == 1 else np.nan), table.span(name)


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The tables of judges beside their variants, and of two on one scale beside each other; none where a run has no
    such judges."""
    ways = (
        EVALUATOR,
        Column("way", "Asked with", kind="text"),
        CORPUS,
        COUNT,
        Column("shift", "Median shift, % of the scale [95 % CI]", signed=True, low="shift_low", high="shift_high"),
        Column("size", "Median |shift|, % of the scale [95 % CI]", low="size_low", high="size_high"),
        Column("rho", "ρ"),
        Column("against", "Band", kind="text"),
        Column("band", "Median |shift| of the band", help="In percent of the scale"),
        Column("further", "More than the band, % [95 % CI]", digits=1, low="further_low", high="further_high"),
        Column("claim", "Claim", kind="text"),
        Column("note", "Remark", kind="text"),
    )
    note = "Median |shift| of the unedited items in percent of the scale, with its 95 % BCa interval."
    size, axis = ("size", "size_low", "size_high"), "median |shift|, % of the scale"
    dots = Dots("evaluator", series="corpus", panel=(), values=size, axis=axis)
    drawn = (Drawing("F-judge-ways", _TITLE, note, dots),)
    jurors = (
        Column("jurors", "Judges", kind="text"),
        CORPUS,
        Column("measure", "Measure", kind="text"),
        Column("estimate", "Estimate [95 % CI]", low="low", high="high"),
        Column("n_items", "n", digits=0, help="Items with two answers or more"),
        Column("n_votes", "Answers", digits=0),
        Column("note", "Remark", kind="text"),
    )
    found, where = list[Question](), ("summary", "judges")
    if any(variants(table)):
        found.append(Question("S-judge-ways", _TITLE, *where, _NOTE, ways, _compute, no_clean, drawn, clean=False))
    if any(juries(table)):
        found.append(Question("S-jurors", _JURORS_TITLE, *where, _JURORS_NOTE, jurors, _compute_jurors, clean=True))
    return tuple(found)


def _compute(view: View, _options: Options) -> pd.DataFrame:
    records = [
        _row(view, variant, corpus, own & view.items)
        for variant in variants(view.table)
        if {variant.name, variant.base} <= set(view.evaluators)
        for corpus, own in corpora(view.table)
    ]
    return pd.DataFrame(records, columns=list(_NAMES))


def _row(view: View, variant: Variant, corpus: str, keep: np.ndarray) -> dict[str, object]:
    table = view.table
    shifts = _shift(table, variant)
    sources = table.sources_of(keep)
    middle, size = (median_bca(each[keep], groups=sources) for each in (shifts, np.abs(shifts)))
    against, band = _band(view, variant)
    beyond = item_selectivity(np.abs(shifts)[None], np.abs(band))
    over = share_of_fractions(beyond[keep], groups=sources)
    own = np.abs(band[:, keep])
    rho, _ = spearman(table.clean(variant.name)[keep], table.clean(variant.base)[keep])
    return {
        "evaluator": variant.name,
        "base": variant.base,
        "way": variant.way,
        "corpus": corpus,
        "n_items": middle.n,
        **ends(middle, bounds("shift")),
        **ends(size, bounds("size")),
        "rho": rho,
        "against": against,
        "band": float(np.nanmedian(own)) if (~np.isnan(own)).any() else np.nan,
        **ends(over, bounds("further"), times=100),
        "claim": _claim(against_null(over), against) if against and over.n else "",
        "note": _note(table, variant, corpus, size.note),
    }


def _note(table: ScoreTable, variant: Variant, corpus: str, said: str) -> str:
    if np.isnan([scale(table, name) for name in (variant.name, variant.base)]).any():
        return "the run does not tell the scale"
    silent = (table.silent(name, corpus) for name in (variant.name, variant.base))
    return "; ".join(dict.fromkeys(filter(None, (*silent, said))))


def _claim(said: str, against: str) -> str:
    """The words for invisible edits, of whatever the band is."""
    if said in NO_CLAIM:
        return said
    words = {FURTHER: "more than", NO_FURTHER: "no more than", NOT_TOLD: "not told apart from"}
    return f"{words[said]} {against}"


def _shift(table: ScoreTable, variant: Variant) -> np.ndarray:
    """What a variant changes of every item's score, in percent of the scale, float64 [N]."""
    own, base = (
        (table.clean(name) - low) / span
        for name, (low, span) in ((name, scale(table, name)) for name in (variant.name, variant.base))
    )
    return np.asarray(100 * (own - base))


def _band(view: View, variant: Variant) -> tuple[str, np.ndarray]:
    """What a variant is held against, and its shifts in percent of the scale, float64 [k, N]."""
    table = view.table
    repeats = () if variant.repeats else variants(table)  # a repeat is not its own band
    if again := [_shift(table, each) for each in repeats if each.base == variant.base and each.repeats]:
        return _REPEAT, np.stack(again)
    null = tuple(name for names in table.families(axis=Axis.NULL.value).values() for name in names)
    if null:
        return _EDITS, 100 * view.shifts(variant.base, null)[0] / table.span(variant.base)
    return "", np.full((1, len(table.items)), np.nan)


# How far judges agree on the same items: the measures of agreement between people, of judges on one scale.
MOST_ANSWERS = 11
"""Answers of a scale whose agreement is counted answer by answer: 0 to 10. Finer ones have rank correlations."""

_JURORS_TITLE = "Do the judges agree?"
_JURORS_NOTE = (
    "Unedited items, the answers of judges on one scale of whole numbers counted as votes, by the measures that "
    "people's votes are held to; Krippendorff's α for ordered answers. Equal scores agree, near ones do not but for α. "
    "Intervals at 95 %, BCa, items of one source together. Judges on finer scales stand in the rank correlations alone."
)
_JURORS_NAMES = ("jurors", "corpus", "measure", "estimate", "low", "high", "n_items", "n_votes", "note")


def juries(table: ScoreTable) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
    """Judges on one scale, at least two, and its answers."""
    by_scale: dict[tuple[float, float], list[str]] = {}
    for name in asked_as_usual(table):
        by_scale.setdefault(scale(table, name), []).append(name)
    for (low, span), names in by_scale.items():
        answers = np.arange(low, low + span + 1) if span < MOST_ANSWERS else np.empty(0)
        if len(names) > 1 and len(answers) > 1 and _whole(table, names, answers):
            yield tuple(names), answers


def _whole(table: ScoreTable, names: list[str], answers: np.ndarray) -> bool:
    """Whether every score is one of the answers."""
    scores = np.concatenate([table.clean(name) for name in names])
    return bool(np.isin(scores[~np.isnan(scores)], answers).all())


def _compute_jurors(view: View, _options: Options) -> pd.DataFrame:
    records = list[dict[str, object]]()
    for names, answers in juries(view.table):
        jurors = [name for name in names if name in view.evaluators]
        if len(jurors) < 2:
            continue
        scores = np.stack([view.table.clean(name) for name in jurors])
        counts = (scores[:, :, None] == answers).sum(axis=0)
        for corpus, own in corpora(view.table):
            keep = own & view.items
            of = view.table.sources_of(keep)
            found = agreement(counts[keep], groups=None if of is None else first_of(of), ordinal=True)
            records += [{**row, "jurors": ", ".join(jurors), "corpus": corpus} for row in found.rows()]
    return pd.DataFrame(records, columns=list(_JURORS_NAMES))

"""Does what one corpus shows hold on the others, and do they differ more than chance? (RQ4)

Source: paper A, sections 5.4 and B.4.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from core.analysis.effects import IN_PERCENT, corpora, median_over, words
from core.analysis.lacks import no_probe, several_corpora
from core.analysis.questions import families, papers
from core.analysis.questions.columns import (
    CORPUS,
    COUNT,
    EVALUATOR,
    FAMILY,
    HEAD,
    PERCENT,
    SHIFTS,
    TESTS,
    Dots,
    axis_of,
    cells,
    how,
)
from core.analysis.questions.papers import shown
from core.analysis.questions.question import Column, Drawing, Options, Question
from core.analysis.questions.word_edits import of_things
from core.analysis.scores import once
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import ALPHA, untold
from core.probes.base import BASE_CAPTION
from core.probes.words.insertion import PREFIX
from core.statistics.bootstrap import LEAST_N, Interval
from core.statistics.power import difference, heterogeneity
from core.statistics.rank_agreement import direction_agreement
from core.statistics.wording import counted

_BY_CORPUS = Dots(label="evaluator", series="corpus", panel=(), values=IN_PERCENT, axis=axis_of("percent"))


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """One family in every corpus, the paper's subsets, and the agreement of the directions."""
    return (
        _one_family(table),
        _subset(table, "T9", "", "Vertical flips", papers.FLIP),
        _subset(table, "T10", "F9", "Cultural subset (American, European, Asian, African)", "cultural"),
        _subset(table, "T11", "F10", "Economic subset (cheap, expensive)", "economic"),
        directions(table),
    )


def _one_family(table: ScoreTable) -> Question:
    known = [name for name in table.families() if name != BASE_CAPTION and not table.is_control(name)]
    known.sort(key=lambda name: (name != papers.FLIP, name))
    tests = families.TESTED

    def compute(view: View, options: Options) -> pd.DataFrame:
        rows = families.one_family(view, options, question.family(options), pooled=False)
        return rows.rename(columns={"label": "family"})

    title = "One family in every corpus: how much it changes the score"
    read = "Median % change with its 95 % BCa interval; the line is no change."
    columns = (FAMILY, CORPUS, EVALUATOR, COUNT, PERCENT, *TESTS)
    question = Question("S20", title, "corpora", "families", how(tests), columns, compute)
    drawing = Drawing("F-corpora", title, read, Dots("corpus"), opens={"families": "family"})
    none = "" if known else "no run has the shift of an invariant family"
    question = replace(question, needs=lambda table: several_corpora(table) or none, figures=(drawing,), part_of="S1")
    question = replace(question, tests=tests, asks=(*SHIFTS, "family"), families=tuple(known))
    return question


def _subset(table: ScoreTable, id_: str, figure: str, said: str, family: str) -> Question:
    probes = papers.subset(family, table.probes.index)
    number, title = id_.removeprefix("T"), f"{said}, corpus by corpus"
    note = "Median over items of an item's mean % change over the modifiers named; 95 % BCa intervals, seed 2025."
    note = note if family != papers.FLIP else "Median % change over items; 95 % BCa intervals, seed 2025."
    note += " Objects that are no persons." if family in papers.THINGS_ONLY else ""
    note += " The words stand in the caption that people wrote." if probes != papers.SUBSETS[family] else ""
    note += _without(table, family, probes)
    opens = {"probes": f"={','.join(probes)}", **of_things(table, family)}
    paper_figure = Drawing(figure, title, note, _BY_CORPUS, f"Figure {figure.removeprefix('F')}", opens=opens)

    def needs(table: ScoreTable) -> str:
        return several_corpora(table) or no_probe(table, probes, what="a probe of this table", some=True)

    columns = (*HEAD, COUNT, PERCENT)
    question = Question(id_, title, "corpora", "subsets", note, columns, partial(_means, family=family, probes=probes))
    return replace(question, needs=needs, figures=(paper_figure,) if figure else (), paper=f"Table {number}")


def _without(table: ScoreTable, family: str, probes: Sequence[str]) -> str:
    """Name the rows that no score here can fill, as the end of a note; empty where every row is filled."""
    here = [name for name in probes if name in table.probes.index]
    if len(table.corpora) < 2 or not here:
        return ""
    view = table.view()
    lacking = []
    for evaluator in table.evaluators:
        percent = _mean(view, evaluator, here)
        found = {corpus: percent[own & shown(view, family)] for corpus, own in corpora(table)}
        lacking += [f"{evaluator} on {corpus}" for corpus, own in found.items() if np.isnan(own).all()]
    absent = [name for name in probes if name not in here]
    said = f" Not audited, and in no mean: {', '.join(absent)}." if absent else ""
    return said + (f" Left out, for no % change here is of it: {'; '.join(lacking)}." if lacking else "")


def _mean(view: View, evaluator: str, probes: Sequence[str]) -> np.ndarray:
    """Mean % change of every item over some probes, float64 [N]; NaN where it has none."""
    change = np.array([view.changes(evaluator, (name,)).percent for name in probes])
    count = (~np.isnan(change)).sum(axis=0)
    return np.where(count > 0, np.nansum(change, axis=0) / np.maximum(count, 1), np.nan)


def _means(view: View, options: Options, *, family: str, probes: Sequence[str]) -> pd.DataFrame:
    here = view.probes([name for name in probes if name in view.table.probes.index])
    items = shown(view, family)

    def means(evaluator: str) -> list[np.ndarray]:
        return [np.where(items, _mean(view, evaluator, here), np.nan)]

    def row(mean: np.ndarray, items: np.ndarray) -> dict[str, object]:
        found = words(median_over(mean, items, view.table.sources))
        return {**found, "median_percent": found["value"]}

    return cells(view, ("n_items", "median_percent", "low", "high", "note"), means, row, asked=bool(here))


MEDIAN = "median over corpora"  # Stands in the corpus column of table 12's summary rows

SUBSET, WHOLE_FAMILY = "paper’s subset", "whole family"

_NOTE = (
    "Share of a corpus' items whose shift has the direction of the median shift on the reference corpus, {} unless "
    "another is chosen; an item that does not move counts one half. 95 % Wilson intervals over sources. The paper's "
    "subsets come first, then whole families. The row “median over corpora”, where two or more stand beside the "
    "reference, is the median of their agreements, without an interval: they are few and were not drawn. Medians of "
    "one direction are no proof of one size, so between corpora: of three or more, the reference among them, Cochran's "
    "Q and I² of the median % change, each weighing by its 95 % interval; of two, the difference of the medians with "
    "its interval, from theirs; each at 5 %, not corrected. Corpora of fewer than {} items are in neither. With few "
    "corpora Q finds little: a large p does not say that they are alike."
)


def directions(table: ScoreTable) -> Question:
    """Table 12, with what the corpora differ by beside it."""
    agreement = "Share of items that move as the median of the reference does; one that does not move counts half"
    between_help = "Cochran's Q and I² of three corpora or more, the difference of two with its interval"
    of = Column("family", "Subset or family", kind="text"), Column("of", "Which", kind="text")
    numbers = (
        Column("agreement", "Agreement % [95 % CI]", digits=0, low="low", high="high", help=agreement),
        Column("reference_median", "Reference Δ", digits=4, signed=True),
        Column("median", "Median Δ", digits=4, signed=True),
        Column("same", "Medians", kind="text", help="Is the direction of the two medians the same?"),
        Column("between", "Between corpora, % change", kind="text", help=between_help),
    )
    columns = (EVALUATOR, *of, CORPUS, COUNT, *numbers)
    title = f"Agreement with the direction on {table.reference}"
    note = _NOTE.format(table.reference, LEAST_N)
    question = Question("T12", title, "corpora", "directions", note, columns, _agreement)
    return replace(question, needs=several_corpora, paper="Table 12", asks=("reference",))


@once
def _named(view: View) -> tuple[tuple[str, str, str, tuple[str, ...]], ...]:
    """Label, what it is, family and probes: the paper's subsets, then the families that are not one of them."""
    found, same, families, known = [], set(), view.families(), view.table.probes.index
    for family in papers.SUBSETS:
        if here := view.probes([name for name in papers.subset(family, known) if name in known]):
            found.append((papers.SUBSET_LABELS[family], SUBSET, family, here))
            same |= {name for name in (family, f"{PREFIX}{family}") if set(here) == set(families.get(name, ()))}
    whole = [
        (name, WHOLE_FAMILY, name, probes)
        for name, probes in families.items()
        if name not in same and name != BASE_CAPTION and not view.table.is_control(name)
    ]
    return (*found, *whole)


def _agreement(view: View, options: Options) -> pd.DataFrame:
    table, rows = view.table, []
    held = options.reference if options.reference in view.corpora else table.reference
    order = {label: place for place, (label, *_) in enumerate(_named(view))}
    for (label, _, family, probes), evaluator in product(_named(view), view.evaluators):
        delta = view.changes(evaluator, probes).delta
        there = np.flatnonzero(~np.isnan(delta) & shown(view, family))
        own = {name: table.items[name].to_numpy()[there] for name in ("corpus", "source", "second_source")}
        told = {"evaluator": evaluator, "family": label, "item": there, "delta": delta[there]}
        rows.append(pd.DataFrame(told | own))
    shifts, found = pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(), pd.DataFrame(columns=_SHOWN)
    if len(shifts) and (shifts["corpus"] == held).any():
        found = direction_agreement(shifts, reference=held, by=("evaluator", "family"))
    if found.empty:
        return pd.DataFrame(columns=_SHOWN)
    found = found.assign(**{name: 100 * found[name] for name in ("agreement", "low", "high")})
    found["same"] = [{True: "same", False: "opposite"}.get(each, "") for each in found["same_direction"]]
    apart = {key: between(_medians(view, *key)) for key in dict.fromkeys(_cells(found))}
    alone = ~found.duplicated(["evaluator", "family"], keep=False)
    found["between"] = [apart[key] if one else "" for key, one in zip(_cells(found), alone, strict=True)]
    summaries = pd.DataFrame(_summaries(found[~alone], held, apart), columns=found.columns)
    whole = pd.concat([each for each in (found, summaries) if len(each)], ignore_index=True)
    whole["of"] = whole["family"].map({label: of for label, of, *_ in _named(view)})
    whole["place"] = whole["family"].map(order)
    # the sort is stable, so that a summary stays behind the corpora that it is of
    whole = whole.sort_values(["evaluator", "place"], kind="stable", ignore_index=True)
    return whole[_SHOWN]


_MEDIANS = ("reference_median", "median", "same_direction")
_AGREED = ("evaluator", "family", "corpus", *_MEDIANS, "agreement", "low", "high", "n_items", "note")
_SHOWN = [*_AGREED, "of", "same", "between"]


def _cells(found: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(found["evaluator"], found["family"], strict=True))


def _summaries(found: pd.DataFrame, held: str, apart: Mapping[tuple[str, str], str]) -> Iterator[dict[str, object]]:
    """A row an (evaluator, family) of two corpora or more beside the reference."""
    for (evaluator, label), own in found.groupby(["evaluator", "family"], sort=False):
        known = own.dropna(subset=["agreement"])
        signs = set(known["same"])
        row = {"evaluator": evaluator, "family": label, "corpus": MEDIAN, "median": math.nan, "same_direction": None}
        row |= {"reference_median": own["reference_median"].iloc[0], "agreement": float(known["agreement"].median())}
        row |= {"low": math.nan, "high": math.nan, "n_items": int(known["n_items"].sum())}
        row |= {"same": f"all {signs.pop()}" if len(signs) == 1 and signs != {""} else "mixed"}
        note = f"{counted(len(known), 'corpus', 'corpora')} beside {held}"
        yield {**row, "note": note, "between": apart[str(evaluator), str(label)]}


def _medians(view: View, evaluator: str, label: str) -> dict[str, Interval]:
    """Median % change of every corpus of enough items for a claim, with its interval."""
    _, _, family, probes = next(each for each in _named(view) if each[0] == label)
    percent, items = view.changes(evaluator, probes).percent, shown(view, family)
    medians = {name: median_over(percent, own & items, view.table.sources) for name, own in corpora(view.table)}
    return {name: each for name, each in medians.items() if each.n >= LEAST_N}


def between(medians: dict[str, Interval]) -> str:
    """Say how far the corpora lie apart: Q and I² of three or more, the difference of two."""
    wide = {name: each for name, each in medians.items() if each.high > each.low}
    if len(wide) < 2:
        return "fewer than two corpora with an interval"
    if len(wide) == 2:
        (first, one), (second, other) = wide.items()
        found = difference(one, other)
        said = "they differ" if found.excludes_zero() else "no difference shown"
        ends = f"{found.estimate:+.2f} [{found.low:+.2f}, {found.high:+.2f}] points".replace("-", "−")
        power = "" if found.excludes_zero() else untold(found, unit="points")
        return f"{first} − {second}: {ends}, {said}" + (f" ({power})" if power else "")
    many = heterogeneity(*([getattr(each, end) for each in wide.values()] for end in ("estimate", "low", "high")))
    p, said = "< 0.001" if many.p < 0.001 else f"= {many.p:.3f}", "they differ"
    if not many.p < ALPHA:
        said = f"no difference shown (a spread from {many.detectable:.1f} points on would have shown)"
    return f"Q = {many.q:.1f}, p {p}, I² = {many.share:.0f} % of {many.k} corpora: {said}"

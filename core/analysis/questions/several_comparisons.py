"""Comparisons held against each other: a negation and its converse, kinds of wrong answers, one edit in each language.

Every language of the same runs and the same caption is asked of its own table, by the definitions of the edits of one
language; the mean gives every language the same weight, whatever its n. Source: paper B, Table 2 and Figure 6.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations, product

import numpy as np
import pandas as pd

from core.analysis.beside import caption_of, every_caption, every_language
from core.analysis.comparisons import AUDIT, DIRECTIONAL, Capability, Pairs, comparison_rows, families, pairs, percent
from core.analysis.effects import CELL, PLAIN, against_zero, bounds, corpora, corrected
from core.analysis.lacks import Lack
from core.analysis.questions import papers
from core.analysis.questions.columns import (
    CORRECTED,
    COUNT,
    DROP,
    FAILURE,
    HEAD,
    HOW,
    MEDIAN,
    NOTE,
    OF_MEANS,
    PAIRS,
    TIES,
    VERDICT,
    WHAT,
    Dots,
    marks,
    medians,
)
from core.analysis.questions.directional import DEPTH, MADE, SECTION, needs, rows
from core.analysis.questions.question import Column, Drawing, Options, Question, bounded
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import with_conflicts
from core.charts.spec import Figure, Reference
from core.probes.base import TEMPLATE
from core.statistics.ratios import mean_of_ratios_bca
from core.statistics.shares import share
from core.statistics.wording import counted, remarks

THERE, ABSENT, BOTH = "what is there", "what is absent", "both of an item"

_PRESENT = ("negation:template", "negation")
"""Probes that deny what is there, beside the template that affirms it; the second where its caption is the template."""

_ABSENT = "affirmation:absent"
_MEANS = ("there_affirmed", "there_denied", "absent_denied", "absent_affirmed")
_SHARES = [end for name in ("there", "absent", "both", "affirms", "denies") for end in bounds(name)]
_ORDER_COLUMNS = ("evaluator", "corpus", "captions", "n_items", *_MEANS, *_SHARES, "note")


Half = tuple[ScoreTable, str]  # of the 2 × 2: a table and a probe of it, whose baseline is the right side


def of_both_orders(table: ScoreTable) -> tuple[Question, ...]:
    """One table with its figure."""
    id_, paper = papers.BOTH_ORDERS
    mean = "Mean score of the items that have all four"
    there = "The affirmation scores strictly above the denial"
    absent = "The denial scores strictly above the affirmation"
    affirms, denies = (f"The {which} scores above, whatever the picture shows" for which in ("affirmation", "denial"))
    numbers = (
        Column("there_affirmed", "There, affirmed", digits=4, help=mean),
        Column("there_denied", "denied", digits=4),
        Column("absent_denied", "Absent, denied", digits=4, help=mean),
        Column("absent_affirmed", "affirmed", digits=4),
        bounded("there", "Right of what is there, % [95 % CI]", digits=1, help=there),
        bounded("absent", "Right of what is absent, % [95 % CI]", digits=1, help=absent),
        bounded("both", "Both right, % [95 % CI]", digits=1),
        bounded("affirms", "Affirms both, % [95 % CI]", digits=1, help=affirms),
        bounded("denies", "Denies both, % [95 % CI]", digits=1, help=denies),
    )
    columns = (*HEAD, Column("captions", "Captions", kind="text"), COUNT, *numbers, NOTE)
    title = "Negation and its converse: are both orders of an item right?"
    read = (
        "Items whose right caption scores strictly above the wrong one, of what is there, of "
        "what is absent, and of both. One high and one low is a habit; both high is understanding."
    )
    drawing = Drawing(f"{id_}-orders", title, read, _figure)
    note = (
        "Four captions of an item: the template of its object and of a category that is annotated absent, affirmed "
        "and denied. Only items that have all four scores. A tie is no right order. Wilson’s interval over items, or "
        "over the sources that they share. Two independent guesses have both orders right of 25 %."
    )
    return (Question(id_, title, SECTION, DEPTH, note, columns, _both_orders, _orders_needed, (drawing,), paper),)


def _orders_needed(table: ScoreTable) -> str:
    if _found(table) is not None:
        return ""
    there, absent = list(_there(table)), list(_absent(table))
    if there and absent:
        both = f"{caption_of(there[0][0])}, and of {caption_of(absent[0][0])}"
        return f"the two halves of the 2 × 2 are of {both}: no language has both; choose the language of one of them"
    lacking = " and ".join([*([] if there else ["template"]), *([] if absent else ["absent-category"])])
    return Lack(f"no run has both halves of the 2 × 2 ({lacking} lacking)", "an audit with them", command=AUDIT)


def _there(table: ScoreTable) -> Iterator[Half]:
    for own in every_caption(table):
        names = _PRESENT if own.scope.subject == TEMPLATE else _PRESENT[:1]
        yield from ((own, name) for name in names if name in own.probes.index)


def _absent(table: ScoreTable) -> Iterator[Half]:
    yield from ((own, _ABSENT) for own in every_caption(table) if _ABSENT in own.probes.index)


def _found(table: ScoreTable) -> tuple[Half, Half] | None:
    """Both halves in one language, what is there before what is absent; those of the scope's caption first."""
    both = product(_there(table), _absent(table))
    return next(((one, other) for one, other in both if one[0].scope.language == other[0].scope.language), None)


def _both_orders(view: View, options: Options) -> pd.DataFrame:
    found, records = _found(view.table), list[Mapping[str, object]]()
    if found is None:
        return pd.DataFrame(columns=list(_ORDER_COLUMNS))
    (there, _), (absent, _) = found
    captions = f"{caption_of(there)}; {caption_of(absent)}" if there is not absent else caption_of(there)
    for evaluator in (name for name in view.evaluators if name in there.evaluators and name in absent.evaluators):
        one, other = (
            pairs(view if table is view.table else table.view(view.chosen), evaluator, (probe,))
            for table, probe in found
        )
        # where each item of the one stands in the other, -1 for nowhere
        named = (each.items[["corpus", "item"]].astype(str) for each in (there, absent))
        wanted, known = map(pd.MultiIndex.from_frame, named)
        places = known.get_indexer(wanted)
        there_too = (np.where(places >= 0, side[0][places], np.nan) for side in (other.right, other.wrong))
        four = np.array([one.right[0], one.wrong[0], *there_too])
        whole = ~np.isnan(four).any(axis=0)
        for corpus, own in corpora(there):
            if (items := whole & own).any():
                sources = there.sources_of(items)
                told = {"evaluator": evaluator, "corpus": corpus, "captions": captions}
                records.append({**told, **_order_record(four[:, items], sources, int((own & ~whole).sum()))})
    return pd.DataFrame(records, columns=list(_ORDER_COLUMNS))


def _order_record(four: np.ndarray, sources: np.ndarray | None, without: int) -> Mapping[str, object]:
    """Numbers of some items, by their scores in the order of _MEANS, float64 [4, n]."""
    affirmed, denied, denied_absent, affirmed_absent = four
    right = {"there": affirmed > denied, "absent": denied_absent > affirmed_absent}
    right["both"] = right["there"] & right["absent"]
    right["affirms"] = right["there"] & (affirmed_absent > denied_absent)
    right["denies"] = (denied > affirmed) & right["absent"]
    shares = {name: share(values, groups=sources) for name, values in right.items()}
    return {
        "n_items": four.shape[1],
        **dict(zip(_MEANS, four.mean(axis=1), strict=True)),
        **{key: value for name, found in shares.items() for key, value in percent(name, found).items()},
        "note": remarks(f"{counted(without, 'item')} without one of the four" if without else "", shares["both"].note),
    }


def _figure(drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    parts = [
        marks(frame.assign(of=of), label="evaluator", series="of", panel=("corpus",), values=bounds(name))
        for name, of in (("there", THERE), ("absent", ABSENT), ("both", BOTH))
    ]
    data, guesses = pd.concat(parts, ignore_index=True), (Reference(25.0, text="both, by two guesses"),)
    return drawing.drawn(data, "right", unit=" %", span=(0.0, 100.0), counts=True, references=guesses)


_OF = (*CELL, "family", "above", "below", "label", "tests", "n_items")
_DIFFERENCES = (*_OF, *PLAIN, "delta", "test", "p", "note")
_HARDEST = (*CELL, "family", "n_items", "n", *bounds("each"), *bounds("hardest"), *bounds("ties"), "note")

LEAST = 2  # Wrong sides of an item that have a hardest one


def of_kinds(table: ScoreTable) -> tuple[Question, ...]:
    """Differences of differences, and mean and hardest of several foils."""
    return (_differences(), _hardest())


def _differences() -> Question:
    above = Column("above", "Drop under this", kind="text")
    below = Column("below", "minus drop under this", kind="text")
    columns = (*HEAD, WHAT, above, below, COUNT, *medians("Above 0: the first kind costs more. "), *CORRECTED, NOTE)
    note = (
        "Wrong sides of several kinds that replace the same right side: of each item how much more one kind costs than "
        "another, (right − first) − (right − second). Median over items with its 95 % BCa interval; paired test; "
        "Holm’s correction within evaluator, corpus and family over the pairs of kinds."
    )
    title = "Does one kind of wrong answer cost more than another?"
    question = Question("C18-differences", title, SECTION, MADE, note, columns, _of_kinds)
    return replace(question, needs=_no_kinds, paper=papers.ORDERS[1], tests="the pairs of kinds", asks=("known",))


def _no_kinds(table: ScoreTable) -> str:
    if any(len(probes) > 1 for probes in table.of_expectation(DIRECTIONAL).values()):
        return ""
    return needs(table) or "no family here replaces one right side by wrong sides of several kinds; grounding does"


def _of_kinds(view: View, options: Options) -> pd.DataFrame:
    table, records, kept = view.table, list[Mapping[str, object]](), families(view)
    for evaluator in view.evaluators:
        for family, names in families(view.whole()).items():
            if len(kept.get(family, ())) < LEAST:
                continue
            both = pairs(view, evaluator, names, known=options.known)
            right = table.baselines[table.place(evaluator), table.places(names)]
            for (one, above), (other, below) in combinations(enumerate(names), 2):
                drops = np.where(right[one] == right[other], both.right - both.wrong, math.nan)
                values = drops[one] - drops[other]
                for corpus, own in corpora(table):
                    if (items := own & view.items & ~np.isnan(values)).any():
                        told = (evaluator, corpus, family, above, below, f"{above} − {below}", family)
                        shown = {"shown": {above, below} <= set(kept[family])}
                        found = against_zero(table, values, items, table.spread(evaluator, corpus))
                        records.append(dict(zip(_OF, told, strict=False)) | shown | found)
    return with_conflicts(corrected(pd.DataFrame(records, columns=[*_DIFFERENCES, "shown"])))


def _hardest() -> Question:
    each = bounded("each", "Failures, mean over siblings, % [95 % CI]", digits=1)
    any_ = "Any sibling of the item scores at least as high as the right caption"
    hardest = bounded("hardest", "Failures, hardest sibling, % [95 % CI]", digits=1, help=any_)
    ties = bounded("ties", "Ties with the hardest, % [95 % CI]", digits=1)
    columns = (*HEAD, WHAT, COUNT, PAIRS, each, hardest, ties, NOTE)
    note = (
        "Every sibling that can be named in an object’s place is its own foil: how often one of them fools the "
        "evaluator, on average, and how often the hardest does, the one that this evaluator scores highest. FOIL-COCO "
        "keeps the one that a captioner finds hardest. Items of two siblings or more; Wilson’s interval over items, "
        "those of one source together."
    )
    title = "FOIL with every sibling: the mean and the hardest"
    question = Question("C11-siblings", title, SECTION, DEPTH, note, columns, _of_siblings)
    return replace(question, needs=_no_siblings, paper="C, Table 4; D, 4.2", asks=("known",))


def _siblings(table: ScoreTable) -> tuple[str, ...]:
    rows = table.probes[table.probes["family"] == papers.FOIL]
    return tuple(map(str, rows.index[rows["expectation"] == DIRECTIONAL]))


def _no_siblings(table: ScoreTable) -> str:
    if len(_siblings(table)) >= LEAST:
        return ""
    return needs(table) or "one sibling an object was drawn; --probes foil,foil-siblings scores every one"


def _of_siblings(view: View, options: Options) -> pd.DataFrame:
    table, records = view.table, list[Mapping[str, object]]()
    names = view.probes(_siblings(table))
    for evaluator in view.evaluators if len(names) >= LEAST else ():
        both = pairs(view, evaluator, names, known=options.known)
        margin = np.where(view.items, both.right - both.wrong, math.nan)
        several = (~np.isnan(margin)).sum(axis=0) >= LEAST
        for corpus, own in corpora(table):
            if (kept := own & several).any():
                told = {"evaluator": evaluator, "corpus": corpus, "family": papers.FOIL}
                records.append({**told, **_of_items(margin[:, kept], table.sources_of(kept))})
    return pd.DataFrame(records, columns=list(_HARDEST))


def _of_items(margin: np.ndarray, groups: np.ndarray | None) -> Mapping[str, object]:
    """Of margins [k, n], NaN where an item has no such sibling."""
    there, lowest = ~np.isnan(margin), np.nanmin(margin, axis=0)
    places = np.broadcast_to(np.arange(margin.shape[1]), margin.shape)[there]
    items = places if groups is None else groups[places]
    each, hardest = share(margin[there] <= 0, groups=items), share(lowest <= 0, groups=groups)
    ties = percent("ties", share(lowest == 0, groups=groups))
    counts = {"n_items": len(lowest), "n": int(there.sum()), "note": hardest.note}
    return {**counts, **percent("each", each), **percent("hardest", hardest), **ties}


def of_rewards(table: ScoreTable) -> tuple[Question, ...]:
    """One table."""
    id_, paper = papers.REWARDS
    pays = "A reward would pay for the broken side"
    beaten = bounded("beaten", "Broken side strictly above, % [95 % CI]", digits=1, help=pays)
    columns = (*HEAD, WHAT, COUNT, PAIRS, FAILURE, TIES, beaten, DROP, MEDIAN, VERDICT, *CORRECTED, NOTE)
    note = (
        f"{HOW}A hollow tail is words that say nothing at the end of a caption, as captioners write them that are "
        "trained on a metric; a foil names a sibling in an object’s place. Holm’s correction within evaluator and "
        "corpus over the families of the axis, these among them."
    )
    title = "Hollow tails and foils: would a reward pay for them?"
    question = Question(id_, title, SECTION, DEPTH, note, columns, _rewards)
    return (replace(question, needs=_rewards_lacking, paper=paper, tests="the families of the axis", asks=("known",)),)


def _rewards(view: View, options: Options) -> pd.DataFrame:
    found = rows(view, options.known)
    return found[found["family"].isin(papers.OF_C)].reset_index(drop=True)


def _rewards_lacking(table: ScoreTable) -> str:
    if {*table.probes.loc[table.probes["expectation"] == DIRECTIONAL, "family"]} & set(papers.OF_C):
        return ""
    return needs(table) or "no run has a hollow tail or a foil; --probes hollow-tail,foil has them"


EVERY = "every lexical edit"  # Name of the row of all edits together

MEAN = "mean over languages"

LEAST_LANGUAGES = 2  # Languages that have a mean


def of_languages(table: ScoreTable) -> tuple[Question, ...]:
    """One table with two figures: by language, and the mean over languages by edit."""
    id_, paper, figures = papers.LANGUAGES
    columns = (*HEAD, WHAT, *OF_MEANS)
    title = "Lexical edits in every language: how far they lower the score"
    drop = Dots(values=("drop", "drop_low", "drop_high"), axis="drop of means, %")
    together = partial(_of, drop, column="family", value=EVERY, label="language")
    read = "Drop of means with its 95 % interval; left of the line the broken captions score lower."
    first = Drawing(figures[0], "Lexical edits together, language by language", read, together, paper)
    each = "Lexical edits: the drop of each, mean over languages"
    read = (
        "Drop of means in every language, then the mean over the languages that the evaluator scored. An evaluator of "
    )
    read += "one language has none."
    means = partial(_of, drop, column="language", value=MEAN, label="family")
    drawings = (first, Drawing(figures[1], each, read, means, papers.AXES[_AXIS].figure_paper))
    note = (
        f"{HOW}Captions of every language that the runs have under this caption, each by itself. {MEAN.capitalize()}: "
        "every language weighs the same; its interval draws an item in all of its languages at once. An evaluator has "
        "rows of the languages that it scored."
    )
    return (Question(id_, title, SECTION, DEPTH, note, columns, _compute, _lacking, drawings, paper, asks=("known",)),)


_AXIS = papers.TOGETHER[0]
_SEVERAL = (
    "python -m core audit --corpus demo --subject human --language en,de,fr,es,ja --evaluators conse-multilingual "
    "--probes lexical"
)


def _lacking(table: ScoreTable) -> str:
    if why := needs(table, axis=_AXIS):
        return why
    if len(every_language(table, _AXIS)) >= LEAST_LANGUAGES:
        return ""
    what = f"the runs have lexical edits in one language, {table.scope.language}"
    return Lack(what, "an audit of several", command=_SEVERAL)


def _compute(view: View, options: Options) -> pd.DataFrame:
    views = {each.scope.language: each.view(view.chosen) for each in every_language(view.table, _AXIS)}
    parts = [
        comparison_rows(own, _tests(own), known=options.known).assign(language=language)
        for language, own in views.items()
    ]
    found = pd.concat([each for each in parts if len(each)] or parts[:1], ignore_index=True)
    found = found[found["n"] > 0].assign(family=found["label"])
    whole = pd.concat([found, pd.DataFrame(_means(views, found, known=options.known))], ignore_index=True)
    order = [EVERY, *(name for name in dict.fromkeys(found["family"]) if name != EVERY)]
    names = ["evaluator", "corpus", "what", "mean", "language"]
    whole = whole.assign(what=whole["family"].map(order.index), mean=whole["language"] == MEAN)
    return whole.sort_values(names, kind="stable", ignore_index=True).drop(columns=["what", "mean"])


def _tests(view: View) -> list[Capability]:
    found = families(view, axis=_AXIS)
    every = tuple(name for probes in found.values() for name in probes)
    whole = [Capability(EVERY, EVERY, _AXIS, every)] if every else []
    return [*whole, *(Capability(name, name, _AXIS, probes) for name, probes in found.items())]


def _means(views: Mapping[str, View], found: pd.DataFrame, *, known: bool) -> Iterator[dict[str, object]]:
    """A row for every evaluator, corpus and edit that has several languages."""
    for (evaluator, corpus, label), own in found.groupby(["evaluator", "corpus", "family"], sort=False):
        if len(own) < LEAST_LANGUAGES:
            continue
        sides = {
            name: _sides(views[name], str(evaluator), str(corpus), str(label), known=known) for name in own["language"]
        }
        right, wrong, sources = zip(*sides.values(), strict=True)
        drop = mean_of_ratios_bca([w - r for r, w in zip(right, wrong, strict=True)], right, sources)
        failed = [(w >= r).astype(float) for r, w in zip(right, wrong, strict=True)]
        failure = mean_of_ratios_bca(failed, [np.ones(len(each)) for each in failed], sources)
        row = {"evaluator": evaluator, "corpus": corpus, "family": label, "label": label, "axis": _AXIS}
        row |= {"language": MEAN, "n": int(own["n"].sum()), "n_items": int(own["n_items"].max())}
        row |= {name: own[name].mean() for name in ("mean_right", "mean_wrong")}
        row |= {**percent("drop", drop), **percent("failure", failure)}
        yield row | {"note": remarks(f"of {', '.join(sides)}", drop.note)}


def _sides(view: View, evaluator: str, corpus: str, label: str, *, known: bool) -> tuple[np.ndarray, ...]:
    """Right and wrong scores of the comparisons of an edit in one language, and the picture's source of each."""
    test = next(each for each in _tests(view) if each.label == label)
    found: Pairs = pairs(view, evaluator, test.probes, known=known)
    there = ~np.isnan(found.right + found.wrong) & view.table.of_corpus(corpus)
    names = view.table.items["source"].astype(str).to_numpy()
    return found.right[there], found.wrong[there], np.broadcast_to(names, there.shape)[there]


def _of(
    drop: Dots, drawing: Drawing, frame: pd.DataFrame, measure: str, *, column: str, value: str, label: str
) -> Figure:
    own = frame[frame[column] == value]
    return drop(drawing, own.assign(label=own[label]), measure)

"""Lexical edits language by language, and their mean over languages: the table that paper B prints.

A table of scores is of one language. Every language of the same runs and the same caption is asked of its own table, by
the definitions of the edits of one language; the mean gives every language the same weight, whatever its n.

Source: paper B, Table 2 and Figure 6.
"""

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
import pandas as pd

from core.analysis.beside import every_language
from core.analysis.comparisons import Capability, Pairs, comparison_rows, families, pairs, percent
from core.analysis.effects import corpora
from core.analysis.lacks import Lack
from core.analysis.questions import papers
from core.analysis.questions.columns import HEAD, Dots
from core.analysis.questions.comparison_columns import HOW, OF_MEANS, WHAT
from core.analysis.questions.directional import DEPTH, SECTION, needs
from core.analysis.questions.question import Drawing, Options, Question
from core.analysis.table import ScoreTable, View
from core.charts.spec import Figure
from core.statistics.ratios import mean_of_ratios_bca
from core.statistics.wording import remarks

EVERY = "every lexical edit"  # Name of the row of all edits together

MEAN = "mean over languages"

LEAST = 2  # Languages that have a mean


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """One table with two figures: by language, and the mean over languages by edit."""
    id_, paper, figures = papers.LANGUAGES
    columns = (*HEAD, WHAT, *OF_MEANS)
    title = "Lexical edits in every language: how far they lower the score"
    drop = Dots(values=("drop", "drop_low", "drop_high"), axis="drop of means, %")
    together = partial(_of, drop, column="family", value=EVERY, label="language")
    read = "Drop of means with its 95 % interval; left of the line the broken captions score lower."
    drawings = (
        Drawing(figures[0], "Lexical edits together, language by language", read, together, paper),
        Drawing(
            figures[1],
            "Lexical edits: the drop of each, mean over languages",
            "Drop of means in every language, "
            "then the mean over the languages that the evaluator scored. An evaluator of one language has none.",
            partial(_of, drop, column="language", value=MEAN, label="family"),
            papers.AXES[_AXIS].figure_paper,
        ),
    )
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
    if len(every_language(table, _AXIS)) >= LEAST:
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
        if len(own) < LEAST:
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
        yield {
            **row,
            **percent("drop", drop),
            **percent("failure", failure),
            "note": remarks(f"of {', '.join(sides)}", drop.note),
        }


def _sides(view: View, evaluator: str, corpus: str, label: str, *, known: bool) -> tuple[np.ndarray, ...]:
    """Right and wrong scores of the comparisons of an edit in one language, and the picture's source of each."""
    test = next(each for each in _tests(view) if each.label == label)
    found: Pairs = pairs(view, evaluator, test.probes, known=known)
    own = dict(corpora(view.table))[corpus]
    there = ~np.isnan(found.right + found.wrong) & own
    names = view.table.items["source"].astype(str).to_numpy()
    return found.right[there], found.wrong[there], np.broadcast_to(names, there.shape)[there]


def _of(
    drop: Dots, drawing: Drawing, frame: pd.DataFrame, measure: str, *, column: str, value: str, label: str
) -> Figure:
    own = frame[frame[column] == value]
    return drop(drawing, own.assign(label=own[label]), measure)

"""Negation and its converse in one 2 × 2: what is there and what is not, affirmed and denied.

Of a picture with a dog and no zebra four captions are scored: *there is a dog*, *there is no dog*, *there is no zebra*,
*there is a zebra*. Whoever understands a negation puts the first above the second and the third above the fourth. Who
reads the nouns alone, or likes short captions, has one order right of every item and the other of none: only both
orders of one item tell understanding from a habit.

Source: paper D, 4.4.1, with its converse; DIRECTIONAL, section 3.6.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.analysis.beside import caption_of, every_caption
from core.analysis.comparisons import AUDIT, pairs, percent
from core.analysis.effects import corpora
from core.analysis.questions import papers
from core.analysis.questions.base import Column, Drawing, Options, Question
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR, marks
from core.analysis.questions.directional import DEPTH, NOTE, SECTION
from core.analysis.table import ScoreTable, View
from core.charts.spec import Figure, Reference
from core.probes.base import TEMPLATE
from core.statistics.shares import share
from core.statistics.wording import counted

THERE, ABSENT, BOTH = "what is there", "what is absent", "both of an item"

_PRESENT = ("negation:template", "negation")
"""Probes that deny what is there, beside the template that affirms it; the second where its caption is the template."""

_ABSENT = "affirmation:absent"
_MEANS = ("there_affirmed", "there_denied", "absent_denied", "absent_affirmed")
_COLUMNS = (
    "evaluator", "corpus", "captions", "n_items", *_MEANS, "there", "there_low", "there_high", "absent", "absent_low",
    "absent_high", "both", "both_low", "both_high", "affirms", "affirms_low",
    "affirms_high", "denies", "denies_low", "denies_high", "note",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Halves:
    """Both halves of the 2 × 2: a table and a probe of it each; the probe's baseline is the right side."""

    there: tuple[ScoreTable, str]
    absent: tuple[ScoreTable, str]


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """One table with its figure."""
    id_, paper = papers.BOTH_ORDERS
    mean = "Mean score of the items that have all four"
    columns = (
        EVALUATOR, CORPUS, Column("captions", "Captions", kind="text"), COUNT,
        Column("there_affirmed", "There, affirmed", digits=4, help=mean), Column("there_denied", "denied", digits=4),
        Column("absent_denied", "Absent, denied", digits=4, help=mean), Column("absent_affirmed", "affirmed", digits=4),
        Column("there", "Right of what is there, % [95 % CI]", digits=1, low="there_low", high="there_high",
               help="The affirmation scores strictly above the denial"),
        Column("absent", "Right of what is absent, % [95 % CI]", digits=1, low="absent_low", high="absent_high",
               help="The denial scores strictly above the affirmation"),
        Column("both", "Both right, % [95 % CI]", digits=1, low="both_low", high="both_high"),
        Column("affirms", "Affirms both, % [95 % CI]", digits=1, low="affirms_low", high="affirms_high",
               help="The affirmation scores above, whatever the picture shows"),
        Column("denies", "Denies both, % [95 % CI]", digits=1, low="denies_low", high="denies_high",
               help="The denial scores above, whatever the picture shows"), NOTE,
    )  # fmt: skip
    title = "Negation and its converse: are both orders of an item right?"
    drawing = Drawing(
        f"{id_}-orders", title, "Items whose right caption scores strictly above the wrong one, of what is there, of "
        "what is absent, and of both. One high and one low is a habit; both high is understanding.", _figure,
    )  # fmt: skip
    note = (
        "Four captions of an item: the template of its object and of a category that is annotated absent, affirmed "
        "and denied. Only items that have all four scores. A tie is no right order. Wilson’s interval over items, or "
        "over the sources that they share. Two independent guesses have both orders right of 25 %."
    )
    return (Question(id_, title, SECTION, DEPTH, note, columns, _compute, _needs, (drawing,), paper),)


def _needs(table: ScoreTable) -> str:
    if _found(table) is not None:
        return ""
    there, absent = list(_there(table)), list(_absent(table))
    if there and absent:
        both = f"{caption_of(there[0][0])}, and of {caption_of(absent[0][0])}"
        return f"the two halves of the 2 × 2 are of {both}: no language has both; choose the language of one of them"
    lacking = " and ".join([*([] if there else ["template"]), *([] if absent else ["absent-category"])])
    return f"no run holds both halves of the 2 × 2 ({lacking} lacking); an audit with them: {AUDIT}"


def _there(table: ScoreTable) -> Iterator[tuple[ScoreTable, str]]:
    for own in every_caption(table):
        names = _PRESENT if own.scope.subject == TEMPLATE else _PRESENT[:1]
        yield from ((own, name) for name in names if name in own.probes.index)


def _absent(table: ScoreTable) -> Iterator[tuple[ScoreTable, str]]:
    yield from ((own, _ABSENT) for own in every_caption(table) if _ABSENT in own.probes.index)


def _found(table: ScoreTable) -> _Halves | None:
    """Both halves in one language; those of the scope's caption first."""
    both = ((one, other) for one in _there(table) for other in _absent(table))
    return next((_Halves(one, other) for one, other in both if one[0].scope.language == other[0].scope.language), None)


def _compute(view: View, options: Options) -> pd.DataFrame:
    found, records = _found(view.table), list[Mapping[str, object]]()
    if found is None:
        return pd.DataFrame(columns=list(_COLUMNS))
    (there, denied), (absent, affirmed) = found.there, found.absent
    captions = f"{caption_of(there)}; {caption_of(absent)}" if there is not absent else caption_of(there)
    for evaluator in (name for name in view.evaluators if name in there.evaluators and name in absent.evaluators):
        one = pairs(_view(view, there), evaluator, (denied,))
        other = pairs(_view(view, absent), evaluator, (affirmed,))
        places = _places(there, absent)
        four = np.array([one.right[0], one.wrong[0], *(_at(side[0], places) for side in (other.right, other.wrong))])
        whole = ~np.isnan(four).any(axis=0)
        for corpus, own in corpora(there):
            if (items := whole & own).any():
                sources = there.sources_of(items)
                told = {"evaluator": evaluator, "corpus": corpus, "captions": captions}
                records.append({**told, **_record(four[:, items], sources, int((own & ~whole).sum()))})
    return pd.DataFrame(records, columns=list(_COLUMNS))


def _view(view: View, table: ScoreTable) -> View:
    return view if table is view.table else table.view(view.chosen)


def _places(table: ScoreTable, other: ScoreTable) -> np.ndarray:
    """Where each item of a table stands in another one, int [N]; -1 for nowhere."""
    names, wanted = (pd.MultiIndex.from_frame(each.items[["corpus", "item"]].astype(str)) for each in (other, table))
    return np.asarray(names.get_indexer(wanted))


def _at(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    return np.where(places >= 0, values[places], np.nan)


def _record(four: np.ndarray, sources: np.ndarray | None, without: int) -> Mapping[str, object]:
    """Numbers of some items.

    Args:
        four: scores in the order of _MEANS, float64 [4, n].
        sources: what each item is of, [n].
        without: items that lack one of the four.
    """
    affirmed, denied, denied_absent, affirmed_absent = four
    right = {"there": affirmed > denied, "absent": denied_absent > affirmed_absent}
    right["both"] = right["there"] & right["absent"]
    right["affirms"] = right["there"] & (affirmed_absent > denied_absent)
    right["denies"] = (denied > affirmed) & right["absent"]
    shares = {name: share(values, groups=sources) for name, values in right.items()}
    return {
        "n_items": four.shape[1], **dict(zip(_MEANS, four.mean(axis=1), strict=True)),
        **{key: value for name, found in shares.items() for key, value in percent(name, found).items()},
        "note": "; ".join(filter(None, (f"{counted(without, 'item')} without one of the four" if without else "",
                                        shares["both"].note))),
    }  # fmt: skip


def _figure(drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    parts = [
        marks(frame.assign(of=of), label="evaluator", series="of", panel=("corpus",),
              values=(name, f"{name}_low", f"{name}_high"))
        for name, of in (("there", THERE), ("absent", ABSENT), ("both", BOTH))
    ]  # fmt: skip
    return Figure(drawing.id, drawing.title, drawing.note, pd.concat(parts, ignore_index=True), "right", unit=" %",
                  span=(0.0, 100.0), counts=True, paper=drawing.paper,
                  references=(Reference(25.0, text="both, by two guesses"),))  # fmt: skip

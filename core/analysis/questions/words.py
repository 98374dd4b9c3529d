"""Edits of the caption: a word before the noun that the picture does not speak for or against (RQ3).

Source: paper A, sections 5.3 and B.3; PROTOCOL section 1.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from core.analysis.effects import effects, modifier_groups
from core.analysis.memo import once
from core.analysis.questions import families, paper
from core.analysis.questions.base import Column, Drawing, Options, Question
from core.analysis.questions.baselines import BESIDE, LEADS, beside
from core.analysis.questions.columns import (
    CONTROL,
    CORPUS,
    COUNT,
    EVALUATOR,
    FAMILY,
    PERCENT,
    SHIFTS,
    TESTS,
    Dots,
    Map,
    by_value,
    how,
)
from core.analysis.questions.contrasts import shown
from core.analysis.questions.factors import factor_questions, laid_out, of_reference
from core.analysis.questions.mixed import of_words
from core.analysis.questions.needs import no_family
from core.analysis.table import ScoreTable, View
from core.charts.spec import Figure
from core.probes.base import BASE_CAPTION

_WORD = Column("label", "Word", kind="text")
_AGAINST = (
    "The baseline is the item's neutral caption closest in length (typical, plain or ordinary), unless the bare "
    "caption is chosen; a neutral word, a control, is held against the bare caption."
)
_ASKS = (*SHIFTS, "bare")
_NO_PERSON = f"not a {paper.PERSON}"


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """For each family of words: every word, whether they differ, and by what is shown; then the neutral words."""
    names = [*paper.WORDS, *(name for name in word_families(table) if name not in paper.WORDS)]
    each = [question for name in names for question in _family(table, name)]
    return (*each, _crossed(table), _controls())


def _family(table: ScoreTable, name: str) -> tuple[Question, ...]:
    return _words(table, name), of_words(table, name, name.replace("-", " ")), *_levels(table, name)


def word_families(table: ScoreTable) -> tuple[str, ...]:
    """Families of caption edits that hold more than controls; the bare caption is what they are made of."""
    return tuple(
        name for name in table.families()
        if name != BASE_CAPTION and not table.is_control(name) and families.section_of(table, name) == "words"
        and table.probes.loc[list(table.families()[name]), "modifier"].notna().any()
    )  # fmt: skip


def numbers(family: str) -> paper.Numbers:
    """Numbers of a family of words: the paper's, else its name's."""
    return paper.WORDS.get(family) or paper.Numbers(f"S-{family}", f"F-{family}", f"S-{family}-levels")


def categories_of_things(table: ScoreTable) -> str:
    """Every category of the items that is no person, as a link names them."""
    known = sorted(map(str, table.items["category"].dropna().unique()))
    return ",".join(name for name in known if name != paper.PERSON)


def of_things(table: ScoreTable, family: str) -> Mapping[str, str]:
    """What a mark of a family opens besides: things alone, where its words are said of nothing else."""
    return {"categories": f"={categories_of_things(table)}"} if family in paper.THINGS_ONLY else {}


@once
def word_effects(view: View, family: str, margin: float, bare: bool) -> pd.DataFrame:
    """Effect of every word of a family, the neutral words among them as controls; column family beside label."""
    groups = modifier_groups(view, family, controls=True, bare=bare)
    found = effects(view, groups, keep=shown(view, family), margin=margin)
    found.insert(2, "family", family)
    return found.assign(label=found["label"].where(found["tests"] != "", found["label"] + CONTROL))


def _words(table: ScoreTable, family: str) -> Question:
    own, said = numbers(family), family.replace("-", " ")
    tests = f"the {said} words"
    things = " Objects that are no persons." if family in paper.THINGS_ONLY else ""
    title = f"{said.capitalize()} words: how far scores move from the neutral caption"
    drawing = Drawing(
        own.figure, f"{said.capitalize()} words", f"Median %Δ with its 95 % BCa interval. {_AGAINST}{things}",
        Dots(order=by_value), own.figure_paper,
        opens={"families": "family", "modifiers": "label", **of_things(table, family)},
    )  # fmt: skip

    def compute(view: View, options: Options) -> pd.DataFrame:
        rows = word_effects(view, family, options.margin, options.bare)
        return beside(view, rows, family, bare=options.bare) if (rows["tests"] != "").any() else rows.iloc[:0]

    return Question(
        own.table, title, "words", family, f"{how(tests)} {_AGAINST} {LEADS}{things}",
        (EVALUATOR, CORPUS, _WORD, COUNT, PERCENT, *BESIDE, *TESTS), compute,
        lambda table: no_family(table, family, what=f"{said} words"), (drawing,), own.table_paper, tests, _ASKS,
    )  # fmt: skip


def _levels(table: ScoreTable, family: str) -> tuple[Question, ...]:
    own, said = numbers(family), family.replace("-", " ")

    def levels(view: View, options: Options, evaluator: str) -> tuple[Any, ...]:
        groups = [each for each in modifier_groups(view, family, bare=options.bare) if each.tests and each.shown]
        keep = shown(view, family) & view.table.of_corpus(view.table.reference)
        values = [view.changes(evaluator, each.probes, against=each.against).percent for each in groups]
        return laid_out(values, keep), [each.label for each in groups]

    def needs(table: ScoreTable) -> str:
        if len(table.families().get(family, ())) == 1:
            return f"the runs hold one word of the family {family}"
        return no_family(table, family, what=f"{said} words")

    return factor_questions(
        own.levels, f"{said.capitalize()} words: do they differ?", section="words", part=family, levels=levels,
        needs=needs, note=of_reference(table), asks=("bare",),
    )  # fmt: skip


def _crossed(table: ScoreTable) -> Question:
    known = word_families(table) or tuple(paper.WORDS)[:1]
    tests = "the words of the family among the items of its row"

    def compute(view: View, options: Options) -> pd.DataFrame:
        return _by_shown(view, question.family(options), options)

    question = Question(
        "S16", "Words by what is shown", "words", "crossed",
        f"{how(tests)} Words that are said of things by category, the others by whether the object is a person.",
        (EVALUATOR, CORPUS, FAMILY, _WORD, Column("shown", "Shown", kind="text"), COUNT, PERCENT, *TESTS), compute,
        lambda table: no_family(table, known[0], what=f"{known[0]} words"),
        (Drawing("F-shown", "Words by what is shown", "Median shift. Blue: the word raises the score. Amber: it lowers "
                 "it. n items in every cell.", partial(_shown_map, others=categories_of_things(table)),
                 opens={"families": "family", "modifiers": "label", "categories": "opened"}),),
        tests=tests, asks=(*_ASKS, "family"), families=known, pick=("evaluator", "corpus"),
    )  # fmt: skip
    return question


def _shown_map(drawing: Drawing, frame: pd.DataFrame, measure: str, others: str) -> Figure:
    """The map of the words, a column for each thing shown; ``others``: see :func:`categories_of_things`."""
    opened = frame["shown"].where(frame["shown"] != _NO_PERSON, others)
    return Map("label", "shown", order=by_value)(drawing, frame.assign(opened=opened), measure)


def _by_shown(view: View, family: str, options: Options) -> pd.DataFrame:
    table, groups = view.table, modifier_groups(view, family, bare=options.bare)
    category = table.items["category"].astype(object)
    if family not in paper.THINGS_ONLY:
        category = category.where(category.isna() | (category == paper.PERSON), _NO_PERSON)
    frames = []
    for name in sorted(map(str, category[view.items].dropna().unique())):
        own = [replace(each, tests=name if each.tests else "") for each in groups]
        keep = shown(view, family) & (category == name).to_numpy()
        rows = effects(view, own, keep=keep, margin=options.margin)
        frames.append(rows.assign(family=family, shown=name))
    return pd.concat(frames, ignore_index=True) if frames else effects(view, []).assign(family="", shown="")


def _controls() -> Question:
    def compute(view: View, options: Options) -> pd.DataFrame:
        frames = [word_effects(view, name, options.margin, options.bare) for name in word_families(view.table)]
        rows = pd.concat(frames, ignore_index=True) if frames else effects(view, []).assign(family="")
        return rows[rows["tests"] == ""].reset_index(drop=True)

    def needs(table: ScoreTable) -> str:
        known = word_families(table)
        return "" if known else no_family(table, next(iter(paper.WORDS)), what="words before a noun")

    return Question(
        "S12", "Neutral words: how far the controls themselves move from the bare caption", "summary", "controls",
        how("nothing: a control is no test of a family"), (EVALUATOR, CORPUS, FAMILY, _WORD, COUNT, PERCENT, *TESTS),
        compute, needs, paper="A.3", asks=SHIFTS,
    )  # fmt: skip

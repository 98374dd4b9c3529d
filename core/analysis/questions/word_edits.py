"""Edits of the caption: a word before the noun that the picture does not speak for or against (RQ3).

Beside a word's shift stands what it is against the other baselines: the bare caption, the matched one, and each
neutral word.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.effects import effects, modifier_groups
from core.analysis.lacks import no_family
from core.analysis.questions import families, papers
from core.analysis.questions.columns import (
    CONTROL,
    COUNT,
    FAMILY,
    HEAD,
    PERCENT,
    SHIFTS,
    TESTS,
    Dots,
    Map,
    by_value,
    how,
)
from core.analysis.questions.factor_tests import factor_questions, laid_out, of_reference, of_words
from core.analysis.questions.papers import shown
from core.analysis.questions.question import Column, Drawing, Options, Question
from core.analysis.scores import once
from core.analysis.table import BASELINE, ScoreTable, View
from core.charts.spec import Figure, signed
from core.probes.base import BASE_CAPTION
from core.statistics.wording import remarks

_WORD = Column("label", "Word", kind="text")
_AGAINST = (
    "The baseline is the item's neutral caption closest in length (typical, plain or ordinary), unless the bare "
    "caption is chosen; a neutral word, a control, is held against the bare caption."
)
_ASKS = (*SHIFTS, "bare")
_NO_PERSON = f"not a {papers.PERSON}"


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """For each family of words: every word, whether they differ, and by what is shown; then the neutral words."""
    names = [*papers.WORDS, *(name for name in word_families(table) if name not in papers.WORDS)]
    each = (
        (_words(table, name), of_words(table, name, name.replace("-", " ")), *_levels(table, name)) for name in names
    )
    return (*chain.from_iterable(each), _crossed(table), _controls())


def word_families(table: ScoreTable) -> tuple[str, ...]:
    """Families of caption edits that hold more than controls; the bare caption is what they are made of."""
    return tuple(
        name
        for name in table.families()
        if name != BASE_CAPTION
        and not table.is_control(name)
        and families.section_of(table, name) == "words"
        and table.probes.loc[list(table.families()[name]), "modifier"].notna().any()
    )


def numbers(family: str) -> papers.WordNumbers:
    """Numbers of a family of words: the paper's, else its name's."""
    return papers.WORDS.get(family) or papers.WordNumbers(f"S-{family}", f"F-{family}", f"S-{family}-levels")


def categories_of_things(table: ScoreTable) -> str:
    """Every category of the items that is no person, as a link names them."""
    known = sorted(map(str, table.items["category"].dropna().unique()))
    return ",".join(name for name in known if name != papers.PERSON)


def of_things(table: ScoreTable, family: str) -> Mapping[str, str]:
    """What a mark of a family opens besides: things alone, where its words are said of nothing else."""
    return {"categories": f"={categories_of_things(table)}"} if family in papers.THINGS_ONLY else {}


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
    things = " Objects that are no persons." if family in papers.THINGS_ONLY else ""
    title = f"{said.capitalize()} words: how much scores change from the neutral caption"
    read = f"Median % change with its 95 % BCa interval. {_AGAINST}{things}"
    opens = {"families": "family", "modifiers": "label", **of_things(table, family)}
    make = Dots(order=by_value)
    drawing = Drawing(own.figure, f"{said.capitalize()} words", read, make, own.figure_paper, opens=opens)

    def compute(view: View, options: Options) -> pd.DataFrame:
        rows = word_effects(view, family, options.margin, options.bare)
        return beside(view, rows, family, bare=options.bare) if (rows["tests"] != "").any() else rows.iloc[:0]

    columns = (*HEAD, _WORD, COUNT, PERCENT, *BESIDE, *TESTS)
    question = Question(own.table, title, "words", family, f"{how(tests)} {_AGAINST} {LEADS}{things}", columns, compute)
    needs = partial(no_family, family=family, what=f"{said} words")
    return replace(question, needs=needs, figures=(drawing,), paper=own.table_paper, tests=tests, asks=_ASKS)


def _levels(table: ScoreTable, family: str) -> tuple[Question, ...]:
    own, said = numbers(family), family.replace("-", " ")

    def levels(view: View, options: Options, evaluator: str) -> tuple[Any, ...]:
        groups = [each for each in modifier_groups(view, family, bare=options.bare) if each.tests and each.shown]
        keep = shown(view, family) & view.table.of_corpus(view.table.reference)
        values = [view.changes(evaluator, each.probes, against=each.against).percent for each in groups]
        return laid_out(values, keep), [each.label for each in groups]

    def needs(table: ScoreTable) -> str:
        if len(table.families().get(family, ())) == 1:
            return f"the runs have one word of the family {family}"
        return no_family(table, family, what=f"{said} words")

    of: dict[str, Any] = {"section": "words", "part": family, "note": of_reference(table), "asks": ("bare",)}
    return factor_questions(own.levels, f"{said.capitalize()} words: do they differ?", levels=levels, needs=needs, **of)


def _crossed(table: ScoreTable) -> Question:
    known = word_families(table) or tuple(papers.WORDS)[:1]
    tests = "the words of the family among the items of its row"

    def compute(view: View, options: Options) -> pd.DataFrame:
        family, frames = question.family(options), list[pd.DataFrame]()
        groups, category = modifier_groups(view, family, bare=options.bare), view.table.items["category"].astype(object)
        if family not in papers.THINGS_ONLY:
            category = category.where(category.isna() | (category == papers.PERSON), _NO_PERSON)
        for name in sorted(map(str, category[view.items].dropna().unique())):
            own = [replace(each, tests=name if each.tests else "") for each in groups]
            keep = shown(view, family) & (category == name).to_numpy()
            frames.append(effects(view, own, keep=keep, margin=options.margin).assign(family=family, shown=name))
        return pd.concat(frames, ignore_index=True) if frames else effects(view, []).assign(family="", shown="")

    def drawn(drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
        # a column for each thing shown; what is no person opens every other category
        opened = frame["shown"].where(frame["shown"] != _NO_PERSON, categories_of_things(table))
        return Map("label", "shown", order=by_value)(drawing, frame.assign(opened=opened), measure)

    read = "Median shift. Blue: the word raises the score. Amber: it lowers it. n items in every cell."
    opens = {"families": "family", "modifiers": "label", "categories": "opened"}
    drawing = Drawing("F-shown", "Words by what is shown", read, drawn, opens=opens)
    note = f"{how(tests)} Words that are said of things by category, the others by whether the object is a person."
    columns = (*HEAD, FAMILY, _WORD, Column("shown", "Shown", kind="text"), COUNT, PERCENT, *TESTS)
    question = Question("S16", "Words by what is shown", "words", "crossed", note, columns, compute)
    needs = partial(no_family, family=known[0], what=f"{known[0]} words")
    question = replace(question, needs=needs, figures=(drawing,), tests=tests, pick=("evaluator", "corpus"))
    question = replace(question, asks=(*_ASKS, "family"), families=known)
    return question


def _controls() -> Question:
    def compute(view: View, options: Options) -> pd.DataFrame:
        frames = [word_effects(view, name, options.margin, options.bare) for name in word_families(view.table)]
        rows = pd.concat(frames, ignore_index=True) if frames else effects(view, []).assign(family="")
        return rows[rows["tests"] == ""].reset_index(drop=True)

    def needs(table: ScoreTable) -> str:
        return "" if word_families(table) else no_family(table, next(iter(papers.WORDS)), what="words before a noun")

    title = "Neutral words: how far the controls themselves move from the bare caption"
    note = how("nothing: a control is no test of a family")
    columns = (*HEAD, FAMILY, _WORD, COUNT, PERCENT, *TESTS)
    return Question("S12", title, "summary", "controls", note, columns, compute, needs, paper="A.3", asks=SHIFTS)


MATCHED, BARE = "matched", "bare"
"""The neutral caption closest in length, and the caption without any word before the noun."""

_BESIDE = (
    "The same word against the bare caption, "
    "against the neutral caption closest in length, and the range over the neutral words, each by itself"
)
BESIDE = (
    Column("leads", "Held against", kind="text", help="The baseline of the median, its interval and its tests"),
    Column("beside", "Median % change against each baseline", kind="text", help=_BESIDE),
)
LEADS = (
    "The matched caption leads: median, interval and tests are against it, or against the bare one where that is "
    "chosen. Beside it stands the median % change against the bare caption, against the matched one, and the range "
    "over the neutral words, each taken for every item; a neutral word that the screen leaves out before some nouns "
    "has fewer items, and the smallest n is said."
)


def beside(view: View, rows: pd.DataFrame, family: str, *, bare: bool) -> pd.DataFrame:
    """The effects of a family's words with their medians against the other baselines; ``rows``: of
    :func:`core.analysis.effects.effects`, a row an (evaluator, corpus, word); control words have none. Returns the rows
    with leads, bare_percent, matched_percent, neutral_low, neutral_high (range of the medians over the neutral words),
    neutral_words, neutral_n (the fewest items behind one of them) and beside, which says them."""
    words = {each.label: each.probes for each in modifier_groups(view, family) if each.tests and each.shown}
    probes = view.table.probes.loc[list(view.table.families(controls=True).get(family, ()))]
    # neutral word -> its probe, whatever the view leaves out of what is shown
    neutral = {str(word): str(name) for name, word in probes.loc[probes["control"], "modifier"].items()}
    found = [_against_each(view, row, words.get(str(row["label"]), ()), neutral, family) for _, row in rows.iterrows()]
    told = pd.DataFrame(found, index=rows.index, columns=list(_BESIDE_COLUMNS))
    leads = [BARE if bare or tests == "" else MATCHED for tests in rows["tests"]]
    return rows.assign(leads=leads, **{name: told[name] for name in _BESIDE_COLUMNS})


_NEUTRAL = ("neutral_low", "neutral_high", "neutral_words", "neutral_n")
_BESIDE_COLUMNS = ("bare_percent", "matched_percent", *_NEUTRAL, "beside")


def _against_each(
    view: View, row: pd.Series, probes: tuple[str, ...], neutral: Mapping[str, str], family: str
) -> tuple[object, ...]:
    if not probes:
        return (math.nan, math.nan, math.nan, math.nan, "", 0, "")
    evaluator, items = str(row["evaluator"]), shown(view, family) & view.table.of_corpus(str(row["corpus"]))
    bare, matched = (_median(view, evaluator, probes, each, items)[0] for each in (BASE_CAPTION, BASELINE))
    found = {word: _median(view, evaluator, probes, probe, items) for word, probe in neutral.items()}
    each = {word: (median, n) for word, (median, n) in found.items() if n}
    medians, least = [median for median, _ in each.values()], min((n for _, n in each.values()), default=0)
    low, high = min(medians, default=math.nan), max(medians, default=math.nan)
    # e.g. ``−12.5 vs bare, −13.7 vs matched; −15.2 to −9.1 vs plain, typical, ordinary (n ≥ 41)``
    said = partial(signed, unit="")
    both, words = ((bare, BARE), (matched, MATCHED)), ", ".join(each)
    pair = ", ".join(f"{said(value)} vs {name}" for value, name in both if math.isfinite(value))
    over = f"{said(low)} to {said(high)} vs {words} (n ≥ {least})" if words else ""
    return bare, matched, low, high, words, least, remarks(pair, over)


def _median(view: View, evaluator: str, probes: tuple[str, ...], against: str, items: np.ndarray) -> tuple[float, int]:
    """Median % change over some items and how many have one; none where a baseline is negative."""
    percent = view.changes(evaluator, probes, against=against).percent[items]
    percent = percent[~np.isnan(percent)]
    return float(np.median(percent)) if len(percent) else math.nan, len(percent)

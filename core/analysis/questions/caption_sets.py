"""Sets of captions that an item brings: is every wrong one told from every right one?

Captions that say more and more of one picture, each true: does the score rise with every word that fits?

Four pictures of one text: what is a preference for prototypes, and what is blindness to the detail?

Paper E's own pair, which a family of prototypes holds among others, is the correct picture against the adversary
alone. The adversary shows a prototype with a wrong detail. A family that holds a wrong detail without the prototype
too counts both; its numbers are not those of paper E, so that both readings stand side by side, each named.

Source: paper E, sections 3 and 4.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from core.analysis.comparisons import DIRECTIONAL, RESPONSE, Capability, families, pairs, percent
from core.analysis.effects import CELL, PLAIN, Group, against_zero, bounds, corpora, effects, ends, with_holm
from core.analysis.facts import facts_of
from core.analysis.lacks import AUDIT, NOTHING, Lack, no_family_of
from core.analysis.questions import papers
from core.analysis.questions.columns import (
    CORRECTED,
    COUNT,
    HEAD,
    NOTE,
    PERCENT,
    STANDARDISED,
    Dots,
    medians,
    under_its_caption,
)
from core.analysis.questions.directional import DEPTH, MADE, SECTION, needs
from core.analysis.questions.question import Column, Drawing, Options, Question, bounded
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import with_conflicts
from core.probes.base import IDENTITY
from core.probes.families.nested import NESTED as STEPS
from core.statistics.crossed_sources import first_of
from core.statistics.shares import share
from core.statistics.wording import counted

_RISES = "Items whose score is strictly higher with the longer caption; an equal score is no rise"
RISES = bounded("rises", "Rises, % of items [95 % CI]", digits=0, help=_RISES)


def of_nested(table: ScoreTable) -> tuple[Question, ...]:
    """The answer to every step."""
    columns = (*HEAD, Column("label", "Step", kind="text"), COUNT, PERCENT, STANDARDISED, RISES, *CORRECTED, NOTE)
    note = (
        "Both captions are true and the longer one begins with the words of the shorter, so that no answer is a "
        "failure: the change of each item from the step before (nested:share from the template), its median over items "
        "with a 95 % BCa interval, and the share of the items scored that rise, with Wilson's interval over sources. "
        "English alone: the template has no other language. Holm’s correction over the family’s probes."
    )
    id_, paper = papers.RESPONSES[papers.NESTED]
    title = "Nested captions: does saying more of the same picture score higher?"
    needs = partial(no_family_of, family=papers.NESTED, expectation=RESPONSE, what="nested captions")
    question = Question(id_, title, SECTION, MADE, note, columns, _answers, needs, paper=paper)
    return (under_its_caption(replace(question, tests="the probes of the family")),)


def _answers(view: View, options: Options) -> pd.DataFrame:
    there = view.table.of_expectation(RESPONSE).get(papers.NESTED, ())
    named = [step.name for step in STEPS if step.name in there]
    groups = [Group(name, (name,), tests=papers.NESTED, shown=bool(view.probes((name,)))) for name in named]
    found = effects(view, groups, margin=options.margin)
    rises = []
    for evaluator, corpus, probe in found[["evaluator", "corpus", "label"]].astype(str).itertuples(index=False):
        delta = view.changes(evaluator, (probe,)).delta
        kept = view.table.of_corpus(corpus) & view.items & ~np.isnan(delta)
        rises.append(share(delta[kept] > 0, groups=view.table.sources_of(kept)).numbers(100))
    return found.join(pd.DataFrame(rises, columns=list(bounds("rises")), index=found.index))


PART = "prototypes"
Cells = Mapping[str, np.ndarray]

EFFECTS: Mapping[str, Callable[[Cells], np.ndarray]] = {
    "prototype effect": lambda cell: cell["proto_right"] - cell["nonproto_right"],
    "detail, no prototype shown": lambda cell: cell["nonproto_right"] - cell["nonproto_wrong"],
    "detail, prototype shown": lambda cell: cell["proto_right"] - cell["proto_wrong"],
    "detail": lambda cell: (
        (cell["nonproto_right"] - cell["nonproto_wrong"] + cell["proto_right"] - cell["proto_wrong"]) / 2
    ),
    "interaction": lambda cell: (
        cell["nonproto_right"] - cell["nonproto_wrong"] - cell["proto_right"] + cell["proto_wrong"]
    ),
    "correct minus adversary": lambda cell: cell["nonproto_right"] - cell["proto_wrong"],
}
"""Name of an effect -> its value of each item, from the scores of the four pictures; the last is paper E's own pair."""

_COLUMNS = ("evaluator", "corpus", "label", "tests", "n_items", "value", "low", "high", "delta", "test", "p", "note")


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The 2 × 2."""
    id_, paper = papers.QUADRUPLE
    columns = (*HEAD, Column("label", "Effect", kind="text"), COUNT, *medians(""), *CORRECTED, NOTE)
    title = "Prototype or detail: what changes the score?"
    read = "The prototype effect must be 0; a wrong detail must cost, right of the line."
    make = Dots("label", values=PLAIN, axis="median, SD of the unedited scores")
    drawing = Drawing(f"{id_}-effects", title, read, make)
    note = (
        "Of each item the scores of four pictures of one text. Prototype effect: prototype minus none, the detail "
        "right in both. Detail: right minus wrong detail. Interaction: what a wrong detail costs without a prototype, "
        "minus with one. Correct minus adversary: paper E’s pair, which mixes the two. Median over items with its 95 % "
        "BCa interval; paired test, of sources where items share theirs; Holm’s correction over the effects."
    )
    return (Question(id_, title, SECTION, PART, note, columns, _two_by_two, lack, (drawing,), paper, "the effects"),)


def cells(table: ScoreTable) -> dict[str, str]:
    """Probe of each of the four pictures, as it tells; the item's own picture is the first where none is."""
    told = facts_of(table)
    told = told[told["key"] == papers.ROLE].drop_duplicates(["probe", "value"])
    roles = {str(row.probe): str(row.value) for row in told.itertuples()}
    said = {str(probe): roles.get(str(probe), str(probe).rpartition(":")[2]) for probe in table.probes.index}
    found = {role.replace("-", "_"): probe for probe, role in said.items() if role.replace("-", "_") in papers.CELLS}
    if found and papers.CELLS[0] not in found and IDENTITY in table.probes.index:
        found[papers.CELLS[0]] = IDENTITY
    return found


def lack(table: ScoreTable) -> Lack:
    """Why the four pictures are not here; empty where they are."""
    absent = [name for name in papers.CELLS if name not in cells(table)]
    if not absent:
        return NOTHING
    said = f"no run has the four pictures of one text ({', '.join(absent)} lacking)"
    return Lack(said, "an audit with them", command=f"{AUDIT} prototype")


def _two_by_two(view: View, options: Options) -> pd.DataFrame:
    """Every effect of EFFECTS under every evaluator; columns _COLUMNS, p_holm and m_tests."""
    table, records, named = view.table, list[Mapping[str, object]](), cells(view.table)
    for evaluator in view.evaluators if not lack(table) else ():
        scores = {cell: view.after(evaluator, (probe,))[0] for cell, probe in named.items()}
        whole = ~np.isnan(np.stack(list(scores.values()))).any(axis=0) & view.items
        for (corpus, own), (label, effect) in product(corpora(table), EFFECTS.items()):
            if (items := whole & own).any():
                told = {"evaluator": evaluator, "corpus": corpus, "label": label, "tests": PART}
                unit = table.spread(evaluator, corpus)
                records.append({**told, **against_zero(table, effect(scores), items, unit)})
    return with_conflicts(with_holm(pd.DataFrame(records, columns=list(_COLUMNS))))


ADVERSARY = papers.CELLS[-1]  # Picture of the 2 × 2 that is paper E's adversary

WHOLE = "whole family"
PAIR = "alone: paper E’s pair"


def with_pair(table: ScoreTable, tests: Iterable[Capability]) -> list[tuple[Capability, str]]:
    """Each test with the words for the comparisons that it holds, after the adversary alone where it holds others too;
    ``tests``: capabilities of whole families, or of parts of them. Returns (test, words): ``prototype:adversary alone:
    paper E’s pair``, then ``whole family: adversary, knob-wrong``; WHOLE for every other test. No two tests of
    different words share a family of tests."""
    adversary, found = cells(table).get(ADVERSARY, ""), list[tuple[Capability, str]]()
    for test in tests:
        if adversary not in test.probes or len(test.probes) == 1:
            found.append((test, WHOLE))
            continue
        named = ", ".join(name.removeprefix(f"{test.family}:") for name in test.probes)
        alone = replace(test, probes=(adversary,), tests=f"{test.tests}: {adversary}" if test.tests else "")
        found += [(alone, f"{adversary} {PAIR}"), (test, f"{WHOLE}: {named}")]
    return found


BOTH_WAYS = "every comparison"

_SET_COLUMNS = (*CELL, "label", "n_sets", "n", "share", "low", "high", *bounds("each"), "note")


def of_sets(table: ScoreTable) -> tuple[Question, ...]:
    """One table: shares of sets that are right as a whole."""
    id_, paper = papers.SETS
    share_help = "Every comparison of the set has the right side strictly above; Wilson’s interval over sets"
    each = "The same comparisons one by one, for comparison; those of one set together"
    columns = (
        *HEAD,
        Column("label", "Right in", kind="text"),
        Column("n_sets", "n sets", digits=0),
        Column("n", "n comparisons", digits=0),
        Column("share", "Sets right as a whole, % [95 % CI]", digits=1, low="low", high="high", help=share_help),
        bounded("each", "Comparisons right, % [95 % CI]", digits=1, help=each),
        NOTE,
    )
    note = (
        "A set is the comparisons of one source, two at least, all with scores: the example of a suite, or one "
        "picture. It is right where the right side of every one of them scores strictly higher. Of a set of two "
        "pictures and two captions, a blind choice gives 25 % for captions, 25 % for pictures and 16.7 % for both."
    )
    title = "Sets that must be right as a whole"
    return (Question(id_, title, SECTION, DEPTH, note, columns, _sets, lacking, paper=paper),)


def lacking(table: ScoreTable) -> str:
    """Why there is no set; empty where there is."""
    if not _given(table):
        return needs(table) or "no run has pairs that a corpus gives; python -m core audit --corpus pairs has them"
    return "" if table.sources is not None else "no two comparisons here share a picture or an example"


def _given(table: ScoreTable) -> dict[str, tuple[str, ...]]:
    found = table.of_expectation(DIRECTIONAL)
    return {name: found[name] for name in papers.GIVEN if name in found}


def _sets(view: View, options: Options) -> pd.DataFrame:
    kept, rows = families(view), list[Mapping[str, object]]()
    asked = {name: kept[name] for name in _given(view.table) if name in kept}
    if len(asked) > 1:
        asked[BOTH_WAYS] = tuple(probe for probes in asked.values() for probe in probes)
    cells = () if lacking(view.table) else product(view.evaluators, corpora(view.table), asked.items())
    for evaluator, (corpus, own), (label, probes) in cells:
        found, sources = pairs(view, evaluator, probes), view.table.sources_of(own)
        right = np.where(found.asked, found.right - found.wrong, np.nan)[:, own]
        if sources is not None and (made := _set_record(right, found.asked[:, own], first_of(sources))):
            rows.append({"evaluator": evaluator, "corpus": corpus, "label": label, **made})
    return pd.DataFrame(rows, columns=list(_SET_COLUMNS))


def _set_record(margin: np.ndarray, asked: np.ndarray, sources: np.ndarray) -> Mapping[str, object]:
    """Share of sets, from margins [k, N] of which ``asked`` are comparisons; empty without a set."""
    frame = pd.DataFrame({"source": np.broadcast_to(sources, margin.shape)[asked], "margin": margin[asked]})
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
        **ends(found, ("share", "low", "high"), times=100),
        **percent("each", each),
        "note": f"no score for a comparison of {counted(left, 'set')}" if left else "",
    }

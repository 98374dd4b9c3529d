"""Four pictures of one text: what is a preference for prototypes, and what is blindness to the detail?

Paper E's own pair, which a family of prototypes holds among others, is the correct picture against the adversary
alone. The adversary shows a prototype with a wrong detail. A family that holds a wrong detail without the prototype
too counts both; its numbers are not those of paper E, so that both readings stand side by side, each named.

Source: paper E, sections 3 and 4.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from core.analysis.comparisons import Capability
from core.analysis.effects import corpora, median_over, with_holm
from core.analysis.facts import facts_of
from core.analysis.lacks import AUDIT, NOTHING, Lack
from core.analysis.questions import papers
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR, PLAIN, Dots
from core.analysis.questions.comparison_columns import CORRECTED, NOTE
from core.analysis.questions.directional import SECTION
from core.analysis.questions.question import Column, Drawing, Options, Question
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import with_conflicts
from core.probes.base import IDENTITY
from core.statistics.shift_tests import paired_test

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
    columns = (
        EVALUATOR,
        CORPUS,
        Column("label", "Effect", kind="text"),
        COUNT,
        Column(
            "value",
            "Median, SD [95 % CI]",
            digits=3,
            signed=True,
            low="low",
            high="high",
            help="In standard deviations of the evaluator’s unedited scores",
        ),
        Column("delta", "Median, raw", digits=4, signed=True),
        *CORRECTED,
        NOTE,
    )
    title = "Prototype or detail: what changes the score?"
    drawing = Drawing(
        f"{id_}-effects",
        title,
        "The prototype effect must be 0; a wrong detail must cost, right of the line.",
        Dots("label", values=PLAIN, axis="median, SD of the unedited scores"),
    )
    note = (
        "Of each item the scores of four pictures of one text. Prototype effect: prototype minus none, the detail "
        "right in both. Detail: right minus wrong detail. Interaction: what a wrong detail costs without a "
        "prototype, minus with one. Correct minus adversary: paper E’s pair, which mixes the two. Median over items "
        "with its 95 % BCa interval; paired test, of sources where items share theirs; Holm’s correction over "
        "the effects."
    )
    return (Question(id_, title, SECTION, PART, note, columns, _compute, lack, (drawing,), paper, "the effects"),)


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
    said = f"no run holds the four pictures of one text ({', '.join(absent)} lacking)"
    return Lack(said, "an audit with them", command=f"{AUDIT} prototype")


def _compute(view: View, options: Options) -> pd.DataFrame:
    return two_by_two(view)


def two_by_two(view: View) -> pd.DataFrame:
    """Every effect of EFFECTS under every evaluator; columns _COLUMNS, p_holm and m_tests."""
    table, records, named = view.table, list[Mapping[str, object]](), cells(view.table)
    for evaluator in view.evaluators if not lack(table) else ():
        scores = {cell: view.after(evaluator, (probe,))[0] for cell, probe in named.items()}
        whole = ~np.isnan(np.stack(list(scores.values()))).any(axis=0) & view.items
        for corpus, own in corpora(table):
            items = whole & own
            unit = table.spread(evaluator, corpus)
            for label, effect in EFFECTS.items():
                if items.any():
                    records.append(
                        {
                            "evaluator": evaluator,
                            "corpus": corpus,
                            "label": label,
                            "tests": PART,
                            **_record(effect(scores), items, unit, table.sources),
                        }
                    )
    return with_conflicts(with_holm(pd.DataFrame(records, columns=list(_COLUMNS))))


def _record(values: np.ndarray, items: np.ndarray, unit: float, sources: np.ndarray | None) -> Mapping[str, object]:
    found = median_over(values, items, sources)
    size, groups = unit if unit > 0 else math.nan, None if sources is None else sources[items]
    test = paired_test(np.zeros(int(items.sum())), values[items], groups=groups)
    return {
        "n_items": found.n,
        "value": found.estimate / size,
        "low": found.low / size,
        "high": found.high / size,
        "delta": found.estimate,
        "test": test.name,
        "p": test.p,
        "note": found.note,
    }


ADVERSARY = papers.CELLS[-1]
"""Picture of the 2 × 2 that is paper E's adversary."""

WHOLE = "whole family"
PAIR = "alone: paper E’s pair"


def with_pair(table: ScoreTable, tests: Iterable[Capability]) -> list[tuple[Capability, str]]:
    """Each test with the words for the comparisons that it holds, after the adversary alone where it holds others too.

    Args:
        table: of the scores.
        tests: capabilities of whole families, or of parts of them.

    Returns:
        (test, words): ``prototype:adversary alone: paper E’s pair``, then ``whole family: adversary, knob-wrong``;
        WHOLE for every other test. No two tests of different words share a family of tests.
    """
    adversary, found = cells(table).get(ADVERSARY, ""), list[tuple[Capability, str]]()
    for test in tests:
        if adversary not in test.probes or len(test.probes) == 1:
            found.append((test, WHOLE))
            continue
        named = ", ".join(name.removeprefix(f"{test.family}:") for name in test.probes)
        alone = replace(test, probes=(adversary,), tests=f"{test.tests}: {adversary}" if test.tests else "")
        found += [(alone, f"{adversary} {PAIR}"), (test, f"{WHOLE}: {named}")]
    return found

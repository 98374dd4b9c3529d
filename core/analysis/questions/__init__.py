"""The questions that the scores are asked: each is a value that a page draws and a report writes.

A module a subject; its makers give the questions that a table's families, axes and controls allow. To add a statistic
with its section on the page and in the report, add it to a maker here (or a maker to MAKERS); a feature names its own.
"""

from collections.abc import Callable

from core.analysis.questions import (
    across,
    artefacts,
    behind_the_scores,
    both_sides,
    caption_sets,
    controls,
    directional,
    factor_tests,
    families,
    levels,
    object_kinds,
    object_places,
    papers,
    selective,
    several_comparisons,
    social_words,
    space,
    strength_sweeps,
    surface,
    word_edits,
)
from core.analysis.questions.question import SECTIONS, Column, Drawing, Options, Question
from core.analysis.table import ScoreTable
from core.features.feature import question_makers

__all__ = ["MAKERS", "SECTIONS", "Column", "Drawing", "Options", "Question", "catalogue"]

Maker = Callable[[ScoreTable], tuple[Question, ...]]

MAKERS = (
    families.questions, space.questions, controls.questions, artefacts.of_compositing, artefacts.of_filling,
    space.of_cutting, object_places.of_distance, object_kinds.questions,
    factor_tests.questions, word_edits.questions, social_words.questions, families.not_audited,
    across.questions, surface.of_colour, surface.of_letters, surface.of_length, strength_sweeps.of_shifts,
    behind_the_scores.questions, directional.questions, several_comparisons.of_languages,
    several_comparisons.of_rewards, both_sides.of_words, both_sides.of_scores, levels.questions,
    several_comparisons.of_both_orders, caption_sets.of_nested, several_comparisons.of_kinds,
    object_places.questions, strength_sweeps.of_drops,
    caption_sets.of_sets, caption_sets.questions, both_sides.of_examples, papers.of_no_run, selective.questions,
    families.of_slices, behind_the_scores.of_precision,
)  # fmt: skip
"""What makes the trunk's questions of a table, in the order in which a page shows them."""


def makers() -> tuple[Maker, ...]:
    """The trunk's makers and those of the features, each where its feature puts it."""
    found = list[Maker](MAKERS)
    for told, make in question_makers():
        before = (f"{each.__module__}:{each.__name__}" for each in found)
        found.insert(next((at for at, code in enumerate(before) if code == told.before), len(found)), make)
    return tuple(found)


def catalogue(table: ScoreTable) -> tuple[Question, ...]:
    """Every question that can be put to a table, and those of the paper's that it cannot answer."""
    return tuple(question for make in makers() for question in make(table))

"""The questions that the scores are asked: each is a value that a page draws and a report writes.

A module a subject; its makers give the questions that a table's families, axes and controls allow. To add a statistic
with its section on the page and in the report, add it to a maker here (or a maker to MAKERS).
"""

from core.analysis.questions import (
    across,
    adjusted,
    artefacts,
    behind_the_scores,
    both_sides,
    caption_sets,
    controls,
    cut_objects,
    directional,
    families,
    flips,
    languages,
    levels,
    matched,
    nested_captions,
    object_kinds,
    object_places,
    overlap,
    papers,
    prototype_pairs,
    selective,
    several_comparisons,
    social_words,
    space,
    strength_sweeps,
    surface,
    word_edits,
    worst_slices,
)
from core.analysis.questions.question import SECTIONS, Column, Drawing, Options, Question
from core.analysis.table import ScoreTable

__all__ = ["MAKERS", "SECTIONS", "Column", "Drawing", "Options", "Question", "catalogue"]

MAKERS = (
    families.questions, space.questions, controls.questions, artefacts.of_compositing, artefacts.of_filling,
    cut_objects.of_cutting, object_places.of_distance, object_places.of_sides, object_kinds.of_factors,
    object_kinds.of_counts, adjusted.questions, word_edits.questions, social_words.questions, families.not_audited,
    across.questions, surface.of_colour, surface.of_letters, surface.of_length, strength_sweeps.of_shifts,
    behind_the_scores.questions, directional.questions, languages.questions, several_comparisons.of_rewards,
    overlap.questions, both_sides.of_scores, levels.questions, several_comparisons.of_both_orders,
    nested_captions.of_nested,
    several_comparisons.of_kinds, matched.questions, strength_sweeps.of_drops, caption_sets.of_sets,
    prototype_pairs.questions, both_sides.of_examples, papers.of_no_run, selective.questions, flips.questions,
    worst_slices.questions, behind_the_scores.of_precision,
)  # fmt: skip
"""What makes the questions of a table, in the order in which a page shows them."""


def catalogue(table: ScoreTable) -> tuple[Question, ...]:
    """Every question that can be put to a table, and those of the paper's that it cannot answer."""
    return tuple(question for make in MAKERS for question in make(table))

"""The questions that the scores are asked: each is a value that a page draws and a report writes.

A module a subject; each gives ``questions(table)``, made of what the table holds: its families, axes and controls. To
add a statistic with its section on the page and in the report, add it to a module here (or a module to MODULES).
"""

from core.analysis.questions import (
    across,
    adjusted,
    balance,
    both_orders,
    chroma,
    composites,
    controls,
    cut,
    directional,
    distance,
    elsewhere,
    examples,
    families,
    filling,
    flips,
    grounded,
    languages,
    length,
    lettered,
    levels,
    made_of,
    matched,
    natural,
    nested,
    objects,
    overlap,
    places,
    precision,
    prototypes,
    selective,
    sets,
    sides,
    space,
    strengths,
    sweeps,
    tails,
    unasked,
    words,
    worst_slices,
)
from core.analysis.questions.base import SECTIONS, Column, Drawing, Options, Question
from core.analysis.table import ScoreTable

__all__ = ["MODULES", "SECTIONS", "Column", "Drawing", "Options", "Question", "catalogue"]

MODULES = (
    families, space, controls, composites, filling, cut, distance, places, objects, balance, adjusted, words, natural,
    unasked, across, chroma, lettered, length, strengths, made_of, directional, languages, tails, overlap, sides,
    levels, both_orders, nested, grounded, matched, sweeps, sets, prototypes, examples, elsewhere, selective, flips,
    worst_slices, precision,
)  # fmt: skip
"""Modules in the order in which a page shows what they ask."""


def catalogue(table: ScoreTable) -> tuple[Question, ...]:
    """Every question that can be put to a table, and those of the paper's that it cannot answer."""
    return tuple(question for module in MODULES for question in module.questions(table))

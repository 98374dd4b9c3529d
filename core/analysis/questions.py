"""The audit's research questions, each as tables of effects: what moves under space, size, words and corpora.

Source: paper A, sections 5.1 to 5.4 and appendix B.1 to B.4; PROTOCOL section 1.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.artifacts import artifact_filters
from core.analysis.bootstrap import median_bca
from core.analysis.curves import spline_curve
from core.analysis.factors import FactorTest, factor_test
from core.analysis.mixed_model import mixed_effect
from core.analysis.rank_agreement import direction_agreement
from core.analysis.results import Against, effects, item_changes, with_controls
from core.analysis.slices import Slice, shifts
from core.audit.store import Store
from core.corpora.schema import COVERAGE_BINS

FLIPS = ("vertical-flip", "horizontal-flip")
PLACES, ROTATION, DISTANCE = "reposition", "rotation", "distance"
BLUR, NULL = "blur", "null"
SOCIETAL = ("cultural", "economic", "gender", "emotion")
"""Families of words before the noun, in the paper's order."""

PERSON, NOT_PERSON = "person", "not a person"
MOVE = ("reposition-TL", "reposition-BR")
"""The two places that the paper compares: from top left to bottom right."""

_CELL = ("evaluator", "corpus")
_RADIUS = re.compile(r"^distance:(\d+\.\d+)")


def spatial_effects(store: Store, chosen: Slice, **how: Any) -> pd.DataFrame:
    """Effect of flips, repositioning and rotation beside the blur control and the null edits (RQ1).

    Args:
        store: opened runs.
        chosen: which shifts; controls are kept whatever it says.
        how: measure, margin and tests of :func:`core.analysis.results.effects`.

    Returns:
        Its table by evaluator, corpus and label (the family).
    """
    families = (*FLIPS, PLACES, ROTATION, BLUR, NULL)
    return _labelled(store, with_controls(chosen), "family", families=families, **how)


def place_effects(store: Store, chosen: Slice, **how: Any) -> pd.DataFrame:
    """Effect of each quadrant that the object is moved to; label is the probe (RQ1b)."""
    return _labelled(store, chosen, "probe", families=(PLACES,), **how)


def angle_effects(store: Store, chosen: Slice, **how: Any) -> pd.DataFrame:
    """Effect of each rotation beside each blur and null edit; label is the probe (RQ1b)."""
    return _labelled(store, with_controls(chosen), "probe", families=(ROTATION, BLUR, NULL), **how)


def modifier_effects(
    store: Store, chosen: Slice, *, family: str, against: Against = "baseline", **how: Any
) -> pd.DataFrame:
    """Effect of each word of a family and of the neutral words beside them; label is the word (RQ3).

    Args:
        store: opened runs.
        chosen: which shifts; controls are kept whatever it says.
        family: e.g. ``cultural``.
        against: see :func:`core.analysis.results.item_changes`. A neutral word's own baseline is the bare caption.
        how: see :func:`spatial_effects`.
    """
    return _labelled(store, with_controls(chosen), "modifier", families=(family,), against=against, **how)


def level_effects(store: Store, chosen: Slice, *, factor: str, family: str, **how: Any) -> pd.DataFrame:
    """Effect of one family in each coverage bin or category; label is the level (RQ2).

    Args:
        store: opened runs.
        chosen: which shifts.
        factor: ``coverage_bin`` or ``category``.
        family: e.g. ``vertical-flip``.
        how: see :func:`spatial_effects`.
    """
    kept = with_controls(chosen) if family in (BLUR, NULL) else chosen
    return _labelled(store, kept, factor, families=(family,), **how)


def crossed_effects(store: Store, chosen: Slice, *, family: str, evaluator: str, **how: Any) -> pd.DataFrame:
    """Effect of each word by category: person or not for every family, the category itself for economic words (RQ3).

    Returns:
        As :func:`core.analysis.results.effects` by label (the word) and group, over all corpora of the slice.
    """
    kept = replace(chosen, evaluators=(evaluator,), controls=False)
    items = item_changes(store, kept, by=("evaluator", "modifier"), only={"family": (family,)})
    category = items["category"].astype(object)
    items["group"] = (
        category if family == "economic" else np.where(category == PERSON, PERSON, NOT_PERSON)
    )  # fmt: skip
    return effects(items.rename(columns={"modifier": "label"}), by=("label", "group"), **how)


def _labelled(
    store: Store, chosen: Slice, label: str, *, families: Sequence[str], against: Against = "baseline", **how: Any
) -> pd.DataFrame:
    if not chosen_families(chosen, families):
        return effects(_no_items(label), by=(*_CELL, "label"), **how)
    items = item_changes(store, chosen, by=("evaluator", label), only={"family": families}, against=against)
    return effects(items.rename(columns={label: "label"}), by=(*_CELL, "label"), **how)


def chosen_families(chosen: Slice, families: Sequence[str]) -> tuple[str, ...]:
    """Which of some families a slice keeps."""
    return tuple(name for name in families if not chosen.families or name in chosen.families)


def _no_items(label: str) -> pd.DataFrame:
    names = ("evaluator", "corpus", "item", label, "percent", "delta", "baseline")
    counts = ("n_shifts", "n_zero_baseline", "n_missing")
    return pd.DataFrame({name: [] for name in (*names, *counts)}).rename(columns={label: "label"})


def levels_differ(
    store: Store, chosen: Slice, *, label: str, family: str, evaluator: str, measure: str = "percent",
    against: Against = "baseline",
) -> FactorTest:  # fmt: skip
    """Test whether the levels of a factor shift one evaluator differently: Kruskal-Wallis, Friedman, pairs.

    Args:
        store: opened runs.
        chosen: which shifts; controls are left out.
        label: column that holds the level: ``probe``, ``modifier``, ``coverage_bin`` or ``category``.
        family: whose shifts.
        evaluator: whose scores.
        measure: ``percent``, or ``delta`` for the other two measures: a common factor changes no rank.
        against: see :func:`core.analysis.results.item_changes`.
    """
    kept = replace(chosen, evaluators=(evaluator,), controls=family in (BLUR, NULL))
    items = item_changes(store, kept, by=("evaluator", label), only={"family": (family,)}, against=against)
    values = items["percent" if measure == "percent" else "delta"]
    return factor_test(values, items[label].astype(object), item_codes(items))


def scores_differ(scores: pd.DataFrame, *, factor: str, evaluator: str) -> FactorTest:
    """Test whether the score of one evaluator differs between coverage bins or categories (RQ2).

    Args:
        scores: rows of :func:`core.analysis.results.item_scores`.
        factor: ``coverage_bin`` or ``category``.
        evaluator: whose scores.
    """
    rows = scores[scores["evaluator"] == evaluator]
    return factor_test(rows["score"], rows[factor].astype(object), item_codes(rows))


def item_codes(items: pd.DataFrame) -> np.ndarray:
    """A number an item, int64 [rows]; equal names in two corpora are two items."""
    return items.groupby(["corpus", "item"], observed=True, sort=False).ngroup().to_numpy()


def score_levels(scores: pd.DataFrame, *, by: Sequence[str]) -> pd.DataFrame:
    """Median score of every cell with its interval (RQ2).

    Args:
        scores: rows of :func:`core.analysis.results.item_scores`.
        by: columns that make a cell, e.g. evaluator, corpus, coverage_bin.

    Returns:
        ``by`` + value, low, high (95 % BCa), n_items, note.
    """
    records = []
    for name, rows in scores.groupby(list(by), sort=True, observed=True).indices.items():
        cell = dict(zip(by, name if isinstance(name, tuple) else (name,), strict=True))
        found = median_bca(scores["score"].to_numpy()[rows])
        records.append({**cell, "value": found.estimate, "low": found.low, "high": found.high, "n_items": found.n,
                        "note": found.note})  # fmt: skip
    return pd.DataFrame(records, columns=[*by, "value", "low", "high", "n_items", "note"])


def coverage_curve(scores: pd.DataFrame, *, evaluator: str) -> pd.DataFrame:
    """Score of one evaluator on continuous coverage, a natural cubic spline with its band (RQ2)."""
    rows = scores[scores["evaluator"] == evaluator]
    return spline_curve(rows["coverage"], rows["score"])


def distance_curve(store: Store, chosen: Slice, *, evaluator: str) -> pd.DataFrame:
    """Percent change on the object's distance from the centre, a spline with its band (RQ1b).

    Returns:
        See :func:`core.analysis.curves.spline_curve`, x the radius of the place aimed at (1 = the edge); empty where
        the runs hold no distance grid.
    """
    items = item_changes(
        store, replace(chosen, evaluators=(evaluator,)), by=("evaluator", "probe"), only={"family": (DISTANCE,)}
    )  # fmt: skip
    radius = items["probe"].astype(str).str.extract(_RADIUS)[0].astype(float)
    return spline_curve(radius, items["percent"])


def filtered_moves(store: Store, chosen: Slice) -> pd.DataFrame:
    """Percent change from top left to bottom right, with ever more suspicious composites dropped (paper A, Table 2).

    Returns:
        See :func:`core.analysis.artifacts.artifact_filters`, by evaluator and corpus; its first row of each is the
        move itself, without a filter.
    """
    if not chosen_families(chosen, (PLACES,)):
        return artifact_filters(_NO_MOVES, by=_CELL)
    columns = ("evaluator", "corpus", "item", "subject", "probe", "score", "seam_energy", "bg_delta")
    kept = replace(chosen, probes=tuple(name for name in MOVE if not chosen.probes or name in chosen.probes), sign=None)
    rows = shifts(store, kept, columns=columns) if kept.probes else _NO_MOVES
    return artifact_filters(rows, by=_CELL)


_NO_MOVES = pd.DataFrame(
    {name: [] for name in ("evaluator", "corpus", "item", "subject", "probe", "score", "seam_energy", "bg_delta")}
)


def mixed_effects(store: Store, chosen: Slice) -> pd.DataFrame:
    """Effect of each spatial family with image and category as random intercepts (paper A, Table 3).

    Returns:
        One row an (evaluator, family): evaluator, label, effect (β₁ on the evaluator's own scale), low, high, p,
        n_items, categories, note.
    """
    families = (*FLIPS, PLACES, ROTATION)
    items = item_changes(store, chosen, by=("evaluator", "family"), only={"family": families})
    whole = items.dropna(subset=["delta", "baseline", "category"])
    records = []
    for (evaluator, family), rows in whole.groupby(["evaluator", "family"], sort=True, observed=True):
        before, codes = rows["baseline"].to_numpy(), item_codes(rows)
        scores = np.concatenate([before, before + rows["delta"].to_numpy()])
        found = mixed_effect(
            scores, np.repeat([0, 1], len(rows)), np.tile(codes, 2), np.tile(rows["category"].astype(str), 2)
        )
        records.append({"evaluator": evaluator, "label": family, "effect": found.effect, "low": found.low,
                        "high": found.high, "p": found.p, "n_items": found.images, "categories": found.categories,
                        "note": found.note})  # fmt: skip
    columns = ("evaluator", "label", "effect", "low", "high", "p", "n_items", "categories", "note")
    return pd.DataFrame(records, columns=columns)


@dataclass(frozen=True, slots=True)
class Replication:
    """Does a family shift every corpus the same way?

    Args:
        effects: by evaluator, corpus and label (the family).
        agreement: see :func:`core.analysis.rank_agreement.direction_agreement`.
    """

    effects: pd.DataFrame
    agreement: pd.DataFrame


def replication(store: Store, chosen: Slice, *, families: Sequence[str], reference: str, **how: Any) -> Replication:
    """Effects of families in every corpus, and how often an item moves as the reference corpus does (RQ4).

    Args:
        store: opened runs.
        chosen: which shifts.
        families: whose shifts.
        reference: name of the corpus whose direction is held against the others.
        how: see :func:`spatial_effects`.

    Raises:
        InvalidInput: if no shift of the slice is of the reference corpus.
    """
    items = item_changes(store, chosen, by=("evaluator", "family"), only={"family": families})
    table = effects(items.rename(columns={"family": "label"}), by=(*_CELL, "label"), **how)
    return Replication(table, direction_agreement(items, reference=reference, by=("evaluator", "family")))


def in_order(levels: Sequence[str], factor: str) -> list[str]:
    """Coverage bins from small to large, other levels by name."""
    known = list(COVERAGE_BINS)
    if factor == "coverage_bin":
        return sorted(levels, key=lambda level: (known.index(level) if level in known else len(known), level))
    return sorted(levels)

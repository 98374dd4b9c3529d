"""Figures of what people say: outcomes of a study, people beside evaluators, agreement with a suite."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from core.analysis.effects import bounds
from core.charts.spec import NEUTRAL, PALETTE, Figure, Style, counted, marks_of, untitled

ALL_PAIRS = "all pairs"
PEOPLE = "people"
FEW = 5  # below so many a mark is drawn hollow
_ANALYSES = (Style(PALETTE[4], "diamond", size=8), Style(PALETTE[0], "x", size=8))
_PERCENT: dict[str, Any] = {"unit": " %", "span": (0, 102)}


def outcome_bars(table: pd.DataFrame) -> Figure:
    """Shares with their intervals, one bar a line: what, share, low, high, n; see ``Aggregates.table``."""
    hover = [
        f"{what}\n{100 * share:.1f} % ({_interval(100 * low, 100 * high)})\nn = {n}"
        if share == share
        else f"{what}\nno votes"
        for what, share, low, high, n in table[["what", "share", "low", "high", "n"]].itertuples(index=False)
    ]
    percent = table.assign(**{name: 100 * table[name] for name in ("share", "low", "high")})
    frame = marks_of(percent, table["what"].astype(str), "share", "", ("share", "low", "high"), "n", hover=hover)
    styles = {"share": Style(PALETTE[0], fill=0.55)}
    return untitled(frame, "share", kind="bars", counts=True, styles=styles, **_PERCENT)


def reanalysis_dots(table: pd.DataFrame) -> Figure:
    """Median % change of every family, a panel an evaluator: all pairs (ring) and each re-analysis of
    ``Reanalysis``."""
    parts = [_medians(table.drop_duplicates(["evaluator", "family"]), ALL_PAIRS, "all")]
    parts += [_medians(rows, str(name), "kept") for name, rows in table.groupby("analysis", sort=False)]
    styles = {ALL_PAIRS: Style(NEUTRAL, size=11, fill=0)}
    styles |= dict(zip(map(str, table["analysis"].unique()), _ANALYSES, strict=False))
    return untitled(pd.concat(parts, ignore_index=True), "median % change", unit=" %", styles=styles, counts=True)


def comparison_dots(people: pd.DataFrame, evaluators: pd.DataFrame) -> Figure:
    """In how many comparisons the right side wins, a line a family: under people (a diamond; where a preference was not
    asked, by the higher mean rating) and every evaluator. Of ``people_rows`` and ``evaluator_rows``."""
    named = "prefer" if people["prefer"].notna().any() else "higher"
    parts = [marks_of(people, people["family"], PEOPLE, "", bounds(named), "n")]
    failure = bounds("failure")
    wins = evaluators.assign(**{name: 100 - evaluators[name] for name in failure})
    for name, own in wins.groupby("evaluator", sort=True):
        value, high, low = failure  # ends of what fails, from the other side
        parts.append(marks_of(own, own["family"], str(name), "", (value, low, high), "n"))
    frame = pd.concat(parts, ignore_index=True)
    hover = [
        f"{row['label']}, {row['series']}\nthe right one wins: {row['value']:.1f} % "
        f"({_interval(row['low'], row['high'])})\nn = {counted(row['n'], 'comparison')}"
        for row in frame.to_dict("records")
    ]
    frame, styles = frame.assign(hover=hover, hollow=frame["n"] < FEW), {PEOPLE: Style(NEUTRAL, "diamond", size=11)}
    return untitled(frame, "right one wins", counts=True, styles=styles, **_PERCENT)


def competence_dots(people: pd.DataFrame) -> Figure:
    """Competence of every annotator under MACE, of ``study_competence``, with its interval, a panel a question and
    study."""
    own = people.dropna(subset=["competence"])
    panel = own["question"].astype(str)
    if "study" in own:
        panel = own["study"].astype(str) + ", " + panel
    values = ("competence", "low", "high")
    frame = marks_of(own, own["annotator"].astype(str), "competence", panel, values, "n", hollow=own["n"] < FEW)
    frame["hover"] = [
        f"{row['label']}\nknows {row['value']:.0f} % under MACE ({_interval(row['low'], row['high'])})\n"
        f"n = {row['n']} judged by others too"
        for row in frame.to_dict("records")
    ]
    told, looks = ("S-human-competence-dots", COMPETENCE_TITLE, COMPETENCE_NOTE), {"competence": Style(PALETTE[0])}
    return Figure(*told, frame, "answers by knowing", counts=True, styles=looks, **_PERCENT)


COMPETENCE_TITLE = "Who answers by knowing?"
COMPETENCE_NOTE = (
    "Estimated share of items that an annotator answers by knowing rather than guessing, under MACE (Hovy and others "
    "2013). Who often says what the others say is taken to know. It is no share of right answers, and where most share "
    "an error, who does not is taken to guess. Bars are 95 % profile-likelihood intervals; where one is wider than 50 "
    "points, the votes do not tell. Versions of an item count one by one."
)


def powered_dots(rows: pd.DataFrame) -> Figure:
    """Rates of people over all pairs, a panel a question and study: from votes alone (a diamond) and joined with each
    evaluator; of ``powered_rows``."""
    parts = []
    for name, own in rows.groupby([*(["study"] if "study" in rows else []), "question"], sort=False):
        panel = ", ".join(map(str, name))
        first = own.iloc[:1]
        parts.append(_rates(first, ["votes alone"], "votes alone", panel, "votes"))
        parts.append(_rates(own, own["evaluator"].astype(str), "joined with scores", panel, "joined"))
    styles = {"votes alone": Style(NEUTRAL, "diamond", size=11), "joined with scores": Style(PALETTE[0])}
    frame, told = pd.concat(parts, ignore_index=True), ("S-human-powered-rates", POWERED_TITLE, POWERED_NOTE)
    return Figure(*told, frame, "rate over all pairs", styles=styles, **_PERCENT)


POWERED_TITLE = "What would people say of every pair?"
POWERED_NOTE = (
    "Rates over all items of the study's strata, from votes on some of them: from the votes alone, and joined with the "
    "scores of an evaluator for all (prediction-powered inference, PPI++). λ is the weight of the scores, 0 where they "
    "buy nothing. It rests on this alone: that the items with votes were drawn at random within the strata, as the "
    "study drew them, and were not skipped for what they show. 95 % intervals about these items and people like the "
    "annotators, of whom it takes three."
)


def _rates(rows: pd.DataFrame, labels: Iterable[str], series: str, panel: str, name: str) -> pd.DataFrame:
    values = (name, f"{name}_low", f"{name}_high")
    frame = marks_of(rows.reset_index(drop=True), list(labels), series, panel, values, "n")
    hover = [
        f"{row['label']}\n{row['value']:.1f} % ({_interval(row['low'], row['high'])})\n"
        f"n = {counted(row['n'])} with votes"
        for row in frame.to_dict("records")
    ]
    return frame.assign(hover=hover, hollow=frame["n"] < FEW)


def kappa_map(pairs: pd.DataFrame) -> Figure:
    """Weighted κ of every pair of annotators, a cell each on both sides of the diagonal; a panel a study. Of
    ``study_kappas``; a cell of fewer than FEW shared items is hollow."""
    turned = pairs.rename(columns={"one": "other", "other": "one"})
    both = pd.concat([pairs, turned], ignore_index=True).dropna(subset=["kappa"])
    names = sorted({*both["one"].astype(str), *both["other"].astype(str)})
    both = both.sort_values(["one", "other"], kind="stable", ignore_index=True)
    both["kappa"] = both["kappa"].astype(float)
    panel = both["study"].astype(str) if "study" in both else ""
    one, other = both["one"].astype(str), both["other"].astype(str)
    frame = marks_of(both, one, other, panel, ("kappa", "low", "high"), "n")
    items = both["n_items"] if "n_items" in both else both["n"]
    frame["text"] = [f"{value:.2f}\nn {n}".replace("-", "−") for value, n in zip(frame["value"], items, strict=True)]
    frame["hover"] = [
        f"{row['label']} and {row['series']}\nκ = {row['value']:.2f} ({_interval(row['low'], row['high'])})\n"
        f"n = {counted(n)} judged by both ({row['n']} versions)"
        for row, n in zip(frame.to_dict("records"), items, strict=True)
    ]
    frame["hollow"] = (items < FEW).to_numpy()
    told, styles = ("S-human-kappa-map", KAPPA_TITLE, KAPPA_NOTE), {name: Style(NEUTRAL) for name in names}
    looks: dict[str, Any] = {"kind": "map", "diverging": True, "order": tuple(names), "styles": styles}
    return Figure(*told, frame, "weighted κ", paper="E, Figure 4", **looks)


KAPPA_TITLE = "How far do two annotators agree?"
KAPPA_NOTE = (
    "Cohen’s κ with quadratic weights of every pair of annotators, on what both judged; versions of an item count one "
    "by one. 1 is full agreement, 0 what chance would give. Pairs that judged fewer than two things together have no "
    "cell."
)


def _medians(rows: pd.DataFrame, series: str, which: str) -> pd.DataFrame:
    *values, n = (f"{name}_{which}" for name in ("median", "low", "high", "n"))
    frame = marks_of(rows, rows["family"].astype(str), series, rows["evaluator"].astype(str), values, n)
    return frame.assign(
        hollow=frame["n"] < FEW,
        hover=[
            f"{row['label']}, {row['panel']}\n{series}: {row['value']:.2f} % ({_interval(row['low'], row['high'])})\n"
            f"n = {counted(row['n'])}"
            for row in frame.to_dict("records")
        ],
    )


def _interval(low: float, high: float) -> str:
    return "no interval" if low != low else f"95 % CI {low:.2f} to {high:.2f}"


def agreement(table: pd.DataFrame, *, measure: str, axis: str) -> Figure:
    """One dot an evaluator with the measure, whose bounds end in ``_low`` and ``_high``; where a suite has groups, a
    series each. Of :func:`core.features.suites.suite_tables.reached_table`; rows without the measure are left out."""
    held = table[table[measure].notna()]
    counts = held["n_pairs"] if measure.startswith("accuracy") else held["n_ratings"].fillna(held["n_pairs"])
    labels = [
        f"{who}, {told}" if told else str(who) for who, told in zip(held["evaluator"], held["references"], strict=True)
    ]
    several = len(set(held["group"])) > 1
    own = not several and not held["references"].astype(bool).any()
    series = held["group"].astype(str) if several else held["evaluator"].astype(str) if own else "all"
    rows = held.assign(n=counts.fillna(0).astype(int))
    frame = marks_of(rows, labels, series, "", bounds(measure), "n")
    frame["hover"] = [
        f"{row['label']}, {group}\n{row['value']:.1f}"
        + (f" ({row['low']:.1f} to {row['high']:.1f})" if row["low"] == row["low"] else "")
        for row, group in zip(frame.to_dict("records"), held["group"], strict=True)
    ]
    return Figure("", axis, "", frame.reset_index(drop=True), axis, overlay=own)

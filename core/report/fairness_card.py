"""The fairness card as one printable page, and its figures."""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.both_demands import NOT_ASKED, demands, half_asked
from core.analysis.facts import MAY_BE_TRUE, WHY, known_words, may_be_true
from core.analysis.flip_cells import EVIDENCE, IQR, PAIRS, READ, TWO_PICTURES
from core.analysis.flip_shifts import SAME
from core.analysis.overview import card_risks, fairness_card, family_contrasts, not_on_card, picked_of
from core.analysis.questions.behind_the_scores import origins
from core.analysis.questions.behind_the_scores import sentences as precision
from core.analysis.questions.columns import SIZES
from core.analysis.questions.controls import sentences
from core.analysis.questions.selective import blind_spots
from core.analysis.reading import read_table
from core.analysis.scope import Narrowed, Scope, items_said, labels_said, narrow
from core.analysis.table import View
from core.analysis.verdicts import MARGIN, reached, told_from_null
from core.charts.spec import Figure, Shade, Style, colours, counted, marks_of, untitled
from core.errors import InvalidInput
from core.features.human.studies import Study
from core.features.human.study_outcomes import accepted_by_people
from core.probes.titles import family_title
from core.report.document import number, signature_of
from core.report.html import details, page
from core.statistics.crossed_sources import FIRST_ALONE
from core.store.store import Store

STYLE = """
:root { color-scheme: light; } @page { size: A4 landscape; margin: 13mm; }
* { box-sizing: border-box; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
body { font: 12px/1.4 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 0 auto; max-width: 270mm;
  padding: 10px 0; }
h1 { font-size: 21px; margin: 0; } h2 { font-size: 14px; margin: 0 0 4px; } p { margin: 3px 0 8px; color: #444; }
details { border-bottom: 1px solid #e4e4e4; padding: 4px 0; } summary { cursor: pointer; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 2px 5px; border-bottom: 1px solid #e4e4e4; white-space: nowrap; }
th { font-weight: 600; color: #444; }
tbody th { font-weight: 400; vertical-align: top; min-width: 11em; } .words { text-align: left; white-space: normal; }
code { font-size: 9px; overflow-wrap: anywhere; color: #444; }
td:last-child { min-width: 18em; } td:nth-last-child(7) { min-width: 14em; }
@media screen { body { padding: 16px 12px; max-width: 1260px; } }
@media print { .wide { overflow: visible; } th, td { white-space: normal; font-size: 10px; padding: 2px 4px; }
  tbody th, td:last-child, td:nth-last-child(7) { min-width: 0; }
  details::details-content { content-visibility: visible; block-size: auto; } }
"""

Risks = dict[tuple[str, str, str], pd.Series]

_RISKS = ("Flip risk % [95 % CI]", "Flip risk under invisible edits %", "Trustworthy gap, under this family [95 % CI]")
_HEADERS = ("Metric", "Axis", "Worst family", "Median |% change| [95 % CI]", "n", *_RISKS, "Claims")


def card_report(store: Store, scope: Narrowed | Scope | None = None, *, studies: Sequence[Study] = ()) -> str:
    """Write the fairness card as one HTML page for A4, light, without any outside resource. ``scope``: whose corpus in
    view is on the card; None: the usual one. ``studies``: whose votes say which words people accept. Raises
    InvalidInput if no family has a percent change."""
    narrowed = scope if isinstance(scope, Narrowed) else narrow(store, scope)
    table = read_table(store, narrowed.only())
    view = table.view()
    families = family_contrasts(view)
    card = fairness_card(view, families=families)
    if card.empty:
        raise InvalidInput(
            " ".join(not_on_card(families))
            or "the runs have no percent change of an invariant family; audit some invariant probes first"
        )
    risks = card_risks(view, card)
    risks = risks[risks["unit"] == IQR]
    known = {(row["evaluator"], row["axis"], row["family"]): row for _, row in risks.iterrows()}
    status = next(run.status for run in store.runs() if run.id == narrowed.run)
    of = f"corpus {narrowed.corpus}, {narrowed.subject} captions in {narrowed.language}"
    about = f"Run {narrowed.run} ({status}), {of}"
    labels = labels_said(store.runs(), table.scope.run_ids)
    accepted = accepted_by_people(studies, table.scope.run_ids)
    both, words = demands(view), may_be_true(table, accepted)
    people = [f"{family_title(name)}: {what}." for name, what in known_words(table, accepted).items()]
    falls = dict(zip(both["evaluator"], both["falls"], strict=True))
    besides, names = asked_besides(view), dict.fromkeys(card["evaluator"])
    told = "".join(f"<h2>{escape(name)}</h2>{''.join(map(_paragraph, besides[name]))}" for name in names)
    left_out = (*items_said(store.runs(), table.scope.run_ids), *table.scope.left_out, *labels, *not_on_card(families))
    parts = [
        "<h1>Fairness card</h1>",
        "<p>Does each metric ignore edits that leave the meaning, and notice those that break it? Metrics stand by "
        f"name, not by merit. {escape(about)}. {escape(half_asked(view))}</p>",
        _table(card, known, falls, words),
        *map(_paragraph, people),
        details("What each was asked besides", told),
        details("What is not on the card", "".join(map(_paragraph, left_out))) if left_out else "",
        details("How to read it", "".join(f"<p><b>{name}</b>: {escape(said)}</p>" for name, said in _READ.items())),
        f"<code>{escape(signature_of(table, store.runs()))}</code>",
    ]
    return page("Fairness card", "\n".join(parts), style=STYLE)


def asked_besides(view: View, *, margin: float = MARGIN) -> dict[str, tuple[str, ...]]:
    """What each evaluator was asked besides, a sentence each: whose scores these are, blur, half precision, errors."""
    kept = origins(view.table), sentences(view), precision(view, margin=margin), blind_spots(view)
    return {name: tuple(filter(None, (each.get(name) for each in kept))) for name in view.evaluators}


_READ = {
    "Worst family": "the family of edits that changes an evaluator most, on each axis. It is picked after seeing the "
    "data; its intervals and claims allow for that. Beside it stands in how many of 1000 draws of the same items it is "
    f"the worst. Of more than 2000 items there are 200 draws. Where items name two sources, draws are {FIRST_ALONE}.",
    MAY_BE_TRUE.capitalize(): f"{WHY}.",
    "Median |% change|": "how far the family's edits change the score of the middle item, in either direction. Each "
    "item counts once, by the median over its edits. Brackets hold 95 % intervals, which show how sure a number is "
    "(BCa bootstrap, 10,000 resamples, seed 2025).",
    "Flip risk": "how probable it is that an edit of the family turns round two captions whose scores lie close "
    "together. Close is 0.7 % of the spread of the middle half of the evaluator's scores (its interquartile range). "
    f"{PAIRS} {READ}",
    "Different pictures": f"the number {TWO_PICTURES}; it stands alone where each picture has one caption.",
    "Trustworthy gap": f"{EVIDENCE} It is that of the family of the row; another family may ask for more.",
    "Drift": "whether scores lean one way, told by the middle item, by how many items fall and by the mean score.",
    "Stability": f"whether items change by more than the margin, ±{MARGIN:g} %: by the median |% change|, and by the "
    "share of edits beyond the margin.",
    "Invisible edits": "those that nobody can see. An edit that is no further changes a score more than one of them, "
    "of the same item, in 50 % of pairs.",
}


def _table(card: pd.DataFrame, risks: Risks, falls: Mapping[str, str], words: Collection[str]) -> str:
    head = "".join(f'<th class="words">{each}</th>' if each in _WORDS else f"<th>{each}</th>" for each in _HEADERS)
    body = []
    known_first = card.assign(unsure=card["family"].isin(words)).sort_values(["unsure", "axis"], kind="stable")
    for name, rows in known_first.groupby("evaluator", sort=True):
        said = f"<b>{escape(str(name))}</b><br>{escape(falls.get(str(name), NOT_ASKED))}"
        first = f'<th class="words" rowspan="{len(rows)}">{said}</th>'
        for place, (_, row) in enumerate(rows.iterrows()):
            body.append(f"<tr>{first if place == 0 else ''}{_row(row, risks, row['unsure'])}</tr>")
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


_WORDS = {"Metric", "Axis", "Worst family", "Claims"}


def _row(row: pd.Series, risks: Risks, unsure: bool) -> str:
    risk = risks[row["evaluator"], row["axis"], row["family"]]
    shares = tuple(100 * risk[name] for name in ("risk", "low", "high"))
    picked = picked_of(row["n_families"], row["worst_in"], row["alike"])
    cells = (
        row["axis"],
        f"{row['family']} ({picked}{f'; {MAY_BE_TRUE}' if unsure else ''})",
        _with(row["median_abs_percent"], row["abs_low"], row["abs_high"], digits=2),
        str(row["n_items"]),
        _with(*shares, digits=1) + _whose(risk, 100 * risk["apart_risk"], digits=1),
        number(100 * risk["null_risk"], digits=1),
        _with(risk["evidence"], risk["evidence_low"], risk["evidence_high"], digits=3)
        + _whose(risk, risk["apart_evidence"], digits=3),
        claims(row),
    )
    return "".join(
        f'<td class="words">{escape(str(cell))}</td>' if header in _WORDS else f"<td>{escape(cell)}</td>"
        for header, cell in zip(_HEADERS[1:], cells, strict=True)
    )


def _whose(risk: pd.Series, apart: float, *, digits: int) -> str:
    """Of which two captions a number is, behind it; that of different pictures behind that of the same one."""
    return f"; different pictures {number(apart, digits=digits)}" if risk["pairs"] == SAME else ", different pictures"


def claims(row: pd.Series) -> str:
    """What may be claimed of a family; beside an undecided claim what would decide it, and where the test differs."""
    drifts = _beside(row["drift"], row["direction"] or reached(row["drift"], row["detectable"], row["needed"]))
    null = _beside(row["than_null"], told_from_null(row["than_null"], row["null_detectable"]))
    return "; ".join(each for each in (drifts, row["scatter"], null, row["conflict"]) if each)


def _beside(claim: str, said: str) -> str:
    return f"{claim} ({said})" if said else claim


def _with(value: float, low: float, high: float, *, digits: int) -> str:
    said = number(value, digits=digits)
    if pd.isna(low):
        return said if pd.isna(value) else f"{said} (no interval)"
    return f"{said} [{number(low, digits=digits)}, {number(high, digits=digits)}]"


def family_shifts(contrasts: pd.DataFrame, card: pd.DataFrame, *, colour: str, top: float | None = None) -> Figure:
    """One evaluator's families. ``contrasts``: rows of ``core.analysis.overview.family_contrasts`` of one evaluator;
    the null axis is left out. ``card``: its rows of ``core.analysis.overview.fairness_card``: the worst family of each
    axis, and the noise band. ``colour``: ``#rrggbb`` of the evaluator. ``top``: where the axis ends, in percent, so
    that several figures can be held side by side; None: where its own do. Returns a dot a family at its median |%
    change| with the 95 % interval, by axis and size, filled for the worst of its axis; grey up to the median shift of
    the invisible edits."""
    rows = _shown(contrasts).sort_values(["axis", "median_abs_percent"], ascending=[True, False], kind="stable")
    worst = set(zip(card["axis"], card["family"], strict=True))
    marked = [each in worst for each in zip(rows["axis"], rows["family"], strict=True)]
    null = float(card["null_median"].max()) if len(card) else math.nan
    top = shared_top(contrasts, card) if top is None else top
    looks: dict[str, Any] = {"hollow": [not each for each in marked]}
    looks["hover"] = [_hover(row, mark) for row, mark in zip(rows.to_dict("records"), marked, strict=True)]
    frame = marks_of(rows, rows["family"].astype(str), "median |% change|", values=SIZES, **looks)
    shades, styles = () if math.isnan(null) else (Shade(0, null),), {"median |% change|": Style(colour)}
    return untitled(frame, "", unit=" %", span=(0, 1.08 * top), styles=styles, shades=shades)


def worst_of_axes(rows: pd.DataFrame, *, names: Mapping[str, str]) -> Figure:
    """The worst family of each axis of every evaluator on one scale, in the order of the rows of
    ``core.analysis.overview.at_a_glance``: a panel an axis, a dot an evaluator at its median |% change| with the 95 %
    interval."""
    axes = [str(name).removesuffix("_abs") for name in rows.columns if str(name).endswith("_abs")]
    parts, every = list[pd.DataFrame](), rows.to_dict("records")
    for axis in axes:
        said = {"hover": [_hover_of_axis(row, axis, names) for row in every]}
        asked = ((row["evaluator"], row[axis]) for row in every)
        said["opens"] = [
            json.dumps({"evaluators": name, "families": family}) if isinstance(family, str) else ""
            for name, family in asked
        ]
        of, values = f"{axis}, worst family", [f"{axis}_{end}" for end in ("abs", "low", "high")]
        parts.append(marks_of(rows, rows["evaluator"], rows["evaluator"], of, values, f"{axis}_n", **said))
    frame = pd.concat(parts).dropna(subset=["value"]).reset_index(drop=True)
    styles = {name: Style(colour) for name, colour in colours(frame["series"].unique()).items()}
    look: dict[str, Any] = {"unit": " %", "span": (0, None), "overlay": True, "styles": styles}
    return untitled(frame, "median |% change| of the worst family", order=tuple(rows["evaluator"]), **look)


def _hover_of_axis(row: Mapping[Any, Any], axis: str, names: Mapping[str, str]) -> str:
    if not isinstance(row[axis], str):
        return ""
    family = names.get(row[axis], row[axis])
    own = {name: row[f"{axis}_{name}"] for name in ("abs", "low", "high", "n", "signed", "drift", "scatter")}
    interval = "no interval" if math.isnan(own["low"]) else f"95 % CI {own['low']:.2f} to {own['high']:.2f}"
    return (
        f"{row['evaluator']}: {family} ({row[axis]})\nmedian |% change| {own['abs']:.2f} % ({interval}); "
        f"{own['scatter']}\nmedian % change {own['signed']:+.2f} %; {own['drift']}\nn = {own['n']:.0f} items"
    )


def shared_top(contrasts: pd.DataFrame, card: pd.DataFrame) -> float:
    """Where the furthest interval or noise band of some evaluators ends, in percent; 0.1 at least; ``contrasts``,
    ``card``: as for :func:`family_shifts`, of any number of evaluators."""
    ends = _shown(contrasts)[["median_abs_percent", "abs_high"]].to_numpy(dtype=float).ravel()
    return float(np.nanmax([*ends, *card["null_median"], 0.1]))


def _shown(contrasts: pd.DataFrame) -> pd.DataFrame:
    return contrasts[contrasts["axis"] != "null"].dropna(subset=["median_abs_percent"])


def _hover(row: dict[Any, Any], worst: bool) -> str:
    return (
        f"{row['family']}, {row['axis']}{', worst of its axis' if worst else ''}\n"
        f"median |% change| {row['median_abs_percent']:.2f} % (95 % CI {row['abs_low']:.2f} to {row['abs_high']:.2f})\n"
        f"median % change {row['median_percent']:+.2f} % ({row['low']:+.2f} to {row['high']:+.2f})\n"
        f"n = {counted(row['n_items'])}, {row['n_shifts']} shifts; {row['drift']}; {row['scatter']}"
    )

"""The fairness card as one printable page."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape

import pandas as pd

from core.analysis.flip_cells import EVIDENCE, IQR, READ
from core.analysis.overview import card_risks, fairness_card, family_contrasts, not_on_card, picked_of
from core.analysis.questions.behind_the_scores import origins
from core.analysis.questions.behind_the_scores import sentences as precision
from core.analysis.questions.controls import sentences
from core.analysis.questions.selective import blind_spots
from core.analysis.reading import read_table
from core.analysis.scope import Narrowed, Scope, labels_said, narrow
from core.analysis.verdicts import MARGIN, further_said, reached, told_from_null
from core.charts.fairness_figures import family_shifts
from core.charts.still import element
from core.charts.style import colours
from core.errors import InvalidInput
from core.report.document import number
from core.report.html import page
from core.report.signature import signature_of
from core.store.store import Store

STYLE = """
:root { color-scheme: light; } @page { size: A4; margin: 13mm; }
* { box-sizing: border-box; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
body { font: 12px/1.4 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 0 auto; max-width: 184mm;
  padding: 10px 0; }
h1 { font-size: 21px; margin: 0; } h2 { font-size: 14px; margin: 0 0 4px; } p { margin: 3px 0 8px; color: #444; }
section { border: 1px solid #ccc; border-radius: 4px; padding: 7px 9px; margin: 0 0 8px; break-inside: avoid; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 2px 5px; border-bottom: 1px solid #e4e4e4; white-space: nowrap; }
th { font-weight: 600; color: #444; } .words { text-align: left; white-space: normal; }
figure { margin: 0; } svg { display: block; width: 100%; height: auto; }
code { font-size: 9px; overflow-wrap: anywhere; color: #444; }
@media screen { body { padding: 16px 12px; } }
"""

Risks = dict[tuple[str, str, str], pd.Series]

_ROW = 0.115
"""Height of a family, in inches: three evaluators fit on one sheet."""

_HEADERS = (
    "Axis",
    "Worst family",
    "Median |%Δ| [95 % CI]",
    "n",
    "Flip risk % [95 % CI]",
    "Null edits %",
    "No evidence below [95 % CI]",
    "Null edits: below",
    "Claims",
)


def card_report(store: Store, scope: Narrowed | Scope | None = None) -> str:
    """Write the fairness card as one HTML page for A4, light, without any outside resource.

    Args:
        store: opened runs.
        scope: whose corpus in view is on the card; None: the usual one.

    Returns:
        The document.

    Raises:
        InvalidInput: if no family has a percent change.
    """
    narrowed = scope if isinstance(scope, Narrowed) else narrow(store, scope)
    table = read_table(store, narrowed.only())
    view = table.view()
    families = family_contrasts(view)
    card = fairness_card(view, families=families)
    if card.empty:
        raise InvalidInput(
            " ".join(not_on_card(families))
            or "the runs hold no percent change of an invariant family; audit some invariant probes first"
        )
    risks = card_risks(view, card)
    risks = risks[risks["unit"] == IQR]
    known = {(row["evaluator"], row["axis"], row["family"]): row for _, row in risks.iterrows()}
    status = next(run.status for run in store.runs() if run.id == narrowed.run)
    about = (
        f"Run {narrowed.run} ({status}), corpus {narrowed.corpus}, {narrowed.subject} captions in {narrowed.language}"
    )
    labels = labels_said(store.runs(), table.scope.run_ids)
    control, blind = sentences(view), blind_spots(view)
    origin, half = origins(table), precision(view, margin=MARGIN)
    parts = [
        "<h1>Fairness card</h1>",
        "<p>How far each caption metric moves although the meaning did not: the worst family of each axis. "
        f"{escape(about)}.</p>",
        *(f"<p>{escape(sentence)}</p>" for sentence in (*table.scope.left_out, *labels, *not_on_card(families))),
        *(
            _evaluator(
                name,
                card,
                known,
                picture,
                (origin.get(name, ""), control[name], half.get(name, ""), blind.get(name, "")),
            )
            for name, picture in _pictures(families, card).items()
        ),
        "<p>Median over items of an item's median |%Δ|, 95 % BCa bootstrap intervals (10,000 resamples, seed 2025). "
        "Filled: the worst family of its axis; it is picked after seeing the data, and its interval adjusted "
        "for the families it was picked from; beside it stands in how many of 1000 draws of the same items "
        "(200 of more than 2000) it is the "
        "worst. Grey band: the median |%Δ| under edits that nobody can see. Flip risk: probability that two captions "
        f"whose scores lie 0.7 % of the evaluator's interquartile range apart change places. {escape(READ)} No "
        "evidence "
        f"below: {escape(EVIDENCE[0].lower() + EVIDENCE[1:])} Drift: by median, "
        "movers and mean; scatter: of the median |%Δ| and of the share of edits beyond the margin, ±1 %.</p>",
        f"<code>{escape(signature_of(table, store.runs()))}</code>",
    ]
    return page("Fairness card", "\n".join(parts), style=STYLE)


def _evaluator(name: str, card: pd.DataFrame, risks: Risks, picture: str, said: Sequence[str]) -> str:
    rows = card[card["evaluator"] == name]
    head = "".join(f'<th class="words">{each}</th>' if each in _WORDS else f"<th>{each}</th>" for each in _HEADERS)
    body = "".join(_row(row, risks) for _, row in rows.iterrows())
    words = "".join(f"<p>{escape(each)}</p>" for each in said if each)
    return (
        f'<section><h2>{escape(name)}</h2><div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{picture}{words}</section>"
    )


_WORDS = {"Axis", "Worst family", "Claims"}


def _row(row: pd.Series, risks: Risks) -> str:
    risk = risks[row["evaluator"], row["axis"], row["family"]]
    shares = tuple(100 * risk[name] for name in ("risk", "low", "high"))
    cells = (
        row["axis"],
        f"{row['family']} ({picked_of(row['n_families'], row['worst_in'], row['alike'])})",
        _with(row["median_abs_percent"], row["abs_low"], row["abs_high"], digits=2),
        str(row["n_items"]),
        _with(*shares, digits=1),
        number(100 * risk["null_risk"], digits=1),
        _with(risk["evidence"], risk["evidence_low"], risk["evidence_high"], digits=3),
        number(risk["null_evidence"], digits=3),
        claims(row),
    )
    return (
        "<tr>"
        + "".join(
            f'<td class="words">{escape(str(cell))}</td>' if header in _WORDS else f"<td>{escape(cell)}</td>"
            for header, cell in zip(_HEADERS, cells, strict=True)
        )
        + "</tr>"
    )


def claims(row: pd.Series) -> str:
    """What may be claimed of a family; beside an undecided claim what would decide it, and where the test differs."""
    drifts = _beside(row["drift"], row["direction"] or reached(row["drift"], row["detectable"], row["needed"]))
    power = told_from_null(row["than_null"], row["null_detectable"])
    null = _beside(row["than_null"], "; ".join(filter(None, (further_said(row), power))))
    return "; ".join(each for each in (drifts, row["scatter"], null, row["conflict"]) if each)


def _beside(claim: str, said: str) -> str:
    return f"{claim} ({said})" if said else claim


def _with(value: float, low: float, high: float, *, digits: int) -> str:
    said = number(value, digits=digits)
    if pd.isna(low):
        return said if pd.isna(value) else f"{said} (no interval)"
    return f"{said} [{number(low, digits=digits)}, {number(high, digits=digits)}]"


def _pictures(families: pd.DataFrame, card: pd.DataFrame) -> dict[str, str]:
    """Each evaluator's families as dots with their intervals, the null band behind; by evaluator."""
    colour = colours(card["evaluator"].unique())
    found = {}
    for place, name in enumerate(card["evaluator"].unique()):
        own, worst = (rows[rows["evaluator"] == name] for rows in (families, card))
        figure = replace(family_shifts(own, worst, colour=colour[name]), id=f"card{place}")
        said = f"Median absolute percent change of every family under {name}"
        picture = element(figure, row=_ROW)
        found[name] = f'<figure role="img" aria-label="{escape(said)}">{picture}</figure>'
    return found

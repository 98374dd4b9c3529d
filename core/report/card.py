"""The fairness card as one printable page."""

from html import escape

import pandas as pd

from core.analysis.flip_risk import IQR
from core.analysis.overview import card_risks, fairness_card, family_contrasts
from core.audit.store import Store
from core.errors import InvalidInput
from core.report.build import signature_of
from core.report.cells import number
from core.report.html import page

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
svg { display: block; width: 100%; height: auto; } code { font-size: 9px; overflow-wrap: anywhere; color: #444; }
@media screen { body { padding: 16px 12px; } }
"""

Risks = dict[tuple[str, str, str], tuple[float, float, float]]

_BLUE, _GREY, _BAND = "#0079BD", "#7A7F87", "#E3E5E8"
_HEADERS = ("Axis", "Worst family", "Median |%Δ| [95 % CI]", "n", "Flip risk % [95 % CI]", "Verdict")


def card_report(store: Store) -> str:
    """Write the fairness card as one HTML page for A4, light, without any outside resource.

    Args:
        store: opened runs; all of them are on the card.

    Returns:
        The document.

    Raises:
        InvalidInput: if no family has a percent change.
    """
    families = family_contrasts(store)
    card = fairness_card(store, families=families)
    if card.empty:
        raise InvalidInput("the runs hold no percent change of an invariant family; audit some invariant probes first")
    risks = card_risks(store, card)
    risks = risks[risks["unit"] == IQR]
    known = {
        (row["evaluator"], row["axis"], row["family"]): (100 * row["risk"], 100 * row["low"], 100 * row["high"])
        for _, row in risks.iterrows()
    }
    runs = store.runs()
    about = "; ".join(f"Run {run.id}, corpus {run.manifest['corpus'].get('name')}, {run.status}" for run in runs)
    parts = [
        "<h1>Fairness card</h1>",
        "<p>How far each caption metric moves although the meaning did not: the worst family of each axis. "
        f"{escape(about)}.</p>",
        *(_evaluator(name, card, families, known) for name in dict.fromkeys(card["evaluator"])),
        "<p>Median over items of an item's median |%Δ|, 95 % BCa bootstrap intervals (10 000 resamples, seed 2025). "
        "The worst family is picked after seeing the data, so its interval is that of a maximum. Grey band: the median "
        "|%Δ| under edits that nobody can see. Flip risk: probability that two captions whose scores lie 0.7 % of the "
        "evaluator's interquartile range apart change places. Verdict: on the signed median, margin ±1 %.</p>",
        f"<code>{escape(_signature(store))}</code>",
    ]
    return page("Fairness card", "\n".join(parts), style=STYLE)


def _evaluator(name: str, card: pd.DataFrame, families: pd.DataFrame, risks: Risks) -> str:
    rows = card[card["evaluator"] == name]
    head = "".join(f'<th class="words">{each}</th>' if each in _WORDS else f"<th>{each}</th>" for each in _HEADERS)
    body = "".join(_row(row, risks) for _, row in rows.iterrows())
    drawn = _bars(families[families["evaluator"] == name], rows)
    return (f'<section><h2>{escape(name)}</h2><div class="wide"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>{drawn}</section>")  # fmt: skip


_WORDS = {"Axis", "Worst family", "Verdict"}


def _row(row: pd.Series, risks: Risks) -> str:
    risk = risks[row["evaluator"], row["axis"], row["family"]]
    cells = (
        row["axis"], f"{row['family']} (of {row['n_families']})",
        _with(row["median_abs_percent"], row["abs_low"], row["abs_high"], digits=2), str(row["n_items"]),
        _with(*risk, digits=1), row["verdict"],
    )  # fmt: skip
    return "<tr>" + "".join(
        f'<td class="words">{escape(str(cell))}</td>' if header in _WORDS else f"<td>{escape(cell)}</td>"
        for header, cell in zip(_HEADERS, cells, strict=True)
    ) + "</tr>"  # fmt: skip


def _with(value: float, low: float, high: float, *, digits: int) -> str:
    said = number(value, digits=digits)
    return said if pd.isna(low) else f"{said} [{number(low, digits=digits)}, {number(high, digits=digits)}]"


def _bars(families: pd.DataFrame, card: pd.DataFrame) -> str:
    """Every family of one evaluator as a dot with its interval, the null band behind."""
    from matplotlib.ticker import MaxNLocator

    rows = families[families["axis"] != "null"].dropna(subset=["median_abs_percent"])
    rows = rows.sort_values(["axis", "median_abs_percent"], ascending=[True, False], kind="stable")
    null = float(card["null_band"].max())
    top = max(float(rows[["median_abs_percent", "abs_high"]].max().max()), 0 if pd.isna(null) else null, 0.1)
    left, wide, high = 130.0, 520.0, 13
    scale = wide / (1.03 * top)
    height = high * len(rows) + 18
    marks = [] if pd.isna(null) else [f'<rect x="{left}" y="0" width="{null * scale:.1f}" height="{height - 18}" '
                                      f'fill="{_BAND}"/>']  # fmt: skip
    for place, (_, row) in enumerate(rows.iterrows()):
        y, x = high * (place + 0.5), left + row["median_abs_percent"] * scale
        marks.append(f'<text x="{left - 6}" y="{y + 3:.1f}" text-anchor="end">{escape(str(row["family"]))}</text>')
        if not pd.isna(row["abs_low"]):
            marks.append(f'<line x1="{left + row["abs_low"] * scale:.1f}" x2="{left + row["abs_high"] * scale:.1f}" '
                         f'y1="{y}" y2="{y}" stroke="{_BLUE}" stroke-width="1.5"/>')  # fmt: skip
        marks.append(f'<circle cx="{x:.1f}" cy="{y}" r="3.4" fill="{_BLUE}"/>')
    base = height - 18
    marks.append(f'<line x1="{left}" x2="{left + wide}" y1="{base}" y2="{base}" stroke="{_GREY}" stroke-width="0.7"/>')
    for tick in (each for each in MaxNLocator(5).tick_values(0, top) if each <= 1.03 * top):
        marks.append(f'<text x="{left + tick * scale:.1f}" y="{height - 6}" text-anchor="middle" '
                     f'fill="#444">{tick:g} %</text>')  # fmt: skip
    return (f'<svg viewBox="0 0 680 {height}" role="img" aria-label="Median absolute percent change of every family" '
            f'font-size="9" font-family="system-ui, sans-serif">{"".join(marks)}</svg>')  # fmt: skip


def _signature(store: Store) -> str:
    try:
        return signature_of(store)
    except InvalidInput as error:  # e.g. two runs of one corpus: their card stands, their scores are not one array
        return f"no signature: {error}"

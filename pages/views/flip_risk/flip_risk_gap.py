"""Flip risk at a fixed gap: its link, the map of families and evaluators, the curves, every number."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

from core.analysis.flip_cells import (
    EVERY,
    EVIDENCE,
    IQR,
    READ,
    SCALE,
    TWO_PICTURES,
    Cell,
    cell_curves,
    cell_risks,
    evident_gaps,
    nearest_gap,
    pairs_said,
    widest_gaps,
)
from core.analysis.flip_shifts import SAME
from core.analysis.overview import furthest
from core.analysis.questions.papers import CONTRAST
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.features.flips.flip_questions import TURNED, as_families, named_cells, named_rows, turned_whole
from core.features.flips.flip_risk_figures import family_styles, reliability, risk_curves, risk_map
from core.probes import registry as probes
from core.probes.base import Axis, Edits, Expectation, Probe
from core.probes.titles import family_title
from core.statistics.flip_risk import GAPS as STANDARD
from core.statistics.flip_risk import LEAST_EVIDENCE, LEAST_PICTURES, LEAST_SOURCES
from core.statistics.shift_pairs import CURVE_ERROR
from pages.views.common.collect import data_buttons, figure_buttons
from pages.views.common.layers import draw_folded
from pages.views.common.links import pairs_behind
from pages.views.common.open_runs import KEYED, Shelf, Signature, of_runs, view
from pages.views.common.page_charts import draw, titled
from pages.views.common.page_tables import draw_table
from pages.views.common.run_corpora import corpus_names
from pages.views.common.scope_chips import scope_fields
from pages.views.common.shown_answers import interval
from pages.views.common.slice_filters import describe, offer_relaxing, slice_fields, slice_link
from pages.views.common.text import THE_PAPER, counted, listed, safe
from pages.views.common.url_state import Field, PageState, joined, one_of, some_of
from pages.views.probe_lab.lab_state import linked_evaluators, ready_evaluators

USUAL = 0.007
"""The gap where no family has a trustworthy gap."""

_UNIT_LABELS = {"iqr": "Share of the evaluator's spread", "scale": "On the score's own scale"}
_UNIT_TOLD = {
    "iqr": "The gap is a share of the evaluator's interquartile range (the spread of the middle half of its scores "
    "on unedited pairs), so evaluators of different scales can be held side by side.",
    "scale": "The gap is a share of the span of the score's own scale: 0.7 % is 0.007 on a scale of 0 to 1, 0.07 on "
    "a judge's of 0 to 10. Few evaluators use their whole scale: compare families within an evaluator, not evaluators. "
    "A scale without an upper bound has no such gap.",
}


# Cells are many times the size of a table of risks: the last few slices, for the gaps that a reader tries on them.
@of_runs
@st.cache_resource(hash_funcs=KEYED, max_entries=2, show_spinner="Counting every pair of shifts …")
def cells_of(files: Signature, scope: Narrowed, chosen: Slice) -> tuple[Cell, ...]:
    """Shifts of every evaluator, of the paper's contrasts and of every family, in order."""
    return named_cells(view(files, scope, chosen))


@st.cache_data(hash_funcs=KEYED, max_entries=128, show_spinner="Counting every pair of shifts …")
def risks(files: Signature, scope: Narrowed, chosen: Slice, unit: str, gap: float) -> pd.DataFrame:
    """Flip risk of every cell at one gap, with its interval."""
    found = cell_risks(cells_of(files, scope, chosen), gaps=(gap,), unit=unit)
    return as_families(view(files, scope, chosen), found)


@st.cache_data(hash_funcs=KEYED, max_entries=16, show_spinner="Looking for the gaps that are evidence …")
def evident(files: Signature, scope: Narrowed, chosen: Slice) -> pd.DataFrame:
    """The gap of every cell from which on its flip risk is below 5 %."""
    found = evident_gaps(cells_of(files, scope, chosen))
    return as_families(view(files, scope, chosen), found).drop(columns="opens")


@st.cache_data(hash_funcs=KEYED, max_entries=16, show_spinner="Looking for the gaps that are evidence …")
def usual_gap(files: Signature, scope: Narrowed, chosen: Slice, unit: str) -> float:
    """The slider's gap nearest to the middle trustworthy gap: at a small one every risk is near its ceiling."""
    nearest = nearest_gap(cells_of(files, scope, chosen), GAPS, unit=unit)
    return USUAL if math.isnan(nearest) else nearest


@st.cache_data(hash_funcs=KEYED, max_entries=16, show_spinner="Counting every pair of shifts …")
def curves(files: Signature, scope: Narrowed, chosen: Slice, unit: str) -> pd.DataFrame:
    """Flip risk of every whole family at every gap of the slider but 0, as it is drawn."""
    seen = view(files, scope, chosen)
    rows = named_rows(seen)
    whole = set(rows.loc[rows["of"] != CONTRAST, "label"])
    own = [cell for cell in cells_of(files, scope, chosen) if cell.family in whole]
    found = cell_curves(own, gaps=[gap for gap in GAPS if gap > 0], unit=unit)
    return as_families(seen, found)


@st.cache_data(hash_funcs=KEYED, max_entries=16, show_spinner="Looking what became of near ties …")
def turned(files: Signature, scope: Narrowed, chosen: Slice) -> pd.DataFrame:
    """What became of the near ties; see :func:`core.analysis.flip_cells.turned_ties`. Shares in percent."""
    found = turned_whole(view(files, scope, chosen))
    return found.assign(**{name: 100 * found[name] for name in ("told", "apart", "turned", "low", "high")})


@st.cache_data(hash_funcs=KEYED, max_entries=4, show_spinner=False)
def every_risk(files: Signature, scope: Narrowed, chosen: Slice, unit: str) -> pd.DataFrame:
    """Flip risk of every cell at every gap of the slider, exact and with intervals."""
    return cell_risks(cells_of(files, scope, chosen), gaps=GAPS, unit=unit)


def draw_gap(state: PageState, files: Signature, scope: Narrowed, chosen: Slice) -> None:
    """Draw the view: what is no evidence first, then the risk at the gap that the reader chooses."""
    if chosen.sign:
        st.warning(
            "The filter by direction keeps shifts by their outcome; a risk of what is left is no risk of the family.",
            icon=":material/filter_alt:",
        )
    unit = UNITS[state.get("unit")]
    usual = usual_gap(files, scope, chosen, unit)
    gap = usual if state.get("gap") is None else state.get("gap")
    cells = risks(files, scope, chosen, unit, gap)
    if cells["n_items"].max() < 2 or cells.empty:
        said = describe(chosen)
        st.info(
            "No two items have a shift here"
            + (f" ({safe(said, limit=400)})" if said else "")
            + ("." if said else "; audit more items."),
            icon=":material/filter_alt_off:",
        )
        offer_relaxing(state, files, scope, chosen)
        return
    st.header("The smallest difference that is evidence", anchor=False)
    said = pairs_said(cells_of(files, scope, chosen))
    for sentence in _lead(files, scope, chosen):
        st.markdown(sentence)
    st.caption(said)
    draw_folded("The gap of every family", lambda: _gaps(evident(files, scope, chosen)), key="flip.gaps")
    same = SAME in set(cells["pairs"])
    if same:
        _became(turned(files, scope, chosen))
    st.header("The risk at your own gap", anchor=False)
    how = (
        "A harmless edit moves both. The **risk of ranking flip** (RRF) is half the share of such pairs of captions "
        "whose difference it changes by more than *d*: either may be the one ahead."
        if same
        else f"A harmless edit moves both. Numbers are {TWO_PICTURES}, whose shifts are drawn independently: the "
        "**risk of ranking flip** (RRF) is the share of all pairs of shifts whose difference exceeds *d*."
    )
    st.markdown(f"Two captioners tie on a picture but for a gap *d*. {how} {READ}")
    _controls(state, gap, usual)
    if cells["risk"].isna().all():
        st.info("No evaluator here has a scale with an upper bound; take the gap as a share of its spread.")
        return
    behind = partial(pairs_behind, chosen=slice_link(state), scope={})
    _map(cells, gap, behind)
    drawn = curves(files, scope, chosen, unit).dropna(subset=["risk"])
    _curves(drawn, gap, partial(every_risk, files, scope, chosen, unit), behind)
    draw_folded("Every number", lambda: _numbers(cells), key="flip.every")


def _gaps(found: pd.DataFrame) -> None:
    st.caption(
        f"{EVIDENCE} The family named above has the largest gap; of equal ones, the interval that reaches further. It "
        "was picked after seeing them all: the interval above allows for that, those below do not."
    )
    number = st.column_config.NumberColumn
    ends, look = interval(found, "low", "high", 4, signed=False)
    behind, _ = interval(found, "apart_low", "apart_high", 4, signed=False)
    draw_table(
        found.assign(ends=ends, apart_ends=behind),
        alt="The gap from which on the flip risk is below 5 %",
        height="content",
        column_order=(
            *("evaluator", "family", "said", "d", "ends", "of_iqr", "of_sd", "null_d"),
            *(("pairs", "apart_d", "apart_ends") if SAME in set(found["pairs"]) else ()),
            *("n_items", "note"),
        ),
        column_config={
            "evaluator": "Evaluator",
            "family": "Family",
            "said": st.column_config.TextColumn("In words", width="large"),
            "d": number("Gap", format="%.4g", help="In units of the score"),
            "ends": look,
            "of_iqr": number("% of the IQR", format="%.1f", help="Of the evaluator's unedited scores"),
            "of_sd": number("% of the SD", format="%.1f", help="Of the evaluator's unedited scores"),
            "null_d": number("Invisible edits' gap", format="%.4g", help="The same of invisible edits"),
            "pairs": "Captions of",
            "apart_d": number("If of different pictures", format="%.4g", help=f"The gap {TWO_PICTURES}"),
            "apart_ends": look,
            "n_items": number("n items"),
            "note": "To note",
        },
    )
    st.caption(
        "95 % intervals, items of one source together, the interval of the risk turned round; none below "
        f"{LEAST_PICTURES} pictures of several captions, {LEAST_EVIDENCE} items of one. The risk never rises with "
        "the gap, so there is one such gap."
    )
    data_buttons(found, "gaps-of-evidence", key="flip.evidence")


@st.cache_data(hash_funcs=KEYED, max_entries=16, show_spinner="Looking for the gaps that are evidence …")
def _lead(files: Signature, scope: Narrowed, chosen: Slice) -> list[str]:
    """For every evaluator the family that asks for the largest gap, or all that do, as a sentence."""
    cells, told = cells_of(files, scope, chosen), []
    found = as_families(view(files, scope, chosen), widest_gaps(cells))
    for name in dict.fromkeys(cell.evaluator for cell in cells):
        known = found[found["evaluator"] == name]
        if known.empty:
            told.append(f"**{safe(name)}**: no gap is known here.")
            continue
        largest = furthest(known, value="d")
        worst, families = largest.iloc[0], [f"*{safe(family_title(name))}*" for name in largest["family"]]
        low, high = f"{worst['low']:.3g}", f"{worst['high']:.3g}"
        sure = "" if pd.isna(worst["low"]) else f"95 % CI {low} to {high}, "
        share = "" if pd.isna(worst["of_iqr"]) else f"{worst['of_iqr']:.0f} % of its interquartile range, "
        said = f"{safe(worst['said'], limit=200)} ({share}{sure}n {worst['n_items']})"
        rest = sum(math.isnan(cell.shifts.gap_within()[1]) for cell in cells if cell.evaluator == name)
        unknown = f"; of {counted(rest, 'family', 'families')} the gap is not known." if rest else "."
        told.append(f"**{safe(name)}**: {said}, because of {listed(families)}{_behind(worst)}{unknown}")
    return told


def _behind(row: pd.Series) -> str:
    """What the gap would be of captions of different pictures, behind that of the same picture."""
    if row["pairs"] != SAME or pd.isna(row["apart_d"]):
        return ""
    low, high = f"{row['apart_low']:.3g}", f"{row['apart_high']:.3g}"
    return f"; {TWO_PICTURES}, {row['apart_d']:.3g}" + ("" if pd.isna(row["apart_low"]) else f" ({low} to {high})")


def _became(ties: pd.DataFrame) -> None:
    """What became of near ties: a sentence an evaluator, and what was told against what turned."""
    st.header("Do near ties turn as often as told?", anchor=False)
    whole = ties[ties["family"] == EVERY]
    for row in whole[whole["told_of"].str.contains("more")].to_dict("records"):
        ends = row["note"] if pd.isna(row["low"]) else f"95 % CI {row['low']:.0f} to {row['high']:.0f}"
        st.markdown(
            f"**{safe(row['evaluator'])}**: of {row['n_pairs']:,} near ties of {row['n_items']:,} pictures "
            f"**{row['turned']:.0f} %** really turned ({ends}), where {row['told']:.0f} % was told: {row['said']}. "
            f"{TWO_PICTURES[0].upper()}{TWO_PICTURES[1:]}, {row['apart']:.0f} % would have been told."
        )
    figure = reliability(ties)
    draw(
        figure,
        key="flip.turned",
        alt="Share of near ties that turned against the risk that was told, a panel an evaluator; on the line as many "
        "turned as were told",
    )
    st.caption(f"A near tie is a pair that was told to turn with 5 % or more. {TURNED}")
    figure_buttons(figure, ties, "near-ties", title="What became of near ties", key="flip.t")


def _controls(state: PageState, gap: float, usual: float) -> None:
    row = st.container(horizontal=True, vertical_alignment="bottom", key="flip_controls")
    state.switch("unit", "The gap is", _UNIT_LABELS, place=row, help="What a gap is a share of")
    st.session_state["flip.standard"] = gap if gap in STANDARD else None
    row.pills(
        "The paper's gaps",
        STANDARD,
        format_func=lambda gap: f"{100 * gap:g} %",
        key="flip.standard",
        on_change=_standard,
        args=(state,),
        help=f"Gaps between published systems that a leaderboard would count as a win. {THE_PAPER}",
    )
    key = state.key("gap.widget")
    st.session_state[key] = gap
    st.select_slider(
        "Gap d",
        GAPS,
        key=key,
        format_func=lambda gap: f"{100 * gap:g} %",
        on_change=_dragged,
        args=(state, key),
        help="How far ahead one of the two is before the edit",
    )
    st.caption(
        f"Default {100 * usual:g} %: at this gap about half of the families flip fewer than 5 % of pairs. "
        f"{_UNIT_TOLD[state.get('unit')]}"
    )


def _dragged(state: PageState, key: str) -> None:
    state.put("gap", st.session_state[key])


def _standard(state: PageState) -> None:
    if st.session_state.get("flip.standard") is not None:
        state.put("gap", st.session_state["flip.standard"])


def _map(cells: pd.DataFrame, gap: float, behind: Callable[[str], None]) -> None:
    st.header("By family and evaluator", anchor=False)
    figure = titled(risk_map(cells), cells["family"])
    worst = cells.dropna(subset=["risk"]).sort_values("risk").iloc[-1]
    draw(
        figure,
        key="flip.map",
        alt=f"Flip risk at a gap of {100 * gap:g} % by family and evaluator; highest "
        f"{family_title(worst['family'])} under {worst['evaluator']}, {100 * worst['risk']:.1f} %",
        clicked=behind,
    )
    least = cells["n_items"].min()
    st.caption(
        f"RRF in percent at a gap of {100 * gap:g} %, {_whose(cells)}, all pairs counted; n = {least:,} to "
        f"{cells['n_items'].max():,} items a cell. Hover for the 95 % interval, items of one source together "
        f"(of different pictures none below {LEAST_SOURCES} items). The null family is the noise floor: edits that "
        "nobody can see. 50 % is the ceiling. Rows that say so are the paper’s contrasts, beside the whole families. "
        "A click on a cell leads to its pairs; one of a contrast of two edits opens nothing."
    )
    figure_buttons(
        figure,
        cells.drop(columns="opens"),
        "flip-risk",
        title=f"Risk of ranking flip at a gap of {100 * gap:g} %",
        key="flip.m",
    )


def _curves(table: pd.DataFrame, gap: float, exact: Callable[[], pd.DataFrame], behind: Callable[[str], None]) -> None:
    st.header("Against the gap", anchor=False)
    figure = titled(risk_curves(table, gap=gap, styles=family_styles(table)), table["family"])
    draw(
        figure,
        key="flip.curves",
        alt="Flip risk against the gap, a panel an evaluator, a line a family, from 0 to 50 %",
        clicked=behind,
    )
    figure_buttons(figure, exact, "flip-risk-curves", title="Flip risk against the gap", key="flip.c")
    st.caption(
        "A line is a whole family. Solid: spatial, dashed: societal, dotted grey: the noise floor. The dotted line on "
        "top is the bound of 50 %, the upright one the chosen gap. Lines are counted on a fine grid, at most "
        f"{100 * CURVE_ERROR:g} percentage points from the exact risk; the data behind them, under Download, are exact "
        "and have every interval. Hover for n; a click leads to the family's pairs."
    )


def _whose(cells: pd.DataFrame) -> str:
    """Whose captions some cells are of."""
    return " or ".join(f"captions of {'the ' * (each == SAME)}{each}" for each in dict.fromkeys(cells["pairs"]))


_SHARES = (
    *("risk", "low", "high", "null_risk", "over", "over_low", "over_high", "gap"),
    *("apart_risk", "apart_low", "apart_high"),
)


def _numbers(cells: pd.DataFrame) -> None:
    percent = st.column_config.NumberColumn
    shown = cells.assign(**{name: 100 * cells[name] for name in _SHARES})
    shown["ends"], look = interval(shown, "low", "high", 1, signed=False)
    shown["over_ends"], over_look = interval(shown, "over_low", "over_high", 1, signed=True)
    shown["apart_ends"], _ = interval(shown, "apart_low", "apart_high", 1, signed=False)
    draw_table(
        shown,
        alt="Flip risk in numbers",
        height="content",
        column_order=(
            "evaluator",
            "corpus",
            "axis",
            "family",
            "gap",
            "d",
            "risk",
            "ends",
            *(("pairs", "apart_risk", "apart_ends") if SAME in set(cells["pairs"]) else ()),
            "null_risk",
            "over",
            "over_ends",
            "n_items",
            "n_shifts",
            "n_missing",
            "note",
        ),
        column_config={
            "evaluator": "Evaluator",
            "corpus": "Corpus",
            "axis": "Axis",
            "family": "Contrast or family",
            "gap": percent("Gap, %", format="%g"),
            "d": percent("d", format="%.4g", help="The gap in score units"),
            "risk": percent("RRF, %", format="%.1f", help=_whose(cells).capitalize()),
            "ends": look,
            "pairs": "Captions of",
            "apart_risk": percent("If of different pictures", format="%.1f", help=f"The risk {TWO_PICTURES}"),
            "apart_ends": look,
            "null_risk": percent("Invisible edits", format="%.1f"),
            "over": percent("Less the floor", format="%+.1f", help="Risk less that under invisible edits"),
            "over_ends": over_look,
            "n_items": percent("n items"),
            "n_shifts": percent("n shifts"),
            "n_missing": percent("Unscored"),
            "note": "To note",
        },
    )
    data_buttons(cells.drop(columns="opens"), "flip-risk", key="flip.numbers")


VIEWS = {"gap": "At a fixed gap", "systems": "Your own two systems"}

UNITS = {"iqr": IQR, "scale": SCALE}
"""Word in the link -> unit of the gap."""

GAPS = (
    0.0, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008, 0.009, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05,
    0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5,
)  # fmt: skip
"""Gaps of the slider, as shares; the paper's four are among them."""

SOURCES = {"upload": "Two files", "captions": "Template against human captions"}

FEW, MOST = 20, 500
"""Images scored unless the reader asks for more, and at most."""


@dataclass(frozen=True, slots=True)
class Systems:
    """Scores of two systems that a session asked for.

    Args:
        pairs: see ``core.scoring.systems``.
        left_out: sentences.
        told: what was scored, in one sentence.
    """

    pairs: pd.DataFrame
    left_out: tuple[str, ...]
    told: str


@st.cache_resource(show_spinner=False)
def systems_shelf() -> Shelf[Systems]:
    """Scores of the latest comparisons, for every session of this server."""
    return Shelf(8)


def flip_state(files: Signature) -> PageState:
    """Return the page's fields, with the defaults of this machine."""
    corpora = corpus_names(files)
    ready = ready_evaluators()
    corpus, evaluator = corpora[0] if corpora else None, ready[0] if ready else None
    return PageState(
        "flip",
        (
            Field("show", "gap", one_of(lambda: tuple(VIEWS), "gap", what="view")),
            Field("gap", None, _read_gap, lambda gap: f"{100 * gap:g}"),
            Field("unit", "iqr", one_of(lambda: tuple(UNITS), "iqr", what="unit")),
            Field("source", "upload", one_of(lambda: tuple(SOURCES), "upload", what="source of captions")),
            Field("images", corpus, one_of(corpus_names, corpus, what="corpus")),
            Field("edits", ["vflip", "hflip"], some_of(lambda: tuple(image_probes()), what="edit"), joined),
            Field("judge", evaluator, one_of(linked_evaluators, evaluator, what="ready evaluator")),
            Field("count", FEW, _read_count),
            Field("ties", True, _read_ties, lambda value: "yes" if value else "no"),
            *scope_fields(files),
            *slice_fields(files),
        ),
    )


def image_probes() -> dict[str, Probe]:
    """Edits of the image that must not matter, invisible edits included, in the order of the catalogue."""
    wanted = (Axis.SPATIAL, Axis.NULL)
    return {
        probe.name: probe
        for probe in sorted(probes.catalogue(), key=lambda each: each.axis is Axis.NULL)
        if probe.edits is Edits.IMAGE and probe.expectation is Expectation.INVARIANT and probe.axis in wanted
    }


def _read_gap(raw: str) -> tuple[float | None, str]:
    try:
        wanted = float(raw) / 100
    except ValueError:
        wanted = -1.0
    near = [gap for gap in GAPS if abs(gap - wanted) < 1e-9]
    return (near[0], "") if near else (None, f"The gap {raw[:40]!r} is none of the slider's; the usual one is shown.")


def _read_count(raw: str) -> tuple[int, str]:
    if raw.isascii() and raw.isdigit() and 1 <= int(raw[:6]) <= MOST:
        return int(raw), ""
    return FEW, f"The number of images must lie between 1 and {MOST}, got {raw[:40]!r}."


def _read_ties(raw: str) -> tuple[bool, str]:
    return raw != "no", "" if raw in ("yes", "no") else f"Ties must be yes or no, got {raw[:40]!r}."

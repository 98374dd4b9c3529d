"""Flip risk: how often a harmless edit would invert a ranking at a fixed gap; the map, the curves, every number."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from core.analysis.beside import other_captions
from core.analysis.flip_cells import IQR, READ, SCALE, TWO_PICTURES, cell_curves, cell_risks, nearest_gap, pairs_said
from core.analysis.flip_shifts import APART, SAME
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.features.feature import address
from core.features.flips.flip_questions import as_families, whole_labels
from core.features.flips.flip_risk_figures import family_styles, risk_curves, risk_map
from core.probes.titles import CONTRASTS, family_title
from core.statistics.flip_risk import GAPS as STANDARD
from core.statistics.flip_risk import LEAST_SOURCES
from core.statistics.shift_pairs import CURVE_ERROR
from core.statistics.wording import between
from pages.views.common.collect import data_buttons, figure_buttons, figures_of, of_scores
from pages.views.common.layers import draw_folded
from pages.views.common.links import draw_no_run, pairs_behind
from pages.views.common.open_runs import KEYED, Signature, present, scores, store, view
from pages.views.common.page_drawings import NUMBER, draw_figure, draw_table, titled
from pages.views.common.page_head import chips, drawn, header
from pages.views.common.scope_chips import choose_scope, scope_fields
from pages.views.common.shown_answers import interval
from pages.views.common.slice_filters import choose_slice, describe, offer_relaxing, slice_fields, slice_link
from pages.views.common.text import THE_PAPER, listed, safe
from pages.views.common.url_state import Field, PageState, one_of
from pages.views.flip_risk.flip_evidence import cells_of, draw_evidence

MOST_TOLD = 3  # metrics named in the first sentence; of more their range is told, and each stands in the map
_SPREAD = "Spread: the range of the middle half of a metric's scores. "
_ALONE = "Each picture has one caption here: how often two captions of one picture would turn is not known."
USUAL = 0.007  # the gap where no family has a trustworthy gap
_UNIT_LABELS = {"iqr": "% of the metric's spread", "scale": "% of the score's scale"}
_UNIT_TOLD = {
    "iqr": "The gap is a share of the metric's interquartile range: the spread of the middle half of its scores on "
    "unedited pairs. So metrics of different scales can be held side by side.",
    "scale": "The gap is a share of the span of the score's own scale. 0.7 % is 0.007 on a scale of 0 to 1, 0.07 on "
    "a judge's of 0 to 10. Few metrics use their whole scale: compare families within a metric, not metrics. "
    "A scale without an upper bound has no such gap.",
}


@st.cache_data(hash_funcs=KEYED, max_entries=128, show_spinner="Counting every pair of shifts …")
def risks(files: Signature, scope: Narrowed, chosen: Slice, unit: str, gap: float) -> pd.DataFrame:
    """Flip risk of every cell at one gap, with its interval."""
    found = cell_risks(cells_of(files, scope, chosen), gaps=(gap,), unit=unit)
    return as_families(view(files, scope, chosen), found)


@st.cache_data(hash_funcs=KEYED, max_entries=16, show_spinner="Looking for the trustworthy gaps …")
def usual_gap(files: Signature, scope: Narrowed, chosen: Slice, unit: str) -> float:
    """The slider's gap nearest to the middle trustworthy gap: at a small one every risk is near its ceiling."""
    nearest = nearest_gap(cells_of(files, scope, chosen), GAPS, unit=unit)
    return USUAL if math.isnan(nearest) else nearest


@st.cache_data(hash_funcs=KEYED, max_entries=16, show_spinner="Counting every pair of shifts …")
def curves(files: Signature, scope: Narrowed, chosen: Slice, unit: str) -> pd.DataFrame:
    """Flip risk of every whole family at every gap of the slider but 0, as it is drawn."""
    seen = view(files, scope, chosen)
    whole = whole_labels(seen)
    own = [cell for cell in cells_of(files, scope, chosen) if cell.family in whole]
    found = cell_curves(own, gaps=[gap for gap in GAPS if gap > 0], unit=unit)
    return as_families(seen, found)


@st.cache_data(hash_funcs=KEYED, max_entries=4, show_spinner=False)
def every_risk(files: Signature, scope: Narrowed, chosen: Slice, unit: str) -> pd.DataFrame:
    """Flip risk of every cell at every gap of the slider, exact and with intervals."""
    return cell_risks(cells_of(files, scope, chosen), gaps=GAPS, unit=unit)


def _draw_gap(state: PageState, files: Signature, scope: Narrowed, chosen: Slice) -> None:
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
    if told := _often(cells, gap, unit):
        st.markdown(told)
    if told := _SPREAD * (unit == IQR) + _ALONE * (SAME not in set(cells["pairs"])):
        st.caption(told)
    _controls(state, gap, usual)
    if cells["risk"].isna().all():
        st.info("No metric here has a scale with an upper bound; take the gap as a share of its spread.")
        return
    behind = partial(pairs_behind, chosen=slice_link(state), scope={})
    _map(cells, gap, behind)
    draw_folded(
        "At every gap",
        lambda: _curves(
            curves(files, scope, chosen, unit).dropna(subset=["risk"]),
            gap,
            partial(every_risk, files, scope, chosen, unit),
            behind,
        ),
        key="flip.gaps.all",
        icon=":material/show_chart:",
    )
    draw_folded("Every number", lambda: _numbers(cells), key="flip.every")
    same = SAME in set(cells["pairs"])
    whose = pairs_said(cells_of(files, scope, chosen))
    draw_folded("How the risk is counted", lambda: _counted(cells, whose), key="flip.how", icon=":material/info:")
    draw_evidence(files, scope, chosen, same=same)


def _counted(cells: pd.DataFrame, whose: str) -> None:
    of_two = (
        "Of two pictures the **risk of ranking flip** (RRF) is the share of all pairs of shifts that differ by more."
    )
    st.markdown(f"One caption is ahead by a gap *d*; a harmless edit moves both scores. {whose} {of_two} {READ}")
    st.markdown(
        f"All pairs of {_whose(cells)} are counted. Intervals take items of one source together; of different "
        f"pictures there is none below {LEAST_SOURCES} items. Invisible edits are the noise floor: nobody can see "
        "them. A paper’s contrast, in *Every number*, is what paper A compares: some edits of a family, or two."
    )


def _often(cells: pd.DataFrame, gap: float, unit: str) -> str:
    """In how many pairs the family that flips most does so under each evaluator; empty without an interval. Evaluators
    whose intervals have a value in common share a range: no order of theirs is shown."""
    ahead_at_all = (cells["d"] > 0) | (gap == 0)  # of scores without a spread no caption is ahead by a share of it
    known = cells[cells["low"].notna() & ~cells["family"].isin(CONTRASTS) & ahead_at_all]
    if known.empty:
        return ""
    worst = known.loc[known.groupby("evaluator", sort=False)["risk"].idxmax()]
    worst = worst.sort_values("risk", ascending=False, kind="stable")
    shares = [f"{100 * risk:.0f}" for risk in worst["risk"]]
    whose = set(worst["pairs"])
    two = "two captions" + (f" of {'one picture' if SAME in whose else APART}" if len(whose) == 1 else "")
    of = "a metric's spread" if unit == IQR else "its scale"
    ahead = f"Take {two}, one ahead by {100 * gap:g} % of {of}. "
    if not worst["risk"].any():
        return f"{ahead}No harmless edit puts the other ahead in any pair."
    first, *others = set(worst["family"])
    edit = "The edit that flips most" if others else f"*{safe(family_title(str(first)))}*"
    alike = worst["low"].max() <= worst["high"].min()
    if len(worst) == 1 or (len(worst) <= MOST_TOLD and not alike):
        told = zip(shares, worst["evaluator"], strict=True)
        often = listed([f"**{share} %** of pairs under {safe(name)}" for share, name in told])
    else:
        all_of = "all " * (len(worst) == cells["evaluator"].nunique())
        among = f"under {all_of}{len(worst)} metrics" if alike else "by metric"
        often = f"**{between(100 * worst['risk'])} %** of pairs, {among}"
    return f"{ahead}{edit} puts the other ahead in {often}."


def _controls(state: PageState, gap: float, usual: float) -> None:
    row = st.container(horizontal=True, vertical_alignment="bottom", key="flip_controls")
    state.slide(
        row,
        "gap",
        f"The gap, in {_UNIT_LABELS[state.get('unit')]}",
        GAPS,
        gap,
        format_func=lambda gap: f"{100 * gap:g} %",
        help="How far one is ahead before the edit, d; the steps grow along the slider",
    )
    with row.popover("Unit", icon=":material/tune:"):
        state.switch("unit", "The gap is", _UNIT_LABELS)
        st.caption(_UNIT_TOLD[state.get("unit")])
        st.session_state["flip.standard"] = gap if gap in STANDARD else None
        st.pills(
            "Gaps between published captioners",
            STANDARD,
            format_func=lambda gap: f"{100 * gap:g} %",
            key="flip.standard",
            on_change=_standard,
            args=(state,),
            help=f"A leaderboard would count them as a win. {THE_PAPER}",
        )
        st.caption(f"Default {100 * usual:g} %.")


def _standard(state: PageState) -> None:
    if st.session_state.get("flip.standard") is not None:
        state.put("gap", st.session_state["flip.standard"])


def _map(cells: pd.DataFrame, gap: float, behind: Callable[[str], None]) -> None:
    st.header("Which edits flip which metric?", anchor=False)
    cells = cells[~cells["family"].isin(CONTRASTS)]
    worst_first = cells.groupby("family", sort=False)["risk"].max().sort_values(ascending=False, kind="stable")
    figure = replace(titled(risk_map(cells), cells["family"]), order=tuple(map(str, worst_first.index)))
    worst = cells.dropna(subset=["risk"]).sort_values("risk").iloc[-1]
    alt = (
        f"Flip risk at a gap of {100 * gap:g} % by family and metric; highest "
        f"{family_title(worst['family'])} under {worst['evaluator']}, {100 * worst['risk']:.1f} %"
    )
    draw_figure(figure, key="flip.map", alt=alt, clicked=behind)
    many = between((cells["n_items"].min(), cells["n_items"].max()))
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(
            f"% of pairs reversed at a gap of {100 * gap:g} %, n = {many} pictures a cell. Hover: "
            "95 % interval; click: the pictures.",
            width="content",
        )
        title = f"Risk of ranking flip at a gap of {100 * gap:g} %"
        figure_buttons(figure, cells.drop(columns="opens"), "flip-risk", title=title, key="flip.m")


def _curves(table: pd.DataFrame, gap: float, exact: Callable[[], pd.DataFrame], behind: Callable[[str], None]) -> None:
    figure = titled(risk_curves(table, gap=gap, styles=family_styles(table)), table["family"])
    alt = "Flip risk against the gap, a panel a metric, a line a family, from 0 to 50 %"
    draw_figure(figure, key="flip.curves", alt=alt, clicked=behind)
    figure_buttons(figure, exact, "flip-risk-curves", title="Flip risk against the gap", key="flip.c")
    st.caption(
        "A line is a whole family. Solid: spatial, dashed: societal, dotted grey: the noise floor. The dotted line on "
        "top is the bound of 50 %, the upright one the chosen gap. Lines are counted on a fine grid, at most "
        f"{100 * CURVE_ERROR:g} percentage points from the exact risk. The data behind them, under Download, are exact "
        "and have every interval. Hover for n; a click leads to the family's pairs."
    )


def _whose(cells: pd.DataFrame) -> str:
    return " or ".join(f"captions of {'the ' * (each == SAME)}{each}" for each in dict.fromkeys(cells["pairs"]))


_SHARES = (
    *("risk", "low", "high", "null_risk", "over", "over_low", "over_high", "gap"),
    *("apart_risk", "apart_low", "apart_high"),
)


def _numbers(cells: pd.DataFrame) -> None:
    shown = cells.assign(**{name: 100 * cells[name] for name in _SHARES})
    shown["ends"], look = interval(shown, "low", "high", 1, signed=False)
    shown["over_ends"], over_look = interval(shown, "over_low", "over_high", 1, signed=True)
    shown["apart_ends"], _ = interval(shown, "apart_low", "apart_high", 1, signed=False)
    order = (
        *("evaluator", "corpus", "axis", "family", "gap", "d", "risk", "ends"),
        *(("pairs", "apart_risk", "apart_ends") if SAME in set(cells["pairs"]) else ()),
        *("null_risk", "over", "over_ends", "n_items", "n_shifts", "n_missing", "note"),
    )
    columns = {
        "evaluator": "Metric",
        "corpus": "Corpus",
        "axis": "Axis",
        "family": "Contrast or family",
        "gap": NUMBER("Gap, %", format="%g"),
        "d": NUMBER("d", format="%.4g", help="The gap in score units"),
        "risk": NUMBER("RRF, %", format="%.1f", help=_whose(cells).capitalize()),
        "ends": look,
        "pairs": "Captions of",
        "apart_risk": NUMBER("If of different pictures", format="%.1f", help=f"The risk {TWO_PICTURES}"),
        "apart_ends": look,
        "null_risk": NUMBER("Invisible edits", format="%.1f"),
        "over": NUMBER("Less the floor", format="%+.1f", help="Risk less that under invisible edits"),
        "over_ends": over_look,
        "n_items": NUMBER("n items"),
        "n_shifts": NUMBER("n shifts"),
        "n_missing": NUMBER("Unscored"),
        "note": "To note",
    }
    draw_table(shown, alt="Flip risk in numbers", height="content", column_order=order, column_config=columns)
    data_buttons(cells.drop(columns="opens"), "flip-risk", key="flip.numbers")


UNITS = {"iqr": IQR, "scale": SCALE}  # word in the link -> unit of the gap

GAPS = (
    0.0, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008, 0.009, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05,
    0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5,
)  # fmt: skip
"""Gaps of the slider, as shares; the paper's four are among them."""


def _flip_state(files: Signature) -> PageState:
    fields = (
        Field("gap", None, _read_gap, lambda gap: f"{100 * gap:g}"),
        Field("unit", "iqr", one_of(lambda: tuple(UNITS), "iqr", what="unit")),
        *scope_fields(files),
        *slice_fields(files),
    )
    return PageState("flip", fields)


def _read_gap(raw: str) -> tuple[float | None, str]:
    try:
        wanted = float(raw) / 100
    except ValueError:
        wanted = -1.0
    near = [gap for gap in GAPS if abs(gap - wanted) < 1e-9]
    return (near[0], "") if near else (None, f"The gap {raw[:40]!r} is none of the slider's; the usual one is shown.")


FILTERS = ("axes", "families", "categories", "coverage_bins")
_AS_BEFORE = {"source": "source", "images": "images", "edits": "edits", "count": "count", "judge": "judges"}
"""What a former link to two systems held -> what it is called where captioners are ranked."""


def draw() -> None:
    """Draw the view; a former link to two systems of the reader's own leads to where captioners are ranked."""
    if st.query_params.get("show") == "systems":
        file, first = address("systems")
        kept = {now: st.query_params[name] for name, now in _AS_BEFORE.items() if name in st.query_params}
        st.switch_page(file, query_params={**first, "show": "new", **kept})
    files = present()
    state = _flip_state(files)
    state.restore()
    told = "How often does a harmless edit reverse which of two captions scores higher?"
    header(told, state, words=("flip risk", "trustworthy gap"))
    with drawn(state):
        if not store(files).runs():
            draw_no_run()
            return
        row = chips(state)
        scope = choose_scope(state, files, row=row).only()
        chosen = choose_slice(state, files, scope, row, fields=FILTERS)
        others = (each.scope for each in other_captions(scores(files, scope)))  # for captions of one picture
        figures_of(of_scores(state, files, scope, describe(chosen), beside=others))
        _draw_gap(state, files, scope, chosen)

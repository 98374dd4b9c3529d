"""From which gap on a lead of one caption can be trusted, and what became of near ties."""

import math
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.flip_cells import EVERY, EVIDENCE, REVERSED, TWO_PICTURES, Cell, evident_gaps, widest_gaps
from core.analysis.flip_shifts import SAME
from core.analysis.overview import furthest
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.features.flips.flip_questions import TURNED, as_families, named_cells, turned_whole, whole_labels
from core.features.flips.flip_risk_figures import reliability
from core.probes.titles import family_title
from core.statistics.flip_risk import LEAST_EVIDENCE, LEAST_PICTURES
from core.statistics.wording import between
from pages.views.common.collect import data_buttons, figure_buttons
from pages.views.common.layers import draw_folded
from pages.views.common.open_runs import KEYED, Signature, of_runs, unsure_words, view
from pages.views.common.page_drawings import NUMBER, draw_figure, draw_table
from pages.views.common.shown_answers import interval
from pages.views.common.text import counted, listed, safe

MOST_NAMED = 2  # families named in a sentence; more are counted, and stand in the table


# Cells are many times the size of a table of risks: the last few slices, for the gaps that a reader tries on them.
@of_runs
@st.cache_resource(hash_funcs=KEYED, max_entries=2, show_spinner="Counting every pair of shifts …")
def cells_of(files: Signature, scope: Narrowed, chosen: Slice) -> tuple[Cell, ...]:
    """Shifts of every evaluator, of the paper's contrasts and of every family, in order."""
    return named_cells(view(files, scope, chosen))


@st.cache_data(hash_funcs=KEYED, max_entries=16, show_spinner="Looking for the trustworthy gaps …")
def evident(files: Signature, scope: Narrowed, chosen: Slice) -> pd.DataFrame:
    """The gap of every cell from which on its flip risk is below 5 %."""
    found = evident_gaps(cells_of(files, scope, chosen))
    return as_families(view(files, scope, chosen), found).drop(columns="opens")


@st.cache_data(hash_funcs=KEYED, max_entries=16, show_spinner="Looking what became of near ties …")
def turned(files: Signature, scope: Narrowed, chosen: Slice) -> pd.DataFrame:
    """What became of the near ties; see :func:`core.analysis.flip_cells.turned_ties`. Shares in percent."""
    found = turned_whole(view(files, scope, chosen))
    return found.assign(**{name: 100 * found[name] for name in ("told", "apart", "turned", "low", "high")})


def draw_evidence(files: Signature, scope: Narrowed, chosen: Slice, *, same: bool) -> None:
    """Draw from which gap on a lead can be trusted, and what became of near ties."""
    leads = _lead(files, scope, chosen)
    if leads.empty:  # invisible edits alone ask for no gap
        return
    st.header("The smallest gap to trust", anchor=False)
    known = leads["n_items"].dropna()
    n = between(known) if len(known) else ""
    st.caption(
        f"Between two single captions, not averages. A smaller gap is {REVERSED} by some kind of harmless edit"
        + (f" (n\u00a0=\u00a0{n} pictures)." if n else ".")
    )
    ends, look = interval(leads, "low", "high", 3, signed=False)
    alt = "The smallest gap to trust, by metric"
    order = ("evaluator", "d", "ends", "of_iqr", "because")
    columns = {
        "evaluator": "Metric",
        "d": NUMBER("Gap", format="%.3g", help="In units of the score"),
        "ends": look,
        "of_iqr": NUMBER("% of the spread", format="%.0f", help="The gap in the unit of the slider's default"),
        "because": "Because of",
    }
    draw_table(leads.assign(ends=ends), alt=alt, column_order=order, column_config=columns)
    told = leads[["evaluator", "said", "unknown", "d", "reach"]]
    for name, said, unknown, gap, reach in told.itertuples(index=False, name=None):
        if said and gap > reach:
            st.caption(f"**{safe(name)}**: {safe(said, limit=200)}.")
        if unknown:
            st.caption(f"**{safe(name)}**: of {counted(unknown, 'family', 'families')} the gap is not known.")
    draw_folded("The gap of every family", lambda: _gaps(evident(files, scope, chosen)), key="flip.gaps")
    if same:
        draw_folded(
            "Do near ties turn as often as told?",
            lambda: _became(turned(files, scope, chosen)),
            key="flip.ties",
            icon=":material/show_chart:",
        )


def _gaps(found: pd.DataFrame) -> None:
    st.caption(
        f"{EVIDENCE} The family named above has the largest gap; one whose word the picture may support is named only "
        "where there is no other. Of equal gaps the one whose interval reaches further stands there. It was picked "
        "after seeing them all: the interval above allows for that, those below do not."
    )
    ends, look = interval(found, "low", "high", 4, signed=False)
    behind, _ = interval(found, "apart_low", "apart_high", 4, signed=False)
    draw_table(
        found.assign(ends=ends, apart_ends=behind),
        alt="The gap from which on the flip risk is below 5 %",
        height="content",
        column_order=(
            *("evaluator", "family", "d", "ends", "of_iqr", "of_sd", "null_d"),
            *(("pairs", "apart_d", "apart_ends") if SAME in set(found["pairs"]) else ()),
            *("n_items", "note"),
        ),
        column_config={
            "evaluator": "Metric",
            "family": "Family",
            "d": NUMBER("Gap", format="%.4g", help="In units of the score"),
            "ends": look,
            "of_iqr": NUMBER("% of the IQR", format="%.1f", help="Of the metric's unedited scores"),
            "of_sd": NUMBER("% of the SD", format="%.1f", help="Of the metric's unedited scores"),
            "null_d": NUMBER("Invisible edits' gap", format="%.4g", help="The same of invisible edits"),
            "pairs": "Captions of",
            "apart_d": NUMBER("If of different pictures", format="%.4g", help=f"The gap {TWO_PICTURES}"),
            "apart_ends": look,
            "n_items": NUMBER("n items"),
            "note": "To note",
        },
    )
    st.caption(
        "95 % intervals, items of one source together: the interval of the risk, turned round. There is none below "
        f"{LEAST_PICTURES} pictures of several captions, {LEAST_EVIDENCE} items of one. The risk never rises with "
        "the gap, so there is one such gap."
    )
    data_buttons(found, "trustworthy-gaps", key="flip.evidence")


@st.cache_data(hash_funcs=KEYED, max_entries=16, show_spinner="Looking for the trustworthy gaps …")
def _lead(files: Signature, scope: Narrowed, chosen: Slice) -> pd.DataFrame:
    """For every evaluator its largest gap with the whole family that asks for it, or all; NaN where none is known. As
    in a report, of families whose words no picture decides: only these are harmless whatever the picture shows. Returns
    columns of :func:`core.analysis.flip_cells.evident_gaps`, because (titles of the families) and unknown (how many
    families have no gap)."""
    seen, told = view(files, scope, chosen), list[dict[Any, Any]]()
    every = [cell for cell in cells_of(files, scope, chosen) if not cell.is_null]
    decided, whole = whole_labels(seen, without=unsure_words(files, scope)), whole_labels(seen)
    cells = [cell for cell in every if cell.family in decided] or [cell for cell in every if cell.family in whole]
    found = as_families(seen, widest_gaps(cells)).drop(columns="opens")
    for name in dict.fromkeys(cell.evaluator for cell in cells):
        known = found[found["evaluator"] == name]
        unknown = sum(math.isnan(cell.shifts.gap_within()[1]) for cell in cells if cell.evaluator == name)
        if known.empty:
            nothing = dict.fromkeys(("d", "low", "high", "of_iqr", "n_items", "reach"), math.nan)
            told.append(
                nothing | {"evaluator": name, "because": "no gap is known", "said": "", "note": "", "unknown": 0}
            )
            continue
        largest = furthest(known, value="d")
        families = [family_title(str(each)) for each in largest["family"]]
        more = [f"{len(families) - MOST_NAMED} more"] if len(families) > MOST_NAMED else []
        because = listed([*families[:MOST_NAMED], *more])
        told.append(largest.iloc[0].to_dict() | {"because": because, "unknown": unknown})
    return pd.DataFrame(told, columns=[*found.columns, "because", "unknown"])


def _became(ties: pd.DataFrame) -> None:
    whole = ties[ties["family"] == EVERY]
    for row in whole[whole["told_of"].str.contains("more")].to_dict("records"):
        ends = row["note"] if pd.isna(row["low"]) else f"95 % CI {row['low']:.0f} to {row['high']:.0f}"
        st.markdown(
            f"**{safe(row['evaluator'])}**: of {row['n_pairs']:,} near ties of {row['n_items']:,} pictures "
            f"**{row['turned']:.0f} %** really turned ({ends}), where {row['told']:.0f} % was told: {row['said']}. "
            f"{TWO_PICTURES[0].upper()}{TWO_PICTURES[1:]}, {row['apart']:.0f} % would have been told."
        )
    figure = reliability(ties)
    alt = (
        "Share of near ties that turned against the risk that was told, a panel a metric; on the line as many "
        "turned as were told"
    )
    draw_figure(figure, key="flip.turned", alt=alt)
    st.caption(f"A near tie is a pair that was told to turn with 5 % or more. {TURNED}")
    figure_buttons(figure, ties, "near-ties", title="What became of near ties", key="flip.t")

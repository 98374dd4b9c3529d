"""The first ten seconds: what this is, what is loaded, what was found, and three doors."""

import pandas as pd
import streamlit as st

from core.analysis.table import ScoreTable
from core.probes.titles import family_title
from core.store.manifest import Run
from pages.views.common.access import may_operate
from pages.views.common.links import FAILURES, LAB, RESULTS, Door, draw_doors, failures_link
from pages.views.common.text import counted, listed, number, safe
from pages.views.common.url_state import carried
from pages.views.overview.thresholds import Thresholds

AUDIT = "pages/run_audit.py"

_WHAT = (
    "A metric decides which caption of a picture wins. Invariscope edits the picture or the caption so that the "
    "meaning stays, and shows which metrics move all the same; then it breaks the meaning, and shows which ones do not "
    "notice."
)


def draw_what() -> None:
    """Say what the dashboard is for."""
    st.markdown(_WHAT)


def draw_loaded(runs: tuple[Run, ...], table: ScoreTable) -> None:
    """Say what the numbers of the page are of: the corpus in view, and how many more runs there are."""
    scope, n_items = table.scope, int(table.of_corpus(table.scope.corpus).sum())
    others = f" {counted(len(runs) - 1, 'other run is', 'other runs are')} loaded." if len(runs) > 1 else ""
    st.markdown(
        f"**Loaded:** {safe(listed(table.evaluators), limit=300)} on {counted(n_items, 'item')} of "
        f"{safe(scope.corpus)} (run {safe(scope.run)}).{others}"
    )


def draw_found(worst: pd.DataFrame, held: Thresholds) -> None:
    """Say the first of the worst findings, with the way to its failures."""
    if worst.empty:
        st.markdown(f"**Found:** no family yet that surely moves an evaluator by more than the margin{held.said()}.")
        return
    row = worst.iloc[0]
    st.markdown(
        f"**Found:** {safe(row['evaluator'])} moves by {number(row['median_abs_percent'], digits=1)} % in the middle "
        f"item (95 % CI {number(row['abs_low'], digits=1)} to {number(row['abs_high'], digits=1)}, n = "
        f"{counted(int(row['n_items']), 'item')}) under edits of the family "
        f"*{safe(family_title(row['family']))}*, which should not matter."
    )


def draw_ways(worst: pd.DataFrame) -> None:
    """Draw the three ways in.

    Args:
        worst: the worst findings; empty: the third way leads to the results.
    """
    doors = [Door("Try your picture", "Upload one, edit it, see which metric moves", ":material/add_photo_alternate:",
                  LAB, {"source": "upload"})]  # fmt: skip
    if may_operate():
        doors.append(Door("Audit your metric", "Every item of a corpus under every probe, in the background",
                          ":material/play_circle:", AUDIT))  # fmt: skip
    if not worst.empty:
        link = failures_link(worst.iloc[0][["family", "evaluator"]])
        doors.append(Door("Read the worst cases", "The pairs that move the furthest, side by side",
                          ":material/photo_library:", FAILURES, link))  # fmt: skip
    else:
        doors.append(Door("Read the results", "Tables and figures by research question", ":material/bar_chart:",
                          RESULTS, carried()))  # fmt: skip
    draw_doors(doors)

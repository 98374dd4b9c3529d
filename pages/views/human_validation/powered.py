"""The whole run: what people would say of every pair, from votes on some and an evaluator's scores of all."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.people.powered import powered_rows, what_more_votes_buy
from core.analysis.reading import read_table
from core.analysis.scope import Scope
from core.charts.people_figures import powered_dots
from core.errors import InvalidInput
from core.human.studies import Study
from pages.views.common.downloads import figure_buttons
from pages.views.common.open_runs import Signature, present, store
from pages.views.common.page_charts import draw
from pages.views.common.page_tables import draw_table
from pages.views.common.text import counted, safe
from pages.views.common.url_state import PageState
from pages.views.human_validation.desk import desk

_COLUMNS = {
    "question": ("Question", "", ""),
    "evaluator": ("Scores of", "", ""),
    "votes": ("Votes alone", "%.1f %%", "Rate over all items from the votes alone, each stratum by its part"),
    "votes_low": ("from", "%.1f %%", "Lower end of the 95 % interval"),
    "votes_high": ("to", "%.1f %%", "Upper end of the 95 % interval"),
    "joined": ("Joined with scores", "%.1f %%", "The same, corrected by the scores of all pairs"),
    "joined_low": ("from ", "%.1f %%", "Lower end of the 95 % interval"),
    "joined_high": ("to ", "%.1f %%", "Upper end of the 95 % interval"),
    "tuning": ("λ", "%.2f", "Weight of the scores, 0 to 1, that makes the interval shortest; 0: they buy nothing"),
    "shorter": ("Shorter by", "%.0f %%", "What the scores take off the interval's half-width"),
    "n": ("n", "%d", "Items with votes"),
    "n_votes": ("Votes", "%d", "On these items"),
    "n_all": ("Items", "%d", "All items of the strata, those without votes too"),
    "n_missing": ("No score", "%d", "Pairs without a score; they are predicted to be in the middle"),
    "note": ("Remark", "", ""),
}  # fmt: skip


def draw_powered(study: Study, _state: PageState) -> None:
    """Draw rates over all pairs from votes alone and joined with scores, and what more votes would buy."""
    st.caption(
        "Votes are on a sample; scores are there for every pair. The rate of people over all that the study could have "
        "drawn: from the votes alone, and joined with an evaluator's scores (prediction-powered inference)."
    )
    try:
        rows = _rows(present(), study.id, study.log_path.stat().st_size)
    except InvalidInput as error:
        st.info(safe(f"{str(error)[:1].upper()}{str(error)[1:]}.", limit=400), icon=":material/hourglass_empty:")
        return
    if rows.empty:
        st.info("No item has a vote yet; rates over all pairs show here as soon as every stratum has two.",
                icon=":material/hourglass_empty:")  # fmt: skip
        return
    for question, own in rows.groupby("question", sort=False):
        best = int(own["shorter"].fillna(-1.0).to_numpy().argmax())
        st.markdown(_said(str(question), own.to_dict("records")[best]))
    figure = powered_dots(rows)
    alt = "Rates of people over all pairs, from votes alone and joined with scores, each with its 95 % interval"
    draw(figure, key="study.powered", alt=alt)
    figure_buttons(figure, rows, f"{study.id}-rates", title=figure.title, key="study.powered.files")
    draw_table(rows[list(_COLUMNS)], width="stretch", column_config=_columns())
    st.caption(
        "It rests on this alone: the items with votes were drawn at random within the strata, as the study drew them, "
        "and none was skipped for what it shows. The scores need not be right: those of a bad evaluator get a λ near 0 "
        "and leave the votes alone. Choose the evaluator before you look; the best of several looks a little better "
        "than it is. Items are the units; each item of a stratum counts once."
    )


def _said(question: str, best: Mapping[Hashable, Any]) -> str:
    items = counted(int(best["n_all"]), "item")
    told = f"**{question.capitalize()}**: {best['votes']:.1f} % of {items} in the strata, from votes alone"
    if pd.isna(best["votes_low"]):
        return f"{told}; {safe(str(best['note']))}."
    told += f" ({best['votes_low']:.1f} to {best['votes_high']:.1f})"
    if best["note"]:
        told += "; no evaluator's scores buy anything here. "
    else:
        joined = f"{best['joined']:.1f} % ({best['joined_low']:.1f} to {best['joined_high']:.1f})"
        told += f", {joined} joined with {safe(str(best['evaluator']))}: {best['shorter']:.0f} % shorter. "
    return told + safe(what_more_votes_buy(best), limit=400)


def _columns() -> dict[str, Any]:
    return {
        name: st.column_config.NumberColumn(title, format=form, help=told)
        if form
        else st.column_config.TextColumn(title)
        for name, (title, form, told) in _COLUMNS.items()
    }


@st.cache_data(show_spinner="Joining votes and scores …", max_entries=8)
def _rows(files: Signature, study: str, size: int) -> pd.DataFrame:  # noqa: ARG001  # the cache's key
    found = desk().studies()[study]
    first = found.definition.items[0]
    asked = next((item for item in found.definition.items if not item.attention), first)
    scope = Scope(runs=(found.definition.run,), subject=asked.subject, language=asked.language)
    return powered_rows(found, read_table(store(files), scope))

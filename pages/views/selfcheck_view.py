"""Self-check: what this tool finds of planted evaluators, at the n of a corpus or a run."""

import pandas as pd
import streamlit as st

from core.features.selfcheck.detection import Selfcheck, figure, kept_selfchecks, lines
from core.statistics.wording import counted
from pages.views.common.collect import Origin, data_buttons, figure_buttons, figures_of
from pages.views.common.page_drawings import NUMBER, TEXT, draw_figure, draw_table
from pages.views.common.page_head import drawn, header
from pages.views.common.shown_answers import interval
from pages.views.common.text import safe
from pages.views.common.url_state import Field, PageState, one_of


def draw() -> None:
    """Draw the view."""
    kept, troubles = kept_selfchecks()
    checks = {each.digest: each for each in kept}
    usual = next(iter(checks), None)
    state = PageState("selfcheck", (Field("items", usual, one_of(lambda: tuple(checks), usual, what="self-check")),))
    state.restore()
    header("What this tool finds of made-up metrics whose faults are known, at the n at hand.", state)
    for sentence in troubles:
        st.warning(safe(sentence, limit=600), icon=":material/warning:")
    with drawn(state):
        if not checks:
            st.info(
                "No self-check yet. `python -m core selfcheck --corpus demo` makes one in a minute, "
                "`python -m core selfcheck --run RUN` one of a run's items.",
                icon=":material/fact_check:",
            )
            return
        st.selectbox(
            "Items", list(checks), key=state.key("items"), format_func=lambda digest: _called(checks[digest]), width=420
        )
        check = checks[str(state.get("items"))]
        figures_of(Origin(state, f"Self-check of {_called(check)}, seed {check.seed}"))
        st.markdown(safe(check.sentence(), limit=1200))
        shown, rows = figure(check), pd.DataFrame(lines(check))
        draw_figure(shown, key="selfcheck.figure", alt=f"{shown.title}. {shown.note}")
        st.caption(shown.note)
        figure_buttons(shown, shown.data, "planted-falls", title=shown.title, key="selfcheck.figure")
        with st.expander("Every made-up metric", icon=":material/table:"):
            bounds, look = interval(rows, "low", "high", 0, signed=False)
            alt = "Made-up metrics and what is found of them"
            order = ("planted", "family", "finding", "is", "rate", "bounds", "n")
            columns = {
                "planted": TEXT("Planted", help="What the metric was made to do", width=230),
                "family": "Edits",
                "finding": TEXT("Finding", help="As reports, pages and the command check find it", width=170),
                "is": TEXT("Is", help="Whether the finding is right of this evaluator"),
                "rate": NUMBER("Repeats with it", format="%.0f %%"),
                "bounds": look,
                "n": "Repeats",
            }
            draw_table(rows.assign(bounds=bounds), alt=alt, column_order=order, column_config=columns)
            noted = rows[rows["note"] != ""].drop_duplicates(["planted", "note"])
            for planted, note in noted[["planted", "note"]].itertuples(index=False, name=None):
                st.caption(f"{safe(planted)}: {safe(note, limit=300)}.")
            data_buttons(rows, "selfcheck", key="selfcheck.table")


def _called(check: Selfcheck) -> str:
    return f"{check.corpus}: {counted(check.items, 'item')} of {counted(check.sources, 'source')}"

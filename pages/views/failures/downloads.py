"""What a reader takes home from the page Failures: the shifts of the filters, the pictures of the page."""

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.failures import EXPORT_ROWS, export
from core.analysis.ranking import Ranking
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.charts.canvas import Cell, contact_sheet
from core.charts.differences import side_by_side
from core.charts.style import signed
from core.corpora.images import encode_png
from core.stories.tags import Held
from pages.views.common.downloads import counted_making, data_buttons
from pages.views.common.open_runs import Signature, store
from pages.views.common.text import counted, number
from pages.views.common.url_state import PageState
from pages.views.failures.pictures import Made, as_pixels, finished, pictures
from pages.views.failures.state import Named, by_pair, usual_scales
from pages.views.failures.tags import with_tags


def draw_downloads(
    state: PageState, files: Signature, scope: Narrowed, chosen: Slice, found: Ranking, rows: pd.DataFrame, held: Held,
    *, named: Named,
) -> None:  # fmt: skip
    """Draw one menu with the shifts as CSV and Parquet and the pictures of the page as PNG."""
    order, floor, marks = state.get("sort"), state.get("floor") / 100, state.get("marks")
    with st.popover("Download", icon=":material/download:", type="tertiary"):
        taken = min(found.n_shifts, EXPORT_ROWS)
        st.caption(
            f"Every shift of the filters in this order, {counted(taken, 'row')}" if taken == found.n_shifts
            else f"The furthest {counted(taken, 'row')} of {counted(found.n_shifts, 'shift')}"
        )  # fmt: skip

        def shifts() -> pd.DataFrame:
            usual = usual_scales(files, scope)
            found = export(store(files), scope, chosen, usual, order=order, floor=floor, named=named)
            return with_tags(found, held, scope)

        data_buttons(shifts, f"failures-{order}", key="failures.data")
        st.caption("The pictures of this page")
        st.download_button(
            "Contact sheet as PNG", counted_making(lambda: encode_png(_sheet(files, found.pairs, rows, marks))),
            "failures.png",
            "image/png", on_click="ignore", key="failures.sheet",
        )  # fmt: skip


def _sheet(files: Signature, pairs: pd.DataFrame, rows: pd.DataFrame, marks: str) -> np.ndarray:
    with pictures(store(files), pairs, marks=marks) as begun:
        made = [finished(each) for each in begun]
    cells = [_cell(own, picture) for own, picture in zip(by_pair(pairs, rows), made, strict=True)]
    return contact_sheet(cells, title="Failures, the furthest first", columns=3)


def _cell(rows: pd.DataFrame, made: Made) -> Cell:
    first = rows.iloc[0]
    if isinstance(made, str):
        shown = np.full((60, 200, 3), 235, np.uint8)
    else:
        before = as_pixels(made.before)
        shown = before if made.after is None else side_by_side(before, as_pixels(made.after))
    lines = [f"{first['probe']} · {first['item']}", str(first["caption"])]
    lines += [
        f"{row['evaluator']} {number(row['baseline_score'])} to {number(row['score'])}  {signed(row['percent'])}"
        for _, row in rows.iterrows()
    ]
    return Cell(shown, tuple(lines))

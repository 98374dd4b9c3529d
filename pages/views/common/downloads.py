"""What a reader takes home from any page: the data behind a table, a figure as a file."""

from collections.abc import Callable
from functools import partial
from io import BytesIO

import pandas as pd
import streamlit as st

from core.charts.interactive import page
from core.charts.spec import Figure
from core.charts.still import picture
from core.store.text_files import csv_text
from pages.views.common.collect import collect_figure, told_of

_PICTURES = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf"}
"""Kind of a picture file -> its media type."""


def data_buttons(table: pd.DataFrame | Callable[[], pd.DataFrame], stem: str, *, key: str) -> None:
    """Draw buttons for a table as CSV and Parquet, made when asked for.

    Args:
        table: what the reader sees, or a function that makes it.
        stem: name of the file without its ending.
        key: prefix of the buttons' keys.
    """

    def made() -> pd.DataFrame:
        return table() if callable(table) else table

    with st.container(horizontal=True, gap="small"):
        _button("CSV", lambda: csv_text(made()).encode("utf-8-sig"), f"{stem}.csv", "text/csv", f"{key}.csv")
        _button("Parquet", lambda: _parquet(made()), f"{stem}.parquet", "application/octet-stream", f"{key}.parquet")


def figure_buttons(
    figure: Figure, table: pd.DataFrame | Callable[[], pd.DataFrame], stem: str, *, title: str, key: str
) -> None:
    """Draw what can be done with a figure: *Collect*, and a menu with it as HTML, PNG, SVG and PDF and its data.

    Args:
        figure: as it is drawn on the page.
        table: its data, or a function that makes it.
        stem: name of the files without their ending.
        title: printed above the figure in the files.
        key: prefix of the buttons' keys.
    """
    with st.container(horizontal=True, width="content", gap="small"):
        collect_figure(figure, title=title, key=stem)
        with st.popover("Download", icon=":material/download:", type="tertiary"):
            told = told_of()
            st.caption("The figure")
            with st.container(horizontal=True, gap="small"):
                _button(
                    "HTML", lambda: page(figure, title=title, foot=told()), f"{stem}.html", "text/html", f"{key}.html"
                )
                for kind, media in _PICTURES.items():
                    _button(
                        kind.upper(),
                        partial(_picture, figure, kind, title, told),
                        f"{stem}.{kind}",
                        media,
                        f"{key}.{kind}",
                    )
            st.caption("The data behind it")
            data_buttons(table, stem, key=key)


def _picture(figure: Figure, kind: str, title: str, told: Callable[[], str]) -> bytes:
    return picture(figure, kind=kind, title=title, foot=told())


def _button(label: str, data: Callable[[], bytes], name: str, kind: str, key: str) -> None:
    st.download_button(label, data, name, kind, on_click="ignore", key=key)


def _parquet(table: pd.DataFrame) -> bytes:
    buffer = BytesIO()
    table.to_parquet(buffer, index=False)
    return buffer.getvalue()

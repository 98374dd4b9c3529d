"""Figures as files: a page of HTML that keeps the hover, PNG and SVG for print."""

import shutil
from typing import Literal

import plotly.graph_objects as go

from core.errors import NotAvailable

WIDTH = 1000
"""Width in px of a picture file; a PNG has twice as many pixels."""

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def browser() -> str | None:
    """Path of the Chrome or Chromium that draws PNG and SVG files; None where there is none."""
    return next(filter(None, map(shutil.which, _BROWSERS)), None)


def printable(figure: go.Figure, *, title: str = "") -> go.Figure:
    """Return a copy for paper: white, dark text, with its title."""
    copy = go.Figure(figure)
    copy.update_layout(
        template="plotly_white", paper_bgcolor="white", plot_bgcolor="white", font={"color": "#17202A", "size": 13},
    )  # fmt: skip
    if title:
        margin = copy.layout.margin.t or 0
        copy.update_layout(
            title={"text": title, "x": 0.01, "font": {"size": 15}}, margin_t=margin + 44,
            height=(copy.layout.height or 400) + 44,
        )  # fmt: skip
    return copy


def as_html(figure: go.Figure, *, title: str = "") -> bytes:
    """Return one self-contained page of HTML with the figure."""
    return printable(figure, title=title).to_html(include_plotlyjs=True, full_html=True).encode()


def as_picture(figure: go.Figure, *, kind: Literal["png", "svg"], title: str = "", width: int = WIDTH) -> bytes:
    """Return the figure as a PNG or SVG file, drawn by a headless Chrome.

    Raises:
        NotAvailable: if there is no Chrome or Chromium on this machine, or it could not draw.
    """
    if browser() is None:
        raise NotAvailable(
            "PNG and SVG files are drawn by Chrome or Chromium, and there is none here; install chromium"
        )
    made = printable(figure, title=title)
    try:
        return bytes(made.to_image(format=kind, width=width, scale=2 if kind == "png" else 1))
    except Exception as error:  # kaleido raises whatever its browser does
        raise NotAvailable(f"Chromium could not draw the {kind.upper()} file ({error}); take the HTML file") from error

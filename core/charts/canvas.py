"""Pictures that a page draws on: the image to box an object on, its mask, and what a metric's crop keeps."""

from base64 import b64encode
from io import BytesIO
from typing import Protocol

import cv2
import numpy as np
import plotly.graph_objects as go
from PIL import Image

ACCENT = (213, 94, 0)
"""RGB of outlines: Okabe and Ito's vermillion, seen on nearly any photograph."""

CANVAS_SIDE = 640
"""Longest side, in px, of the picture that travels to the browser."""


class Box(Protocol):
    """The edges of a box in pixels of its picture, y downward."""

    @property
    def x(self) -> float:
        """Its left edge."""

    @property
    def y(self) -> float:
        """Its upper edge."""

    @property
    def right(self) -> float:
        """Its right edge."""

    @property
    def bottom(self) -> float:
        """Its lower edge."""


def thumbnail(pixels: np.ndarray, *, side: int) -> np.ndarray:
    """Scale uint8 RGB [H, W, 3] down to fit ``side`` px; a smaller image stays as it is."""
    height, width = pixels.shape[:2]
    scale = side / max(height, width)
    if scale >= 1:
        return pixels
    size = (max(round(width * scale), 1), max(round(height * scale), 1))
    return cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)


def jpeg(pixels: np.ndarray, *, quality: int = 88) -> bytes:
    """Encode uint8 RGB [H, W, 3] as JPEG, ``quality`` in [1, 95]."""
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def outlined(pixels: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Return a copy with the object tinted and its outline drawn.

    Args:
        pixels: uint8 RGB [H, W, 3].
        mask: boolean [H, W].
    """
    drawn = pixels.copy()
    tint = np.asarray(ACCENT, dtype=np.float32)
    drawn[mask] = (0.65 * drawn[mask] + 0.35 * tint).astype(np.uint8)
    edges, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    return cv2.drawContours(drawn, edges, -1, ACCENT, _line(pixels))


def cropped_away(pixels: np.ndarray, crop: Box | None) -> np.ndarray:
    """Return a copy with everything outside the crop darkened and the crop framed; None: all is inside."""
    if crop is None or (crop.right - crop.x) * (crop.bottom - crop.y) > 0.999 * pixels.shape[0] * pixels.shape[1]:
        return pixels
    rows = slice(max(round(crop.y), 0), round(crop.bottom))
    columns = slice(max(round(crop.x), 0), round(crop.right))
    drawn = (pixels * 0.3).astype(np.uint8)
    drawn[rows, columns] = pixels[rows, columns]
    corner, opposite = (columns.start, rows.start), (columns.stop - 1, rows.stop - 1)
    return cv2.rectangle(drawn, corner, opposite, ACCENT, _line(pixels))


LOWER, HIGHER = (230, 159, 0), (0, 114, 178)
"""RGB of a score that falls and of one that rises: Okabe and Ito's orange and blue, as the maps of shifts have them."""


def heat_over(
    pixels: np.ndarray, columns: np.ndarray, rows: np.ndarray, values: np.ndarray, *, reach: float
) -> np.ndarray:
    """Return the picture with a tinted cell around each place of a grid, its value written in it.

    Args:
        pixels: uint8 RGB [H, W, 3].
        columns: x of the places in pixels, float64 [k]; rising.
        rows: y of the places, likewise.
        values: float64 [k, k], rows first; a place with NaN stays as it is.
        reach: the value, above 0, from which on a tint is at its strongest.
    """
    drawn = pixels.copy()
    across, down = _borders(columns, pixels.shape[1]), _borders(rows, pixels.shape[0])
    size = max(pixels.shape[:2]) / 1100
    for row, column in np.argwhere(~np.isnan(values)):
        value = float(values[row, column])
        cell = drawn[down[row] : down[row + 1], across[column] : across[column + 1]]
        share = 0.75 * min(abs(value) / reach, 1.0)
        tint = np.asarray(HIGHER if value > 0 else LOWER, dtype=np.float32)
        cell[...] = ((1 - share) * cell + share * tint).astype(np.uint8)
        foot = int(across[column]) + 3, int((down[row] + down[row + 1]) // 2)
        for colour, thick in (((0, 0, 0), 3), ((255, 255, 255), 1)):
            cv2.putText(drawn, f"{value:+.1f}", foot, cv2.FONT_HERSHEY_SIMPLEX, size, colour, thick, cv2.LINE_AA)
    return drawn


def _borders(places: np.ndarray, end: int) -> np.ndarray:
    """Where cells around rising places begin and end, int [k + 1]: halfway between, and as far beyond the outermost."""
    half = np.diff(places) / 2
    inner = places[:-1] + half
    borders = np.concatenate([[places[0] - half[0]], inner, [places[-1] + half[-1]]])
    cells: np.ndarray = np.clip(np.rint(borders), 0, end).astype(int)
    return cells


def box_canvas(pixels: np.ndarray, *, box: Box | None = None) -> go.Figure:
    """Return a figure of the image on which a box can be drawn, in the image's own pixels.

    Args:
        pixels: uint8 RGB [H, W, 3].
        box: the present box, drawn dashed.
    """
    height, width = pixels.shape[:2]
    corners = go.Scatter(x=[0, width], y=[0, height], mode="markers", opacity=0, hoverinfo="skip")
    figure = go.Figure(corners)  # a selection needs a trace to select from, even an invisible one
    figure.add_layout_image(
        source=_data_uri(thumbnail(pixels, side=CANVAS_SIDE)), xref="x", yref="y", x=0, y=0, sizex=width,
        sizey=height, sizing="stretch", layer="below",
    )  # fmt: skip
    if box is not None:
        line = {"color": "rgb({},{},{})".format(*ACCENT), "width": 3, "dash": "dash"}
        figure.add_shape(type="rect", x0=box.x, y0=box.y, x1=box.right, y1=box.bottom, line=line)
    figure.update_xaxes(range=[0, width], visible=False, constrain="domain")
    figure.update_yaxes(range=[height, 0], visible=False, scaleanchor="x", constrain="domain")
    figure.update_layout(
        dragmode="select", margin={"l": 0, "r": 0, "t": 0, "b": 0}, height=380, showlegend=False,
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)", newselection={"line": {"color": "#FFFFFF"}},
    )  # fmt: skip
    return figure


def _line(pixels: np.ndarray) -> int:
    return int(max(round(max(pixels.shape[:2]) / 250), 1))


def _data_uri(pixels: np.ndarray) -> str:
    return f"data:image/jpeg;base64,{b64encode(jpeg(pixels, quality=85)).decode()}"

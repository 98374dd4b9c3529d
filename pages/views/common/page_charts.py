"""The one place where a page draws a figure."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.charts.interactive import CONFIG, plot
from core.charts.layout import spare
from core.charts.panels import Panel, panels
from core.charts.spec import Figure, on_dark
from core.probes.titles import CONTRASTS, family_title

MOST_WIDE = 9
"""Columns of a map up to which the style sheet keeps each wide enough to be read; on a phone the map scrolls."""

MOST_SPARE = 240  # room in px below a legend up to which the style sheet takes it away where the figure is wide


def draw(
    figure: Figure,
    *,
    key: str,
    alt: str,
    clicked: Callable[[str], None] | None = None,
    picked: Callable[[str], None] | None = None,
) -> None:
    """Draw a figure as wide as its place. ``clicked``: draws below the figure, above a map, of what the mark that
    somebody clicked opens (the frame's column ``opens``); None: it draws nothing. ``picked``: is told of it once,
    before the page is drawn again: for what a click sets on the page itself. Without both, marks cannot be clicked."""
    figure = on_dark(with_titles(figure)) if _dark() else with_titles(figure)
    answers = (clicked or picked) is not None and "opens" in figure.frame
    marks = frozenset(map(str, figure.frame["opens"])) if answers else frozenset()
    found = panels(figure)
    above = st.container() if figure.kind == "map" else None  # the foot of a map may lie below the screen
    with st.container(key=_room(figure, found, key)):
        if not answers:
            st.plotly_chart(plot(figure, dark=_dark(), found=found), width="stretch", config=CONFIG, alt=alt, key=key)
            return
        chosen = st.plotly_chart(
            plot(figure, clicks=True, dark=_dark(), found=found),
            width="stretch",
            config=CONFIG,
            alt=alt,
            key=key,
            on_select="rerun" if picked is None else partial(_pick, key, marks, picked),
            selection_mode="points",
        )
    if clicked and (opened := _opened(chosen, marks)):
        with above or nullcontext():
            clicked(opened)


def _dark() -> bool:
    return st.context.theme.type == "dark"


def _room(figure: Figure, found: Sequence[Panel], key: str) -> str | None:
    """Key of a figure's container where the style sheet has something to say of it."""
    if figure.kind == "map":
        return f"map_{min(figure.frame['series'].nunique(), MOST_WIDE)}_{key}"
    left = min(spare(figure, found), MOST_SPARE)
    return f"spare_{left}_{key}" if left > 0 else None


def with_titles(figure: Figure) -> Figure:
    """A figure that calls the families that its marks open, and what the paper compares by name, by their titles."""
    named = {str(each) for name in ("label", "series") for each in figure.frame[name].unique()}
    opens = figure.frame["opens"].unique() if "opens" in figure.frame else ()
    asked = [json.loads(each) for each in opens if each.startswith("{")]
    opened = {str(each[field]) for each in asked for field in ("families", "family", "test") if field in each}
    return titled(figure, (opened | {*CONTRASTS}) & named)


def titled(figure: Figure, families: Iterable[object]) -> Figure:
    """A figure that calls families by their titles: the hover has their names."""
    called = {str(name): family_title(str(name)) for name in families}
    return replace(figure, names=called | dict(figure.names)) if called else figure


def _pick(key: str, marks: frozenset[str], picked: Callable[[str], None]) -> None:
    if opened := _opened(st.session_state[key], marks):
        picked(opened)


def _opened(chosen: Any, marks: frozenset[str]) -> str:
    """What the mark that was clicked opens; nothing where none was, where it opens nothing or is none of the figure's.
    What was clicked is what a browser says, and a browser may say anything."""
    selection = chosen.get("selection") if isinstance(chosen, Mapping) else None
    points = selection.get("points") if isinstance(selection, Mapping) else None
    point = points[0] if isinstance(points, list) and points else None
    said = point.get("customdata") if isinstance(point, Mapping) else None
    opened = said[0] if isinstance(said, list) and said else said
    return opened if isinstance(opened, str) and opened in marks else ""

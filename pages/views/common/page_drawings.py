"""The one place where a page draws a figure, and where it draws a table.

What a table shows is words over the values, which stay what they were: real minus signs, commas, titles of families,
dashes for nothing. So columns sort as numbers, files have numbers and ids.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from core.charts.interactive import CONFIG, plot
from core.charts.layout import spare
from core.charts.panels import Panel, panels
from core.charts.spec import Figure, on_dark
from core.probes.titles import CONTRASTS, family_title
from pages.views.common.text import glossary, meaning

MOST_WIDE = 9
"""Columns of a map up to which the style sheet keeps each wide enough to be read; on a phone the map scrolls."""

MOST_SPARE = 240  # room in px below a legend up to which the style sheet takes it away where the figure is wide


def draw_figure(
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
    act: Any = "ignore" if not answers else "rerun" if picked is None else partial(_pick, key, marks, picked)
    looks: dict[str, Any] = {"width": "stretch", "config": CONFIG, "alt": alt, "selection_mode": "points"}
    with st.container(key=_room(figure, found, key)):
        made = plot(figure, clicks=answers, dark=_dark(), found=found)
        chosen = st.plotly_chart(made, key=key, on_select=act, **looks)
    if answers and clicked and (opened := _opened(chosen, marks)):
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


MOST_CELLS = 50_000  # cells up to which a table has words over its values: writing them takes a second for so many
TALL, SCROLLED = 24, 620  # rows from which a table scrolls by itself, and its height in px where it does
FAMILIES = ("family", "rival", "nuisance")  # columns whose values are names of families
NOTHING = "—"  # where there is no value
_WHOLE = re.compile(r"%([+]?)(?:d|[.]0f)")  # printf's formats of whole numbers
_LETTER, _ROOM, _WIDEST = 7.2, 24, 260  # px: a letter, what stands around a cell's words, a column of families
Write = Callable[[Any], str]
NUMBER, TEXT = st.column_config.NumberColumn, st.column_config.TextColumn  # looks of columns


def draw_table(
    frame: pd.DataFrame,
    *,
    column_config: Mapping[str, Any] | None = None,
    families: Collection[str] = FAMILIES,
    looks: Sequence[str] = (),
    hide_index: bool = True,
    **drawn: Any,
) -> None:
    """Draw a table as ``st.dataframe`` does; a column of remarks without any is left out. ``families``: columns whose
    values are names of families. ``looks``: CSS of every row, e.g. ``color: grey``, empty for the usual."""
    if "note" in frame and not frame["note"].fillna("").astype(bool).any():
        frame = frame.drop(columns="note")
    config = dict(column_config or {})
    drawn.setdefault("height", SCROLLED if len(frame) > TALL else "content")
    config |= {
        name: _hinted(config.get(name, name))
        for name in frame.columns
        if isinstance(name, str) and _word(config.get(name, name))
    }
    words: dict[Any, Any] = (
        _words(frame, config, families) if frame.size <= MOST_CELLS and frame.columns.is_unique else {}
    )
    shown: pd.DataFrame | Styler = frame
    if words or (any(looks) and frame.size <= MOST_CELLS):
        shown = _worded(frame, words, looks)
        config |= {name: _wide(config.get(name), frame[name]) for name, write in words.items() if write is _titled}
        config |= {name: _plain(config[name]) for name in words if isinstance(config.get(name), Mapping)}
    st.dataframe(shown, hide_index=hide_index, placeholder=NOTHING, column_config=config, **drawn)


def _worded(frame: pd.DataFrame, words: Mapping[Any, Write], looks: Sequence[str] = ()) -> Styler:
    """Words over values, and looks of rows; pandas' own way lays out every cell of a table as HTML before it is sent.
    ``words``: column -> what writes its values; ``looks``: see :func:`draw_table`."""
    told = _Told(frame)
    columns = {
        place: pd.array(_said(values, words.get(name, _usual)), dtype="str")
        for place, (name, values) in enumerate(frame.items())
    }
    cells = pd.DataFrame(columns, index=frame.index, copy=False)
    cells.columns = frame.columns
    told.words = cells
    styled = Styler(told)
    rows: dict[str, list[int]] = {}
    for row, look in enumerate(looks):
        rows.setdefault(look, []).append(row)
    looked = {
        "cellstyle": [
            {
                "props": [tuple(each.split(":", 1)) for each in look.split(";")],
                "selectors": [f"row{row}_col{column}" for row in own for column in range(frame.shape[1])],
            }
            for look, own in rows.items()
            if look
        ]
    }
    # Streamlit takes no subclass, and asks these two for the words and looks of the cells
    styled._compute = lambda: styled  # type: ignore[attr-defined]
    styled._translate = lambda *_, **__: looked  # type: ignore[attr-defined]
    return styled


class _Told(pd.DataFrame):
    """Values that know their words: Streamlit makes text of a table, and then sets each cell's words one by one."""

    _metadata: ClassVar[list[str]] = ["words"]  # otherwise pandas takes it for a column
    words: pd.DataFrame

    def astype(self, dtype: Any, *args: Any, **more: Any) -> Any:  # type: ignore[misc]  # pandas means it to be final
        return self.words if dtype is str else super().astype(dtype, *args, **more)


def _said(values: pd.Series, write: Write) -> list[str]:
    listed = values.tolist()
    return [NOTHING if none else str(write(value)) for value, none in zip(listed, pd.isna(values), strict=True)]


def _usual(value: Any) -> Any:
    return f"{value:.6f}" if isinstance(value, float) else value


def written(value: float, *, form: str) -> str:
    """A number as printf writes it, with a real minus sign; a whole one with commas for thousands.

    Example:
        >>> written(-0.5, form="%+.2f"), written(11088, form="%d")
        ('−0.50', '11,088')
    """
    whole = _WHOLE.fullmatch(form)
    said = str(value) if not math.isfinite(value) else f"{value:{whole[1]},.0f}" if whole else form % value
    return said.replace("-", "−")


def _words(frame: pd.DataFrame, config: Mapping[str, Any], families: Collection[str]) -> dict[Any, Write]:
    """Column -> what writes its values, of those whose words differ from what Streamlit shows."""
    found: dict[Any, Write] = {}
    for name, values in frame.items():
        if name in families and not _numeric(values):
            found[name] = _titled
        elif _numeric(values):
            usual = "%d" if pd.api.types.is_integer_dtype(values) else "%.4g"
            form = _form(config.get(str(name)), usual)
            numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
            if form and ((numbers < 0).any() or (_WHOLE.fullmatch(form) and (numbers >= 1000).any())):
                found[name] = partial(written, form=form)
    return found


def _numeric(values: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)


def _titled(value: object) -> str:
    return family_title(str(value))


def _form(look: Any, usual: str) -> str | None:
    """printf's format of a column of numbers; None where it is drawn as something else, e.g. as a bar."""
    kind = (look.get("type_config") or {}) if isinstance(look, Mapping) else {}
    if kind.get("type", "number") != "number":
        return None
    said = kind.get("format") or usual
    return str(said) if "%" in str(said) else None


def _wide(look: Any, values: pd.Series) -> dict[str, Any]:
    """The look of a column of families, wide enough for their titles: Streamlit goes by the names."""
    own = dict(look) if isinstance(look, Mapping) else {"label": look} if look else {}
    longest = max((len(_titled(each)) for each in values.dropna().unique()), default=0)
    return own if own.get("width") else {**own, "width": min(_ROOM + int(_LETTER * longest), _WIDEST)}


def _word(look: Any) -> str:
    """The coined word that heads a column and is not explained there yet; empty where none does."""
    head = str(look.get("label") or "") if isinstance(look, Mapping) else str(look or "")
    explained = isinstance(look, Mapping) and look.get("help")
    return head.lower() if head[:1].isupper() and head.lower() in glossary() and not explained else ""


def _hinted(look: Any) -> dict[str, Any]:
    own = dict(look) if isinstance(look, Mapping) else {"label": look}
    return {**own, "help": meaning(_word(look))}


def _plain(look: Mapping[str, Any]) -> dict[str, Any]:
    """The look of a column without its format: what Streamlit formats itself hides the words."""
    kind = dict(look.get("type_config") or {})
    return {**look, "type_config": {**kind, "format": None} if kind else None}

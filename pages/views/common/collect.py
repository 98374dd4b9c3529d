"""What a reader takes off a page: into a story, as it is now, or home: the data of a table, a figure as a file."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from mimetypes import guess_type
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.scope import Narrowed
from core.charts.interactive import page
from core.charts.spec import Figure, called
from core.charts.still import drawing, picture
from core.errors import InvariscopeError
from core.report.document import signature_of
from core.store.text_files import csv_text
from core.stories.story import MOST_NOTE, MOST_ROWS, MOST_TEXT, MOST_TITLE, Picture, Slide, Story, open_story, stories
from pages.views.common.access import may_operate, operators_only
from pages.views.common.layers import button, finding
from pages.views.common.open_runs import Signature, scores, store
from pages.views.common.page_drawings import with_titles
from pages.views.common.text import safe
from pages.views.common.url_state import PageState, entered, view_now

NEW = "A new story"
_ASKED, _SAID, _DONE, _ORIGIN = "collect.asked", "collect.said", "collect.done", "collect.origin"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a page's figures come from."""

    state: PageState  # whose link leads back
    of: str  # which rows went into it, in words
    files: Signature | None = None  # what the store depends on; None where the figures are of no stored run
    scopes: tuple[Narrowed, ...] = ()  # whose scores; none where they are of no stored run
    view: str = ""  # name of the view that the link is of; empty: the one that is drawn

    def signature(self) -> str:
        """Of the numbers, a line a scope; empty where they are of no stored run."""
        if self.files is None:
            return ""
        return "\n".join(
            dict.fromkeys(signature_of(scores(self.files, each), store(self.files).runs()) for each in self.scopes)
        )


def of_scores(
    state: PageState, files: Signature, scope: Narrowed, told: str = "", *, beside: Iterable[Narrowed] = ()
) -> Origin:
    """Where figures of stored scores come from. ``told``: what filters keep; ``beside``: whose scores went in too."""
    further = tuple(each for each in dict.fromkeys(beside) if each != scope)
    of = [scores_of(scope, told), *(f"and s{scores_of(each)[1:]}" for each in further)]
    return Origin(state, "; ".join(of), files, (scope, *further))


def scores_of(scope: Narrowed, told: str = "") -> str:
    """Which stored rows a figure is of, in words: run, corpus, caption, language, and what the filters keep."""
    runs = f"run{'s' if len(scope.run_ids) > 1 else ''} {', '.join(scope.run_ids)}"
    corpora = sorted(dict(scope.runs))
    caption = f"caption {scope.subject}{f' {scope.rank + 1}' if scope.rank else ''}"
    on = f"corp{'ora' if len(corpora) > 1 else 'us'} {', '.join(corpora)}"
    return "; ".join(filter(None, (f"Scores of {runs}, {on}, {caption}, language {scope.language}", told)))


def begin() -> None:
    """Begin a page: forget where the figures of the one before came from, and say what was collected."""
    st.session_state.pop(_ORIGIN, None)
    if entered():
        _close()
    if done := st.session_state.pop(_DONE, None):
        _close()
        st.toast(done, icon=":material/bookmark_added:")


def figures_of(origin: Origin) -> None:
    """Let the figures of this page be collected."""
    st.session_state[_ORIGIN] = origin


@contextmanager
def figures_aside(other: Origin) -> Iterator[None]:
    """Let the figures that are drawn within be collected as of something else than the page's."""
    own = origin()
    figures_of(other)
    try:
        yield
    finally:
        st.session_state[_ORIGIN] = own


def origin() -> Origin | None:
    """Where the figures of this page come from; None where it did not say."""
    found: Origin | None = st.session_state.get(_ORIGIN)
    return found


def collect_button(make: Callable[[], Slide], *, key: str) -> None:
    """Draw the button, and the box that it opens."""
    if not may_operate():
        return
    hint = "Put this into a story, as it is now"
    button("Collect", "bookmark_add", f"collect.{key}", _ask, key, type="tertiary", help=hint)
    if st.session_state.get(_ASKED) == key and not finding():
        _box(make)


def figure_slide(figure: Figure, title: str, origin: Origin) -> Slide:
    """A figure with its numbers as a slide."""
    figure = with_titles(figure)
    frame = figure.frame.head(MOST_ROWS)
    many = len(figure.frame)
    cut = [f"The first {MOST_ROWS} of {many} marks are in the table."] if many > MOST_ROWS else []
    rows = tuple(_numbers(row, figure) for row in frame.to_dict("records"))
    return Slide(
        title,
        (*_cut(figure.note), *cut),
        (Picture(f"{title}, as a figure", "png", drawing(figure, kind="png")),),
        ("", figure.axis or "Value", "95 % interval", "n"),
        rows,
        " ".join(_cut(origin.of)),
        origin.signature(),
        origin.view or view_now().name,
        origin.state.wanted(),
    )


def _cut(note: str) -> list[str]:
    return [f"{note[: MOST_TEXT - 10]} …"] if len(note) > MOST_TEXT else [note] if note else []


def _numbers(told: Mapping[Hashable, Any], figure: Figure) -> tuple[str, ...]:
    words = (called(figure, str(told[each])) for each in ("label", "series", "panel"))
    name = " · ".join(filter(None, dict.fromkeys(words)))
    low, high = float(told["low"]), float(told["high"])
    interval = "—" if np.isnan(low) or np.isnan(high) else f"{_said(low)} to {_said(high)}{figure.unit}"
    return name, f"{_said(float(told['value']))}{figure.unit}", interval, f"{int(told['n'])}"


def _said(value: float) -> str:
    """Three significant digits, those that are 0 too: numbers stand below each other."""
    return f"{value:#.3g}".rstrip(".").replace("-", "−")


def _ask(key: str) -> None:
    st.session_state[_ASKED] = key
    st.session_state.pop(_SAID, None)


def _close() -> None:
    st.session_state.pop(_ASKED, None)
    st.session_state.pop(_SAID, None)


@st.dialog("Collect", on_dismiss=_close)
def _box(make: Callable[[], Slide]) -> None:
    if _DONE in st.session_state:  # only the whole page closes a box
        st.rerun()
    known = {each.id: each.outline().title for each in stories()}
    st.caption("It is kept as it is now, pictures and numbers, whatever becomes of the run.")
    chosen = st.selectbox("Story", [*known, NEW], key="collect.story", format_func=lambda each: known.get(each, NEW))
    if chosen == NEW:
        st.text_input(
            "Title of the story", key="collect.title", max_chars=MOST_TITLE, placeholder="e.g. Where flips decide"
        )
    st.text_area("Note", key="collect.note", max_chars=MOST_NOTE, height=100, placeholder="What is to be seen here")
    st.button("Collect", type="primary", key="collect.save", on_click=_save, args=(make,))
    if said := st.session_state.get(_SAID):
        st.error(safe(f"{said[:1].upper()}{said[1:].removesuffix('.')}.", limit=400))


@operators_only
def _save(make: Callable[[], Slide]) -> None:
    chosen, note = st.session_state["collect.story"], st.session_state.get("collect.note", "")
    try:
        slide = make()
        story = Story.create(st.session_state.get("collect.title", "")) if chosen == NEW else open_story(chosen)
        story.add(replace(slide, note=note.strip()))
    except InvariscopeError as error:
        st.session_state[_SAID] = str(error)
        return
    st.session_state["collect.note"] = ""
    st.session_state[_DONE] = f"Collected in *{safe(story.outline().title)}*, see Stories."


def data_buttons(table: pd.DataFrame | Callable[[], pd.DataFrame], stem: str, *, key: str) -> None:
    """Draw buttons for a table as CSV and Parquet, made when asked for; ``table`` may be a function that makes it."""

    def made() -> pd.DataFrame:
        return table() if callable(table) else table

    with st.container(horizontal=True, gap="small"):
        file_button("CSV", lambda: csv_bytes(made()), f"{stem}.csv", key=f"{key}.csv")
        file_button("Parquet", lambda: made().to_parquet(index=False), f"{stem}.parquet", key=f"{key}.parquet")


def figure_buttons(
    figure: Figure, table: pd.DataFrame | Callable[[], pd.DataFrame], stem: str, *, title: str, key: str
) -> None:
    """Draw what can be done with a figure: *Collect*, and a menu with it as HTML, PNG, SVG and PDF and its data."""
    figure, own = with_titles(figure), origin()  # asked while it is drawn: a file is made later, without a session

    def told() -> str:
        return "" if own is None else f"{own.of}. {own.signature()}".strip()

    with st.container(horizontal=True, width="content", gap="small"):
        if own is not None:
            collect_button(lambda: figure_slide(figure, title, own), key=f"figure.{stem}")
        with st.popover("Download", icon=":material/download:", type="tertiary"):
            st.caption("The figure")
            with st.container(horizontal=True, gap="small"):
                file_button("HTML", lambda: page(figure, title=title, foot=told()), f"{stem}.html", key=f"{key}.html")
                for kind in ("png", "svg", "pdf"):

                    def made(kind: str = kind) -> bytes:
                        return picture(figure, kind=kind, title=title, foot=told())

                    file_button(kind.upper(), made, f"{stem}.{kind}", key=f"{key}.{kind}")
            st.caption("The data behind it")
            data_buttons(table, stem, key=key)


def file_button(
    label: str, data: bytes | str | Callable[[], bytes], name: str, *, key: str, icon: str = "", **drawn: Any
) -> None:
    """Draw a button for a file; one that a function makes is made when asked for. The page does not run again."""
    drawn |= {"icon": f":material/{icon}:"} if icon else {}
    kind, _ = guess_type(name)
    st.download_button(label, data, name, kind or "application/octet-stream", on_click="ignore", key=key, **drawn)


def csv_bytes(table: pd.DataFrame) -> bytes:
    """A table as CSV that spreadsheets open as it is."""
    return csv_text(table).encode("utf-8-sig")

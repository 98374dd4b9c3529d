"""*Collect*: put what is on a page into a story, as it is now."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from core.analysis.scope import Narrowed
from core.charts.spec import Figure
from core.charts.still import element
from core.errors import InvariscopeError
from core.report.signature import signature_of
from core.stories.slide import MOST_NOTE, MOST_ROWS, Picture, Slide
from core.stories.story import MOST_TITLE, Story, open_story, stories
from pages.views.common.access import may_operate
from pages.views.common.dialogs import finding
from pages.views.common.runs import Signature, scores, store
from pages.views.common.text import safe
from pages.views.common.url_state import PageState, entered

NEW = "A new story"
_ASKED, _SAID, _DONE, _ORIGIN = "collect.asked", "collect.said", "collect.done", "collect.origin"


class Origin(NamedTuple):
    """Where a page's figures come from.

    Args:
        page: file of the page.
        state: whose link leads back.
        files: what the store depends on.
        scope: whose scores.
        told: what the filters keep, in words; empty where they keep everything.
    """

    page: str
    state: PageState
    files: Signature
    scope: Narrowed
    told: str = ""

    def of(self) -> str:
        """Which rows went into it, in words."""
        scope = self.scope
        runs = f"run{'s' if len(scope.run_ids) > 1 else ''} {', '.join(scope.run_ids)}"
        return "; ".join(filter(None, (f"Scores of {runs}, caption {scope.subject}, language {scope.language}",
                                       self.told)))  # fmt: skip

    def signature(self) -> str:
        """Of the numbers."""
        return signature_of(scores(self.files, self.scope), store(self.files).runs())


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


def origin() -> Origin | None:
    """Where the figures of this page come from; None where it did not say."""
    found: Origin | None = st.session_state.get(_ORIGIN)
    return found


def told_of() -> Callable[[], str]:
    """What says of what the figures of this page are, with their signature; nothing where the page does not say.

    A file is made after its page was drawn, without a session: so this is asked for while it is drawn.
    """
    own = origin()
    return lambda: "" if own is None else f"{own.of()}. {own.signature()}"


def collect_figure(figure: Figure, *, title: str, key: str) -> None:
    """Draw the button of a figure, where its page says what its figures are of.

    Args:
        figure: as it is drawn.
        title: in our own words.
        key: of the figure.
    """
    own = origin()
    if own is not None:
        collect_button(lambda: figure_slide(figure, title, own), key=key)


def collect_button(make: Callable[[], Slide], *, key: str) -> None:
    """Draw the button, and the box that it opens.

    Args:
        make: makes the slide, once somebody wants it.
        key: of what is collected, on its page.
    """
    if not may_operate():
        return
    st.button("Collect", icon=":material/bookmark_add:", type="tertiary", key=f"collect.{key}", on_click=_ask,
              args=(key,), help="Put this into a story, as it is now")  # fmt: skip
    if st.session_state.get(_ASKED) == key and not finding():
        _box(make)


def figure_slide(figure: Figure, title: str, origin: Origin) -> Slide:
    """A figure with its numbers as a slide."""
    frame = figure.frame.head(MOST_ROWS)
    many = len(figure.frame)
    cut = [f"The first {MOST_ROWS} of {many} marks are in the table."] if many > MOST_ROWS else []
    rows = tuple(_numbers(row, figure) for row in frame.to_dict("records"))
    return Slide(
        title, (*_cut(figure.note), *cut), (Picture(f"{title}, as a figure", "svg", element(figure).encode()),),
        ("", figure.axis or "Value", "95 % interval", "n"), rows, origin.of(), origin.signature(), origin.page,
        origin.state.wanted(),
    )  # fmt: skip


def _cut(note: str) -> list[str]:
    """A note in lines that a slide takes."""
    return [f"{note[:390]} …"] if len(note) > 400 else [note] if note else []


def _numbers(told: Mapping[Hashable, Any], figure: Figure) -> tuple[str, ...]:
    name = " · ".join(filter(None, (str(told["label"]), str(told["series"]), str(told["panel"]))))
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
    """Which story, and what to say."""
    if _DONE in st.session_state:  # only the whole page closes a box
        st.rerun()
    known = {each.id: each.outline().title for each in stories()}
    st.caption("It is kept as it is now, pictures and numbers, whatever becomes of the run.")
    chosen = st.selectbox("Story", [*known, NEW], key="collect.story", format_func=lambda each: known.get(each, NEW))
    if chosen == NEW:
        st.text_input("Title of the story", key="collect.title", max_chars=MOST_TITLE,
                      placeholder="e.g. Where flips decide")  # fmt: skip
    st.text_area("Note", key="collect.note", max_chars=MOST_NOTE, height=100,
                 placeholder="What is to be seen here")  # fmt: skip
    st.button("Collect", type="primary", key="collect.save", on_click=_save, args=(make,))
    if said := st.session_state.get(_SAID):
        st.error(safe(said, limit=400))


def _save(make: Callable[[], Slide]) -> None:
    chosen, note = st.session_state["collect.story"], st.session_state.get("collect.note", "")
    try:
        slide = make()
        story = Story.create(st.session_state.get("collect.title", "")) if chosen == NEW else open_story(chosen)
        story.add(_noted(slide, note))
    except InvariscopeError as error:
        st.session_state[_SAID] = str(error)
        return
    st.session_state["collect.note"] = ""
    st.session_state[_DONE] = f"Collected in *{safe(story.outline().title)}*, on the page Stories."


def _noted(slide: Slide, note: str) -> Slide:
    return replace(slide, note=note.strip())

"""The state of a page in its link: read with a sentence about what could not be restored, written when it changes.

Streamlit's own binding of widgets to the link drops a value it cannot use without a word, and spreads a list
over as many parameters as it has entries; here every field checks its own value and a list is one parameter.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.corpora.ordinary_paths import lies_in
from core.features.feature import VIEW, View, address
from core.settings import allowed_folders

Read = Callable[[str], tuple[Any, str]]
"""Text of the link -> (value, sentence about what could not be restored, or nothing)."""


@dataclass(frozen=True, slots=True)
class Field:
    """One part of a page's state."""

    name: str  # its name in the link; its key in the session is ``page.name``
    default: Any  # the value that the link leaves out
    read: Read  # makes a value of the link's text
    write: Callable[[Any], str] = str  # makes the link's text of a value
    shared: bool = False  # whether it holds on every page: what a reader chose of it on one page is there on the next


_SHARED, _VIEW, _ENTERED, _BACK, _KEPT = "shared", "view.now", "view.entered", "view.back", "view.kept"
_PUBLISHED, _LED, _LOOKED = "view.published", "view.led", "view.looked"

LOOK = "look"
"""Parameter of a link for one look, e.g. at the pairs behind a mark: what it narrows holds in its entry alone, be it a
filter or the scope, and everywhere else the scope is as the reader chose it."""


def carried() -> dict[str, str]:
    """Link parameters of the shared fields, as the page before left them: what a link to another page takes along."""
    return dict(st.session_state.get(_SHARED, {}))


def note_view(view: View, *, back: bool) -> None:
    """Note which view runs now, and whether the reader went back or forward in its history. A link within an entry
    changes no address in the browser, only what Streamlit tells of it; :meth:`PageState.publish` does the rest."""
    session, present = st.session_state, st.query_params.to_dict()
    before = session.get(_VIEW)
    asked = present != session.get(_PUBLISHED, present)
    session[_LED] = asked and not back and _KEPT not in session and before is not None and before.entry == view.entry
    session[_VIEW], session[_ENTERED] = view, view != before
    session[_BACK] = back and view == before


def view_now() -> View:
    """The view that runs now."""
    found: View = st.session_state[_VIEW]
    return found


def entered() -> bool:
    """Whether the view that runs now is another than the one before."""
    return bool(st.session_state.get(_ENTERED, True))


def turn_to(view: str, kept: Callable[[str], bool]) -> None:
    """Let another view of the entry run next; a callback. ``kept``: whether a field of this name goes along where the
    other view has it too; the scope always does."""
    scope, present = carried(), st.query_params.to_dict()
    narrowed = st.session_state.get(_LOOKED) or {} if LOOK in present else {}
    along = {name: text for name, text in present.items() if kept(name) or name in (LOOK, *scope, *narrowed)}
    st.session_state[_KEPT] = frozenset(along)
    st.query_params.from_dict(address(view)[1] | along)  # at once: a step of the browser's history for each turn


@dataclass(frozen=True, slots=True)
class PageState:
    """The fields of one page; ``page`` is the prefix of its keys in the session."""

    page: str
    fields: Sequence[Field]

    def key(self, name: str) -> str:
        """Session key of a field, and of the widget that sets it."""
        return f"{self.page}.{name}"

    def get(self, name: str) -> Any:
        """Present value of a field."""
        return st.session_state[self.key(name)]

    def put(self, name: str, value: Any) -> None:
        """Set a field; only before its widget is drawn, or in a callback."""
        st.session_state[self.key(name)] = value

    def take_back(self, *names: str) -> None:
        """Give some fields their usual values again."""
        for field in self.fields:
            if field.name in names:
                self.put(field.name, field.default)

    def restore(self) -> None:
        """Bring the session in line with the link: on the first run, and when the reader follows another link. A link
        that names no shared field has them as they were left, on this page or on another; one that asks for nothing, as
        the menu's, opens the page as this session left it. But going back on a page shows it as it was. A link for one
        look (:data:`LOOK`) narrows what it names here, and nowhere else."""
        session, present = st.session_state, st.query_params.to_dict()
        look = present.pop(LOOK, None) is not None
        if present.get(VIEW) == view_now().name:
            del present[VIEW]
        if session.get(_ENTERED, True) or present != session.get(self.key("seen")):
            named = any(field.name in present for field in self.fields if field.shared)
            back = session.get(_BACK, False)
            told = present if named or back or look else self._scope(carried()) | present
            if not look and not back and present.items() <= carried().items():  # asks for nothing
                # what this session chose on this page alone; all of a look
                left: dict[str, str] = session.get(self.key("left"), {})
                look = LOOK in left
                own = {name: text for name, text in left.items() if name not in self._scope(left)}
                told = told | left if look else own | told
                told.pop(LOOK, None)
            session[_LOOKED] = {} if look else None
            session[self.key("problems")] = self._read(told, kept=session.pop(_KEPT, frozenset()))
            session[self.key("seen")] = present
        for field in self.fields:  # setting a value to itself keeps it while its widget is not drawn
            self.put(field.name, st.session_state.get(self.key(field.name), field.default))

    def problems(self) -> list[str]:
        """What of the link could not be restored, in sentences."""
        return list(st.session_state.get(self.key("problems"), []))

    def publish(self) -> None:
        """Write every field that differs from its default into the link, and only those."""
        wanted = self.wanted()
        look = {} if st.session_state.get(_LOOKED) is None else {LOOK: "yes"}
        whole = address(view_now().name)[1] | wanted | look
        if whole != st.query_params.to_dict() or st.session_state.pop(_LED, False):
            st.query_params.from_dict(whole)
        st.session_state[_PUBLISHED] = whole
        st.session_state[self.key("seen")], st.session_state[self.key("left")] = wanted, wanted | look

    def reset(self) -> None:
        """Set every field of this page alone to its default; a callback."""
        for field in self.fields:
            if not field.shared:
                self.put(field.name, field.default)
        st.session_state[self.key("problems")] = []

    def share(self) -> None:
        """Let the shared fields hold on the next page as they stand now; of a look, what was changed since."""
        here, looked = self._scope(self.wanted()), st.session_state.get(_LOOKED)
        now = here
        if looked is not None:
            before = looked or here  # as the look began
            kept = {name: text for name, text in carried().items() if here.get(name) == before.get(name)}
            now = kept | {name: text for name, text in here.items() if text != before.get(name)}
            st.session_state[_LOOKED] = here
        st.session_state[_SHARED] = now

    def _scope(self, link: Mapping[str, str]) -> dict[str, str]:
        shared = {field.name for field in self.fields if field.shared}
        return {name: text for name, text in link.items() if name in shared}

    def choose(self, place: DeltaGenerator, name: str, label: str, options: Sequence[str], **drawn: Any) -> str:
        """Draw a select box whose first option is the usual one and stays out of the link; return the choice."""
        key = f"{self.key(name)}.widget"
        st.session_state[key] = self.get(name) if self.get(name) in options else options[0]
        args = (name, key, options[0])
        return str(place.selectbox(label, options, key=key, on_change=self._chosen, args=args, **drawn))

    def switch(
        self,
        name: str,
        label: str,
        options: Mapping[Any, str] | Sequence[Any],
        *,
        place: DeltaGenerator | None = None,
        **drawn: Any,
    ) -> Any:
        """Draw a switch of which one option is always on, with its words where a mapping gives them; return it."""
        words = {"format_func": options.__getitem__} if isinstance(options, Mapping) else {}
        control: Any = st.segmented_control if place is None else place.segmented_control
        return control(label, tuple(options), key=self.key(name), required=True, **words, **drawn)

    def slide(
        self, place: DeltaGenerator, name: str, label: str, options: Sequence[float], value: float, **drawn: Any
    ) -> None:
        """Draw a slider that stands at ``value``, whichever the field holds; the field takes what is chosen."""
        key = self.key(f"{name}.widget")
        st.session_state[key] = value
        place.select_slider(label, options, key=key, on_change=self.take, args=(name, key), **drawn)

    def take(self, name: str, key: str) -> None:
        """Take the value of a widget that has another key than the field; a callback."""
        self.put(name, st.session_state[key])

    def _chosen(self, name: str, key: str, usual: str) -> None:
        chosen = st.session_state[key]
        self.put(name, None if chosen == usual else chosen)

    def wanted(self) -> dict[str, str]:
        """Every field that differs from its default, as the link's text."""
        return {
            field.name: field.write(self.get(field.name))
            for field in self.fields
            if self.get(field.name) != field.default
        }

    def _read(self, present: dict[str, str], *, kept: Container[str]) -> list[str]:
        """Take the fields of a link; returns what could not be restored, but of what another view handed on."""
        known = {field.name for field in self.fields}
        problems = [
            f"{name!r} is no part of this page's link." for name in present if name not in known and name not in kept
        ]
        for field in self.fields:
            value, problem = field.read(present[field.name]) if field.name in present else (field.default, "")
            self.put(field.name, value)
            problems += [problem] if problem else []
        return problems


def text(*, limit: int) -> Read:
    """Read free text of at most ``limit`` characters."""

    def read(raw: str) -> tuple[str, str]:
        cut = f"A text of {len(raw)} characters was cut after {limit}." if len(raw) > limit else ""
        return raw[:limit], cut

    return read


def one_of(options: Callable[[], Sequence[str]], default: Any, *, what: str) -> Read:
    """Read one of the options that exist now."""

    def read(raw: str) -> tuple[Any, str]:
        if raw in options():
            return raw, ""
        return default, f"There is no {what} {raw[:80]!r} here; the usual one is shown instead."

    return read


def some_of(options: Callable[[], Sequence[str]], *, what: str) -> Read:
    """Read several of the options, as :func:`joined` writes them."""

    def read(raw: str) -> tuple[list[str], str]:
        names = [unquote(name) for name in raw.split(",") if name]
        kept = [name for name in dict.fromkeys(names) if name in options()]
        lost = [name for name in names if name not in options()]
        many = ", ".join(name[:80] for name in lost[:5]) + (" …" if len(lost) > 5 else "")
        return kept, f"No such {what} here, left out: {many}." if lost else ""

    return read


def checked(make: Callable[[str], Any], default: Any, must: str, *, then: str = "") -> Read:
    """Read what is made of a text; where that raises a ValueError or KeyError, the default. ``must``: what the field
    must be, begins the sentence of what could not be restored; ``then`` ends it."""

    def read(raw: str) -> tuple[Any, str]:
        try:
            return make(raw), ""
        except (ValueError, KeyError):
            return default, f"{must}, got {raw[:40]!r}{then}."

    return read


def whole(low: int, high: int) -> Callable[[str], int]:
    """What makes a whole number within bounds of a text, for :func:`checked`."""

    def make(raw: str) -> int:
        if not (raw.isascii() and raw.isdigit() and len(raw) <= 10 and low <= int(raw) <= high):
            raise ValueError(raw)
        return int(raw)

    return make


def within(low: float, high: float) -> Callable[[str], float]:
    """What makes a number within bounds of a text, for :func:`checked`."""

    def make(raw: str) -> float:
        value = float(raw[:20])
        if not low <= value <= high:
            raise ValueError(raw)
        return value

    return make


def pick_field(
    name: str, default: Any, values: Sequence[Any], write: Callable[[Any], str], must: str, *, then: str = ""
) -> Field:
    """A field that is one of some values, each by its own text; the rest as of :func:`checked`."""
    return Field(
        name, default, checked({write(each): each for each in values}.__getitem__, default, must, then=then), write
    )


def count_field(name: str, default: int, most: int, *, of: str) -> Field:
    """A field that is a whole number from 1 to ``most``, ``of`` what, in words."""
    return Field(name, default, checked(whole(1, most), default, f"The number of {of} must lie between 1 and {most}"))


def switch_field(name: str) -> Field:
    """A field that is yes or no in the link; usually no."""
    return pick_field(name, False, (True, False), lambda on: "yes" if on else "no", "A switch must be yes or no")


def joined(names: Sequence[str]) -> str:
    """Write a list as :func:`some_of` reads it: with commas between names, ``%2C`` for a comma in one.

    Example:
        >>> joined(["north, upper", "50 %"])
        'north%2C upper,50 %25'
    """
    return ",".join(name.replace("%", "%25").replace(",", "%2C") for name in names)


_TYPED = "places.typed"


def typed(written: str) -> None:
    """Take a field's present text for one that this session wrote or was allowed: it may come back to it."""
    st.session_state[_TYPED] = (st.session_state.get(_TYPED) or frozenset()) | {written}


def paths_of_link(*, limit: int, after: str = "") -> Read:
    """Read what is separated by commas of a link; absolute paths must lie in :func:`core.settings.allowed_folders`.
    ``after``: what stands before each path, e.g. ``=`` of ``key=value``; empty: each is a path."""

    def read(raw: str) -> tuple[str, str]:
        if raw in (st.session_state.get(_TYPED) or frozenset()):
            return raw, ""
        named = [(each.partition(after)[2] if after else each).strip() for each in raw.split(",")]
        outside = [each for each in named if each.startswith(("/", "\\", "~")) and not _inside(each)]
        if outside:
            return "", (
                f"A link may not name {outside[0][:200]!r}, which lies outside the server's folders of data; type "
                "it on the page, or have INVARISCOPE_FOLDERS name its folder where the server starts."
            )
        return text(limit=limit)(raw)

    return read


def _inside(path: str) -> bool:
    try:
        return lies_in(Path(path).expanduser(), allowed_folders())
    except RuntimeError:  # the home of somebody who is not here
        return False

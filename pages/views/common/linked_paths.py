"""Which folders and files of the server a link may name: a person types any, a link that somebody sent names few."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from core.corpora.ordinary_paths import lies_in
from core.settings import allowed_folders
from pages.views.common.url_state import text

_TYPED = "places.typed"


def typed(written: str) -> None:
    """Take a field's present text for one that this session wrote or was allowed: it may come back to it."""
    st.session_state[_TYPED] = (st.session_state.get(_TYPED) or frozenset()) | {written}


def paths_of_link(*, limit: int) -> Callable[[str], tuple[str, str]]:
    """Read paths of a link, separated by commas; all must lie in :func:`core.settings.allowed_folders`."""

    def read(raw: str) -> tuple[str, str]:
        return _allowed(raw, [each.strip() for each in raw.split(",")], limit)

    return read


def options_of_link(*, limit: int) -> Callable[[str], tuple[str, str]]:
    """Read ``key=value, key=value`` of a link; a value that is an absolute path must lie in the allowed folders."""

    def read(raw: str) -> tuple[str, str]:
        return _allowed(raw, [each.partition("=")[2].strip() for each in raw.split(",")], limit)

    return read


def _allowed(raw: str, named: list[str], limit: int) -> tuple[str, str]:
    if raw in (st.session_state.get(_TYPED) or frozenset()):
        return raw, ""
    outside = [each for each in named if each.startswith(("/", "\\", "~")) and not _inside(each)]
    if outside:
        return "", (
            f"A link may not name {outside[0][:200]!r}, which lies outside the server's folders of data; type "
            "it on the page, or have INVARISCOPE_FOLDERS name its folder where the server starts."
        )
    return text(limit=limit)(raw)


def _inside(path: str) -> bool:
    try:
        return lies_in(Path(path).expanduser(), allowed_folders())
    except RuntimeError:  # the home of somebody who is not here
        return False

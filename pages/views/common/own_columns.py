"""Filters by columns of the items' owners, such as ``site``: a field each in a link, drawn where values differ."""

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from core.corpora.item_columns import MOST_VALUES
from core.corpora.schema import OWN
from pages.views.common.open_runs import Signature, own_values
from pages.views.common.text import safe
from pages.views.common.url_state import Field, PageState, joined, some_of

Told = tuple[tuple[str, str], ...]
"""(key, value) as :class:`core.analysis.slices.Slice` has them."""


def own_fields(files: Signature, *, side: str = "") -> tuple[Field, ...]:
    """A field for each column that items of some run tell; none where there is no run.

    Args:
        files: what the store depends on.
        side: begins the names, where a page has several slices, e.g. ``a_``.
    """
    known = own_values(files)
    return tuple(
        Field(side + key, [], some_of(lambda key=key: known[key], what=column_name(key)), joined)  # type: ignore[misc]
        for key in known
    )


def told_by(state: PageState, *, side: str = "") -> Told:
    """What a reader chose of these fields."""
    names = [field.name for field in state.fields if field.name.startswith(side + OWN)]
    return tuple((name.removeprefix(side), value) for name in names for value in state.get(name))


def own_link(told: Told, *, side: str = "") -> dict[str, str]:
    """The same as parameters of a link."""
    return {side + key: joined(values) for key, values in _by_column(told).items()}


def choose_own(state: PageState, known: Mapping[str, Mapping[str, str] | Sequence[str]], *, side: str = "") -> None:
    """Draw a choice for each column that tells items apart, or of which something is chosen.

    Args:
        known: key of a column -> its values in the scope, each with what is said of it where there is something.
        side: as in :func:`own_fields`.
    """
    chosen = own_lists(state, side)
    for key in {**known, **chosen}:
        there = known.get(key, ())
        said = there if isinstance(there, Mapping) else {}
        values = list(dict.fromkeys([*there, *chosen.get(key, ())]))
        if not chosen.get(key) and not 1 < len(values) <= MOST_VALUES:
            continue
        st.multiselect(
            safe(column_name(key)),
            values,
            key=state.key(side + key),
            placeholder=f"All {len(values)}",
            format_func=partial(_shown, said),
            help="A column of the table that lay beside the pictures.",
        )


_MOST_SHOWN = 80
"""Characters of a value that are shown."""


def _shown(said: Mapping[str, str], value: str) -> str:
    return value[:_MOST_SHOWN] + said.get(value, "")


def own_lists(state: PageState, side: str = "") -> dict[str, list[str]]:
    """The values chosen of each column of which some are."""
    return _by_column(told_by(state, side=side))


def _by_column(told: Told) -> dict[str, list[str]]:
    return {key: [value for name, value in told if name == key] for key, _ in told}


def column_name(key: str) -> str:
    """A column as its owner calls it."""
    return key.removeprefix(OWN)

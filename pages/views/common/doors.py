"""Doors: where else to go from here, or what to try, each with a sentence."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st


@dataclass(frozen=True, slots=True)
class Door:
    """One door.

    Args:
        title: what one does behind it, in our own words.
        told: a sentence below.
        icon: of Material Symbols.
        page: file of the page that it leads to; empty for one that does something here.
        link: parameters of that page's link.
        act: what it does here; a callback.
        key: of its card.
    """

    title: str
    told: str
    icon: str
    page: str = ""
    link: Mapping[str, str] = field(default_factory=dict, hash=False)
    act: Callable[[], None] | None = None
    key: str = ""


def draw_doors(doors: Sequence[Door]) -> None:
    """Draw them beside each other, on a phone below each other."""
    cells = st.grid(max(len(doors), 1), min_column_width=230, gap="small")
    for door in doors:
        key = door.key or door.page.split("/")[-1].removesuffix(".py")
        with cells.container(border=True, height="stretch", gap="xsmall", key=f"door_{key}"):
            if door.act is None:
                st.page_link(door.page, label=f"**{door.title}**", icon=door.icon, query_params=dict(door.link))
            else:
                st.button(f"**{door.title}**", icon=door.icon, type="tertiary", key=f"door.{key}", on_click=door.act)
            st.caption(door.told)

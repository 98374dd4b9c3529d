"""The compact grid of the page Failures: many variants at a glance, each a way to its full record."""

import pandas as pd
import streamlit as st

from core.analysis.scope import Narrowed
from core.probes.titles import title
from core.store.store import Store
from core.stories.tags import Held
from pages.views.common.text import safe
from pages.views.common.url_state import PageState
from pages.views.failures.card import draw_variant, headline, opener
from pages.views.failures.pictures import finished, pictures
from pages.views.failures.state import by_pair
from pages.views.failures.tags import draw_tags, pair_of


def draw_tiles(
    state: PageState, opened: Store, scope: Narrowed, pairs: pd.DataFrame, rows: pd.DataFrame, held: Held
) -> None:
    """Draw a tile a pair with room for its picture, then fill the rooms as the pictures come.

    Args:
        state: of the page.
        opened: the store.
        scope: whose pairs.
        pairs: has ``core.analysis.failures.PAIR``.
        rows: the pairs under every evaluator.
        held: what is tagged.
    """
    parts = by_pair(pairs, rows)
    rooms = []
    with pictures(opened, pairs, marks=state.get("marks")) as begun:
        cells = st.grid(6, min_column_width=150, gap="small")
        for place, ((_, pair), own) in enumerate(zip(pairs.iterrows(), parts, strict=True)):
            with cells.container(gap="xxsmall", key=f"failure_tile_{place}"):
                rooms.append(st.empty())
                rooms[-1].caption("…")
                st.button(headline(pair, own, state.get("sort")), key=f"failures.tile.{place}", type="tertiary",
                          on_click=opener(state, pair), help="Opens the full record", width="stretch")  # fmt: skip
                st.caption(_said(pair, own.iloc[0]))
                draw_tags(held.of(pair_of(pair, language=scope.language, rank=scope.rank)))
        for place, (room, own, made) in enumerate(zip(rooms, parts, begun, strict=True)):
            draw_variant(room, finished(made), own.iloc[0], key=f"tile_{place}")


def _said(pair: pd.Series, row: pd.Series) -> str:
    what = row["label"] if pd.notna(row["label"]) else pair["item"]
    return f"{safe(title(str(pair['probe'])), limit=50)} · {safe(str(what), limit=40)}"

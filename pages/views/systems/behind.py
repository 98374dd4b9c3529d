"""The pictures behind a mark that was clicked: of one system, or those on which two neighbours swap."""

import json
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.systems.board import lowest, swapped
from core.analysis.systems.file import Leaderboard
from core.probes.titles import family_title
from pages.views.common.corpora import corpus_holding
from pages.views.common.text import counted, number, safe
from pages.views.flip_risk.pairs import pair_card, pictures

_SHOWN = 3
_MOST = 60


def draw_behind(made: Leaderboard, opens: str) -> None:
    """Draw the pictures behind a mark.

    Args:
        made: the leaderboard.
        opens: of the mark; see ``core.charts.systems``.
    """
    asked = {str(name): str(value) for name, value in json.loads(opens).items()}
    with st.container(border=True, key="systems_behind"):
        if "family" in asked:
            _swapped(made, asked)
        else:
            _lowest(made, asked)


def _lowest(made: Leaderboard, asked: dict[str, str]) -> None:
    found = lowest(made.rows, asked["evaluator"], asked["system"])
    st.markdown(f"**{safe(asked['system'])}** by **{safe(asked['evaluator'])}**: "
                f"{counted(len(found), 'picture')}, the lowest scores first.")  # fmt: skip
    for row in _page(found):
        left, right = st.columns([3, 4], gap="medium")
        with left:
            pictures(corpus_holding(made.corpus, str(row["item"])), str(row["item"]))
        right.markdown(f"**{safe(str(row['item']))}**: {number(float(row['score']), digits=4)}")
        right.text(str(row["caption"]))


def _swapped(made: Leaderboard, asked: dict[str, str]) -> None:
    higher, lower, family = asked["higher"], asked["lower"], asked["family"]
    found = swapped(made.rows, asked["evaluator"], higher, lower, family)
    title = family_title(family)
    st.markdown(f"**A: {safe(higher)}** above **B: {safe(lower)}** by **{safe(asked['evaluator'])}**, under "
                f"**{safe(title)}**")  # fmt: skip
    if found.empty:
        st.caption("On no picture do their two captions change order, whatever becomes of the means.")
        return
    st.caption(f"On {counted(found['item'].nunique(), 'picture')} their captions change order "
               f"({counted(len(found), 'edited picture')}); largest change first.")  # fmt: skip
    for row in _page(found):
        pair_card({**row, "corpus": corpus_holding(made.corpus, str(row["item"]))})


def _page(found: pd.DataFrame) -> list[dict[str, Any]]:
    """A page of rows, with its pager where there are several."""
    pages = -(-min(len(found), _MOST) // _SHOWN)
    page = st.pagination(pages, key="systems.behind.page") if pages > 1 else 1
    first = _SHOWN * (min(int(page), pages) - 1)
    return [
        {str(name): value for name, value in row.items()}
        for row in found.iloc[first : first + _SHOWN].to_dict("records")
    ]

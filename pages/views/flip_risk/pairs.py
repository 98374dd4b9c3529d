"""The flipped pairs, side by side: the picture before and after, both captions, all four scores."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.flips.systems import flipped_pairs
from core.charts.canvas import thumbnail
from core.charts.style import signed
from core.corpora.pictures import read_item
from core.corpora.stacks import as_picture
from core.errors import InvariscopeError, ProbeRejected
from core.probes.titles import title
from pages.views.common.downloads import data_buttons
from pages.views.common.quota import make_counted
from pages.views.common.run_corpora import load_corpus
from pages.views.common.text import counted, safe
from pages.views.common.url_state import PageState
from pages.views.flip_risk.state import image_probes
from pages.views.probe_lab.state import shared

A_PAGE = 4


def draw_pairs(state: PageState, pairs: pd.DataFrame) -> None:
    """Draw the pairs whose order changed, those whose gap moved the most first."""
    marked = flipped_pairs(pairs)
    st.header("Flipped pairs", anchor=False)
    st.toggle("Count ties as flips", key=state.key("ties"), help="Equation 1 as printed: a lead that becomes a tie, or "
              "a tie that is broken, is a flip")  # fmt: skip
    mark = "flips" if state.get("ties") else "changes_sides"
    found = marked[marked[mark]].copy()
    if found.empty:
        st.info("No pair flipped: this evaluator kept the order on every picture that was scored.")
        return
    found = found.iloc[(found["gap_after"] - found["gap_before"]).abs().argsort()[::-1]]
    st.caption(f"{counted(len(found), 'pair')} of {counted(len(marked.dropna()), 'whole pair')}, largest change first.")
    pages = -(-len(found) // A_PAGE)
    page = st.pagination(pages, key="flip.page") if pages > 1 else 1
    page = min(int(page), pages)
    for position, row in enumerate(found.iloc[(page - 1) * A_PAGE : page * A_PAGE].to_dict("records")):
        with st.container(border=True, key=f"flip_pair_{position}"):
            pair_card({**row, "corpus": state.get("images")})
    data_buttons(found, "flipped-pairs", key="flip.pairs")


def pair_card(row: Mapping[Any, Any]) -> None:
    """Draw a picture before and after an edit beside both captions and all four scores.

    Args:
        row: of ``core.scoring.systems``; its corpus by the name under which the pages read it.
    """
    seen, words = st.columns([3, 4], gap="medium")
    with seen:
        pictures(str(row["corpus"]), str(row["item"]), str(row["probe"]))
    with words:
        st.markdown(f"**{safe(row['item'])}** · **{safe(title(row['probe']))}**: {_order(row['gap_before'])} → "
                    f"{_order(row['gap_after'])}")  # fmt: skip
        for name in ("a", "b"):
            before, after = row[f"{name}_before"], row[f"{name}_after"]
            st.markdown(f"**{name.upper()}** {before:.4f} → {after:.4f}")
            st.text(row[f"{name}_caption"])
        st.caption(f"Gap A − B: {signed(row['gap_before'], digits=4, unit='')} → "
                   f"{signed(row['gap_after'], digits=4, unit='')}")  # fmt: skip


def _order(gap: float) -> str:
    return "A ahead" if gap > 0 else "B ahead" if gap < 0 else "tie"


def pictures(corpus: str, item_id: str, probe: str = "") -> None:
    """Draw an item's picture, beside it what an edit makes of it where one is named; or say why that cannot be."""
    try:
        item = load_corpus(corpus).get(item_id)
        key = (corpus, item.id, item.label, item.category, None)
        bench = shared().bench(key, item, lambda: read_item(item).pixels)
        probes = [image_probes()[probe]] if probe else []
        make_counted(bench, probes)
        made = bench.make(probes[0]) if probes else None
    except (InvariscopeError, KeyError) as error:
        st.caption(safe(str(error), limit=300))
        return
    shown = [(bench.pixels, f"{item_id} as it is")]
    if made is not None:
        edited = bench.pixels if isinstance(made, ProbeRejected) or made.pixels is None else made.pixels
        shown.append((edited, f"{item_id} after {title(probe)}"))
    with st.container(horizontal=True, gap="small"):
        for pixels, alt in shown:
            st.image(thumbnail(as_picture(pixels), side=360), alt=alt, width=180)

"""Pictures of a leaderboard, and what a harmless edit makes of them beside the scores of two captions."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.charts.canvas import thumbnail
from core.charts.spec import signed
from core.corpora.item_pictures import as_picture
from core.errors import InvariscopeError
from core.probes import registry as probes
from core.probes.base import Axis, Edits, Expectation, Probe
from core.probes.titles import title
from pages.views.common.text import safe
from pages.views.probe_lab.lab_state import item_and_edit


def image_probes() -> dict[str, Probe]:
    """Edits of the image that must not matter, invisible edits included, in the order of the catalogue."""
    wanted = (Axis.SPATIAL, Axis.NULL)
    return {
        probe.name: probe
        for probe in sorted(probes.catalogue(), key=lambda each: each.axis is Axis.NULL)
        if probe.edits is Edits.IMAGE and probe.expectation is Expectation.INVARIANT and probe.axis in wanted
    }


def pair_card(row: Mapping[Any, Any]) -> None:
    """Draw a picture before and after an edit beside both captions and all four scores.

    Args:
        row: of ``core.features.systems.system_captions.swapped``; its corpus by the name under which the pages read it.
    """
    seen, words = st.columns([3, 4], gap="medium")
    with seen:
        pictures(str(row["corpus"]), str(row["item"]), str(row["probe"]))
    with words:
        st.markdown(
            f"**{safe(row['item'])}** · **{safe(title(row['probe']))}**: {_order(row['gap_before'])} → "
            f"{_order(row['gap_after'])}"
        )
        for name in ("a", "b"):
            before, after = row[f"{name}_before"], row[f"{name}_after"]
            st.markdown(f"**{name.upper()}** {before:.4f} → {after:.4f}")
            st.text(row[f"{name}_caption"])
        st.caption(
            f"Gap A − B: {signed(row['gap_before'], digits=4, unit='')} → {signed(row['gap_after'], digits=4, unit='')}"
        )


def _order(gap: float) -> str:
    return "A ahead" if gap > 0 else "B ahead" if gap < 0 else "tie"


def pictures(corpus: str, item_id: str, probe: str = "") -> None:
    """Draw an item's picture, beside it what an edit makes of it where one is named; or say why that cannot be."""
    try:
        before, after = item_and_edit(corpus, item_id, image_probes()[probe] if probe else None)
    except (InvariscopeError, KeyError) as error:
        st.caption(safe(str(error), limit=300))
        return
    shown = [(before, f"{item_id} as it is")]
    if probe:
        shown.append((before if after is None else after, f"{item_id} after {title(probe)}"))
    with st.container(horizontal=True, gap="small"):
        for pixels, alt in shown:
            st.image(thumbnail(as_picture(pixels), side=360), alt=alt, width=180)

"""The position map: how far the score moves with the object's place, drawn over the picture."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from core.charts.canvas import heat_over, thumbnail
from core.errors import InvariscopeError
from core.evaluators.pool import shared_pool
from core.scoring.position_map import PositionMap, position_map
from core.scoring.workbench import Workbench
from core.store.files import csv_text
from pages.views.common.downloads import counted_making
from pages.views.common.file_evaluators import stamps
from pages.views.common.text import counted, number, safe
from pages.views.probe_lab.asked import ask, asked
from pages.views.probe_lab.source import said_of
from pages.views.probe_lab.state import shared

SIDE = 560
"""Longest side at which the map is drawn, in px."""


def draw_places(bench: Workbench, caption: str, names: Sequence[str]) -> None:
    """Draw the maps where they are known, else the button that asks for them."""
    key = ("places", bench.image_key, bench.item.id, bench.item.mask, caption, tuple(names), stamps(names))
    kept = shared().maps.get(key)
    if kept is None and not asked("places", key):
        ask("Map the places", "places", key, icon=":material/grid_on:")
        st.caption("The object is put down on 7 × 7 places and scored at each, coarse places first.")
        return
    place = st.empty()
    if kept is None:
        try:
            kept_before = partial(shared().embeddings_of, bench)
            for found in position_map(bench, caption, names, pool=shared_pool(), cache=kept_before):
                _draw(place, bench, found)
                kept = found
        except InvariscopeError as error:
            st.info(safe(said_of(bench.item, str(error)), limit=400), icon=":material/select:")
            return
        assert kept is not None
        shared().embeddings.flush()
        shared().maps.put(key, kept)
    else:
        _draw(place, bench, kept)
    for name, sentence in kept.failures.items():
        st.warning(f"**{safe(name)}** did not score: {safe(sentence, limit=400)}", icon=":material/block:")
    st.caption(
        "%Δ from the unedited pair with the object's centroid in the cell; orange falls, blue rises, each evaluator on "
        "its own scale. A cell without a number would cover another object, or its baseline scores 0 or less."
    )
    done = kept
    st.download_button(
        "Places as CSV", counted_making(lambda: csv_text(done.rows_of_places()).encode("utf-8-sig")),
        f"{bench.item.corpus}-{bench.item.id}-places.csv", "text/csv",
        icon=":material/table:", on_click="ignore", key="lab.places.csv",
    )  # fmt: skip


def _draw(place: "st.delta_generator.DeltaGenerator", bench: Workbench, found: PositionMap) -> None:
    with place.container():
        cells = st.grid(min(len(found.percent), 3) or 1, min_column_width=260, gap="medium")
        small = thumbnail(bench.pixels, side=SIDE)
        scale = small.shape[1] / bench.pixels.shape[1]
        for name, values in found.percent.items():
            with cells.container(border=True):
                known = values[~np.isnan(values)]
                st.markdown(f"**{safe(name)}**")
                if not known.size:
                    st.caption("No place has a percent change here.")
                    continue
                reach = float(np.abs(known).max()) or 1.0
                picture = heat_over(small, found.columns * scale, found.rows * scale, values, reach=reach)
                said = f"{number(known.min(), digits=1)} to {number(known.max(), digits=1)} %"
                st.image(picture, width="stretch", alt=f"Percent change under {name} by the object's place: {said}")
                st.caption(f"{said}, {counted(known.size, 'place')}{'' if found.done else ', more to come'}")

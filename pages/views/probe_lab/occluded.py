"""Where the metric looks: what the score loses when a part of the picture is hidden, or a word left out."""

import numpy as np
import pandas as pd
import streamlit as st

from core.charts.canvas import heat_over, thumbnail
from core.errors import InvariscopeError
from core.evaluators.pool import shared_pool
from core.evaluators.references import references_of
from core.probes.base import Variant
from core.probes.pairs import subject_of
from core.scoring.occlusion import OcclusionMap, WordLoss, occlusion_map, word_losses
from core.scoring.workbench import Workbench
from core.statistics.changes import percent_change
from pages.views.common.file_evaluators import stamps
from pages.views.common.page_tables import draw_table
from pages.views.common.text import number, safe
from pages.views.probe_lab.asked import ask, asked
from pages.views.probe_lab.state import shared

SIDE = 560
"""Longest side at which a map is drawn, in px."""

Found = tuple[OcclusionMap, tuple[WordLoss, ...]]


def draw_occluded(bench: Workbench, sides: tuple[tuple[str, Variant | None, str], ...], evaluator: str) -> None:
    """Draw the maps of the original and of a variant on one scale, where they are known or asked for.

    Args:
        sides: (title, variant, caption), None for the unedited picture.
        evaluator: whose score.
    """
    keys = [
        ("occluded", bench.image(variant)[0], caption, bench.item.id, evaluator, stamps([evaluator]))
        for _, variant, caption in sides
    ]
    known = [shared().occluded.get(key) for key in keys]
    st.markdown("**What the score rests on**")
    if None in known and not asked("occluded", keys):
        ask("Hide part after part", "occluded", keys, icon=":material/visibility_off:")
        st.caption(
            "Each part of the picture is hidden under the picture’s mean colour, and each word of the caption left "
            "out; the change of the score is drawn. About 50 pictures are scored a side."
        )
        return
    try:
        with st.spinner(f"Hiding parts under {evaluator} …"):
            found = [
                each or shared().occluded.put(key, _find(bench, variant, caption, evaluator))
                for each, key, (_, variant, caption) in zip(known, keys, sides, strict=True)
            ]
    except InvariscopeError as error:
        st.warning(safe(str(error), limit=600))
        return
    _draw(bench, sides, found, evaluator)


def _find(bench: Workbench, variant: Variant | None, caption: str, evaluator: str) -> Found:
    pixels, subject = bench.image(variant)[1], subject_of(bench.item, caption)
    others = references_of(bench.item.captions, caption)
    with shared_pool().lease(evaluator) as loaded:
        seen = occlusion_map(loaded, pixels, caption, references=others)
        heard = word_losses(loaded, pixels, caption, language=subject.language, references=others)
    return seen, heard


def _draw(
    bench: Workbench, sides: tuple[tuple[str, Variant | None, str], ...], found: list[Found], evaluator: str
) -> None:
    changes = [_percent(seen) for seen, _ in found]
    sizes = np.abs(np.concatenate([each.ravel() for each in changes]))
    reach = float(np.nanmax(sizes)) if np.isfinite(sizes).any() else 0.0
    columns = st.columns(len(sides), gap="large")
    for column, (title, variant, _), percent, (_, heard) in zip(columns, sides, changes, found, strict=True):
        with column, st.container(border=True):
            st.markdown(f"**{safe(title)}**")
            small = thumbnail(bench.image(variant)[1], side=SIDE)
            if reach > 0:
                rows, across = (_middles(side, percent.shape[place]) for place, side in enumerate(small.shape[:2]))
                small = heat_over(small, across, rows, percent, reach=reach)
            st.image(small, width="stretch", alt=f"Percent change under {evaluator} when a part is hidden: {title}")
            _words(heard)
    st.caption(
        "%Δ of the score when the part is hidden, or the word left out: orange falls, so the score rests on it; blue "
        f"rises. One scale for both pictures, strongest at {number(reach, digits=1)} %. The parts that matter most are "
        "hidden quarter by quarter; of the others one number stands four times."
        if reach > 0
        else "The score moves under none of it, or there is no %Δ since it is 0 or less."
    )


def _percent(seen: OcclusionMap) -> np.ndarray:
    """%Δ from the whole picture to the one with the part hidden, float64 like the map."""
    return percent_change(seen.score - seen.loss, np.full(seen.loss.shape, seen.score))


def _middles(side: int, cells: int) -> np.ndarray:
    """Middle of each cell along a side, in pixels."""
    return (np.arange(cells) + 0.5) * side / cells


def _words(heard: tuple[WordLoss, ...]) -> None:
    if not heard:
        st.caption("A caption of one word has none that can be left out.")
        return
    rows = pd.DataFrame({"word": [each.word for each in heard], "change": [-each.loss for each in heard]})
    draw_table(
        rows, height=min(35 * (len(rows) + 1) + 3, 320),
        alt="Change of the score without each word",
        column_config={
            "word": "Word left out",
            "change": st.column_config.NumberColumn("Δ", format="%+.4f", help="On the evaluator's own scale"),
        },
    )  # fmt: skip

"""What the metric saw: the original and one variant side by side, as they enter the evaluator."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from core.charts.canvas import cropped_away, jpeg, thumbnail
from core.corpora.stacks import as_picture
from core.errors import InvariscopeError
from core.evaluators.base import Sight
from core.evaluators.pool import shared_pool
from core.probes.base import IDENTITY, Probe, Variant
from core.probes.titles import title
from core.scoring.lab import see
from core.scoring.lab_result import LabResult
from core.scoring.workbench import Workbench
from pages.views.common.before_after import offer
from pages.views.common.page_tables import draw_table
from pages.views.common.text import as_percent, number, safe
from pages.views.common.url_state import PageState
from pages.views.probe_lab.occluded import draw_occluded

_OVER = 720
"""Longest side, in px, of pictures that lie over each other."""


def draw_sight(state: PageState, bench: Workbench, result: LabResult, probes: Sequence[Probe]) -> None:
    """Draw what an evaluator saw of the unedited pair and of a chosen variant."""
    variants = bench.variants(probes, result.caption)
    if not result.evaluators or not variants:
        st.caption("Choose a probe that can be applied, and an evaluator.")
        return
    left, right = st.columns(2)
    evaluator = state.choose(left, "looker", "Evaluator", result.evaluators)
    chosen = state.choose(right, "variant", "Variant", tuple(variants), format_func=title)
    _over(bench, variants[chosen])
    rows = {row.probe: row for row in result.of(evaluator)}
    sides = (("Original", IDENTITY, None), (title(chosen), chosen, variants[chosen]))
    for column, (said, probe, variant) in zip(st.columns(2, gap="large"), sides, strict=True):
        with column, st.container(border=True):
            st.markdown(f"**{safe(said)}** · score **{number(rows[probe].score, digits=4)}**")
            _side(bench, variant, rows[probe].caption or result.caption, evaluator)
    told = tuple((said, variant, rows[probe].caption or result.caption) for said, probe, variant in sides)
    if not bench.item.frames:
        draw_occluded(bench, told, evaluator)


def _over(bench: Workbench, variant: Variant) -> None:
    """The picture and its variant over each other, to see what the edit changed."""
    edited = variant.pixels
    if edited is not None:
        what = bench.item.label or "the picture"
        offer(lambda: (_small(bench.pixels), _small(edited)), alt=what, key="lab", on=True)


def _small(pixels: np.ndarray) -> bytes:
    return jpeg(thumbnail(as_picture(pixels), side=_OVER))


def _side(bench: Workbench, variant: Variant | None, caption: str, evaluator: str) -> None:
    try:
        sight = see(bench, variant, caption, evaluator, pool=shared_pool())
    except InvariscopeError as error:
        st.warning(safe(str(error), limit=600))
        return
    pixels = as_picture(bench.image(variant)[1])
    with st.container(key=f"seen_{'variant' if variant else 'original'}"):
        st.image(thumbnail(cropped_away(pixels, sight.crop), side=640), width="stretch",
                 alt="The picture; what the evaluator's crop throws away is darkened")  # fmt: skip
    if not bench.item.frames:
        _inside(sight, pixels.shape[1], pixels.shape[0])
    views = st.container(horizontal=True, gap="small")
    for said, view in sight.views:
        views.image(thumbnail(view, side=224), caption=safe(said), width=160,
                    alt=f"What enters the network: {said}")  # fmt: skip
    st.caption("Prompt" + (f", {sight.tokens} tokens" if sight.tokens is not None else ""))
    with st.container(key=f"prompt_{'variant' if variant else 'original'}"):
        st.text(sight.prompt)
    if sight.truncated:
        st.warning(f"Cut off, never read: {safe(sight.truncated)}", icon=":material/content_cut:")
    if sight.evidence:
        evidence = pd.DataFrame(sight.evidence, columns=["Evidence", "Value"])
        draw_table(evidence, alt="What the score rests on",
                   column_config={"Value": st.column_config.NumberColumn(format="%.3f")})  # fmt: skip
    for note in sight.notes:
        st.caption(safe(note, limit=400))


def _inside(sight: Sight, width: int, height: int) -> None:
    kept = sight.crop.coverage(width, height) if sight.crop else 1.0
    said = [f"The crop keeps {as_percent(kept)} of the picture"]
    if sight.object_inside is not None:
        said.append(f"{as_percent(sight.object_inside)} of the object")
    st.markdown(" and ".join(said) + ".")
    if sight.object_inside is not None and sight.object_inside < 0.9:
        st.warning("The preprocessing cuts into the object: this shift is partly its doing.", icon=":material/crop:")

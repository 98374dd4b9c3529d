"""What a reader looks at closely in the Probe lab: what a metric saw of a variant, and where it looks."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from core.charts.canvas import cropped_away, heat_over, jpeg, thumbnail
from core.corpora.item_pictures import as_picture
from core.errors import InvariscopeError
from core.evaluators.base import Sight
from core.evaluators.pool import shared_pool
from core.evaluators.references import references_of
from core.features.lab.lab import LabResult, see
from core.features.lab.occlusion import OcclusionMap, WordLoss, occlusion_map, word_losses
from core.probes.base import IDENTITY, Probe, Variant
from core.probes.pairs import subject_of
from core.probes.titles import title
from core.scoring.workbench import Workbench
from core.statistics.changes import percent_change
from pages.views.common.page_tables import draw_table
from pages.views.common.text import as_percent, number, safe
from pages.views.common.url_state import PageState
from pages.views.failures.failure_pictures import best_split, offer
from pages.views.probe_lab.lab_searches import MAP_SIDE, ask, asked
from pages.views.probe_lab.lab_state import shared, stamps

Found = tuple[OcclusionMap, tuple[WordLoss, ...]]


def draw_occluded(bench: Workbench, sides: tuple[tuple[str, Variant | None, str], ...], evaluator: str) -> None:
    """Draw the maps of the original and of a variant on one scale, where they are known or asked for.

    Args:
        sides: (title, variant, caption), None for the unedited picture.
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
    _draw_hidden(bench, sides, found, evaluator)


def _find(bench: Workbench, variant: Variant | None, caption: str, evaluator: str) -> Found:
    pixels, subject = bench.image(variant)[1], subject_of(bench.item, caption)
    others = references_of(bench.item.captions, caption)
    with shared_pool().lease(evaluator) as loaded:
        seen = occlusion_map(loaded, pixels, caption, references=others)
        heard = word_losses(loaded, pixels, caption, language=subject.language, references=others)
    return seen, heard


def _draw_hidden(
    bench: Workbench, sides: tuple[tuple[str, Variant | None, str], ...], found: list[Found], evaluator: str
) -> None:
    changes = [_percent(seen) for seen, _ in found]
    sizes = np.abs(np.concatenate([each.ravel() for each in changes]))
    reach = float(np.nanmax(sizes)) if np.isfinite(sizes).any() else 0.0
    columns = st.columns(len(sides), gap="large")
    for column, (name, variant, _), percent, (_, heard) in zip(columns, sides, changes, found, strict=True):
        with column, st.container(border=True):
            st.markdown(f"**{safe(name)}**")
            small = thumbnail(bench.image(variant)[1], side=MAP_SIDE)
            if reach > 0:
                rows, across = (_middles(side, percent.shape[place]) for place, side in enumerate(small.shape[:2]))
                small = heat_over(small, across, rows, percent, reach=reach)
            st.image(small, width="stretch", alt=f"Percent change under {evaluator} when a part is hidden: {name}")
            _words(heard)
    st.caption(
        "% change of the score when the part is hidden, or the word left out: orange falls, so the score rests on "
        "it; blue "
        f"rises. One scale for both pictures, strongest at {number(reach, digits=1)} %. The parts that matter most are "
        "hidden quarter by quarter; of the others one number stands four times."
        if reach > 0
        else "The score moves under none of it, or there is no % change since it is 0 or less."
    )


def _percent(seen: OcclusionMap) -> np.ndarray:
    """% change from the whole picture to the one with the part hidden, float64 like the map."""
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
        rows,
        height=min(35 * (len(rows) + 1) + 3, 320),
        alt="Change of the score without each word",
        column_config={
            "word": "Word left out",
            "change": st.column_config.NumberColumn("Δ", format="%+.4f", help="On the metric's own scale"),
        },
    )


_OVER = 720  # longest side, in px, of pictures that lie over each other


def draw_sight(state: PageState, bench: Workbench, result: LabResult, probes: Sequence[Probe]) -> None:
    """Draw what an evaluator saw of the unedited pair and of a chosen variant."""
    variants = bench.variants(probes, result.caption)
    if not result.evaluators or not variants:
        st.caption("Choose an edit that can be made, and a metric.")
        return
    left, right = st.columns(2)
    evaluator = state.choose(left, "looker", "Metric", result.evaluators)
    offered = tuple(variants)
    opens = _furthest(result, evaluator, variants)
    chosen = state.choose(
        right, "variant", "Edit", (opens, *(each for each in offered if each != opens)), format_func=title
    )
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


def _furthest(result: LabResult, evaluator: str, variants: Mapping[str, Variant]) -> str:
    """The edit of the picture that moves the evaluator furthest: what is looked at first."""
    edited = [each for each, made in variants.items() if made.pixels is not None] or list(variants)
    sizes = {row.probe: abs(row.percent or 0.0) for row in result.of(evaluator)}
    return max(edited, key=lambda each: sizes.get(each, 0.0))


def _over(bench: Workbench, variant: Variant) -> None:
    """The picture and its variant over each other, to see what the edit changed."""
    edited = variant.pixels
    if edited is not None:
        what = bench.item.label or "the picture"
        masks = [each.to_array() if each else None for each in (bench.item.mask, bench.object_mask(variant))]
        offer(lambda: (_small(bench.pixels), _small(edited)), alt=what, key="lab", on=True, split=best_split(*masks))


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
        st.image(
            thumbnail(cropped_away(pixels, sight.crop), side=640),
            width="stretch",
            alt="The picture; what the metric's crop throws away is darkened",
        )
    if not bench.item.frames:
        _inside(sight, pixels.shape[1], pixels.shape[0])
    views = st.container(horizontal=True, gap="small")
    for said, view in sight.views:
        views.image(thumbnail(view, side=224), caption=safe(said), width=160, alt=f"What enters the network: {said}")
    st.caption("Prompt" + (f", {sight.tokens} tokens" if sight.tokens is not None else ""))
    with st.container(key=f"prompt_{'variant' if variant else 'original'}"):
        st.text(sight.prompt)
    if sight.truncated:
        st.warning(f"Cut off, never read: {safe(sight.truncated)}", icon=":material/content_cut:")
    if sight.evidence:
        evidence = pd.DataFrame(sight.evidence, columns=["Evidence", "Value"])
        draw_table(
            evidence,
            alt="What the score rests on",
            column_config={"Value": st.column_config.NumberColumn(format="%.3f")},
        )
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

"""What a reader asks the Probe lab for by a click: where a metric looks, what it saw, the position map, the worst edit.

Each is worked out on the next runs of the page, until it is known: a click alone lasts one run, and a page that writes
its link may run again before the work is done.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from core.charts.canvas import cropped_away, heat_over, jpeg, thumbnail
from core.charts.style import signed
from core.corpora.images import encode_png
from core.corpora.item_pictures import as_picture
from core.errors import InvariscopeError
from core.evaluators.base import Sight
from core.evaluators.pool import shared_pool
from core.evaluators.references import references_of
from core.features.lab.lab import LabResult, see
from core.features.lab.occlusion import OcclusionMap, WordLoss, occlusion_map, word_losses
from core.features.lab.position_map import PositionMap, position_map
from core.features.lab.worst_edit import (
    CANDIDATES,
    DEGREES,
    LEAST_QUALITY,
    OFFSET,
    ZOOM,
    HarmlessEdit,
    Worst,
    candidates,
    under,
    worst_edit,
)
from core.probes.base import IDENTITY, Probe, Variant
from core.probes.pairs import subject_of
from core.probes.titles import title
from core.scoring.workbench import Workbench
from core.statistics.changes import percent_change
from core.store.text_files import csv_text
from pages.views.common.page_tables import draw_table
from pages.views.common.text import as_percent, counted, number, safe
from pages.views.common.url_state import PageState
from pages.views.failures.failure_pictures import offer
from pages.views.probe_lab.lab_picture import said_of
from pages.views.probe_lab.lab_state import shared, stamps


def ask(label: str, what: str, key: object, *, icon: str) -> None:
    """Draw the button that asks for something.

    Args:
        label: on the button.
        what: short name of what is asked for; names the button too.
        key: of this very question, e.g. picture, caption and evaluator.
        icon: beside the label.
    """
    st.button(label, icon=icon, key=f"lab.{what}", on_click=_keep, args=(what, key))


def asked(what: str, key: object) -> bool:
    """Whether the reader asked this very question last."""
    return bool(st.session_state.get(f"asked.{what}") == key)


def _keep(what: str, key: object) -> None:
    st.session_state[f"asked.{what}"] = key


MAP_SIDE = 560
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
        rows,
        height=min(35 * (len(rows) + 1) + 3, 320),
        alt="Change of the score without each word",
        column_config={
            "word": "Word left out",
            "change": st.column_config.NumberColumn("Δ", format="%+.4f", help="On the evaluator's own scale"),
        },
    )


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
                _draw_map(place, bench, found)
                kept = found
        except InvariscopeError as error:
            st.info(safe(said_of(bench.item, str(error)), limit=400), icon=":material/select:")
            return
        assert kept is not None
        shared().embeddings.flush()
        shared().maps.put(key, kept)
    else:
        _draw_map(place, bench, kept)
    for name, sentence in kept.failures.items():
        st.warning(f"**{safe(name)}** did not score: {safe(sentence, limit=400)}", icon=":material/block:")
    st.caption(
        "%Δ from the unedited pair with the object's centroid in the cell; orange falls, blue rises, each evaluator on "
        "its own scale. A cell without a number would cover another object, or its baseline scores 0 or less."
    )
    done = kept
    st.download_button(
        "Places as CSV",
        lambda: csv_text(done.rows_of_places()).encode("utf-8-sig"),
        f"{bench.item.corpus}-{bench.item.id}-places.csv",
        "text/csv",
        icon=":material/table:",
        on_click="ignore",
        key="lab.places.csv",
    )


def _draw_map(place: "st.delta_generator.DeltaGenerator", bench: Workbench, found: PositionMap) -> None:
    with place.container():
        cells = st.grid(min(len(found.percent), 3) or 1, min_column_width=260, gap="medium")
        small = thumbnail(bench.pixels, side=MAP_SIDE)
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
        st.image(
            thumbnail(cropped_away(pixels, sight.crop), side=640),
            width="stretch",
            alt="The picture; what the evaluator's crop throws away is darkened",
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


EDIT_SIDE = 420
"""Longest side at which an edit is drawn, in px."""

BOUNDS = (
    f"turned by up to {DEGREES:g}°, enlarged or shrunk by up to {100 * ZOOM:g} %, moved by up to {100 * OFFSET:g} % of "
    f"its sides, saved as JPEG of quality {LEAST_QUALITY} or more"
)

Table = tuple[tuple[Worst, ...], pd.DataFrame]


def draw_worst(bench: Workbench, caption: str, names: Sequence[str]) -> None:
    """Draw what was found where it is known, else the button that starts the search."""
    key = ("worst", bench.image_key, bench.item.id, caption, tuple(names), stamps(names))
    kept = shared().worst.get(key)
    if kept is None and not asked("worst", key):
        ask("Search", "worst", key, icon=":material/search:")
        st.caption(
            f"The picture may be {BOUNDS}, all at once. {CANDIDATES} such edits are tried for each of "
            f"{counted(len(names), 'evaluator')}; the one that moves its score furthest is shown."
        )
        return
    if kept is None:
        try:
            kept = shared().worst.put(key, _search(bench, caption, names))
        except InvariscopeError as error:
            st.warning(safe(str(error), limit=600))
            return
    _draw_edits(bench, *kept)


def _search(bench: Workbench, caption: str, names: Sequence[str]) -> Table:
    bar = st.progress(0.0, text="Searching …")
    others = references_of(bench.item.captions, caption)
    found: list[Worst] = []
    for place, name in enumerate(names):

        def told(done: int, total: int, name: str = name, place: int = place) -> None:
            bar.progress((place + done / total) / len(names), text=f"Searching under {name} …")

        with shared_pool().lease(name) as loaded:
            found.append(worst_edit(loaded, bench.pixels, caption, seed=bench.seed, references=others, progress=told))
    table = _crossed(bench, caption, found)
    bar.empty()
    return tuple(found), table


def _crossed(bench: Workbench, caption: str, found: Sequence[Worst]) -> pd.DataFrame:
    """Every edit that was found under every evaluator: one row an edit, a column of %Δ an evaluator."""
    edits, others = [each.edit for each in found], references_of(bench.item.captions, caption)
    rows: dict[str, list[object]] = {
        "worst for": [each.evaluator for each in found],
        "edit": [str(edit) for edit in edits],
    }
    for each in found:
        with shared_pool().lease(each.evaluator) as loaded:
            scores = under(loaded, bench.pixels, caption, edits, references=others)
        rows[each.evaluator] = list(percent_change(scores, [each.before] * len(found)))
    return pd.DataFrame(rows)


def _png(bench: Workbench, edit: HarmlessEdit) -> bytes:
    return encode_png(edit.apply(bench.pixels))


def _draw_edits(bench: Workbench, found: Sequence[Worst], table: pd.DataFrame) -> None:
    stem = f"{bench.item.corpus}-{bench.item.id}"
    cells = st.grid(min(len(found), 3) or 1, min_column_width=260, gap="medium")
    for each in found:
        said, moved = str(each.edit), signed(each.percent, digits=2)
        middle = number(float(pd.Series(each.sizes).median()))
        with cells.container(border=True):
            st.markdown(f"**{safe(each.evaluator)}** · **{moved}**")
            picture = thumbnail(each.edit.apply(bench.pixels), side=EDIT_SIDE)
            st.image(picture, width="stretch", alt=f"The picture {said}: {moved} under {each.evaluator}")
            st.caption(
                f"{said[0].upper()}{said[1:]}. Score {number(each.before)} before, {number(each.after)} after; the "
                f"median of the {each.scored} edits that were tried moves it by {middle} %."
            )
            st.download_button(
                "This picture as PNG",
                partial(_png, bench, each.edit),
                f"{stem}-worst-{each.evaluator}.png",
                "image/png",
                icon=":material/image:",
                on_click="ignore",
                key=f"lab.worst.png.{each.evaluator}",
            )
    numbers = {name: st.column_config.NumberColumn(name, format="%+.2f", help="%Δ") for name in table.columns[2:]}
    draw_table(
        table,
        alt="Every edit that was found, under every evaluator",
        column_config={"worst for": "Worst for", "edit": st.column_config.TextColumn("Edit", width="large"), **numbers},
    )
    st.caption(
        "A lower bound for each evaluator: an edit that moves its score at least so far exists, and a longer search "
        "may find a worse one. Differential evolution, seeded by the run and the picture, so that the same search "
        "finds the same edit."
    )
    st.download_button(
        "Every edit that was tried as CSV",
        lambda: csv_text(candidates(found)).encode("utf-8-sig"),
        f"{stem}-worst-edits.csv",
        "text/csv",
        icon=":material/table:",
        on_click="ignore",
        key="lab.worst.csv",
        help="Each with the evaluator, its five numbers in full, both scores and %Δ, so that it can be made again",
    )

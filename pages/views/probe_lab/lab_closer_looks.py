"""What a reader looks at closely in the Probe lab: what a metric saw and where it looks, places, the worst edit.

A search goes on in the background once it was asked for, and is drawn as far as it is known: whoever leaves the page
finds it further, or done, on return.
"""

import time
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.charts.canvas import cropped_away, heat_over, jpeg, thumbnail
from core.charts.spec import signed
from core.corpora.images import encode_png
from core.corpora.item_pictures import as_picture
from core.errors import InvariscopeError
from core.evaluators.pool import shared_pool
from core.evaluators.references import references_of
from core.features.lab import edited_copies
from core.features.lab.lab import LabResult, see
from core.features.lab.position_map import AT_ONCE, STEPS, PositionMap, position_map
from core.probes.base import IDENTITY, Probe, Variant
from core.probes.pairs import subject_of
from core.probes.titles import title
from core.scoring.workbench import Workbench
from core.statistics.changes import percent_change
from pages.views.common.collect import csv_bytes, file_button
from pages.views.common.open_runs import Shelf
from pages.views.common.page_drawings import NUMBER, TEXT, draw_table
from pages.views.common.text import as_percent, counted, number, safe
from pages.views.common.url_state import PageState
from pages.views.failures.failure_pictures import best_split, offer
from pages.views.probe_lab.lab_picture import said_of
from pages.views.probe_lab.lab_state import Shared, shared, stamps
from pages.views.probe_lab.lab_work import Tell


def ask(label: str, what: str, key: object, *, icon: str) -> None:
    """Draw the button that asks for something. ``what``: its short name; ``key``: of this very question."""

    def keep() -> None:
        st.session_state[f"asked.{what}"] = key
        asked_last(what)

    st.button(label, icon=icon, key=f"lab.{what}", on_click=keep)


def asked(what: str, key: object) -> bool:
    """Whether the reader asked this very question last."""
    return bool(st.session_state.get(f"asked.{what}") == key)


_LAST = "lab.asked.last"


def asked_last(what: str | None = None) -> str:
    """What the reader asked for last, whose tab opens on return; with a text, note that it is this."""
    if what is not None:
        st.session_state[_LAST] = what
    return str(st.session_state.get(_LAST, ""))


MAP_SIDE = 560  # longest side at which a map is drawn, in px
LOOK_S = 0.5  # seconds between two looks at what is worked out
A_SCORE_S = 0.1  # seconds that a score takes, for the estimate before the first one is in


def follow(*parts: Iterator[None]) -> None:
    """Draw parts of the page on, by turns, until nothing of them is worked out any more; the work goes on without."""
    going = list(parts)
    while going := [each for each in going if next(each, True) is None]:
        time.sleep(LOOK_S / len(going))


def _work(
    home: DeltaGenerator,
    what: str,
    key: Hashable,
    kept: Shelf[Any],
    button: tuple[str, str, str],
    make: Callable[[Tell], Any],
    draw: Callable[[Any], None],
    scores: int,
) -> Generator[None, None, Any]:
    """What is kept of a question; else work it out in the background and draw what is known of it; None where nobody
    asked, with the button that asks: its label, its icon, what is told below it. ``scores``: how many it takes."""
    if (made := kept.get(key)) is not None:
        return made
    if not asked(what, key):
        label, icon, told = button
        with home:
            ask(label, what, key, icon=icon)
            st.caption(f"{told} It takes about {scores * A_SCORE_S:.0f} s, and goes on while you look elsewhere.")
        return None
    who = str(st.session_state.setdefault("lab.reader", uuid4().hex))
    work = shared().works.of(key, make, who)

    def leave() -> None:
        work.leave(who)
        st.session_state.pop(f"asked.{what}", None)

    bar, stop, place = home.empty(), home.empty(), home.empty()
    stop.button("Stop", key=f"lab.{what}.stop", icon=":material/stop:", on_click=leave)
    drawn = None
    while not work.over.is_set():
        said = "Others’ work comes first …"
        if (left := work.seconds_left(scores * A_SCORE_S)) is not None:
            about = f"{max(round(left), 1)} s" if left < 90 else f"{round(left / 60)} min"
            said = f"About {about} left; it goes on if you leave."
        bar.progress(min(work.share, 1.0), text=said)
        if work.partial is not drawn:
            drawn = work.partial
            with place.container():
                draw(drawn)
        yield
    for each in (bar, stop, place):
        each.empty()
    if work.made is None:
        st.session_state.pop(f"asked.{what}", None)
        raise InvariscopeError(work.error or "it was stopped; ask again to begin anew")
    return work.made


def draw_places(home: DeltaGenerator, bench: Workbench, caption: str, names: Sequence[str]) -> Iterator[None]:
    """Draw the maps as far as they are known, else the button that asks for them; goes on where it is told to."""
    key = ("places", bench.image_key, bench.item.id, bench.item.mask, caption, tuple(names), stamps(names))
    told = f"The object is put down on {STEPS} × {STEPS} places and scored at each, coarse places first."
    button = ("Map the places", ":material/grid_on:", told)
    make = partial(_map, shared(), key, bench, caption, names)
    draw, scores = partial(_draw_map, bench), len(names) * STEPS**2
    try:
        kept = yield from _work(home, "places", key, shared().maps, button, make, draw, scores)
    except InvariscopeError as error:
        home.info(safe(said_of(bench.item, str(error)), limit=400), icon=":material/select:")
        return
    if kept is None:
        return
    with home:
        _draw_map(bench, kept)
        for name, sentence in kept.failures.items():
            st.warning(f"**{safe(name)}** did not score: {safe(sentence, limit=400)}", icon=":material/block:")
        st.caption(
            "% change from the unedited pair with the object's centroid in the cell; orange falls, blue rises, each "
            "metric on its own scale. A cell without a number would cover another object, or its baseline scores 0 "
            "or less."
        )
        name = f"{_stem(bench)}-places.csv"
        file_button("Places as CSV", lambda: csv_bytes(kept.rows_of_places()), name, icon="table", key="lab.places.csv")


def _map(held: Shared, key: Hashable, bench: Workbench, caption: str, names: Sequence[str], tell: Tell) -> PositionMap:
    """Runs in its own thread: nothing of Streamlit is called here."""
    known = partial(held.embeddings_of, bench)
    for found in position_map(bench, caption, names, pool=shared_pool(), cache=known):
        tell(found, found.share)
    held.embeddings.flush()
    return held.maps.put(key, found)


def _draw_map(bench: Workbench, found: PositionMap) -> None:
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


EDIT_SIDE = 420  # longest side at which an edit is drawn, in px

BOUNDS = (
    f"turned by up to {edited_copies.DEGREES:g}°, enlarged or shrunk by up to {100 * edited_copies.ZOOM:g} %, moved "
    f"by up to {100 * edited_copies.OFFSET:g} % of its sides, saved as JPEG of quality "
    f"{edited_copies.LEAST_QUALITY} or more"
)

Table = tuple[tuple[edited_copies.Worst, ...], pd.DataFrame]


def draw_worst(home: DeltaGenerator, bench: Workbench, caption: str, names: Sequence[str]) -> Iterator[None]:
    """Draw what was found so far, else the button that starts the search; goes on where it is told to."""
    key = ("worst", bench.image_key, bench.item.id, caption, tuple(names), stamps(names))
    told = (
        f"The picture may be {BOUNDS}, all at once. {edited_copies.CANDIDATES} such edits are tried for each of "
        f"{counted(len(names), 'metric')}; the one that changes its score most is shown."
    )
    make = partial(_search, shared(), key, bench, caption, names)
    draw, scores = partial(_draw_cards, bench, done=False), len(names) * edited_copies.CANDIDATES
    button = ("Search", ":material/search:", told)
    try:
        kept = yield from _work(home, "worst", key, shared().worst, button, make, draw, scores)
    except InvariscopeError as error:
        home.warning(safe(str(error), limit=600))
        return
    if kept is not None:
        with home:
            _draw_edits(bench, *kept)


def _search(held: Shared, key: Hashable, bench: Workbench, caption: str, names: Sequence[str], tell: Tell) -> Table:
    """Runs in its own thread, two evaluators at a time: nothing of Streamlit is called here."""
    others, lock = references_of(bench.item.captions, caption), Lock()
    so_far = dict[str, edited_copies.Worst]()

    def show(found: edited_copies.Worst) -> None:
        with lock:
            so_far[found.evaluator] = found
            tried = sum(len(each.candidates) for each in so_far.values())
            tell(
                tuple(so_far.values()), 0.95 * tried / (len(names) * edited_copies.CANDIDATES)
            )  # the table is left to make

    def search(name: str) -> edited_copies.Worst:
        with shared_pool().lease(name) as loaded:
            return edited_copies.worst_edit(
                loaded, bench.pixels, caption, seed=bench.seed, references=others, show=show
            )

    with ThreadPoolExecutor(AT_ONCE) as workers:
        found = tuple(workers.map(search, names))
    edits = [each.edit for each in found]
    # one row an edit, a column of % change an evaluator
    rows: dict[str, list[object]] = {"worst for": [each.evaluator for each in found], "edit": list(map(str, edits))}
    for each in found:
        with shared_pool().lease(each.evaluator) as loaded:
            scores = edited_copies.under(loaded, bench.pixels, caption, edits, references=others)
        rows[each.evaluator] = list(percent_change(scores, [each.before] * len(found)))
    return held.worst.put(key, (found, pd.DataFrame(rows)))


def _png(bench: Workbench, edit: edited_copies.HarmlessEdit) -> bytes:
    return encode_png(edit.apply(bench.pixels))


def _stem(bench: Workbench) -> str:
    return f"{bench.item.corpus}-{bench.item.id}"


def _draw_cards(bench: Workbench, found: Sequence[edited_copies.Worst], *, done: bool) -> None:
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
            if not done:
                continue
            file_button(
                "This picture as PNG",
                partial(_png, bench, each.edit),
                f"{_stem(bench)}-worst-{each.evaluator}.png",
                icon="image",
                key=f"lab.worst.png.{each.evaluator}",
            )


def _draw_edits(bench: Workbench, found: Sequence[edited_copies.Worst], table: pd.DataFrame) -> None:
    _draw_cards(bench, found, done=True)
    numbers = {name: NUMBER(name, format="%+.2f", help="% change") for name in table.columns[2:]}
    alt = "Every edit that was found, under every metric"
    draw_table(table, alt=alt, column_config={"worst for": "Worst for", "edit": TEXT("Edit", width="large"), **numbers})
    st.caption(
        "A lower bound for each metric: an edit that moves its score at least so far exists, and a longer search "
        "may find a worse one. Differential evolution, seeded by the run and the picture, so that the same search "
        "finds the same edit."
    )
    file_button(
        "Every edit that was tried as CSV",
        lambda: csv_bytes(edited_copies.candidates(found)),
        f"{_stem(bench)}-worst-edits.csv",
        icon="table",
        key="lab.worst.csv",
        help="Each with the metric, its five numbers in full, both scores and % change, so that it can be made again",
    )


Found = tuple[edited_copies.OcclusionMap, tuple[edited_copies.WordLoss, ...]]


def _find(bench: Workbench, variant: Variant | None, caption: str, evaluator: str) -> Found:
    pixels, subject = bench.image(variant)[1], subject_of(bench.item, caption)
    others = references_of(bench.item.captions, caption)
    with shared_pool().lease(evaluator) as loaded:
        seen = edited_copies.occlusion_map(loaded, pixels, caption, references=others)
        heard = edited_copies.word_losses(loaded, pixels, caption, language=subject.language, references=others)
    return seen, heard


def _draw_hidden(
    bench: Workbench, sides: tuple[tuple[str, Variant | None, str], ...], found: list[Found], evaluator: str
) -> None:
    # % change from the whole picture to the one with the part hidden, float64 like the map
    changes = [percent_change(seen.score - seen.loss, np.full(seen.loss.shape, seen.score)) for seen, _ in found]
    sizes = np.abs(np.concatenate([each.ravel() for each in changes]))
    reach = float(np.nanmax(sizes)) if np.isfinite(sizes).any() else 0.0
    columns = st.columns(len(sides), gap="large")
    for column, (name, variant, _), percent, (_, heard) in zip(columns, sides, changes, found, strict=True):
        with column, st.container(border=True):
            st.markdown(f"**{safe(name)}**")
            small = thumbnail(bench.image(variant)[1], side=MAP_SIDE)
            if reach > 0:
                both = zip(small.shape[:2], percent.shape, strict=True)  # the middles of the cells along a side
                rows, across = ((np.arange(cells) + 0.5) * side / cells for side, cells in both)
                small = heat_over(small, across, rows, percent, reach=reach)
            st.image(small, width="stretch", alt=f"Percent change under {evaluator} when a part is hidden: {name}")
            if not heard:
                st.caption("A caption of one word has none that can be left out.")
                continue
            words = pd.DataFrame({"word": [each.word for each in heard], "change": [-each.loss for each in heard]})
            draw_table(
                words,
                height=min(35 * (len(words) + 1) + 3, 320),
                alt="Change of the score without each word",
                column_config={
                    "word": "Word left out",
                    "change": NUMBER("Δ", format="%+.4f", help="On the metric's own scale"),
                },
            )
    st.caption(
        "% change of the score when the part is hidden, or the word left out: orange falls, so the score rests on it; "
        f"blue rises. One scale for both pictures, strongest at {number(reach, digits=1)} %. The parts that matter "
        "most are hidden quarter by quarter; of the others one number stands four times."
        if reach > 0
        else "The score moves under none of it, or there is no % change since it is 0 or less."
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
    edited = [each for each, made in variants.items() if made.pixels is not None] or list(variants)
    sizes = {row.probe: abs(row.percent or 0.0) for row in result.of(evaluator)}
    opens = max(edited, key=lambda each: sizes.get(each, 0.0))
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
        keys = [
            ("occluded", bench.image(variant)[0], caption, bench.item.id, evaluator, stamps([evaluator]))
            for _, variant, caption in told
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
                    for each, key, (_, variant, caption) in zip(known, keys, told, strict=True)
                ]
        except InvariscopeError as error:
            st.warning(safe(str(error), limit=600))
            return
        _draw_hidden(bench, told, found, evaluator)


def _over(bench: Workbench, variant: Variant) -> None:
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
        alt = "The picture; what the metric's crop throws away is darkened"
        st.image(thumbnail(cropped_away(pixels, sight.crop), side=640), width="stretch", alt=alt)
    if not bench.item.frames:
        kept = sight.crop.coverage(pixels.shape[1], pixels.shape[0]) if sight.crop else 1.0
        inside = [f"The crop keeps {as_percent(kept)} of the picture"]
        if sight.object_inside is not None:
            inside.append(f"{as_percent(sight.object_inside)} of the object")
        st.markdown(" and ".join(inside) + ".")
        if sight.object_inside is not None and sight.object_inside < 0.9:
            st.warning(
                "The preprocessing cuts into the object: a shift may be partly its doing.", icon=":material/crop:"
            )
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
        draw_table(evidence, alt="What the score rests on", column_config={"Value": NUMBER(format="%.3f")})
    for note in sight.notes:
        st.caption(safe(note, limit=400))

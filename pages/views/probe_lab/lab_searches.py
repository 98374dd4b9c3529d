"""Searches that a reader asks the Probe lab for: the map of an object's places, and the worst harmless edit.

Each goes on in the background once it was asked for, and is drawn as far as it is known: whoever leaves the page finds
it further, or done, on return.
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

from core.charts.canvas import heat_over, thumbnail
from core.charts.spec import signed
from core.corpora.images import encode_png
from core.errors import InvariscopeError
from core.evaluators.pool import shared_pool
from core.evaluators.references import references_of
from core.features.lab.position_map import AT_ONCE, STEPS, PositionMap, position_map
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
from core.scoring.workbench import Workbench
from core.statistics.changes import percent_change
from core.store.text_files import csv_text
from pages.views.common.collect import file_button
from pages.views.common.page_tables import draw_table
from pages.views.common.text import counted, number, safe
from pages.views.probe_lab.lab_picture import said_of
from pages.views.probe_lab.lab_state import Shared, shared, stamps
from pages.views.probe_lab.lab_work import Tell, Work


def ask(label: str, what: str, key: object, *, icon: str) -> None:
    """Draw the button that asks for something.

    Args:
        what: short name of what is asked for; names the button too.
        key: of this very question, e.g. picture, caption and evaluator.
    """
    st.button(label, icon=icon, key=f"lab.{what}", on_click=_keep, args=(what, key))


def asked(what: str, key: object) -> bool:
    """Whether the reader asked this very question last."""
    return bool(st.session_state.get(f"asked.{what}") == key)


def _keep(what: str, key: object) -> None:
    st.session_state[f"asked.{what}"] = key
    asked_last(what)


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
    what: str,
    key: Hashable,
    make: Callable[[Tell], Any],
    draw: Callable[[Any], None],
    scores: int,
    home: DeltaGenerator,
) -> Generator[None, None, Any]:
    """Work something out in the background, draw what is known of it, and how long it will take; returns the result.

    Args:
        make: as of :class:`Work`.
    """
    work = shared().works.of(key, make, _reader())
    bar, stop, place = home.empty(), home.empty(), home.empty()
    stop.button("Stop", key=f"lab.{what}.stop", icon=":material/stop:", on_click=_stop, args=(what, work))
    drawn = None
    while not work.over:
        left = work.seconds_left(scores * A_SCORE_S)
        said = f"{_minutes(left)} left; it goes on if you leave." if left is not None else "Others’ work comes first …"
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


def _reader() -> str:
    """Who looks: a name of this session's own."""
    return str(st.session_state.setdefault("lab.reader", uuid4().hex))


def _stop(what: str, work: Work) -> None:
    work.leave(_reader())
    st.session_state.pop(f"asked.{what}", None)


def _minutes(seconds: float) -> str:
    return f"About {max(round(seconds), 1)} s" if seconds < 90 else f"About {round(seconds / 60)} min"


def draw_places(home: DeltaGenerator, bench: Workbench, caption: str, names: Sequence[str]) -> Iterator[None]:
    """Draw the maps as far as they are known, else the button that asks for them; goes on where it is told to."""
    key = ("places", bench.image_key, bench.item.id, bench.item.mask, caption, tuple(names), stamps(names))
    kept = shared().maps.get(key)
    if kept is None and not asked("places", key):
        with home:
            ask("Map the places", "places", key, icon=":material/grid_on:")
            st.caption(
                f"The object is put down on {STEPS} × {STEPS} places and scored at each, coarse places first. It takes "
                f"about {len(names) * STEPS**2 * A_SCORE_S:.0f} s, and goes on while you look elsewhere."
            )
        return
    if kept is None:
        try:
            kept = yield from _work(
                "places",
                key,
                partial(_map, shared(), key, bench, caption, names),
                partial(_draw_map, bench),
                len(names) * STEPS**2,
                home,
            )
        except InvariscopeError as error:
            home.info(safe(said_of(bench.item, str(error)), limit=400), icon=":material/select:")
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
        file_button(
            "Places as CSV",
            lambda: csv_text(kept.rows_of_places()).encode("utf-8-sig"),
            f"{bench.item.corpus}-{bench.item.id}-places.csv",
            icon=":material/table:",
            key="lab.places.csv",
        )


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
    f"turned by up to {DEGREES:g}°, enlarged or shrunk by up to {100 * ZOOM:g} %, moved by up to {100 * OFFSET:g} % of "
    f"its sides, saved as JPEG of quality {LEAST_QUALITY} or more"
)

Table = tuple[tuple[Worst, ...], pd.DataFrame]


def draw_worst(home: DeltaGenerator, bench: Workbench, caption: str, names: Sequence[str]) -> Iterator[None]:
    """Draw what was found so far, else the button that starts the search; goes on where it is told to."""
    key = ("worst", bench.image_key, bench.item.id, caption, tuple(names), stamps(names))
    kept = shared().worst.get(key)
    if kept is None and not asked("worst", key):
        with home:
            ask("Search", "worst", key, icon=":material/search:")
            st.caption(
                f"The picture may be {BOUNDS}, all at once. {CANDIDATES} such edits are tried for each of "
                f"{counted(len(names), 'metric')}; the one that changes its score most is shown. It takes about "
                f"{len(names) * CANDIDATES * A_SCORE_S:.0f} s, and goes on while you look elsewhere."
            )
        return
    if kept is None:
        try:
            kept = yield from _work(
                "worst",
                key,
                partial(_search, shared(), key, bench, caption, names),
                partial(_draw_cards, bench, done=False),
                len(names) * CANDIDATES,
                home,
            )
        except InvariscopeError as error:
            home.warning(safe(str(error), limit=600))
            return
    with home:
        _draw_edits(bench, *kept)


def _search(held: Shared, key: Hashable, bench: Workbench, caption: str, names: Sequence[str], tell: Tell) -> Table:
    """Runs in its own thread, two evaluators at a time: nothing of Streamlit is called here."""
    others, lock = references_of(bench.item.captions, caption), Lock()
    so_far = dict[str, Worst]()

    def show(found: Worst) -> None:
        with lock:
            so_far[found.evaluator] = found
            tried = sum(len(each.candidates) for each in so_far.values())
            tell(tuple(so_far.values()), 0.95 * tried / (len(names) * CANDIDATES))  # the table is left to make

    def search(name: str) -> Worst:
        with shared_pool().lease(name) as loaded:
            return worst_edit(loaded, bench.pixels, caption, seed=bench.seed, references=others, show=show)

    with ThreadPoolExecutor(AT_ONCE) as workers:
        found = tuple(workers.map(search, names))
    return held.worst.put(key, (found, _crossed(bench, caption, found)))


def _crossed(bench: Workbench, caption: str, found: Sequence[Worst]) -> pd.DataFrame:
    """Every edit that was found under every evaluator: one row an edit, a column of % change an evaluator."""
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


def _stem(bench: Workbench) -> str:
    return f"{bench.item.corpus}-{bench.item.id}"


def _draw_cards(bench: Workbench, found: Sequence[Worst], *, done: bool) -> None:
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
                icon=":material/image:",
                key=f"lab.worst.png.{each.evaluator}",
            )


def _draw_edits(bench: Workbench, found: Sequence[Worst], table: pd.DataFrame) -> None:
    _draw_cards(bench, found, done=True)
    numbers = {name: st.column_config.NumberColumn(name, format="%+.2f", help="% change") for name in table.columns[2:]}
    draw_table(
        table,
        alt="Every edit that was found, under every metric",
        column_config={"worst for": "Worst for", "edit": st.column_config.TextColumn("Edit", width="large"), **numbers},
    )
    st.caption(
        "A lower bound for each metric: an edit that moves its score at least so far exists, and a longer search "
        "may find a worse one. Differential evolution, seeded by the run and the picture, so that the same search "
        "finds the same edit."
    )
    file_button(
        "Every edit that was tried as CSV",
        lambda: csv_text(candidates(found)).encode("utf-8-sig"),
        f"{_stem(bench)}-worst-edits.csv",
        icon=":material/table:",
        key="lab.worst.csv",
        help="Each with the metric, its five numbers in full, both scores and % change, so that it can be made again",
    )

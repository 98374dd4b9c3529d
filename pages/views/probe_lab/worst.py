"""The worst harmless edit: what moves each evaluator most within bounds that nobody minds."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from core.charts.canvas import thumbnail
from core.charts.style import signed
from core.corpora.images import encode_png
from core.errors import InvariscopeError
from core.evaluators.pool import shared_pool
from core.evaluators.references import references_of
from core.scoring.workbench import Workbench
from core.scoring.worst_edit import (
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
from core.statistics.changes import percent_change
from core.store.files import csv_text
from pages.views.common.downloads import counted_making
from pages.views.common.file_evaluators import stamps
from pages.views.common.page_tables import draw_table
from pages.views.common.text import counted, number, safe
from pages.views.probe_lab.asked import ask, asked
from pages.views.probe_lab.state import shared

SIDE = 420
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
    _draw(bench, *kept)


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
    rows: dict[str, list[object]] = {"worst for": [each.evaluator for each in found],
                                     "edit": [str(edit) for edit in edits]}  # fmt: skip
    for each in found:
        with shared_pool().lease(each.evaluator) as loaded:
            scores = under(loaded, bench.pixels, caption, edits, references=others)
        rows[each.evaluator] = list(percent_change(scores, [each.before] * len(found)))
    return pd.DataFrame(rows)


def _png(bench: Workbench, edit: HarmlessEdit) -> bytes:
    return encode_png(edit.apply(bench.pixels))


def _draw(bench: Workbench, found: Sequence[Worst], table: pd.DataFrame) -> None:
    stem = f"{bench.item.corpus}-{bench.item.id}"
    cells = st.grid(min(len(found), 3) or 1, min_column_width=260, gap="medium")
    for each in found:
        said, moved = str(each.edit), signed(each.percent, digits=2)
        middle = number(float(pd.Series(each.sizes).median()))
        with cells.container(border=True):
            st.markdown(f"**{safe(each.evaluator)}** · **{moved}**")
            picture = thumbnail(each.edit.apply(bench.pixels), side=SIDE)
            st.image(picture, width="stretch", alt=f"The picture {said}: {moved} under {each.evaluator}")
            st.caption(
                f"{said[0].upper()}{said[1:]}. Score {number(each.before)} before, {number(each.after)} after; the "
                f"median of the {each.scored} edits that were tried moves it by {middle} %."
            )
            st.download_button(
                "This picture as PNG", counted_making(partial(_png, bench, each.edit)),
                f"{stem}-worst-{each.evaluator}.png", "image/png", icon=":material/image:", on_click="ignore",
                key=f"lab.worst.png.{each.evaluator}",
            )  # fmt: skip
    numbers = {name: st.column_config.NumberColumn(name, format="%+.2f", help="%Δ") for name in table.columns[2:]}
    draw_table(
        table, alt="Every edit that was found, under every evaluator",
        column_config={"worst for": "Worst for", "edit": st.column_config.TextColumn("Edit", width="large"), **numbers},
    )  # fmt: skip
    st.caption(
        "A lower bound for each evaluator: an edit that moves its score at least so far exists, and a longer search "
        "may find a worse one. Differential evolution, seeded by the run and the picture, so that the same search "
        "finds the same edit."
    )
    st.download_button(
        "Every edit that was tried as CSV", counted_making(lambda: csv_text(candidates(found)).encode("utf-8-sig")),
        f"{stem}-worst-edits.csv", "text/csv", icon=":material/table:", on_click="ignore", key="lab.worst.csv",
        help="Each with the evaluator, its five numbers in full, both scores and %Δ, so that it can be made again",
    )  # fmt: skip

"""Failures: the pairs that change the most, each beside its original and under every evaluator."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.facts import MAY_BE_TRUE, WHY
from core.analysis.failures import EXPORT_ROWS, export, verdicts
from core.analysis.ranking import Ranking
from core.charts.canvas import Cell, Score, contact_sheet, side_by_side
from core.charts.spec import signed
from core.corpora.images import encode_png
from core.errors import InvariscopeError
from core.probes.titles import title
from core.statistics.changes import SURE
from core.stories.story import Held
from pages.views.common.collect import collect_button, data_buttons, file_button
from pages.views.common.layers import button
from pages.views.common.links import draw_no_run, record_text
from pages.views.common.open_runs import any_judged, present, store, unsure_words
from pages.views.common.page_head import chips, drawn, header
from pages.views.common.scope_chips import choose_scope, say_withheld
from pages.views.common.slice_filters import Seen, choose_slice, offer_relaxing
from pages.views.common.text import counted, number, safe, thousands
from pages.views.common.url_state import PageState
from pages.views.failures import failure_card, failures_state
from pages.views.failures.failure_pictures import Made, as_pixels, finished, pictures
from pages.views.failures.failures_state import named


class _Gallery(NamedTuple):
    seen: Seen
    held: Held  # tags and notes
    named: failures_state.Named  # the only (item, probe) to look at; None: every one


def _draw_downloads(gallery: _Gallery, found: Ranking, rows: pd.DataFrame) -> None:
    (state, files, scope, chosen), held, named = gallery
    order, floor, marks = state.get("sort"), state.get("floor") / 100, state.get("marks")
    with st.popover("Download", icon=":material/download:", type="tertiary"):
        taken = min(found.n_shifts, EXPORT_ROWS)
        st.caption(
            f"Every shift of the filters in this order, {counted(taken, 'row')}"
            if taken == found.n_shifts
            else f"The furthest {counted(taken, 'row')} of {counted(found.n_shifts, 'shift')}"
        )

        def shifts() -> pd.DataFrame:
            usual = failures_state.usual_scales(files, scope)
            found = export(store(files), scope, chosen, usual, order=order, floor=floor, named=named)
            return failures_state.with_tags(found, held, scope)

        data_buttons(shifts, f"failures-{order}", key="failures.data")
        st.caption("The pictures of this page")

        def sheet() -> bytes:
            with pictures(store(files), found.pairs, marks=marks) as begun:
                made = [finished(each) for each in begun]
            parts = failures_state.by_pair(found.pairs, rows)
            told = "Each pair before and after one edit, with every evaluator's score before → after and its percent "
            told += "change."
            cells = list(map(_cell, parts, made))
            return encode_png(contact_sheet(cells, title="Failures, the furthest first", foot=told))

        file_button("Contact sheet as PNG", sheet, "failures.png", key="failures.sheet")


def _cell(rows: pd.DataFrame, made: Made) -> Cell:
    first = rows.iloc[0]
    if isinstance(made, str):
        shown = np.full((60, 200, 3), 235, np.uint8)
    else:
        before = as_pixels(made.before)
        shown = before if made.after is None else side_by_side(before, as_pixels(made.after))
    scores = tuple(
        Score(f"{row['evaluator']} {number(row['baseline_score'])} → {number(row['score'])} · {signed(row['percent'])}")
        for _, row in rows.iterrows()
    )
    return Cell(shown, f"{title(str(first['probe']))} · {first['item']}", str(first["caption"]), scores)


def _draw_tiles(state: PageState, gallery: _Gallery, pairs: pd.DataFrame, rows: pd.DataFrame) -> None:
    (_, files, scope, _), held, _ = gallery
    parts = failures_state.by_pair(pairs, rows)
    rooms = []
    with pictures(store(files), pairs, marks=state.get("marks")) as begun:
        cells = st.grid(6, min_column_width=150, gap="small")
        for place, ((_, pair), own) in enumerate(zip(pairs.iterrows(), parts, strict=True)):
            with cells.container(gap="xxsmall", key=f"failure_tile_{place}"):
                rooms.append(st.empty())
                rooms[-1].caption("…")
                said, hint = failure_card.headline(pair, own, state.get("sort")), "Opens the full record"
                looks = {"type": "tertiary", "help": hint, "width": "stretch"}
                button(said, "", f"failures.tile.{place}", state.put, "record", record_text(pair), **looks)
                row = own.iloc[0]
                what = row["label"] if pd.notna(row["label"]) else pair["item"]
                st.caption(f"{safe(title(str(pair['probe'])), limit=50)} · {safe(str(what), limit=40)}")
                failures_state.draw_tags(
                    held.of(failures_state.pair_of(pair, language=scope.language, rank=scope.rank))
                )
        for place, (room, own, made) in enumerate(zip(rooms, parts, begun, strict=True)):
            failure_card.draw_variant(room, finished(made), own.iloc[0], key=f"tile_{place}")


_ORDERS = {
    "standardised": "Standardised change",
    "percent": "Percent change",
    "absolute": "Absolute change",
    "disagreement": "Disagreement",
}
_ORDERS_HELP = """What comes first. A pair counts its largest shift over the metrics of the scope; added words
that may be true of the picture come last.

- **Standardised change**: |Δ| over the standard deviation of that metric's unedited scores; comparable.
- **Percent change**: |% change| against the baseline's score. Of a tiny baseline it is large whatever happened.
- **Absolute change**: |Δ| on each metric's own scale; a metric on 0 to 10 comes before one on 0 to 1.
- **Disagreement**: the largest minus the smallest standardised shift of one pair over its metrics."""

_CARD_HELP = """**Score** is that of the baseline → that of the variant. **% change** is the change in percent of
the baseline. **SD** is the change in standard deviations of that metric's unedited scores. **× noise** is \\|%
change\\| as
a multiple of the metric's noise band, which holds 95 of 100 invisible edits; “within” is no more than that
noise. **†** marks a baseline below the smallest one that counts.

Words that the edit took away are :orange-background[~~struck out~~], words that it brought are
:blue-background[**bold**]. On a moved object the frame is where it is, the dashed frame where it was."""


def _draw_controls(state: PageState, held: Held) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        state.switch("layout", "Layout", failures_state.LAYOUTS)
        key, words = state.key("sort"), _ORDERS.__getitem__
        st.selectbox("Furthest by", tuple(_ORDERS), key=key, format_func=words, help=_ORDERS_HELP, width=210)
        if state.get("sort") == "percent":
            st.selectbox(
                "Smallest baseline",
                failures_state.FLOORS,
                key=state.key("floor"),
                width=170,
                format_func=lambda floor: f"{floor} % of typical" if floor else "Any",
                help="Shifts whose baseline scores less than this share of the metric's typical (median) clean score "
                "do not count in this order: from 0.001 to 0.1 is +9,900 %. Pairs without another shift come last.",
            )
        failures_state.draw_tag_filter(state, held)
        with st.popover("What is shown", icon=":material/tune:"):
            key, marks = state.key("marks"), failures_state.MARKS
            hint = "Frames around a moved object, or the changed pixels in colour on grey"
            st.selectbox("Marks on pictures", tuple(marks), key=key, format_func=marks.__getitem__, help=hint)
            if not state.get("item"):
                hint = "A card for every pair, not the furthest of each item"
                st.toggle("Every edit", key=state.key("every"), help=hint)


def _draw_gallery(state: PageState, gallery: _Gallery, found: Ranking) -> None:
    (_, files, scope, _), _, named = gallery
    a_page = failures_state.A_PAGE[state.get("layout")]
    pages = -(-(found.n_items if failures_state.of_items(state) else found.n_pairs) // a_page)
    _draw_one_item(state)
    if state.get("page") > pages:
        st.caption(f"There is no page {state.get('page')}; this is the last one.")
        state.put("page", pages)
        found = failures_state.page_in_view(*gallery.seen, pages, named=named)
    page = state.get("page")
    pairs, rows = found.pairs, failures_state.shifts_of(files, scope, found.pairs)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(_counts(found, page, pages, of_items=failures_state.of_items(state)))
        with st.container(horizontal=True, width="content", gap="small"):
            _turn(state, "Previous", "P", page - 1, disabled=page <= 1)
            _turn(state, "Next", "N", page + 1, disabled=page >= pages)
            _draw_downloads(gallery, found, rows)
            with st.popover("How to read a card", icon=":material/help:", type="tertiary"):
                st.markdown(_CARD_HELP)
                banded = rows.drop_duplicates("evaluator").dropna(subset=["null_percent"]).sort_values("evaluator")
                bands = [
                    f"{safe(str(row['evaluator']))} ±{row['null_percent']:.1f} % (n = "
                    f"{counted(int(row['n_null']), 'edit')}{', too few to be sure of' if row['n_null'] < SURE else ''})"
                    for _, row in banded.iterrows()
                ]
                st.caption(f"Noise band, which holds 95 of 100 invisible edits: {', '.join(bands)}." if bands else "")
    if state.get("layout") == "grid":
        _draw_tiles(state, gallery, pairs, rows)
    else:
        first = (page - 1) * a_page + 1
        known = any_judged(files)
        judged = verdicts(store(files), pairs, language=scope.language, rank=scope.rank) if known else pairs.head(0)
        parts = failures_state.by_pair(pairs, rows)
        rooms = []
        with pictures(store(files), pairs, marks=state.get("marks")) as begun:
            cells = st.grid(2, min_column_width=340, gap="medium")
            for place, ((_, pair), own) in enumerate(zip(pairs.iterrows(), parts, strict=True)):
                with cells.container(border=True, height="stretch", gap="xsmall", key=f"failure_card_{place}"):
                    failure_card.heading(first + place, pair, own, state.get("sort"))
                    rooms.append((failure_card.place_for_pictures(str(place)), st.empty()))
                    _below(state, gallery, pair, own, judged, key=str(place))
            for place, ((room, below), own, made) in enumerate(zip(rooms, parts, begun, strict=True)):
                shown = finished(made)
                failure_card.draw_pictures(room, shown, own.iloc[0], key=str(place))
                if said := failure_card.below_pictures(shown):
                    below.caption(said)
    if pages > 1:
        with st.container(horizontal=True, horizontal_alignment="center"):
            key = f"failures.page.from.{page}"
            st.pagination(pages, default=page, key=key, on_change=state.take, args=("page", key))


def _draw_one_item(state: PageState) -> None:
    if state.get("item"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"Item **{safe(state.get('item'))}** alone")
            failures_state.offer_every_item(state, "item")


def _counts(found: Ranking, page: int, pages: int, *, of_items: bool) -> str:
    said = f"**{counted(found.n_pairs, 'pair')}**"
    if of_items:
        said = f"The furthest pair of each of **{counted(found.n_items, 'item')}**, of {counted(found.n_pairs, 'pair')}"
    if found.n_unranked:
        said += f" · {counted(found.n_unranked, 'pair')} last, without a number in this order"
    return f"{said} · page {thousands(page)} of {thousands(pages)}"


def _like(state: PageState, item: str) -> None:
    """Look at what is like an item; its own edits alone are looked at no more."""
    state.put("item", "")
    state.put("like", item)


def _turn(state: PageState, label: str, shortcut: str, page: int, *, disabled: bool) -> None:
    button(label, "", f"failures.turn.{label}", state.put, "page", page, shortcut=shortcut, disabled=disabled)


def _below(
    state: PageState, gallery: _Gallery, pair: pd.Series, rows: pd.DataFrame, judged: pd.DataFrame, *, key: str
) -> None:
    (_, files, scope, _), held, _ = gallery
    order = state.get("sort")
    if rows["family"].isin(unsure_words(files, scope)).any():
        st.markdown(f":gray-badge[{MAY_BE_TRUE}]", help=f"{WHY[:1].upper()}{WHY[1:]}.")
    failure_card.captions(rows)
    bold = failure_card.deciding(pair, rows, scope.evaluators, order)
    floor = state.get("floor") / 100 if order == "percent" else 0.0
    failure_card.draw_scores(rows, bold=bold, floor=floor, key=key)
    failure_card.verdict(judged, pair)
    named = failures_state.pair_of(pair, language=scope.language, rank=scope.rank)
    failures_state.draw_tags(held.of(named))
    slide = partial(failure_card.card_slide, files, scope, pair, rows, marks=state.get("marks"), link=state.wanted())
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"failure_ways_{key}"):
        failure_card.to_lab(pair, rows, files)
        collect_button(slide, key=f"failure.{key}")
        with st.popover("More", icon=":material/more_horiz:", type="tertiary"):
            told = "Every column that the store has of this pair"
            _more("Full record", "receipt_long", f"open.{key}", state.put, "record", record_text(pair), told=told)
            failures_state.tag_button(named, held, key=key)
            told = "Items whose pictures a metric of the run embeds closest to it"
            _more("More like this", "image_search", f"like.{key}", _like, state, str(pair["item"]), told=told)
            if pair["more"]:
                edits, told = f"+{counted(int(pair['more']), 'more edit')}", "Every edit of this item"
                _more(edits, "filter_none", f"more.{key}", state.put, "item", pair["item"], told=told)


def _more(label: str, icon: str, key: str, act: Callable[..., None], *args: object, told: str) -> None:
    button(label, icon, f"failures.{key}", act, *args, type="tertiary", help=told)


def draw() -> None:
    """Draw the view."""
    files = present()
    try:
        held = failures_state.begin_tags()
    except InvariscopeError as error:
        held = Held({})
        st.error(safe(str(error), limit=600))
    state = failures_state.failure_state(files, held.names)
    before = st.session_state.get(state.key("seen"))
    state.restore()
    followed = st.session_state.get(state.key("seen")) != before
    header("The pairs that harmless edits change most, side by side.", state, words=("noise band", "shift"))
    with drawn(state):
        if not store(files).runs():
            draw_no_run()
            return
        row = chips(state)
        scope = choose_scope(state, files, row=row).only()
        say_withheld(files, scope)
        chosen = choose_slice(state, files, scope, row)
        seen = Seen(state, files, scope, chosen)
        failures_state.begin_at_first_page(state, scope, chosen, followed)
        _draw_controls(state, held)
        tagged = named(held, scope, state.get("tagged"))
        near = failures_state.like_it(state, files, scope)
        failures_state.draw_like(state, files, scope, near)
        if near is not None:
            tagged = failures_state.pairs_of(near, files, scope, tagged)
        found = failures_state.page_in_view(*seen, state.get("page"), named=tagged)
        if found.n_pairs == 0:
            _draw_one_item(state)
            st.info("The filters leave no pair. Relax one of them:", icon=":material/filter_alt_off:")
            also = {"tagged": "Without the tags"} if state.get("tagged") else {}
            offer_relaxing(*seen, also=also)
        else:
            _draw_gallery(state, _Gallery(seen, held, tagged), found)
        state.publish()
        failure_card.show_record(state, files, scope, held)
        failures_state.show_tagging(held)

"""What the page Findings, Pictures remembers in its link and asks the store, and pairs that are named one by one.

Named are those with a tag, and those most like one. Tags and notes are the operator's own, shown to nobody else. *More
like this* takes the pairs of the items whose pictures an evaluator of the run embeds closest to one.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.failures import PAIR, Alike, alike, record, scales, under_every_evaluator
from core.analysis.ranking import ORDERS, Ranking, rank
from core.analysis.scope import Narrowed, Scope
from core.analysis.slices import Slice
from core.corpora.schema import Item
from core.errors import InvalidInput, InvariscopeError, NotAvailable
from core.evaluators import registry
from core.evaluators.base import DualEncoder
from core.evaluators.cache import IMAGE
from core.evaluators.pool import shared_pool
from core.evaluators.scoring import embed_images
from core.probes.titles import title
from core.report.document import fingerprints
from core.scoring.workbench import open_bench
from core.seeds import RUN_SEED
from core.store.run_files import Run
from core.stories.story import MOST_NOTE, MOST_TAGS, Held, Pair, Tagged, Tags
from pages.views.common import open_runs
from pages.views.common.access import may_operate, operators_only
from pages.views.common.layers import button, finding
from pages.views.common.links import read_record
from pages.views.common.scope_chips import scope_fields
from pages.views.common.slice_filters import slice_fields
from pages.views.common.text import counted, number, safe
from pages.views.common.url_state import (
    Field,
    PageState,
    checked,
    joined,
    one_of,
    pick_field,
    some_of,
    switch_field,
    text,
    whole,
)
from pages.views.probe_lab.lab_state import ready_evaluators, shared
from pages.views.probe_lab.lab_work import let_in

LAYOUTS: Mapping[str, str] = {"cards": "Cards", "grid": "Grid"}  # how a page of pairs is drawn -> its words

A_PAGE: Mapping[str, int] = {"cards": 12, "grid": 36}
"""Layout -> pairs on one page: a card has two pictures, a tile of the grid one."""

Named = tuple[tuple[str, str], ...] | None  # the only (item, probe) to look at; None: every one
FLOORS = (0, 1, 5, 10, 25)  # choices of the smallest baseline, in % of the evaluator's typical unedited score

MARKS: Mapping[str, str] = {"object": "Moved object", "changes": "Changed pixels", "none": "None"}
"""What is marked on the pictures -> its words."""


def failure_state(files: open_runs.Signature, tags: Sequence[str] = ()) -> PageState:
    """Return the page's fields over these runs; ``tags``: those that stand somewhere."""
    floors = ", ".join(map(str, FLOORS))
    fields = (
        *scope_fields(files),
        *slice_fields(files),
        Field("sort", "standardised", one_of(lambda: ORDERS, "standardised", what="order")),
        Field("layout", "cards", one_of(lambda: tuple(LAYOUTS), "cards", what="layout")),
        Field("tagged", [], some_of(lambda: tags, what="tag"), joined),
        switch_field("every"),
        Field("item", "", text(limit=200)),
        Field("like", "", text(limit=200)),
        pick_field("floor", 5, FLOORS, str, f"The smallest baseline must be one of {floors} %"),
        Field("marks", "object", one_of(lambda: tuple(MARKS), "object", what="marks")),
        Field("page", 1, checked(whole(1, 10**9 - 1), 1, "The page must be a number from 1")),
        Field("record", "", _read_record),
    )
    return PageState("failures", fields)


def begin_at_first_page(state: PageState, scope: Narrowed, chosen: Slice, followed: bool) -> None:
    """Go back to page 1 when the reader changes what is ranked; a link that was followed names its own page."""
    asked = (state.get(name) for name in ("sort", "floor", "every", "item", "like", "layout"))
    view = (scope, chosen, *asked, tuple(state.get("tagged")))
    before = st.session_state.get(state.key("view"))
    if before not in (None, view) and not followed:
        state.put("page", 1)
    st.session_state[state.key("view")] = view


@st.cache_data(hash_funcs=open_runs.KEYED, max_entries=8, show_spinner=False)
def usual_scales(files: open_runs.Signature, scope: Narrowed) -> pd.DataFrame:
    """Spread and noise floor of every evaluator of the run; see ``core.analysis.failures.scales``."""
    return scales(open_runs.scores(files, open_runs.under_all(files, scope)))


@st.cache_data(hash_funcs=open_runs.KEYED, max_entries=64, show_spinner=False)
def page_of_pairs(
    files: open_runs.Signature,
    scope: Narrowed,
    chosen: Slice,
    order: str,
    floor: int,
    page: int,
    *,
    once: bool,
    item: str,
    a_page: int,
    named: Named,
) -> Ranking:
    """One page of the ranking; see ``core.analysis.ranking.rank``."""
    return rank(
        open_runs.scores(files, scope),
        chosen,
        usual_scales(files, scope),
        order=order,
        floor=floor / 100,
        limit=a_page,
        offset=a_page * (page - 1),
        once=once,
        item=item or None,
        named=named,
        behind=open_runs.unsure_words(files, scope),
    )


def page_in_view(
    state: PageState, files: open_runs.Signature, scope: Narrowed, chosen: Slice, page: int, *, named: Named
) -> Ranking:
    """A page of what the reader asked for. ``named``: the only (item, probe) to look at; None: every one."""
    order, floor, a_page = state.get("sort"), state.get("floor"), A_PAGE[state.get("layout")]
    asked = (files, scope, chosen, order, floor, page)
    return page_of_pairs(*asked, once=of_items(state), item=state.get("item"), a_page=a_page, named=named)


def of_items(state: PageState) -> bool:
    """Whether an item has one card alone."""
    return not state.get("every") and not state.get("item")


@st.cache_data(hash_funcs=open_runs.KEYED, max_entries=64, show_spinner=False)
def shifts_of(files: open_runs.Signature, scope: Narrowed, pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs under every evaluator; see ``core.analysis.failures.under_every_evaluator``."""
    return under_every_evaluator(open_runs.store(files), scope, pairs, usual_scales(files, scope))


def record_of(files: open_runs.Signature, scope: Narrowed, pair: Mapping[str, str]) -> list[dict[str, Any]]:
    """Everything that is known of a pair, of this scope or of another run or subject; empty where it is not there."""
    try:
        own = open_runs.narrowed(files, Scope(runs=(pair["run"],), subject=pair["subject"], language=scope.language))
        return record(open_runs.store(files), own, pair, usual_scales(files, own))
    except InvalidInput:
        return []


def by_pair(pairs: pd.DataFrame, rows: pd.DataFrame) -> list[pd.DataFrame]:
    """The rows of each pair, in the order of the pairs."""
    # of one type and laid out anew, a row is one stretch of memory: cards look at every value of every row
    parts = dict(iter(rows.astype(object).copy().groupby(list(PAIR), sort=False)))
    return [parts[tuple(pair[name] for name in PAIR)] for _, pair in pairs.iterrows()]


def _read_record(raw: str) -> tuple[str, str]:
    if read_record(raw) is not None:
        return raw, ""
    return "", f"The record of this link names no pair: {raw[:60]!r}."


SUGGESTED = ("bad edit", "meaning changed", "real failure")  # offered before anybody wrote a tag
_ASKED, _SAID, _DONE, _TAGS, _NOTE = (f"failures.tagging.{name}" for name in ("asked", "said", "done", "tags", "note"))


def begin_tags() -> Held:
    """Say what was written in the run before, and return what stands where; nothing for whoever may not write."""
    if not may_operate():
        return Held({})
    if done := st.session_state.pop(_DONE, None):
        _close()
        st.toast(done, icon=":material/label:")
    log = Tags()
    return _held(str(log.path), log.size())


@st.cache_data(max_entries=4, show_spinner=False)
def _held(path: str, size: int) -> Held:  # noqa: ARG001  # the log only grows: its size tells what was read
    return Tags().read()


def pair_of(pair: pd.Series, *, language: str, rank: int) -> Pair:
    """Name a pair under a caption; ``pair`` has ``core.analysis.failures.PAIR``."""
    return Pair(str(pair["run"]), str(pair["item"]), str(pair["subject"]), str(pair["probe"]), language, rank)


def named(held: Held, scope: Narrowed, tags: list[str]) -> tuple[tuple[str, str], ...] | None:
    """(item, probe) of the scope with one of some tags; None where no tag is asked for."""
    if not tags:
        return None
    own = (scope.run, scope.subject, scope.language, scope.rank)
    return tuple(
        (pair.item, pair.probe)
        for pair, told in held.pairs.items()
        if (pair.run, pair.subject, pair.language, pair.rank) == own and set(tags) & set(told.tags)
    )


def draw_tag_filter(state: PageState, held: Held) -> None:
    """Draw the choice of tags, where there are any, and say what of them cannot be read."""
    if held.names:
        hint = "Pairs with at least one of these tags"
        st.multiselect("Tagged", held.names, key=state.key("tagged"), placeholder="Any or none", width=210, help=hint)
    for problem in held.problems:
        st.caption(f":material/warning: {safe(problem, limit=500)}")


def draw_tags(told: Tagged) -> None:
    """Draw what stands at a pair."""
    said = " ".join(f":blue-badge[:material/label: {safe(each)}]" for each in told.tags)
    if said:
        st.markdown(said)
    if told.note:
        st.caption(f":material/notes: {safe(told.note, limit=600)}")


def tag_button(pair: Pair, held: Held, *, key: str, before: Callable[[], None] | None = None) -> None:
    """Draw the button that opens the box. ``before``: is done first, e.g. closing the dialog that the button is in."""
    if may_operate():
        hint = "Your tags and note"
        button("Tag", "label", f"failures.tag.{key}", _ask, pair, held.of(pair), before, type="tertiary", help=hint)


def show_tagging(held: Held) -> None:
    """Open the box where somebody asked for it."""
    if st.session_state.get(_ASKED) is not None and not finding():
        _box(held)


def with_tags(shifts: pd.DataFrame, held: Held, scope: Narrowed) -> pd.DataFrame:
    """Shifts with the columns ``tags`` (joined by commas) and ``note``, where anything is tagged."""
    if not held.pairs:
        return shifts
    told = [
        held.of(pair_of(row, language=scope.language, rank=scope.rank))
        for _, row in shifts[["run", "item", "subject", "probe"]].iterrows()
    ]
    return shifts.assign(tags=[", ".join(each.tags) for each in told], note=[each.note for each in told])


@operators_only
def _ask(pair: Pair, told: Tagged, before: Callable[[], None] | None) -> None:
    if before is not None:
        before()
    st.session_state[_ASKED] = pair
    st.session_state[_TAGS], st.session_state[_NOTE] = list(told.tags), told.note
    st.session_state.pop(_SAID, None)


def _close() -> None:
    for name in (_ASKED, _SAID):
        st.session_state.pop(name, None)


@st.dialog("Tag", on_dismiss=_close)
def _box(held: Held) -> None:
    if _DONE in st.session_state:  # only the whole page closes a box
        st.rerun()
    pair: Pair = st.session_state[_ASKED]
    st.caption(
        f"**{safe(title(pair.probe))}** · {safe(pair.item, limit=120)}. For your own eyes: viewers see none of it."
    )
    offered = list(dict.fromkeys((*st.session_state.get(_TAGS, ()), *held.names, *SUGGESTED)))
    st.multiselect(
        "Tags",
        offered,
        key=_TAGS,
        accept_new_options=True,
        max_selections=MOST_TAGS,
        filter_mode="contains",
        placeholder="Choose, or type a new one and press Enter",
    )
    st.text_area("Note", key=_NOTE, max_chars=MOST_NOTE, height=100, placeholder="What is to be seen here")
    st.button("Save", type="primary", key="failures.tagging.save", on_click=_save, args=(pair,))
    if said := st.session_state.get(_SAID):
        st.error(safe(said, limit=400))


@operators_only
def _save(pair: Pair) -> None:
    try:
        told = Tags().put(pair, st.session_state.get(_TAGS, []), st.session_state.get(_NOTE, ""))
    except InvariscopeError as error:
        st.session_state[_SAID] = str(error)
        return
    st.session_state[_DONE] = "Nothing stands here any more." if told.empty else "Written down."


MOST = 12  # items beside the one that is asked about
_EMBEDDING = "failures.like.asked"
AT_ONCE = 500  # pictures that one click has embedded at most


def like_it(state: PageState, files: open_runs.Signature, scope: Narrowed) -> Alike | None:
    """The items most like the one of the link; None where none is asked for, or no embedding is kept."""
    item = state.get("like")
    if not item:
        return None
    return alike(item, _pixels(files, scope), _keys(files, scope), shared().embeddings, most=MOST)


def _pixels(files: open_runs.Signature, scope: Narrowed) -> dict[str, str]:
    rows = open_runs.scores(files, scope).items
    own = rows[open_runs.scores(files, scope).of_corpus(scope.corpus)].dropna(subset=["pixels"])
    return dict(zip(own["item"].astype(str), own["pixels"].astype(str), strict=True))


def _keys(files: open_runs.Signature, scope: Narrowed) -> dict[str, list[str]]:
    return {
        name: sorted(keys)
        for name, keys in fingerprints([open_runs.run_of(files, scope.run)]).items()
        if name in scope.evaluators
    }


def pairs_of(found: Alike, files: open_runs.Signature, scope: Narrowed, tagged: Named) -> Named:
    """(item, probe) of these items, of those with the wanted tags where tags are asked for."""
    names = {name for name, _ in found.items}
    if tagged is not None:
        return tuple((item, probe) for item, probe in tagged if item in names)
    probes = map(str, open_runs.scores(files, scope).probes.index)
    return tuple((name, probe) for probe in probes for name in sorted(names))


def draw_like(state: PageState, files: open_runs.Signature, scope: Narrowed, found: Alike | None) -> None:
    """Say what is alike by whose embeddings, or that none is kept; look at more pictures, or take it back."""
    item = state.get("like")
    if not item:
        return
    pixels, reader = _pixels(files, scope), _reader(files, scope, found)
    unread = _unread(item, pixels, reader)
    if st.session_state.pop(_EMBEDDING, False) and unread:
        _look(open_runs.run_of(files, scope.run), reader, unread)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if found is None:
            told = "" if unread else " An evaluator with an image tower that is ready here could tell; none is."
            st.info(
                f"Nobody has looked at the picture of {safe(item)} and at another one yet, so nothing tells what "
                f"looks like it.{told}",
                icon=":material/image_search:",
            )
        else:
            _, nearest = found.items[1]
            _, furthest = found.items[-1]
            st.markdown(
                f"**{safe(item)}** and the {counted(len(found.items) - 1, 'item')} most like it, by "
                f"{safe(found.evaluator)}'s image embeddings (cosine {number(nearest, digits=2)} to "
                f"{number(furthest, digits=2)}; of {counted(found.known, 'picture')} that are embedded)"
            )
        if unread:
            name, _ = reader
            more = "" if found is None else "more "
            button(
                f"Embed {counted(len(unread), more + 'picture')}",
                "visibility",
                "failures.like.embed",
                st.session_state.__setitem__,
                _EMBEDDING,
                True,
                help=f"{name} looks at each once and keeps what it saw",
            )
        offer_every_item(state, "like")


def offer_every_item(state: PageState, field: str) -> None:
    """Draw the way back from the items that a field of the link chose."""
    button("Every item", "undo", f"failures.{field}.all", state.put, field, "", type="tertiary")


Reader = tuple[str, str]
"""An evaluator, and the key of the fingerprint with which it scored the run; both empty where there is none."""


def _reader(files: open_runs.Signature, scope: Narrowed, found: Alike | None) -> Reader:
    """Who embeds pictures: whose embeddings are in use, else the first of the run with an image tower that is ready."""
    known = _keys(files, scope)
    order = sorted(known, key=lambda name: (found is None or name != found.evaluator, name))
    for name in order:
        if name in ready_evaluators() and issubclass(registry.find(name), DualEncoder) and len(known[name]) == 1:
            return name, known[name][0]
    return "", ""


def _unread(item: str, pixels: Mapping[str, str], reader: Reader) -> dict[str, str]:
    """Items whose picture a reader has not seen, with its hash: the one that is asked about first, AT_ONCE at most."""
    name, key = reader
    if not name:
        return {}
    kept = shared().embeddings.get_many(key, IMAGE, list(dict.fromkeys(pixels.values())))
    order = sorted(pixels, key=lambda each: (each != item, each))
    return dict([(each, pixels[each]) for each in order if pixels[each] not in kept][:AT_ONCE])


def _look(run: Run, reader: Reader, unread: Mapping[str, str]) -> None:
    try:
        name, key = reader
        held = {item.id: item for item in open_runs.load_corpus_of(run).items if item.id in unread}
        images = {unread[each]: partial(_picture, item, unread[each]) for each, item in held.items()}
        bar = st.progress(0.0, f"Loading {safe(name)} …")

        def told(done: int, total: int) -> None:
            bar.progress(done / total, f"{done} of {counted(total, 'picture')} seen")

        with (
            let_in(shared().room, lambda: bar.progress(0.0, "Others score first …")),
            shared_pool().lease(name) as evaluator,
        ):
            if not isinstance(evaluator, DualEncoder) or evaluator.fingerprint.key != key:
                raise NotAvailable(f"{name} is not the one that scored run {run.id}: its weights or code changed since")
            embed_images(evaluator, images, cache=shared().embeddings, progress=told)
        shared().embeddings.flush()
        bar.empty()
    except InvariscopeError as error:
        st.error(safe(str(error), limit=400), icon=":material/image_search:")
    else:
        st.rerun()


def _picture(item: Item, pixels: str) -> np.ndarray:
    return open_bench(item, pixels_sha256=pixels, seed=RUN_SEED).pixels

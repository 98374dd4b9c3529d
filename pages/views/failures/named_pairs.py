"""Pairs of the page Findings, Pictures that are named one by one: those with a tag, and those most like one.

Tags and notes are the operator's own, shown to nobody else. *More like this* takes the pairs of the items whose
pictures an evaluator of the run embeds closest to one.
"""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.failures import Alike, alike
from core.analysis.scope import Narrowed
from core.corpora.schema import Item
from core.errors import InvariscopeError, NotAvailable
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
from pages.views.common.access import may_operate, operators_only
from pages.views.common.layers import finding
from pages.views.common.open_runs import Signature, run_of, scores
from pages.views.common.run_corpora import load_corpus_of
from pages.views.common.text import counted, number, safe
from pages.views.common.url_state import PageState
from pages.views.failures.failures_state import Named
from pages.views.probe_lab.lab_state import ready_evaluators, shared
from pages.views.probe_lab.lab_work import let_in

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
        st.multiselect(
            "Tagged",
            held.names,
            key=state.key("tagged"),
            placeholder="Any or none",
            width=210,
            help="Pairs with at least one of these tags",
        )
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
    """Draw the button that opens the box.

    Args:
        before: is done first, e.g. closing the dialog that the button is in.
    """
    if may_operate():
        st.button(
            "Tag",
            icon=":material/label:",
            type="tertiary",
            key=f"failures.tag.{key}",
            on_click=_ask,
            args=(pair, held.of(pair), before),
            help="Your tags and note",
        )


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
    st.session_state.pop(_ASKED, None)
    st.session_state.pop(_SAID, None)


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


def like_it(state: PageState, files: Signature, scope: Narrowed) -> Alike | None:
    """The items most like the one of the link; None where none is asked for, or no embedding is kept."""
    item = state.get("like")
    if not item:
        return None
    return alike(item, _pixels(files, scope), _keys(files, scope), shared().embeddings, most=MOST)


def _pixels(files: Signature, scope: Narrowed) -> dict[str, str]:
    """Hash of the unedited picture of every item of the corpus in view."""
    rows = scores(files, scope).items
    own = rows[scores(files, scope).of_corpus(scope.corpus)].dropna(subset=["pixels"])
    return dict(zip(own["item"].astype(str), own["pixels"].astype(str), strict=True))


def _keys(files: Signature, scope: Narrowed) -> dict[str, list[str]]:
    """Keys of the fingerprints with which each evaluator of the scope scored the run."""
    return {
        name: sorted(keys)
        for name, keys in fingerprints([run_of(files, scope.run)]).items()
        if name in scope.evaluators
    }


def pairs_of(found: Alike, files: Signature, scope: Narrowed, tagged: Named) -> Named:
    """(item, probe) of these items, of those with the wanted tags where tags are asked for."""
    names = {name for name, _ in found.items}
    if tagged is not None:
        return tuple((item, probe) for item, probe in tagged if item in names)
    probes = map(str, scores(files, scope).probes.index)
    return tuple((name, probe) for probe in probes for name in sorted(names))


def draw_like(state: PageState, files: Signature, scope: Narrowed, found: Alike | None) -> None:
    """Say what is alike by whose embeddings, or that none is kept; look at more pictures, or take it back, on a click.

    Args:
        state: of the page; its link names the item that is asked about.
        found: of :func:`like_it`.
    """
    item = state.get("like")
    if not item:
        return
    pixels, reader = _pixels(files, scope), _reader(files, scope, found)
    unread = _unread(item, pixels, reader)
    if st.session_state.pop(_EMBEDDING, False) and unread:
        _look(run_of(files, scope.run), reader, unread)
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
            st.button(
                f"Embed {counted(len(unread), more + 'picture')}",
                icon=":material/visibility:",
                key="failures.like.embed",
                on_click=st.session_state.__setitem__,
                args=(_EMBEDDING, True),
                help=f"{name} looks at each once and keeps what it saw",
            )
        offer_every_item(state, "like")


def offer_every_item(state: PageState, field: str) -> None:
    """Draw the way back from the items that a field of the link chose."""
    st.button(
        "Every item",
        icon=":material/undo:",
        type="tertiary",
        key=f"failures.{field}.all",
        on_click=state.put,
        args=(field, ""),
    )


Reader = tuple[str, str]
"""An evaluator, and the key of the fingerprint with which it scored the run; both empty where there is none."""


def _reader(files: Signature, scope: Narrowed, found: Alike | None) -> Reader:
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
        _embed(run, reader, unread)
    except InvariscopeError as error:
        st.error(safe(str(error), limit=400), icon=":material/image_search:")
    else:
        st.rerun()


def _embed(run: Run, reader: Reader, unread: Mapping[str, str]) -> None:
    """Have a reader look at pictures of a run, and keep what it saw.

    Raises:
        InvariscopeError: if the corpus cannot be read, or the evaluator is no longer the one that scored the run.
    """
    name, key = reader
    held = {item.id: item for item in load_corpus_of(run).items if item.id in unread}
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


def _picture(item: Item, pixels: str) -> np.ndarray:
    return open_bench(item, pixels_sha256=pixels, seed=RUN_SEED).pixels

"""*More like this*: the pairs of the items whose pictures an evaluator of the run embeds closest to one."""

from collections.abc import Mapping
from functools import partial

import numpy as np
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
from core.report.signature import fingerprints
from core.scoring.workbench import open_bench
from core.seeds import RUN_SEED
from core.store.manifest import Run
from pages.views.common.open_runs import Signature, scores, store
from pages.views.common.run_corpora import load_corpus_of
from pages.views.common.text import counted, number, safe
from pages.views.common.url_state import PageState
from pages.views.failures.failures_state import Named
from pages.views.probe_lab.lab_state import ready_evaluators, shared

MOST = 12
"""Items beside the one that is asked about."""

_ASKED = "failures.like.asked"

AT_ONCE = 500
"""Pictures that one click has embedded at most."""


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
    return {name: sorted(keys) for name, keys in fingerprints([_run(files, scope)]).items() if name in scope.evaluators}


def _run(files: Signature, scope: Narrowed) -> Run:
    return next(each for each in store(files).runs() if each.id == scope.run)


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
        files: what the store depends on.
        scope: of one corpus.
        found: of :func:`like_it`.
    """
    item = state.get("like")
    if not item:
        return
    pixels, reader = _pixels(files, scope), _reader(files, scope, found)
    unread = _unread(item, pixels, reader)
    if st.session_state.pop(_ASKED, False) and unread:
        _look(_run(files, scope), reader, unread)
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
                on_click=_ask,
                help=f"{name} looks at each once and keeps what it saw",
            )
        st.button(
            "Every item",
            icon=":material/undo:",
            type="tertiary",
            key="failures.like.all",
            on_click=state.put,
            args=("like", ""),
        )


def _ask() -> None:
    st.session_state[_ASKED] = True


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

    def wait(before: int) -> None:
        bar.progress(0.0, f"Others score first; {before} more wait before you …")

    def told(done: int, total: int) -> None:
        bar.progress(done / total, f"{done} of {counted(total, 'picture')} seen")

    with shared().turns.taken(wait), shared_pool().lease(name) as evaluator:
        if not isinstance(evaluator, DualEncoder) or evaluator.fingerprint.key != key:
            raise NotAvailable(f"{name} is not the one that scored run {run.id}: its weights or code changed since")
        embed_images(evaluator, images, cache=shared().embeddings, progress=told)
    shared().embeddings.flush()
    bar.empty()


def _picture(item: Item, pixels: str) -> np.ndarray:
    return open_bench(item, pixels_sha256=pixels, seed=RUN_SEED).pixels

"""The picture under the knife: picked from a corpus, uploaded or taken, with its object boxed."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.charts.canvas import thumbnail
from core.corpora.images import decode_stranger, require_auditable
from core.corpora.pictures import read_item
from core.corpora.schema import Box, Corpus, Item
from core.corpora.stacks import as_picture
from core.errors import BadImage, InvariscopeError, NotAvailable, ProbeRejected
from core.probes.pixels.grabcut import mask_from_box
from core.probes.words.categories import usual_category
from core.scoring.workbench import Workbench, with_object
from pages.views.common.access import brings, takes_audience
from pages.views.common.reader_uploads import let_go, session
from pages.views.common.run_corpora import corpus_names, item_ids, load_corpus
from pages.views.common.text import as_percent, counted, safe
from pages.views.common.url_state import PageState
from pages.views.probe_lab.drawn import draw_numbers, draw_object, forget_object, painted_mask, typed_box
from pages.views.probe_lab.state import SESSION_MB, SESSION_PICTURES, SOURCES, WORKING_SIDE, shared
from pages.views.probe_lab.upload import Upload

PICTURES = ["jpg", "jpeg", "png", "webp", "gif", "tif", "tiff"]
SHOWN_SIDE = 900
"""Longest side, in px, of the frames of a video."""

LISTED = 2000
"""Items offered in the list; a larger corpus is searched in the dialog."""

_Found = tuple[Item, Callable[[], np.ndarray], tuple[str, ...]]
"""A picture: its item, what reads its pixels, and what is said of it."""

_REFUSED, _LET_GO = "lab.refused", "lab.let_go"

A_PAGE = 12
"""Thumbnails on one page of the dialog."""


def choose_picture(state: PageState) -> Workbench | None:
    """Draw the choice of a picture; return it on a workbench, or None where there is none yet."""
    st.segmented_control(
        "Picture from", SOURCES, format_func=str.capitalize, key=state.key("source"), required=True,
        label_visibility="collapsed", width="stretch", help="A corpus item, your own file, or the camera",
    )  # fmt: skip
    try:
        found = _from_corpus(state) if state.get("source") == "corpus" else _from_reader(state)
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600), icon=":material/broken_image:")
        return None
    if found is None:
        return None
    item, read, notes = found
    bench = _on_bench(state, _named(state, item), read)
    _show(state, bench, notes)
    return bench


def said_of(item: Item, sentence: str) -> str:
    """A sentence of a probe about an item; a picture that the reader brought has no name but a hash."""
    return sentence.replace(f"item {item.id!r}", "your upload") if item.corpus == "upload" else sentence


def _named(state: PageState, item: Item) -> Item:
    """The item under the name that the reader gave its object, in the category that he chose or that the name has."""
    label = " ".join(state.get("label").split())
    category = (usual_category(label) if label else None) or item.category
    return replace(item, label=label or item.label, category=state.get("category") or category)


def _from_corpus(state: PageState) -> _Found | None:
    names = corpus_names()
    if not names:
        st.info("No corpus is here yet: `python -m core corpora` lists them. Upload a picture instead.")
        return None
    if len(names) > 1:
        st.selectbox("Corpus", names, key=state.key("corpus"), on_change=_forget_item, args=(state,))
    name = state.get("corpus")
    corpus = load_corpus(name)
    if not corpus.items:
        st.info(f"Corpus {safe(corpus.name)} holds no item.")
        return None
    ids = [item.id for item in corpus.items[:LISTED]]
    if state.get("item") not in item_ids(name):
        state.put("item", ids[0])
    chosen = state.get("item")
    row = st.container(horizontal=True, vertical_alignment="bottom")
    row.selectbox(
        f"Item of {safe(name)}", ids if chosen in ids else [chosen, *ids], key=state.key("item"),
        format_func=lambda each: _title(corpus.get(each)), on_change=forget_object, args=(state,),
    )  # fmt: skip
    if row.button("Browse", icon=":material/grid_view:", key="lab.browse"):
        _browse(state, corpus)
    item = corpus.get(state.get("item"))
    return item, partial(_pixels_of, name, item.id), ()


def _from_reader(state: PageState) -> _Found | None:
    if not brings():
        return None
    gives = bool(state.get("give")) and takes_audience()
    if gives:
        st.info("What you upload here is given to whoever presents, who may show it to everybody.",
                icon=":material/co_present:")  # fmt: skip
    if state.get("source") == "upload":
        given = st.file_uploader("Upload a picture", type=PICTURES, key="lab.file", max_upload_size=64)
    else:
        given = st.camera_input("Take a picture", key="lab.camera", resolution="1080p")
    if given is not None and st.session_state.get("lab.given") != given.file_id:
        _take(state, given, gives=gives)
    if given is not None and st.session_state.get(_REFUSED, ("", ""))[0] == given.file_id:
        raise BadImage(st.session_state[_REFUSED][1])
    upload_held = shared().uploads.get(state.get("upload"), owner=session())
    if upload_held is None:
        st.caption("JPEG, PNG, WebP, GIF or TIFF, up to 64 MB. It stays in this server's memory and is never stored.")
        return None
    return upload_held.item, upload_held.pixels, (
        *upload_held.notes,
        *filter(None, [st.session_state.get(_LET_GO)]),
        "Links to this view work while this server runs; the picture itself is not in the link.",
    )  # fmt: skip


def _take(state: PageState, given: UploadedFile, *, gives: bool) -> None:
    """Decode a file once, whatever comes of it: a rerun must not wait for a bad one again."""
    st.session_state["lab.given"] = given.file_id
    try:
        upload = _decode(given.getvalue(), given.name)
        gone = shared().uploads.put(upload.key, upload, name=upload.name, size=upload.size, owner=session())
    except BadImage as error:
        st.session_state[_REFUSED] = (given.file_id, str(error))
        return
    except NotAvailable:
        st.session_state["lab.given"] = None  # there may be room on the next run
        raise
    if gives:
        shared().uploads.give(upload.key)
    st.session_state[_LET_GO] = let_go(gone, most=SESSION_PICTURES, most_mb=SESSION_MB)
    forget_object(state)
    state.put("upload", upload.key)


def _decode(data: bytes, name: str) -> Upload:
    decoded = decode_stranger(data, name=name, max_side=WORKING_SIDE)
    require_auditable(decoded.width, decoded.height, name=name)
    return Upload.of(name, decoded.pixels, decoded.notes)


@st.cache_resource(max_entries=32, show_spinner=False)
def _pixels_of(corpus: str, item: str) -> np.ndarray:
    return read_item(load_corpus(corpus).get(item)).pixels


def _on_bench(state: PageState, item: Item, read: Callable[[], np.ndarray]) -> Workbench:
    """Put the item on a bench of its own; the same picture, label and box share one."""
    box, painted = typed_box(state, item), painted_mask(state, item)
    corpus = state.get("corpus") if state.get("source") == "corpus" else item.corpus
    key = (corpus, item.id, item.label, item.category, box, painted)
    kept = shared().benches.get(key)
    if kept is not None:
        return kept
    if painted is not None and painted.box is not None:
        item = with_object(item, painted.box, painted.to_array())
    elif box is not None:
        try:
            mask = shared().masks.get_or((corpus, item.id, box), lambda: _mask(read(), box))
        except ProbeRejected as rejection:
            st.warning(safe(said_of(item, rejection.detail), limit=400), icon=":material/select:")
        else:
            item = with_object(item, box, mask)
    return shared().bench(key, item, read)


def _mask(pixels: np.ndarray, box: Box) -> np.ndarray:
    with st.spinner("Finding the object in the box …"):
        return mask_from_box(pixels, box)


def _show(state: PageState, bench: Workbench, notes: tuple[str, ...]) -> None:
    item = bench.item
    if item.frames:
        st.image(
            thumbnail(bench.picture, side=SHOWN_SIDE),
            alt=item.label or "video, its frames side by side",
            width="stretch",
        )
    else:
        draw_object(state, bench)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", gap="small"):
        st.caption(" · ".join(_facts(item)))
        if not item.frames:
            draw_numbers(state, item)
    for note in notes:
        st.caption(safe(note, limit=400))


def _facts(item: Item) -> list[str]:
    read = f" (of the caption, by {safe(item.label_by)})" if item.label_by else ""
    facts = [f"{safe(item.label)}{read}"] if item.label else []
    facts += [item.category] if item.category else []
    facts.append(f"{item.width} × {item.height} px")
    facts += [counted(len(item.frames), "frame")] if item.frames else []
    facts += [f"object covers {as_percent(item.coverage)}"] if item.coverage else []
    facts += [safe(item.licence)] if item.licence != "unknown" else []
    return facts


def _title(item: Item) -> str:
    cover = f" · {as_percent(item.coverage)}" if item.coverage else ""
    return f"{item.label or 'no label'} · {item.category or 'no category'}{cover} · {item.id}"


@st.dialog("Choose an item", width="large")
def _browse(state: PageState, corpus: Corpus) -> None:
    wanted = st.text_input("Search label, category, caption or id", type="search", live=True, key="lab.search")
    found = [item for item in corpus.items if wanted.casefold().strip() in _searched(item)]
    if not found:
        st.info(f"No item matches {safe(wanted)}. Try a label such as {safe(corpus.items[0].label or 'cat')}.")
        return
    pages = -(-len(found) // A_PAGE)
    st.caption(counted(len(found), "item"))
    page = st.pagination(pages, key=f"lab.page.{wanted}") if pages > 1 else 1
    cells = st.grid(4, min_column_width=130, gap="small")
    for item in found[(page - 1) * A_PAGE : page * A_PAGE]:
        with cells.container(border=True):
            try:
                st.image(_thumb(state.get("corpus"), item.id), alt=item.label or item.id, width="stretch")
            except BadImage as error:
                st.caption(safe(str(error)))
            if st.button(safe(item.label or item.id, limit=40), key=f"lab.pick.{item.id}", width="stretch"):
                state.put("pick", item.id)
                st.rerun()


def take_picked(state: PageState) -> None:
    """Make the item that was clicked in the dialog the present one; before any widget is drawn."""
    picked = st.session_state.pop(state.key("pick"), None)
    if picked is not None:
        forget_object(state)
        state.put("item", picked)


@st.cache_data(max_entries=512, show_spinner=False)
def _thumb(corpus: str, item: str) -> np.ndarray:
    return thumbnail(as_picture(read_item(load_corpus(corpus).get(item)).pixels), side=240)


def _searched(item: Item) -> str:
    captions = (caption for captions in item.captions.values() for caption in captions)
    return " ".join((item.id, item.label or "", item.category or "", *captions)).casefold()


def _forget_item(state: PageState) -> None:
    state.put("item", None)
    forget_object(state)

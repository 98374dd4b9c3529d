"""The picture under the knife: picked, uploaded or taken, its object boxed, filled by GrabCut or painted on it."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.charts.canvas import ACCENT, CANVAS_SIDE, jpeg, mask_png, thumbnail
from core.corpora.images import decode_stranger, require_auditable
from core.corpora.item_pictures import as_picture, read_item
from core.corpora.schema import Box, Corpus, Item, Mask
from core.errors import BadImage, InvalidInput, InvariscopeError, NotAvailable, ProbeRejected
from core.features.lab.proposal import Proposed
from core.probes.pixels.cutout import mask_from_box
from core.probes.titles import title
from core.probes.words.categories import usual_category
from core.scoring.workbench import Workbench, at_size, format_box, parse_box, read_painted, with_object
from pages.views.common.access import brings, takes_audience
from pages.views.common.open_runs import corpus_names, item_ids, load_corpus
from pages.views.common.reader_uploads import let_go
from pages.views.common.text import as_percent, component, counted, safe
from pages.views.common.url_state import PageState
from pages.views.probe_lab import lab_state

_KEY, _TURN, _PAST, _DRAWN_REFUSED = "lab.canvas", "lab.canvas.turn", "lab.canvas.past", "lab.canvas.refused"
_FIELDS = ("box", "mask")  # what of the link says where the object is


_canvas = component("canvas")


def _draw_object(state: PageState, bench: Workbench) -> None:
    item, small = bench.item, thumbnail(bench.pixels, side=CANVAS_SIDE)
    what = item.label or "picture"
    drawn = {
        "id": bench.image_key,
        "turn": st.session_state.get(_TURN, 0),
        "picture": data_address("jpeg", jpeg(small)),
        "width": item.width,
        "height": item.height,
        "size": [small.shape[1], small.shape[0]],
        "box": [item.box.x, item.box.y, item.box.width, item.box.height] if item.box else None,
        "mask": data_address("png", mask_png(at_size(item.mask.to_array(), small.shape[:2]))) if item.mask else None,
        "colour": "rgb({},{},{})".format(*ACCENT),
        "undo": bool(st.session_state.get(_PAST)),
        "own": any(state.get(each) for each in _FIELDS),
        "alt": f"{what}, its object outlined" if item.mask else f"{what}, as it is",
    }
    _canvas(key=_KEY, on_drawn_change=lambda: _take_drawn(state, bench, small.shape[:2]), data=drawn)
    if refused := st.session_state.pop(_DRAWN_REFUSED, ""):
        st.warning(safe(refused, limit=400), icon=":material/select:")


def typed_box(state: PageState, item: Item) -> Box | None:
    """The box that the link, the reader's mouse or keyboard gave; None without one, and where it cannot be used."""
    if not state.get("box").strip():
        return None
    try:
        return parse_box(state.get("box"), width=item.width, height=item.height)
    except InvalidInput as error:
        st.warning(safe(str(error)), icon=":material/select:")
        return None


def _painted_mask(state: PageState, item: Item) -> Mask | None:
    held = lab_state.held_mask(state.get("mask")) if state.get("mask") else None
    if held is None or (held.height, held.width) == (item.height, item.width):
        return held
    st.warning("The painted mask of this link is of another picture; paint one here.", icon=":material/select:")
    return None


def forget_object(state: PageState) -> None:
    """What was said of another picture does not hold for the next one."""
    typed = ("subject", "caption") if state.get("subject") == "free" else ()
    state.take_back("label", "category", *_FIELDS, "human", "variant", *typed)
    st.session_state.pop(_PAST, None)


def _take_drawn(state: PageState, bench: Workbench, shown: tuple[int, int]) -> None:
    """Make what came from the browser the object; what cannot be used leaves it as it was, and is told."""
    told = st.session_state[_KEY].get("drawn")
    if not isinstance(told, Mapping) or told.get("picture") != bench.image_key:
        return
    turn = told.get("turn")
    st.session_state[_TURN] = turn if isinstance(turn, int) else st.session_state.get(_TURN, 0) + 1
    past = st.session_state.setdefault(_PAST, [])
    if told.get("undo"):
        _put(state, past.pop() if past else ("", ""))
        return
    try:
        wanted = _wanted(told, bench, shown)
    except InvariscopeError as error:
        st.session_state[_DRAWN_REFUSED] = str(error)
        return
    now = tuple(state.get(each) for each in _FIELDS)
    if wanted != now:
        st.session_state[_PAST] = [*past, now][-lab_state.SESSION_MASKS :]
        _put(state, wanted)


def _wanted(told: Mapping[str, Any], bench: Workbench, shown: tuple[int, int]) -> tuple[str, ...]:
    if told.get("clear"):
        return "", ""
    if "mask" in told:
        item = bench.item
        before = item.mask.to_array() if item.mask else np.zeros((item.height, item.width), bool)
        mask = Mask.from_array(read_painted(str(told["mask"]), before=before, shown=shown))
        return "", lab_state.keep_mask(mask, day=True)
    try:
        left, top, width, height = (float(each) for each in told.get("box", ()))
        inside = Box(left, top, width, height).inside(bench.item.width, bench.item.height)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadImage("what was drawn did not arrive whole; draw it again") from error
    if inside is None:
        raise InvalidInput("the box lies outside the picture; draw it inside")
    return format_box(inside), ""


def _put(state: PageState, values: tuple[str, ...]) -> None:
    for name, value in zip(_FIELDS, values, strict=True):
        state.put(name, value)


def data_address(kind: str, data: bytes) -> str:
    """A picture of this kind, ``jpeg`` or ``png``, as an address that holds it."""
    return f"data:image/{kind};base64,{b64encode(data).decode()}"


PICTURES = ["jpg", "jpeg", "png", "webp", "gif", "tif", "tiff"]
SHOWN_SIDE = 900  # longest side, in px, of the frames of a video
LISTED = 2000  # items offered in the list; a larger corpus is searched in the dialog

_Found = tuple[Item, Callable[[], np.ndarray], tuple[str, ...]]
"""A picture: its item, what reads its pixels, and what is said of it."""

PROPOSED = "lab.proposed"  # session key of the names that are proposed for what the picture shows
_REFUSED, _LET_GO = "lab.refused", "lab.let_go"
A_PAGE = 12  # thumbnails on one page of the dialog


def choose_picture(state: PageState) -> Workbench | None:
    """Draw the choice of a picture; return it on a workbench, or None where there is none yet."""
    state.switch(
        "source",
        "Picture from",
        lab_state.SOURCES,
        format_func=str.capitalize,
        label_visibility="collapsed",
        width="stretch",
        help="A corpus item, your own file, or the camera",
    )
    try:
        found = _from_corpus(state) if state.get("source") == "corpus" else _from_reader(state)
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600), icon=":material/broken_image:")
        return None
    if found is None:
        return None
    item, read, notes = found
    st.session_state[PROPOSED] = names = _proposed(state) if not item.label else ()
    if names:
        item = replace(item, label=names[0].noun, category=usual_category(names[0].noun))
    label = " ".join(state.get("label").split())
    category = (usual_category(label) if label else None) or item.category
    bench = _on_bench(state, replace(item, label=label or item.label, category=state.get("category") or category), read)
    item = bench.item
    if item.frames:
        alt = item.label or "video, its frames side by side"
        st.image(thumbnail(bench.picture, side=SHOWN_SIDE), alt=alt, width="stretch")
    else:
        _draw_object(state, bench)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", gap="small"):
        by = f" (of the caption, by {safe(item.label_by)})" if item.label_by else ""
        facts = [f"{safe(item.label)}{by}"] if item.label else []
        facts += [item.category] if item.category else []
        facts.append(f"{item.width} × {item.height} px")
        facts += [counted(len(item.frames), "frame")] if item.frames else []
        facts += [f"object covers {as_percent(item.coverage)}"] if item.coverage else []
        facts += [safe(item.licence)] if item.licence != "unknown" else []
        st.caption(" · ".join(facts))
        if not item.frames:
            with st.popover("Box in numbers", type="tertiary"):
                st.text_input(
                    "Box: x, y, width, height in px",
                    key=state.key("box"),
                    on_change=state.put,
                    args=("mask", ""),
                    placeholder=format_box(item.box) if item.box else f"of {item.width} × {item.height} px",
                    help="GrabCut finds the object in the box; repositioning moves it. Drawing on the picture does the "
                    "same.",
                )
    for note in notes:
        st.caption(safe(note, limit=400))
    return bench


def _proposed(state: PageState) -> tuple[Proposed, ...]:
    upload = lab_state.held_upload(state.get("upload"))
    if upload is None:
        return ()
    with st.spinner("Looking at what the picture shows …"):
        return lab_state.proposed(upload)


def said_of(item: Item, sentence: str) -> str:
    """A sentence of a probe about an item; a picture that the reader brought has no name but a hash."""
    return sentence.replace(f"item {item.id!r}", "your upload") if item.corpus == "upload" else sentence


def said_for(name: str, item: Item) -> str:
    """Title of a probe, the object's name in the place of the dots beside a word that is put before it."""
    said = title(name)
    return said.removeprefix("… ").replace("…", item.label) if item.label and said.endswith(" …") else said


def _from_corpus(state: PageState) -> _Found | None:
    names = corpus_names()
    if not names:
        st.info("No corpora yet: `python -m core corpora` lists them. Upload a picture instead.")
        return None
    if len(names) > 1:
        st.selectbox("Corpus", names, key=state.key("corpus"), on_change=_forget_item, args=(state,))
    name = state.get("corpus")
    corpus = load_corpus(name)
    if not corpus.items:
        st.info(f"Corpus {safe(corpus.name)} has no item.")
        return None
    ids = [item.id for item in corpus.items[:LISTED]]
    if state.get("item") not in item_ids(name):
        state.put("item", ids[0])
    chosen = state.get("item")
    row = st.container(horizontal=True, vertical_alignment="bottom")
    row.selectbox(
        f"Item of {safe(name)}",
        ids if chosen in ids else [chosen, *ids],
        key=state.key("item"),
        format_func=lambda each: _title(corpus.get(each)),
        on_change=forget_object,
        args=(state,),
    )
    if row.button("Browse", icon=":material/grid_view:", key="lab.browse"):
        _browse(state, corpus)
    item = corpus.get(state.get("item"))
    return item, partial(_pixels_of, name, item.id), ()


def _from_reader(state: PageState) -> _Found | None:
    if not brings():
        return None
    gives = bool(state.get("give")) and takes_audience()
    if gives:
        st.info(
            "What you upload here is given to whoever presents, who may show it to everybody.",
            icon=":material/co_present:",
        )
    if state.get("source") == "upload":
        given = st.file_uploader("Upload a picture", type=PICTURES, key="lab.file", max_upload_size=64)
    else:
        given = st.camera_input("Take a picture", key="lab.camera", resolution="1080p")
    if given is not None and st.session_state.get("lab.given") != given.file_id:
        _take_upload(state, given, gives=gives)
    if given is not None and st.session_state.get(_REFUSED, ("", ""))[0] == given.file_id:
        raise BadImage(st.session_state[_REFUSED][1])
    upload_held = lab_state.held_upload(state.get("upload"))
    if upload_held is None:
        st.caption("JPEG, PNG, WebP, GIF or TIFF, up to 64 MB. This server keeps it for a day, then deletes it.")
        return None
    return (
        upload_held.item,
        upload_held.pixels,
        (
            *upload_held.notes,
            *filter(None, [st.session_state.get(_LET_GO)]),
            "A link to this view shows the picture for a day, to whoever has the link.",
        ),
    )


def _take_upload(state: PageState, given: UploadedFile, *, gives: bool) -> None:
    """Decode a file once, whatever comes of it: a rerun must not wait for a bad one again."""
    st.session_state["lab.given"] = given.file_id
    try:
        decoded = decode_stranger(given.getvalue(), name=given.name, max_side=lab_state.WORKING_SIDE)
        require_auditable(decoded.width, decoded.height, name=given.name)
        upload = lab_state.Upload.of(given.name, decoded.pixels, decoded.notes)
        gone = lab_state.keep_upload(upload, day=not gives)
    except BadImage as error:
        st.session_state[_REFUSED] = (given.file_id, str(error))
        return
    except NotAvailable:
        st.session_state["lab.given"] = None  # there may be room on the next run
        raise
    if gives:
        lab_state.shared().uploads.give(upload.key)
    st.session_state[_LET_GO] = let_go(gone, most=lab_state.SESSION_PICTURES, most_mb=lab_state.SESSION_MB)
    forget_object(state)
    state.put("upload", upload.key)


@st.cache_resource(max_entries=32, show_spinner=False)
def _pixels_of(corpus: str, item: str) -> np.ndarray:
    return read_item(load_corpus(corpus).get(item)).pixels


def _on_bench(state: PageState, item: Item, read: Callable[[], np.ndarray]) -> Workbench:
    """Put the item on its own bench; the same picture, label and box share one."""
    box, painted = typed_box(state, item), _painted_mask(state, item)
    corpus = state.get("corpus") if state.get("source") == "corpus" else item.corpus
    key = (corpus, item.id, item.label, item.category, box, painted)
    kept = lab_state.shared().benches.get(key)
    if kept is not None:
        return kept
    if painted is not None and painted.box is not None:
        item = with_object(item, painted.box, painted.to_array())
    elif box is not None:
        try:
            mask = lab_state.shared().masks.get_or((corpus, item.id, box), lambda: _mask(read(), box))
        except ProbeRejected as rejection:
            st.warning(safe(said_of(item, rejection.detail), limit=400), icon=":material/select:")
        else:
            item = with_object(item, box, mask)
    return lab_state.shared().bench(key, item, read)


def _mask(pixels: np.ndarray, box: Box) -> np.ndarray:
    with st.spinner("Finding the object in the box …"):
        return mask_from_box(pixels, box)


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

"""The object, drawn on the picture itself: a box that GrabCut fills, or a painted mask, each undone step by step."""

from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np
import streamlit as st

from core.charts.canvas import ACCENT, CANVAS_SIDE, jpeg, mask_png, thumbnail
from core.corpora.schema import Box, Item, Mask
from core.errors import BadImage, InvalidInput, InvariscopeError
from core.scoring.painted import at_size, read_painted
from core.scoring.workbench import Workbench, format_box, parse_box
from core.settings import assets_dir
from pages.views.common.reader_uploads import session
from pages.views.common.text import safe
from pages.views.common.url_state import PageState
from pages.views.probe_lab.state import SESSION_MASKS, shared

_HTML = """
<figure><div class="stage"><canvas role="img"></canvas><div class="box" role="group" tabindex="0" hidden></div>
<span class="ring" hidden></span></div>
<div class="tools" role="toolbar" aria-label="Draw the object">
<button type="button" data-tool="box" title="Draw a box around the object, pull its handles, or move it">Box</button>
<button type="button" data-tool="brush" title="Paint what belongs to the object">Brush</button>
<button type="button" data-tool="eraser" title="Take away what does not belong to it">Eraser</button>
<span class="gap"></span>
<button type="button" data-do="outline" aria-pressed="true" title="Show where the object is">Outline</button>
<button type="button" data-do="undo" title="Ctrl+Z">Undo</button>
<button type="button" data-do="clear" title="Back to the object as it came with the picture">Clear</button>
<label hidden>Size <input type="range" min="1" max="25" value="6" step="1"></label></div></figure>
"""

_KEY, _TURN, _PAST, _REFUSED = "lab.canvas", "lab.canvas.turn", "lab.canvas.past", "lab.canvas.refused"

_FIELDS = ("box", "mask")
"""What of the link says where the object is."""


@st.cache_resource(show_spinner=False)
def _canvas() -> Any:
    """The component, registered once: its script and its style lie beside the app's."""
    files = (assets_dir() / "style" / f"canvas.{kind}" for kind in ("css", "js"))
    css, js = (each.read_text(encoding="utf-8") for each in files)
    return st.components.v2.component("invariscope_object", html=_HTML, css=css, js=js)


def draw_object(state: PageState, bench: Workbench) -> None:
    """Draw the picture with its object, to be drawn on."""
    item, small = bench.item, thumbnail(bench.pixels, side=CANVAS_SIDE)
    what = item.label or "picture"
    _canvas()(
        key=_KEY, on_drawn_change=lambda: _take(state, bench, small.shape[:2]),
        data={
            "id": bench.image_key, "turn": st.session_state.get(_TURN, 0), "picture": _address("jpeg", jpeg(small)),
            "width": item.width, "height": item.height, "size": [small.shape[1], small.shape[0]],
            "box": [item.box.x, item.box.y, item.box.width, item.box.height] if item.box else None,
            "mask": _address("png", mask_png(at_size(item.mask.to_array(), small.shape[:2]))) if item.mask else None,
            "colour": "rgb({},{},{})".format(*ACCENT), "undo": bool(st.session_state.get(_PAST)),
            "own": any(state.get(each) for each in _FIELDS),
            "alt": f"{what}, its object outlined" if item.mask else f"{what}, as it is",
        },
    )  # fmt: skip
    if refused := st.session_state.pop(_REFUSED, ""):
        st.warning(safe(refused, limit=400), icon=":material/select:")


def draw_numbers(state: PageState, item: Item) -> None:
    """Draw the way to type the box."""
    with st.popover("Box in numbers", type="tertiary"):
        st.text_input(
            "Box: x, y, width, height in px", key=state.key("box"), on_change=state.put, args=("mask", ""),
            placeholder=format_box(item.box) if item.box else f"of {item.width} × {item.height} px",
            help="GrabCut finds the object in the box; repositioning moves it. Drawing on the picture does the same.",
        )  # fmt: skip


def typed_box(state: PageState, item: Item) -> Box | None:
    """The box that the link, the reader's mouse or keyboard gave; None without one, and where it cannot be used."""
    if not state.get("box").strip():
        return None
    try:
        return parse_box(state.get("box"), width=item.width, height=item.height)
    except InvalidInput as error:
        st.warning(safe(str(error)), icon=":material/select:")
        return None


def painted_mask(state: PageState, item: Item) -> Mask | None:
    """The mask that was painted on this picture; None without one."""
    held = shared().painted.get(state.get("mask"), owner=session()) if state.get("mask") else None
    if held is None or (held.height, held.width) == (item.height, item.width):
        return held
    st.warning("The painted mask of this link is of another picture; paint one here.", icon=":material/select:")
    return None


def forget_object(state: PageState) -> None:
    """What was said of another picture does not hold for the next one."""
    state.take_back("label", "category", *_FIELDS, "human", "variant")
    st.session_state.pop(_PAST, None)


def _take(state: PageState, bench: Workbench, shown: tuple[int, int]) -> None:
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
        st.session_state[_REFUSED] = str(error)
        return
    now = tuple(state.get(each) for each in _FIELDS)
    if wanted != now:
        st.session_state[_PAST] = [*past, now][-SESSION_MASKS:]
        _put(state, wanted)


def _wanted(told: Mapping[str, Any], bench: Workbench, shown: tuple[int, int]) -> tuple[str, ...]:
    """Box and mask as the link has them."""
    if told.get("clear"):
        return "", ""
    if "mask" in told:
        return "", _keep(str(told["mask"]), bench, shown)
    try:
        left, top, width, height = (float(each) for each in told.get("box", ()))
        inside = Box(left, top, width, height).inside(bench.item.width, bench.item.height)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadImage("what was drawn did not arrive whole; draw it again") from error
    if inside is None:
        raise InvalidInput("the box lies outside the picture; draw it inside")
    return format_box(inside), ""


def _keep(address: str, bench: Workbench, shown: tuple[int, int]) -> str:
    """Keep a painted mask in memory; returns its name in the link."""
    item = bench.item
    before = item.mask.to_array() if item.mask else np.zeros((item.height, item.width), bool)
    mask = Mask.from_array(read_painted(address, before=before, shown=shown))
    key = sha256(mask.counts).hexdigest()[:32]
    shared().painted.put(key, mask, name="a painted mask", size=len(mask.counts), owner=session())
    return key


def _put(state: PageState, values: tuple[str, ...]) -> None:
    for name, value in zip(_FIELDS, values, strict=True):
        state.put(name, value)


def _address(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{b64encode(data).decode()}"

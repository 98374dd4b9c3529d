"""Two pictures of one size, one over the other: a slider uncovers the second, a button shows them by turns."""

from base64 import b64encode
from collections.abc import Callable
from io import BytesIO

import streamlit as st
from PIL import Image

_HTML = """
<figure><div class="stage"><img class="after"><img class="before"><span class="edge"></span></div>
<label>Original <input type="range" min="0" max="100" value="50" step="1"> Variant</label>
<button type="button" aria-pressed="false">Blink</button></figure>
"""

_CSS = """
:host { display: block; }
figure { margin: 0; }
.stage { position: relative; display: grid; max-width: 100%; width: fit-content; margin: 0 auto; }
img { grid-area: 1 / 1; max-width: 100%; max-height: 26rem; display: block; border-radius: 0.25rem; }
.edge { position: absolute; top: 0; bottom: 0; width: 2px; margin-left: -1px; background: #FFFFFF;
  box-shadow: 0 0 3px #000000; }
label { display: flex; gap: 0.7rem; align-items: center; justify-content: center; padding-top: 0.5rem; font: inherit;
  font-size: 0.9rem; color: inherit; }
button { display: block; margin: 0.4rem auto 0; padding: 0.15rem 0.8rem; font: inherit; font-size: 0.9rem;
  color: inherit; background: transparent; border: 1px solid currentColor; border-radius: 0.4rem; cursor: pointer; }
button[aria-pressed="true"] { background: var(--st-primary-color); border-color: var(--st-primary-color);
  color: var(--st-background-color); }
input { width: min(22rem, 60%); accent-color: var(--st-primary-color); }
"""

_JS = """
export default function ({ data, parentElement }) {
  const [before, after] = ["before", "after"].map((each) => parentElement.querySelector("." + each));
  const edge = parentElement.querySelector(".edge");
  const input = parentElement.querySelector("input");
  before.src = data.before; after.src = data.after;
  before.alt = data.alt + ", as it is"; after.alt = data.alt + ", edited";
  input.setAttribute("aria-label", "How much of the variant is uncovered, in percent");
  const show = () => {
    const left = 100 - Number(input.value);
    before.style.clipPath = `inset(0 ${100 - left}% 0 0)`;
    edge.style.left = left + "%";
  };
  const blink = parentElement.querySelector("button");
  const swap = () => { input.value = Number(input.value) > 50 ? 0 : 100; show(); };
  const still = () => {
    clearInterval(parentElement.blinking);
    parentElement.blinking = null;
    blink.setAttribute("aria-pressed", "false");
  };
  blink.onclick = () => {
    if (parentElement.blinking) { still(); return; }
    swap();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    parentElement.blinking = setInterval(swap, 700);
    blink.setAttribute("aria-pressed", "true");
  };
  input.oninput = () => { still(); show(); };
  show();
  return still;
}
"""
_slider = st.components.v2.component("invariscope_before_after", html=_HTML, css=_CSS, js=_JS)


def offer(pictures: Callable[[], tuple[bytes, bytes]], *, alt: str, key: str, on: bool = False) -> None:
    """Draw a switch that lays the variant under the picture, and both where it is on.

    Args:
        pictures: makes both files, once somebody wants them; see :func:`before_after`.
        alt: what they show.
        key: prefix of the keys.
        on: how the switch stands before somebody turns it.
    """
    if not st.toggle(
        "One over the other", on, key=f"{key}.over", help="A slider uncovers the variant, *Blink* shows both by turns"
    ):
        return
    if not before_after(*pictures(), alt=alt, key=f"{key}.slider"):
        st.caption("The edit changed the size of the picture: no place of one lies over the same place of the other.")


def before_after(before: bytes, after: bytes, *, alt: str, key: str) -> bool:
    """Draw both; nothing where they are of two sizes, for then no place of one lies over the same place of the other.

    Args:
        before, after: whole JPEG files of our own making.
        alt: what they show.
        key: of the place.

    Returns:
        Whether they are drawn.
    """
    sizes = {Image.open(BytesIO(each)).size for each in (before, after)}
    if len(sizes) > 1:
        return False
    _slider(key=key, data={"before": _address(before), "after": _address(after), "alt": alt})
    return True


def _address(jpeg: bytes) -> str:
    return f"data:image/jpeg;base64,{b64encode(jpeg).decode()}"

"""The address of a page, to be handed on: copied by a button, as a QR code for phones, and the one of annotators."""

from urllib.parse import urlsplit, urlunsplit

import streamlit as st

from core.settings import public_url
from pages.views.common.access import HUMAN

_HTML = """
<div class="row"><button type="button"><span class="label">Copy link</span></button></div>
<div class="said" role="status"></div>
"""

_CSS = """
:host { display: block; }
.row { display: flex; justify-content: flex-end; }
button { font: inherit; font-size: 0.93rem; color: inherit; background: transparent; cursor: pointer;
  white-space: nowrap; min-height: 2.5rem; border: 0; border-radius: var(--st-button-radius); padding: 0.3rem 0.6rem;
  line-height: 1.6; }
button:hover { color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
.said { font-size: 0.8rem; opacity: 0.85; text-align: right; max-width: 17rem; overflow-wrap: anywhere; }
.said:not(:empty) { padding-top: 0.2rem; }
"""

# The address of the browser, not the server's idea of it: behind a proxy or a tunnel only the former can be sent on.
_JS = """
export default function (component) {
  const { data, parentElement } = component;
  const button = parentElement.querySelector("button");
  const label = parentElement.querySelector(".label");
  const said = parentElement.querySelector(".said");
  const copy = async (text) => {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    const area = document.createElement("textarea");
    area.value = text;
    document.body.appendChild(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error("not allowed");
  };
  let timer;
  button.onclick = async () => {
    clearTimeout(timer);
    try {
      await copy(window.location.href);
      label.textContent = "Copied";
      said.textContent = data.lost;
    } catch {
      label.textContent = "Not copied";
      said.textContent = "The browser does not allow it. Take the address: " + window.location.href;
      return;
    }
    timer = setTimeout(() => { label.textContent = "Copy link"; said.textContent = ""; }, data.lost ? 8000 : 2500);
  };
  return () => clearTimeout(timer);
}
"""

_button = st.components.v2.component("invariscope_copy_link", html=_HTML, css=_CSS, js=_JS)


def copy_link(key: str, lost: str) -> None:
    """Draw the button.

    Args:
        key: of the component in the session.
        lost: what the address does not carry, as a sentence in our own words; said once it is copied.
    """
    _button(key=key, data={"lost": lost}, width="content")


def code_svg(address: str) -> str:
    """The QR code of an address, dark on white with its quiet zone, as SVG."""
    from qrcode.constants import ERROR_CORRECT_M  # here, for every page imports this module and two draw a code
    from qrcode.image.svg import SvgPathFillImage
    from qrcode.main import QRCode

    code = QRCode(error_correction=ERROR_CORRECT_M, image_factory=SvgPathFillImage)
    code.add_data(address)
    return str(code.make_image().to_string(encoding="unicode"))


def annotators_address() -> str:
    """The public address where one is set, else this server's as the browser names it; with the page, no query."""
    parts = urlsplit(st.context.url or "http://localhost:8501")
    return f"{public_url() or urlunsplit((parts.scheme, parts.netloc, '', '', ''))}/{HUMAN}"

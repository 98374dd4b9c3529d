"""Cookies of this browser: one of ours, for as long as it is open, and Streamlit's, which tells browsers apart."""

from binascii import Error, unhexlify
from itertools import cycle

import streamlit as st

_XSRF = "_streamlit_xsrf"

_JS = """
export default function ({ data }) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${data.name}=${data.value}; Path=/; SameSite=Strict${secure}`;
}
"""
_keep = st.components.v2.component("invariscope_cookie", js=_JS)


def keep_cookie(name: str, value: str) -> None:
    """Let the browser keep a cookie of this site, which no other site's page sends along.

    Args:
        name: letters, digits and underscores.
        value: letters and digits.
    """
    _keep(key=f"cookie.{name}", data={"name": name, "value": value}, height=1)


def of_browser() -> bytes:
    """What this browser, and no other, sends with every request: Streamlit's token against forged requests; else empty.

    The cookie holds it under a mask that changes with every page (``2|mask|masked|time``, hexadecimal, as Tornado's).
    """
    parts = str(st.context.cookies.get(_XSRF, "")).strip("\"'").split("|")
    try:
        mask, masked = unhexlify(parts[1]), unhexlify(parts[2])
    except (IndexError, Error, ValueError):
        return b""
    return bytes(one ^ other for one, other in zip(masked, cycle(mask), strict=False)) if mask else b""

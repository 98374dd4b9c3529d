"""A cookie of this browser, for as long as it is open: Streamlit reads cookies and writes none."""

import streamlit as st

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

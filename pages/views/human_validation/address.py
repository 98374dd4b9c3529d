"""Under which address annotators reach this page."""

from urllib.parse import urlsplit, urlunsplit

import streamlit as st

from core.settings import public_url
from pages.views.common.access import HUMAN


def address() -> str:
    """The public address where one is set, else this server's as the browser names it; with the page, no query."""
    parts = urlsplit(st.context.url or "http://localhost:8501")
    return f"{public_url() or urlunsplit((parts.scheme, parts.netloc, '', '', ''))}/{HUMAN}"

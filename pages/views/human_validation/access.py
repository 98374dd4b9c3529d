"""Who may see what: an annotator their items, a coordinator the studies, a stranger nothing of either.

Every rule is kept on the server, in every run of every script: a page that is not listed cannot be opened by its
address, and a hidden menu is only for the eye.
"""

import hmac
import os
import threading
import time
from collections.abc import Mapping
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from streamlit.navigation.page import StreamlitPage

PASSWORD = "INVARISCOPE_COORDINATOR_PASSWORD"
COORDINATORS = "INVARISCOPE_COORDINATORS"
SHORTEST = 8
"""Characters that a coordinator password has at least."""

TRIES = 5
WAIT = 30.0
"""Seconds that nobody may try a password after TRIES wrong ones."""

HUMAN = "human_validation"

_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip")
_SIGNED_IN = "study.signed_in"

Pages = Mapping[str, tuple[tuple[str, str, str], ...]]


class Access(StrEnum):
    """What a session may do.

    ``open``: everything: this machine only, no password set. ``coordinator``: everything, signed in. ``locked``:
    nothing but signing in or an annotator's link. ``unprotected``: the dashboard, but no study: the server can be
    reached by others, and no password is set.
    """

    OPEN = "open"
    COORDINATOR = "coordinator"
    LOCKED = "locked"
    UNPROTECTED = "unprotected"


class Attempts:
    """Wrong passwords of this server, whoever tried."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wrong = 0
        self._until = 0.0

    def wait(self) -> float:
        """Seconds until somebody may try again."""
        with self._lock:
            return max(self._until - time.monotonic(), 0.0)

    def note(self, *, right: bool) -> None:
        """Count an attempt."""
        with self._lock:
            self._wrong = 0 if right else self._wrong + 1
            if self._wrong >= TRIES:
                self._wrong, self._until = 0, time.monotonic() + WAIT


@st.cache_resource(show_spinner=False)
def attempts() -> Attempts:
    """Attempts of this server."""
    return Attempts()


def access() -> Access:
    """What this session may do now."""
    if _password() or _oidc():
        return Access.COORDINATOR if signed_in() else Access.LOCKED
    return Access.OPEN if _local() else Access.UNPROTECTED


def may_coordinate() -> bool:
    """Whether this session may see studies: asked before anything of one is drawn."""
    return access() in (Access.OPEN, Access.COORDINATOR)


def takes_annotators() -> bool:
    """Whether links of annotators are answered here."""
    return access() is not Access.UNPROTECTED


def signed_in() -> bool:
    """Whether this session gave the password, or the account that it is logged in with is a coordinator's."""
    password = _password()
    if password and hmac.compare_digest(str(st.session_state.get(_SIGNED_IN, "")).encode(), _mark(password)):
        return True
    told = _user()
    if not told.get("is_logged_in"):
        return False
    allowed = {name.strip().lower() for name in os.environ.get(COORDINATORS, "").split(",") if name.strip()}
    return bool(told.get("email_verified", True)) and str(told.get("email", "")).lower() in allowed


def visible(pages: Pages) -> Pages:
    """Pages that exist for this session: all, or for annotators and strangers only the one of the studies."""
    if "token" not in st.query_params and access() is not Access.LOCKED:
        return pages
    return {"": tuple(page for section in pages.values() for page in section if page[0] == HUMAN)}


def at_the_door(listed: Pages) -> dict[str, list[StreamlitPage]]:
    """Front page for those who may see no other: a section of ``st.navigation``, empty where all pages are listed."""
    whole = any(page[0] == "overview" for section in listed.values() for page in section)
    return {} if whole else {"Door": [st.Page(_door, title="Invariscope", icon=":material/lock:", default=True)]}


def hidden() -> bool:
    """Whether there is no menu: annotators and strangers have one page."""
    return "token" in st.query_params or access() is Access.LOCKED


def _door() -> None:
    st.title("Invariscope", anchor=False)
    if "token" in st.query_params or access() is not Access.LOCKED:
        st.info("Open the personal link that you were sent.")
    else:
        draw_sign_in()


def draw_sign_in() -> None:
    """Draw what stands in front of the studies: a password field, a log-in button, or what is to be set up first."""
    if access() is Access.UNPROTECTED:
        st.info(
            f"This server can be reached from other machines, and nothing protects its studies. Set {PASSWORD} "
            f"(at least {SHORTEST} characters) or Streamlit's OIDC log-in, and start it again.",
            icon=":material/lock:",
        )
        return
    if _oidc():
        told = _user()
        if told.get("is_logged_in"):
            st.warning(f"This account is no coordinator's; its e-mail address must stand in {COORDINATORS}.")
            st.button("Log out", on_click=st.logout)
        else:
            st.button("Log in", icon=":material/login:", on_click=st.login, type="primary")
    if _password():
        with st.form("study.sign_in", width=420):
            st.text_input(
                "Coordinator password", type="password", key="study.password", autocomplete="current-password"
            )
            st.form_submit_button("Sign in", icon=":material/login:", on_click=_try, type="primary")
        if st.session_state.get("study.refused"):
            st.error(st.session_state["study.refused"])
    st.caption("Annotators need no password: they open the personal link that they were sent.")


def draw_sign_out() -> None:
    """Draw the way out, where there was a way in."""
    if access() is Access.COORDINATOR:
        st.button("Sign out", icon=":material/logout:", on_click=_sign_out, key="study.sign_out", type="tertiary")


def _try() -> None:
    wait = attempts().wait()
    given, password = str(st.session_state.pop("study.password", "")), _password()
    if wait:
        st.session_state["study.refused"] = f"Too many wrong passwords; try again in {wait:.0f} seconds."
        return
    right = bool(password) and hmac.compare_digest(given.encode(), password.encode())
    attempts().note(right=right)
    st.session_state["study.refused"] = "" if right else "This is not the password."
    if right:
        st.session_state[_SIGNED_IN] = _mark(password).decode()


def _sign_out() -> None:
    st.session_state.pop(_SIGNED_IN, None)
    if _user().get("is_logged_in"):
        st.logout()


def _mark(password: str) -> bytes:
    """What a session keeps of the password: another one makes every session sign in again."""
    return hmac.new(password.encode(), b"signed in", "sha256").hexdigest().encode()


def _password() -> str:
    given = os.environ.get(PASSWORD, "")
    return given if len(given) >= SHORTEST else ""


def _oidc() -> bool:
    """Whether Streamlit's log-in is configured, and coordinators are named."""
    return "is_logged_in" in _user() and bool(os.environ.get(COORDINATORS, "").strip())


def _user() -> dict[str, Any]:
    return dict(st.user.to_dict())


def _local() -> bool:
    """Whether only this machine can be asking: the server's address, the request's host, no proxy in between."""
    address = st.get_option("server.address")
    headers = st.context.headers
    host = urlsplit(f"//{headers.get('Host', 'localhost')}").hostname or ""
    proxied = any(name in headers for name in _FORWARDED)
    return address in _LOCAL and host in _LOCAL and not proxied and not isinstance(st.context.ip_address, str)

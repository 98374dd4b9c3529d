"""Streamlit's OIDC log-in: whether whom the provider names is somebody whom this server's operator named."""

import os
import time
from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

COORDINATORS = "INVARISCOPE_COORDINATORS"
"""Who operates, with commas between: addresses that the provider verified, or ``sub:`` and its own name of somebody."""

SUBJECT = "sub:"

LASTS_S = 12 * 3600.0
"""Seconds after which a log-in is asked for again; Streamlit's cookie would last for thirty days."""

AHEAD_S = 300.0
"""Seconds by which the provider's clock may be ahead of this one."""

_NEEDED = ("client_id", "client_secret", "server_metadata_url")
"""What Streamlit needs to know of a provider."""

SHORTEST_SECRET = 32
"""Characters that ``cookie_secret`` has at least: whoever guesses it may sign for anybody."""


def offered() -> bool:
    """Whether coordinators are named: then nobody else operates, also where no provider is configured by mistake."""
    return bool(os.environ.get(COORDINATORS, "").strip())


def missing() -> str:
    """Why the log-in that is set up here lets nobody in, in a sentence; empty where it does, or where there is none."""
    try:
        auth = st.secrets.get("auth")
    except (StreamlitSecretNotFoundError, OSError, ValueError) as error:
        there = any(os.path.lexists(place) for place in st.get_option("secrets.files"))
        if there or not isinstance(error, StreamlitSecretNotFoundError):
            return "Nobody can log in: this server's `.streamlit/secrets.toml` is there and cannot be read."
        auth = None
    if auth is None:
        return offered() * (
            f"Nobody can log in: {COORDINATORS} is set, and this server's `.streamlit/secrets.toml` has no section "
            "`[auth]`, or is not there."
        )
    if not offered():
        return (
            "Nobody can log in: this server's `.streamlit/secrets.toml` has a section `[auth]`, and "
            f"{COORDINATORS} names nobody who operates."
        )
    return _half_set(auth)


def _half_set(auth: Any) -> str:
    """What the section ``[auth]`` lacks, in a sentence."""
    provider = auth.get("default", auth) if isinstance(auth, Mapping) else {}
    if lacking := [
        name
        for section, names in ((auth, ("redirect_uri", "cookie_secret")), (provider, _NEEDED))
        for name in names
        if not isinstance(section, Mapping) or not section.get(name)
    ]:
        said = ", ".join(f"`{name}`" for name in lacking)
        return f"Nobody can log in: {said} of `[auth]` in this server's `.streamlit/secrets.toml` is not set."
    if len(str(auth["cookie_secret"])) < SHORTEST_SECRET:
        return (
            "Nobody can log in: `cookie_secret` under `[auth]` in this server's `.streamlit/secrets.toml` has fewer "
            f"than {SHORTEST_SECRET} characters, and whoever guesses it could sign for anybody."
        )
    return ""


def user() -> dict[str, Any]:
    """What the provider said of who is logged in."""
    return dict(st.user.to_dict())


def logged_in() -> bool:
    """Whether who is logged in is one whom the server's operator named."""
    told = user()
    return bool(told.get("is_logged_in")) and offered() and not missing() and not refusal()


def refusal() -> str:
    """Why the account that is logged in is no coordinator's, in a sentence; empty where it is one's."""
    told = user()
    return "You logged out. Log in again." if _key(told) in _ended() else why_not(told, now=time.time())


def log_out() -> None:
    """End this log-in in every tab, and for whoever has its cookie, as long as this server runs; go to the provider."""
    ended, now = _ended(), time.time()
    for key in [key for key, until in ended.copy().items() if until < now]:
        ended.pop(key, None)
    ended[_key(user())] = now + LASTS_S + AHEAD_S
    st.logout()


@st.cache_resource(show_spinner=False)
def _ended() -> dict[tuple[str, str], float]:
    """Log-ins that were ended -> when nobody can show their cookies any more, in seconds since 1970."""
    return {}


def _key(told: Mapping[str, Any]) -> tuple[str, str]:
    return str(told.get("sub")), str(told.get("iat"))


def why_not(told: Mapping[str, Any], *, now: float) -> str:
    """Why an account that is logged in is no coordinator's, in a sentence; empty where it is one's.

    Args:
        told: claims of the ID token.
        now: seconds since 1970.
    """
    begun = told.get("iat")
    if not isinstance(begun, int | float) or not now - LASTS_S < begun <= now + AHEAD_S:
        return f"This log-in is more than {LASTS_S / 3600:.0f} hours old. Log in again."
    names = [name.strip() for name in os.environ.get(COORDINATORS, "").split(",")]
    if told.get("sub") and f"{SUBJECT}{told['sub']}" in names:
        return ""
    email = str(told.get("email") or "").lower()
    if not email or email not in [name.lower() for name in names if not name.startswith(SUBJECT)]:
        return f"This account is no coordinator's; its e-mail address must stand in {COORDINATORS}."
    if str(told.get("email_verified")).lower() != "true":
        return "The log-in does not say that this e-mail address was verified, so it proves nothing."
    return ""

"""Who may do what: an annotator their items, an operator everything, a viewer looks, a stranger nothing of it.

Every rule is kept on the server, in every run of every script: a page that is not listed cannot be opened by its
address, and a hidden menu is only for the eye. Streamlit runs callbacks before a page: whoever pressed may have lost
the right meanwhile, so those that do more than look ask again.
"""

import hmac
import os
import time
from binascii import Error, unhexlify
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from functools import partial, wraps
from itertools import cycle
from typing import Any, ParamSpec
from urllib.parse import urlsplit

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError
from streamlit.navigation.page import StreamlitPage

from core.features.feature import Entry, View, entries, views
from core.settings import public_url, refused, says_yes
from core.yes_no import yes_or_no

COORDINATORS = "INVARISCOPE_COORDINATORS"
"""Who operates, with commas between: addresses that the provider verified, or ``sub:`` and its own name of somebody."""

SUBJECT = "sub:"

LOG_IN_LASTS_S = 12 * 3600.0
"""Seconds after which a log-in is asked for again; Streamlit's cookie would last for thirty days."""

CLOCK_AHEAD_S = 300.0  # seconds by which the provider's clock may be ahead of this one
_PROVIDER_NEEDS = ("client_id", "client_secret", "server_metadata_url")  # what Streamlit needs to know of a provider
SHORTEST_SECRET = 32  # characters that ``cookie_secret`` has at least: whoever guesses it may sign for anybody


def names_coordinators() -> bool:
    """Whether coordinators are named: then nobody else operates, also where no provider is configured by mistake."""
    return bool(os.environ.get(COORDINATORS, "").strip())


def log_in_lacks() -> str:
    """Why the log-in that is set up here lets nobody in, in a sentence; empty where it does, or where there is none."""
    try:
        auth = st.secrets.get("auth")
    except (StreamlitSecretNotFoundError, OSError, ValueError) as error:
        there = any(os.path.lexists(place) for place in st.get_option("secrets.files"))
        if there or not isinstance(error, StreamlitSecretNotFoundError):
            return "Nobody can log in: this server's `.streamlit/secrets.toml` is there and cannot be read."
        auth = None
    if auth is None:
        return names_coordinators() * (
            f"Nobody can log in: {COORDINATORS} is set, and this server's `.streamlit/secrets.toml` has no section "
            "`[auth]`, or is not there."
        )
    if not names_coordinators():
        return (
            "Nobody can log in: this server's `.streamlit/secrets.toml` has a section `[auth]`, and "
            f"{COORDINATORS} names nobody who operates."
        )
    provider = auth.get("default", auth) if isinstance(auth, Mapping) else {}
    if lacking := [
        name
        for section, names in ((auth, ("redirect_uri", "cookie_secret")), (provider, _PROVIDER_NEEDS))
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


def account() -> dict[str, Any]:
    """What the provider said of who is logged in."""
    return dict(st.user.to_dict())


def refused_account() -> str:
    """Why the account that is logged in is no coordinator's, in a sentence; empty where it is one's."""
    told = account()
    return (
        "You logged out. Log in again."
        if _log_in(told) in _ended_log_ins()
        else why_no_coordinator(told, now=time.time())
    )


def log_out() -> None:
    """End this log-in in every tab, and for whoever has its cookie, as long as this server runs; go to the provider."""
    ended, now = _ended_log_ins(), time.time()
    for key in [key for key, until in ended.copy().items() if until < now]:
        ended.pop(key, None)
    ended[_log_in(account())] = now + LOG_IN_LASTS_S + CLOCK_AHEAD_S
    st.logout()


@st.cache_resource(show_spinner=False)
def _ended_log_ins() -> dict[tuple[str, str], float]:
    """Log-ins that were ended -> when nobody can show their cookies any more, in seconds since 1970."""
    return {}


def _log_in(told: Mapping[str, Any]) -> tuple[str, str]:
    return str(told.get("sub")), str(told.get("iat"))


def why_no_coordinator(told: Mapping[str, Any], *, now: float) -> str:
    """Why an account is no coordinator's, in a sentence; empty where it is one's. ``now``: seconds since 1970."""
    begun = told.get("iat")
    if not isinstance(begun, int | float) or not now - LOG_IN_LASTS_S < begun <= now + CLOCK_AHEAD_S:
        return f"This log-in is more than {LOG_IN_LASTS_S / 3600:.0f} hours old. Log in again."
    names = [name.strip() for name in os.environ.get(COORDINATORS, "").split(",")]
    if told.get("sub") and f"{SUBJECT}{told['sub']}" in names:
        return ""
    email = str(told.get("email") or "").lower()
    if not email or email not in [name.lower() for name in names if not name.startswith(SUBJECT)]:
        return f"This account is no coordinator's; its e-mail address must stand in {COORDINATORS}."
    if str(told.get("email_verified")).lower() != "true":
        return "The log-in does not say that this e-mail address was verified, so it proves nothing."
    return ""


def of_browser() -> bytes:
    """What this browser, and no other, sends with every request: Streamlit's token against forged requests; else empty.
    The cookie holds it under a mask that changes with every page (``2|mask|masked|time``, hexadecimal, as
    Tornado's)."""
    parts = str(st.context.cookies.get("_streamlit_xsrf", "")).strip("\"'").split("|")
    try:
        mask, masked = unhexlify(parts[1]), unhexlify(parts[2])
    except (IndexError, Error, ValueError):
        return b""
    return bytes(one ^ other for one, other in zip(masked, cycle(mask), strict=False)) if mask else b""


TOKEN = "INVARISCOPE_TOKEN"
"""Of this server, as ``python -m core app`` makes it and puts it into the link that it prints."""

VIEWERS = "INVARISCOPE_VIEWERS"
"""``yes``: who does not sign in may look, where a log-in is set; ``no``: nobody who is not let in, wherever."""

VIEWER_UPLOADS = "INVARISCOPE_VIEWER_UPLOADS"
"""``yes``: viewers may bring pictures, videos and captions, which stay in this server's memory."""

AUDIENCE = "INVARISCOPE_AUDIENCE"
"""``yes``: an operator who presents shows a code by which an audience gives pictures from its phones."""

METRIC_UPLOADS = "INVARISCOPE_METRIC_UPLOADS"
"""``yes``: an operator may bring a file of a metric, which is code that this server's jobs run."""

KEY = "key"  # parameter of the link that holds the token
KEPT = "X-Invariscope-Key"  # header of a WebSocket with what its browser keeps of the token
START = "start"  # the entry at which the dashboard opens
HUMAN = "human_validation"
AUDIT = "run_audit"
LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})  # names under which a machine reaches itself and nobody else does
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip")
_ADMITTED = "access.admitted"


_ASKED: ContextVar[tuple[bool, str] | None] = ContextVar("asked", default=None)
"""What is the same for a whole run of a page: whether it is asked from here, and why the door is closed."""


class Access(StrEnum):
    """What a session may do. ``open``: everything: this machine only and nothing set, or the token was given.
    ``coordinator``: everything, logged in. ``viewer``: looks at what is stored and scores what is here; starts no job,
    names no path, writes nothing. ``locked``: nothing but logging in, the link with the token, or an annotator's
    link."""

    OPEN = "open"
    COORDINATOR = "coordinator"
    VIEWER = "viewer"
    LOCKED = "locked"


def closed() -> str:
    """Why nobody is let in, in a sentence: what is set of the door cannot be kept; empty where all of it is."""
    known = _ASKED.get()
    return _closed() if known is None else known[1]


def _closed() -> str:
    why = log_in_lacks()  # first: Streamlit puts what its secrets hold into the environment
    return refused() or why


def access() -> Access:
    """What this session may do now."""
    if closed():
        return Access.LOCKED
    if names_coordinators():
        if account().get("is_logged_in") and not log_in_lacks() and not refused_account():
            return Access.COORDINATOR
        return Access.VIEWER if says_yes(VIEWERS) else Access.LOCKED
    if token := _token():
        here, kept = str(st.session_state.get(_ADMITTED, "")).encode(), str(st.context.headers.get(KEPT, "")).encode()
        known = hmac.compare_digest(here, _mark_here(token).encode()) or hmac.compare_digest(kept, _mark(token))
        return Access.OPEN if known else Access.LOCKED
    if _is_local():
        return Access.OPEN
    return Access.LOCKED if yes_or_no(os.environ.get(VIEWERS)) is False else Access.VIEWER


@contextmanager
def one_reader() -> Iterator[None]:
    """Mark what runs within as one run for one reader: the door is asked once, not for each button."""
    token = _ASKED.set((_local(), _closed()))
    try:
        yield
    finally:
        _ASKED.reset(token)


def may_operate() -> bool:
    """Whether this session may see studies, start jobs, name paths of this machine and write; asked before any."""
    return access() in (Access.OPEN, Access.COORDINATOR)


def may_bring() -> bool:
    """Whether this session may bring pictures, videos and captions that stay in this server's memory."""
    return may_operate() or (access() is Access.VIEWER and says_yes(VIEWER_UPLOADS))


def takes_audience() -> bool:
    """Whether an audience may give pictures to whoever presents: off unless it was switched on."""
    return says_yes(AUDIENCE)


def audience_lacks() -> tuple[str, ...]:
    """Settings without which no phone of an audience could give a picture, as they are to be set."""
    hidden_from_others = names_coordinators() and not says_yes(VIEWERS)
    return tuple(
        f"{name}={value}"
        for name, value, missing in (
            ("INVARISCOPE_PUBLIC_URL", "https://…", public_url() is None),
            (VIEWERS, "yes", hidden_from_others),
            (VIEWER_UPLOADS, "yes", not says_yes(VIEWER_UPLOADS)),
        )
        if missing
    )


def may_bring_code() -> bool:
    """Whether this session may bring a file of a metric through the browser."""
    return may_operate() and says_yes(METRIC_UPLOADS)


def operates() -> bool:
    """The same as :func:`may_operate`; where not, it is said in place of what is drawn otherwise."""
    return may_operate() or _refuse("Starting, bringing and changing are the operator's; you are a viewer here.")


def brings() -> bool:
    """The same as :func:`may_bring`; where not, it is said in place of what is drawn otherwise."""
    return may_bring() or _refuse("This server takes no files of viewers. Choose among what is here.")


def _refuse(said: str) -> bool:
    st.caption(f":material/lock: {said}")
    return False


def takes_annotators() -> bool:
    """Whether links of annotators are answered here: not where others reach the server and nothing protects it."""
    return not closed() and (names_coordinators() or bool(_token()) or _is_local())


def admit() -> None:
    """Take the token out of the link where it stands in it, and let this session in."""
    token, given = _token(), st.query_params.get(KEY)
    if not token or given is None:
        return
    del st.query_params[KEY]
    if hmac.compare_digest(given.encode(), token.encode()):
        st.session_state[_ADMITTED] = _mark_here(token)


def asks_for_token() -> bool:
    """Whether this server has a token, which the link that opens it holds."""
    return bool(_token())


def mark_of(given: str) -> str:
    """What a browser keeps of a token that it was given, where it is this server's; else empty."""
    token = _token()
    right = bool(token) and hmac.compare_digest(given.encode(errors="replace"), token.encode())
    return _mark(token).decode() if right else ""


def _token() -> str:
    return os.environ.get(TOKEN, "")


def visible(every: tuple[View, ...]) -> tuple[View, ...]:
    """Views that exist for this session: all, or for annotators and strangers only that of the studies."""
    if hidden():
        return tuple(each for each in every if each.name == HUMAN)
    without = () if may_operate() else (AUDIT,)
    return tuple(each for each in every if each.name not in without)


def open_entries() -> tuple[Entry, ...]:
    """Entries that exist for this session: those with a view for it, and a package's own that have none at all."""
    shown, held = {each.entry for each in visible(views())}, {each.entry for each in views()}
    return tuple(each for each in entries() if each.name in shown or (each.name not in held and not hidden()))


def entry_page(entry: Entry) -> StreamlitPage:
    """An entry as Streamlit lists it."""
    first = entry.name == START
    return st.Page(
        entry.file,
        title=entry.title,
        icon=entry.icon,
        url_path="" if first else entry.name,
        default=first,
        visibility="visible" if entry.listed else "hidden",
    )


def at_the_door() -> list[StreamlitPage]:
    """The door in place of every entry that a session may not see, at its address: a link says what it needs."""
    opened = open_entries()
    return [
        st.Page(
            partial(_door),
            title="Invariscope",
            icon=":material/lock:",
            url_path="" if entry.name == START else entry.name,
            default=entry.name == START,
            visibility="visible" if entry.name == START else "hidden",
        )
        for entry in entries()
        if entry not in opened
    ]


def hidden() -> bool:
    """Whether there is no menu: annotators and strangers have one page."""
    return "token" in st.query_params or access() is Access.LOCKED


def _door() -> None:
    st.title("Invariscope", anchor=False)
    if not closed() and ("token" in st.query_params or access() is not Access.LOCKED):
        st.info("Open the personal link that you were sent.")
    elif not closed() and _token() and not names_coordinators():
        st.info(
            "Open the link that `python -m core app` printed where it was started: it holds this server's token. "
            "`--no-token` starts without one.",
            icon=":material/key:",
        )
    else:
        draw_sign_in()


def draw_sign_in() -> None:
    """Draw what stands in front of the studies: a log-in button, or what is to be set right or up first."""
    if why := closed():
        st.error(f"This server lets nobody in. {why.rstrip('.')}. Then start it again.", icon=":material/lock:")
    elif not takes_annotators():
        st.info(
            "This server can be reached from other machines, and nothing protects its studies. Set up Streamlit's OIDC "
            f"log-in, name who operates in {COORDINATORS}, and start it again.",
            icon=":material/lock:",
        )
    else:
        if names_coordinators():
            inside = bool(account().get("is_logged_in"))
            if inside:
                st.warning(refused_account())
            with st.container(horizontal=True):
                if inside:
                    st.button("Log out", on_click=log_out)
                st.button("Log in", icon=":material/login:", on_click=st.login, type="primary")
        st.caption("Annotators need no log-in: they open the personal link that they were sent.")


def draw_sign_out() -> None:
    """Draw the way out, where there was a way in."""
    if access() is Access.COORDINATOR:
        st.button("Sign out", icon=":material/logout:", on_click=log_out, key="study.sign_out", type="tertiary")


def _mark(token: str) -> bytes:
    """What a browser keeps of the token: another one makes everybody open the link again."""
    return hmac.new(token.encode(), b"signed in", "sha256").hexdigest().encode()


def _mark_here(token: str) -> str:
    """The same, good in this browser alone: who learns a session's id takes it up elsewhere, and needs the link."""
    return hmac.new(_mark(token), of_browser(), "sha256").hexdigest()


def _is_local() -> bool:
    known = _ASKED.get()
    return _local() if known is None else known[0]


def _local() -> bool:
    """Whether only this machine can be asking: the server's address, the request's host, no proxy in between."""
    address = st.get_option("server.address")
    headers = st.context.headers
    host = urlsplit(f"//{headers.get('Host', 'localhost')}").hostname or ""
    proxied = any(name in headers for name in _FORWARDED)
    return address in LOCAL and host in LOCAL and not proxied and not isinstance(st.context.ip_address, str)


Given = ParamSpec("Given")


def operators_only(callback: Callable[Given, None]) -> Callable[Given, None]:
    """A callback that does nothing for a session that is not an operator's; the page that follows says so."""

    @wraps(callback)
    def guarded(*args: Given.args, **kwargs: Given.kwargs) -> None:
        if may_operate():
            callback(*args, **kwargs)

    return guarded

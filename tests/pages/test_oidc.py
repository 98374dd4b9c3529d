"""Whom the provider names: an operator where the server's operator named them and the provider stands for it."""

import time
from pathlib import Path
from typing import Any

import pytest
from streamlit import config
from streamlit.runtime.secrets import Secrets

from pages.views.common import access
from tests.pages.opening import AUTH

NOW = 1_000_000.0
ADA = {"is_logged_in": True, "sub": "7", "email": "ada@example.org", "email_verified": True, "iat": NOW - 60}


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({}, ""),
        ({"email": "ADA@example.org"}, ""),
        ({"email_verified": "true"}, ""),
        ({"email_verified": "false"}, "verified"),
        ({"email_verified": False}, "verified"),
        ({"email_verified": None}, "verified"),
        ({"email_verified": 1}, "verified"),
        ({"email": "ada@example.org.evil.example"}, "no coordinator"),
        ({"email": "ada@example.org,"}, "no coordinator"),
        ({"email": ""}, "no coordinator"),
        ({"email": None}, "no coordinator"),
        ({"email": "sub:8"}, "no coordinator"),
        ({"email": None, "sub": "8"}, ""),
        ({"email": None, "sub": "88"}, "no coordinator"),
        ({"email": None, "sub": ""}, "no coordinator"),
        ({"email": None, "sub": "ada@example.org"}, "no coordinator"),
        ({"iat": NOW - access.LOG_IN_LASTS_S}, "12 hours"),
        ({"iat": NOW - access.LOG_IN_LASTS_S + 1}, ""),
        ({"iat": NOW + access.CLOCK_AHEAD_S + 1}, "12 hours"),
        ({"iat": None}, "12 hours"),
        ({"iat": "yesterday"}, "12 hours"),
        ({"iat": float("nan")}, "12 hours"),
    ],
)
def test_who_is_named_and_stood_for_operates(told: dict[str, Any], why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(access.COORDINATORS, " Ada@Example.org,, sub:8 ,sub:")
    found = access.why_no_coordinator(ADA | told, now=NOW)
    assert bool(found) == bool(why)
    assert why in found


@pytest.mark.parametrize(
    ("secret", "account", "viewers", "found"),
    [
        ("s" * 32, {}, "", access.Access.COORDINATOR),
        ("s" * 31, {}, "", access.Access.LOCKED),
        ("", {}, "", access.Access.LOCKED),
        ("s" * 32, {"email": "eve@example.org"}, "", access.Access.LOCKED),
        ("s" * 32, {"email": "eve@example.org"}, "yes", access.Access.VIEWER),
        ("s" * 32, {"is_logged_in": False}, "yes", access.Access.VIEWER),
        ("s" * 31, {}, "yes", access.Access.LOCKED),
    ],
)
def test_what_an_account_may_do(
    secret: str, account: dict[str, Any], viewers: str, found: access.Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(access.COORDINATORS, "ada@example.org")
    monkeypatch.setenv(access.VIEWERS, viewers)
    monkeypatch.setattr(access.st, "secrets", {"auth": AUTH | {"cookie_secret": secret}})
    monkeypatch.setattr(access, "account", lambda: {**ADA, "iat": time.time(), **account})
    assert access.access() is found


def test_names_without_a_provider_close_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(access.COORDINATORS, "ada@example.org")
    monkeypatch.setattr(access, "account", dict)
    assert access.access() is access.Access.LOCKED
    assert "`[auth]`" in access.log_in_lacks()
    monkeypatch.setenv(access.COORDINATORS, " ")
    assert access.access() is access.Access.OPEN


@pytest.mark.parametrize("lacking", AUTH)
def test_a_log_in_that_is_half_set_up_closes_the_server(lacking: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(access.COORDINATORS, "ada@example.org")
    monkeypatch.setattr(access.st, "secrets", {"auth": {name: text for name, text in AUTH.items() if name != lacking}})
    monkeypatch.setattr(access, "account", lambda: {**ADA, "iat": time.time()})
    assert access.access() is access.Access.LOCKED
    assert f"`{lacking}`" in access.closed()


def test_a_log_in_for_which_nobody_is_named_closes_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access.st, "secrets", {"auth": AUTH})
    for local in (True, False):
        monkeypatch.setattr(access, "_local", lambda local=local: local)
        assert access.access() is access.Access.LOCKED
    assert access.COORDINATORS in access.closed()
    assert not access.takes_annotators()


def look_for_secrets(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = config.get_option

    def told(name: str) -> object:
        return [str(place)] if name == "secrets.files" else known(name)

    monkeypatch.setattr(config, "get_option", told)
    monkeypatch.setattr(access.st, "get_option", told)
    monkeypatch.setattr(access.st, "secrets", Secrets())


@pytest.mark.parametrize("content", [b"[auth", b"\xff\xfe", None])
def test_secrets_that_cannot_be_read_close_the_server(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "secrets.toml"
    if content is None:
        place.mkdir()
    else:
        place.write_bytes(content)
    look_for_secrets(place, monkeypatch)
    assert access.access() is access.Access.LOCKED
    assert "cannot be read" in access.closed()


def test_the_old_password_among_the_secrets_closes_the_server_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_COORDINATOR_PASSWORD", "")  # put back afterwards
    place = tmp_path / "secrets.toml"
    place.write_text('INVARISCOPE_COORDINATOR_PASSWORD = "open sesame"\n')
    look_for_secrets(place, monkeypatch)
    assert access.access() is access.Access.LOCKED
    assert "COORDINATOR_PASSWORD is set" in access.closed()

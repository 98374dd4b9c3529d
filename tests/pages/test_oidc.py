"""Whom the provider names: an operator where the server's operator named them and the provider stands for it."""

import time
from typing import Any

import pytest

from pages.views.common import access, oidc

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
        ({"iat": NOW - oidc.LASTS_S}, "12 hours"),
        ({"iat": NOW - oidc.LASTS_S + 1}, ""),
        ({"iat": NOW + oidc.AHEAD_S + 1}, "12 hours"),
        ({"iat": None}, "12 hours"),
        ({"iat": "yesterday"}, "12 hours"),
        ({"iat": float("nan")}, "12 hours"),
    ],
)
def test_who_is_named_and_stood_for_operates(told: dict[str, Any], why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(oidc.COORDINATORS, " Ada@Example.org,, sub:8 ,sub:")
    found = oidc.why_not(ADA | told, now=NOW)
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
        ("s" * 31, {}, "yes", access.Access.VIEWER),
    ],
)
def test_what_an_account_may_do(
    secret: str, account: dict[str, Any], viewers: str, found: access.Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(oidc.COORDINATORS, "ada@example.org")
    monkeypatch.setenv(access.VIEWERS, viewers)
    monkeypatch.setattr(oidc.st, "secrets", {"auth": {"cookie_secret": secret}})
    monkeypatch.setattr(oidc, "user", lambda: {**ADA, "iat": time.time(), **account})
    assert access.access() is found


def test_names_without_a_provider_close_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(oidc.COORDINATORS, "ada@example.org")
    monkeypatch.setattr(oidc, "user", dict)
    assert access.access() is access.Access.LOCKED
    assert "`[auth]`" in oidc.missing()
    monkeypatch.setenv(oidc.COORDINATORS, " ")
    assert access.access() is access.Access.OPEN

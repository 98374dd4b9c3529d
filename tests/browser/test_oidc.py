"""Streamlit's OIDC log-in in a real Chromium before a real provider: who is named operates, and nobody else does."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from itsdangerous import URLSafeTimedSerializer
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import PATIENCE_S, ROOT, free_port, wait_until_healthy
from tests.browser.provider import CLIENT, SECRET, Account, Provider
from tests.browser.walk import eventually, open_page, settled
from tests.features.human.small_study import make

pytestmark = [pytest.mark.browser, pytest.mark.whole]

ADA = {"email": "ada@example.org", "email_verified": True}
KEPT_SECRET = "a-secret-of-this-test-that-is-long-enough"


LIARS = {
    "wrong state": Account(ADA, state="guessed"),
    "wrong nonce": Account(ADA | {"nonce": "guessed"}),
    "no nonce": Account(ADA | {"nonce": None}),
    "other client": Account(ADA | {"aud": "another-client"}),
    "other issuer": Account(ADA | {"iss": "http://evil.example"}),
    "other key": Account(ADA, stranger=True),
    "expired": Account(ADA | {"iat": 1, "exp": 3601}),
}
"""Answers that no honest provider gives to the question that was asked."""

ACCOUNTS = LIARS | {
    "Ada": Account(ADA),
    "known by its subject": Account({}),
    "somebody else": Account({"email": "eve@example.org", "email_verified": True}),
    "unverified": Account(ADA | {"email_verified": False}),
    "verified in words": Account(ADA | {"email_verified": "false"}),
    "of unknown proof": Account({"email": "ada@example.org"}),
}
NAMED = " Ada@Example.org ,sub:subject of known by its subject"


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    made = Provider(ACCOUNTS)
    with made.answering():
        yield made


@contextmanager
def serving(provider: Provider, folder: Path, **env: str) -> Iterator[str]:
    """Address of the dashboard, which asks this provider who somebody is."""
    port = free_port()
    home = folder / "home"
    (home / ".streamlit").mkdir(parents=True)
    (home / ".streamlit" / "secrets.toml").write_text(
        f'[auth]\nredirect_uri = "http://localhost:{port}/oauth2callback"\ncookie_secret = "{KEPT_SECRET}"\n'
        f'client_id = "{CLIENT}"\nclient_secret = "{SECRET}"\n'
        f'server_metadata_url = "{provider.address}/.well-known/openid-configuration"\n'
    )
    told = {"INVARISCOPE_DATA": str(folder / "data"), "INVARISCOPE_CACHE": str(folder / "cache"), "HOME": str(home)}
    command = [sys.executable, "-m", "core", "app", "--no-browser", "--port", str(port)]
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **told, **env}, stdout=log, stderr=log, start_new_session=True
        )
        try:
            wait_until_healthy(f"http://localhost:{port}", process, folder / "log.txt")
            yield f"http://localhost:{port}"
        finally:
            os.killpg(process.pid, 15)
            process.wait(PATIENCE_S)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("oidc")


@pytest.fixture(scope="module")
def token(folder: Path) -> str:
    """Of the link of an annotator."""
    study = make(folder / "data" / "studies")
    (annotator,) = study.invite(["Bo"])
    return study.token(annotator)


@pytest.fixture(scope="module")
def guarded(provider: Provider, folder: Path) -> Iterator[str]:
    with serving(provider, folder, INVARISCOPE_COORDINATORS=NAMED) as address:
        yield address


def log_in(page: Page, address: str, name: str) -> Page:
    """Log in at the front page as one of the provider's accounts."""
    return answered(settled(open_page(page, address)), name)


def answered(page: Page, name: str) -> Page:
    """Press the button, and have the provider answer as an account of it does."""
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Who are you?")).to_be_visible()
    page.get_by_role("link", name=name, exact=True).click()
    return settled(page)


def cookies(context: BrowserContext) -> set[str]:
    """Names of the cookies that the browser holds, of who it is."""
    return {each["name"] for each in context.cookies() if each["name"].startswith("_streamlit_user")}


def forged(address: str, secret: str, **claims: object) -> dict[str, str]:
    """The cookie of a coordinator's account, as whoever has a secret makes it."""
    said = {**ADA, "sub": "a", "iat": int(time.time()), "is_logged_in": True, "origin": address, "provider": "default"}
    signed = URLSafeTimedSerializer(secret, salt="_streamlit_user").dumps(json.dumps(said | claims))
    return {"name": "_streamlit_user", "value": str(signed), "url": address}


@pytest.mark.parametrize("name", ["Ada", "known by its subject"])
def test_who_is_named_operates_until_they_sign_out(
    guarded: str, provider: Provider, context: BrowserContext, name: str
) -> None:
    page = log_in(context.new_page(), guarded, name)
    expect(page.get_by_role("heading", name="Start", exact=True)).to_be_visible()
    for each in context.cookies():
        if each["name"] in cookies(context):
            assert (each["httpOnly"], each["sameSite"]) == (True, "Lax")
    settled(open_page(page, f"{guarded}/run_audit"))
    expect(page.get_by_role("radio", name="New run", exact=True)).to_be_visible()
    other, (stolen,) = (
        settled(open_page(context.new_page(), f"{guarded}/human_validation")),
        [each for each in context.cookies() if each["name"] == "_streamlit_user"],
    )
    expect(other.get_by_role("button", name="Sign out")).to_be_visible()
    settled(open_page(page, f"{guarded}/human_validation"))
    before = len(provider.ended)
    page.get_by_role("button", name="Sign out").click()
    # The page asks to log in as soon as the log-out is noted here, and only then leaves for the provider.
    eventually(page, lambda: len(provider.ended) > before and not cookies(context))
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
    assert provider.ended[-1] == f"{guarded}/oauth2callback"
    other.get_by_role("button", name="Sign out").click()  # whatever is pressed there
    expect(other.get_by_role("button", name="Log in")).to_be_visible()
    context.add_cookies([stolen])
    expect(settled(open_page(page, f"{guarded}/run_audit")).get_by_text("You logged out")).to_be_visible()
    expect(page.get_by_role("radio", name="New run", exact=True)).to_have_count(0)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("somebody else", "is no coordinator's"),
        ("unverified", "does not say that this e-mail address was verified"),
        ("verified in words", "does not say that this e-mail address was verified"),
        ("of unknown proof", "does not say that this e-mail address was verified"),
    ],
)
def test_an_account_that_nobody_named_or_verified_stays_outside(
    guarded: str, context: BrowserContext, name: str, why: str
) -> None:
    page = log_in(context.new_page(), guarded, name)
    expect(page.get_by_text(why)).to_be_visible()
    settled(open_page(page, f"{guarded}/run_audit"))
    expect(page.get_by_text(why)).to_be_visible()
    expect(page.get_by_role("radio", name="New run", exact=True)).to_have_count(0)
    expect(page.get_by_test_id("stSidebarNavLink")).to_have_count(0)


def test_an_answer_that_is_not_the_providers_to_this_question_is_no_log_in(
    guarded: str, context: BrowserContext
) -> None:
    page = settled(open_page(context.new_page(), guarded))
    for name in LIARS:
        answered(page, name)
        expect(page.get_by_role("button", name="Log in")).to_be_visible()
        assert page.url == f"{guarded}/", name
        assert not cookies(context), name


def test_a_cookie_of_another_secret_of_another_origin_or_of_yesterday_lets_nobody_in(
    guarded: str, browser: Browser
) -> None:
    now = int(time.time())
    for cookie, said in (
        (forged(guarded, KEPT_SECRET), "No runs yet"),  # the way of the forgers, with the right secret
        (forged(guarded, "guessed"), "Annotators need no log-in"),
        (forged(guarded, ""), "Annotators need no log-in"),
        (forged(guarded, KEPT_SECRET, origin="http://evil.example"), "Annotators need no log-in"),
        (forged(guarded, KEPT_SECRET, iat=now - 13 * 3600), "more than 12 hours old"),
        (forged(guarded, KEPT_SECRET, iat=now + 3600), "more than 12 hours old"),
    ):
        context = browser.new_context()
        context.add_cookies([cookie])
        expect(settled(open_page(context.new_page(), guarded)).get_by_text(said)).to_be_visible()
        context.close()


def test_no_way_through_the_log_in_leads_to_another_host(guarded: str, provider: Provider) -> None:
    evil = quote("http://evil.example/", safe="")
    with httpx2.Client(follow_redirects=False) as client:
        for path in (
            f"auth/login?redirect_uri={evil}",
            f"auth/login?provider={evil}&next={evil}",
            "auth/login?provider=default",
            f"auth/logout?post_logout_redirect_uri={evil}",
            f"oauth2callback?redirect_uri={evil}",
            "oauth2callback?code=a&state=guessed",
            f"oauth2callback?error=denied&error_description={evil}",
            f"/evil.example/oauth2callback?next={evil}",
        ):
            answer = client.get(f"{guarded}/{path}")
            assert answer.headers.get("Location", "/") == "/", path
            assert not [name for name in answer.cookies if name.startswith("_streamlit_user")], path


def test_an_annotator_has_the_personal_link_and_no_more(guarded: str, token: str, page: Page) -> None:
    settled(open_page(page, f"{guarded}/human_validation?token={token}"))
    expect(page.get_by_role("heading", name="Before you begin")).to_be_visible()
    expect(page.get_by_test_id("stSidebarNavLink")).to_have_count(0)
    for path in ("", "run_audit", "overview"):
        settled(open_page(page, f"{guarded}/{path}"))
        expect(page.get_by_role("button", name="Log in")).to_be_visible()

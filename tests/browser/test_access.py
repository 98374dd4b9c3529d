"""The key of one's own server: the printed link opens it for this browser; others, and other sites, stay out."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PATIENCE_S, ROOT, free_port, wait_until_healthy
from tests.browser.walk import open_page, settled

pytestmark = pytest.mark.browser

KEY = "a-key-for-this-test"


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    """Port and log of a server that ``python -m core app`` started."""
    folder, port = tmp_path_factory.mktemp("locked"), free_port()
    env = {
        **os.environ,
        "INVARISCOPE_DATA": str(folder / "data"),
        "INVARISCOPE_TOKEN": KEY,
        "INVARISCOPE_CACHE": str(folder / "cache"),
    }
    command = [sys.executable, "-m", "core", "app", "--no-browser", "--port", str(port)]
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=log, start_new_session=True)
        try:
            wait_until_healthy(f"http://localhost:{port}", process, folder / "log.txt")
            yield port, folder / "log.txt"
        finally:
            os.killpg(process.pid, 15)
            process.wait(PATIENCE_S)


def test_the_printed_link_opens_the_server_for_this_browser_alone(locked: tuple[int, Path], browser: Browser) -> None:
    port, log = locked
    link = f"http://localhost:{port}/?key={KEY}"
    assert f"Invariscope: {link}" in log.read_text()
    known, stranger = browser.new_context(), browser.new_context()
    first = settled(open_page(known.new_page(), f"http://localhost:{port}/probe_lab?key={KEY}"))
    expect(first.get_by_role("heading", name="Try a picture", exact=True)).to_be_visible()
    assert first.get_by_text("Page not found").count() == 0  # app.py had not run yet when the address was asked for
    page = settled(open_page(known.new_page(), link))
    expect(page.get_by_role("heading", name="Start", exact=True)).to_be_visible()
    assert "key" not in page.url
    again = settled(open_page(known.new_page(), f"http://localhost:{port}/run_audit"))
    expect(again.get_by_role("radio", name="New run", exact=True)).to_be_visible()
    kept = again.evaluate("localStorage.getItem('invariscope')")
    assert kept
    assert KEY not in kept
    assert not [each for each in known.cookies() if kept in each["value"]]  # every port of the host is sent a cookie
    for path in ("", "/run_audit", "/findings?run=demo", "/?key=guessed"):
        outside = settled(open_page(stranger.new_page(), f"http://localhost:{port}{path}"))
        expect(outside.get_by_text("holds this server's token")).to_be_visible()
        assert path != "/findings?run=demo" or outside.get_by_text("Page not found").count() == 0
    known.close()
    stranger.close()


def answer(port: int, *, host: str, origin: str) -> str:
    """The first line that the server answers a WebSocket with."""
    asked = (
        f"GET /_stcore/stream HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    with socket.create_connection(("localhost", port), timeout=PATIENCE_S) as line:
        line.sendall(asked.encode())
        return line.recv(200).decode(errors="replace").splitlines()[0]


@pytest.mark.whole
def test_a_page_of_another_site_gets_no_answer(server: str, page: Page) -> None:
    port = int(server.rpartition(":")[2])
    own = f"localhost:{port}"
    assert " 101 " in answer(port, host=own, origin=f"http://{own}")
    for host, origin in (
        (f"evil.example:{port}", f"http://evil.example:{port}"),
        (own, "http://evil.example"),
        ("evil.example", server),
    ):
        assert " 403 " in answer(port, host=host, origin=origin), (host, origin)


@pytest.mark.whole
def test_an_upload_without_the_token_of_a_page_is_refused_and_no_other_origin_may_read(server: str) -> None:
    refused = Request(
        f"{server}/_stcore/upload_file/a/b", data=b"x", method="PUT", headers={"Origin": "http://evil.example"}
    )
    with pytest.raises(HTTPError) as caught:
        urlopen(refused, timeout=PATIENCE_S)
    assert caught.value.code == 403
    caught.value.close()
    asked = Request(f"{server}/_stcore/health", headers={"Origin": "http://evil.example"})
    with urlopen(asked, timeout=PATIENCE_S) as answer:
        assert "Access-Control-Allow-Origin" not in answer.headers
        assert "SameSite=Lax" in answer.headers["Set-Cookie"]

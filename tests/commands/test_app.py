"""The server that ``app`` starts, over HTTP: its headers, its names, its token; and how the link gets to a browser."""

import os
import re
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener, url2pathname, urlopen

import pytest

from core.commands.app import _command
from core.settings import ROOT

PATIENCE_S = 60


HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}  # as docs/security.md promises them


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(folder: Path, *words: str, **settings: str) -> Iterator[tuple[int, str]]:
    """Port of a server that ``python -m core app`` started, and what it printed."""
    port = free_port()
    env = {**os.environ, "INVARISCOPE_DATA": str(folder / "data"), **settings}
    command = [sys.executable, "-m", "core", "app", "--no-browser", "--port", str(port), *words]
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=log, start_new_session=True)
        try:
            until = time.monotonic() + PATIENCE_S
            while not answers(port):
                assert time.monotonic() < until, (folder / "log.txt").read_text()
                time.sleep(0.2)
            yield port, (folder / "log.txt").read_text()
        finally:
            os.killpg(process.pid, 15)
            process.wait(PATIENCE_S)


def answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2):
            return True
    except (URLError, OSError):
        return False


class Stays(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """No redirect is followed."""


def fetched(request: Request | str) -> tuple[int, Message]:
    """Status and headers of an answer, whatever it is; no redirect is followed."""
    try:
        with build_opener(Stays).open(request, timeout=10) as answer:
            return answer.status, answer.headers
    except HTTPError as error:
        with error:
            return error.code, error.headers


def socket_status(port: int, host: str, origin: str = "") -> str:
    """The first line of the answer to a browser that asks for a WebSocket under a name, from a page of an origin."""
    origin = origin or f"http://{host}"
    asked = (
        f"GET /_stcore/stream HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(asked.encode())
        return connection.recv(200).decode(errors="replace").splitlines()[0]


def test_every_answer_says_what_a_browser_may_not_do_with_it(tmp_path: Path) -> None:
    with serving(tmp_path, INVARISCOPE_VIEWER="no") as (port, said):
        own = re.search(r"\?key=([\w-]{32})\n", said)  # its own token, that the server asks for
        assert own, said
        assert "INVARISCOPE_VIEWER is set, and no setting has this name; did you mean INVARISCOPE_VIEWERS?" in said
        with urlopen(f"http://127.0.0.1:{port}/?key={own.group(1)}") as answer:
            assert "setItem" in answer.read().decode()
        with urlopen(f"http://127.0.0.1:{port}/") as answer:
            page = answer.read().decode()
        script = re.search(r'src="\.?/?(static/[^"]+\.js)"', page)
        assert script, page[:500]
        for path in ("", "_stcore/health", "run_audit", script.group(1), "media/none.png", "_stcore/upload_file/a/b"):
            request = Request(f"http://127.0.0.1:{port}/{path}", method="GET")
            told = fetched(request)[1]
            assert {name: told[name] for name in HEADERS} == HEADERS, path
            assert told["Access-Control-Allow-Origin"] != "*"
        refused = Request(f"http://127.0.0.1:{port}/_stcore/upload_file/a/b", data=b"x", method="PUT")
        assert fetched(refused)[0] == 403  # no token against forged requests
        assert socket_status(port, f"localhost:{port}").endswith("101 Switching Protocols")
        assert " 403" in socket_status(port, f"evil.example:{port}")
        for other in (
            f"localhost:{port + 1}",
            "localhost",
            f"127.0.0.1:{port}",
        ):  # another account's server may be there
            assert " 403" in socket_status(port, f"localhost:{port}", f"http://{other}"), other
        assert " 403" in socket_status(port, f"localhost:{port}", f"https://localhost:{port}")
        assert fetched(Request(f"http://127.0.0.1:{port}/_stcore/metrics"))[0] == 404


def test_the_link_with_the_token_leaves_its_mark_with_this_origin_and_no_cookie(tmp_path: Path) -> None:
    with serving(tmp_path, INVARISCOPE_TOKEN="the/token+1") as (port, said):
        link = said.split()[1]
        front = f"http://localhost:{port}"
        assert link == f"{front}/?key=the%2Ftoken%2B1"
        for asked, there in (
            ("run_audit?a=1&key=the%2Ftoken%2B1&b=%26", "/run_audit?a=1&b=%26"),
            ("/evil.example/?key=the%2Ftoken%2B1", "/evil.example/"),
            ("?key=the%2Ftoken%2B1&a=%3C/script%3E", "/?a=%3C%2Fscript%3E"),
        ):
            with urlopen(f"{front}/{asked}") as answer:
                page, told = answer.read().decode(), answer.headers
            assert f'location.replace("{there}")' in page
            assert "the/token" not in page
            assert (told["Cache-Control"], told["Set-Cookie"]) == ("no-store", None)
            assert {name: told[name] for name in HEADERS} == HEADERS
        for wrong in ("?key=guessed", "?key=", "", "findings", "_stcore/health?key=the%2Ftoken%2B1"):
            with urlopen(Request(f"{front}/{wrong}", headers={"Accept-Encoding": "gzip"})) as answer:
                page = answer.read().decode()
            assert "setItem" not in page
            assert ("extends WebSocket" in page) == ("health" not in wrong), wrong


def test_a_server_for_others_answers_to_its_names_and_has_no_token(tmp_path: Path) -> None:
    words = ("--address", "0.0.0.0", "--host", "demo.example.org", "--no-token")
    with serving(tmp_path, *words, INVARISCOPE_TOKEN="left over") as (port, said):
        assert "key=" not in said
        assert "others can reach this server" in said
        assert socket_status(port, "demo.example.org").endswith("101 Switching Protocols")
        assert socket_status(port, f"localhost:{port}").endswith("101 Switching Protocols")
        assert " 403" in socket_status(port, "evil.example")
        (child,) = [each for each in environments("INVARISCOPE_DATA", str(tmp_path / "data")) if "serve.py" in each[0]]
        assert "INVARISCOPE_TOKEN" not in child[1]
        assert child[1]["OMP_WAIT_POLICY"] == os.environ.get("OMP_WAIT_POLICY", "PASSIVE")


@pytest.mark.parametrize(
    ("settings", "words", "todo"),
    [
        ({"INVARISCOPE_COORDINATOR_PASSWORD": "open sesame"}, (), "INVARISCOPE_COORDINATOR_PASSWORD is set"),
        ({"INVARISCOPE_COORDINATOR_PASSWORD": "x"}, ("--address", "0.0.0.0"), "OIDC log-in"),
        ({"INVARISCOPE_VIEWER_SECONDS": "0"}, ("--address", "0.0.0.0"), "INVARISCOPE_VIEWER_SECONDS is set"),
        ({"INVARISCOPE_TOKEN": "mine"}, ("--address", "0.0.0.0"), "--no-token"),
        ({"INVARISCOPE_VIEWERS": "perhaps"}, (), "INVARISCOPE_VIEWERS"),
        ({"INVARISCOPE_PUBLIC_URL": "study.example.org"}, (), "INVARISCOPE_PUBLIC_URL"),
    ],
)
def test_no_server_starts_where_a_setting_that_closed_it_would_do_nothing(
    settings: dict[str, str], words: tuple[str, ...], todo: str
) -> None:
    command = [sys.executable, "-m", "core", "app", "--no-browser", "--port", str(free_port()), *words]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **settings}, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 2
    assert todo in " ".join(done.stderr.split())


def environments(name: str, value: str) -> list[tuple[str, dict[str, str]]]:
    """Command and environment of every process with a setting."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            told = dict(each.split("=", 1) for each in (folder / "environ").read_text().split("\0") if "=" in each)
            command = (folder / "cmdline").read_text().replace("\0", " ")
        except (OSError, ValueError):
            continue
        if told.get(name) == value:
            found.append((command, told))
    return found


@pytest.mark.parametrize(
    ("address", "hosts", "told"),
    [
        ("localhost", [], []),
        ("127.0.0.1", ["x.org"], []),
        ("0.0.0.0", [], ["*"]),
        ("0.0.0.0", ["x.org", "y.org"], ["x.org", "y.org", "localhost", "127.0.0.1", "::1"]),
    ],
)
def test_which_names_streamlit_is_told(address: str, hosts: list[str], told: list[str]) -> None:
    command = _command(ROOT / "serve.py", 8501, address, hosts)
    assert [each.partition("=")[2] for each in command if each.startswith("--server.allowedHosts=")] == told
    assert f"--server.address={address}" in command


class Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_no_user_of_the_machine_sees_the_token_of_the_link_that_is_opened(tmp_path: Path) -> None:
    told, browser = tmp_path / "told", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" > {told}\ncat "${{1#file://}}" > {told}.page\n')
    browser.chmod(0o700)
    with ThreadingHTTPServer(("127.0.0.1", 0), Healthy) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        link = f"http://localhost:{server.server_port}/?key=the-token&a=1"
        code = (
            "from core.commands import app; app.READ_S = 0; import stat, webbrowser; opened = webbrowser.open\n"
            f"app._open({server.server_port}, {link!r})"
        )
        env = {**os.environ, "BROWSER": f"{browser} %s"}
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, check=True, timeout=PATIENCE_S)
        server.shutdown()
    assert "the-token" not in told.read_text()
    page = Path(url2pathname(urlsplit(told.read_text().split()[0]).path))
    assert not page.parent.exists()
    assert f'url={link.replace("&", "&amp;")}"' in Path(f"{told}.page").read_text()


def test_the_page_that_leads_to_the_link_is_the_user_s_alone() -> None:
    from core.commands.app import _leads_to

    page = _leads_to("http://localhost:1/?key=x")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700

"""What Streamlit's endpoint for uploads takes of whom; the sums are those of a server's own files."""

import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from bench.server import Server
from bench.visitor import Visitor
from pages.views.common import server_door
from pages.views.common.access import TOKEN
from pages.views.common.server_door import MB, OPERATOR_MB, VIEWER_MB, UploadDoor, guard
from siege import endpoint
from siege.material import data_folder
from siege.trials import Tally
from tests.loops import finish


def file(name: str, size_mb: int = 1) -> UploadedFileRec:
    return UploadedFileRec(name, f"{name}.bin", "application/octet-stream", bytes(size_mb * MB))


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> MemoryUploadedFileManager:
    monkeypatch.setattr(server_door, "VIEWERS_MB", 6)
    return MemoryUploadedFileManager("/upload")


def test_a_session_that_no_page_knows_or_that_may_bring_nothing_is_refused(files: MemoryUploadedFileManager) -> None:
    guard(files).allow("viewer", 0)
    for session in ("viewer", "nobody"):
        with pytest.raises(HTTPException) as refusal:
            files.add_file(session, file("a"))
        assert refusal.value.status_code == 403
    assert not files.file_storage


def test_a_session_holds_so_much_and_has_room_again_once_it_let_go(files: MemoryUploadedFileManager) -> None:
    guard(files).allow("one", 3)
    for name in "ab":
        files.add_file("one", file(name))
    files.add_file("one", file("b", 2))  # in place of the one of before
    with pytest.raises(HTTPException, match="413: The files of one session may take 3 MB together"):
        files.add_file("one", file("c"))
    files.remove_file("one", "a")
    files.add_file("one", file("c"))
    guard(files).allow("one", 0)
    with pytest.raises(HTTPException, match="may bring no files"):
        files.add_file("one", file("d"))


def test_viewers_together_have_their_share_and_take_nothing_of_an_operator_s(files: MemoryUploadedFileManager) -> None:
    limits = guard(files)
    assert guard(files) is limits
    limits.allow("operator", OPERATOR_MB)
    files.add_file("operator", file("large", 8))
    for name in "abc":
        limits.allow(name, VIEWER_MB)
    files.add_file("a", file("x", 3))
    files.add_file("b", file("x", 3))
    with pytest.raises(HTTPException, match="413: Other readers' files"):
        files.add_file("c", file("x"))
    files.add_file("operator", file("more", 8))
    files.remove_session_files("a")
    files.add_file("c", file("x"))


@pytest.mark.filterwarnings("ignore:connect.. must be used:DeprecationWarning")
def test_a_real_server_refuses_who_may_bring_nothing_and_who_brings_too_much(tmp_path: Path) -> None:
    tally = Tally("uploads")
    endpoint.run(tally)
    assert tally.found == []
    assert tally.counts["survived"] == tally.tried > 5


def answered(files: MemoryUploadedFileManager, session: str, stated_mb: int | None) -> tuple[int, int]:
    """Status of the answer to an upload that would never end, and how many MB of it were read before."""
    read = 0
    statuses = list[tuple[int, int]]()

    async def read_whole(request: Request) -> PlainTextResponse:
        return PlainTextResponse(f"{len(await request.body())}")

    async def receive() -> dict[str, Any]:
        nonlocal read
        read += 1
        return {"type": "http.request", "body": bytes(MB), "more_body": read < 50}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append((message["status"], read))

    app: Callable[..., Awaitable[None]] = Starlette(
        routes=[Route("/_stcore/upload_file/{session}/{file}", read_whole, methods=["PUT"])],
        middleware=[Middleware(UploadDoor, limits=lambda: guard(files))],
    )
    stated = [] if stated_mb is None else [(b"content-length", b"%d" % (stated_mb * MB))]
    path = f"/_stcore/upload_file/{session}/new"
    scope = {"type": "http", "method": "PUT", "path": path, "query_string": b"", "headers": stated, "root_path": ""}
    finish(app(scope, receive, send))  # type: ignore[arg-type]
    (answer,) = statuses
    return answer


@pytest.mark.parametrize(
    ("session", "stated_mb", "status", "most_read_mb"),
    [
        ("nobody", 50, 403, 0),
        ("nobody", None, 403, 0),
        ("viewer", 50, 413, 0),
        ("viewer", None, 413, 4),
        ("viewer", 1, 413, 4),
        ("operator", 50, 200, 50),
    ],
)
def test_an_upload_is_refused_before_it_is_read_and_where_it_goes_on_too_long(
    files: MemoryUploadedFileManager, session: str, stated_mb: int | None, status: int, most_read_mb: int
) -> None:
    guard(files).allow("viewer", 3)
    guard(files).allow("operator", OPERATOR_MB)
    found, read = answered(files, session, stated_mb)
    assert found == status
    assert read <= most_read_mb


@pytest.mark.filterwarnings("ignore:connect.. must be used:DeprecationWarning")
def test_a_real_server_answers_at_the_door_without_a_byte_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "open sesame")
    with data_folder() as data, Server(data) as server:
        visitor = Visitor(server.address, "overview", "")
        told = f"PUT /_stcore/upload_file/{visitor.session}/new HTTP/1.1\r\nHost: {server.address}\r\n"
        with socket.create_connection(("localhost", server.port), timeout=20) as raw:
            raw.sendall(f"{told}Content-Length: {60 * MB}\r\n\r\n".encode())
            answer = b""
            while not answer.endswith(b"may bring no files.") and (block := raw.recv(4096)):
                answer += block
        visitor.close()
    assert answer.startswith(b"HTTP/1.1 403")
    assert answer.endswith(b"This session may bring no files.")

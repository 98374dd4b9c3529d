"""The line to a judge: one request, answered whole within a deadline and a number of bytes, or a sentence why not.

The other end is a stranger: it may answer a byte a second, send a bomb, or point somewhere else.
"""

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.errors import InvalidInput, ScoringStopped
from core.evaluators.network.endpoint import PREFIX, Endpoint

if TYPE_CHECKING:  # listing evaluators must not import the client
    from httpx2 import AsyncClient, Request, Response

MOST_BYTES = 1_000_000
"""Bytes of one answer, headers aside, packed and unpacked; a score and its reason have a few hundred."""

MOST_HOPS = 3
"""Redirects that one request follows, all of them to the same scheme, host and port."""

_GZIP_OR_ZLIB = 47  # wbits of zlib: the header says which of both it is
_KEPT_METHOD = (307, 308)


class NoReply(InvalidInput):
    """A line that broke, or an answer that did not come in time: another try may succeed."""


class TooLate(NoReply):
    """No whole answer within the time that one is given."""


class BadReply(InvalidInput):
    """An answer that cannot be read, whatever is in it; another try would be paid for and end the same."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A status, how long the sender asks to wait before another try (s), and the body, unpacked."""

    status: int
    retry_after_s: float
    body: bytes


Post = Callable[[dict[str, Any]], Reply]


@contextmanager
def line(endpoint: Endpoint) -> Iterator[Post]:
    """Hold connections to an endpoint open; yields what sends one request, from any thread.

    Raises (the function that is yielded):
        NoReply: where the connection broke or the answer was not whole in ``endpoint.timeout_s`` seconds.
        BadReply: where the answer is over MOST_BYTES or packed in another way than was asked for.
        ScoringStopped: where the endpoint redirects elsewhere; nothing was sent there.
    """
    from anyio.from_thread import start_blocking_portal
    from httpx2 import AsyncClient

    client = AsyncClient(timeout=None, follow_redirects=False)  # one deadline for the whole takes their place
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        yield lambda body: portal.call(_in_time, client, endpoint, body)


async def _in_time(client: "AsyncClient", endpoint: Endpoint, body: dict[str, Any]) -> Reply:
    from anyio import fail_after
    from httpx2 import HTTPError, InvalidURL

    try:
        with fail_after(endpoint.timeout_s):
            return await _post(client, endpoint, body)
    except TimeoutError:
        raise TooLate(f"{endpoint.host} gave no whole answer within {endpoint.timeout_s:g} s") from None
    except (HTTPError, InvalidURL, OSError):  # its text may hold what a stranger wrote
        raise NoReply(f"the connection to {endpoint.host} broke") from None


async def _post(client: "AsyncClient", endpoint: Endpoint, body: dict[str, Any]) -> Reply:
    key = endpoint.key or "none"  # local servers want some token
    headers = {"authorization": f"Bearer {key}", "accept": "application/json", "accept-encoding": "gzip"}
    request = client.build_request("POST", f"{endpoint.url}/chat/completions", json=body, headers=headers)
    for _ in range(MOST_HOPS + 1):
        response = await client.send(request, stream=True)
        try:
            if not 300 <= response.status_code < 400:
                return Reply(response.status_code, _seconds(response), await _whole(response, endpoint))
            request = _same_place(request, response, endpoint)
        finally:
            await response.aclose()
    raise ScoringStopped(f"{endpoint.host} redirected {MOST_HOPS + 1} times in a row; check {PREFIX}URL")


def _same_place(request: "Request", response: "Response", endpoint: Endpoint) -> "Request":
    """The request that a redirect asks for, where it stays at the same place and carries the same question."""
    following = response.next_request
    places = [(each.url.scheme, each.url.host, each.url.port) for each in (request, following) if each is not None]
    if following is not None and places[0] == places[1] and response.status_code in _KEPT_METHOD:
        return following
    where = f"{following.url.scheme}://{following.url.netloc.decode()}"[:120] if following is not None else "nowhere"
    raise ScoringStopped(
        f"{endpoint.host} redirects to {where} (status {response.status_code}), which is not followed with a key and "
        f"a picture; set {PREFIX}URL to the address that answers"
    )


async def _whole(response: "Response", endpoint: Endpoint) -> bytes:
    raw = bytearray()
    async for piece in response.aiter_raw():
        raw += piece
        if len(raw) > MOST_BYTES:
            raise BadReply(_too_long(endpoint))
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding == "identity":
        return bytes(raw)
    if coding not in ("gzip", "x-gzip", "deflate"):
        raise BadReply(f"{endpoint.host} packed its answer as {coding[:20]!r}, and only gzip was asked for")
    return _unpacked(bytes(raw), endpoint)


def _unpacked(raw: bytes, endpoint: Endpoint) -> bytes:
    unpacking = zlib.decompressobj(_GZIP_OR_ZLIB)
    try:
        body = unpacking.decompress(raw, MOST_BYTES + 1)
    except zlib.error:
        raise BadReply(f"{endpoint.host} sent an answer whose packing is broken") from None
    if len(body) > MOST_BYTES:
        raise BadReply(_too_long(endpoint))
    if not unpacking.eof:
        raise BadReply(f"{endpoint.host} sent an answer whose packing is cut off")
    return body


def _too_long(endpoint: Endpoint) -> str:
    return f"{endpoint.host} sent more than {MOST_BYTES:,} bytes for one score; the rest was not read"


def _seconds(response: "Response") -> float:
    try:
        return max(0.0, float(response.headers.get("retry-after", 0)))
    except ValueError:
        return 0.0

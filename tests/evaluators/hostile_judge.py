"""A judge over HTTP that means no good: it drips, bombs, redirects, and lies about what it took."""

import gzip
import json
import zlib
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.evaluators.judge_server import MODEL, JudgeServer

SCORE = 7
USAGES: dict[str, Any] = {
    "a text": "lots",
    "a list": [1, 2],
    "words": {"prompt_tokens": "many", "completion_tokens": "few"},
    "negative": {"prompt_tokens": -(10**9), "completion_tokens": 5},
    "truth": {"prompt_tokens": True, "completion_tokens": 1},
    "absurd": {"prompt_tokens": 10**30, "completion_tokens": 1},
    "half": {"prompt_tokens": 5},
    "none": None,
    "nested": {"prompt_tokens": {"a": 1}, "completion_tokens": [2]},
}


def completion(content: str | None = None, **fields: Any) -> dict[str, Any]:
    """A valid answer, with some fields replaced."""
    told = json.dumps({"score": SCORE, "reason": "seen"}) if content is None else content
    choices = [{"index": 0, "message": {"role": "assistant", "content": told}, "finish_reason": "stop"}]
    usage = {"prompt_tokens": 1000, "completion_tokens": 20}
    return {"id": "1", "model": MODEL, "choices": choices, "usage": usage} | fields


class HostileJudge(JudgeServer):
    """Does what the word before the colon of a caption says; ``elsewhere`` is where it sends who follows a redirect."""

    elsewhere = ""

    def _answer(self, request: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        caption = body["messages"][1]["content"][1]["text"].removeprefix("Caption:\n")
        with self._lock:
            self.asked[caption] += 1
            self.requests.append({"path": request.path, "key": request.headers["authorization"], **body})
        trick, _, which = caption.partition(": ")
        getattr(self, f"_{trick.replace(' ', '_')}", self._plainly)(request, which)

    def _plainly(self, request: BaseHTTPRequestHandler, which: str) -> None:
        send(request, json.dumps(completion()).encode())

    def _drip(self, request: BaseHTTPRequestHandler, which: str) -> None:
        start = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
        request.wfile.write(start if which == "headers" else start + b"\r\n")
        while not self._over.wait(timeout=0.1):
            request.wfile.write(b"x-more: yes\r\n" if which == "headers" else b" ")
            request.wfile.flush()

    def _bomb(self, request: BaseHTTPRequestHandler, which: str) -> None:
        packing = zlib.compressobj(9, wbits=31)
        packed = b"".join(packing.compress(bytes(2**20)) for _ in range(200)) + packing.flush()
        send(request, packed, status=500 if which == "with an error" else 200, encoding="gzip")

    def _endless(self, request: BaseHTTPRequestHandler, which: str) -> None:
        request.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n")
        while not self._over.is_set():
            request.wfile.write(b" " * 65536)

    def _packed(self, request: BaseHTTPRequestHandler, which: str) -> None:
        body = json.dumps(completion()).encode()
        packed = {"gzip": gzip.compress(body), "deflate": zlib.compress(body)}.get(which, body)
        send(request, packed[:-9] if which == "cut" else packed, encoding=which)

    def _redirect(self, request: BaseHTTPRequestHandler, which: str) -> None:
        if request.path.endswith("/moved"):
            return self._plainly(request, which)
        status, _, kind = which.partition(" ")
        places = {
            "here": "/v1/moved",
            "away": self.elsewhere,
            "around": request.path,
            "broken": "http://[",
            "nowhere": "",
        }
        headers = {"location": places[kind]} if kind != "nowhere" else {}
        return send(request, b"", status=int(status), headers=headers)

    def _usage(self, request: BaseHTTPRequestHandler, which: str) -> None:
        send(request, json.dumps(completion(usage=USAGES[which])).encode())

    def _says(self, request: BaseHTTPRequestHandler, which: str) -> None:
        send(request, json.dumps(completion(which)).encode())

    def _raw(self, request: BaseHTTPRequestHandler, which: str) -> None:
        send(request, which.encode())

    def _hold(self, request: BaseHTTPRequestHandler, which: str) -> None:
        self._over.wait(timeout=60)


def send(
    request: BaseHTTPRequestHandler,
    body: bytes,
    *,
    status: int = 200,
    encoding: str = "",
    headers: dict[str, str] | None = None,
) -> None:
    """Write one answer."""
    request.send_response(status)
    told = {"content-length": str(len(body)), **(headers or {}), **({"content-encoding": encoding} if encoding else {})}
    for name, value in told.items():
        request.send_header(name, value)
    request.end_headers()
    request.wfile.write(body)

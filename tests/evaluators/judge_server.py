"""A real server that speaks the protocol of chat completions over HTTP, and misbehaves when a caption says so."""

import base64
import hashlib
import json
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "eye-1"
KEY = "sk-secret-of-the-test"


def true_score(png: bytes, caption: str, low: int = 0, high: int = 10, model: str = MODEL) -> int:
    """What this server's judge thinks of a pair: any fixed function of both, on the scale that it is asked for."""
    salt = b"" if model == MODEL else model.encode()
    return low + hashlib.sha256(png + caption.encode() + salt).digest()[0] % (high - low + 1)


def read_question(body: dict[str, Any]) -> tuple[bytes, str]:
    """Picture and caption of a request: all that is asked where the caption does not stand alone; no picture is b""."""
    parts = {part["type"]: part for part in body["messages"][-1]["content"]}
    picture = parts["image_url"]["image_url"]["url"] if "image_url" in parts else ""
    return base64.b64decode(picture.partition("base64,")[2]), parts["text"]["text"].removeprefix("Caption:\n")


def content_of(body: dict[str, Any]) -> str:
    """The answer to a request in the shape that it asks for; a bare number is tenths from 0 to 1."""
    png, caption = read_question(body)
    if "response_format" not in body:
        return f"{true_score(png, caption, model=body['model']) / 10:.1f}"
    asked = body["response_format"]["json_schema"]["schema"]["properties"]
    score = true_score(png, caption, asked["score"]["minimum"], asked["score"]["maximum"], body["model"])
    return json.dumps({"score": score, **({"reason": "seen"} if "reason" in asked else {})})


class JudgeServer:
    """Counts what it is asked; ``most_at_once`` is the most requests that were under way together."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.requests: list[dict[str, Any]] = []
        self.most_at_once = 0
        self._now = 0
        self._three = threading.Barrier(3)
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with server._lock:
                    server._now += 1
                    server.most_at_once = max(server.most_at_once, server._now)
                try:
                    server._answer(self, body)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # a client that waited long enough
                finally:
                    with server._lock:
                        server._now -= 1

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def _answer(self, request: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:  # noqa: C901  # a branch a trick
        _, caption = read_question(body)
        with self._lock:
            self.asked[caption] += 1
            self.requests.append({"path": request.path, **body})
            turn = self.asked[caption]
        model, content, finish = body["model"], content_of(body), "stop"
        if request.headers["authorization"] != f"Bearer {KEY}":
            return _send(request, 401, {"error": {"message": f"bad key {request.headers['authorization']}"}})
        match caption.partition(":")[0]:
            case "busy twice" if turn <= 2:
                return _send(request, 429, {"error": {"message": "slow down"}}, {"retry-after": "0"})
            case "busy":
                return _send(request, 429, {"error": {"message": "slow down"}})
            case "broken once" if turn == 1:
                return _send(request, 500, {"error": {"message": "oh"}})
            case "broken":
                return _send(request, 503, {"error": {"message": "oh"}})
            case "cut":
                request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{")
                request.wfile.flush()
                request.connection.shutdown(socket.SHUT_RDWR)
                return None
            case "cut once" if turn == 1:
                request.connection.shutdown(socket.SHUT_RDWR)
                return None
            case "together":
                self._three.wait(timeout=60)
            case "slow":
                self._over.wait(timeout=60)  # its client has gone by then
            case "no json":
                content = "I would say 7 of 10."
            case "half json":
                content = '{"score": 7, "rea'
            case "wrong shape":
                content = json.dumps({"rating": 7})
            case "too much":
                content = json.dumps({"score": 70, "reason": "generous"})
            case "off the scale":
                content = json.dumps({**json.loads(content), "score": 5})
            case "chatty":
                content = json.dumps({**json.loads(content), "reason": "seen"})
            case "a word":
                content = json.dumps({"score": "7", "reason": "quoted"})
            case "fenced":
                content = f"```json\n{content}\n```"
            case "long":
                finish = "length"
            case "too large":
                return _send(request, 400, {"error": {"message": f"image too large, says {KEY}"}})
            case "other model":
                model = "blind-2"
            case "dated model":
                model = f"{MODEL}-2026-01-01"
        message = {"role": "assistant", "content": content}
        return _send(
            request,
            200,
            {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": model,
                "choices": [{"index": 0, "message": message, "finish_reason": finish}],
                "usage": {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020},
            },
        )

    @contextmanager
    def running(self) -> Iterator["JudgeServer"]:
        """Serve until the block ends."""
        thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._over.set()
            self._http.shutdown()
            self._http.server_close()
            thread.join()


def _send(
    request: BaseHTTPRequestHandler, status: int, answer: dict[str, Any], headers: dict[str, str] | None = None
) -> None:
    body = json.dumps(answer).encode()
    request.send_response(status)
    for name, value in {
        "content-type": "application/json",
        "content-length": str(len(body)),
        **(headers or {}),
    }.items():
        request.send_header(name, value)
    request.end_headers()
    request.wfile.write(body)

"""What runs a batch offline, simulated from the published formats and from nothing of Invariscope's.

Requests as OpenAI's guide to its Batch API and vLLM's ``examples/offline_inference/openai_batch`` have them: an object
a line with ``custom_id`` (a text, unique in its file), ``method`` POST, ``url`` /v1/chat/completions, and ``body``.
OpenAI takes 50,000 lines and 200 MB a file and writes answers and errors into two files; vLLM writes one
(``run_batch.py``).
"""

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from tests.evaluators.judge_server import content_of

REQUEST = {"custom_id", "method", "url", "body"}


def read_requests(folder: Path) -> list[dict[str, Any]]:
    """Requests of the files of a batch, checked as an endpoint checks them."""
    found: list[dict[str, Any]] = []
    for path in sorted(folder.glob("requests-*.jsonl")):
        lines = path.read_bytes().splitlines()
        assert 0 < len(lines) <= 50_000
        assert path.stat().st_size <= 200_000_000
        requests = [json.loads(line) for line in lines]
        assert len({each["custom_id"] for each in requests}) == len(requests)
        found += requests
    for each in found:
        assert each.keys() == REQUEST
        assert isinstance(each["custom_id"], str)
        assert 0 < len(each["custom_id"]) <= 64
        assert (each["method"], each["url"]) == ("POST", "/v1/chat/completions")
        assert {"model", "messages"} <= each["body"].keys()
    return found


def with_pictures_read(body: dict[str, Any]) -> dict[str, Any]:
    """The body with files in place as vLLM reads them where their folder is allowed."""
    told: dict[str, Any] = json.loads(json.dumps(body))
    for part in told["messages"][-1]["content"]:
        url = part["image_url"]["url"] if part["type"] == "image_url" else ""
        if url.startswith("file:"):
            png = Path(unquote(urlparse(url).path)).read_bytes()
            part["image_url"]["url"] = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    return told


def completion(request: dict[str, Any], number: int, content: str | None = None) -> dict[str, Any]:
    """A chat completion as both write it."""
    body = with_pictures_read(request["body"])
    message = {"role": "assistant", "content": content_of(body) if content is None else content, "refusal": None}
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_711_652_795 + number,
        "model": request["body"]["model"],
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020},
    }


def openai_answer(request: dict[str, Any], number: int, content: str | None = None) -> dict[str, Any]:
    """A line of OpenAI's output file."""
    response = {"status_code": 200, "request_id": f"req_{number}", "body": completion(request, number, content)}
    return {
        "id": f"batch_req_{number}",
        "custom_id": request["custom_id"],
        "response": response,
        "error": None,
    }


def openai_error(request: dict[str, Any], number: int, *, expired: bool = True) -> dict[str, Any]:
    """A line of OpenAI's error file: a request that never ran, or one that was refused."""
    told = {
        "code": "batch_expired",
        "message": "This request could not be executed before the completion window expired.",
    }
    refused = {"error": {"message": "Invalid image.", "type": "invalid_request_error", "param": None, "code": None}}
    response = None if expired else {"status_code": 400, "request_id": f"req_{number}", "body": refused}
    return {
        "id": f"batch_req_{number}",
        "custom_id": request["custom_id"],
        "response": response,
        "error": told if expired else None,
    }


def vllm_answer(request: dict[str, Any], number: int, content: str | None = None) -> dict[str, Any]:
    """A line of ``vllm run-batch``."""
    response = {"status_code": 200, "request_id": f"vllm-batch-{number}", "body": completion(request, number, content)}
    return {"id": f"vllm-{number}", "custom_id": request["custom_id"], "response": response, "error": None}


def vllm_error(request: dict[str, Any], number: int, *, text: bool = True) -> dict[str, Any]:
    """A line of ``vllm run-batch`` for what it could not run: a text, or an error object, without a body."""
    told = {"error": {"message": "The model does not exist.", "type": "NotFoundError", "param": None, "code": 404}}
    return {
        "id": f"vllm-{number}",
        "custom_id": request["custom_id"],
        "response": {"status_code": 400 if text else 404, "request_id": f"vllm-batch-{number}", "body": None},
        "error": "Failed to load image" if text else told,
    }


def write_answers(path: Path, answers: list[dict[str, Any]]) -> Path:
    """Write lines of answers."""
    path.write_text("".join(f"{json.dumps(each)}\n" for each in answers), encoding="utf-8")
    return path

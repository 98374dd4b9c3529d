"""Questions to a judge as the lines of an offline batch, and its answers, read with suspicion.

One format is read by OpenAI's batch endpoint and by ``vllm run-batch``: a JSON object a line, with ``custom_id``,
``method``, ``url`` and ``body``. An answer has the same ``custom_id`` and either ``response`` (``status_code`` and
``body``, a chat completion) or ``error``: an object of OpenAI's (``code``, ``message``), of vLLM's, or a text.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import InvalidInput
from core.evaluators.network.asking import request_body, same_model
from core.evaluators.network.endpoint import count_tokens
from core.evaluators.network.rubrics import MOST_TOKENS, NoVerdict, Rubric, one_line, read_completion, verdict

URL = "/v1/chat/completions"
_LONGEST = 200  # characters of an id, and of why there is no score


@dataclass(frozen=True, slots=True)
class BatchJudge:
    """One model with one rubric, asked offline.
    ``name``: of the evaluator, ``judge:MODEL@RUBRIC``. ``side``: in px, that pictures are made smaller to.
    ``languages``: of captions that it is asked about; empty: all."""

    name: str
    model: str
    rubric: Rubric
    side: int
    languages: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits of all that an answer depends on beside the pair."""
        asked = json.dumps([self.name, self.model, self.rubric.digest, self.side, MOST_TOKENS])
        return hashlib.sha256(asked.encode()).hexdigest()[:8]

    def custom_id(self, question: str) -> str:
        """What an answer is known by; ``question`` names picture, caption and references."""
        return f"{question}-{self.digest}"

    def line(self, question: str, caption: str, references: Sequence[str], picture: str) -> bytes:
        """One request, with its newline. ``picture``: address of it, ``data:`` or ``file:``."""
        body = request_body(self.model, self.rubric, caption, references, picture=picture)
        asked = {"custom_id": self.custom_id(question), "method": "POST", "url": URL, "body": body}
        return json.dumps(asked).encode() + b"\n"

    def told(self, kind: str) -> str:
        """What the scores depend on, on one line."""
        rubric = self.rubric
        return (
            f"batch {kind}; model {self.model}; rubric {rubric.digest}, {rubric.low:g} to {rubric.high:g}; picture "
            f"{rubric.picture}, at most {self.side} px; temperature {rubric.temperature:g}, seed {rubric.seed}, "
            f"repeat {rubric.repeat}"
        )


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """One line of answers."""

    custom_id: str  # of the question
    id: str
    created: float  # when, in seconds as the endpoint counts; infinite where it does not say
    score: float | None  # None where the answer holds none
    why: str  # why there is none
    tokens: tuple[int, int] | None  # read and written; None where the answer does not say

    @property
    def rank(self) -> tuple[bool, float, str, float]:
        """Of several answers to one question the least counts, in whatever order they come: scores come first, then
        the earliest."""
        return (self.score is None, self.created, self.id, self.score or 0.0)


def read_custom_id(line: bytes) -> tuple[dict[str, Any], str]:
    """Return a line of answers and whose answer it is.
    Raises InvalidInput where it is no JSON object with a ``custom_id``."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        told = None
    found = told.get("custom_id") if isinstance(told, dict) else None
    if not isinstance(found, str) or not found or len(found) > _LONGEST:
        raise InvalidInput(f"no answer of a batch: {line[:60]!r}")
    assert isinstance(told, dict)
    return told, found


def read_answer(told: Mapping[str, Any], judge: BatchJudge) -> BatchAnswer:
    """Read a line of answers to a judge's questions."""
    body = _mapping(_mapping(told.get("response")).get("body"))
    usage = _mapping(body.get("usage"))
    read, written = (count_tokens(usage.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    created = body.get("created")
    score, why = None, ""
    status = _mapping(told.get("response")).get("status_code")
    if told.get("error") or not body or status != 200:
        what = _message(told.get("error")) or _message(body) or "it holds no response"
        at = f" (status {status})" if type(status) is int and status != 200 else ""
        why = f"the endpoint did not answer{at}: {what}"
    else:
        try:
            answer = read_completion(json.dumps(body).encode())
            if same_model(judge.model, answer.model):
                score = verdict(answer, judge.rubric.form).score
            else:
                why = f"the answer is of model {str(answer.model)[:80]!r}"
        except NoVerdict as error:
            why = str(error)
    when = float(created) if type(created) is int and 0 <= created < 2**53 else float("inf")
    return BatchAnswer(
        custom_id=str(told["custom_id"]),
        id=str(told.get("id", ""))[:_LONGEST],
        created=when,
        score=score,
        why=one_line(why, limit=_LONGEST),
        tokens=None if read is None or written is None else (read, written),
    )


def _message(error: object) -> str:
    """What an error says: a text, an object with a message, or one with such an object inside."""
    if isinstance(error, str):
        return error
    told = _mapping(error)
    inner = told.get("error")
    if inner is not None and inner is not error:
        return _message(inner)
    return ": ".join(str(told[name]) for name in ("code", "message") if isinstance(told.get(name), str | int))


def _mapping(told: object) -> Mapping[str, Any]:
    return told if isinstance(told, dict) else {}

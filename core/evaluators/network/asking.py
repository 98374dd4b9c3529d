"""One question to the judge: image and caption out, a checked score back, or the reason why there is none."""

import base64
import re
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import InvalidInput, ScoringStopped
from core.evaluators.network.budget import Budget
from core.evaluators.network.endpoint import PREFIX, Endpoint

if TYPE_CHECKING:  # listing evaluators must not import the client
    from openai import OpenAI
    from openai.types.chat import ChatCompletion
    from tenacity import RetryCallState

SEED = 2025
MOST_TOKENS = 300
"""Tokens that an answer may have: a number and a sentence."""

_RETRIED = (408, 409, 429)
_FENCE = re.compile(r"^```(?:json)?\s*(.*?)\s*```$", re.DOTALL)


class Verdict(BaseModel):
    """The shape of an answer; anything else is no score."""

    model_config = ConfigDict(extra="forbid", strict=True)

    score: float = Field(ge=0, le=10)
    reason: str = Field(max_length=2000)


class NoVerdict(InvalidInput):
    """An answer that holds no score."""


class Asker:
    """Asks one endpoint with one rubric; safe between threads."""

    def __init__(self, endpoint: Endpoint, rubric: str, budget: Budget) -> None:
        self.endpoint, self.rubric, self.budget = endpoint, rubric, budget
        self._lock = threading.Lock()
        self._made: OpenAI | None = None

    def ask(self, png: bytes, caption: str) -> Verdict:
        """Ask about one pair, again where that may help.

        Args:
            png: the image as a PNG file.
            caption: what is judged.

        Raises:
            NoVerdict: where the answer holds no score.
            ScoringStopped: where no pair can be scored: budget spent, key refused, unknown or other model.
            InvalidInput: where the endpoint gave no answer in as many tries as it is given.
        """
        from openai import APIConnectionError, APIStatusError
        from tenacity import RetryError, Retrying, retry_if_exception, stop_after_attempt

        tries = Retrying(
            retry=retry_if_exception(_passing),
            stop=stop_after_attempt(self.endpoint.attempts),
            wait=self._wait(),
        )
        try:
            return tries(self._once, png, caption)
        except RetryError as error:
            raise InvalidInput(self._gave_up(error.last_attempt.exception())) from None
        except APIStatusError as error:
            raise self._refused(error) from None
        except APIConnectionError as error:
            raise InvalidInput(self._gave_up(error)) from None

    def _once(self, png: bytes, caption: str) -> Verdict:
        self.budget.request()
        answer = self._client().chat.completions.create(
            model=self.endpoint.model,
            messages=_messages(self.rubric, png, caption),
            temperature=0,
            seed=SEED,
            n=1,
            max_tokens=MOST_TOKENS,
            response_format=_SHAPE,
        )
        if answer.usage is not None:
            self.budget.answered(answer.usage.prompt_tokens, answer.usage.completion_tokens)
        self._same_model(answer.model)
        return verdict(answer)

    def _client(self) -> "OpenAI":
        from openai import OpenAI

        with self._lock:
            if self._made is None:
                key = self.endpoint.key or "none"  # local servers want some token, and no key of the environment
                patience = self.endpoint.timeout_s
                self._made = OpenAI(base_url=self.endpoint.url, api_key=key, timeout=patience, max_retries=0)
            return self._made

    def _wait(self) -> Callable[["RetryCallState"], float]:
        from tenacity import wait_exponential_jitter

        first, longest = self.endpoint.first_wait_s, self.endpoint.longest_wait_s
        usual = wait_exponential_jitter(multiplier=first, max=longest, jitter=first)

        def wait(state: "RetryCallState") -> float:
            asked = _retry_after(state.outcome.exception() if state.outcome else None)
            return min(max(usual(state), asked), max(longest, first))

        return wait

    def _same_model(self, answered: str | None) -> None:
        wanted = self.endpoint.model
        names = {wanted, wanted.rpartition("/")[2]}
        found = (answered or "").rpartition("/")[2]
        if answered and found not in names and not any(found.startswith(f"{name}-") for name in names):
            raise ScoringStopped(
                f"the judge was asked for model {wanted!r} and {self.endpoint.host} answered for {answered[:80]!r}; "
                f"set {PREFIX}MODEL to the model that is served"
            )

    def _refused(self, error: Any) -> Exception:
        """A status that no further try mends: for all pairs, or for this one."""
        status, host = error.status_code, self.endpoint.host
        if status in (401, 403):
            return ScoringStopped(f"{host} refused the judge's key (status {status}); check {PREFIX}KEY")
        if status == 404:
            return ScoringStopped(
                f"{host} knows no model {self.endpoint.model!r} at this address (status 404); check {PREFIX}URL and "
                f"{PREFIX}MODEL"
            )
        return InvalidInput(f"{host} refused this pair (status {status}): {self._clean(error.message)}")

    def _gave_up(self, error: BaseException | None) -> str:
        from openai import APIStatusError, APITimeoutError

        host, tries = self.endpoint.host, self.endpoint.attempts
        if isinstance(error, APIStatusError):
            return f"{host} answered with status {error.status_code} in each of {tries} tries"
        if isinstance(error, APITimeoutError):
            return f"{host} gave no answer within {self.endpoint.timeout_s:g} s in each of {tries} tries"
        return f"the connection to {host} broke in each of {tries} tries"

    def _clean(self, text: str) -> str:
        line = " ".join(text.split())[:200]
        return line.replace(self.endpoint.key, "…") if self.endpoint.key else line


def verdict(answer: "ChatCompletion") -> Verdict:
    """Read a score out of an answer.

    Raises:
        NoVerdict: with what is wrong.
    """
    if not answer.choices:
        raise NoVerdict("the judge's answer has no choice")
    choice = answer.choices[0]
    if getattr(choice.message, "refusal", None):
        raise NoVerdict("the judge refused to judge this pair")
    if choice.finish_reason == "length":
        raise NoVerdict(f"the judge's answer was cut off after {MOST_TOKENS} tokens")
    return read_verdict(choice.message.content or "")


def read_verdict(answer: str) -> Verdict:
    """Read the JSON that a judge was asked for, bare or in a fence.

    Raises:
        NoVerdict: with what is wrong.
    """
    text = answer.strip()
    fenced = _FENCE.match(text)
    try:
        return Verdict.model_validate_json(fenced[1] if fenced else text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        problem = f"{where}: {first['msg']}" if where else first["msg"]
        raise NoVerdict(f"the judge's answer is not the JSON it was asked for ({problem}): {text[:80]!r}") from error


_SHAPE: Any = {
    "type": "json_schema",
    "json_schema": {
        "name": "verdict",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 10}, "reason": {"type": "string"}},
            "required": ["score", "reason"],
            "additionalProperties": False,
        },
    },
}


def _messages(rubric: str, png: bytes, caption: str) -> Any:
    picture = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    content = [
        {"type": "image_url", "image_url": {"url": picture}},
        {"type": "text", "text": f"Caption:\n{caption}"},
    ]
    return [{"role": "system", "content": rubric}, {"role": "user", "content": content}]


def _passing(error: BaseException) -> bool:
    """Whether another try may succeed."""
    from openai import APIConnectionError, APIStatusError

    if isinstance(error, APIStatusError):
        return error.status_code in _RETRIED or error.status_code >= 500
    return isinstance(error, APIConnectionError)


def _retry_after(error: BaseException | None) -> float:
    headers = getattr(getattr(error, "response", None), "headers", {})
    try:
        return max(0.0, float(headers.get("retry-after", 0)))
    except ValueError:
        return 0.0

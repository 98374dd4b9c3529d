"""One question to the judge: image and caption out, a checked score back, or the reason why there is none."""

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from core.errors import InvalidInput, ScoringStopped
from core.evaluators.network.answer import MOST_TOKENS, TEN, Form, Verdict, one_line, read_completion, verdict
from core.evaluators.network.budget import Budget
from core.evaluators.network.endpoint import PREFIX, Endpoint
from core.evaluators.network.line import NoReply, Post, Reply, TooLate

if TYPE_CHECKING:
    from tenacity import RetryCallState

SEED = 2025

_RETRIED = (408, 409, 429)
_LONGEST_REFUSAL = 200


class Asker:
    """Asks one endpoint with one rubric for answers of one form; safe between threads."""

    def __init__(self, endpoint: Endpoint, rubric: str, budget: Budget, form: Form = TEN) -> None:
        self.endpoint, self.rubric, self.budget, self.form = endpoint, rubric, budget, form

    def ask(self, post: Post, png: bytes, caption: str) -> Verdict:
        """Ask about one pair, again where that may help.

        Args:
            post: sends a request; see :func:`core.evaluators.network.line.line`.
            png: the image as a PNG file.
            caption: what is judged.

        Raises:
            InvalidInput: where the answer holds no score, or none came in as many tries as it is given.
            ScoringStopped: where no pair can be scored: budget spent, key refused, unknown or other model, an
                endpoint that redirects elsewhere.
        """
        from tenacity import RetryError, Retrying, retry_if_exception_type, stop_after_attempt

        tries = Retrying(
            retry=retry_if_exception_type((NoReply, _Busy)),
            stop=stop_after_attempt(self.endpoint.attempts),
            wait=self._wait(),
        )
        try:
            return tries(self._once, post, png, caption)
        except RetryError as error:
            raise InvalidInput(self._gave_up(error.last_attempt.exception())) from None

    def _once(self, post: Post, png: bytes, caption: str) -> Verdict:
        self.budget.request()
        reply = post(
            {
                "model": self.endpoint.model,
                "messages": _messages(self.rubric, png, caption),
                "temperature": 0,
                "seed": SEED,
                "n": 1,
                "max_tokens": MOST_TOKENS,
                "response_format": _shape(self.form),
            }
        )
        if reply.status in _RETRIED or reply.status >= 500:
            raise _Busy(reply)
        if not 200 <= reply.status < 300:
            raise self._refused(reply)
        answer = read_completion(reply.body)
        self.budget.answered(answer.usage)
        self._same_model(answer.model)
        return verdict(answer, self.form)

    def _wait(self) -> Callable[["RetryCallState"], float]:
        from tenacity import wait_exponential_jitter

        first, longest = self.endpoint.first_wait_s, self.endpoint.longest_wait_s
        usual = wait_exponential_jitter(multiplier=first, max=longest, jitter=first)

        def wait(state: "RetryCallState") -> float:
            error = state.outcome.exception() if state.outcome else None
            asked = error.reply.retry_after_s if isinstance(error, _Busy) else 0.0
            return min(max(usual(state), asked), max(longest, first))

        return wait

    def _same_model(self, answered: object) -> None:
        if not isinstance(answered, str):  # an endpoint that does not say is believed
            return
        wanted = self.endpoint.model
        names = {wanted, wanted.rpartition("/")[2]}
        found = answered.rpartition("/")[2]
        if answered and found not in names and not any(found.startswith(f"{name}-") for name in names):
            raise ScoringStopped(
                f"the judge was asked for model {wanted!r} and {self.endpoint.host} answered for {answered[:80]!r}; "
                f"set {PREFIX}MODEL to the model that is served"
            )

    def _refused(self, reply: Reply) -> Exception:
        """A status that no further try mends: for all pairs, or for this one."""
        status, host = reply.status, self.endpoint.host
        if status in (401, 403):
            return ScoringStopped(f"{host} refused the judge's key (status {status}); check {PREFIX}KEY")
        if status == 404:
            return ScoringStopped(
                f"{host} knows no model {self.endpoint.model!r} at this address (status 404); check {PREFIX}URL and "
                f"{PREFIX}MODEL"
            )
        told = one_line(self._without_key(reply.body.decode("utf-8", "replace")), limit=_LONGEST_REFUSAL)
        return InvalidInput(f"{host} refused this pair (status {status}): {told}")

    def _gave_up(self, error: BaseException | None) -> str:
        host, tries = self.endpoint.host, self.endpoint.attempts
        if isinstance(error, _Busy):
            return f"{host} answered with status {error.reply.status} in each of {tries} tries"
        if isinstance(error, TooLate):
            return f"{host} gave no answer within {self.endpoint.timeout_s:g} s in each of {tries} tries"
        return f"the connection to {host} broke in each of {tries} tries"

    def _without_key(self, text: str) -> str:
        return text.replace(self.endpoint.key, "…") if self.endpoint.key else text


class _Busy(Exception):
    """A status after which another try may succeed."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


def _shape(form: Form) -> Any:
    asked: dict[str, Any] = {"score": {"type": "integer", "minimum": form.low, "maximum": form.high}}
    asked |= {"reason": {"type": "string"}} if form.reasoned else {}
    schema = {"type": "object", "properties": asked, "required": list(asked), "additionalProperties": False}
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}


def _messages(rubric: str, png: bytes, caption: str) -> Any:
    picture = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    content = [
        {"type": "image_url", "image_url": {"url": picture}},
        {"type": "text", "text": f"Caption:\n{caption}"},
    ]
    return [{"role": "system", "content": rubric}, {"role": "user", "content": content}]

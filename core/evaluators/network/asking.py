"""One question to the judge: image and caption out, a checked score back, or the reason why there is none.

The other end is a stranger: it may answer a byte a second, send a bomb, or point somewhere else. Answers that were paid
for are appended line by line, a checksum and a JSON object each, on the disk before the score is used; a line that was
cut off by a kill, or damaged, is passed over, and what stands before and after it counts.

Questions may also be the lines of an offline batch, in one format that OpenAI's batch endpoint and ``vllm run-batch``
read: a JSON object a line, with ``custom_id``, ``method``, ``url`` and ``body``. An answer has the same ``custom_id``
and either ``response`` (``status_code`` and ``body``, a chat completion) or ``error``: an object of OpenAI's (``code``,
``message``), of vLLM's, or a text.
"""

import base64
import hashlib
import json
import logging
import os
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from core.errors import InvalidInput, ScoringStopped
from core.evaluators.network.endpoint import PREFIX, Budget, Endpoint, count_tokens
from core.evaluators.network.rubrics import MOST_TOKENS, SEED, Rubric, Verdict, one_line, read_completion, verdict

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Request, Response
    from tenacity import RetryCallState

MOST_BYTES = 1_000_000  # of one answer, packed and unpacked; a score and its reason have a few hundred
MOST_HOPS = 3  # redirects that one request follows, all of them to the same scheme, host and port


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
    """Hold connections to an endpoint open; yields what sends one request, from any thread. Raises (the function that
    is yielded): NoReply: where the connection broke or the answer was not whole in ``endpoint.timeout_s`` seconds.
    BadReply: where the answer is over MOST_BYTES or packed in another way than was asked for. ScoringStopped: where the
    endpoint redirects elsewhere; nothing was sent there."""
    from anyio.from_thread import start_blocking_portal
    from httpx2 import AsyncClient

    client = AsyncClient(timeout=None, follow_redirects=False)  # one deadline for the whole takes their place
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        yield lambda body: portal.call(_post, client, endpoint, body)


async def _post(client: "AsyncClient", endpoint: Endpoint, body: dict[str, Any]) -> Reply:
    from anyio import fail_after
    from httpx2 import HTTPError, InvalidURL

    key = endpoint.key or "none"  # local servers want some token
    headers = {"authorization": f"Bearer {key}", "accept": "application/json", "accept-encoding": "gzip"}
    try:
        with fail_after(endpoint.timeout_s):
            request = client.build_request("POST", f"{endpoint.url}/chat/completions", json=body, headers=headers)
            for _ in range(MOST_HOPS + 1):
                response = await client.send(request, stream=True)
                try:
                    if not 300 <= response.status_code < 400:
                        return Reply(response.status_code, _seconds(response), await _whole(response, endpoint))
                    request = _same_place(request, response, endpoint)
                finally:
                    await response.aclose()
    except TimeoutError:
        raise TooLate(f"{endpoint.host} gave no whole answer within {endpoint.timeout_s:g} s") from None
    except (HTTPError, InvalidURL, OSError):  # its text may hold what a stranger wrote
        raise NoReply(f"the connection to {endpoint.host} broke") from None
    raise ScoringStopped(f"{endpoint.host} redirected {MOST_HOPS + 1} times in a row; check {PREFIX}URL")


def _same_place(request: "Request", response: "Response", endpoint: Endpoint) -> "Request":
    """The request that a redirect asks for, where it stays at the same place and carries the same question."""
    following = response.next_request
    places = [(each.url.scheme, each.url.host, each.url.port) for each in (request, following) if each is not None]
    if following is not None and places[0] == places[1] and response.status_code in (307, 308):
        return following
    where = f"{following.url.scheme}://{following.url.netloc.decode()}"[:120] if following is not None else "nowhere"
    raise ScoringStopped(
        f"{endpoint.host} redirects to {where} (status {response.status_code}), which is not followed with a key and "
        f"a picture; set {PREFIX}URL to the address that answers"
    )


async def _whole(response: "Response", endpoint: Endpoint) -> bytes:
    """The body, unpacked."""
    host, raw = endpoint.host, bytearray()
    too_long = BadReply(f"{host} sent more than {MOST_BYTES:,} bytes for one score; the rest was not read")
    async for piece in response.aiter_raw():
        raw += piece
        if len(raw) > MOST_BYTES:
            raise too_long
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding == "identity":
        return bytes(raw)
    if coding not in ("gzip", "x-gzip", "deflate"):
        raise BadReply(f"{host} packed its answer as {coding[:20]!r}, and only gzip was asked for")
    unpacking = zlib.decompressobj(47)  # gzip or zlib: the header says which of both it is
    try:
        body = unpacking.decompress(bytes(raw), MOST_BYTES + 1)
    except zlib.error:
        raise BadReply(f"{host} sent an answer whose packing is broken") from None
    if len(body) > MOST_BYTES:
        raise too_long
    if not unpacking.eof:
        raise BadReply(f"{host} sent an answer whose packing is cut off")
    return body


def _seconds(response: "Response") -> float:
    try:
        return max(0.0, float(response.headers.get("retry-after", 0)))
    except ValueError:
        return 0.0


_LONGEST = 200  # characters of the id of an answer, and of why there is no score


class Asker:
    """Asks one endpoint with one rubric; safe between threads."""

    def __init__(self, endpoint: Endpoint, rubric: Rubric, budget: Budget) -> None:
        self.endpoint, self.rubric, self.budget = endpoint, rubric, budget

    def ask(self, post: Post, png: bytes, caption: str, references: Sequence[str] = ()) -> Verdict:
        """Ask about one pair, again where that may help.
        ``post``: sends a request; see :func:`core.evaluators.network.asking.line`.
        ``png``: the image as a PNG file; of no use to a rubric that shows none.
        ``references``: captions by people, for a rubric that shows them.
        Raises InvalidInput where the answer holds no score, or none came in as many tries as it is given;
        ScoringStopped where none can be: budget spent, key refused, unknown or other model, redirects elsewhere."""
        from tenacity import RetryError, Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential_jitter

        to = self.endpoint
        first, longest = to.first_wait_s, to.longest_wait_s
        usual = wait_exponential_jitter(multiplier=first, max=longest, jitter=first)

        def wait(state: "RetryCallState") -> float:
            error = state.outcome.exception() if state.outcome else None
            asked = error.reply.retry_after_s if isinstance(error, _Busy) else 0.0
            return min(max(usual(state), asked), max(longest, first))

        again = retry_if_exception_type((NoReply, _Busy))
        body = request_body(to.model, self.rubric, caption, references, picture=data_url(png))
        try:
            return Retrying(retry=again, stop=stop_after_attempt(to.attempts), wait=wait)(self._once, post, body)
        except RetryError as failed:
            error, told = failed.last_attempt.exception(), f"the connection to {to.host} broke"
            if isinstance(error, _Busy):
                told = f"{to.host} answered with status {error.reply.status}"
            elif isinstance(error, TooLate):
                told = f"{to.host} gave no answer within {to.timeout_s:g} s"
            raise InvalidInput(f"{told} in each of {to.attempts} tries") from None

    def _once(self, post: Post, body: dict[str, Any]) -> Verdict:
        self.budget.request()
        reply = post(body)
        if reply.status in (408, 409, 429) or reply.status >= 500:
            raise _Busy(reply)
        if not 200 <= reply.status < 300:
            raise self._refused(reply)
        answer = read_completion(reply.body)
        self.budget.answered(answer.usage)
        if not same_model(self.endpoint.model, answer.model):
            raise ScoringStopped(
                f"the judge was asked for model {self.endpoint.model!r} and {self.endpoint.host} answered for "
                f"{str(answer.model)[:80]!r}; set {PREFIX}MODEL to the model that is served"
            )
        return verdict(answer, self.rubric)

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
        text = reply.body.decode("utf-8", "replace")
        text = text.replace(self.endpoint.key, "…") if self.endpoint.key else text
        told = one_line(text, limit=_LONGEST)
        return InvalidInput(f"{host} refused this pair (status {status}): {told}")


class _Busy(Exception):
    """A status after which another try may succeed."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


def same_model(wanted: str, answered: object) -> bool:
    """Whether an answer is of the model that was asked for, in whatever edition; one that does not say is believed."""
    if not isinstance(answered, str) or not answered:
        return True
    names, found = {wanted, wanted.rpartition("/")[2]}, answered.rpartition("/")[2]
    return found in names or any(found.startswith(f"{name}-") for name in names)


def data_url(png: bytes) -> str:
    """A PNG file as an address."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def request_body(
    model: str, rubric: Rubric, caption: str, references: Sequence[str] = (), *, picture: str
) -> dict[str, Any]:
    """The body of one request for a chat completion: what the network is sent, and a line of a batch holds.
    ``picture``: address of the picture; left out where the rubric shows none."""
    told: dict[str, Any] = {"model": model, "messages": rubric.messages(caption, references, picture=picture)}
    told |= {"temperature": rubric.temperature, "seed": rubric.seed, "n": 1, "max_tokens": MOST_TOKENS}
    if rubric.bare:
        return told
    ends = [int(end) if float(end).is_integer() else end for end in (rubric.low, rubric.high)]
    kind = "integer" if rubric.whole else "number"
    asked: dict[str, Any] = {"score": {"type": kind, "minimum": ends[0], "maximum": ends[1]}}
    asked |= {"reason": {"type": "string"}} if rubric.reason else {}
    schema = {"type": "object", "properties": asked, "required": list(asked), "additionalProperties": False}
    shape = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}
    return told | {"response_format": shape}


_log = logging.getLogger("invariscope.judge")


def request_key(*, rubric: str, model: str, pair: str, longest_side: int) -> str:
    """Return the sha256, in hex, of all that an answer depends on.
    ``pair``: hashes of picture and caption; see :func:`core.evaluators.cache.pair_key`.
    ``longest_side``: in px, at which the picture is sent."""
    asked = {"rubric": rubric, "model": model, "pair": pair, "side": longest_side, "seed": SEED, "tokens": MOST_TOKENS}
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


class Journal:
    """Scores by :func:`request_key`; safe between threads and processes, and across a kill.
    ``path``: the file, made with the first answer; None: in memory only."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._scores: dict[str, float] = {}
        self._read = 0  # bytes of the file that are in ``_scores``: whole lines; what others append is to come

    def scores(self, keys: Iterable[str]) -> dict[str, float]:
        """Return the scores that are known, by key; what another process appended meanwhile is read, too."""
        with self._lock:
            if self.path is not None and self.path.is_file():
                with self.path.open("rb") as file:
                    file.seek(self._read)
                    for line in file:
                        if not line.endswith(b"\n"):
                            break
                        self._read += len(line)
                        checksum, _, told = line.decode("utf-8", "replace").strip().partition(" ")
                        if checksum and checksum != _checksum(told):
                            _log.warning("%s: a damaged line is passed over; its pair is asked again", self.path)
                        elif checksum:
                            kept = json.loads(told)
                            self._scores[kept["key"]] = Verdict.model_validate_json(kept["answer"]).score
            return {key: self._scores[key] for key in keys if key in self._scores}

    def check(self) -> None:
        """Find out whether an answer can be kept, before one is paid for. Raises ScoringStopped where it cannot."""
        self._append(b"")

    def add(self, key: str, verdict: Verdict) -> None:
        """Keep one answer, on the disk. Raises ScoringStopped where it cannot be written: no more is paid for."""
        told = json.dumps({"key": key, "answer": verdict.model_dump_json()}, sort_keys=True)
        with self._lock:
            self._scores[key] = verdict.score
            self._append(f"{_checksum(told)} {told}\n".encode())

    def _append(self, line: bytes) -> None:
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self.path}.lock"), self.path.open("a+b") as file:
                size = os.fstat(file.fileno()).st_size
                if line and size and os.pread(file.fileno(), 1, size - 1) != b"\n":
                    line = b"\n" + line  # somebody was killed in the middle of a line
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise ScoringStopped(
                f"the judge's answers cannot be kept in {self.path} ({error.strerror or error}); free space or set "
                "INVARISCOPE_DATA, then resume: nothing more is asked, and what was kept is not asked again"
            ) from error


def _checksum(told: str) -> str:
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]


URL = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class BatchJudge:
    """One model with one rubric, asked offline."""

    name: str  # of the evaluator, ``judge:MODEL@RUBRIC``
    model: str
    rubric: Rubric
    side: int  # in px, that pictures are made smaller to
    languages: tuple[str, ...] = ()  # of captions that it is asked about; empty: all

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
        """Of several answers to one question, in whatever order, the least counts: scores first, then the earliest."""
        return (self.score is None, self.created, self.id, self.score or 0.0)


def read_custom_id(line: bytes) -> tuple[dict[str, Any], str]:
    """Return a line of answers and whose it is. Raises InvalidInput where it is no object with a ``custom_id``."""
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
                score = verdict(answer, judge.rubric).score
            else:
                why = f"the answer is of model {str(answer.model)[:80]!r}"
        except InvalidInput as error:
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

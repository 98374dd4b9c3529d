"""Where a judge is asked, how patiently and how much it may cost, from the environment; and what it has cost so far."""

import logging
import math
import os
import threading
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from core.corpora.ordinary_paths import ordinary
from core.errors import InvalidInput, NotAvailable, ScoringStopped

PREFIX = "INVARISCOPE_JUDGE_"
NEEDED = (f"{PREFIX}URL", f"{PREFIX}MODEL")
MODELS = "INVARISCOPE_JUDGE_MODELS"  # names a TOML file: a table a model with its own settings of an Endpoint
_MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One OpenAI-compatible endpoint and its limits."""

    url: str  # base address, e.g. ``https://api.openai.com/v1`` or ``http://localhost:8000/v1``.
    model: str  # what is asked for; an answer of another model ends the scoring
    key: str = field(default="", repr=False)  # sent as the bearer token; it stands in no message, log, manifest or page
    concurrency: int = 4  # most requests under way at once
    timeout_s: float = 60.0  # longest wait for one answer, in seconds
    attempts: int = 6  # most tries of one pair on 429, 5xx, a cut connection or a time-out
    # first_wait_s, longest_wait_s: bounds of the waits between tries, in seconds; they double, with jitter
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0
    most_requests: int | None = None  # requests after which scoring stops; None: no limit
    # cost after which scoring stops, in the currency of the prices; None: no limit. Requests under way are still paid
    # for, so it may be overrun by ``concurrency`` answers.
    most_cost: float | None = None
    # price_in, price_out: price of a million tokens read and written
    price_in: float | None = None
    price_out: float | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput(f"{PREFIX}URL must begin with http:// or https:// and name a host; correct it")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise InvalidInput(f"{PREFIX}URL must hold no name, password or query; put the key into {PREFIX}KEY")
        if self.most_cost is not None and (self.price_in is None or self.price_out is None):
            why = f"{PREFIX}MOST_COST needs {PREFIX}PRICE_IN and {PREFIX}PRICE_OUT, the prices of a million tokens"
            raise InvalidInput(why)

    @property
    def host(self) -> str:
        """Host and port, for manifests: never the key, never a path."""
        return urlsplit(self.url).netloc

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Self:
        """Read ``INVARISCOPE_JUDGE_*``.
        Raises NotAvailable where address or model is not set; InvalidInput where a value cannot be used."""
        found = os.environ if environment is None else environment
        missing = [name for name in NEEDED if not found.get(name)]
        if missing:
            raise NotAvailable(f"{' and '.join(missing)} not set: the judge asks an OpenAI-compatible endpoint")
        usual = {name: each.default for name, each in cls.__dataclass_fields__.items()}
        numbers = {
            name: _number(found, name, whole=name in ("concurrency", "attempts", "most_requests"))
            for name in usual
            if name not in ("url", "model", "key") and found.get(f"{PREFIX}{name.upper()}")
        }
        key = found.get(f"{PREFIX}KEY", "")
        return cls(url=found[f"{PREFIX}URL"].rstrip("/"), model=found[f"{PREFIX}MODEL"], key=key, **numbers)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class ModelTable:
    """What the file of models says of one."""

    # values by their names in the environment; those that it does not name are the environment's
    settings: Mapping[str, str] = field(default_factory=dict)
    # of the environment, which holds its key; empty: none; None: the environment's own key
    key_variable: str | None = None
    languages: tuple[str, ...] = ()  # that the model reads; empty: unknown


def prices_of(model: str) -> tuple[float | None, float | None]:
    """Prices of a million tokens read and written; None where none is set.
    Raises InvalidInput where one is no number of at least 0, or the file of models cannot be used."""
    settings = {**os.environ, **model_table(model).settings}
    told = (name for name in ("price_in", "price_out"))
    price_in, price_out = (
        _number(settings, name, whole=False) if settings.get(f"{PREFIX}{name.upper()}") else None for name in told
    )
    return price_in, price_out


def endpoint_of(model: str) -> Endpoint:
    """Where a model is asked: as the file of models says, and the environment where it says nothing.
    Raises NotAvailable where its address or its key's variable is not set; InvalidInput for what cannot be used."""
    table = model_table(model)
    key = {} if table.key_variable is None else {f"{PREFIX}KEY": os.environ.get(table.key_variable, "")}
    if table.key_variable and not key[f"{PREFIX}KEY"]:
        raise NotAvailable(f"the key of {model!r} is to be in the variable {table.key_variable}, which is not set")
    return Endpoint.from_environment({**os.environ, **table.settings, **key, f"{PREFIX}MODEL": model})


def model_table(model: str) -> ModelTable:
    """What the file of models says of a model; nothing where there is no file, or no such table.
    Raises InvalidInput where the file cannot be read, or has a setting that is none."""
    if not (place := os.environ.get(MODELS)):
        return ModelTable()
    try:
        if ordinary(Path(place)).stat().st_size > _MOST_BYTES:
            why = f"{place}, which {MODELS} names, has more than {_MOST_BYTES:,} bytes; it is a short list"
            raise InvalidInput(why)
        tables = tomllib.loads(Path(place).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        why = f"{place}, which {MODELS} names, is no TOML that can be read ({error}); correct it"
        raise InvalidInput(why) from error
    if not all(isinstance(each, dict) for each in tables.values()):
        raise InvalidInput(f'{place}, which {MODELS} names, must hold tables, ["MODEL"] with url = "…" below it')
    told = tables.get(model)
    if told is None:
        return ModelTable()
    own = {name for name in Endpoint.__dataclass_fields__ if name not in ("model", "key")}
    strange = sorted(told.keys() - own - {"key_variable", "languages"})
    if strange or any(isinstance(value, bool | dict) for value in told.values()):
        wrong = ", ".join(strange) or "a value that is neither text nor number"
        raise InvalidInput(
            f"{place}: the model {model!r} has {wrong}; there may be {', '.join(sorted(own))}, "
            "key_variable (the name of the variable that holds the key), languages"
        )
    settings = {f"{PREFIX}{name.upper()}": str(told[name]) for name in own & told.keys()}
    languages = told.get("languages", [])
    if not isinstance(languages, list) or not all(isinstance(each, str) for each in languages):
        raise InvalidInput(f'{place}: languages of {model!r} must be a list of codes, such as ["en", "de"]')
    variable = str(told["key_variable"]) if "key_variable" in told else "" if "url" in told else None
    return ModelTable(settings, variable, tuple(languages))  # a key goes nowhere but where it was meant for


def _number(found: Mapping[str, str], name: str, *, whole: bool) -> float:
    variable = f"{PREFIX}{name.upper()}"
    try:
        value = int(found[variable]) if whole else float(found[variable])
    except ValueError:
        value = math.nan
    free = name.startswith("price_")
    if not (value >= 0 if free else value > 0) or math.isinf(value):
        kind = "whole number above 0" if whole else "number of at least 0" if free else "number above 0"
        raise InvalidInput(f"{variable} must be a {kind}, got {found[variable]!r}; correct or unset it")
    return value


MOST_COUNTED = 10_000_000  # tokens of one answer above which a count is none; the longest contexts are a fraction
_log = logging.getLogger("invariscope.judge")


class Budget:
    """Counts requests and their cost; safe between threads. ``unknown`` counts the answers that did not say, in numbers
    that can be, how many tokens they took. Their scores are kept; a budget of money cannot be held over them and stops.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._lock = threading.Lock()
        self.requests = 0
        self.unknown = 0
        self.cost = 0.0

    def request(self) -> None:
        """Count one request that is about to be sent. Raises ScoringStopped where the budget does not allow it."""
        limits = self._endpoint
        with self._lock:
            if limits.most_requests is not None and self.requests >= limits.most_requests:
                raise ScoringStopped(
                    f"the judge's budget of {limits.most_requests} requests is spent; raise {PREFIX}MOST_REQUESTS or "
                    "resume with a fresh one: answered pairs are kept"
                )
            if limits.most_cost is not None and self.unknown:
                raise ScoringStopped(
                    f"the judge's budget of {limits.most_cost:g} cannot be kept: {limits.host} did not say how many "
                    f"tokens {self.unknown} of {self.requests} answers took; unset {PREFIX}MOST_COST and set "
                    f"{PREFIX}MOST_REQUESTS: answered pairs are kept"
                )
            if limits.most_cost is not None and self.cost >= limits.most_cost:
                raise ScoringStopped(
                    f"the judge's budget of {limits.most_cost:g} is spent ({self.cost:.4g}); raise {PREFIX}MOST_COST "
                    "or resume with a fresh one: answered pairs are kept"
                )
            self.requests += 1

    def answered(self, usage: Any) -> None:
        """Count the tokens of one answer.
        ``usage``: what the endpoint wrote as ``usage``, whatever it is: ``prompt_tokens`` and ``completion_tokens``
        count where both are whole numbers from 0 to MOST_COUNTED."""
        told = usage if isinstance(usage, dict) else {}
        read, written = (count_tokens(told.get(name)) for name in ("prompt_tokens", "completion_tokens"))
        prices = (self._endpoint.price_in or 0.0, self._endpoint.price_out or 0.0)
        with self._lock:
            if read is not None and written is not None:
                self.cost += (prices[0] * read + prices[1] * written) / 1e6
                return
            self.unknown += 1
            first = self.unknown == 1
        if first:
            _log.warning(
                "%s did not say in usable numbers the tokens of an answer; the score is kept, its cost is unknown",
                self._endpoint.host,
            )


def count_tokens(told: Any) -> int | None:
    """A number of tokens as an endpoint wrote it; None where it is no whole number from 0 to MOST_COUNTED."""
    return told if type(told) is int and 0 <= told <= MOST_COUNTED else None  # True is no count

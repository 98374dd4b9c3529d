"""Where a judge is asked, how patiently, and how much it may cost: all of it from the environment."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urlsplit

from core.errors import InvalidInput, NotAvailable

PREFIX = "INVARISCOPE_JUDGE_"
NEEDED = (f"{PREFIX}URL", f"{PREFIX}MODEL")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One OpenAI-compatible endpoint and its limits.

    Args:
        url: base address, e.g. ``https://api.openai.com/v1`` or ``http://localhost:8000/v1``.
        model: what is asked for; an answer of another model ends the scoring.
        key: sent as the bearer token; it stands in no message, log, manifest or page.
        concurrency: most requests under way at once.
        timeout_s: longest wait for one answer, in seconds.
        attempts: most tries of one pair on 429, 5xx, a cut connection or a time-out.
        first_wait_s, longest_wait_s: bounds of the waits between tries, in seconds; they double, with jitter.
        most_requests: requests after which scoring stops; None: no limit.
        most_cost: cost after which scoring stops, in the currency of the prices; None: no limit. Requests under
            way are still paid for, so it may be overrun by ``concurrency`` answers.
        price_in, price_out: price of a million tokens read and written.
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    concurrency: int = 4
    timeout_s: float = 60.0
    attempts: int = 6
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0
    most_requests: int | None = None
    most_cost: float | None = None
    price_in: float | None = None
    price_out: float | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput(f"{PREFIX}URL must begin with http:// or https:// and name a host; correct it")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise InvalidInput(f"{PREFIX}URL must hold no name, password or query; put the key into {PREFIX}KEY")
        if self.most_cost is not None and (self.price_in is None or self.price_out is None):
            raise InvalidInput(
                f"{PREFIX}MOST_COST needs {PREFIX}PRICE_IN and {PREFIX}PRICE_OUT, the prices of a million tokens"
            )

    @property
    def host(self) -> str:
        """Host and port, for manifests: never the key, never a path."""
        return urlsplit(self.url).netloc

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Self:
        """Read ``INVARISCOPE_JUDGE_*``.

        Raises:
            NotAvailable: where address or model is not set.
            InvalidInput: where a value cannot be used.
        """
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

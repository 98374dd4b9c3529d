"""What a judge has cost so far, and the point at which it stops."""

import logging
import threading
from typing import Any

from core.errors import ScoringStopped
from core.evaluators.network.endpoint import PREFIX, Endpoint

MOST_COUNTED = 10_000_000
"""Tokens of one answer above which a count is no count; the longest contexts are a fraction of it."""

_log = logging.getLogger("invariscope.judge")


class Budget:
    """Counts requests and their cost; safe between threads.

    ``unknown`` counts the answers that did not say, in numbers that can be, how many tokens they took. Their scores are
    kept; a budget of money cannot be held over them and stops.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._lock = threading.Lock()
        self.requests = 0
        self.unknown = 0
        self.cost = 0.0

    def request(self) -> None:
        """Count one request that is about to be sent.

        Raises:
            ScoringStopped: where the budget does not allow it.
        """
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

        Args:
            usage: what the endpoint wrote as ``usage``, whatever it is: ``prompt_tokens`` and ``completion_tokens``
                count where both are whole numbers from 0 to MOST_COUNTED.
        """
        told = usage if isinstance(usage, dict) else {}
        read, written = (_count(told.get(name)) for name in ("prompt_tokens", "completion_tokens"))
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


def _count(told: Any) -> int | None:
    return told if type(told) is int and 0 <= told <= MOST_COUNTED else None  # True is no count

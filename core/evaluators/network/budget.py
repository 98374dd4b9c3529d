"""What a judge has cost so far, and the point at which it stops."""

import threading

from core.errors import ScoringStopped
from core.evaluators.network.endpoint import PREFIX, Endpoint


class Budget:
    """Counts requests and their cost; safe between threads."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._lock = threading.Lock()
        self.requests = 0
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
            if limits.most_cost is not None and self.cost >= limits.most_cost:
                raise ScoringStopped(
                    f"the judge's budget of {limits.most_cost:g} is spent ({self.cost:.4g}); raise {PREFIX}MOST_COST "
                    "or resume with a fresh one: answered pairs are kept"
                )
            self.requests += 1

    def answered(self, tokens_in: int, tokens_out: int) -> None:
        """Count the tokens of one answer."""
        prices = (self._endpoint.price_in or 0.0, self._endpoint.price_out or 0.0)
        with self._lock:
            self.cost += (prices[0] * tokens_in + prices[1] * tokens_out) / 1e6

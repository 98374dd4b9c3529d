"""Coroutines finished on their own thread: Playwright's loop keeps the tests' thread while a browser is open."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def finish(awaited: Coroutine[Any, Any, T]) -> T:
    """The result of ``awaited``, whether or not a loop runs on the calling thread."""
    with ThreadPoolExecutor(1) as alone:
        return alone.submit(asyncio.run, awaited).result()

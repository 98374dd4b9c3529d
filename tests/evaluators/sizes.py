"""Evaluators that say one size and take another, and count what is alive of them."""

import weakref
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from core.evaluators.base import Evaluator, Fingerprint, Footprint, evaluator

ALIVE: weakref.WeakSet[Any] = weakref.WeakSet()
AT_LOAD: list[float] = []
ROOM = {"card": 1e9, "cpu": 1e9}


def make(name: str, told_mb: int, real_mb: float, *, error: Exception | None = None) -> type[Evaluator]:
    @evaluator(
        name=name,
        title=name,
        summary="",
        family="test",
        score_range=(0.0, 1.0),
        memory_mb=told_mb,
        offline=True,
        source="",
        licence="",
    )
    class Made(Evaluator):
        def __init__(self, device: str) -> None:
            self.real_mb, self.device = real_mb, device
            ALIVE.add(self)
            AT_LOAD.append(held(device))

        @classmethod
        def load(cls, *, device: str = "cpu") -> Self:
            if error is not None:
                raise error
            if held(device) + real_mb > ROOM[device]:
                raise RuntimeError(f"CUDA error: out of memory on {device}")
            return cls(device)

        def footprint(self) -> Footprint:
            return Footprint(self.real_mb, self.device)

        @property
        def fingerprint(self) -> Fingerprint:
            return Fingerprint(name, "", "", "")

        def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
            return np.zeros(len(images))

    return Made


def held(device: str) -> float:
    return sum(each.real_mb for each in ALIVE if each.device == device)


A, B, C = make("a", 40, 40), make("b", 60, 60), make("c", 100, 100)
Larger = make("larger", 10, 55)
Huge = make("huge", 10, 140)
Smaller = make("smaller", 90, 30)
Broken = make("broken", 50, 50, error=ValueError("half a file"))
Starved = make("starved", 50, 50, error=MemoryError())

"""Evaluators that end their own process, or are another one each time, as tests of several workers need them."""

import os
import signal
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.errors import ScoringStopped
from core.evaluators.base import Fingerprint, evaluator
from core.settings import data_dir
from tests.plugins.histogram import SPEC, Histogram

if TYPE_CHECKING:
    from torch import Tensor

CALLS = 3
"""Calls with images after which the process ends."""


@evaluator(name="mortal", title="Histogram that kills its process", **SPEC)
class Mortal(Histogram):
    """Kills its process in the third call, as often as the file ``lives`` of the data folder says."""

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("mortal", "none", "4 levels a channel", "float32")

    def encode_images(self, images: Sequence[np.ndarray]) -> "Tensor":
        lives = data_dir() / "lives"
        if lives.exists() and len(self.image_calls) == CALLS:
            left = int(lives.read_text(encoding="utf-8"))
            if left:
                lives.write_text(str(left - 1), encoding="utf-8")
                os.kill(os.getpid(), signal.SIGKILL)
        return super().encode_images(images)


@evaluator(name="fickle", title="Histogram of many versions", **SPEC)
class Fickle(Histogram):
    """Has another fingerprint in each process."""

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("fickle", f"process {os.getpid()}", "4 levels a channel", "float32")


@evaluator(name="budgeted", title="Histogram with one budget", **SPEC)
class Budgeted(Histogram):
    """Says that one process alone may run it."""

    one_process = True

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("budgeted", "none", "4 levels a channel", "float32")


@evaluator(name="spent", title="Histogram without a budget", **SPEC)
class Spent(Histogram):
    """Says in the third call that nothing can be scored any more."""

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("spent", "none", "4 levels a channel", "float32")

    def encode_images(self, images: Sequence[np.ndarray]) -> "Tensor":
        if len(self.image_calls) == CALLS:
            raise ScoringStopped("the budget is spent")
        return super().encode_images(images)

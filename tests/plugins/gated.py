"""The histogram behind a gate, for a test that ends or looks at an audit in the middle."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.evaluators.base import Fingerprint, evaluator
from tests.plugins import gate
from tests.plugins.histogram import SPEC, Histogram

if TYPE_CHECKING:
    from torch import Tensor


@evaluator(name="gated", title="Histogram behind a gate", **SPEC)
class Gated(Histogram):
    """It waits at the call that the gate of its data folder does not let pass."""

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("gated", "none", "4 levels a channel", "float32")

    def encode_images(self, images: Sequence[np.ndarray]) -> "Tensor":
        gate.here().wait(len(self.image_calls))
        return super().encode_images(images)

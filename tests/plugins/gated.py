"""The histogram behind a gate: a test decides how far an audit in another process comes before it waits."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from core.evaluators.base import Fingerprint, evaluator
from tests.plugins.histogram import SPEC, Histogram


@evaluator(name="gated", title="Histogram behind a gate", **SPEC)
class Gated(Histogram):
    """Once it has made as many calls as the file ``gate`` says, it waits until the file is gone."""

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("gated", "none", "4 levels a channel", "float32")

    def encode_images(self, images: Sequence[np.ndarray]) -> torch.Tensor:
        gate = Path(os.environ["INVARISCOPE_DATA"]) / "gate"
        while gate.exists() and len(self.image_calls) >= int(gate.read_text(encoding="utf-8") or 0):
            time.sleep(0.02)
        return super().encode_images(images)

"""MCS: a multilingual text encoder that learns where CLIP's own puts an English sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.training.sentences import Lesson, batches
from core.training.trainer import Schedule, Trainer
from core.training.translations import Found, drawn, look_for

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class DistillationLoss:
    """The mean squared difference of a batch, a scalar."""

    total: "Tensor"

    def numbers(self) -> dict[str, float]:
        """As a plain number."""
        return {"total": float(self.total.detach())}


@dataclass(frozen=True, slots=True)
class Lessons:
    """What is learned from.

    Args:
        teacher: embeddings of every English sentence as CLIP's text tower gives them, float32 [d] of any length, by
            their text.
        identity: digest of what it all comes from, for a resumed training.
    """

    train: Sequence[Lesson]
    held_out: Sequence[Lesson]
    teacher: "Mapping[str, Tensor]"
    identity: str


@dataclass(frozen=True, slots=True)
class FoundBoth:
    """Held-out sentences before and after."""

    before: Found
    after: Found
    steps: int


class Distiller(Trainer[Lesson, Found, FoundBoth]):
    """Trains a text encoder against a teacher's embeddings."""

    def __init__(self, network: Any, given: Lessons, schedule: Schedule, *, folder: Path, device: str = "cpu") -> None:
        super().__init__(network, schedule, identity=given.identity, folder=folder, device=device)
        self.given = given
        self._measured_on = drawn(given.held_out, seed=schedule.seed)

    def batches(self, epoch: int) -> list[list[Lesson]]:
        """Every text once, shuffled."""
        return batches(self.given.train, size=self.schedule.batch, seed=self.schedule.seed, epoch=epoch)

    def losses(self, batch: Sequence[Lesson], epoch: int) -> DistillationLoss:
        """L(t, s) = 1/N · Σ (t − s)², t the teacher's embedding of the English sentence, s the student's of the text.

        Source: paper B, section 3.1 (teacher learning).
        """
        import torch

        wanted = torch.stack([self.given.teacher[each.english] for each in batch]).to(self.device)
        made = self.embed([each.text for each in batch])
        return DistillationLoss(torch.nn.functional.mse_loss(made, wanted))

    def measure(self) -> Found:
        """How many held-out texts find their English sentence."""
        return look_for(self._measured_on, self.given.teacher, self.embed_all, seed=self.schedule.seed)

    def gain(self, before: Found, after: Found, done: int) -> FoundBoth:
        """Both measurements."""
        return FoundBoth(before, after, done)

    def told(self, gain: FoundBoth) -> Mapping[str, Any]:
        """The measurement."""
        return gain.after.as_dict()

"""What every published evaluator has, CLIP-like or generative: a description and places for its weights."""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from core.evaluators.base import BATCH_SIZE, Availability, Evaluator, Footprint
from core.evaluators.memory import weights_mb
from core.evaluators.weights.catalogue import Description
from core.evaluators.weights.device import Runner
from core.evaluators.weights.fetched import Place, availability, optional_places, places


class Published(Evaluator):
    """An evaluator of the catalogue; mark subclasses with ``@described(name)``.

    ``name@path`` makes a subclass whose ``at`` is the path of the user's own checkpoint.
    """

    entry: ClassVar[Description]
    at: ClassVar[Path | None] = None
    any_precision: ClassVar[bool] = False
    """Whether its networks run in any precision that its description is given."""

    @classmethod
    def availability(cls) -> Availability:
        """Whether every file is there."""
        return availability(cls.entry, cls.at)

    @classmethod
    def needs_mb(cls, device: str) -> float:
        """Memory of the parameters that the catalogue states, in the precision of that device."""
        return cls.entry.memory_mb(device)

    @abstractmethod
    def runners(self) -> Sequence[Runner]:
        """The networks that are loaded."""

    def footprint(self) -> Footprint:
        """What the networks take, counted tensor by tensor, and where memory ran out."""
        runners = list(dict.fromkeys(self.runners()))
        devices = list(dict.fromkeys(runner.device for runner in runners))
        notes = dict.fromkeys(runner.note for runner in runners if runner.note)
        return Footprint(weights_mb(runner.network for runner in runners), "+".join(devices), " ".join(notes))

    @property
    def full_batch(self) -> int:
        """What fills the card that its networks lie on; on a CPU, and for smaller batches, the usual one."""
        return max(BATCH_SIZE, *(runner.full_batch for runner in self.runners()))

    @classmethod
    def places(cls) -> tuple[Place, ...]:
        """Where each set of weights lies, in the order of the description."""
        return places(cls.entry, cls.at)

    @classmethod
    def optional_places(cls) -> tuple[Place, ...]:
        """Where each set of weights lies that it can do without; the files may be missing."""
        return optional_places(cls.entry, cls.at)

    @classmethod
    def try_optional(cls, place: Place) -> None:
        """Load a set of weights that it can do without, by itself, to see that it can be used.

        Raises:
            NotAvailable: if a file is missing, damaged, or of another network.
        """
        place.digest()

"""What every published evaluator has, CLIP-like or generative: a description and places for its weights."""

from pathlib import Path
from typing import ClassVar

from core.evaluators.base import Availability, Evaluator
from core.evaluators.published.catalogue import Description
from core.evaluators.published.weights import Place, availability, places


class Published(Evaluator):
    """An evaluator of the catalogue; mark subclasses with ``@described(name)``.

    ``name@path`` makes a subclass whose ``at`` is the path of the user's own checkpoint.
    """

    entry: ClassVar[Description]
    at: ClassVar[Path | None] = None

    @classmethod
    def availability(cls) -> Availability:
        """Whether every file is there."""
        return availability(cls.entry, cls.at)

    @classmethod
    def places(cls) -> tuple[Place, ...]:
        """Where each set of weights lies, in the order of the description."""
        return places(cls.entry, cls.at)

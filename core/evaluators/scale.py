"""The scale of a cosine, w of the papers, by an evaluator's name and without loading it."""

from core.evaluators.registry import CHECKPOINT, catalogue
from core.evaluators.towers.encoder import PublishedEncoder
from core.evaluators.weights.catalogue import NO_PREFIX, PRECISIONS


def scale_of(name: str) -> float | None:
    """Return w where the evaluator's score is w · max(cos, 0), whatever its precision, prefix or checkpoint.

    Args:
        name: of an evaluator; it may come from a file, so it is looked up and never opened.

    Returns:
        None where no evaluator of that name is known, or its score is of another form.

    Example:
        >>> scale_of("clipscore"), scale_of("clipscore:bf16"), scale_of("refclipscore")
        (2.5, 2.5, None)
    """
    base, *ways = name.partition(CHECKPOINT)[0].split(":")
    kind = catalogue().entries.get(base) if all(way in (*PRECISIONS, NO_PREFIX) for way in ways) else None
    return kind.scale() if kind is not None and issubclass(kind, PublishedEncoder) else None

"""How many images and captions an evaluator is given at once in an audit, and what is kept in memory for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.audit.plan import Plan
from core.errors import InvalidInput
from core.evaluators.memory import MB
from core.evaluators.scoring import BATCH_BYTES
from core.store.manifest import MANIFEST, read_run

LEAST_BYTES, MOST_BYTES = 128 * MB, BATCH_BYTES


def group_bytes(plan: Plan) -> int:
    """Bytes of pixels after which a group of images is closed, however few they are.

    1 MB for each image that a group may have, but 128 to 256 MB in all. A group overruns it by one image at most,
    and a run has at most three groups in memory: one that is scored, one that waits and one that is filled.
    """
    return min(max(plan.group_images * MB, LEAST_BYTES), MOST_BYTES)


def settle(plan: Plan, asked: Sequence[int], *, begun: int | None = None) -> tuple[Plan, Mapping[str, int]]:
    """Decide the sizes of a run that leaves them to its evaluators.

    Args:
        asked: the evaluators' ``full_batch``, in the plan's order.
        begun: images a group in the run that is resumed, which forms the same groups again; None: a new run.

    Returns:
        The plan with its number of images a group, and the size of a batch for each evaluator's reference.

    Raises:
        InvalidInput: if an evaluator asks for less than one.
    """
    if plan.batch_size is not None:
        return plan, dict.fromkeys(plan.evaluators, plan.batch_size)
    for reference, size in zip(plan.evaluators, asked, strict=True):
        if size < 1:
            raise InvalidInput(f"evaluator {reference} asks for batches of {size}; its full_batch must be at least 1")
    images = max(asked) if begun is None else begun
    batches = {reference: min(size, images) for reference, size in zip(plan.evaluators, asked, strict=True)}
    return replace(plan, batch_size=images), batches


@dataclass(frozen=True, slots=True)
class Begun:
    """What a run that is resumed keeps to.

    Args:
        images: images a group; None: a new run, or it does not say.
        threads: for one operation.
    """

    images: int | None = None
    threads: int | None = None


def begun_with(folder: Path) -> Begun:
    """Read how the run in a folder was begun; nothing where there is no run.

    Raises:
        StoreError: if there is a manifest that cannot be read.
    """
    if not (folder / MANIFEST).exists():
        return Begun()
    told = read_run(folder).manifest
    return Begun(_count(told.get("batch_size")), _count(told.get("threads")))


def _count(told: object) -> int | None:
    return told if isinstance(told, int) and not isinstance(told, bool) and told > 0 else None

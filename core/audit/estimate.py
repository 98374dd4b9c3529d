"""What a planned audit costs, before any image is read: inputs, disk, and time where a run here measured it."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from core.audit.machine import describe_machine
from core.audit.plan import Cost, Plan
from core.evaluators.base import Availability, DualEncoder, Evaluator
from core.store.manifest import Run, list_runs

BYTES_A_ROW = 40
"""Disk of a finished run by its rows of scores, as measured on the demo corpus."""

BYTES_AN_INPUT = 820
"""Disk of an embedding of 384 numbers, as measured; a run keeps them until it is complete."""


ENOUGH_IMAGES = 500
"""Images after which loading and warming up weigh little in a measured speed; of such runs the latest counts."""


@dataclass(frozen=True, slots=True)
class Work:
    """What one evaluator would do.

    Args:
        name: of the evaluator.
        dual: whether it reads every unique image and every unique caption once, or every pair.
        inputs: what enters it, at most.
        seconds: duration at the speed of an earlier run on this machine; None where none was measured.
        available: whether it can be loaded here, and what gets it.
    """

    name: str
    dual: bool
    inputs: int
    seconds: float | None
    available: Availability


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run needs, at most; rejected variants make it less.

    Args:
        cost: items, images, captions, pairs and rows.
        work: evaluator by evaluator.
        kept_bytes: disk of the finished run, about.
        working_bytes: disk while it runs, about.
        free_bytes: free on the disk of the runs.
    """

    cost: Cost
    work: tuple[Work, ...]
    kept_bytes: int
    working_bytes: int
    free_bytes: int

    @property
    def inputs(self) -> int:
        """What enters any evaluator, at most."""
        return sum(each.inputs for each in self.work)

    @property
    def seconds(self) -> float | None:
        """Duration; None unless every evaluator's speed was measured here."""
        times = [each.seconds for each in self.work if each.seconds is not None]
        return sum(times) if len(times) == len(self.work) else None

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """Evaluators whose speed no run on this machine measured."""
        return tuple(each.name for each in self.work if each.seconds is None)

    @property
    def fits(self) -> bool:
        """Whether the disk has room for the run while it works."""
        return self.working_bytes <= self.free_bytes


def estimate(plan: Plan, out: Path, *, runs: Iterable[Run] | None = None) -> Estimate:
    """Count what a plan needs.

    Args:
        plan: what would be done.
        out: folder of runs.
        runs: earlier runs that may have measured speeds; None: those of this machine's folders.
    """
    cost = plan.cost()
    speeds = measured_speeds(list_runs() if runs is None else runs)
    work = tuple(_work(kind, cost, speeds) for kind in plan.kinds)
    kept = cost.rows * BYTES_A_ROW
    free = shutil.disk_usage(next(path for path in (out.absolute(), *out.absolute().parents) if path.exists())).free
    return Estimate(cost, work, kept, kept + sum(each.inputs for each in work) * BYTES_AN_INPUT, free)


def measured_speeds(runs: Iterable[Run]) -> dict[str, float]:
    """Seconds an image of each evaluator, as runs with this machine's processor measured them.

    The latest run of at least ENOUGH_IMAGES images counts, else the one of the most images.
    """
    here = describe_machine("")["processor"]
    best: dict[str, tuple[float, str, float]] = {}
    for run in runs:
        machine, speed = run.manifest.get("machine"), run.manifest.get("speed")
        if not isinstance(machine, dict) or not isinstance(speed, dict) or machine.get("processor") != here:
            continue
        for name, spent in speed.items():
            try:
                images, seconds = float(spent["images"]), float(spent["seconds"])
            except (KeyError, TypeError, ValueError):
                continue
            if 0 < images < float("inf") and 0 < seconds < float("inf"):
                found = (min(images, ENOUGH_IMAGES), str(run.manifest.get("created")), seconds / images)
                best[name] = max(best.get(name, found), found)
    return {name: speed for name, (_, _, speed) in best.items()}


def _work(kind: type[Evaluator], cost: Cost, speeds: dict[str, float]) -> Work:
    dual = issubclass(kind, DualEncoder)
    speed = speeds.get(kind.spec.name)
    return Work(
        name=kind.spec.name,
        dual=dual,
        inputs=cost.images + cost.captions if dual else cost.pairs,
        seconds=None if speed is None else speed * cost.images,
        available=kind.availability(),
    )

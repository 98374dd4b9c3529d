"""What a planned audit costs, before any image is read: inputs, disk, and time where a run here measured it."""

import math
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from core.audit.fingerprints import cores, describe_machine, usual_threads
from core.audit.plan import Cost, Plan
from core.errors import InvalidInput
from core.evaluators.base import Availability, DualEncoder, Evaluator
from core.store.run_files import Run, list_runs

BYTES_A_ROW = 40  # disk of a finished run by its rows of scores, as measured on the demo corpus
BYTES_A_CAPTION = 1624
"""Disk of a caption's embedding of 384 numbers, as measured; a run keeps them until it is complete."""

ENOUGH_IMAGES = 500
"""Images after which loading and warming up weigh little in a measured speed; of such runs the latest counts."""


@dataclass(frozen=True, slots=True)
class Work:
    """What one evaluator would do."""

    name: str
    dual: bool  # whether it reads every unique image and every unique caption once, or every pair
    inputs: int  # what enters it, at most
    # duration in one worker, at the speed of an earlier run on this machine with as many threads; None where none was
    # measured
    seconds: float | None
    # the shortest and longest duration at the speeds of any runs, whatever the machine; None without one
    between: tuple[float, float] | None
    memory_mb: float  # of its weights, in each worker
    available: Availability  # whether it can be loaded here, and what gets it


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run needs, at most; rejected variants make it less."""

    cost: Cost  # items, images, captions, pairs and rows
    work: tuple[Work, ...]  # evaluator by evaluator
    shards: int  # parts that are written, and resumed, as wholes
    workers: int  # that do it: processes of one machine, or all actors of a cluster
    threads: int  # for one operation, in each
    kept_bytes: int  # disk of the finished run, about
    working_bytes: int  # disk while it runs, about
    free_bytes: int  # free on the disk of the runs
    cluster: bool = False  # whether the workers are actors of a cluster

    @property
    def inputs(self) -> int:
        """What enters any evaluator, at most."""
        return sum(each.inputs for each in self.work)

    @property
    def seconds(self) -> float | None:
        """Duration if no worker slows another; None unless every evaluator's speed was measured here."""
        return self.seconds_on(1)

    def seconds_on(self, machines: int) -> float | None:
        """Duration on several machines like this one, if no worker slows another. Work is divided into shards, and the
        last ones are not shared out evenly: it lasts whole shards for each worker."""
        times = [each.seconds for each in self.work if each.seconds is not None]
        return sum(times) * self._share(machines) if len(times) == len(self.work) else None

    @property
    def between(self) -> tuple[float, float] | None:
        """The shortest and longest duration, evaluators that were not timed here at the speeds of any runs."""
        ends = [each.between if each.seconds is None else (each.seconds, each.seconds) for each in self.work]
        known = [each for each in ends if each is not None]
        if len(known) < len(ends):
            return None
        share = self._share(1)
        return share * sum(low for low, _ in known), share * sum(high for _, high in known)

    def _share(self, machines: int) -> float:
        return math.ceil(self.shards / self.workers_on(machines)) / self.shards

    def workers_on(self, machines: int) -> int:
        """Workers in all: each of several machines has as many, a cluster has them whatever its machines."""
        return self.workers if self.cluster else machines * self.workers

    def price(self, machines: int, an_hour: float) -> float | None:
        """What so many machines cost for as long, at a price of one for an hour; None where the time is not known."""
        seconds = self.seconds_on(machines)
        return None if seconds is None else machines * an_hour * seconds / 3600

    @property
    def worker_mb(self) -> float:
        """Memory of the weights in one worker, in MB; images and activations come on top."""
        return sum(each.memory_mb for each in self.work)

    @property
    def weights_mb(self) -> float:
        """The same in all workers: of one machine, or of the whole cluster, which spreads them over its machines."""
        return self.workers * self.worker_mb

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """Evaluators whose speed no run on this machine measured."""
        return tuple(each.name for each in self.work if each.seconds is None)

    @property
    def fits(self) -> bool:
        """Whether the disk has room for the run while it works."""
        return self.working_bytes <= self.free_bytes


def estimate(
    plan: Plan,
    out: Path,
    *,
    runs: Iterable[Run] | None = None,
    workers: int = 1,
    threads: int | None = None,
    device: str | None = None,
    cluster: bool = False,
) -> Estimate:
    """Count what a plan needs.
    ``runs``: earlier runs that may have measured speeds; None: those of this machine's folders.
    ``threads``: for one operation, in each; None: the cores divided by the workers, or 1 on a cluster.
    ``device``: where the evaluators would run; None: wherever an earlier run here did.
    ``cluster``: whether the workers are actors of a cluster.
    Raises InvalidInput for a number below 1."""
    threads = usual_threads(workers, cluster=cluster) if threads is None else threads
    for name, value in (("workers", workers), ("threads", threads)):
        if value < 1:
            raise InvalidInput(f"{name} must be at least 1, got {value}")
    cost = plan.cost()
    runs = list_runs() if runs is None else tuple(runs)
    speeds, anywhere = measured_speeds(runs, threads=threads, device=device), speeds_anywhere(runs)

    def work_of(kind: type[Evaluator]) -> Work:
        dual = issubclass(kind, DualEncoder)
        speed, ends = speeds.get(kind.spec.name), anywhere.get(kind.spec.name)
        return Work(
            name=kind.spec.name,
            dual=dual,
            inputs=cost.images + cost.captions if dual else cost.pairs,
            seconds=None if speed is None else speed * cost.images,
            between=None if ends is None else (ends[0] * cost.images, ends[1] * cost.images),
            memory_mb=kind.needs_mb(device or "cpu"),
            available=kind.availability(),
        )

    work = tuple(map(work_of, plan.kinds))
    kept = cost.rows * BYTES_A_ROW
    free = shutil.disk_usage(next(path for path in (out.absolute(), *out.absolute().parents) if path.exists())).free
    captions = sum(cost.captions for each in work if each.dual) * BYTES_A_CAPTION
    return Estimate(cost, work, len(plan.shards), workers, threads, kept, kept + captions, free, cluster)


def measured_speeds(runs: Iterable[Run], *, threads: int | None = None, device: str | None = None) -> dict[str, float]:
    """Seconds an image of each evaluator, as runs with this machine's processor measured them. The latest run of at
    least ENOUGH_IMAGES images counts, else the one of the most images.
    ``threads``: for one operation; None: as many as there are cores. A run that does not tell used as many.
    ``device``: where they ran; None: anywhere."""
    here, threads = describe_machine("")["processor"], threads or cores()
    best: dict[str, tuple[float, str, float]] = {}
    for run in runs:
        machine = run.manifest.get("machine")
        if not isinstance(machine, dict) or machine.get("processor") != here:
            continue
        if run.manifest.get("threads", machine.get("cores")) != threads:
            continue
        if device is not None and machine.get("device") != device:
            continue
        for name, images, speed in _timed(run):
            found = (min(images, ENOUGH_IMAGES), str(run.manifest.get("created")), speed)
            best[name] = max(best.get(name, found), found)
    return {name: speed for name, (_, _, speed) in best.items()}


def speeds_anywhere(runs: Iterable[Run]) -> dict[str, tuple[float, float]]:
    """The least and most seconds an image of each evaluator that runs of ENOUGH_IMAGES took, whatever the machine."""
    found: dict[str, tuple[float, float]] = {}
    for name, images, speed in (each for run in runs for each in _timed(run)):
        if images >= ENOUGH_IMAGES:
            low, high = found.get(name, (speed, speed))
            found[name] = min(low, speed), max(high, speed)
    return found


def _timed(run: Run) -> Iterator[tuple[str, float, float]]:
    """Each evaluator that a run timed, with its images and the seconds that one took."""
    speed = run.manifest.get("speed")
    for name, spent in speed.items() if isinstance(speed, dict) else ():
        try:
            images, seconds = float(spent["images"]), float(spent["seconds"])
        except (KeyError, TypeError, ValueError):
            continue
        if 0 < images < math.inf and 0 < seconds < math.inf:
            yield name, images, seconds / images

"""Kill -9 of an audit's workers and of the audit over them, at random moments: the bytes are those of one process."""

import multiprocessing
import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from core.audit.run import run_audit
from core.evaluators.pool import Pool
from siege.kills import same
from siege.material import RUN, Material, data_folder, plan
from siege.trials import Finding, Tally

PROCESSES = multiprocessing.get_context("forkserver")
WORKERS = 2
KILLS = 2
"""Workers that are killed in one audit at most; three over one shard would stop it, as they should."""
KILLED, QUICKLY_KILLED = 20, 2
"""Workers that are killed in all: audits go on until so many kills met one."""
AUDITS, QUICK_AUDITS = 5, 1
"""Audits that are killed over their workers."""
_LEAVE_S = 30.0
_MOST_AUDITS = 3
"""Audits for each worker that is to be killed, before it is said that too few were met."""
_MODULE = "core.audit.workers.worker_process"


def run(tally: Tally, seed: int, *, quick: bool) -> None:
    """Kill at least 20 workers and 5 audits."""
    rng = random.Random(f"{seed}/workers")
    PROCESSES.set_forkserver_preload(["siege.workers"])
    with data_folder() as data:
        made = Material(data)
        run_audit(plan(), made.data / "undisturbed", run_id=RUN, pool=Pool(2000, "cpu"), threads=1)
        start = time.perf_counter()
        _audit(made.data / "timed")
        lasts = time.perf_counter() - start
        killed: list[int] = []

        def audit(number: int) -> None:
            folder = made.data / f"workers-{number}"
            moments = sorted(rng.uniform(0.1, 1.0) * lasts for _ in range(KILLS))
            told = f"audit {number}, workers killed after {', '.join(f'{moment:.1f}' for moment in moments)} s"
            tally.attempt(told, partial(_workers, made, folder, moments, rng, killed), timed=False)

        until_killed(tally, QUICKLY_KILLED if quick else KILLED, killed, audit)
        for number in range(QUICK_AUDITS if quick else AUDITS):
            moment = rng.uniform(0.1, 1.0) * lasts
            folder = made.data / f"audit-{number}"
            tally.attempt(
                f"audit {number} killed after {moment:.1f} s", partial(_killed, made, folder, moment), timed=False
            )


def _audit(folder: Path) -> None:
    run_audit(plan(), folder, run_id=RUN, pool=Pool(2000, "cpu"), workers=WORKERS, threads=1)


def until_killed(tally: Tally, wanted: int, killed: list[int], audit: Callable[[int], None]) -> None:
    """Audit until so many kills met a worker, and say how many did; too few of them are a finding."""

    def too_few() -> None:
        raise Finding("silent", f"only {len(killed)} of {wanted} kills met a worker")

    number = 0
    while len(killed) < wanted and number < _MOST_AUDITS * wanted:
        audit(number)
        number += 1
    if len(killed) < wanted:
        tally.attempt("workers killed", too_few, timed=False)
    tally.notes.append(f"{len(killed)} workers were killed in {number} audits")


def _workers(made: Material, folder: Path, moments: list[float], rng: random.Random, killed: list[int]) -> None:
    """Workers die, each at its moment; their audit goes on by itself. A kill that meets no worker does not count."""
    process = PROCESSES.Process(target=_audit, args=(folder,))
    process.start()
    assert process.pid is not None
    begun = time.monotonic()
    for moment in moments:
        time.sleep(max(0.0, begun + moment - time.monotonic()))
        if theirs := _children(process.pid):
            worker = rng.choice(theirs)
            worker.kill()
            killed.append(worker.pid)
    process.join()
    if process.exitcode != 0:
        raise Finding("lost", f"the audit ended with {process.exitcode}")
    same(folder / RUN, made.data / "undisturbed" / RUN)


def _killed(made: Material, folder: Path, moment: float) -> None:
    """The audit dies; its workers leave with it, and another one goes on."""
    process = PROCESSES.Process(target=_audit, args=(folder,))
    process.start()
    assert process.pid is not None
    process.join(moment)
    theirs = _children(process.pid)
    process.kill()
    process.join()
    _, alive = psutil.wait_procs(theirs, timeout=_LEAVE_S)
    if alive:
        raise Finding("silent", f"{len(alive)} workers outlived their audit")
    _audit(folder)
    same(folder / RUN, made.data / "undisturbed" / RUN)


def _children(pid: int) -> list[psutil.Process]:
    try:
        return [
            each for each in psutil.Process(pid).children() if "core.audit.workers.worker_process" in each.cmdline()
        ]
    except psutil.Error:
        return []

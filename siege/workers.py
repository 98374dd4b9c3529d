"""Kill -9 of an audit's workers and of the audit over them, at random moments: the bytes are those of one process."""

import multiprocessing
import random
import time
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
"""Workers that are killed in one audit; three over one shard would stop it, as they should."""
_LEAVE_S = 30.0
_MODULE = "core.audit.workers.worker_process"


def run(tally: Tally, seed: int, *, quick: bool) -> None:
    """Kill 12 workers and 3 audits."""
    rng = random.Random(f"{seed}/workers")
    PROCESSES.set_forkserver_preload(["siege.workers"])
    with data_folder() as data:
        made = Material(data)
        run_audit(plan(), made.data / "undisturbed", run_id=RUN, pool=Pool(2000, "cpu"), threads=1)
        start = time.perf_counter()
        _audit(made.data / "timed")
        lasts = time.perf_counter() - start
        for number in range(1 if quick else 6):
            folder = made.data / f"workers-{number}"
            moments = sorted(rng.uniform(0.1, 1.0) * lasts for _ in range(KILLS))
            told = f"audit {number}, workers killed after {', '.join(f'{moment:.1f}' for moment in moments)} s"
            tally.attempt(told, partial(_workers, made, folder, moments, rng), timed=False)
        for number in range(1 if quick else 3):
            moment = rng.uniform(0.1, 1.0) * lasts
            folder = made.data / f"audit-{number}"
            tally.attempt(
                f"audit {number} killed after {moment:.1f} s", partial(_killed, made, folder, moment), timed=False
            )


def _audit(folder: Path) -> None:
    run_audit(plan(), folder, run_id=RUN, pool=Pool(2000, "cpu"), workers=WORKERS, threads=1)


def _workers(made: Material, folder: Path, moments: list[float], rng: random.Random) -> None:
    """Workers die, each at its moment; their audit goes on by itself."""
    process = PROCESSES.Process(target=_audit, args=(folder,))
    process.start()
    assert process.pid is not None
    begun = time.monotonic()
    for moment in moments:
        time.sleep(max(0.0, begun + moment - time.monotonic()))
        if theirs := _children(process.pid):
            rng.choice(theirs).kill()
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

"""Kill -9 at random moments: of an audit and of its resume, of a job's worker and its server, of what appends to logs.

After each the same thing is gone on with. At the end an audit has the very bytes of one that nobody disturbed, and what
was acknowledged before a kill stands in its log exactly once.
"""

import multiprocessing
import os
import random
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlencode

import psutil  # type: ignore[import-untyped]

from bench.server import Server
from bench.visitor import Visitor
from core.audit.run import run_audit
from core.errors import StoreError
from core.evaluators.network.asking import Journal
from core.evaluators.network.rubrics import Verdict
from core.evaluators.pool import Pool
from core.features.human.studies import LOG, Study
from core.jobs import job_queue
from core.jobs.request import AuditJob, audit_request
from core.store.log import Log
from core.store.store import Store
from core.store.whole import verify
from core.stories.story import Story
from siege.damages import shards
from siege.material import EVALUATOR, ITEMS, PROBES, RUN, Material, data_folder, key, plan, slide
from siege.trials import Finding, Tally

PROCESSES = multiprocessing.get_context("forkserver")

PATIENCE_S = 900.0
"""Seconds that a job may take to end."""

Write = Callable[[Path, int], str]
"""Appends one thing to a log and says what it was."""


def run(tally: Tally, seed: int, *, quick: bool) -> None:
    """Kill audits, writers, workers and servers."""
    rng = random.Random(f"{seed}/kills")
    PROCESSES.set_forkserver_preload(["siege.kills"])
    with data_folder() as data:
        made = Material(data)
        _audits(tally, made, rng, kills=3 if quick else 30)
        for name, folder, write, read in (
            ("vote", made.study, _vote, _votes),
            ("slide", made.story, _add_slide, _slides),
            ("judge's answer", made.journal, _answer, _answers),
        ):
            for number in range(1 if quick else 8):
                tally.attempt(f"{name} writer {number}", partial(_writer, folder, write, read, rng), timed=False)
        for number in range(1 if quick else 4):
            tally.attempt(f"two audits into one run {number}", partial(_two, made, number), timed=False)
        for number in range(1 if quick else 3):
            tally.attempt(f"server in mid-job {number}", partial(_server, made, f"served-{number}", rng), timed=False)
        for number in range(0 if quick else 3):
            tally.attempt(f"worker in mid-job {number}", partial(_worker, made, f"worked-{number}", rng), timed=False)


def _audits(tally: Tally, made: Material, rng: random.Random, *, kills: int) -> None:
    """Runs that are killed up to three times each until so many kills are reached."""
    start = time.perf_counter()
    run_audit(plan(), made.data / "undisturbed", run_id=RUN, pool=Pool(2000, "cpu"))
    lasts = time.perf_counter() - start
    left, number = kills, 0
    while left:
        times = min(left, rng.choice((1, 2, 3)))
        left, number = left - times, number + 1
        folder = made.data / f"killed-{number}"
        for count in range(times):
            moment = rng.uniform(0.02, lasts)
            last = count == times - 1
            told = f"audit {number}, kill {count + 1} of {times} after {moment:.2f} s"
            tally.attempt(told, partial(_killed, folder, moment, made.data / "undisturbed", last), timed=False)


def _audit(folder: Path) -> None:
    run_audit(plan(), folder, run_id=RUN, pool=Pool(2000, "cpu"))


def _killed(folder: Path, moment: float, undisturbed: Path, last: bool) -> None:
    """One kill; after the last of a run it is gone on with to its end and compared."""
    process = PROCESSES.Process(target=_audit, args=(folder,))
    process.start()
    process.join(moment)
    process.kill()
    process.join()
    if last:
        _audit(folder)
        same(folder / RUN, undisturbed / RUN)


def _two(made: Material, number: int) -> None:
    """Two processes begin the same run at once: one does it, the other is told, and nothing stands there twice."""
    folder = made.data / f"both-{number}"
    said = [folder.parent / f"both-{number}-{each}.txt" for each in "ab"]
    processes = [PROCESSES.Process(target=_audit_and_say, args=(folder, path)) for path in said]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    ends = sorted(path.read_text(encoding="utf-8") for path in said)
    if not any(end.startswith("done") for end in ends) or not all(end.startswith(("done", "refused")) for end in ends):
        raise Finding("lost", f"they ended with {ends}")
    same(folder / RUN, made.data / "undisturbed" / RUN)


def _audit_and_say(folder: Path, said: Path) -> None:
    try:
        _audit(folder)
        said.write_text("done", encoding="utf-8")
    except StoreError as error:
        said.write_text(f"refused: {error}", encoding="utf-8")
    except BaseException as error:
        said.write_text(f"failed: {error!r}", encoding="utf-8")
        raise


def same(run: Path, undisturbed: Path) -> None:
    """Find out whether a run has the files of one that nobody disturbed, to the byte."""
    found, whole = shards(run), shards(undisturbed)
    if gone := sorted(set(whole) - set(found)):
        raise Finding("lost", f"{gone} are not there")
    if found != whole:
        raise Finding("lost", "its tables have other bytes than those of the undisturbed run")
    if problems := [each for verdict in verify(run) for each in verdict.problems]:
        raise Finding("lost", problems[0])
    if left := list(run.rglob("*.tmp")):
        raise Finding("silent", f"{left} were left behind")


def _writer(folder: Path, write: Write, read: Callable[[Path], list[str]], rng: random.Random) -> None:
    """A process that appends as fast as it can and tells what was acknowledged; killed in the midst of it."""
    begun = len(read(folder))
    ours, theirs = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=_append_for_ever, args=(write, folder, theirs, rng.randrange(10**9)))
    process.start()
    theirs.close()
    said = [str(ours.recv())] if ours.poll(PATIENCE_S) else []
    time.sleep(rng.uniform(0.0, 0.15))
    process.kill()
    process.join()
    said += _rest(ours)
    if not said:
        raise Finding("lost", "nothing was written before the kill")
    _kept(read(folder), said, begun)
    after = write(folder, 10**9 + rng.randrange(10**9))  # it goes on behind what was cut
    _kept(read(folder), [*said, after], begun)


def _kept(found: list[str], said: list[str], begun: int) -> None:
    counts = {each: found.count(each) for each in said}
    if lost := [each for each, count in counts.items() if count == 0]:
        raise Finding("lost", f"{len(lost)} of {len(said)} acknowledged are not in the log, e.g. {lost[0]}")
    if twice := [each for each, count in counts.items() if count > 1]:
        raise Finding("doubled", f"{len(twice)} of {len(said)} stand twice in the log, e.g. {twice[0]}")
    if len(found) < begun:
        raise Finding("lost", f"{begun - len(found)} of what stood there before are gone")


def _rest(ours: Connection) -> list[str]:
    found: list[str] = []
    try:
        while ours.poll(0.05):
            found.append(str(ours.recv()))
    except (EOFError, OSError):  # the writer died in the middle of telling, or has told all
        return found
    return found


def _append_for_ever(write: Write, folder: Path, told: Connection, first: int) -> None:
    for number in range(first, first + 10**6):
        told.send(write(folder, number))


def _vote(folder: Path, number: int) -> str:
    study = Study(folder)
    entries = study.state().entries
    name, item = sorted(study.state().annotators)[0], study.definition.items[0].id
    before = entries.get((name, item))
    study.answer(name, item, "A", number % 3, seen=before.rows if before else 0, seconds=float(number % 10**6))
    return f"{number % 3} {float(number % 10**6)}"


def _votes(folder: Path) -> list[str]:
    rows = Log(folder / LOG).read().rows
    return [f"{row['answer']} {row['seconds']}" for row in rows if row["row"] == "answer"]


def _add_slide(folder: Path, number: int) -> str:
    story = Story(folder)
    kept = story.add(slide(f"Slide {number}"))
    story.take_out(kept.id)  # so that a story is never full
    return kept.id


def _slides(folder: Path) -> list[str]:
    told = Story(folder).read()
    return [each.id for each in (*told.slides, *told.out)]


def _answer(path: Path, number: int) -> str:
    Journal(path).add(key(number), Verdict(score=float(number % 11), reason="because"))
    return f"{key(number)} {float(number % 11)}"


def _answers(path: Path) -> list[str]:
    """What stands in the file, by the journal's own reading; a key is there once or not."""
    lines = path.read_bytes().splitlines()
    keys = {line.partition(b'"key": "')[2][:64].decode("ascii", "replace") for line in lines if b'"key": "' in line}
    return [f"{name} {score}" for name, score in Journal(path).scores(keys).items()]


def _request(run_id: str) -> AuditJob:
    return audit_request(
        corpus="demo", probes=PROBES, evaluators=(EVALUATOR,), limit=ITEMS, run_id=run_id, device="cpu"
    )


def _server(made: Material, run_id: str, rng: random.Random) -> None:
    """The job goes on to its end although the server is dead in which a reader pressed *Start*."""
    asked = {"probes": ",".join(PROBES), "limit": ITEMS, "evaluators": "", "run_id": run_id}
    with Server(made.data) as server:
        visitor = Visitor(server.address, "run_audit", urlencode(asked))
        visitor.type("run.files", EVALUATOR)
        visitor.press("run.start")
        _until(lambda: any(each.id == run_id for each in job_queue.list_jobs()[0]))
        time.sleep(rng.uniform(0.0, 3.0))
        server.kill()
        visitor.close()
    _until(lambda: job_queue.get(run_id).status not in job_queue.ACTIVE)
    _complete(made, run_id)


def _worker(made: Material, run_id: str, rng: random.Random) -> None:
    """The worker and its audit die in the midst; the job says so and goes on when it is resumed."""
    job_queue.start(_request(run_id))
    _until(lambda: job_queue.get(run_id).status == "running")
    time.sleep(rng.uniform(0.0, 4.0))
    _kill_all(made.data)
    _until(lambda: job_queue.get(run_id).status not in job_queue.ACTIVE or bool(job_queue.wake()))
    _until(lambda: job_queue.get(run_id).status not in job_queue.ACTIVE)
    if job_queue.get(run_id).status in job_queue.RESUMABLE:
        job_queue.resume(run_id)
        _until(lambda: job_queue.get(run_id).status not in job_queue.ACTIVE)
    _complete(made, run_id)


def _complete(made: Material, run_id: str) -> None:
    job = job_queue.get(run_id)
    if job.status != "complete":
        raise Finding("lost", f"the job is {job.status}: {job.last_line}")
    if _rows(job.run_folder) != _rows(made.data / "undisturbed" / RUN):
        raise Finding("lost", "the job's run has other rows than the undisturbed one")
    if problems := [each for verdict in verify(job.run_folder) for each in verdict.problems]:
        raise Finding("lost", problems[0])


def _rows(folder: Path) -> dict[str, list[str]]:
    """Every row of a run's tables but for the run's name, sorted."""
    with Store.open(folder) as store:
        frames = {name: store.query(f"select * exclude (run) from {name}") for name in ("scores", "items", "variants")}
    return {name: sorted(map(str, frame.to_numpy().tolist())) for name, frame in frames.items()}


def _until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        if time.monotonic() > deadline:
            raise Finding("lost", f"it did not come within {PATIENCE_S:.0f} s")
        time.sleep(0.05)


def _kill_all(data: Path) -> None:
    """Kill the worker of this data folder and its audit, found by their command and environment; never this process."""
    for each in psutil.process_iter(["pid", "cmdline", "environ"]):
        own = (each.info["environ"] or {}).get("INVARISCOPE_DATA") == str(data)
        if own and "core" in (each.info["cmdline"] or []) and each.pid != os.getpid():
            each.kill()

"""Human validation under load: opening a study, ten annotators at once, and thirty kills of the server."""

import os
import re
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench.annotator import Annotator
from bench.report import row
from bench.server import Server
from core.features.human.creation import create_study
from core.features.human.definition import Definition, StudyItem
from core.features.human.studies import LOG, Study
from core.features.human.votes import vote_table
from core.settings import ROOT
from core.store.log import Log
from core.store.store import Store

PEOPLE = 10
KILLS = 30
LOOK = 1.0
"""Seconds that a simulated annotator looks at an item; people need five times as long."""


def main() -> None:
    """Print every number; ``INVARISCOPE_KILLS`` sets another number of kills."""
    with TemporaryDirectory() as folder:
        _opening(Path(folder))
    with TemporaryDirectory() as folder:
        _load(Path(folder))
    with TemporaryDirectory() as folder:
        _kills(Path(folder), int(os.environ.get("INVARISCOPE_KILLS", KILLS)))


def _opening(parent: Path) -> None:
    study = Study.create(parent, _definition(480))
    people = study.invite([""] * 3)
    for name in people:
        for item in study.definition.items:
            answers: tuple[tuple[str, int | str], ...] = (("A", 2), ("B", 2), ("preference", "tie"))
            for rows, (question, value) in enumerate(answers):
                study.answer(name, item.id, question, value, seen=rows, seconds=3.0)
    times = []
    for _ in range(7):
        start = time.perf_counter()
        votes = len(vote_table(Study(study.folder)))
        times.append(time.perf_counter() - start)
    assert votes == 1440
    row(
        "open a study of 480 × 3 votes and tabulate them, median of 7",
        f"{np.median(times):.2f} s",
        "1 440 votes",
        "< 1 s",
    )


def _load(data: Path) -> None:
    study, tokens = prepare(data, PEOPLE)
    with Server(data) as server:
        crowd = [Annotator(server.address, token, look=LOOK) for token in tokens]
        for each in crowd:
            each.start()
        time.sleep(60)
        for each in crowd:
            each.stopped.set()
        for each in crowd:
            each.join(30)
    keys = np.concatenate([each.keys for each in crowd])
    problems = [each.problem for each in crowd if each.problem]
    print(*problems, sep="\n", file=sys.stderr)
    row(
        f"key to complete screen, {PEOPLE} annotators at once, P50 / P95",
        f"{np.percentile(keys, 50) * 1000:.0f} / {np.percentile(keys, 95) * 1000:.0f} ms",
        f"{len(keys)} keys, {len(problems)} broken sessions",
        "P95 < 400 ms",
    )
    row("votes acknowledged and found in the log", *_found(study, crowd))


def _kills(data: Path, kills: int) -> None:
    study, tokens = prepare(data, PEOPLE)
    rng = np.random.default_rng(7)
    lost, acknowledged = 0, set()
    for _ in range(kills):
        with Server(data) as server:
            crowd = [Annotator(server.address, token, look=0.35) for token in tokens]
            for each in crowd:
                each.start()
            while not all(each.keys or each.problem for each in crowd):
                time.sleep(0.05)
            time.sleep(float(rng.uniform(0.2, 3)))
            server.kill()
            for each in crowd:
                each.join(30)
        lost += _lost(study, crowd)
        names = sorted(study.state().annotators)
        acknowledged |= {(name, *told) for name, each in zip(names, crowd, strict=True) for told in each.answers}
    rows = [each for each in Log(study.folder / LOG).read().rows if each["row"] == "answer"]
    lost += len(acknowledged - {(each["annotator"], each["item"], each["question"]) for each in rows})
    twice = sum(count - 1 for count in Counter((r["annotator"], r["item"], r["question"]) for r in rows).values())
    row(
        f"kill -9 of the server at {kills} random moments under {PEOPLE} annotators",
        f"{lost} lost, {twice} doubled",
        f"{len(acknowledged)} acknowledged answers, {len(rows)} in the log",
        "0 lost, 0 doubled",
    )


def _lost(study: Study, crowd: list[Annotator]) -> int:
    """Votes that an annotator's screen counted as done and the log does not hold."""
    done = {each.id: len(each.done) for each in Study(study.folder).state().annotators.values()}
    lost = 0
    for name, each in zip(sorted(done), crowd, strict=True):
        told = [int(found.group(1)) for line in each.acknowledged if (found := re.search(r"(\d+) done", line))]
        lost += max(max(told, default=0) - done[name], 0)
    return lost


def _found(study: Study, crowd: list[Annotator]) -> tuple[str, str]:
    total = sum(len(each.acknowledged) for each in crowd)
    return f"{total - _lost(study, crowd)} of {total}", f"{len(vote_table(Study(study.folder)))} in the log"


def prepare(data: Path, people: int) -> tuple[Study, list[str]]:
    """Make a study of the shipped run in a data folder; return it and the tokens of so many annotators, in order."""
    for shipped in ("demo", "results"):
        if not (data / shipped).exists():
            (data / shipped).symlink_to(ROOT / "data" / shipped)
    with Store.open(ROOT / "data" / "results") as store:
        study = create_study(
            store,
            "demo",
            study_id="load",
            title="Load",
            kind="acceptability",
            total=480,
            per_item=people,
            attention_rate=0.05,
            seed=1,
            parent=data / "studies",
        )
    return study, [str(study.token(name)) for name in study.invite([""] * people)]


def _definition(count: int) -> Definition:
    items = tuple(
        StudyItem(
            f"{n:04d}",
            "demo",
            f"item-{n}",
            "vflip",
            "identity",
            "template",
            "image",
            "There is a bed.",
            "There is a bed.",
            "spatial",
            "vertical-flip",
            "vertical flip",
        )
        for n in range(1, count + 1)
    )
    return Definition("open", "Open", "acceptability", "2026-01-01T00:00:00Z", "demo", 2025, None, 1, 3, 0.0, items)


if __name__ == "__main__":
    main()

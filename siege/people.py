"""Three annotators and a coordinator while the server is killed and started again: each answer is there once, as given.

Each annotator presses keys of their own, so that an answer under another's name shows. What a screen told to be kept
must stand in the log once; what the coordinator is shown must be what the log holds.
"""

import json
import math
import random
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench.annotator import Annotator
from bench.human import prepare
from bench.server import Server
from bench.visitor import PATIENCE_S, Gone, Visitor
from core.features.human.studies import LOG
from core.store.log import Log
from siege.material import data_folder
from siege.trials import Finding, Tally

KEYS = (("1", "4", "7"), ("2", "5", "8"), ("3", "6", "9"))
"""What each annotator presses, one key a question."""

QUESTIONS = ("A", "B", "preference")
LOOK_S = 0.5

Answers = dict[tuple[str, str, str], str]
"""(annotator, item, question) -> answer."""


class Coordinator(threading.Thread):
    """Loads the table of annotators again and again until the server goes away."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self._address = address
        self.looks = 0
        self.problem = ""
        self.stopped = threading.Event()

    def run(self) -> None:
        """Look."""
        try:
            with Visitor(self._address, "human_validation", "study=load&part=people") as visitor:
                while not self.stopped.wait(LOOK_S):
                    visitor.run()
                    _shown(visitor)
                    self.looks += 1
        except Gone as error:
            self.problem = str(error)


def run(tally: Tally, seed: int, *, quick: bool) -> None:
    """Kill the server under them and start it again."""
    rng = random.Random(f"{seed}/people")
    told: Answers = {}
    with data_folder() as data:
        study, tokens = prepare(data, len(KEYS))
        names = dict(zip(sorted(study.state().annotators), tokens, strict=True))
        looks = [0]
        for _ in range(1 if quick else 5):
            moment = rng.uniform(0.2, 2.0)
            name = f"server killed {moment:.1f} s after everybody's first answer"
            tally.attempt(name, partial(_through, data, study.folder, names, moment, told, looks), timed=False)
        tally.notes.append(
            f"{len(names)} annotators: {len(told)} acknowledged answers, {len(_rows(study.folder))} in the log; the "
            f"coordinator loaded the table {looks[0]} times beside them"
        )


def _through(data: Path, folder: Path, names: dict[str, str], moment: float, told: Answers, looks: list[int]) -> None:
    """Annotate, kill, start again on the same port, compare, go on by the same links, compare again."""
    with Server(data) as server:
        people = _at_work(server, names, told, looks, lambda: _killed(server, moment))
    kept(folder, told)
    with Server(data, port=server.port) as again:
        _as_logged(again, folder, names)
        still = len(told)
        after = _at_work(again, names, told, looks, lambda: time.sleep(moment))
        if problems := [each.problem for each in after if each.problem]:
            raise Finding("lost", f"after the restart an annotator could not go on: {problems[0]}")
        if len(told) == still:
            raise Finding("lost", "after the restart no answer was kept")
        kept(folder, told)
        _as_logged(again, folder, names)
    if not all(each.answers for each in people):
        raise Finding("lost", f"an annotator could not answer: {[each.problem for each in people]}")


def _at_work(server: Server, names: dict[str, str], told: Answers, looks: list[int], end: Any) -> list[Annotator]:
    """All at work until ``end`` has ended them; what their screens told to be kept is added to ``told``."""
    people = [
        Annotator(server.address, token, look=LOOK_S, keys=keys)
        for token, keys in zip(names.values(), KEYS, strict=True)
    ]
    watching = Coordinator(server.address)
    crowd: list[Annotator | Coordinator] = [*people, watching]
    for each in crowd:
        each.start()
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and not all(each.answers or each.problem for each in people):
        time.sleep(0.05)
    end()
    for one in crowd:
        one.stopped.set()
    for one in crowd:
        one.join(PATIENCE_S)
    looks[0] += watching.looks
    for name, one in zip(names, people, strict=True):
        told |= {(name, item, question): answer for (item, question), answer in one.answers.items()}
    return people


def _killed(server: Server, moment: float) -> None:
    time.sleep(moment)
    server.kill()


def _rows(folder: Path) -> list[dict[str, Any]]:
    return [each for each in Log(folder / LOG).read().rows if each["row"] == "answer"]


def kept(folder: Path, told: Answers) -> None:
    """Find out whether the log holds every acknowledged answer once, and each under the name of who gave it."""
    rows = _rows(folder)
    found = Counter((each["annotator"], each["item"], each["question"]) for each in rows)
    if lost := [key for key in told if key not in found]:
        raise Finding("lost", f"{len(lost)} of {len(told)} acknowledged answers are not in the log, e.g. {lost[0]}")
    if twice := [key for key, count in found.items() if count > 1]:
        raise Finding("doubled", f"{len(twice)} answers stand twice in the log, e.g. {twice[0]}")
    as_given = {(each["annotator"], each["item"], each["question"]): str(each["answer"]) for each in rows}
    if other := [key for key, answer in told.items() if as_given[key] != answer]:
        raise Finding("lost", f"{len(other)} answers are not as they were given, e.g. {other[0]}")
    by_name: dict[tuple[str, str], set[str]] = {}
    for (name, _, question), answer in as_given.items():
        by_name.setdefault((name, question), set()).add(answer)
    if mixed := {key: answers for key, answers in by_name.items() if len(answers) > 1}:
        raise Finding("lost", f"an annotator who presses one key a question has answers of another: {mixed}")


def _as_logged(server: Server, folder: Path, names: dict[str, str]) -> None:
    """Find out whether the coordinator is shown the complete votes of the log and no others."""
    whole = _complete(_rows(folder))
    with Visitor(server.address, "human_validation", "study=load&part=files") as visitor:
        votes = json.loads(visitor.download("study.export.json"))["votes"]
    found = {(v["annotator"], v["id"]): tuple(_plain(v[each]) for each in QUESTIONS) for v in votes}
    if len(found) != len(votes):
        raise Finding("doubled", "a vote stands twice in the coordinator's file")
    if found != whole:
        raise Finding("lost", f"the coordinator's file has {len(found)} votes, the log {len(whole)}, or other answers")
    with Visitor(server.address, "human_validation", "study=load&part=people") as visitor:
        shown = _shown(visitor)
    counted = Counter(vote["annotator"] for vote in votes if not vote["attention"])
    if shown != {name: counted[name] for name in names}:
        raise Finding("lost", f"the coordinator's table has {shown}, the file {dict(counted)}")


def _complete(rows: list[dict[str, Any]]) -> dict[tuple[str, str], tuple[str, ...]]:
    answers: dict[tuple[str, str], dict[str, str]] = {}
    for each in rows:
        answers.setdefault((each["annotator"], each["item"]), {})[each["question"]] = str(each["answer"])
    return {key: tuple(said[each] for each in QUESTIONS) for key, said in answers.items() if set(said) >= {*QUESTIONS}}


def _plain(value: object) -> str:
    """An answer as the log words it; a table makes whole numbers floats where a column has gaps."""
    return str(int(value)) if isinstance(value, float) and math.isfinite(value) else str(value)


def _shown(visitor: Visitor) -> dict[str, int]:
    """Votes by annotator, as the table on the coordinator's screen has them."""
    for each in visitor.of("dataframe"):
        table = pa.ipc.open_stream(each.arrow_data.data).read_all()
        if {"annotator", "votes"} <= set(table.column_names):
            return dict(zip(table["annotator"].to_pylist(), table["votes"].to_pylist(), strict=True))
    raise Gone("the coordinator's page has no table of annotators")

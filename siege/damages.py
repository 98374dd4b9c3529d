"""Damage to everything that Invariscope keeps: it must be said, or make no difference, and never be silent.

What is asked after each damage is what the program itself asks: ``verify`` and an opened store, a study's votes, a
story's slides, the judge's scores, the list of jobs. An answer like the one before, or one with a sentence beside it,
is right; another answer without a word is a failure.
"""

import json
import logging
import os
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from core import settings
from core.audit.run import run_audit
from core.errors import StoreError
from core.evaluators.network.asking import Journal
from core.evaluators.pool import Pool
from core.features.human.studies import Study
from core.jobs import job_queue
from core.store.store import Store
from core.store.whole import DAMAGED, verify
from core.stories.story import Story
from siege.damage import DAMAGES
from siege.material import RUN, Material, copied, data_folder, key, plan, votes_of
from siege.trials import Finding, Tally

Ask = Callable[[Path], tuple[Any, bool]]
"""Of a folder or file: what it says, comparable, and whether something was said of damage."""

TABLES = ("scores", "items", "variants", "rejections", "runs")


def run(tally: Tally, seed: int, *, quick: bool) -> None:
    """Damage a copy of each kind of file in each way."""
    logging.getLogger("invariscope.judge").setLevel(logging.ERROR)  # what it warns of is what is done to it here
    rounds = 1 if quick else 2
    with data_folder() as data:
        made = Material(data)
        parts: list[tuple[Path, list[str], Ask]] = [
            (made.run, ["manifest.json", *(f"{name}/shard-00001.parquet" for name in TABLES[:4])], of_run),
            (made.published, [""], of_published),
            (made.study, ["study.json", "log.jsonl", "secret"], of_study),
            (made.story, ["story.jsonl", *_pictures(made.story)], of_story),
            (made.journal, [""], of_journal),
        ]
        for part, names, ask in parts:
            _part(tally, part, names, ask, seed, rounds=rounds)
        _jobs(tally, made, seed, rounds=rounds)
        _sorted_copies(tally, made, seed, rounds=rounds)
        _mended(tally, made, seed, count=2 if quick else 12)


def _part(tally: Tally, part: Path, names: list[str], ask: Ask, seed: int, *, rounds: int) -> None:
    intact, said = ask(part)
    assert not said, f"{part} is damaged before anything was done"
    away = part.parent.parent / f"damaged-{part.parent.name}" / part.name
    for name in names:
        for how in DAMAGES:
            for number in range(rounds):
                rng = random.Random(f"{seed}/{part.name}/{name}/{how}/{number}")
                copied(part, away)
                DAMAGES[how](away / name if name else away, rng)
                told = f"{ask.__name__} {name} {how} {number}"
                tally.attempt(told, partial(_compare, ask, away, intact))


def _compare(ask: Ask, path: Path, intact: object) -> None:
    found, said = ask(path)
    if said:
        raise StoreError("the damage is said")
    if found != intact:
        raise Finding("silent", f"it answers otherwise than before: {str(found)[:200]}")


def of_run(folder: Path) -> tuple[Any, bool]:
    """Rows of every table and the manifest, by ``verify`` and by a store."""
    said = any(each.state == DAMAGED for each in verify(folder))
    found, warned = _stored(folder)
    if warned and not said:
        raise Finding("silent", "the store says what verify does not")
    return found, said


def of_published(path: Path) -> tuple[Any, bool]:
    """The same of a published file."""
    said = any(each.state == DAMAGED for each in verify(path))
    return (None, True) if said else (_stored(path)[0], False)


def _stored(path: Path, *, copies: Path | None = None) -> tuple[Any, bool]:
    with Store.open(path, copies=copies) as store:
        rows = {name: sorted(map(str, store.query(f"select * from {name}").to_numpy().tolist())) for name in TABLES[:4]}
        manifests = [json.dumps(each.manifest, sort_keys=True) for each in store.runs()]
        return (rows, manifests), bool(store.problems)


def of_study(folder: Path) -> tuple[Any, bool]:
    """Votes, what is asked, and the links of a study."""
    study = Study(folder)
    said = bool(study.problems())
    votes = votes_of(folder)
    links = [study.token(name) for name in sorted(study.state().annotators)]
    said |= None in links  # the page says that the link cannot be shown; who has it goes on with it
    return (votes, study.definition, links, study.problems()), said


def of_story(folder: Path) -> tuple[Any, bool]:
    """Slides of a story with their pictures; an empty picture is shown as lost."""
    told = Story(folder).read()
    lost = any(not picture.data for each in told.slides for picture in each.pictures)
    return (told.title, told.slides, told.out), bool(told.problems) or lost


def of_journal(path: Path) -> tuple[Any, bool]:
    """Scores of a judge; one that is not there any more is asked again, which mends it."""
    found = Journal(path).scores(key(number) for number in range(20))
    wrong = {each: score for each, score in found.items() if score != int(each, 16) % 11}
    if wrong:
        raise Finding("silent", f"another score than the one that was paid for: {wrong}")
    return None, False


def _pictures(story: Path) -> list[str]:
    return [f"pictures/{each.name}" for each in sorted((story / "pictures").iterdir())[:2]]


def _jobs(tally: Tally, made: Material, seed: int, *, rounds: int) -> None:
    folder = made.job
    kept = {path: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
    intact = _listed()
    for path in kept:
        for how in DAMAGES:
            for number in range(rounds):
                DAMAGES[how](path, random.Random(f"{seed}/{path.name}/{how}/{number}"))
                for each in folder.iterdir():
                    os.utime(each, (0, 0))  # what misses its other half is one that is being started, for a minute
                tally.attempt(f"job {path.name} {how} {number}", partial(_compare_jobs, intact))
                for each, data in kept.items():
                    each.write_bytes(data)


def _listed() -> Any:
    found, problems = job_queue.list_jobs()
    return [(each.id, each.request, each.state) for each in found], problems


def _compare_jobs(intact: tuple[Any, Any]) -> None:
    found, problems = _listed()
    if problems:
        raise StoreError(problems[0])
    if found != intact[0]:
        raise Finding("silent", f"the list of jobs changed without a word: {str(found)[:200]}")


def _sorted_copies(tally: Tally, made: Material, seed: int, *, rounds: int) -> None:
    """What the cache holds of a run is made anew where it is damaged."""
    intact = _stored(made.run)[0]
    copies = settings.cache_dir() / "store"
    for how in DAMAGES:
        for number in range(rounds):
            _stored(made.run, copies=copies)
            path = sorted(copies.glob("*.duckdb"))[0]
            DAMAGES[how](path, random.Random(f"{seed}/copy/{how}/{number}"))
            tally.attempt(f"sorted copy {how} {number}", partial(_same_rows, made.run, intact, copies))


def _same_rows(folder: Path, intact: object, copies: Path) -> None:
    if _stored(folder, copies=copies)[0] != intact:
        raise Finding("silent", "a damaged copy in the cache changed the answer")


def _mended(tally: Tally, made: Material, seed: int, *, count: int) -> None:
    """A damaged run that is started again comes to the very same rows, and is whole."""
    whole = _stored(made.run)[0][0]
    rng = random.Random(f"{seed}/mended")
    ways = [each for each in DAMAGES if each != "swap"]
    for number in range(count):
        parent = made.data.parent / "mended"
        folder = copied(made.run, parent / RUN)
        path = rng.choice(sorted(folder.glob("*/*.parquet")))
        how = rng.choice(ways)
        DAMAGES[how](path, rng)
        tally.attempt(f"mended {path.parent.name}/{path.name} {how} {number}", partial(_again, parent, whole))


def _again(parent: Path, whole: object) -> None:
    run_audit(plan(), parent, run_id=RUN, pool=Pool(2000, "cpu"))
    if _stored(parent / RUN)[0][0] != whole:
        raise Finding("lost", "the run that was started again has other rows")
    if any(each.problems for each in verify(parent / RUN)):
        raise Finding("lost", "the run that was started again is not whole")


def shards(folder: Path) -> dict[str, bytes]:
    """Every table file of a run, by its path in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.parquet"))}

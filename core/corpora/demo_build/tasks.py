"""Everything that is built together, in order: one task an item."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from core.corpora.demo_build.composed import composed_item
from core.corpora.demo_build.photographs import photograph_captions, photograph_item
from core.corpora.demo_build.plan import ItemEntry, PhotographEntry, Plan, read_plan
from core.corpora.demo_build.prototype_plan import read_quadruples
from core.corpora.demo_build.prototypes import quadruple
from core.corpora.demo_build.scenes import SceneEntry, ScenePlan, read_scenes, scene_item
from core.corpora.demo_build.write import Built
from core.errors import BadCorpus


@dataclass(frozen=True, slots=True)
class Task:
    """One item to be built."""

    id: str
    build: Callable[[], Built]


def tasks_of(assets: Path, stamps: Path) -> tuple[Task, ...]:
    """List the items of the demo corpus, then its scenes, then its quadruples.

    Args:
        assets: folder of the editable lists.
        stamps: folder of the stamps.

    Raises:
        BadCorpus: if a list cannot be used, or two items have one id.
    """
    plan = read_plan(assets)
    scenes = read_scenes(assets, plan)
    quadruples = read_quadruples(assets.parent / "prototypes.csv", assets)
    tasks = [Task(entry.id, partial(_composed, entry, plan, stamps)) for entry in plan.items]
    tasks += [Task(entry.id, partial(_photograph, entry, plan, assets)) for entry in plan.photographs]
    tasks += [Task(entry.id, partial(_scene, entry, plan, scenes, stamps)) for entry in scenes.scenes]
    tasks += [Task(each.id, partial(quadruple, each, plan.grammar.places, stamps)) for each in quadruples]
    ids = [task.id for task in tasks]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise BadCorpus(f"{assets}: two items are named {twice[0]!r}; rename one")
    return tuple(tasks)


def _composed(entry: ItemEntry, plan: Plan, stamps: Path) -> Built:
    return Built(*composed_item(entry, plan, stamps))


def _photograph(entry: PhotographEntry, plan: Plan, assets: Path) -> Built:
    item, data = photograph_item(entry, photograph_captions(entry.id, plan), assets / "masks")
    return Built(item, data, {"photographic": True, "captions": "written for this corpus"})


def _scene(entry: SceneEntry, plan: Plan, words: ScenePlan, stamps: Path) -> Built:
    return Built(*scene_item(entry, plan, words, stamps))

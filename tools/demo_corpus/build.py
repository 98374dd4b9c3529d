"""Building the demo corpora and the demo videos from Debian's stamps and the photographs that libraries ship."""

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from core import settings
from core.corpora.demo import ITEMS_FILE, LISTINGS
from core.corpora.demo_plan import ItemEntry
from core.errors import BadCorpus, InvalidInput
from core.writing import write_folder_whole
from tools.demo_corpus.composed import composed_item
from tools.demo_corpus.photographs import photograph_captions, photograph_item
from tools.demo_corpus.plan import PhotographEntry, Plan, read_plan
from tools.demo_corpus.quadruples import quadruple, read_quadruples
from tools.demo_corpus.scenes import SceneEntry, ScenePlan, read_scenes, scene_item
from tools.demo_corpus.stamps import find_stamps
from tools.demo_corpus.videos import build_videos
from tools.demo_corpus.write import Built, attribution, pack_images, store_images, to_line, write_checksums

Progress = Callable[[int, int], None]
"""Called with (items built, items in all)."""


def build_demo(
    output: Path,
    *,
    stamps: Path | None = None,
    deb: Path | None = None,
    progress: Progress | None = None,
    only: Iterable[str] | None = None,
) -> Path:
    """Build the demo corpus; the same stamps and pinned packages give the same bytes.

    The corpus is built beside its place and moved there when it is whole, so an interrupted build leaves
    what was there before.

    Args:
        output: folder of the corpus; an existing demo corpus there is replaced.
        stamps: an unpacked ``usr/share/tuxpaint/stamps``; fetched from Debian where neither is given.
        deb: Debian's package as a file.
        progress: called after every item.
        only: ids of the items to build, without the videos; None builds all.

    Returns:
        The folder of the corpus.

    Raises:
        InvalidInput: if ``output`` holds something else, or an id is unknown.
        StoreError: if the disk is full or the folder cannot be written.
        NotAvailable: if the stamps cannot be fetched on this machine.
        BadCorpus: if the lists in ``assets/demo`` and the stamps do not fit together.
    """

    output = Path(output)
    if output.exists() and (not output.is_dir() or (any(output.iterdir()) and not (output / ITEMS_FILE).is_file())):
        raise InvalidInput(f"{output} exists and is no demo corpus; give an empty or a new folder")
    folder = find_stamps(settings.cache_dir() / "demo-stamps", stamps=stamps, deb=deb)
    chosen = None if only is None else set(only)
    write_folder_whole(output, lambda built: _build(built, folder, progress, chosen), standing="replaced")
    return output


def _build(output: Path, stamps: Path, progress: Progress | None, only: set[str] | None) -> None:

    tasks = tasks_of(settings.assets_dir() / "demo", stamps)
    unknown = sorted((only or set()) - {task.id for task in tasks})
    if unknown:
        raise InvalidInput(f"the demo corpus has no item {unknown[0]!r}; see the lists in {settings.assets_dir()}/demo")
    chosen = [task for task in tasks if only is None or task.id in only]
    items, lines = [], dict.fromkeys(LISTINGS, "")
    for count, task in enumerate(chosen, 1):
        built = task.build()
        item = store_images(built, output)
        items.append(item)
        lines[item.corpus] += f"{to_line(item, made_from=built.made_from)}\n"
        if progress is not None:
            progress(count, len(chosen))
    pack_images(output)
    for corpus, name in LISTINGS.items():
        (output / name).write_text(lines[corpus], encoding="utf-8")
    assets = settings.assets_dir() / "demo"
    videos = build_videos(output, assets, read_plan(assets), stamps) if only is None else ()
    (output / "ATTRIBUTION.md").write_text(attribution(items, videos), encoding="utf-8")
    shutil.copyfile(settings.assets_dir() / "demo" / "GPL-2.txt", output / "GPL-2.txt")
    write_checksums(output)


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

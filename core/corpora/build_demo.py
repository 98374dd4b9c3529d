"""Building the demo corpora and the demo videos from Debian's stamps and the photographs that libraries ship."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from core import settings
from core.errors import InvalidInput
from core.writing import write_folder_whole

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
    from core.corpora.demo_build.records import ITEMS_FILE
    from core.corpora.demo_build.stamps import find_stamps

    output = Path(output)
    if output.exists() and (not output.is_dir() or (any(output.iterdir()) and not (output / ITEMS_FILE).is_file())):
        raise InvalidInput(f"{output} exists and is no demo corpus; give an empty or a new folder")
    folder = find_stamps(settings.cache_dir() / "demo-stamps", stamps=stamps, deb=deb)
    chosen = None if only is None else set(only)
    write_folder_whole(output, lambda built: _build(built, folder, progress, chosen), standing="replaced")
    return output


def _build(output: Path, stamps: Path, progress: Progress | None, only: set[str] | None) -> None:
    from core.corpora.demo_build.plan import read_plan
    from core.corpora.demo_build.records import LISTINGS, to_line
    from core.corpora.demo_build.tasks import tasks_of
    from core.corpora.demo_build.videos import build_videos
    from core.corpora.demo_build.write import attribution, store_images, write_checksums

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
    for corpus, name in LISTINGS.items():
        (output / name).write_text(lines[corpus], encoding="utf-8")
    assets = settings.assets_dir() / "demo"
    videos = build_videos(output, assets, read_plan(assets), stamps) if only is None else ()
    (output / "ATTRIBUTION.md").write_text(attribution(items, videos), encoding="utf-8")
    shutil.copyfile(settings.assets_dir() / "demo" / "GPL-2.txt", output / "GPL-2.txt")
    write_checksums(output)

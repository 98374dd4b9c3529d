"""Pairs written to disk for a metric that runs elsewhere: the very pairs that an audit would score, in its order."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from core.audit.pair_folder import BY_PAIR, GIVEN, IMAGES, PLAN, RUN, PairFolder, describe, read_pair_folder
from core.audit.plan import Plan
from core.audit.render import Group, all_groups, references
from core.audit.rows import Gathered, RowMaker, rejections_table
from core.audit.run import Heard, Progress, RunStopped, Stop
from core.audit.shards import CORPUS_REJECTIONS, Finished, ShardCounts, only_one
from core.audit.workers.children import Prefetch
from core.corpora.images import encode_png
from core.corpora.score_files import (
    CANDIDATES,
    PAIRS,
    REFERENCES,
    pair_id,
    write_candidates,
    write_lines,
    write_references,
)
from core.errors import InvalidInput, StoreError
from core.evaluators.scoring import PairScores
from core.probes.pairs import Draft, LeftOut
from core.store.run_files import COMPLETE
from core.store.text_files import remove_leftovers, write_json
from core.writing import cannot_write, write_bytes, write_whole

MOST_BYTES = 50_000_000_000  # most bytes of pixels that are exported unless the reader allows more


@dataclass(frozen=True, slots=True)
class Size:
    """What an export takes at most, counted before any image is read; rejections and PNG make it less.
    ``images``: unedited and edited ones. ``pairs``: unique pairs. ``bytes``: of pixels, uncompressed."""

    items: int
    images: int
    pairs: int
    bytes: int


def size_of(plan: Plan) -> Size:
    """Count what an export of a plan takes at most."""
    cost = plan.cost()
    each = sum(3 * item.width * item.height * max(len(item.frames), 1) for item in plan.corpus.items)
    return Size(cost.items, cost.images, cost.pairs, each * (1 + len(plan.image_probes)))


def export_pairs(
    plan: Plan,
    out: Path,
    *,
    by_pair: bool = False,
    most_bytes: int = MOST_BYTES,
    progress: Heard | None = None,
    stop: Stop | None = None,
) -> PairFolder:
    """Write every pair of a plan, or go on with an export that was ended.
    ``plan``: of :func:`core.audit.plan.make_plan`; its evaluators are not asked.
    ``by_pair``: link every image under the ids of its pairs too, as clipscore's script looks for it.
    ``most_bytes``: of pixels, uncompressed. ``progress``: called after every group of images.
    ``stop``: asked as often; True ends the export like Ctrl-C.
    Raises InvalidInput if the folder has something else, or the pairs are too many.
    Raises StoreError if something cannot be written, or another process works there.
    Raises RunStopped on Ctrl-C or ``stop``; finished shards are kept."""
    if by_pair and plan.videos:
        raise InvalidInput(
            "links by pair are of images, and the items are videos, each a folder of frames; leave it out"
        )
    most = size_of(plan).bytes
    if most > most_bytes:
        raise InvalidInput(
            f"the images have up to {most / 1e9:,.1f} GB of pixels and at most {most_bytes / 1e9:,.1f} GB are "
            "exported; take fewer items or probes, or allow more"
        )
    out = Path(out)
    with only_one(out, what="the export", instead="choose another folder"):
        folder = _begin(plan, out)
        job = _Export(plan, folder, progress, stop)
        try:
            job.run()
        except KeyboardInterrupt:
            raise RunStopped(
                f"the export stopped after {job.finished} of {folder.shards} shards; start it again and it goes on"
            ) from None
        return _close(folder, by_pair=by_pair)


def _begin(plan: Plan, out: Path) -> PairFolder:
    told = describe(plan)
    if (out / PLAN).exists():
        folder = read_pair_folder(out)
        if folder.digest != told["digest"]:
            raise InvalidInput(f"{out} holds the pairs of another plan, or of other versions; choose another folder")
        return folder
    if any(path.name != ".lock" for path in out.iterdir()):
        raise InvalidInput(f"{out} is not empty and holds no export; choose another folder")
    write_json(out / PLAN, told)
    return PairFolder(out, told)


class _Export:
    """One call of :func:`export_pairs`, once the folder is ours."""

    def __init__(self, plan: Plan, folder: PairFolder, progress: Heard | None, stop: Stop | None) -> None:
        self.plan, self.folder, self.progress, self.stop = plan, folder, progress, stop
        self.maker = RowMaker(RUN, plan, "")
        self.finished = self.done = 0
        self.begun = time.monotonic()
        self._each = 1 + len(plan.image_probes)

    def run(self) -> None:
        left_out = (LeftOut(each.subject, None, each.code, each.detail) for each in self.plan.corpus.rejected)
        table = rejections_table(RUN, self.plan.corpus.name, left_out)
        self.folder.rows.write_table(self.folder.rows.shard("rejections", CORPUS_REJECTIONS), table)
        shards = self.plan.shards
        todo = [index for index in range(len(shards)) if not self._known(index)]
        self.finished = len(shards) - len(todo)
        self.done = skipped = sum(len(shards[index]) for index in {*range(len(shards))} - {*todo}) * self._each
        self._tell(skipped)
        source = Prefetch(all_groups(self.plan, (shards[index] for index in todo)))
        try:
            for index in todo:
                self._shard(index, source, skipped)
                self.finished += 1
        finally:
            source.close()

    def _known(self, index: int) -> bool:
        if self.folder.finished(index) is None:
            return False
        names = set(self.folder.given(index)["image"].to_pylist())
        return all(_last_written(self.folder.path / name).is_file() for name in names)

    def _shard(self, index: int, source: Iterator[Group | None], skipped: int) -> None:
        found, keys = Gathered(), set[str]()
        for group in iter(source.__next__, None):
            assert group is not None
            keys.update(group.images)
            for key, pixels in group.images.items():
                path = self.folder.path / image_name(key, video=pixels.ndim == 4)
                if _last_written(path).exists():
                    continue
                if pixels.ndim == 3:
                    write_bytes(path, encode_png(pixels))
                    continue
                for place in range(len(pixels), 0, -1):  # the first frame last
                    write_bytes(path / f"{place:05d}.png", encode_png(pixels[place - 1]))
            none = PairScores(np.full(len(group.drafts), np.nan), (None,) * len(group.drafts))
            rows, without_baseline = self.maker.rows(None, group.drafts, none)
            found.rows += [{**row, **_given(draft)} for row, draft in zip(rows, group.drafts, strict=True)]
            found.left_out += [*without_baseline, *group.left_out]
            found.told += [draft for draft in group.drafts if draft.facts]
            found.items += group.items
            self.done += group.variants
            self._tell(skipped)
        found.sort(self.plan.shards[index])
        given = pa.Table.from_pylist(found.rows, schema=GIVEN)
        metadata = self.folder.rows.metadata(Finished.of(ShardCounts(), keys))
        self.folder.rows.write_table(self.folder.given_path(index), given.replace_schema_metadata(metadata))
        self.folder.rows.write(index, found.tables(RUN, self.plan, metadata))

    def _tell(self, skipped: int) -> None:
        if self.progress is not None:
            total, spent = len(self.plan.corpus.items) * self._each, time.monotonic() - self.begun
            made = self.done - skipped
            eta = spent / made * (total - self.done) if made else None
            self.progress(Progress("exporting", self.done, total, spent, eta, self.finished, len(self.plan.shards)))
        if self.stop is not None and self.stop():
            raise KeyboardInterrupt


def image_name(key: str, *, video: bool = False) -> str:
    """Path of an image below its export, e.g. ``images/ab/abcd….png``; of a video the folder of its frames.
    ``key``: hash of its pixels."""
    return f"{IMAGES}/{key[:2]}/{key}{'' if video else '.png'}"


def _last_written(path: Path) -> Path:
    """The file whose presence says that an image is whole: of a video its first frame, which is written last."""
    return path if path.suffix else path / "00001.png"


def _given(draft: Draft) -> dict[str, object]:
    """The pair of a draft, as columns of GIVEN beside those of its row."""
    told = [text for text in references(draft) if text.encode(errors="ignore").decode() == text]  # valid Unicode
    language = draft.subject.language
    place = image_name(draft.image_key, video=bool(draft.item.frames))
    return {"id": pair_id(draft.image_key, draft.caption, language, told), "image": place, "references": told}


def _close(folder: PairFolder, *, by_pair: bool) -> PairFolder:
    """Write the files for the reader from the shards, and say that the folder is complete."""
    images, pairs, people = set(), 0, 0
    for pair in folder.pairs():
        pairs += 1
        people += bool(pair.references)
        images.add(pair.image)
        if by_pair:
            name = folder.path / BY_PAIR / f"{pair.id}.png"
            try:
                name.parent.mkdir(exist_ok=True)
                if not name.exists():
                    os.link(folder.path / pair.image, name)
            except OSError as error:
                why = f"{cannot_write(name, error)}; without links the export does not need it"
                raise StoreError(why) from error
    if not pairs:
        raise InvalidInput(f"no pair can be made of the plan; {folder.path / 'rows'} says what was left out and why")
    write_whole(folder.path / PAIRS, lambda path: write_lines(path, folder.pairs()))
    write_whole(folder.path / CANDIDATES, lambda path: write_candidates(path, folder.pairs()))
    if people:
        write_whole(folder.path / REFERENCES, lambda path: write_references(path, folder.pairs()))
    paths = [folder.path / name for name in images]
    files = (each for path in paths for each in ([path] if path.is_file() else path.iterdir()))
    size = sum(each.stat().st_size for each in files)
    counts = {"pairs": pairs, "images": len(images), "image_bytes": size, "with_references": people}
    told = {**folder.told, "status": COMPLETE, "counts": counts}
    write_json(folder.path / PLAN, told)
    remove_leftovers(folder.path)
    return PairFolder(folder.path, told)

"""The pictures of the gallery: made again in the background, kept small, shared by all; two over each other."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from PIL import Image

from core.analysis.failures import picture_hashes
from core.charts.canvas import changed_share, jpeg, thumbnail, with_boxes, with_changes
from core.corpora.schema import Item
from core.errors import InvariscopeError, NotAvailable
from core.probes import registry as probes
from core.probes.base import Edits, Probe
from core.scoring.workbench import Replay, Workbench, open_bench, replay
from core.seeds import RUN_SEED
from core.store.run_files import Run
from core.store.store import Store
from pages.views.common.open_runs import Shelf, load_corpus_of
from pages.views.common.text import component

SIDE = 320  # longest side, in px, of a picture on a card
LARGE = 720  # longest side, in px, of a picture in the full record
_COMPARED = 1024  # longest side, in px, at which pixels are compared
_SAME_PLACE = 0.8  # overlap (intersection over union) of the object's old and new box from which it counts as not moved
_HELD = 2_500_000  # most pixels of a picture whose bench is kept for its next variant


@dataclass(frozen=True, slots=True)
class Shown:
    """The pictures of one pair as JPEG."""

    before: bytes
    after: bytes | None  # None where the probe leaves the picture as it is
    changed: float | None  # share of changed pixels, in [0, 1]; None without ``after``
    moved: bool  # whether the object's box is another one after the edit
    notes: tuple[str, ...]


Made = Shown | str  # the pictures, or the sentence that says why there are none


@dataclass(frozen=True, slots=True)
class _Job:
    item: Item
    probe: Probe
    pixels_sha256: str | None
    seed: int
    run: str
    marks: str
    side: int

    @property
    def key(self) -> tuple[str | int | None, ...]:
        of = (self.item.corpus, self.item.id, str(self.item.image_path))
        return (self.run, self.seed, self.pixels_sha256, *of, self.probe.name, self.marks, self.side)


@dataclass(frozen=True, slots=True)
class _Studio:
    """Two threads and what they made: at most some 40 MB of JPEGs, three workbenches."""

    workers: ThreadPoolExecutor
    made: Shelf[Made]
    benches: Shelf[Workbench]


@st.cache_resource(show_spinner=False, on_release=lambda studio: studio.workers.shutdown(wait=False))
def _studio() -> _Studio:
    return _Studio(ThreadPoolExecutor(2, "pictures"), Shelf(768), Shelf(3))


@contextmanager
def pictures(
    store: Store, pairs: pd.DataFrame, *, marks: str, side: int = SIDE
) -> Iterator[list["Future[Made] | Made"]]:
    """Begin to make the pictures of some pairs; what nobody waits for any more is not begun. ``marks``: a key of
    ``failure_state.MARKS``; ``side``: the longest, in px. Yields one entry a pair: its pictures, a sentence, or a
    future of either."""
    hashes = picture_hashes(store, pairs)
    runs = {run.id: run for run in store.runs()}
    items = {str(name): _items(runs[str(name)], set(rows["item"])) for name, rows in pairs.groupby("run")}
    jobs = [_job(row, items[row["run"]], runs[row["run"]], hashes, marks, side) for _, row in pairs.iterrows()]
    studio = _studio()
    begun: list[Future[Made] | Made] = []
    for job in jobs:
        if isinstance(job, str):
            begun.append(job)
            continue
        kept = studio.made.get(job.key)
        begun.append(kept if kept is not None else studio.workers.submit(_make, studio, job))
    try:
        yield begun
    finally:
        for each in begun:
            if isinstance(each, Future):
                each.cancel()


def finished(each: "Future[Made] | Made") -> Made:
    """Wait for an entry of :func:`pictures`."""
    return each.result() if isinstance(each, Future) else each


def _items(run: Run, wanted: set[str]) -> dict[str, Item] | str:
    """The wanted items, or why the corpus cannot be read; here and not in a thread, since it may show progress."""
    try:
        return {item.id: item for item in load_corpus_of(run).items if item.id in wanted}
    except NotAvailable as error:
        return f"{str(error)[0].upper()}{str(error)[1:]}."
    except InvariscopeError as error:
        return f"The pictures of corpus {run.manifest['corpus'].get('name')} cannot be shown: {error}"


def _job(
    row: pd.Series, items: dict[str, Item] | str, run: Run, hashes: Mapping[tuple[str, str], str], marks: str, side: int
) -> "_Job | str":
    if isinstance(items, str):
        return items
    if row["item"] not in items:
        return f"Item {row['item']} is not in the corpus {row['corpus']} that is here; it was when the run was made."
    known = probes.catalogue()
    if row["probe"] not in known:
        return f"The probe {row['probe']} of this run is not registered here, so its picture cannot be made again."
    seed = run.manifest.get("seed")
    return _Job(
        items[row["item"]],
        known.get(row["probe"]),
        hashes.get((row["run"], row["item"])),
        seed if isinstance(seed, int) else RUN_SEED,
        row["run"],
        marks,
        side,
    )


def _make(studio: _Studio, job: _Job) -> Made:
    """Runs in a thread of the studio: nothing of Streamlit is called here."""
    try:
        bench = _bench(studio, job)
        unedited = Replay(bench.picture, None, bench.item.box, None)
        found = replay(bench, job.probe) if job.probe.edits is Edits.IMAGE else unedited
        before, after = thumbnail(found.before, side=job.side), None
        changed, moved = None, False
        if found.after is not None:
            sized = [thumbnail(each, side=_COMPARED) for each in (found.before, found.after)]
            changed = changed_share(*sized) if sized[0].shape == sized[1].shape else None
            was, now = found.box_before, found.box_after
            moved = was is not None and now is not None and was.iou(now) < _SAME_PLACE
            after = thumbnail(found.after, side=job.side)
            if job.marks == "changes" and before.shape == after.shape:
                after = with_changes(before, after)
            elif job.marks == "object" and moved:
                before = with_boxes(found.before, box=found.box_before, side=job.side)
                after = with_boxes(found.after, box=found.box_after, old=found.box_before, side=job.side)
        return studio.made.put(
            job.key, Shown(jpeg(before), None if after is None else jpeg(after), changed, moved, found.notes)
        )
    except InvariscopeError as error:
        return str(error)


def _bench(studio: _Studio, job: _Job) -> Workbench:
    key = (job.run, job.item.corpus, job.item.id)
    kept = studio.benches.get(key)
    if kept is not None:
        return kept
    bench = open_bench(job.item, pixels_sha256=job.pixels_sha256, seed=job.seed)
    return studio.benches.put(key, bench) if bench.pixels.size <= 3 * _HELD else bench


def as_pixels(data: bytes) -> np.ndarray:
    """Decode a picture that this module made: uint8 RGB [H, W, 3]."""
    return np.asarray(Image.open(BytesIO(data)).convert("RGB"))


_slider = component("before_after")


class Split(NamedTuple):
    """How two pictures that lie over each other open."""

    uncovered: int = 50  # how much of the variant is seen, in percent of the width
    right: bool = False  # whether the original lies at the right


def best_split(before: np.ndarray | None, after: np.ndarray | None) -> Split:
    """The split that shows most of the object both as it was and as it is. ``before``, ``after``: boolean [H, W] of one
    width, where the object is in each; None: half of each is shown."""
    if before is None or after is None or not before.any() or not after.any():
        return Split()
    was, now = (np.cumsum(each.sum(axis=0)) / each.sum() for each in (before, after))
    at = np.arange(10, 91, 5)
    column = (at * len(was) // 100) - 1
    shown = {  # share of the object that is seen in the worse of both pictures
        Split(int(100 - place), right=False): min(was[x], 1 - now[x]) for place, x in zip(at, column, strict=True)
    } | {Split(int(place), right=True): min(1 - was[x], now[x]) for place, x in zip(at, column, strict=True)}
    best = max(shown.values())
    return min((each for each, share in shown.items() if share == best), key=lambda each: abs(each.uncovered - 50))


def offer(
    pictures: Callable[[], tuple[bytes, bytes]], *, alt: str, key: str, on: bool = False, split: Split | None = None
) -> None:
    """Draw a switch that lays the variant under the picture, and both where it is on. ``pictures``: makes both files,
    once somebody wants them; ``split``: how they open; None: half of each."""
    if not st.toggle(
        "One over the other", on, key=f"{key}.over", help="A slider uncovers the variant, *Blink* shows both by turns"
    ):
        return
    if not before_after(*pictures(), alt=alt, key=f"{key}.slider", split=split):
        st.caption("The edit changed the size of the picture: no place of one lies over the same place of the other.")


def before_after(before: bytes, after: bytes, *, alt: str, key: str, split: Split | None = None) -> bool:
    """Draw both; nothing where they are of two sizes, for then no place of one lies over the same place of the other.
    ``split``: how they open; None: half of each. Returns whether they are drawn."""
    sizes = {Image.open(BytesIO(each)).size for each in (before, after)}
    if len(sizes) > 1:
        return False
    opens = split or Split()
    told = {"split": opens.uncovered, "right": opens.right}
    _slider(key=key, data={"before": _address(before), "after": _address(after), "alt": alt, **told})
    return True


def _address(jpeg: bytes) -> str:
    return f"data:image/jpeg;base64,{b64encode(jpeg).decode()}"

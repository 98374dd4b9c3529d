"""What the Probe lab remembers: its link, a reader's picture, and what all sessions of the server share.

A picture that a reader brought is held in memory, packed without a loss, unpacked for who edits or draws it, and for a
day on the disk. A few readers work at once, the others stand in line in the order in which they came.

Evaluators of files that stored runs or checks were given by path: an operator scores with them by their names. The
server imports no such file: what a page scores with one is scored in its own process. Viewers see their stored
scores alone. A link may name one whose file is, byte for byte, the one that the run or the check was made with.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import BoundedSemaphore, Thread

import cv2
import numpy as np
import pandas as pd
import streamlit as st

from core.corpora.item_pictures import read_item
from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES, Item, Mask
from core.errors import InvariscopeError, NotAvailable, ProbeRejected
from core.evaluators import registry
from core.evaluators.base import BLIND, Availability, Joined
from core.evaluators.cache import EmbeddingCache
from core.evaluators.pool import shared_pool
from core.evaluators.remote import Remote
from core.features.lab.edited_copies import OcclusionMap, WordLoss, Worst
from core.features.lab.lab import LabResult
from core.features.lab.position_map import PositionMap
from core.features.lab.proposal import Proposed, propose
from core.probes import registry as probes
from core.probes.base import ENGLISH, Axis, Construction, Probe
from core.probes.families.inserted import in_template
from core.scoring.workbench import Workbench, in_memory_item
from core.settings import cache_dir, checks_dir, lab_cache_mb
from core.store import run_sources as stored
from core.store.run_sources import OwnMetric
from pages.views.common import open_runs
from pages.views.common.access import may_operate
from pages.views.common.reader_uploads import LEAVING, DayFolder, Uploads, session
from pages.views.common.url_state import Field, PageState, Read, joined, one_of, some_of, switch_field, text
from pages.views.probe_lab.lab_work import Works


@dataclass(frozen=True, slots=True, eq=False)
class Upload:
    """A picture that a reader brought, decoded and packed."""

    name: str  # of the file
    item: Item  # that stands for it; its id and hash are of the pixels
    notes: tuple[str, ...]  # what was done to it when it was decoded
    packed: bytes  # the pixels as PNG

    @classmethod
    def of(cls, name: str, pixels: np.ndarray, notes: tuple[str, ...]) -> "Upload":
        """Pack a picture, uint8 RGB [H, W, 3]."""
        done, packed = cv2.imencode(".png", pixels, (cv2.IMWRITE_PNG_COMPRESSION, 1))
        if not done:
            raise AssertionError(f"a picture of {pixels.shape} was not packed")
        return cls(name, in_memory_item(pixels), notes, packed.tobytes())

    @property
    def key(self) -> str:
        """What links call it: the start of its pixels' hash, so the same picture has the same key whoever brings it."""
        return str(self.item.pixels_sha256)[:32]

    @property
    def size(self) -> int:
        """Bytes of its pixels, which a session's quota counts."""
        return self.item.width * self.item.height * 3

    def pixels(self) -> np.ndarray:
        """Unpack the picture, uint8 RGB [H, W, 3]; to the bit what was packed."""
        found = cv2.imdecode(np.frombuffer(self.packed, np.uint8), cv2.IMREAD_COLOR)  # the order of colours is kept
        if found is None:
            raise AssertionError(f"{self.name} was not unpacked")
        return found


SOURCES = ("corpus", "upload", "camera")
SUBJECTS = {"template": "Template", "human": "Corpus caption", "free": "Free text"}
WORKING_SIDE = 1024
"""Longest side, in px, at which an uploaded picture is edited; the offline evaluators see about 224 px."""

SESSION_PICTURES, SESSION_MB, ALL_MB = 6, 20, 256
"""Uploaded pictures that a session holds, and MB that they take, decoded, in a session and in all together."""

SESSION_MASKS, SESSION_MASKS_MB, ALL_MASKS_MB = 24, 2, 32
"""Painted masks that a session holds, and MB that they take, run-length encoded, in a session and in all together."""

AT_ONCE = 2
"""Readers whose pictures are edited and scored at the same time: more would need more memory and be done no sooner."""

BENCHES = 32  # pictures that are kept on a bench, so that a page that runs again finds what it made
WITH_VARIANTS = 4  # pictures whose variants are kept; what a page or a file asks of another is made anew
CAPTION_LIMIT = 10_000
DEMO = "demo"  # the corpus that a reader meets first

DEFAULT_PROBES = (
    "vflip",
    "hflip",
    "rotate+10",
    "blur-2",
    "reposition-TL",
    "reposition-BR",
    "cultural:American",
    "cultural:African",
    "economic:luxury",
    "economic:cheap",
    "gender:female",
    "emotion:happy",
)


class Shared:
    """What every session of this server shares."""

    def __init__(self) -> None:
        self.uploads = Uploads[Upload](each=SESSION_PICTURES, each_mb=SESSION_MB, total_mb=ALL_MB, forget=self._forget)
        self.benches = open_runs.Shelf[Workbench](BENCHES)
        self.grown = open_runs.Shelf[Workbench](WITH_VARIANTS, Workbench.forget)
        self.results = open_runs.Shelf[LabResult](64)
        self.masks = open_runs.Shelf[np.ndarray](16)
        self.painted = Uploads[Mask](each=SESSION_MASKS, each_mb=SESSION_MASKS_MB, total_mb=ALL_MASKS_MB)
        self.maps = open_runs.Shelf[PositionMap](32)
        self.occluded = open_runs.Shelf[tuple[OcclusionMap, tuple[WordLoss, ...]]](32)
        self.worst = open_runs.Shelf[tuple[tuple[Worst, ...], pd.DataFrame]](32)
        most = lab_cache_mb()
        lasting = cache_dir() / "lab.sqlite" if most else None  # of corpora's pictures and captions
        self.embeddings = EmbeddingCache(lasting, max_mb=most or 1, memory_mb=64)
        self.brought = EmbeddingCache(None, memory_mb=64)
        self.own = open_runs.Shelf[EmbeddingCache](4)
        self.room = BoundedSemaphore(AT_ONCE)
        self.proposed = open_runs.Shelf[tuple[Proposed, ...]](64)
        self.day = DayFolder(cache_dir() / "lab_uploads", most_mb=ALL_MB)
        self.works = Works(AT_ONCE)
        self.warmed = set[str]()

    def _forget(self, upload: Upload) -> None:
        for shelf in (self.benches, self.grown):
            shelf.drop(lambda bench: bench.item.id == upload.item.id)

    def bench(self, key: Hashable, item: Item, read: Callable[[], np.ndarray]) -> Workbench:
        """The bench of a picture, one for all who look at it; of all benches the latest few keep their variants. A
        picture that only waits for its turn has none, so nobody's are let go of for it."""
        return self.benches.get_or(key, lambda: Workbench(item, read(), grown=self._keep))

    def _keep(self, bench: Workbench) -> None:
        self.grown.put(id(bench), bench)

    def embeddings_of(self, bench: Workbench, name: str) -> EmbeddingCache:
        """What an evaluator encoded before: on the disk too, unless somebody brought the picture or the evaluator. The
        code of one's own evaluator may change without its fingerprint, so nothing of it outlives the server."""
        kind = registry.find(name)
        if issubclass(kind, Remote):  # a changed file is another class
            return self.own.get_or(kind, lambda: EmbeddingCache(None, memory_mb=32))
        own = kind.__module__.partition(".")[0] != "core"
        return self.brought if own or bench.uploaded else self.embeddings


@st.cache_resource(show_spinner=False)
def shared() -> Shared:
    """Return the shelves of this server, made once."""
    return Shared()


def _owner() -> str:
    """This session; what it alone holds here goes soon after its browser: the disk has it for a day."""
    return _until_it_leaves(session())


def _left(owner: str) -> None:
    shared().uploads.leave(owner)
    shared().painted.leave(owner)


LEAVING.also(lambda _: shared().uploads.forget_who_left())
LEAVING.also(lambda _: shared().painted.forget_who_left())


@st.cache_resource(scope="session", show_spinner=False, on_release=_left)
def _until_it_leaves(owner: str) -> str:
    return owner


def keep_upload(upload: Upload, *, day: bool) -> tuple[str, ...]:
    """Hold a picture for this session, on the disk too for a day; returns the names of those that made room. Raises
    NotAvailable where it does not fit beside what others use."""
    gone = shared().uploads.put(upload.key, upload, name=upload.name, size=upload.size, owner=_owner())
    if day:
        shared().day.put(upload.key, upload.packed)
    return gone


def held_upload(key: str) -> Upload | None:
    """The picture of a link: of the memory, or of the disk, where a server before this one kept it for a day."""
    found = shared().uploads.get(key, owner=_owner())
    packed = None if found else shared().day.get(key)
    if packed is None:
        return found
    pixels = cv2.imdecode(np.frombuffer(packed, np.uint8), cv2.IMREAD_COLOR)
    kept = Upload.of("a picture of the last day", pixels, ()) if pixels is not None else None
    if kept is None or kept.key != key:
        return None
    try:
        keep_upload(kept, day=False)
    except NotAvailable:
        return None
    return kept


def held_mask(key: str) -> Mask | None:
    """The painted mask of a link, likewise."""
    found = shared().painted.get(key, owner=_owner())
    kept = None if found else shared().day.get(key)
    if kept is None:
        return found
    size, _, counts = kept.partition(b"\n")
    if sha256(counts).hexdigest()[:32] != key:
        return None
    height, width = map(int, size.split())
    mask = Mask(height, width, counts)
    try:
        keep_mask(mask, day=False)
    except NotAvailable:
        return None
    return mask


def keep_mask(mask: Mask, *, day: bool) -> str:
    """Hold a painted mask, on the disk too for a day; returns its name in the link. Raises NotAvailable where it does
    not fit beside what others use."""
    key = sha256(mask.counts).hexdigest()[:32]
    shared().painted.put(key, mask, name="a painted mask", size=len(mask.counts), owner=_owner())
    if day:
        shared().day.put(key, f"{mask.height} {mask.width}\n".encode() + mask.counts)
    return key


def proposed(upload: Upload) -> tuple[Proposed, ...]:
    """Names for what a picture shows, the likeliest first, as an evaluator sees it."""
    return shared().proposed.get_or(upload.key, lambda: propose(upload.pixels(), pool=shared_pool()))


def warm(names: Sequence[str]) -> None:
    """Load evaluators in the background, each once a server, while the reader still chooses what they will score."""
    held = shared().warmed
    if new := [name for name in names if name not in held]:
        held.update(new)
        Thread(target=_load, args=(new,), name="warm", daemon=True).start()


def _load(names: Sequence[str]) -> None:
    for name in names:
        try:
            with shared_pool().lease(name) as loaded:
                key = loaded.fingerprint.key
        except InvariscopeError:  # told where it is asked to score
            continue
        open_runs.noise_band(open_runs.present(), key)  # reads the run that its band is of


def offered_probes() -> dict[str, Probe]:
    """Probes that a reader chooses from, axis by axis. The null probes are always scored and stay out. A word stands
    once: the caption that is chosen says whether it is put into the template or into that caption."""
    order = list(Axis)
    chosen = sorted(probes.catalogue(), key=lambda probe: order.index(probe.axis))
    return {
        probe.name: probe
        for probe in chosen
        if probe.axis is not Axis.NULL and probe.construction is not Construction.INSERTED
    }


@st.cache_data(show_spinner=False, ttl=60)
def availabilities() -> dict[str, Availability]:
    """Whether each registered evaluator can be loaded here."""
    return {found.spec.name: found.availability() for found in registry.catalogue()}


def ready_evaluators() -> tuple[str, ...]:
    """Evaluators that can be loaded here."""
    return tuple(name for name, available in availabilities().items() if available.ready)


def linked_evaluators() -> tuple[str, ...]:
    """Evaluators that a link may name: those, and an operator's own whose files are as they were audited."""
    able, told = own_ready(), own_metrics()  # a digest is known of files unchanged since the operator's audit
    return (*ready_evaluators(), *(name for name in able if told[name].sha256 is not None))


def default_evaluators() -> list[str]:
    """The evaluators of English that come with the installation; the multilingual one, and one that joins others, are
    chosen where they are needed."""
    known = [registry.catalogue().get(name) for name in ready_evaluators()]
    alone = [kind.spec for kind in known if not issubclass(kind, Joined)]
    return [spec.name for spec in alone if spec.offline and spec.family != BLIND and spec.languages == (ENGLISH,)]


def lab_state() -> PageState:
    """Return the Probe lab's fields, with the defaults of this machine."""
    offered = offered_probes()
    usual = [name for name in offered if name in DEFAULT_PROBES]
    corpus = DEMO if open_runs.ships(DEMO) else next(iter(open_runs.corpus_names()), None)
    first = next(iter(open_runs.item_ids(corpus)), None) if corpus else None
    categories = (*CATEGORIES, *EXTRA_CATEGORIES)
    fields = (
        Field("source", "corpus", one_of(lambda: SOURCES, "corpus", what="source of pictures")),
        Field("corpus", corpus, one_of(open_runs.corpus_names, corpus, what="corpus")),
        Field("item", first, _read_item),
        Field("upload", "", _held(held_upload, "picture", "upload")),
        Field("label", "", text(limit=80)),
        Field("category", None, one_of(lambda: categories, None, what="category")),
        Field("subject", "template", one_of(lambda: tuple(SUBJECTS), "template", what="kind of caption")),
        Field("adjective", None, text(limit=80)),
        Field("human", None, text(limit=40)),
        Field("caption", "", text(limit=CAPTION_LIMIT)),
        Field("box", "", text(limit=80)),
        Field("mask", "", _held(held_mask, "painted mask", "paint")),
        Field("probes", usual, _read_probes, joined),
        Field("evaluators", default_evaluators(), some_of(linked_evaluators, what="ready evaluator"), joined),
        Field("variant", None, text(limit=120)),
        switch_field("present"),
        switch_field("give"),
        Field("looker", None, text(limit=120)),
    )
    return PageState("lab", fields)


def _read_item(raw: str) -> tuple[str | None, str]:
    corpus = st.session_state.get("lab.corpus")
    if corpus and raw in open_runs.item_ids(corpus):
        return raw, ""
    return None, f"There is no item {raw[:80]!r} in corpus {corpus}; its first one is shown instead."


def _read_probes(raw: str) -> tuple[list[str], str]:
    """A link from a run may name the word in a human caption."""
    return some_of(lambda: tuple(offered_probes()), what="probe")(
        joined([in_template(name) for name in raw.split(",")])
    )


def _held(find: Callable[[str], object], what: str, again: str) -> Read:
    """Read the name of what a reader brought, as long as it is here."""

    def read(raw: str) -> tuple[str, str]:
        if find(raw) is not None:
            return raw, ""
        return "", f"The {what} of this link is gone: the server keeps one for a day; {again} it again."

    return read


def item_and_edit(corpus: str, item_id: str, probe: Probe | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Pixels of an item's picture, and what a probe makes of it; None without one, or where it leaves the picture.
    Raises InvariscopeError if the picture is not here or cannot be read."""
    item = open_runs.load_corpus(corpus).get(item_id)
    bench = shared().bench((corpus, item.id, item.label, item.category, None), item, lambda: read_item(item).pixels)
    made = bench.make(probe) if probe else None
    return bench.pixels, None if made is None or isinstance(made, ProbeRejected) else made.pixels


Stamps = tuple[tuple[str, str], ...]  # evaluators by path: name and digest of the file of each


def own_metrics() -> dict[str, OwnMetric]:
    """Those of this data folder's runs and checks by name, for an operator; each says whether it can still be asked. A
    name that a run stored scores under is the run's."""
    if not may_operate():
        return {}
    files, checks = open_runs.present(), checks_dir()
    changed = checks.stat().st_mtime_ns if checks.is_dir() else 0
    return {**_checked(str(checks), changed), **(_told(files) if files else {})}


@st.cache_data(max_entries=4, show_spinner=False)
def _checked(folder: str, changed: int) -> dict[str, OwnMetric]:  # noqa: ARG001  # the cache's key
    found = stored.checked_metrics(Path(folder))
    return {name: each for name, each in found.items() if name not in registry.catalogue()}


@st.cache_data(hash_funcs=open_runs.KEYED, max_entries=4, show_spinner=False)
def _told(files: open_runs.Signature) -> dict[str, OwnMetric]:
    folders = (run for run in open_runs.store(files).runs() if run.path.is_dir())  # a published file is from elsewhere
    found = stored.own_metrics(folders)
    return {name: each for name, each in found.items() if name not in registry.catalogue()}


def own_ready() -> tuple[str, ...]:
    """Names of those that can be asked; from now on this server finds them by these."""
    able = {name: each for name, each in own_metrics().items() if not each.problem}
    for name, each in able.items():
        registry.know(name, each.reference)
    return tuple(able)


def problems() -> dict[str, str]:
    """Name -> why it cannot be asked any more, for an operator."""
    return {name: said for name, each in own_metrics().items() if (said := each.problem)}


def stamps(names: Sequence[str]) -> Stamps:
    """(name, digest of its file) of those among some evaluators: what is kept of their scores is of these files."""
    told = own_metrics()
    return tuple((name, stored.code_sha256(told[name].path)) for name in names if name in told)


def barred_encoders() -> dict[str, str]:
    """Name -> why its text encoder cannot be asked, in words about the file; for whoever looks."""
    files = open_runs.present()
    told = _told(files) if files else {}
    return {name: said for name, each in told.items() if (said := _barred(each))}


def _barred(metric: OwnMetric) -> str:
    if metric.text_encoder is False:
        return "it was given by path and has no text encoder: it scores a pair at once"
    if not may_operate():
        return "it was given by path, and only the operator has its file asked"
    return metric.problem

"""What an operator brings to an audit: photographs as a corpus, and evaluators to be fetched."""

from datetime import UTC, datetime
from pathlib import Path

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.charts.canvas import jpeg
from core.corpora.brought import Given, KeptSet, keep_pictures, kept_sets, pictures_dir, remove_set
from core.corpora.images import decode_stranger
from core.corpora.schema import Corpus
from core.errors import InvariscopeError, NotAvailable
from core.evaluators.registry import find
from core.evaluators.weights.catalogue import Weights
from core.evaluators.weights.fetched import FETCHED, Published, places
from core.jobs import job_queue
from core.jobs.command_jobs import GetRequest
from core.jobs.job_queue import Job
from core.settings import brought_mb
from pages.views.common.access import may_operate, operators_only
from pages.views.common.layers import Answer, answered, button, tell_answer
from pages.views.common.server_door import OPERATOR_MB
from pages.views.common.text import counted, safe, thousands
from pages.views.common.url_state import PageState
from pages.views.probe_lab.lab_state import availabilities

SHOWN = 6  # items that are previewed
MOST_MB = 64  # of one file: what the server's own endpoint takes (``server.maxUploadSize``)
_SIDE = 220
_DONE, _SAID, _REMOVED = "run.bring.done", "run.bring.said", "run.bring.removed"
_PICTURES = ["zip", "jpg", "jpeg", "png", "webp", "gif", "tif", "tiff", "bmp", "csv", "json", "jsonl"]


def bring_pictures(state: PageState) -> None:
    """Draw the way in for photographs; what was brought becomes the corpus. Drawn before the corpus is chosen."""
    with st.expander("Bring photographs", icon=":material/add_photo_alternate:"):
        given = st.file_uploader(
            "A zip, or pictures with captions.csv",
            type=_PICTURES,
            accept_multiple_files=True,
            key="run.pictures",
            max_upload_size=MOST_MB,
        )
        most = brought_mb()
        held = f"{most / 1024:g} GB" if most >= 1024 else f"{most:g} MB"
        st.caption(
            "captions.csv has the columns image and caption and, where you have them, language, label, category, x, y, "
            f"width, height (the object's box in px). A file has {MOST_MB} MB at most: bring a larger set as pictures, "
            f"{OPERATOR_MB:,} MB together, instead of as one zip. They are kept in this server's data folder, at most "
            f"{held} of all sets, until you remove them."
        )
        marks = tuple(each.file_id for each in given)
        if given and st.session_state.get(_DONE) != marks:
            st.session_state[_DONE] = marks
            st.session_state[_SAID] = _keep(state, given)
        tell_answer(st.session_state.get(_SAID) if given else None)
        if told := st.session_state.pop(_REMOVED, ""):
            st.caption(safe(told, limit=400))
        home = pictures_dir()
        known = {each.folder.name: each for each in _sets(str(home), home.stat().st_mtime_ns if home.is_dir() else 0)}
        if not known:
            return
        name = st.selectbox("Sets that are here", known, key="run.sets", format_func=lambda each: _named(known[each]))
        with st.container(horizontal=True, gap="small"):
            button("Use it", "photo_library", "run.sets.use", _use, state, known[name].folder)
            with st.popover("Remove", icon=":material/delete:", type="tertiary"):
                st.caption(
                    f"Removes {counted(known[name].pictures, 'picture')} for good. Runs of them keep their scores "
                    "and can show their pictures no more."
                )
                st.button("Remove now", key="run.sets.remove", on_click=_remove, args=(state, known[name].folder))


@st.cache_data(max_entries=4, show_spinner=False)
def _sets(home: str, changed: int) -> list[KeptSet]:  # noqa: ARG001  # the cache's key: a set itself never changes
    return kept_sets()


def _named(kept: KeptSet) -> str:
    day = datetime.fromtimestamp(kept.since, UTC).date().isoformat()
    return f"{corpus_of(kept.folder)} · {counted(kept.pictures, 'picture')} · {kept.size / 2**20:,.1f} MB · {day}"


def corpus_of(folder: Path) -> str:
    """What the corpus of a set is called; two sets are two corpora."""
    return f"photos-{folder.name[:8]}"


@operators_only
def _use(state: PageState, folder: Path) -> None:
    state.put("corpus", "folder")
    state.put("root", str(folder.absolute()))
    state.put("options", f"name={corpus_of(folder)}")


@operators_only
def _remove(state: PageState, folder: Path) -> None:
    try:
        reading = [
            job.id
            for job in job_queue.list_jobs()[0]
            if job.status in job_queue.ACTIVE and getattr(job.request, "root", None) == str(folder.absolute())
        ]
        if reading:
            raise NotAvailable(f"{', '.join(reading)} reads these pictures; wait for its end or cancel it first")
        remove_set(folder.name)
    except InvariscopeError as error:
        st.session_state[_REMOVED] = str(error)
        return
    if state.get("root") == str(folder.absolute()):
        state.take_back("corpus", "root", "options")
    st.session_state[_REMOVED] = f"{corpus_of(folder)} is removed."


def _keep(state: PageState, given: list[UploadedFile]) -> Answer:
    try:
        with st.spinner("Unpacking …"):
            found = keep_pictures([Given(each.name, each, each.size) for each in given])
    except InvariscopeError as error:
        return "error", str(error)
    _use(state, found.folder)
    names = ", ".join(found.left_out[:3]) + (" …" if len(found.left_out) > 3 else "")
    rest = f" Neither pictures nor captions: {names}." if found.left_out else ""
    return "success", f"{counted(found.pictures, 'picture')} in {found.folder.name}.{rest}"


def draw_preview(corpus: Corpus) -> None:
    """Draw the first items of a corpus with their captions, before anything is started."""
    items = [item for item in corpus.items if item.image_path is not None and not item.frames][:SHOWN]
    if not items:
        return
    cells = st.grid(3, min_column_width=120, gap="small")
    for item in items:
        assert item.image_path is not None
        with cells.container(gap="xxsmall"):
            try:
                picture = _picture(str(item.image_path), item.image_path.stat().st_mtime_ns)
            except (InvariscopeError, OSError) as error:
                st.caption(f":material/broken_image: {safe(str(error), limit=200)}")
                continue
            st.image(picture, width="stretch", alt=item.label or item.id)
            captions = [text for texts in item.captions.values() for text in texts]
            st.caption(safe(captions[0], limit=160) if captions else f"{safe(item.id, limit=80)}: no caption")
    st.caption("An audit opens the other pictures; one that cannot be read is left out there, with its reason.")
    if all(not item.captions for item in items):
        st.caption("None of these has a caption; without one, *Corpus caption* has nothing to hold.")


@st.cache_data(max_entries=48, show_spinner=False)
def _picture(path: str, changed: int) -> bytes:  # noqa: ARG001  # the cache's key
    data = Path(path).read_bytes()
    return jpeg(decode_stranger(data, name=Path(path).name, max_side=_SIDE).pixels)


GET_SAID = "run.get.said"  # session key of how the last button was answered


def draw_get(name: str) -> None:
    """Draw what an evaluator would bring, and the button that fetches it; nothing where only a person can."""
    kind = find(name)
    if not may_operate() or not issubclass(kind, Published):
        return
    missing = [place.weights for place in places(kind.entry) if place.missing]
    if not missing or not all(each.kind in FETCHED for each in missing):
        return
    st.caption("  \n".join(map(_weights, missing)))
    st.caption(
        f"{thousands(kind.entry.parameters)} parameters, about {kind.entry.memory_mb('cpu'):,.0f} MB in memory on a "
        f"CPU. {kind.entry.size}"
    )
    active = _being_fetched(name)
    button(
        "Being fetched" if active else f"Get {name}",
        "download",
        f"run.get.{name}",
        _get,
        name,
        disabled=active is not None,
        help="A job fetches the files, holds them to the published hash where there is one, and scores the publisher's "
        "example. One that is stopped goes on where it was.",
    )


def draw_got(job: Job) -> None:
    """Draw a job that fetched an evaluator; from now on it can be chosen."""
    assert isinstance(job.request, GetRequest)
    if not st.session_state.get(f"run.got.{job.id}"):
        st.session_state[f"run.got.{job.id}"] = True
        availabilities.clear()
    ready = availabilities().get(job.request.name)
    if ready is not None and ready.ready:
        st.caption(f"{safe(job.request.name)} is here and can be chosen.")
    elif ready is not None:
        st.caption(f"{safe(job.request.name)} has its weights, but cannot score yet: {safe(ready.reason, limit=300)}.")


def _weights(known: Weights) -> str:
    said = f"{safe(known.title)} · licence {safe(known.licence)} · {safe(known.where, limit=300)}"
    return f"{said}  \n{safe(known.note, limit=300)}" if known.note else said


def _being_fetched(name: str) -> Job | None:
    return next(
        (
            job
            for job in job_queue.list_jobs()[0]
            if job.status in job_queue.ACTIVE and isinstance(job.request, GetRequest) and job.request.name == name
        ),
        None,
    )


@operators_only
def _get(name: str) -> None:
    if _being_fetched(name) is None:
        start = job_queue.start
        answered(lambda: f"{start(GetRequest.of(name=name)).id} was put in line, among the jobs.", GET_SAID)

"""Runs: the audits on this machine, each with what it tests and the ways to what it says; published files."""

from contextlib import suppress

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analysis.both_demands import in_brief
from core.analysis.reading import read_table
from core.analysis.scope import Scope
from core.errors import InvariscopeError
from core.store.publishing import accept_published
from core.store.run_files import Run
from pages.views.common.access import AUDIT, operates, operators_only
from pages.views.common.layers import answered, button, tell_answer
from pages.views.common.links import FAILURES, OVERVIEW, RESULTS, RUNS, draw_no_run, is_open, link_to
from pages.views.common.open_runs import Signature, evaluator_names, narrowed, opens_on, present, run_table, store
from pages.views.common.page_drawings import NUMBER, TEXT, draw_table
from pages.views.common.page_head import header
from pages.views.common.text import counted, safe, thousands
from pages.views.common.url_state import PageState, carried, turn_to
from pages.views.contrast_tests.contrast_state import USUAL

UPLOAD = "runs.upload"
_TOLD = "runs.told"
_MOST = 12  # runs that have a row; the table has all
_SMALL = 100_000  # scored pairs up to which a run is read for what its row says of it
_NEW = (AUDIT, lambda _: False)  # where a new run is begun, with no field of this view

_WAYS: tuple[tuple[str, str, str, dict[str, str]], ...] = (
    (FAILURES, "Pictures", ":material/photo_library:", {}),
    (OVERVIEW, "Card and report", ":material/description:", {"card": "yes"}),
)

_SEAL_HELP = (
    "Since when a change of any file would be seen: since the run's close, or since it was sealed later. An unverified "
    "run is one of an older Invariscope, without a seal; `python -m core verify` reads every byte."
)


def draw() -> None:
    """Draw the view."""
    files = present()
    opened = store(files)
    runs = opened.runs()
    state = PageState("runs", ())
    state.restore()
    header("The audits on this machine; a name opens its findings.", state, words=("run",))
    if opened.problems:
        with st.expander(f"{len(opened.problems)} left out", icon=":material/warning:", expanded=True):
            for sentence in opened.problems:
                st.markdown(f"- {safe(sentence, limit=600)}")
    rooms: dict[str, Room] = {}
    if runs:
        warn_incomplete(runs)
        if is_open(AUDIT):
            button("Audit your metric", "play_circle", "runs.new", turn_to, *_NEW, type="primary")
        st.caption(
            "The default run of Findings first, then the newest.",
            help="Each has its own pictures and edits, so a metric may come out otherwise in another; an edit that "
            "fits no picture has no score. Typically: on the median picture. SD: standard deviation of a metric's "
            "unedited scores.",
        )
        rooms = _rows(runs, files)
        with st.expander("Every run with its counts", icon=":material/table:"):
            table = run_table(runs)
            tiles = st.grid(4, min_column_width=120)
            tiles.metric("Runs", len(runs), border=True)
            tiles.metric("Pictures", thousands(int(table["items"].fillna(0).sum())), border=True)
            tiles.metric("Metrics", len(evaluator_names(runs)), border=True)
            tiles.metric("Scored pairs", thousands(int(table["pairs"].fillna(0).sum())), border=True)
            columns = {
                "run": "Run",
                "tests": "Tests",
                "status": "Status",
                "seal": TEXT("Seal", help=_SEAL_HELP),
                "corpus": "Corpus",
                "items": "Pictures",
                "left_out": "Left out",
                "evaluators": "Metrics",
                "probes": "Edits",
                "pairs": "Pairs",
                "unscored": NUMBER("Unscored", help="Scores that a metric could not give"),
                "created": "Started",
            }
            order = (
                *("run", "corpus", "items", "left_out", "probes", "pairs", "unscored"),
                *("status", "seal", "created", "evaluators", "tests"),
            )
            draw_table(table, alt="Runs that are loaded", column_config=columns, column_order=order)
    else:
        draw_no_run(here=RUNS)
    _upload(runs)
    state.publish()
    for run in (each for each in runs if each.id in rooms):  # last: a run that nobody looked at yet takes seconds
        place, tests = rooms[run.id]
        place.caption(f"**{_outcome(files, run)}**  \n{tests}")


Room = tuple[DeltaGenerator, str]  # where a row says how its run came out, and what it tests


def _outcome(files: Signature, run: Run) -> str:
    if run.status != "complete":
        return f"No result yet: the run is {safe(run.status)}"
    pairs = int(run.manifest["counts"].get("pairs") or 0)
    if not pairs:
        return "No result: how many pairs were scored is not known"
    if pairs > _SMALL:
        return "Too large to be read for this list"
    return _brief(files, run.id, str(run.manifest.get("content_sha256", "")))


@st.cache_data(max_entries=256, show_spinner=False)
def _brief(_files: Signature, run: str, content: str) -> str:  # noqa: ARG001  # the cache's key
    try:
        brief = in_brief(read_table(store(_files), Scope(runs=(run,), directional=True)).view())
    except InvariscopeError as error:
        return f"No result: {safe(str(error), limit=120)}"
    return safe(brief, limit=200) or "No single number; Findings has its edits one by one"


def _rows(runs: tuple[Run, ...], files: Signature) -> dict[str, Room]:
    latest = run_table(runs).sort_values("created", ascending=False, kind="stable")
    used, rooms = _in_use(files), {}
    first = next(iter(used), "")
    bare = {run.id for run in runs if not run.has_scores}
    latest = pd.concat([latest[latest["run"] == first], latest[latest["run"] != first]])
    with st.container(gap=None):
        for place, row in enumerate(latest.head(_MOST).to_dict("records")):
            run = {"run": str(row["run"])}
            with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"run_row_{place}"):
                if row["run"] in bare:  # its findings would be those of another run
                    st.markdown(f"**{safe(row['run'])}**: nothing is scored yet")
                else:
                    link_to(RESULTS, f"**{safe(row['run'])}**", icon=":material/bar_chart:", query_params=run)
                with st.container(key=f"run_tests_{place}"):
                    room, tests = st.empty(), safe(row["tests"], limit=200)
                    room.caption(f"…  \n{tests}")
                    rooms[str(row["run"])] = room, tests
                evaluators = str(row["evaluators"]).split(", ")
                with st.container(key=f"run_facts_{place}", width="content"):
                    items = "—" if pd.isna(row["items"]) else counted(int(row["items"]), "picture")
                    mark = f"  \n:green-badge[{used[row['run']]}]" if row["run"] in used else ""
                    metrics = counted(len(evaluators), "metric")
                    st.caption(f"{items} · {metrics} · {safe(str(row['created'])[:10])}{mark}")
                if row["run"] in bare:
                    continue
                with st.popover("", icon=":material/more_vert:", type="tertiary", help="What else it has"):
                    for view, label, icon, opens in _WAYS:
                        link_to(view, label, icon=icon, query_params=run | opens)
                    st.caption(f"{safe(row['evaluators'], limit=200)}; {safe(row['corpus'])}; {safe(row['created'])}")
    return rooms


def _in_use(files: Signature) -> dict[str, str]:
    """The runs that the reader chose, else those that some page opens on by itself; the most usual one first."""
    if chosen := carried().get("run", ""):
        return dict.fromkeys(chosen.split(","), "Chosen")
    found: dict[str, list[str]] = {}
    for page, scope in (
        ("Findings, Calibrate", Scope()),
        ("Start", opens_on(files)),
        ("Does it notice?", USUAL),
    ):
        with suppress(InvariscopeError):
            found.setdefault(narrowed(files, scope).only().run, []).append(page)
    return {run: f"Default: {', '.join(pages)}" for run, pages in found.items()}


def warn_incomplete(runs: tuple[Run, ...]) -> None:
    """Say which runs are not complete."""
    table = run_table(runs)
    for _, row in table[table["status"] != "complete"].iterrows():
        st.warning(
            f"Run {safe(row['run'])} is {safe(row['status'])}: its numbers are not all there. *New run* resumes what "
            "was started there, below its choices; any other is resumed by the same `python -m core audit` command.",
            icon=":material/hourglass_bottom:",
        )


def _upload(runs: tuple[Run, ...]) -> None:
    with st.expander("Open a published file", icon=":material/upload_file:"):
        st.caption(
            "A file that `python -m core publish` wrote, up to 64 MB. It is checked, opened read-only and kept among "
            "your runs. A larger one, or a run's folder, appears by itself once it lies in `data/runs`."
        )
        if not operates():
            return
        st.file_uploader(
            "Published file",
            type=["duckdb"],
            key=UPLOAD,
            on_change=_take,
            args=(tuple(run.id for run in runs),),
            label_visibility="collapsed",
            max_upload_size=64,
        )
    tell_answer(st.session_state.pop(_TOLD, None))


@operators_only
def _take(known: tuple[str, ...]) -> None:
    file = st.session_state.get(UPLOAD)
    if file is None:
        return

    def accept() -> str:
        taken = accept_published(file.getvalue(), file.name, known=known)
        new = [run.id for run in taken if run.id not in known]
        return f"{counted(len(new), 'run')} opened: {', '.join(new)}"

    answered(accept, _TOLD)

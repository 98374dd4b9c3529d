"""A suite held to evaluators of this machine as a job: its link, its files, the start, an example."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from core.corpora.demo import demo_dir, pictures_of
from core.corpora.suites import Suite, read_suites
from core.errors import InvalidInput, InvariscopeError
from core.features.suites.suite_result import SuiteResult, stored
from core.features.suites.suite_tables import MEASURES
from core.file_contents import Stamps
from core.jobs import job_queue
from core.jobs.command_jobs import SuiteRequest
from core.jobs.request import check_file, check_folder
from core.scoring.reference_metrics import ready_words
from core.scoring.suite_scores import places_of
from core.settings import ROOT, data_dir
from core.store.run_files import list_runs
from pages.views.common.access import operates, operators_only
from pages.views.common.layers import tell_refused, tried
from pages.views.common.text import safe
from pages.views.common.url_state import Field, PageState, joined, one_of, paths_of_link, some_of, switch_field, typed
from pages.views.probe_lab.lab_state import default_evaluators, ready_evaluators
from pages.views.run_audit.audit_jobs import watch_jobs

SUITES = "suites"


@st.cache_data(max_entries=2, show_spinner="Reading the results …")
def held(files: Stamps) -> tuple[tuple[SuiteResult, ...], tuple[str, ...]]:
    """Every stored result, and a sentence for each file that is none."""
    return stored(files)


def suites_state(files: Stamps) -> PageState:
    """Fields of the page over these results."""
    ids = tuple(each.id for each in held(files)[0])
    return PageState(
        "suites",
        (
            Field("suite", None, one_of(lambda: ids, None, what="result of a suite")),
            Field("measure", None, one_of(lambda: tuple(MEASURES), None, what="measure")),
            Field("file", "", paths_of_link(limit=1000)),
            Field("folder", "", paths_of_link(limit=1000)),
            Field("judges", default_evaluators()[:1], some_of(judges, what="ready evaluator"), joined),
            switch_field("selves"),
            Field("shifts", None, one_of(lambda: tuple(each.id for each in list_runs()), None, what="run")),
        ),
    )


def judges() -> tuple[str, ...]:
    """What can be held to a suite here: evaluators that are ready, and metrics that read references alone."""
    ready = ready_evaluators()
    return (*ready, *(name for name in ready_words() if name not in ready))


def choose(state: PageState, results: Sequence[SuiteResult]) -> SuiteResult:
    """Draw the choice of a suite; return its result."""
    told = {each.id: each.told for each in results}
    chosen = state.choose(
        st.container(),
        "suite",
        "Suite",
        tuple(told),
        format_func=told.__getitem__,
        help="Judgements of people, read from these files in this way; each result is a file in the data folder.",
    )
    return next(each for each in results if each.id == chosen)


FILE = ROOT / "assets" / "examples" / "demo-foils.json"  # made by ``tools/example_suite.py``
NAME = "Demo foils"  # what its suite is called

SAID = (
    "Example: each wrong caption names what its picture does not show. Nobody was asked, so this is no agreement with "
    "people."
)


def example_request() -> SuiteRequest | None:
    """The job of the example; None where no usual evaluator is ready here, or the demo corpus is gone."""
    try:
        pictures = pictures_of(demo_dir()) / "images"
    except InvariscopeError:
        return None
    names = tuple(default_evaluators())
    if not names or not pictures.is_dir() or not FILE.is_file():
        return None
    return SuiteRequest.of(files=(str(FILE),), images=(str(pictures.absolute()),), evaluators=names)


_SAID = "suites.said"


def draw_start(state: PageState) -> None:
    """Draw the choices and the button; below, the jobs of suites that this server knows."""
    with st.expander(
        "Run metrics on a suite or your own ratings",
        icon=":material/play_arrow:",
        expanded=bool(state.get("file") or state.get("folder")),
    ):
        st.caption(
            "Files that are read: Flickr8k-Expert and -CF, Pascal-50S, Composite, FOIL, CapArena, M-CapEval1k; of "
            "videos, VATEX-EVAL and ActivityNet-FOIL; your own table (image, caption, rating; or text, left, right, "
            "preferred). The file and its pictures lie on the machine that this page runs on. The scoring is a job: it "
            "goes on when this page is closed."
        )
        if not operates():
            return
        request = _choices(state)
        st.button(
            "Start",
            type="primary",
            icon=":material/play_arrow:",
            key="suites.start",
            disabled=request is None,
            on_click=start,
            args=(request,),
        )
        if request is not None:
            st.caption("The same in a shell, in the folder of the checkout:")
            st.code(request.shell(), language="shell", wrap_lines=True)
    tell_refused(_SAID)
    watch_jobs(lambda: [job for job in job_queue.list_jobs()[0] if isinstance(job.request, SuiteRequest)])


def _choices(state: PageState) -> SuiteRequest | None:
    """Draw the choices; the job, or None where something is missing or wrong, which is said."""
    place = data_dir().absolute() / "suites-of-publishers"
    left, right = st.columns(2, gap="medium")
    left.text_input(
        "Files of the suite on the server",
        key=state.key("file"),
        max_chars=1000,
        placeholder=f"e.g. {place}/flickr8k.json",
        help="An absolute path; several of one suite, as Composite's, separated by commas.",
    )
    right.text_input(
        "Folder of its pictures on the server",
        key=state.key("folder"),
        max_chars=1000,
        placeholder=f"e.g. {place}/images",
        help="An absolute path; several separated by commas.",
    )
    left.multiselect(
        "Metrics",
        judges(),
        key=state.key("judges"),
        placeholder="Choose at least one",
        help="bleu-4, rouge-l and cider-d read no picture: they compare a caption with the suite's "
        "references by their words.",
    )
    right.toggle(
        "Keep self-references",
        key=state.key("selves"),
        help="Ratings of Flickr8k whose caption is an own reference; the field drops them.",
    )
    for name in ("file", "folder"):
        typed(state.get(name))
    files, folders = (_paths(state.get(name)) for name in ("file", "folder"))
    for given, what in (
        (files, "Give the publisher's file."),
        (folders, "Give the folder of its pictures."),
        (state.get("judges"), "Choose a metric."),
    ):
        if not given:
            st.info(what)
            return None
    try:
        return _asked(state, files, folders, tuple(state.get("judges")))
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600))
        return None


def _paths(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _asked(state: PageState, files: list[str], folders: list[str], names: tuple[str, ...]) -> SuiteRequest:
    selves = state.get("selves")
    paths = [check_file(each) for each in files]
    homes = [check_folder(each) for each in folders]
    suite = _suite(tuple(map(_stamp, paths)), tuple(map(_stamp, homes)), selves)
    if not suite.rated and not suite.compared:
        raise InvalidInput(f"{paths[0].name} holds no usable judgement; {suite.left_out} entries were left out")
    return SuiteRequest.of(
        files=tuple(map(str, paths)),
        images=tuple(map(str, homes)),
        evaluators=names,
        keep_self_references=selves,
        run=_run(state, suite, names),
    )


def _stamp(path: Path) -> tuple[str, int, int]:
    """What tells one state of a file or folder from another."""
    told = path.stat()
    return str(path), told.st_mtime_ns, told.st_size


def _run(state: PageState, suite: Suite, names: tuple[str, ...]) -> str | None:
    """Let the reader choose the run whose edits turn comparisons; None: none, or the suite has none to turn."""
    scored = {run.id: {each.get("name") for each in run.manifest.get("evaluators") or []} for run in list_runs()}
    known = [run for run, by in scored.items() if by & {*names}]
    if not suite.by_text or not suite.compared or not known:
        return None
    chosen = state.choose(
        st.container(),
        "shifts",
        "Run that says how easily a comparison turns",
        ("", *known),
        format_func=lambda run: run or "None",
        help="An audit of these metrics: how far edits that should not matter move their scores.",
    )
    return chosen or None


@st.cache_resource(max_entries=2, show_spinner="Reading the suite …")
def _suite(files: tuple[tuple[str, int, int], ...], folders: tuple[tuple[str, int, int], ...], selves: bool) -> Suite:
    """The suite, some picture of which lies in the folders."""
    suite = read_suites([Path(path) for path, *_ in files], keep_self_references=selves)
    places_of(suite, [Path(path) for path, *_ in folders])
    return suite


@operators_only
def start(request: SuiteRequest) -> None:
    """Put the job in line; a callback."""
    tried(lambda: job_queue.start(request), _SAID)

"""Suites: how far evaluators agree with people, why a number is what it is, and the job that reaches it."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.questions.question import Column
from core.corpora.demo import demo_dir, pictures_of
from core.corpora.suites.model import Suite
from core.corpora.suites.suite_files import read_suites
from core.corpora.suites.video_ratings import VIDEOS
from core.errors import InvalidInput, InvariscopeError
from core.features.human.people_figures import agreement
from core.features.suites import suite_tables as tables
from core.features.suites.suite_result import SuiteResult, changed, stored
from core.features.suites.suite_tables import MEASURES
from core.file_contents import Stamps, stamps
from core.jobs import job_queue
from core.jobs.command_jobs import SuiteRequest
from core.jobs.request import check_file, check_folder
from core.scoring.reference_metrics import ready_words
from core.scoring.suite_scores import places_of
from core.settings import ROOT, data_dir
from core.store.run_files import list_runs
from pages.views.common.access import may_operate, operates, operators_only
from pages.views.common.collect import Origin, data_buttons, figure_buttons, figures_of, file_button
from pages.views.common.layers import button, tell_refused, tried
from pages.views.common.page_drawings import NUMBER, TEXT, draw_figure, draw_table
from pages.views.common.page_head import drawn, header
from pages.views.common.shown_answers import interval
from pages.views.common.text import counted, safe
from pages.views.common.url_state import Field, PageState, joined, one_of, paths_of_link, some_of, switch_field, typed
from pages.views.probe_lab.lab_state import default_evaluators, ready_evaluators
from pages.views.run_audit.audit_jobs import watch_jobs
from pages.views.run_audit.own_metric import split


@st.cache_data(max_entries=2, show_spinner="Reading the results …")
def held(files: Stamps) -> tuple[tuple[SuiteResult, ...], tuple[str, ...]]:
    """Every stored result, and a sentence for each file that is none."""
    return stored(files)


def _suites_state(files: Stamps) -> PageState:
    ids = tuple(each.id for each in held(files)[0])
    fields = (
        Field("suite", None, one_of(lambda: ids, None, what="result of a suite")),
        Field("measure", None, one_of(lambda: tuple(MEASURES), None, what="measure")),
        Field("file", "", paths_of_link(limit=1000)),
        Field("folder", "", paths_of_link(limit=1000)),
        Field("judges", default_evaluators()[:1], some_of(judges, what="ready evaluator"), joined),
        switch_field("selves"),
        Field("shifts", None, one_of(lambda: tuple(each.id for each in list_runs()), None, what="run")),
    )
    return PageState("suites", fields)


def judges() -> tuple[str, ...]:
    """What can be held to a suite here: evaluators that are ready, and metrics that read references alone."""
    ready = ready_evaluators()
    return (*ready, *(name for name in ready_words() if name not in ready))


def choose(state: PageState, results: Sequence[SuiteResult]) -> SuiteResult:
    """Draw the choice of a suite; return its result."""
    told = {each.id: each.told for each in results}
    hint = "Judgements of people, read from these files in this way; each result is a file in the data folder."
    chosen = state.choose(st.container(), "suite", "Suite", tuple(told), format_func=told.__getitem__, help=hint)
    return next(each for each in results if each.id == chosen)


FILE = ROOT / "assets" / "examples" / "demo-foils.json"  # made by ``tools/example_suite.py``
NAME = "Demo foils"  # what its suite is called


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


def _draw_start(state: PageState) -> None:
    label, begun = "Run metrics on a suite or your own ratings", bool(state.get("file") or state.get("folder"))
    with st.expander(label, icon=":material/play_arrow:", expanded=begun):
        st.caption(
            "Files that are read: Flickr8k-Expert and -CF, Pascal-50S, Composite, FOIL, CapArena, M-CapEval1k; of "
            "videos, VATEX-EVAL and ActivityNet-FOIL; your own table (image, caption, rating; or text, left, right, "
            "preferred). The file and its pictures lie on the machine that this page runs on. The scoring is a job: it "
            "goes on when this page is closed."
        )
        if not operates():
            return
        request = _choices(state)
        button("Start", "play_arrow", "suites.start", start, request, type="primary", disabled=request is None)
        if request is not None:
            st.caption("The same in a shell, in the folder of the checkout:")
            st.code(request.shell(), language="shell", wrap_lines=True)
    tell_refused(_SAID)
    watch_jobs(lambda: [job for job in job_queue.list_jobs()[0] if isinstance(job.request, SuiteRequest)])


def _choices(state: PageState) -> SuiteRequest | None:
    place = data_dir().absolute() / "suites-of-publishers"
    left, right = st.columns(2, gap="medium")
    placeholder = f"e.g. {place}/flickr8k.json"
    hint = "An absolute path; several of one suite, as Composite's, separated by commas."
    left.text_input(
        "Files of the suite on the server", key=state.key("file"), max_chars=1000, placeholder=placeholder, help=hint
    )
    right.text_input(
        "Folder of its pictures on the server",
        key=state.key("folder"),
        max_chars=1000,
        placeholder=f"e.g. {place}/images",
        help="An absolute path; several separated by commas.",
    )
    hint = (
        "bleu-4, rouge-l and cider-d read no picture: they compare a caption with the suite's "
        "references by their words."
    )
    left.multiselect("Metrics", judges(), key=state.key("judges"), placeholder="Choose at least one", help=hint)
    hint = "Ratings of Flickr8k whose caption is an own reference; the field drops them."
    right.toggle("Keep self-references", key=state.key("selves"), help=hint)
    for name in ("file", "folder"):
        typed(state.get(name))
    files, folders = (split(state.get(name)) for name in ("file", "folder"))
    for given, what in (
        (files, "Give the publisher's file."),
        (folders, "Give the folder of its pictures."),
        (state.get("judges"), "Choose a metric."),
    ):
        if not given:
            st.info(what)
            return None
    try:
        names = tuple(state.get("judges"))
        selves = state.get("selves")
        paths = [check_file(each) for each in files]
        homes = [check_folder(each) for each in folders]
        suite = _suite(stamps(paths), stamps(homes), selves)
        if not suite.rated and not suite.compared:
            raise InvalidInput(f"{paths[0].name} holds no usable judgement; {suite.left_out} entries were left out")
        run, given, images = _run(state, suite, names), tuple(map(str, paths)), tuple(map(str, homes))
        return SuiteRequest.of(files=given, images=images, evaluators=names, keep_self_references=selves, run=run)
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600))
        return None


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
def _suite(files: Stamps, folders: Stamps, selves: bool) -> Suite:
    suite = read_suites([Path(path) for path, *_ in files], keep_self_references=selves)
    places_of(suite, [Path(path) for path, *_ in folders])
    return suite


@operators_only
def start(request: SuiteRequest) -> None:
    """Put the job in line; a callback."""
    tried(lambda: job_queue.start(request), _SAID)


def draw() -> None:
    """Draw the view."""
    state = _suites_state(changed())
    state.restore()
    header("How well does each metric agree with people, or with what is known to be wrong?", state)
    above = st.container()
    _draw_start(state)
    results, problems = held(changed())
    with above:
        for problem in problems:
            st.warning(safe(problem, limit=400), icon=":material/broken_image:")
        with drawn(state):
            if results:
                result = choose(state, results)
                hashes = ", ".join(f"sha256 {each.sha256[:12]}" for each in result.sources)
                figures_of(Origin(state, (f"Suite {result.told} ({hashes}), Invariscope {result.invariscope}")))
                if result.suite == NAME:
                    st.info(
                        "Example: each wrong caption names what its picture does not show. Nobody was asked, so this "
                        "is no agreement with people.",
                        icon=":material/fact_check:",
                    )
                what = "video" if result.suite in VIDEOS else "image"
                st.caption(
                    f"{counted(result.judgements, 'judgement')} of {counted(result.images, what)}; "
                    f"{counted(len({each.evaluator for each in result.reached}), 'metric')}; its usual measure is "
                    f"{safe(tables.MEASURES[result.convention])}."
                )
                table = tables.reached_table([result])
                if table.empty:
                    st.info(
                        "No metric was held to this suite yet: run one of the commands at the end of the page.",
                        icon=":material/fact_check:",
                    )
                else:
                    _figure(state, result, table)
                    with st.expander("Every measure in numbers", icon=":material/table:"):
                        columns = tables.reached_columns([result])
                        _rows(table, columns, f"What metrics reach on {result.suite}", "suites.reached")
                        data_buttons(table, f"{result.id}-reached", key="suites.reached")
                        st.caption(tables.NOTE)
                    agreed = tables.agreement_table(result)
                    if not agreed.empty:
                        st.header("Captioners", anchor=False)
                        alt = "How far the orders of captioners agree"
                        _rows(agreed, tables.AGREEMENT_COLUMNS, alt, "suites.agreed")
                        ranks = tables.rank_table(result)
                        _rows(ranks, tables.RANK_COLUMNS, "Captioners by people and by metric", "suites.ranks")
                        data_buttons(ranks, f"{result.id}-captioners", key="suites.ranks")
                        st.caption(tables.RANK_NOTE)
                    _before_and_after(result)
                    _risks(result)
                _decisions(result)
            else:
                _draw_nothing()
    with st.expander("The same in a shell", icon=":material/terminal:"):
        for said, command in _COMMANDS:
            st.caption(said)
            st.code(command, language="shell", wrap_lines=True)
        st.caption("What they reach appears on this page.")


_COMMANDS = (
    (
        "Metrics of this machine, on the publisher's file and pictures:",
        "python -m core suite flickr8k.json images/ --evaluator conse-lite0,grounding-judge",
    ),
    (
        "A metric that runs elsewhere: the captions out, its scores in:",
        "python -m core suite flickr8k.json images/ --export-pairs given\n"
        "python -m core suite flickr8k.json --scores scores.csv --evaluator my-metric",
    ),
    (
        "Before and after a calibration:",
        "python -m core suite pascal_50s.json images/ --evaluator conse-lite0 --calibrator calibrator.json",
    ),
)


def _draw_nothing() -> None:
    st.markdown("No results yet. A suite is a file of captions that people rated or compared, or that are known wrong.")
    request = example_request() if may_operate() else None
    if request is not None:
        button("Try an example", "play_circle", "suites.example", partial(start, request), type="primary")
        st.caption("27 captions of the demo corpus, each beside one with a wrong object; no person judged them.")


_WIDTHS = {"done": 380, "group": 130, "of": 150, "measure": 240}
"""Widths in px of columns of text that would be cut otherwise."""


def _figure(state: PageState, result: SuiteResult, table: pd.DataFrame) -> None:
    there = [name for name in tables.MEASURES if name in table and table[name].notna().any()]
    first = [result.convention, *(name for name in there if name != result.convention)]
    measures = [name for name in first if name in there]
    if not measures:
        st.info("No metric has a number here: every score is missing, or they are all alike.", icon=":material/info:")
        return
    chosen = state.choose(
        st.container(width=420), "measure", "Measure", measures, format_func=tables.MEASURES.__getitem__
    )
    figure = agreement(table, measure=chosen, axis=tables.MEASURES[chosen])
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**{safe(tables.MEASURES[chosen])}**", width="content")
        title = f"{result.suite}: {tables.MEASURES[chosen]}"
        figure_buttons(figure, table, f"{result.id}-{chosen}", title=title, key="suites.figure")
    said = "; ".join(str(each).replace("\n", ": ") for each in figure.frame["hover"].head(12))
    draw_figure(figure, key="suites.agreement", alt=f"{tables.MEASURES[chosen]} on {result.suite}. {said}")
    notes = [each for each in table["note"].unique() if isinstance(each, str) and each]
    if notes:
        st.caption(safe(f"{'; '.join(notes)}.".capitalize()))


def _before_and_after(result: SuiteResult) -> None:
    both = tables.before_and_after([result])
    if not both["after"].notna().any():
        return
    st.header("Before and after calibration", anchor=False)
    _rows(both, tables.BEFORE_COLUMNS, "Preference accuracy before and after calibration", "suites.both")
    data_buttons(both, f"{result.id}-calibrated", key="suites.both")


def _risks(result: SuiteResult) -> None:
    risks = tables.risk_table(result)
    if risks.empty:
        st.caption("No flip risk: it needs two pictures of one text, and a run of the same metrics.")
        return
    st.header("How easily does a comparison turn?", anchor=False)
    _rows(risks, tables.RISK_COLUMNS, "Flip risk of the comparisons by family of edits", "suites.risks")
    data_buttons(risks, f"{result.id}-risks", key="suites.risks")
    st.caption(tables.RISK_NOTE)


def _decisions(result: SuiteResult) -> None:
    with st.expander("Why is mine different?", icon=":material/rule:"):
        decisions = tables.decision_table(result)
        alt = f"Every decision on the way to the numbers of {result.suite}"
        tall = 66  # px: a decision's sentence stands on three lines
        _rows(decisions, tables.DECISION_COLUMNS, alt, "suites.decisions", tall=tall)
        data_buttons(decisions, f"{result.id}-decisions", key="suites.decisions")
        st.caption(tables.DECISION_NOTE)
    with st.container(horizontal=True, vertical_alignment="center"):
        hashes = ", ".join(f"{each.name} (sha256 {each.sha256[:12]}…)" for each in result.sources)
        st.caption(safe(f"Files: {hashes}. Invariscope {result.invariscope}.", limit=1000))
        file_button(
            "Result as JSON", lambda: result.model_dump_json(indent=2).encode(), f"{result.id}.json", key="suites.json"
        )


def _rows(frame: pd.DataFrame, columns: Sequence[Column], alt: str, key: str, *, tall: int | None = None) -> None:
    shown, config = pd.DataFrame(index=frame.index), dict[str, Any]()
    for column in columns:
        if column.kind == "text":
            if frame[column.name].fillna("").astype(bool).any():
                shown[column.name] = frame[column.name]
                config[column.name] = TEXT(_head(column), width=_WIDTHS.get(column.name), pinned=column is columns[0])
            continue
        sign = "+" if column.signed else ""
        if not frame[column.name].notna().any():
            continue  # of another kind of suite
        # rounded, so that nothing reads as minus zero; the files keep every digit
        shown[column.name] = frame[column.name].astype(float).round(column.digits) + 0.0
        config[column.name] = NUMBER(_head(column), format=f"%{sign}.{column.digits}f")
        if column.low and frame[column.low].notna().any():
            shown[f"{column.name}_interval"], config[f"{column.name}_interval"] = interval(
                frame, column.low, column.high, column.digits, column.signed
            )
    draw_table(shown, alt=alt, key=f"{key}.rows", column_config=config, row_height=tall)


def _head(column: Column) -> str:
    """What heads a column of the report on a page: its interval has a column of its own."""
    return column.header.replace(" [95 % CI]", "").replace("Evaluator", "Metric").replace("evaluator", "metric")

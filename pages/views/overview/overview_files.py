"""What the first page takes in and hands out: published files, the fairness card to print, the whole report."""

import io
import tempfile
import zipfile
from functools import partial
from pathlib import Path

import streamlit as st

from core.analysis import system_file as leaderboards
from core.analysis.scope import Narrowed
from core.analysis.suite_result import Files, changed, stored
from core.errors import InvariscopeError
from core.human.studies import list_studies
from core.report.build import build
from core.report.document import Report
from core.report.fairness_card import card_report
from core.report.html import html
from core.report.report_files import fill_report
from core.store.manifest import Run
from core.store.uploads import accept_published
from pages.views.common.access import operates, operators_only
from pages.views.common.open_runs import Signature, store
from pages.views.common.text import THE_PAPER, counted, listed, safe

UPLOAD = "overview.upload"
_TOLD = "overview.told"
_MADE = "overview.report.made"


def draw_upload(runs: tuple[Run, ...]) -> None:
    """Draw the way in for a published file; what came of the last one stands beside it."""
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
    if told := st.session_state.pop(_TOLD, None):
        kind, sentence = told
        (st.success if kind == "taken" else st.error)(safe(sentence, limit=600))


@operators_only
def _take(known: tuple[str, ...]) -> None:
    file = st.session_state.get(UPLOAD)
    if file is None:
        return
    try:
        taken = accept_published(file.getvalue(), file.name, known=known)
    except InvariscopeError as error:
        st.session_state[_TOLD] = ("refused", str(error))
        return
    new = [run.id for run in taken if run.id not in known]
    st.session_state[_TOLD] = ("taken", f"{counted(len(new), 'run')} opened: {', '.join(new)}")


def draw_report(files: Signature, scope: Narrowed) -> None:
    """Draw the ways to take home the card of the corpus in view, and the report of every corpus of the scope."""
    card, whole = st.columns(2, gap="medium")
    with card.container(border=True, height="stretch"):
        st.markdown("**Fairness card**")
        st.caption("One page of what stands above, made for A4: print it, or save it as PDF from the browser.")
        st.download_button(
            "Card to print",
            lambda: card_report(store(files), scope).encode(),
            "fairness-card.html",
            "text/html",
            icon=":material/print:",
            on_click="ignore",
            key="overview.card.print",
        )
    with whole.container(border=True, height="stretch"):
        st.markdown("**Report**")
        st.caption("A page in words, one figure, the papers' tables, their data, a signature to cite.", help=THE_PAPER)
        _whole(files, scope)


def _whole(files: Signature, scope: Narrowed) -> None:
    ids = scope.run_ids
    st.caption(
        safe(
            f"Of {'run' if len(ids) == 1 else 'one run a corpus:'} {listed(ids)}; {scope.subject} captions.", limit=300
        )
    )
    wanted = (files, scope)
    st.button(
        "Make the report",
        icon=":material/description:",
        key="overview.report.make",
        on_click=lambda: st.session_state.update({_MADE: wanted}),
    )
    if st.session_state.get(_MADE) != wanted:
        return
    try:
        made, problems = _report(*wanted, changed(), leaderboards.changed())
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600))
        return
    st.caption(
        f"{counted(len(made.short), 'table')} of the papers, and why these runs do not allow others. Every table: "
        "`python -m core report RUN --tables all`."
    )
    for problem in problems:
        st.warning(safe(problem, limit=600))
    st.code(made.signature, language=None, wrap_lines=True)
    stem = "-".join(("report", *ids))[:80]
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "HTML",
            lambda: html(made).encode(),
            f"{stem}.html",
            "text/html",
            on_click="ignore",
            key="overview.report.html",
        )
        for name, label in (("md", "Markdown"), ("latex", "LaTeX")):
            st.download_button(
                label,
                partial(_zipped, made, name),
                f"{stem}-{name}.zip",
                "application/zip",
                on_click="ignore",
                key=f"overview.report.{name}",
            )


@st.cache_resource(max_entries=2, show_spinner="Making the papers' tables …")
def _report(
    files: Signature, scope: Narrowed, suites: Files, boards: leaderboards.Files
) -> tuple[Report, tuple[str, ...]]:
    """The report, and a sentence for each leaderboard that is not in it since its file cannot be read."""
    ranked, judged = leaderboards.kept(boards), stored(suites)[0]
    made = build(
        store(files), scope, whole=False, figures=False, studies=list_studies()[0], suites=judged, boards=ranked
    )
    return made, tuple(ranked.unread.values())


def _zipped(report: Report, name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        written = fill_report(report, Path(folder), formats=(name,))
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for each in written:
                archive.write(Path(folder, each), each)
    return content.getvalue()

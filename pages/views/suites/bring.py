"""Scores that a reader has already, held to a suite in the browser: no picture is needed for that."""

import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.analysis.suites.result import added, reached_elsewhere, result_of, store
from core.corpora.suites import read_suites, without_companions
from core.errors import InvalidInput, InvariscopeError
from pages.views.common.access import operates
from pages.views.common.callbacks import operators_only
from pages.views.common.text import counted, safe

MOST_MB = 64
_SUITE_FILES, _SCORE_FILES = ["json", "jsonl", "csv", "tsv", "txt"], ["csv", "tsv", "json", "jsonl", "parquet", "txt"]
_ASKED = "suites.asked"
_SHOWN = 3


def draw_bring() -> None:
    """Draw the files, the options and the button."""
    with st.expander("Bring scores of a suite", icon=":material/upload_file:"):
        st.caption("The publisher's file, and a file of scores: by the ids of --export-pairs, or the text that FLEUR's "
                   "scripts write. The raw Flickr8k files need Flickr8k.token.txt beside them, ActivityNet-FOIL its "
                   "four files.")  # fmt: skip
        if not operates():
            return
        left, right = st.columns(2, gap="medium")
        given = left.file_uploader("Files of one suite", type=_SUITE_FILES, accept_multiple_files=True,
                                   key="suites.files", max_upload_size=MOST_MB)  # fmt: skip
        scores = right.file_uploader("Scores of one metric", type=_SCORE_FILES, key="suites.scores",
                                     max_upload_size=MOST_MB)  # fmt: skip
        with st.container(horizontal=True, vertical_alignment="bottom"):
            called = st.text_input("Name of the metric", key="suites.called", max_chars=100, width=240,
                                   placeholder="As the file is called")  # fmt: skip
            column = st.text_input("Column of the scores", key="suites.column", max_chars=100, width=240,
                                   placeholder="The only one, or score")  # fmt: skip
            keep = st.checkbox(
                "Keep self-references", key="suites.keep",
                help="Ratings of Flickr8k whose caption is an own reference; the field drops them.",
            )  # fmt: skip
        st.button("Hold the scores to the suite", type="primary", icon=":material/fact_check:", key="suites.hold",
                  on_click=_ask, disabled=not given or scores is None)  # fmt: skip
        if st.session_state.pop(_ASKED, False) and given and scores is not None:
            with st.spinner("Reading, resampling images …"):
                kind, sentence = _hold(given, scores, called.strip(), column.strip(), keep=keep)
            (st.success if kind == "taken" else st.error)(safe(sentence, limit=800))


@operators_only
def _ask() -> None:
    st.session_state[_ASKED] = True


def _hold(
    given: Sequence[UploadedFile], scores: UploadedFile, called: str, column: str, *, keep: bool
) -> tuple[str, str]:
    """Hold scores to a suite and store what they reach; what to tell the reader."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            files = [_written(home / "suite", each) for each in given]
            files = without_companions(files)
            suite = read_suites(files, keep_self_references=keep)
            entry, errors = reached_elsewhere(
                suite, _written(home / "scores", scores), column=column, called=called or Path(scores.name).stem
            )
            result = added(result_of(suite, files, ["self-references kept"] if keep else []), entry)
            store(result)
    except InvariscopeError as error:
        return "refused", str(error).replace(f"{folder}/suite/", "").replace(f"{folder}/scores/", "")
    lost = (
        f" Without a score: {counted(len(errors), 'caption')}, such as {'; '.join(errors[:_SHOWN])}." if errors else ""
    )
    return "taken", f"{entry.evaluator} is held to {result.suite}, {counted(result.judgements, 'judgement')}.{lost}"


def _written(folder: Path, file: UploadedFile) -> Path:
    """A file of the reader's under its own name, without any folder that the name holds.

    Raises:
        InvalidInput: if the name is none.
    """
    name = PurePosixPath(file.name.replace("\\", "/")).name
    if not name or name in (".", "..") or not name.isprintable():
        raise InvalidInput(f"{file.name[:80]!r} is no name of a file; rename it")
    folder.mkdir(exist_ok=True)
    path = folder / name
    if path.exists():
        raise InvalidInput(f"{name} was given twice; give each file once")
    path.write_bytes(file.getvalue())
    return path

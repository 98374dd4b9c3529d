"""Votes out and in: export for other tools, import of what was annotated elsewhere."""

from functools import partial

import streamlit as st

from core.errors import InvariscopeError
from core.human.exchange import FORMATS, MOST_BYTES, READ, export_votes, import_votes
from core.human.studies import Study
from pages.views.common.downloads import counted_making
from pages.views.common.text import counted, safe
from pages.views.common.url_state import PageState

_KINDS = {"csv": "text/csv", "parquet": "application/octet-stream", "json": "application/json"}


def draw_files(study: Study, _state: PageState) -> None:
    """Draw the exports and the import."""
    st.header("Export", anchor=False)
    st.caption("One row an annotator and item: sides, answers, times, comments. No link and no name leaves with it. "
               "JSON holds the study's definition as well.")  # fmt: skip
    withdrawn = st.checkbox("With the rows of withdrawn annotators, marked", key="study.files.withdrawn")
    with st.container(horizontal=True):
        for form in FORMATS:
            st.download_button(
                form.upper() if form != "parquet" else "Parquet",
                counted_making(partial(export_votes, study, form, withdrawn=withdrawn)),
                f"{study.id}-votes.{form}", _KINDS[form], on_click="ignore", key=f"study.export.{form}",
            )  # fmt: skip
    st.header("Import", anchor=False)
    st.caption("Votes made elsewhere, with the columns of an export: annotator, id, left, and a column a question; "
               "or as label-studio, potato, doccano or crowd-kit write them. The file is checked as a whole; one bad "
               "row refuses it, by its number.")  # fmt: skip
    given = st.file_uploader("File of votes", list(READ), key=f"study.import.{study.id}")
    if given is None:
        return
    if given.size > MOST_BYTES:
        st.error("The file is too large; split it.")
    elif st.button("Take these votes in", type="primary", key="study.import.go"):
        try:
            taken = import_votes(study, given.getvalue(), name=given.name)
            st.success(f"{counted(taken.count, 'vote')} new or changed.")
            for sentence in taken.told:
                st.warning(safe(sentence, limit=500))
        except InvariscopeError as error:
            st.error(safe(str(error), limit=500))

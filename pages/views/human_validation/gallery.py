"""Items that people disagree on, worst first, beside their pictures and votes."""

import pandas as pd
import streamlit as st

from core.analysis.people.outcomes import disagreements
from core.errors import NotAvailable
from core.human.definition import ORIGINAL, VARIANT, StudyItem
from core.human.studies import Study
from core.human.votes import vote_table
from pages.views.common.downloads import data_buttons
from pages.views.common.text import as_percent, counted, safe
from pages.views.common.url_state import PageState
from pages.views.human_validation.desk import desk

SHOWN = 12


def draw_gallery(study: Study, _state: PageState) -> None:
    """Draw the items that people disagree on most."""
    table = disagreements(vote_table(study), count=200)
    if table.empty:
        st.info("Nobody disagrees with anybody yet, or no item has two votes.", icon=":material/handshake:")
        return
    st.caption(f"{counted(len(table), 'item')} on which votes differ, worst first: the share of unequal pairs of votes "
               "over all questions. Answers are those of the annotators in the order in which they voted.")  # fmt: skip
    pages = -(-len(table) // SHOWN)
    page = st.pagination(pages, key=f"study.gallery.{study.id}") if pages > 1 else 1
    cells = st.grid(3, min_column_width=300, gap="medium")
    for row in table.iloc[(page - 1) * SHOWN : page * SHOWN].itertuples():
        with cells.container(border=True, height="stretch"):
            _draw_card(study, study.definition.item(str(row.id)), row)
    data_buttons(
        table.assign(comments=table["comments"].map(" | ".join)), f"{study.id}-disagreements", key="study.gaps"
    )


def _draw_card(study: Study, item: StudyItem, row: object) -> None:
    told = pd.Series(row._asdict())  # type: ignore[attr-defined]
    st.markdown(f"**{safe(item.item)}** · {safe(item.probe if item.shows != ORIGINAL else item.baseline)}")
    st.caption(f"Disagreement {as_percent(float(told['disagreement']))}, {counted(int(told['votes']), 'vote')}")
    versions = [ORIGINAL, VARIANT] if item.shows == "pair" else [item.shows]
    shown = versions[:1] if item.edits == "caption" else versions
    try:
        pictures = desk().pictures(study, item)
        with st.container(horizontal=True, gap="small", key=f"finding_study_{item.id}"):
            for version in shown:
                st.image(pictures.of(version), alt=f"{version} of {item.item}", width=140)
    except NotAvailable as error:
        st.caption(safe(str(error), limit=300))
    for version in versions:
        st.text(f"{version}: {item.caption(version)}\n{_words(study, told[version])}")
    if told["preferred"]:
        st.text(f"preferred: {', '.join(str(told['preferred']).split())}")
    for comment in told["comments"]:
        st.caption(f"“{safe(comment, limit=300)}”")


def _words(study: Study, answers: str) -> str:
    kind = study.definition.asked
    return ", ".join(kind.scale[int(answer) - kind.lowest] for answer in str(answers).split())

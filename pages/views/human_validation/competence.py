"""Competence: who answers by knowing, under MACE, beside what the others say and what the majority makes of it."""

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from core.analysis.people.outcomes import Competences, study_competence
from core.charts.human import COMPETENCE_NOTE, COMPETENCE_TITLE, competence_dots
from core.human.studies import Study
from core.human.votes import vote_table
from pages.views.common.charts import draw
from pages.views.common.downloads import data_buttons, figure_buttons
from pages.views.common.tables import draw_table
from pages.views.common.text import counted, safe
from pages.views.human_validation.desk import desk
from pages.views.results.blocks import interval

_WORDS = {"question": "Question", "annotator": "Annotator", "note": "Remark"}
_NUMBERS = {
    "n": ("n", "%d", "Judged by this annotator and by others; versions of an item one by one"),
    "competence": ("By knowing", "%.0f %%", "Estimated share of items answered by knowing rather than guessing"),
    "with_others": ("As the others", "%.0f %%", "Gave the one commonest answer of the others"),
    "n_others": ("n of these", "%d", "On which the others have one commonest answer"),
}  # fmt: skip
_ENDS = "The middle 95 % of the model's posterior, in percent"
_ORDER = ("question", "annotator", "n", "competence", "ends", "with_others", "n_others", "note")


def draw_competence(study: Study) -> None:
    """Draw the competence of every annotator and whether it changes what the votes say."""
    st.header(COMPETENCE_TITLE, anchor=False)
    found = _competence(study.id, study.log_path.stat().st_size)
    if found.people.empty:
        st.info("No item has two votes yet.", icon=":material/hourglass_empty:")
        return
    st.caption(COMPETENCE_NOTE)
    for row in found.answers.to_dict("records"):
        st.markdown(_said(row))
    people = found.people
    if people["competence"].notna().any():
        figure = competence_dots(people)
        draw(figure, key="study.competence", alt="Estimated competence of every annotator with its interval")
        figure_buttons(figure, people, f"{study.id}-competence", title=figure.title, key="study.competence.files")
    shown = people.assign(ends=interval(people, "low", "high", 0, signed=False)[0])
    config: dict[str, Any] = {name: st.column_config.TextColumn(title) for name, title in _WORDS.items()}
    config |= {name: st.column_config.NumberColumn(title, format=form, help=told)
               for name, (title, form, told) in _NUMBERS.items()}  # fmt: skip
    config["ends"] = st.column_config.TextColumn("95 % interval", alignment="right", help=_ENDS)
    draw_table(shown, width="stretch", column_config=config, column_order=_ORDER)
    data_buttons(people, f"{study.id}-competences", key="study.competences")


def _said(row: Mapping[Hashable, Any]) -> str:
    judged = counted(int(row["n"]), "judgement")
    told = f"**{safe(str(row['question'])).capitalize()}**, {judged} with two votes or more: "
    if row["same"] != row["same"]:
        return f"{told}{safe(str(row['note']), limit=300)}."
    warned = f" **{safe(str(row['note']), limit=300)}.**" if row["note"] else ""
    return (
        f"{told}the likeliest answer is the commonest one in {int(row['same'])} and another in {int(row['other'])}; in "
        f"{int(row['tied'])} the commonest answers are tied.{warned}"
    )


@st.cache_data(show_spinner="Estimating competence …", max_entries=8)
def _competence(study: str, size: int) -> Competences:  # noqa: ARG001  # the cache's key
    found = desk().studies()[study]
    return study_competence(vote_table(found), found.definition.asked)

"""The link for Prolific, as the coordinator sets it."""

import streamlit as st

from core.human.entrance import Prolific
from core.human.prolific import FEWEST_ANSWERED, MOST_ITEMS, close_link, link_query, new_code, open_link
from core.human.studies import Study
from pages.views.common.access import operators_only
from pages.views.common.page_address import annotators_address
from pages.views.common.text import counted
from pages.views.human_validation.settings import act

USUAL_ITEMS = 40


def draw_prolific_setting(study: Study) -> None:
    """Draw the link for Prolific, its codes, and how much each participant is asked."""
    st.header("Prolific", anchor=False)
    told = study.state().prolific
    opened = told is not None and told.digest is not None
    st.caption(
        "One link for everybody. Prolific puts each participant's id into it; the same id comes back to the same "
        "items. The code shows after the last item, and not before."
    )
    if opened:
        _draw_link(study)
    _draw_codes(study, told, opened)
    if opened:
        st.button(
            "Close the link", key="study.prolific.close", icon=":material/link_off:", on_click=act,
            args=(lambda: close_link(study), "The link for Prolific is closed."),
            help="For those who joined too, who then see no code any more. Votes stay and count",
        )  # fmt: skip


def _draw_codes(study: Study, told: Prolific | None, opened: bool) -> None:
    plain = sum(not each.attention for each in study.definition.items)
    with st.form(f"study.prolific.{study.id}.{opened}", border=False):
        first, second, third = st.columns(3)
        first.number_input(
            "Items a participant", 1, MOST_ITEMS, told.items if told else min(plain, USUAL_ITEMS),
            key=f"study.prolific.items.{study.id}",
            help="Items with a known answer included; for those who come from now on",
        )  # fmt: skip
        second.text_input(
            "Completion code", told.completion if told else _first_code(study), max_chars=40,
            key=f"study.prolific.code.{study.id}",
            help="Made here, or the one that Prolific gave you: both must be the same there",
        )  # fmt: skip
        third.text_input(
            "Screened-out code", told.screened_out if told else "", max_chars=40,
            key=f"study.prolific.out.{study.id}",
            help="For those whom practice turns away; empty: they are asked to return their submission",
        )  # fmt: skip
        st.caption(
            f"Who skips more than {100 * (1 - FEWEST_ANSWERED):.0f} % of their items is asked to go back to them "
            "before the code shows."
        )
        label = "Save" if opened else "Open the link"
        st.form_submit_button(label, icon=":material/check:", on_click=_save, args=(study,))


@operators_only
def _save(study: Study) -> None:
    items, code, out = (st.session_state[f"study.prolific.{name}.{study.id}"] for name in ("items", "code", "out"))
    act(
        lambda: open_link(study, items=int(items), completion=str(code).strip(), screened_out=str(out).strip()),
        "The link for Prolific is open.",
    )


def _draw_link(study: Study) -> None:
    query = link_query(study)
    if query is None:
        st.warning("The link works, but it cannot be shown: the study's secret is gone. Close it and open a new one.")
        return
    st.code(f"{annotators_address()}?{query}", language=None, wrap_lines=True)
    joined = [each for each in study.state().annotators.values() if each.pid is not None]
    st.caption(f"{counted(len(joined), 'participant')} joined. Paste the link as it stands into the study at Prolific; "
               "it fills the parts in double braces.")  # fmt: skip


def _first_code(study: Study) -> str:
    return str(st.session_state.setdefault(f"study.prolific.first.{study.id}", new_code()))

"""Taking part: what annotators agree to, what they practise, and the link for those whom Prolific sends."""

import streamlit as st

from core.human.consent import set_consent
from core.human.entrance import CONSENT_LIMIT
from core.human.studies import Study
from pages.views.common.access import operators_only
from pages.views.common.text import counted
from pages.views.common.url_state import PageState
from pages.views.human_validation.practice_setting import draw_practice_setting
from pages.views.human_validation.prolific_setting import draw_prolific_setting
from pages.views.human_validation.settings import act, draw_outcome


def draw_entrance(study: Study, _state: PageState) -> None:
    """Draw what comes before the first vote, for the coordinator to set."""
    draw_outcome()
    _draw_consent(study)
    draw_practice_setting(study)
    draw_prolific_setting(study)


def _draw_consent(study: Study) -> None:
    st.header("Consent", anchor=False)
    state = study.state()
    agreed = sum(state.consent is not None and each.accepted == state.consent.digest
                 for each in state.annotators.values())  # fmt: skip
    st.caption(
        "Shown before anything else. Agreeing is logged with its time and the sha256 of the text; who does not agree "
        "ends there, and nothing of them is stored. Who agreed to another wording is asked again."
    )
    key = f"study.consent.{study.id}.{state.consent.digest[:8] if state.consent else ''}"
    st.text_area("Text of consent", state.consent.text if state.consent else "", key=key, height=220,
                 max_chars=CONSENT_LIMIT, help="Plain text; empty: no consent is asked",
                 placeholder="Who runs the study and why, what is asked, how long it takes and what is paid, what is "
                 "stored and for how long, that one may stop at any time, whom to ask.")  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Save the text", key="study.consent.save", icon=":material/check:", on_click=_save_consent,
                  args=(study, key))  # fmt: skip
        if state.consent is not None:
            st.caption(f"{counted(agreed, 'annotator')} agreed to this wording (sha256 {state.consent.digest[:12]}…).")
        else:
            st.caption("No consent is asked now.")


@operators_only
def _save_consent(study: Study, key: str) -> None:
    act(lambda: set_consent(study, str(st.session_state.get(key, ""))), "The text of consent is saved.")

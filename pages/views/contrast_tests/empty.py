"""What the page says where the scope holds no directional probe."""

import streamlit as st

from core.analysis.comparisons import AUDIT
from core.analysis.questions.directional import needs
from core.analysis.scope import Narrowed
from pages.views.common.links import AUDIT as RUN_AUDIT
from pages.views.common.links import LAB, is_listed
from pages.views.common.open_runs import Signature, scores
from pages.views.common.text import safe


def draw_no_test(files: Signature, scope: Narrowed) -> None:
    """Say why there is no test, and how one is audited in a shell or in the browser."""
    reason, _, _ = needs(scores(files, scope)).partition("; an audit")
    st.info(safe(f"{reason[:1].upper()}{reason[1:]}.", limit=600), icon=":material/rule:")
    st.markdown("A directional probe breaks the meaning on purpose: words change places, an object that is not there "
                "is named, *no* is put in. The score must drop. This audits both halves, what breaks the meaning and "
                "what should not matter, on the demo corpus and its human captions:")  # fmt: skip
    st.code(AUDIT, language="shell", wrap_lines=True)
    with st.container(horizontal=True):
        if is_listed(RUN_AUDIT):
            st.page_link(RUN_AUDIT, label="Run an audit", icon=":material/play_circle:")
        st.page_link(LAB, label="Try one in the Probe lab", icon=":material/science:")

"""Nuisance and signal on the first page: does an evaluator hold still because it is calm, or because it is deaf?"""

import pandas as pd
import streamlit as st

from core.analysis.questions import Options
from core.analysis.questions.selective import PLANE, usual
from core.analysis.scope import Narrowed, Scope
from core.analysis.selectivity import lack
from core.analysis.slices import Slice
from pages.views.common.answers import answer, figure_block, questions, spoken
from pages.views.common.links import CONTRAST
from pages.views.common.open_runs import Signature, narrowed, view
from pages.views.common.text import safe

_DATA = f"{PLANE}-data"


def draw_plane(files: Signature, scope: Narrowed) -> None:
    """Draw the plane of the scope or, where it holds one half of an audit alone, of what holds both, named."""
    own = with_both(files, scope)
    st.header("Calm or deaf?", anchor=False)
    if own is None:
        st.caption(safe(f"{_reason(files, scope)}.", limit=500))
        return
    question = questions(files, own)[_DATA]
    frame = answer(files, own, Slice(), _DATA, Options())
    drawing = question.figures[0]
    figure = drawing.figure(frame)
    if not len(figure.frame):
        st.caption("No item has both a broken meaning and a harmless edit with scores.")
        return
    figure_block(figure, frame, "overview-plane", title=drawing.title, alt=f"{drawing.title}: {spoken(figure)}")
    st.caption(safe(drawing.note, limit=500))
    of = f"Run {own.run}, caption {own.subject}, language {own.language}"
    st.caption(safe(f"{of}." if own == scope else f"{of}: the scope above holds no broken meaning beside its edits.",
                    limit=300))  # fmt: skip
    st.page_link(CONTRAST, label="Contrast tests", icon=":material/rule:")


def selectivity(files: Signature, scope: Narrowed) -> pd.DataFrame | None:
    """Selectivity an evaluator, column ``of`` says of which comparisons; None where no meaning is broken."""
    if lack(view(files, scope)):
        return None
    found = usual(answer(files, scope, Slice(), _DATA, Options()))
    return found if len(found) else None


def with_both(files: Signature, scope: Narrowed) -> Narrowed | None:
    """The scope where it holds both halves, else the usual one of Contrast tests; None where neither does."""
    if not lack(view(files, scope)):
        return scope
    other = narrowed(files, Scope(directional=True)).only()
    return None if lack(view(files, other)) else other


def _reason(files: Signature, scope: Narrowed) -> str:
    said, _, _ = lack(view(files, scope)).partition("; an audit")
    return f"{said[:1].upper()}{said[1:]}, so that nothing tells whether a score that holds still is calm or deaf"

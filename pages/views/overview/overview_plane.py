"""The first figure of the first page: stability and sensitivity, never one alone."""

import pandas as pd
import streamlit as st

from core.analysis.both_demands import demands, demands_figure, half_asked, told_together
from core.analysis.questions import Options
from core.analysis.questions.selective import PLANE, usual
from core.analysis.scope import Narrowed, Scope
from core.analysis.selectivity import lack
from core.analysis.slices import Slice
from pages.views.common.links import CONTRAST, link_to
from pages.views.common.open_runs import Signature, narrowed, view
from pages.views.common.shown_answers import answer, figure_block, spoken
from pages.views.common.text import safe

_DATA = f"{PLANE}-data"


def draw_plane(files: Signature, scope: Narrowed) -> None:
    """Draw the plane of the scope or, where it holds one half of an audit alone, of what holds both, named; where
    nothing does, the one axis alone with what was not asked."""
    both = with_both(files, scope)
    own = both or scope
    seen = view(files, own)
    figure = demands_figure(seen)
    if not len(figure.frame):
        st.caption(half_asked(seen) or "No item has both a broken meaning and a harmless edit with scores.")
        return
    if both is not None:
        st.markdown(f"**{safe(told_together(falls_of(files, scope)), limit=600)}**")
    if own != scope:
        of = f"Of run {own.run}, {own.subject} captions ({own.language})"
        st.caption(safe(f"{of}: what is chosen above has no wrong captions.", limit=300))
    figure_block(figure, demands(seen), "overview-plane", title=figure.title, alt=f"{figure.title}: {spoken(figure)}")
    st.caption(safe(figure.note, limit=500))
    if both is not None:
        link_to(CONTRAST, "Does it notice? All tests", icon=":material/rule:")


def falls_of(files: Signature, scope: Narrowed) -> dict[str, str]:
    """Whether each evaluator falls where the meaning breaks, in words; empty where no run asked."""
    own = with_both(files, scope)
    if own is None:
        return {}
    found = demands(view(files, own))
    return dict(zip(found["evaluator"].astype(str), found["falls"], strict=True))


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

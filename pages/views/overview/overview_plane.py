"""The first figure of the first page: stability and sensitivity, never one alone."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from core.analysis.both_demands import balance, demands, demands_figure, half_asked
from core.analysis.questions import Options
from core.analysis.questions.selective import PLANE, usual
from core.analysis.scope import Narrowed, Scope
from core.analysis.selectivity import lack
from core.analysis.slices import Slice
from core.errors import InvariscopeError
from pages.views.common.collect import figures_aside, of_scores
from pages.views.common.links import CONTRAST, link_to
from pages.views.common.open_runs import Signature, narrowed, scores, under_all, view
from pages.views.common.shown_answers import answer, figure_block, spoken
from pages.views.common.text import safe
from pages.views.common.url_state import PageState

_DATA = f"{PLANE}-data"


def draw_answer(files: Signature, both: Narrowed | None) -> None:
    """Say how far broken meanings and harmless edits move every metric, of :func:`with_both`; nothing without it."""
    if both is not None:
        st.markdown(f"**{safe(balance(demands(view(files, both))), limit=600)}**")


def draw_plane(state: PageState, files: Signature, scope: Narrowed, both: Narrowed | None) -> None:
    """Draw the plane of the scope or, where it holds one half of an audit alone, of what may stand in for it, named;
    where nothing does, the one axis alone with what was not asked."""
    own = both or scope
    seen = view(files, own)
    figure = demands_figure(seen)
    if not len(figure.frame):
        st.caption(half_asked(seen) or "No item has both a broken meaning and a harmless edit with scores.")
        return
    if own != scope:
        st.caption(safe(f"Of {_named(own)}: what is chosen above has no wrong captions.", limit=300))
    with figures_aside(of_scores(state, files, own)):
        said = f"{figure.title}: {spoken(figure)}"
        figure_block(figure, demands(seen), "overview-plane", title=figure.title, alt=said)
    st.caption(safe(figure.note, limit=500))
    if both is not None:
        link_to(CONTRAST, "Does it notice? All tests", icon=":material/rule:")


def falls_of(files: Signature, scope: Narrowed) -> dict[str, str]:
    """What the scope says of each evaluator at broken meanings, in words that go on from its name."""
    found = demands(view(files, scope))
    return dict(zip(found["evaluator"].astype(str), found["falls"], strict=True))


def _named(scope: Narrowed) -> str:
    return f"run {scope.run}, {scope.subject} captions ({scope.language})"


def selectivity(files: Signature, scope: Narrowed) -> pd.DataFrame | None:
    """Selectivity an evaluator, column ``of`` says of which comparisons; None where no meaning is broken."""
    if lack(view(files, scope)):
        return None
    found = usual(answer(files, scope, Slice(), _DATA, Options()))
    return found if len(found) else None


def with_both(files: Signature, scope: Narrowed) -> Narrowed | None:
    """The scope where it holds both halves; else what may stand in for it; None where nothing does.

    Another run or caption stands in where it is of the same corpus and language, with those evaluators alone that the
    scope has too, with the same weights and code.
    """
    if not lack(view(files, scope)):
        return scope
    wanted = Scope(corpus=scope.corpus, language=scope.language, directional=True, told=scope.told)
    try:
        other = narrowed(files, wanted).only()
        own, there = _keys(files, scope), _keys(files, under_all(files, other))
        shared = tuple(name for name in scope.evaluators if name in own and own[name] == there.get(name))
        other = replace(other, evaluators=shared)
        return other if shared and not lack(view(files, other)) else None
    except InvariscopeError:  # no run that breaks meanings has such captions of these items
        return None


def _keys(files: Signature, scope: Narrowed) -> dict[str, str]:
    """Key of the fingerprint of each evaluator of a scope."""
    about = scores(files, scope).about["evaluators"]
    return dict(zip(about["evaluator"].astype(str), about["key"].astype(str), strict=True))

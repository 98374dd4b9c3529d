"""Contrast tests: does the score drop where the meaning breaks, and by more than under harmless edits?"""

import streamlit as st

from core.analysis.beside import every_caption
from core.analysis.comparisons import AUDIT, families
from core.analysis.questions import SECTIONS
from core.analysis.questions.selective import SECTION as SELECTIVITY
from core.analysis.scope import Narrowed
from pages.views.common.collect import figures_of, of_scores
from pages.views.common.links import draw_no_run
from pages.views.common.open_runs import Signature, present, scores, store, view
from pages.views.common.page_head import chips, drawn, header
from pages.views.common.scope_chips import choose_scope, say_withheld
from pages.views.common.slice_filters import describe
from pages.views.contrast_tests.contrast_failures import draw_worst
from pages.views.contrast_tests.contrast_state import (
    USUAL,
    choose_items,
    choose_view,
    contrast_state,
    draw_no_test,
    options_of,
)
from pages.views.contrast_tests.contrast_tables import (
    draw_matrix,
    draw_responses,
    draw_section,
    draw_tables,
    draw_test,
)


def draw() -> None:
    """Draw the view."""
    files = present()
    state = contrast_state(files)
    state.restore()
    asked = "Does the score drop where the caption becomes wrong or garbled?"
    if state.get("show") == SELECTIVITY:
        asked = SECTIONS[SELECTIVITY][1]
    header(asked, state, words=("failure rate", "selectivity", "AUROC"))
    with drawn(state):
        if not store(files).runs():
            draw_no_run(command=AUDIT)
            return
        row = chips(state)
        scope = choose_scope(state, files, row=row, usual=USUAL).only()
        if not families(view(files, scope)):
            draw_no_test(files, scope)
            figures_of(of_scores(state, files, scope, beside=_captions(files, scope)))
            draw_responses(state, files, scope)
        else:
            say_withheld(files, scope)
            asked = choose_view(state)
            chosen, options = choose_items(state, files, scope, row), options_of(state, files, scope)
            beside = () if asked == SELECTIVITY else _captions(files, scope)
            figures_of(of_scores(state, files, scope, describe(chosen), beside=beside))
            if asked == "tables":
                draw_tables(state, files, scope, chosen, options)
            elif asked == SELECTIVITY:
                draw_section(state, files, scope, chosen, options, SELECTIVITY)
            else:
                draw_matrix(state, files, scope, chosen, options)
                st.divider()
                family, evaluator, own = draw_test(state, files, scope, chosen, options)
                draw_worst(files, own, chosen, options, family=family, evaluator=evaluator)


def _captions(files: Signature, scope: Narrowed) -> tuple[Narrowed, ...]:
    """Whose scores are in tables of every test: the scope's, and those of tests that come with their own caption."""
    return tuple(each.scope for each in every_caption(scores(files, scope)))

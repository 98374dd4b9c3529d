"""Does it notice?: does the score drop where the meaning breaks, more than under harmless edits; the worst failures."""

from functools import partial

import pandas as pd
import streamlit as st

from core.analysis.beside import every_caption
from core.analysis.comparisons import AUDIT, families
from core.analysis.failures import PAIR, worst_failures
from core.analysis.questions import SECTIONS, Options
from core.analysis.questions.selective import SECTION as SELECTIVITY
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.probes.titles import family_title, title
from pages.views.common.collect import collect_button, data_buttons, figures_of, of_scores
from pages.views.common.links import draw_no_run, link_to_audit
from pages.views.common.open_runs import KEYED, Signature, present, scores, store, view
from pages.views.common.page_head import chips, drawn, header
from pages.views.common.scope_chips import choose_scope, say_withheld
from pages.views.common.slice_filters import describe
from pages.views.common.text import as_percent, counted, number, safe
from pages.views.common.url_state import carried
from pages.views.contrast_tests import contrast_state
from pages.views.contrast_tests.contrast_tables import draw_matrix, draw_responses, draw_section, draw_tables, draw_test
from pages.views.failures import failure_card
from pages.views.failures.failure_pictures import finished, pictures
from pages.views.failures.failures_state import by_pair, shifts_of


def draw() -> None:
    """Draw the view."""
    files = present()
    state = contrast_state.contrast_state(files)
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
        scope = choose_scope(state, files, row=row, usual=contrast_state.USUAL).only()
        if not families(view(files, scope)):
            contrast_state.draw_no_test(files, scope)
            figures_of(of_scores(state, files, scope, beside=_captions(files, scope)))
            draw_responses(state, files, scope)
        else:
            say_withheld(files, scope)
            with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
                asked = str(state.switch("show", "Show", contrast_state.VIEWS, label_visibility="collapsed"))
                link_to_audit(primary=True)
            chosen, options = (
                contrast_state.choose_items(state, files, scope, row),
                contrast_state.options_of(state, files, scope),
            )
            beside = () if asked == SELECTIVITY else _captions(files, scope)
            figures_of(of_scores(state, files, scope, describe(chosen), beside=beside))
            if asked == "tables":
                draw_tables(state, files, scope, chosen, options)
            elif asked == SELECTIVITY:
                draw_section(state, files, scope, chosen, options, SELECTIVITY)
            else:
                first = draw_matrix(state, files, scope, chosen, options)
                st.divider()
                family, evaluator, own = draw_test(state, files, scope, chosen, options, first=first)
                draw_worst(files, own, chosen, options, family=family, evaluator=evaluator)


def _captions(files: Signature, scope: Narrowed) -> tuple[Narrowed, ...]:
    """Whose scores are in tables of every test: the scope's, and those of tests that come with their own caption."""
    return tuple(each.scope for each in every_caption(scores(files, scope)))


_CARDS, _HELD = 4, 60


def draw_worst(
    files: Signature, scope: Narrowed, chosen: Slice, options: Options, *, family: str, evaluator: str
) -> None:
    """Draw the failures of a test under an evaluator, the wrong side furthest above the right one first."""
    found, n = _worst(files, scope, chosen, evaluator, family, options.known)
    st.header("Worst failures", anchor=False)
    if found.empty:
        st.caption(safe(f"{evaluator} puts no wrong side at or above its right one here: {family_title(family)}."))
        return
    shown = found.head(_CARDS)
    told = f"{family_title(family)}: {counted(n, 'failure')} under {evaluator}" + (
        f", the {len(shown)} whose wrong side lies furthest above the right one." if n > len(shown) else "."
    )
    st.caption(safe(told, limit=400))
    pairs = shown[[*PAIR, "corpus"]]
    rows = by_pair(pairs, shifts_of(files, scope, pairs))
    link = carried() | {"run": scope.run, "subject": scope.subject, "language": scope.language}
    cells, rooms = st.grid(2, min_column_width=340, gap="medium"), []
    with pictures(store(files), pairs, marks="none") as begun:
        for place, (own, (_, pair)) in enumerate(zip(rows, shown.iterrows(), strict=True)):
            with cells.container(border=True, height="stretch", gap="xsmall", key=f"contrast_card_{place}"):
                tie = f"A tie at {number(pair['right'])}"
                ahead = f"Wrong ahead by {number(pair['margin'])}" if pair["margin"] else tie
                st.markdown(f"**{ahead}** · {safe(title(str(pair['probe'])))}")
                rooms.append((failure_card.place_for_pictures(f"contrast_{place}"), st.empty()))
                failure_card.captions(own)
                if upheld(pair):
                    st.caption(upheld(pair))
                failure_card.draw_scores(own, bold=(evaluator,), floor=0.0, key=f"contrast_{place}", short=True)
                with st.container(horizontal=True, gap="small", vertical_alignment="center"):
                    failure_card.to_lab(pair, own, files)
                    collect_button(
                        partial(failure_card.card_slide, files, scope, pair, own, marks="none", link=link),
                        key=f"contrast.{place}",
                    )
        for place, ((room, below), own, made) in enumerate(zip(rooms, rows, begun, strict=True)):
            drawn = finished(made)
            failure_card.draw_pictures(room, drawn, own.iloc[0], key=f"contrast_{place}")
            if said := failure_card.below_pictures(drawn):
                below.caption(said)
    data_buttons(found, f"failures-{family}", key="contrast.worst")


def upheld(pair: pd.Series) -> str:
    """What people say of a comparison, in words; empty where no study asked."""
    if pd.isna(pair["upheld"]):
        return ""
    return f"Of the people who judged it, {as_percent(pair['upheld'])} uphold the right side."


@st.cache_data(hash_funcs=KEYED, max_entries=64, show_spinner=False)
def _worst(
    files: Signature, scope: Narrowed, chosen: Slice, evaluator: str, family: str, known: bool
) -> tuple[pd.DataFrame, int]:
    return worst_failures(view(files, scope, chosen), evaluator, family, known=known, limit=_HELD)

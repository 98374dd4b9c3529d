"""Present: one picture and one pair of bars over the whole screen, for an audience; the arrow keys turn the pages."""

from collections.abc import Callable, Sequence

import streamlit as st

from core.charts.canvas import thumbnail
from core.charts.differences import word_changes
from core.charts.lab_figures import pair_of_bars
from core.charts.style import colours, signed
from core.corpora.stacks import as_picture
from core.probes.base import Probe, Variant
from core.probes.titles import title
from core.scoring.lab_result import LabResult, LabRow
from core.scoring.workbench import Workbench
from core.statistics.changes import SHIFT_FLOOR
from pages.views.common.collect import collect_button
from pages.views.common.layers import draw_head, finding, place_of
from pages.views.common.text import number, safe
from pages.views.common.url_state import PageState
from pages.views.failures.failure_card import marked
from pages.views.probe_lab.audience import draw_audience
from pages.views.probe_lab.hand_out import draw_hand_out
from pages.views.probe_lab.slide import variant_slide

_SIDE = 900
"""Longest side, in px, of a picture on the stage."""

_CLEAN = "lab.present.unedited"


def draw_present(state: PageState, bench: Workbench, result: LabResult, probes: Sequence[Probe]) -> None:
    """Open the stage where the link or the button asks for it; it shows what the lab has scored, and scores nothing.

    Args:
        state: of the lab.
        bench: with the picture.
        result: what the lab scored.
        probes: the chosen ones; those that cannot be applied have no page.
    """
    variants = bench.variants(probes, result.caption)
    if not variants or not result.evaluators:
        return
    chosen = state.get("variant") if state.get("variant") in variants else next(iter(variants))
    st.button("Present", icon=":material/slideshow:", type="tertiary", key="lab.present.open",
              on_click=state.put, args=("present", True),
              help="One edit at a time over the whole screen; ← and → turn the pages, ↑ and ↓ the evaluators, Esc "
                   "leaves")  # fmt: skip
    collect_button(lambda: variant_slide(bench, result, variants, chosen, state.wanted()), key="lab")
    if state.get("present") and not finding():
        opened = st.dialog(f"{len(variants)} edits of one picture", width="large", on_dismiss=_leave(state))
        opened(_stage)(state, bench, result, probes)


def _leave(state: PageState) -> Callable[[], None]:
    return lambda: state.put("present", False)


def _stage(state: PageState, bench: Workbench, result: LabResult, probes: Sequence[Probe]) -> None:
    variants = bench.variants(probes, result.caption)
    names, evaluators = list(variants), result.evaluators
    name = names[place_of(state, "variant", names)]
    evaluator = evaluators[place_of(state, "looker", evaluators)]
    row = next(each for each in result.of(evaluator) if each.probe == name)
    with st.container(key="present"):
        draw_head(state, "variant", names, title=title(name), key="lab.present")
        _caption(row)
        left, right = st.columns([3, 2], gap="large", vertical_alignment="center")
        with left.container(key="present_pictures", horizontal_alignment="center"):
            _picture(bench, variants[name], name)
        with right.container(gap="small"):
            _evaluator(state, evaluators, evaluator)
            _pair(result, row)
        with st.container(horizontal=True, gap="small", key="present_foot"):
            _turned(variants[name])
            draw_hand_out(state, bench, result, probes, key="lab.present.hand_out")
            draw_audience(state)
    state.publish()  # what a key turned to is drawn without the rest of the page


def _picture(bench: Workbench, variant: Variant, name: str) -> None:
    """One picture: the edited one, or the one that it was made of while that is asked for."""
    what = bench.item.label or "the picture"
    if variant.pixels is None or st.session_state.get(_CLEAN):
        st.image(thumbnail(as_picture(bench.pixels), side=_SIDE), alt=f"{what}, as it is", width="stretch")
    else:
        st.image(
            thumbnail(as_picture(variant.pixels), side=_SIDE), alt=f"{what}: {title(name).lower()}", width="stretch"
        )


def _turned(variant: Variant) -> None:
    """Draw what shows the picture without its edit, and with it again."""
    clean = bool(st.session_state.get(_CLEAN))
    st.button(
        "Show the edit" if clean else "Show it unedited", icon=":material/compare:", shortcut="O",
        key="lab.present.clean", disabled=variant.pixels is None,
        on_click=st.session_state.__setitem__, args=(_CLEAN, not clean),
    )  # fmt: skip


def _caption(row: LabRow) -> None:
    before, after = row.baseline_caption, row.caption or ""
    said = safe(after, limit=400) if before in (None, after) else marked(word_changes(str(before), after))
    st.markdown(f"### “{said}”")


def _evaluator(state: PageState, names: Sequence[str], name: str) -> None:
    """Whose scores these are, and the way to the others', by button and by arrow key."""
    at = names.index(name)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", gap="small"):
        st.markdown(f"## {safe(name)}", width="content")
        if len(names) == 1:
            return
        with st.container(horizontal=True, width="content", gap="xsmall", vertical_alignment="center"):
            st.markdown(f"{at + 1} of {len(names)}", width="content")
            for label, shortcut, icon, to in (
                ("Evaluator before", "Up", ":material/arrow_upward:", at - 1),
                ("Evaluator after", "Down", ":material/arrow_downward:", at + 1),
            ):
                st.button(
                    "", icon=icon, shortcut=shortcut, help=label, key=f"lab.present.{label}",
                    disabled=not 0 <= to < len(names), on_click=state.put, args=("looker", names[to % len(names)]),
                )  # fmt: skip


def _pair(result: LabResult, row: LabRow) -> None:
    """The clean and the edited score as two bars, and the change between them."""
    if row.score is None or row.baseline_score is None:
        st.markdown(f"# {number(row.score)}")
        st.caption(safe(row.reason or "no score to compare with", limit=200))
        return
    own = [each.score for each in result.of(row.evaluator) if each.score is not None]
    scores = (row.baseline_score, row.score)
    st.html(pair_of_bars(
        scores, top=max(*own, row.baseline_score, SHIFT_FLOOR), colour=colours(result.evaluators)[row.evaluator],
        words=("Clean", "Edited"), said=[number(each) for each in scores],
    ))  # fmt: skip
    st.markdown(f"# {_coloured(row, signed(row.percent))}")
    st.caption(_beside(result, row))


def _coloured(row: LabRow, moved: str) -> str:
    """What should not have moved and did is orange, and so is a broken meaning that the score did not notice."""
    wrong = row.dropped is False or (row.dropped is None and row.in_null_band is False)
    return f":orange[{moved}]" if wrong else moved


def _beside(result: LabResult, row: LabRow) -> str:
    if row.dropped is not None:
        return "The meaning is broken; " + ("the score drops" if row.dropped else "the score does not drop")
    band = result.bands[row.evaluator]
    if row.in_null_band is None:
        return "No null band to hold it against"
    where = "inside" if row.in_null_band else "outside"
    return f"{where.capitalize()} the null band of ±{number(band.reach, digits=1)} %, one picture"

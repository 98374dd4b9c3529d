"""Present: one variant at a time over the whole screen, for an audience; the arrow keys turn the pages."""

from collections.abc import Callable, Sequence

import streamlit as st

from core.charts.canvas import thumbnail
from core.charts.differences import word_changes
from core.charts.style import signed
from core.corpora.stacks import as_picture
from core.probes.base import Probe, Variant
from core.probes.titles import title
from core.scoring.lab_result import LabResult, LabRow
from core.scoring.workbench import Workbench
from pages.views.common.collect import collect_button
from pages.views.common.dialogs import finding
from pages.views.common.stage import draw_head, place_of
from pages.views.common.text import number, safe
from pages.views.common.url_state import PageState
from pages.views.failures.card import marked
from pages.views.probe_lab.slide import variant_slide

_SIDE = 900
"""Longest side, in px, of a picture on the stage."""


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
    with st.container(horizontal=True, gap="small"):
        st.button("Present", icon=":material/slideshow:", type="tertiary", key="lab.present.open",
                  on_click=state.put, args=("present", True),
                  help="One edit at a time over the whole screen; ← and → turn the pages, Esc leaves")  # fmt: skip
        collect_button(lambda: variant_slide(bench, result, variants, chosen, state.wanted()), key="lab")
    if state.get("present") and not finding():
        opened = st.dialog(f"{len(variants)} edits of one picture", width="large", on_dismiss=_leave(state))
        opened(_stage)(state, bench, result, variants)


def _leave(state: PageState) -> Callable[[], None]:
    return lambda: state.put("present", False)


def _stage(state: PageState, bench: Workbench, result: LabResult, variants: dict[str, Variant]) -> None:
    names = list(variants)
    name = names[place_of(state, "variant", names)]
    variant = variants[name]
    with st.container(key="present"):
        draw_head(state, "variant", names, title=title(name), key="lab.present")
        _pictures(bench, variant, name)
        rows = {(row.evaluator, row.probe): row for row in result.rows}
        first = rows[result.evaluators[0], name]
        _caption(first)
        cells = st.grid(min(len(result.evaluators), 4), min_column_width=220, gap="small")
        for evaluator in result.evaluators:
            with cells.container(border=True, gap="xxsmall"):
                _score(result, rows[evaluator, name])


def _pictures(bench: Workbench, variant: Variant, name: str) -> None:
    what = bench.item.label or "the picture"
    with st.container(horizontal=True, horizontal_alignment="center", gap="medium", key="present_pictures"):
        st.image(thumbnail(as_picture(bench.pixels), side=_SIDE), alt=f"{what}, as it is", width="stretch")
        if variant.pixels is not None:
            st.image(
                thumbnail(as_picture(variant.pixels), side=_SIDE), alt=f"{what}: {title(name).lower()}", width="stretch"
            )


def _caption(row: LabRow) -> None:
    before, after = row.baseline_caption, row.caption or ""
    said = safe(after, limit=400) if before in (None, after) else marked(word_changes(str(before), after))
    st.markdown(f"### “{said}”")


def _score(result: LabResult, row: LabRow) -> None:
    st.markdown(f"**{safe(row.evaluator)}**")
    if row.score is None or row.baseline_score is None:
        st.markdown(f"### {number(row.score)}")
        st.caption(safe(row.reason or "no score to compare with", limit=200))
        return
    moved = "—" if row.percent is None else signed(row.percent)
    st.markdown(f"## {number(row.baseline_score)} → {number(row.score)}")
    st.markdown(f"## {_coloured(row, moved)}")
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

"""The Probe lab before an audience: the stage, its phones' pictures, a slide of a story, what everybody takes home."""

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from core.charts.canvas import jpeg, thumbnail, word_changes
from core.charts.spec import colours, signed
from core.corpora.item_pictures import as_picture
from core.features.lab.lab import LabResult, LabRow
from core.features.lab.lab_figures import pair_of_bars, round_top
from core.probes.base import Probe, Variant
from core.probes.titles import title
from core.report.html import story_html
from core.scoring.workbench import Workbench
from core.settings import public_url
from core.statistics.changes import SHIFT_FLOOR
from core.stories.story import MOST_ROWS, Picture, Slide, Telling
from pages.views.common.access import audience_lacks, may_operate, operators_only, takes_audience
from pages.views.common.collect import collect_button, file_button
from pages.views.common.layers import button, draw_head, finding, place_of
from pages.views.common.links import LAB
from pages.views.common.page_head import code_svg
from pages.views.common.text import number, safe
from pages.views.common.url_state import PageState
from pages.views.failures.failure_card import marked
from pages.views.failures.failure_pictures import LARGE
from pages.views.probe_lab.lab_bars import bands_said, sheet_of
from pages.views.probe_lab.lab_picture import forget_object, said_for
from pages.views.probe_lab.lab_state import shared

COLUMNS = ("Metric", "Score", "% change", "Noise band, ±", "")


def _variant_slide(
    bench: Workbench, result: LabResult, variants: Mapping[str, Variant], name: str, link: Mapping[str, str]
) -> Slide:
    variant, what = variants[name], bench.item.label or "the picture"
    sides = [Picture(f"{what}, as it is", "jpg", jpeg(thumbnail(as_picture(bench.pixels), side=LARGE)))]
    if variant.pixels is not None:
        small = thumbnail(as_picture(variant.pixels), side=LARGE)
        sides.append(Picture(f"{what}: {title(name).lower()}", "jpg", jpeg(small)))
    rows = {row.evaluator: row for row in result.rows if row.probe == name}
    first = rows[result.evaluators[0]]
    before, after = first.baseline_caption, first.caption or result.caption
    said = f"“{after}”" if before in (None, after) else f"“{before}” → “{after}”"
    made = tuple(_row(result, rows[each]) for each in result.evaluators)
    of = _scored(result, f"one picture, probe {name}")
    return Slide(f"{title(name)}: {what}", (said[:400],), tuple(sides), COLUMNS, made, of, "", LAB, dict(link))


def view_slide(
    bench: Workbench, result: LabResult, probes: Sequence[Probe], chosen: str, link: Mapping[str, str]
) -> Slide:
    """What the lab shows: the edit that is ``chosen``, empty for none, and every edit with its scores."""
    made = bench.variants(probes, result.caption)
    what = bench.item.label or "the picture"
    sides = []
    edited = made[chosen].pixels if chosen in made else None
    if edited is not None:
        pairs = ((f"{what}, as it is", bench.pixels), (f"{what}: {title(chosen).lower()}", edited))
        sides = [Picture(alt, "jpg", jpeg(thumbnail(as_picture(each), side=LARGE))) for alt, each in pairs]
    sides.append(Picture(f"Every edit of {what} with its scores", "jpg", jpeg(sheet_of(bench, result, probes))))
    names = [each.name for each in probes if each.name in made][:MOST_ROWS]
    rows = tuple((said_for(name, bench.item)[:80], *_moved(result, name)) for name in names)
    said = (f"“{result.caption}”"[:400], f"Percent change of each score. {bands_said(result)}"[:400])
    heads, of = ("Edit", *result.evaluators), _scored(result, "one picture")
    return Slide(f"{what}: what moves its scores", said, tuple(sides), heads, rows, of, "", LAB, dict(link))


def _moved(result: LabResult, probe: str) -> list[str]:
    rows = {row.evaluator: row for row in result.rows if row.probe == probe}
    percents = (rows[each].percent if each in rows else None for each in result.evaluators)
    return ["—" if each is None else signed(each) for each in percents]


def _scored(result: LabResult, what: str) -> str:
    by = ", ".join(f"{each} ({str(result.fingerprints[each]['key'])[:8]})" for each in result.evaluators)
    return f"Scored in Try a picture by {by}; {what}, seed {result.seed}"[:400]


def _row(result: LabResult, row: LabRow) -> tuple[str, ...]:
    moved = "—" if row.percent is None else signed(row.percent)
    band = result.bands.get(row.evaluator)
    noise = f"{number(band.reach, digits=1)} %" if band else "not known"
    return row.evaluator, f"{number(row.baseline_score)} → {number(row.score)}", moved, noise, row.verdict


_ABOUT = "Each is one edit of one picture, with the scores before and after it; the numbers are of this picture alone."


def draw_hand_out(state: PageState, bench: Workbench, result: LabResult, probes: Sequence[Probe], *, key: str) -> None:
    """Draw the button; the file is made when it is asked for. Viewers take it home too: it is what they see. A file is
    made outside of the session that asked for it, so what it needs of the session is read before. A session keeps what
    makes its files as long as it is open, so that is the bench and not its variants."""
    link, caption = state.wanted(), result.caption
    file_button(
        "Hand-out as HTML",
        lambda: hand_out(link, bench, result, bench.variants(probes, caption)).encode(),
        f"{result.corpus}-{result.item}-hand-out.html",
        icon="co_present",
        key=key,
        disabled=not bench.variants(probes, caption) or not result.evaluators,
        help="One file with every picture and score, which any browser opens without a server",
    )


def hand_out(link: Mapping[str, str], bench: Workbench, result: LabResult, variants: Mapping[str, Variant]) -> str:
    """The document: a slide an edit, in the order of the probes, each with the lab's link to its own variant."""
    slides = tuple(_variant_slide(bench, result, variants, name, {**link, "variant": name}) for name in variants)
    what = bench.item.label or "a picture"
    return story_html(Telling(f"Try a picture: {what}, “{result.caption[:200]}”", slides, (), ()), about=_ABOUT)


def _draw_audience(state: PageState) -> None:
    if not (takes_audience() and may_operate()):
        return
    with st.popover("QR code", icon=":material/qr_code_2:", key="lab.audience.code"):
        if lacking := audience_lacks():
            st.caption(f"No phone could give a picture yet. Set {safe(', '.join(lacking))} and start the server again.")
        else:
            address = f"{public_url()}/probe_lab?source=upload&give=yes"
            st.image(code_svg(address), width=340, alt=f"QR code of {address}")
            st.caption(safe(address, limit=300))
    given = shared().uploads.given()
    with st.popover(f"From the audience: **{len(given)}**", icon=":material/inbox:", key="lab.audience.tray"):
        if not given:
            st.caption("Nothing was given yet.")
        if st.button("Look again", key="lab.audience.again", icon=":material/refresh:", type="tertiary"):
            st.rerun()
        for key, name, upload in given:
            picture, words = st.columns([1, 2], vertical_alignment="center")
            picture.image(thumbnail(upload.pixels(), side=160), alt=f"Given: {name}", width="stretch")
            words.caption(safe(name, limit=60))
            with words.container(horizontal=True, gap="xsmall"):
                opened = st.button("Open", key=f"lab.audience.open.{key}", on_click=_open, args=(state, key))
                st.button("Remove", key=f"lab.audience.remove.{key}", type="tertiary", on_click=_remove, args=(key,))
            if opened:
                st.rerun()  # the whole page, for another picture


@operators_only
def _open(state: PageState, key: str) -> None:
    forget_object(state)
    state.put("source", "upload")
    state.put("upload", key)


@operators_only
def _remove(key: str) -> None:
    shared().uploads.give(key, given=False)


_SIDE = 900  # longest side, in px, of a picture on the stage
_CLEAN = "lab.present.unedited"


def draw_present(state: PageState, bench: Workbench, result: LabResult, probes: Sequence[Probe]) -> None:
    """Open the stage where the link or the button asks for it; it shows what the lab has scored, and scores nothing.
    ``probes``: the chosen ones; those that cannot be applied have no page."""
    variants = bench.variants(probes, result.caption)
    if not variants or not result.evaluators:
        return
    hint = "One edit at a time over the whole screen; ← and → turn the pages, ↑ and ↓ the metrics, Esc leaves"
    button("Present", "slideshow", "lab.present.open", state.put, "present", True, type="tertiary", help=hint)
    collect_button(lambda: view_slide(bench, result, probes, state.get("variant") or "", state.wanted()), key="lab")
    if state.get("present") and not finding():
        leave = partial(state.put, "present", False)
        opened = st.dialog(f"{len(variants)} edits of one picture", width="large", on_dismiss=leave)
        opened(_stage)(state, bench, result, probes)


def _stage(state: PageState, bench: Workbench, result: LabResult, probes: Sequence[Probe]) -> None:
    variants = bench.variants(probes, result.caption)
    names, evaluators = list(variants), result.evaluators
    name = names[place_of(state, "variant", names)]
    evaluator = evaluators[place_of(state, "looker", evaluators)]
    row = next(each for each in result.of(evaluator) if each.probe == name)
    with st.container(key="present"):
        draw_head(state, "variant", names, title=title(name), key="lab.present")
        before, after = row.baseline_caption, row.caption or ""
        said = safe(after, limit=400) if before in (None, after) else marked(word_changes(str(before), after))
        st.markdown(f"### “{said}”")
        left, right = st.columns([3, 2], gap="large", vertical_alignment="center")
        with left.container(key="present_pictures", horizontal_alignment="center"):
            variant = variants[name]
            what = bench.item.label or "the picture"
            if variant.pixels is None or st.session_state.get(_CLEAN):
                st.image(thumbnail(as_picture(bench.pixels), side=_SIDE), alt=f"{what}, as it is", width="stretch")
            else:
                edited = thumbnail(as_picture(variant.pixels), side=_SIDE)
                st.image(edited, alt=f"{what}: {title(name).lower()}", width="stretch")
        with right.container(gap="small"):
            _evaluator(state, evaluators, evaluator)
            _pair(result, row)
        with st.container(horizontal=True, gap="small", key="present_foot"):
            clean = bool(st.session_state.get(_CLEAN))
            button(
                "Show the edit" if clean else "Show it unedited",
                "compare",
                "lab.present.clean",
                st.session_state.__setitem__,
                _CLEAN,
                not clean,
                shortcut="O",
                disabled=variants[name].pixels is None,
            )
            draw_hand_out(state, bench, result, probes, key="lab.present.hand_out")
            _draw_audience(state)
    state.publish()  # what a key turned to is drawn without the rest of the page


def _evaluator(state: PageState, names: Sequence[str], name: str) -> None:
    at = names.index(name)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", gap="small"):
        st.markdown(f"## {safe(name)}", width="content")
        if len(names) == 1:
            return
        with st.container(horizontal=True, width="content", gap="xsmall", vertical_alignment="center"):
            st.markdown(f"{at + 1} of {len(names)}", width="content")
            for label, shortcut, icon, to in (
                ("Metric before", "Up", "arrow_upward", at - 1),
                ("Metric after", "Down", "arrow_downward", at + 1),
            ):
                off, there = not 0 <= to < len(names), names[to % len(names)]
                looks = {"shortcut": shortcut, "help": label, "disabled": off}
                button("", icon, f"lab.present.{label}", state.put, "looker", there, **looks)


def _pair(result: LabResult, row: LabRow) -> None:
    if row.score is None or row.baseline_score is None:
        st.markdown(f"# {number(row.score)}")
        st.caption(safe(row.reason or "no score to compare with", limit=200))
        return
    own = [each.score for each in result.of(row.evaluator) if each.score is not None]
    scores = (row.baseline_score, row.score)
    st.html(
        pair_of_bars(
            scores,
            top=round_top(max(*own, row.baseline_score, SHIFT_FLOOR)),
            colour=colours(result.evaluators)[row.evaluator],
            words=("Clean" if row.baseline_caption == result.caption else "Against", "Edited"),
            said=[number(each) for each in scores],
        )
    )
    # what should not have moved and did is orange, and so is a broken meaning that the score did not notice
    wrong = row.dropped is False or (row.dropped is None and row.in_null_band is False)
    st.markdown(f"# :orange[{signed(row.percent)}]" if wrong else f"# {signed(row.percent)}")
    band = result.bands.get(row.evaluator)
    noise = f"noise ±{number(band.reach, digits=1)} %" if band else "no run tells how far it moves by itself"
    said = f"{row.verdict} · {noise}" if row.verdict else noise
    st.caption(f"{said[:1].upper()}{said[1:]}")

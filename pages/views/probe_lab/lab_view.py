"""Probe lab: one picture, one caption, the chosen probes under every chosen evaluator, now; curves, a table, files."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.charts.canvas import thumbnail
from core.charts.spec import Axis as AlongAxis
from core.charts.spec import colours
from core.corpora.images import encode_png
from core.corpora.item_pictures import as_picture
from core.errors import InvariscopeError
from core.evaluators.memory import trim
from core.evaluators.pool import shared_pool
from core.features.lab.lab import LabResult, run_lab
from core.features.lab.lab_figures import shift_curves
from core.probes.base import IDENTITY, Probe
from core.probes.families.inserted import in_own_caption
from core.probes.titles import family_title, measured_in, sweeps_among, title
from core.scoring.workbench import Workbench
from pages.views.common.collect import csv_bytes, file_button
from pages.views.common.layers import button
from pages.views.common.open_runs import noise_band, present
from pages.views.common.page_drawings import NUMBER, TEXT, draw_figure, draw_table
from pages.views.common.page_head import header
from pages.views.common.text import safe, thousands
from pages.views.common.url_state import PageState
from pages.views.probe_lab.lab_audience import draw_hand_out, draw_present
from pages.views.probe_lab.lab_bars import Edited, charts, chosen_turn, edits_of, follow_rows, sheet_of
from pages.views.probe_lab.lab_closer_looks import asked_last, draw_places, draw_sight, draw_worst, follow
from pages.views.probe_lab.lab_picture import choose_picture, take_picked
from pages.views.probe_lab.lab_setup import choose_caption, choose_evaluators, choose_probes
from pages.views.probe_lab.lab_state import lab_state, shared, stamps, warm
from pages.views.probe_lab.lab_work import let_in


def _draw_downloads(state: PageState, bench: Workbench, result: LabResult, probes: Sequence[Probe]) -> None:
    variants = bench.variants(probes, result.caption)
    edited = [name for name, made in variants.items() if made.pixels is not None]
    stem = f"{result.corpus}-{result.item}"
    first, second = st.container(horizontal=True), st.container(horizontal=True, vertical_alignment="bottom")
    with first:
        file_button("Results as CSV", lambda: csv_bytes(result.table()), f"{stem}.csv", icon="table", key="lab.csv")
        file_button(
            "Results as JSON", lambda: result.as_json().encode(), f"{stem}.json", icon="data_object", key="lab.json"
        )
        file_button(
            "Contact sheet as PNG",
            lambda: encode_png(sheet_of(bench, result, probes)),
            f"{stem}-sheet.png",
            icon="grid_on",
            key="lab.sheet",
        )
        draw_hand_out(state, bench, result, probes, key="lab.hand_out")
    name = second.selectbox("One picture", (IDENTITY, *edited), key="lab.take", width=240, format_func=title)
    with second:
        file_button(
            "Picture as PNG",
            lambda: encode_png(as_picture(bench.image(bench.variants(probes, result.caption).get(name))[1])),
            f"{stem}-{name}.png",
            icon="image",
            key="lab.png",
        )


@contextmanager
def turn(bench: Workbench, caption: str, probes: Sequence[Probe], names: Sequence[str]) -> Iterator[None]:
    """Wait until few enough others edit and score; a view that was scored before waits for nobody."""
    place = st.empty()  # always there: what is drawn below keeps its place, and a tab that was opened stays open
    if shared().results.get(_view(bench, caption, probes, names)) is not None:
        yield
        return
    try:
        with let_in(shared().room, lambda: place.status("Other readers’ pictures come first …", type="compact")):
            place.empty()
            yield
    finally:
        trim()


def _view(bench: Workbench, caption: str, probes: Sequence[Probe], names: Sequence[str]) -> Hashable:
    item, asked = bench.item, (caption, tuple(probe.name for probe in probes), tuple(names), stamps(names), present())
    return (bench.image(None)[0], item.id, item.label, item.category, item.mask, *asked)


def compute(
    bench: Workbench,
    caption: str,
    probes: Sequence[Probe],
    names: Sequence[str],
    show: Callable[[LabResult], None] | None = None,
) -> LabResult:
    """Score now, or return what an earlier run found. ``show``: draws what is known after each evaluator."""
    key = _view(bench, caption, probes, names)
    place = st.empty()
    kept = shared().results.get(key)
    if kept is not None:
        return kept
    status = place.status("Starting …", type="compact")
    result = run_lab(
        bench,
        caption,
        probes,
        names,
        pool=shared_pool(),
        cache=partial(shared().embeddings_of, bench),
        progress=lambda step: status.update(label=f"{step} …"),
        band_of=partial(noise_band, present()),
        show=show,
    )
    shared().embeddings.flush()
    place.empty()
    return result if result.failures else shared().results.put(key, result)


def curves(result: LabResult) -> None:
    """Draw a curve along the strength of every edit of which several points were chosen, all evaluators in one."""
    rows = result.table()
    found = sweeps_among(dict.fromkeys(rows["probe"]))
    if not found:
        return
    cells = st.grid(min(len(found), 3), min_column_width=300, gap="medium")
    for (family, fact), points in found.items():
        along = AlongAxis(*measured_in(fact))
        figure = shift_curves(
            rows,
            points,
            title=family,
            along=along,
            colours=colours(result.evaluators),
            reaches={name: band.reach for name, band in result.bands.items()},
        )
        with cells.container(border=True):
            st.markdown(f"**{safe(family_title(family))}** along its strength")
            if figure.frame.empty:
                st.caption("No point has a percent change here.")
                continue
            alt = f"Percent change along the strength of {family_title(family)}, by metric"
            draw_figure(figure, key=f"lab.curve.{family}", alt=alt)
            if figure.shades:
                st.caption("Shaded: each metric’s noise band, in its colour.")


_MADE_OF = (
    "What an edited caption is made of. inserted: the caption above with one word before the object’s name; caption: "
    "the caption above, rewritten; template: There is a …, whatever caption is chosen; corpus: a caption of the corpus"
)


_INSIDE = "Share of the object that the metric's crop keeps"


def table(result: LabResult) -> None:
    """Draw every row with its score, Δ, % change and what to mind about it."""
    rows = result.table()
    mind = [_mind(row) for _, row in rows.iterrows()]
    columns = {
        "probe": TEXT("Edit", pinned=True),
        "axis": "Axis",
        "construction": TEXT("Made of", help=_MADE_OF),
        "evaluator": "Metric",
        "score": NUMBER("Score", format="%.4f"),
        "baseline_score": NUMBER("Baseline score", format="%.4f"),
        "delta": NUMBER("Δ", format="%+.4f", help="On the metric's own scale"),
        "percent": NUMBER("% change", format="%+.2f", help="— where the baseline is 0 or less"),
        "mind": TEXT("To note", width="medium"),
        "baseline": TEXT("Baseline", help="The probe whose score is the baseline"),
        "object_inside": NUMBER("Object inside", format="percent", help=_INSIDE),
        "caption": TEXT("Caption", width="large"),
        "baseline_caption": TEXT("Baseline caption", width="large"),
    }
    shown = rows.assign(mind=mind, probe=rows["probe"].map(title), baseline=rows["baseline"].map(title))[list(columns)]
    draw_table(shown, key="lab.table", alt="Scores and shifts of every probe", column_config=columns)
    known, asked = (sum(each[place] for each in result.known.values()) for place in (0, 1))
    if known:
        st.caption(
            f"{thousands(known)} of {thousands(asked)} encodings were kept from before ({100 * known / asked:.0f} %).",
            help="What a metric makes of a picture or a caption, or of a pair where it reads pairs. Of a corpus it "
            "is kept on the server's disk, of a picture or metric that somebody brought in memory alone.",
        )


def _mind(row: pd.Series) -> str:
    said = [str(row["reason"])] if row["reason"] else []
    if row["dropped"] is False or row["in_null_band"] is False:
        said.append(row["verdict"])
    if row["zero_baseline"]:
        said.append("baseline scores 0 or less, no % change")
    if row["truncated"]:
        said.append("caption truncated")
    if pd.notna(row["object_inside"]) and row["object_inside"] < 0.9:
        said.append("object partly cropped away")
    return "; ".join(said)


def draw() -> None:
    """Draw the view."""
    state = lab_state()
    state.restore()
    take_picked(state)
    brought = state.get("mask") or state.get("source") != "corpus"
    lost = "What you uploaded or painted is in this link for a day." if brought else ""
    header("Edit a picture or its caption: which scores change?", state, lost=lost)
    left, right = st.columns([4, 7], gap="medium")
    stage = right.container(key="lab_stage")
    with left.container(key="lab_bench", gap="small"):
        bench = choose_picture(state)
    if bench is None:
        with stage:
            st.info("Bring a picture to begin: upload one, take one, or pick a corpus item.", icon=":material/image:")
        state.publish()
        warm(state.get("evaluators"))
        return
    with left.container(gap="small"):
        caption = choose_caption(state, bench.item)
    thumb = stage.container(key="lab_thumb", horizontal=True, gap="small", vertical_alignment="center")
    with thumb:  # a phone's: the picture itself is further down there
        st.image(thumbnail(bench.picture, side=192), alt="The picture that is scored", width="content")
        st.text(caption)
    chips = stage.container(horizontal=True, gap="small", vertical_alignment="center", key="lab_chips")
    with chips:
        if state.get("source") == "corpus":
            button("Upload your picture", "upload", "lab.bring", state.put, "source", "upload", type="primary")
        probes = choose_probes(state)
        if state.get("subject") != "template":  # a societal word goes into the caption that was chosen
            probes = list(in_own_caption(probes))
        names = choose_evaluators(state, folded=True, own=True)
    state.publish()
    shifts = stage.container()
    with turn(bench, caption, probes, names):
        edited, result = _shifts(shifts, state, bench, caption, probes, names)
    if result is None:
        return
    with chips:
        draw_present(state, bench, result, probes)
    curves(result)
    follow_rows(state, [each.name for each in edited.rows])
    seen, places, worst, rows, files = st.tabs(
        ["What the metric saw", "Position map", "Worst harmless edit", "Table", "Downloads"],
        default={"places": "Position map", "worst": "Worst harmless edit"}.get(asked_last()),
        key=f"lab.tabs.{chosen_turn()}",  # a variant that is chosen opens the first one
    )
    searches = ((places.container(), draw_places), (worst.container(), draw_worst))
    with seen:
        draw_sight(state, bench, result, probes)
    with rows:
        table(result)
    with files:
        _draw_downloads(state, bench, result, probes)
    state.publish()
    if bench.item.frames:
        for tab in (places, worst):
            tab.caption("This is of one picture, and the item is a video. The view Video edits its frames.")
        return
    follow(*(draw_tab(tab, bench, caption, result.evaluators) for tab, draw_tab in searches))


def _shifts(
    stage: DeltaGenerator,
    state: PageState,
    bench: Workbench,
    caption: str,
    probes: Sequence[Probe],
    names: Sequence[str],
) -> tuple[Edited, LabResult | None]:
    chosen = state.get("variant") or ""
    with stage:
        try:
            edited = edits_of(bench, probes, caption)
            if not caption or not names:
                missing = "Name the object or type a caption" if not caption else "Choose a metric"
                st.info(f"{missing} to see how much each edit changes the score.", icon=":material/edit:")
                charts(bench, edited, None, chosen=chosen)
                return edited, None
            bars = st.empty()  # the edits first, then one column after the other, as it is scored

            def show(found: LabResult | None) -> None:
                with bars.container():
                    charts(bench, edited, found, chosen=chosen)

            show(None)
            result = compute(bench, caption, probes, names, show)
        except InvariscopeError as error:
            st.error(safe(str(error), limit=600))
            return Edited(), None
        show(result)
        return edited, result if result.rows else None

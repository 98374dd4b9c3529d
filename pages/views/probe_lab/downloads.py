"""What a reader takes home from the Probe lab: pictures, a table, a hand-out, and everything as JSON."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from core.charts.canvas import Cell, contact_sheet
from core.charts.style import signed
from core.corpora.images import encode_png
from core.corpora.stacks import as_picture
from core.probes.base import IDENTITY, Probe
from core.probes.titles import title
from core.scoring.lab_result import LabResult
from core.scoring.workbench import Workbench
from core.store.files import csv_text
from pages.views.common.downloads import counted_making
from pages.views.common.text import number
from pages.views.common.url_state import PageState
from pages.views.probe_lab.hand_out import draw_hand_out
from pages.views.probe_lab.made_of import apart


def draw_downloads(state: PageState, bench: Workbench, result: LabResult, probes: Sequence[Probe]) -> None:
    """Draw the buttons; each file is made when it is asked for, of a bench that may have forgotten its variants."""
    variants = bench.variants(probes, result.caption)
    edited = [name for name, made in variants.items() if made.pixels is not None]
    stem = f"{result.corpus}-{result.item}"
    first, second = st.container(horizontal=True), st.container(horizontal=True, vertical_alignment="bottom")
    first.download_button(
        "Results as CSV", counted_making(lambda: csv_text(result.table()).encode("utf-8-sig")),
        f"{stem}.csv", "text/csv",
        icon=":material/table:", on_click="ignore", key="lab.csv",
    )  # fmt: skip
    first.download_button(
        "Results as JSON", counted_making(lambda: result.as_json().encode()), f"{stem}.json", "application/json",
        icon=":material/data_object:", on_click="ignore", key="lab.json",
    )  # fmt: skip
    first.download_button(
        "Contact sheet as PNG", counted_making(lambda: encode_png(_sheet(bench, result, probes))),
        f"{stem}-sheet.png", "image/png",
        icon=":material/grid_on:", on_click="ignore", key="lab.sheet",
    )  # fmt: skip
    with first:
        draw_hand_out(state, bench, result, probes, key="lab.hand_out")
    name = second.selectbox("One picture", (IDENTITY, *edited), key="lab.take", width=240, format_func=title)
    second.download_button(
        "Picture as PNG",
        counted_making(
            lambda: encode_png(as_picture(bench.image(bench.variants(probes, result.caption).get(name))[1]))
        ),
        f"{stem}-{name}.png", "image/png", icon=":material/image:", on_click="ignore", key="lab.png",
    )  # fmt: skip


def _sheet(bench: Workbench, result: LabResult, probes: Sequence[Probe]) -> np.ndarray:
    return contact_sheet([_cell(bench, result, None), *(_cell(bench, result, probe) for probe in probes)],
                         title=f"{result.caption}   ({result.corpus} / {result.item})")  # fmt: skip


def _cell(bench: Workbench, result: LabResult, probe: Probe | None) -> Cell:
    name = probe.name if probe else IDENTITY
    made = bench.variants([probe], result.caption).get(name) if probe else None
    scores = tuple(
        f"{row.evaluator} {number(row.score)}" + (f"  {signed(row.percent)}" if probe else "")
        for row in result.rows
        if row.probe == name
    )
    caption = (made.caption,) if made and made.caption else ()
    other = apart(probe.construction, bench.item, result.caption) if probe else ""
    return Cell(as_picture(bench.image(made)[1]), (f"{name} ({other})" if other else name, *caption, *scores))

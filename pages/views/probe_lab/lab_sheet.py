"""The Probe lab's view on one slide: the picture, every edit of it, what each evaluator says, and how to read it."""

from collections.abc import Sequence

import numpy as np

from core.charts.contact_sheet import STRONG, WEAK, Cell, Score, contact_sheet
from core.charts.spec import signed
from core.corpora.item_pictures import as_picture
from core.corpora.schema import Item
from core.errors import InvalidInput
from core.features.lab.lab import LabResult, LabRow
from core.probes.base import IDENTITY, Construction, Probe
from core.probes.words.templates import base_caption
from core.scoring.workbench import Workbench
from core.statistics.wording import listed
from pages.views.common.text import number
from pages.views.probe_lab.lab_picture import said_for

_APART: dict[str, str] = {Construction.TEMPLATE: "template", Construction.CORPUS: "corpus caption"}
"""What a caption is made of that is not the one that was chosen."""


def apart(construction: str | None, item: Item, caption: str) -> str:
    """Name what an edited caption is made of where it is not the caption that was chosen; else empty."""
    return "" if caption == template(item) or construction is None else _APART.get(construction, "")


def template(item: Item) -> str:
    """The bare template of an item; empty without a label."""
    try:
        return base_caption(item.label or "")
    except InvalidInput:
        return ""


def sheet_of(bench: Workbench, result: LabResult, probes: Sequence[Probe]) -> np.ndarray:
    """The lab's view as slides: every edit with its scores under each evaluator; see :func:`contact_sheet`."""
    made = bench.variants(probes, result.caption)
    cells = [_cell(bench, result, None), *(_cell(bench, result, each) for each in probes if each.name in made)]
    without = ", ".join(said_for(each.name, bench.item) for each in probes if each.name not in made)
    foot = how_read(result) + (f" Left out, since it cannot be made here: {without}." if without else "")
    return contact_sheet(cells, title=f"{bench.item.label or result.item}: “{result.caption}”", foot=foot)


def how_read(result: LabResult) -> str:
    """The legend of a sheet of one picture: what is compared, the marks, every evaluator's noise band."""
    marks = f"{STRONG} more than noise, {WEAK} as small as changes under edits that nobody can see. "
    return (
        f"Score and its percent change against the edit's baseline. {marks if result.bands else ''}"
        f"{bands_said(result)} One picture: {result.corpus} / {result.item}."
    )


def bands_said(result: LabResult) -> str:
    """How far every evaluator moves by itself, and of which ones no run tells it."""
    told = "; ".join(f"{name} ±{number(band.reach, digits=2)} %, n = {band.n}" for name, band in result.bands.items())
    return " ".join(filter(None, (told and f"Noise band: {told}.", not_told(result))))


def unmeasured(result: LabResult) -> list[str]:
    """Evaluators of which no run tells how far they move by themselves."""
    return [name for name in result.evaluators if name not in result.bands]


def not_told(result: LabResult) -> str:
    """Say of which evaluators no run tells how far they move by themselves; empty where it is told of each."""
    names = unmeasured(result)
    moves = "moves by itself" if len(names) == 1 else "move by themselves"
    return f"No run tells how far {listed(names)} {moves}." if names else ""


def _cell(bench: Workbench, result: LabResult, probe: Probe | None) -> Cell:
    name = probe.name if probe else IDENTITY
    made = bench.variants([probe], result.caption).get(name) if probe else None
    scores = tuple(_score(row) for row in result.rows if row.probe == name)
    said = said_for(name, bench.item) if probe else "As it is"
    other = apart(probe.construction, bench.item, result.caption) if probe else ""
    caption, against = made.caption if made and made.caption else "", result.compared_with(name)
    caption += f" (against: {against})" if caption and against else ""
    return Cell(as_picture(bench.image(made)[1]), f"{said} ({other})" if other else said, caption, scores)


def _score(row: LabRow) -> Score:
    if row.score is None:
        return Score(f"{row.evaluator}: no score")
    moved = "" if row.percent is None or row.probe == IDENTITY else f" · {signed(row.percent)}"
    other = row.baseline != IDENTITY and row.baseline_score is not None
    against = f" against {number(row.baseline_score)}" if other else ""
    broken = "" if row.dropped is None else f", {row.verdict}"
    outside = None if row.dropped is not None or row.in_null_band is None else not row.in_null_band
    said = f"{row.evaluator} {number(row.score)}{against}{moved}{broken}"
    return Score(said, None if row.probe == IDENTITY else outside)

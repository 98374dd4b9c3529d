"""The Probe lab's answer: every edit in a row, its picture or caption before its bars; the same as a sheet."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from core.charts.canvas import STRONG, WEAK, Cell, Score, contact_sheet, jpeg, thumbnail
from core.charts.spec import Figure, colours, signed
from core.corpora.item_pictures import as_picture
from core.corpora.schema import Item
from core.errors import InvalidInput, ProbeRejected
from core.evaluators import registry as evaluators
from core.features.lab.lab import LabResult, LabRow
from core.features.lab.lab_figures import GROUPS, Edit, answer, bars_beside, furthest, group_of, is_cut, shift_bars
from core.probes.base import IDENTITY, Construction, Probe, Variant
from core.probes.pairs import subject_of
from core.probes.titles import title
from core.probes.words.templates import base_caption
from core.scoring.workbench import Workbench
from core.statistics.wording import listed
from pages.views.common.access import AUDIT, may_operate
from pages.views.common.links import link_to
from pages.views.common.text import component, counted, number, safe
from pages.views.common.url_state import PageState
from pages.views.probe_lab.lab_closer_looks import asked_last
from pages.views.probe_lab.lab_picture import data_address, said_for, said_of
from pages.views.probe_lab.lab_state import own_metrics, ready_evaluators

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
    marks = f"{STRONG} more than noise, {WEAK} as small as changes under edits that nobody can see. "
    foot = (
        f"Score and its percent change against the edit's baseline. {marks if result.bands else ''}"
        f"{bands_said(result)} One picture: {result.corpus} / {result.item}."
    ) + (f" Left out, since it cannot be made here: {without}." if without else "")
    return contact_sheet(cells, title=f"{bench.item.label or result.item}: “{result.caption}”", foot=foot)


def bands_said(result: LabResult) -> str:
    """How far every evaluator moves by itself, and of which ones no run tells it."""
    told = "; ".join(f"{name} ±{number(band.reach, digits=2)} %, n = {band.n}" for name, band in result.bands.items())
    return " ".join(filter(None, (told and f"Noise band: {told}.", not_told(result))))


def _unmeasured(result: LabResult) -> list[str]:
    return [name for name in result.evaluators if name not in result.bands]


def not_told(result: LabResult) -> str:
    """Say of which evaluators no run tells how far they move by themselves; empty where it is told of each."""
    names = _unmeasured(result)
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


_place = component("chosen_row")
_KEY, _TURN = "lab.row", "lab.chosen.turn"


def chosen_turn() -> int:
    """How often an edit was chosen by its row in this session."""
    return int(st.session_state.get(_TURN, 0))


def follow_rows(state: PageState, names: Sequence[str]) -> None:
    """Mark the place below which an edit is looked at, scroll to it when a row is clicked, and choose its edit."""

    def see() -> None:
        told = st.session_state[_KEY].get("edit")
        if told in names:  # a browser may say anything
            state.put("variant", told)
            asked_last("")
            st.session_state[_TURN] = chosen_turn() + 1

    _place(key=_KEY, data={"turn": chosen_turn()}, on_edit_change=see, height=1)


class Edited(NamedTuple):
    """The chosen edits of one picture."""

    rows: tuple[Edit, ...] = ()  # those that can be made, in the order of their groups
    left_out: str = ""  # the others with their reasons, in a sentence; empty without any
    notes: tuple[str, ...] = ()  # what is to be known of the rows, sentences in markdown


_SIDE = 160  # longest side, in px, of a row's picture: twice what it takes on the screen


def edits_of(bench: Workbench, probes: Sequence[Probe], caption: str) -> Edited:
    """Make every chosen edit; its row, or why it is left out. Raises InvariscopeError if an edit may not be made
    now."""
    subject = subject_of(bench.item, caption)
    made, left_out = list[tuple[Probe, Variant]](), dict[str, list[str]]()
    for probe in probes:
        found = bench.make(probe, subject)
        if isinstance(found, ProbeRejected):
            what, _, why = said_of(bench.item, found.detail).rpartition(" is left out: ")
            left_out.setdefault(why, []).append(what or title(probe.name))
        else:
            made.append((probe, found))
    made.sort(key=lambda each: GROUPS.index(group_of(each[0])))
    count = sum(map(len, left_out.values()))
    reasons = "; ".join(f"{', '.join(names)} ({why.rstrip('.')})" for why, names in left_out.items())
    told = f"{count} of {counted(len(probes), 'edit')} left out: {reasons}." if count else ""
    bare = template(bench.item)
    of_bare = [title(each.name) for each, _ in made if apart(each.construction, bench.item, caption) == "template"]
    note = f"Of “{safe(bare)}” and the like, not of the caption beside: {safe(', '.join(of_bare), limit=400)}."
    return Edited(tuple(_row(bench, *each) for each in made), told, (note,) if of_bare and bare else ())


def _row(bench: Workbench, probe: Probe, made: Variant) -> Edit:
    said = said_for(probe.name, bench.item) + (", for comparison" if probe.control else "")
    if made.pixels is None:
        return Edit(probe.name, said, group_of(probe), caption=made.caption or "", word=_word(probe, made))
    small = jpeg(thumbnail(as_picture(made.pixels), side=_SIDE))
    alt = f"{bench.item.label or 'picture'} after {said.lower()}"
    return Edit(probe.name, said, group_of(probe), data_address("jpeg", small), alt)


def _word(probe: Probe, variant: Variant) -> tuple[int, int]:
    """Where the word stands that was put into a caption or into the template; (0, 0) where none was."""
    word = str(variant.facts.get("modifier") or variant.facts.get("control") or "")
    if not word or probe.construction not in (Construction.INSERTED, Construction.TEMPLATE):
        return 0, 0
    start = int(variant.facts["at"]) if "at" in variant.facts else (variant.caption or "").find(word)
    return (start, start + len(word)) if start >= 0 else (0, 0)


_NOISE = (
    "Grey is noise: 95 of 100 edits that nobody can see, such as saving as JPEG, stay within it, as a pale bar does. "
    "Edits for comparison are not counted."
)
_HOW = (
    "Each bar is the percent change against the edit's baseline: the unedited pair, and of a word the caption beneath "
    "it, with a neutral word. Metrics share a scale unless one moves over three times as far as another. The noise is "
    "estimated from n such edits in the metric's run. Where an edit breaks the meaning its colour says whether the "
    "score drops beyond noise, as it must."
)


def charts(bench: Workbench, edited: Edited, result: LabResult | None, *, chosen: str = "") -> None:
    """Say how many edits move each score beyond its noise, and draw every edit with its bars, if there is a result."""
    names = [each.name for each in edited.rows]
    shifts = {name: _shifts(result, name, names) for name in result.evaluators} if result else {}
    clean = {row.evaluator: row.score for row in result.rows if row.probe == IDENTITY} if result else {}
    ends = {name: end for name in shifts if (end := _end(name, clean[name]))}
    heads = {name: _head(name, clean[name]) for name in shifts}
    if result:
        _warn(result)
    if not names:
        for name, head in heads.items():
            st.markdown(f"**{safe(name)}**: score of the unedited pair **{head}**. No edit is here to score.")
    bars = {name: _bars(bench, result, name, rows) for name, rows in shifts.items()} if result and names else {}
    if said := answer(bars, ends):
        st.markdown(f"**{safe(said, limit=2000)}**")
    bands = {
        name: f"±{number(band.reach, digits=2)} %, n = {band.n}{', wider than shown' if is_cut(bars[name]) else ''}"
        for name, band in (result.bands if result else {}).items()
        if name in bars
    }
    if bands:
        st.caption(_NOISE)
    if names:
        _offer_noise(result)
        alt = "; ".join(_spoken(*each) for each in bars.items()) or "Edits"
        rows = [replace(each, against=result.compared_with(each.name)) if result else each for each in edited.rows]
        st.html(bars_beside(rows, bars, heads=heads, bands=bands, alt=alt, chosen=chosen))
    if bars:
        st.caption("Click a row to see below what the metric saw of it.", help=_HOW)
    left_out = [safe(edited.left_out, limit=1500)] if edited.left_out else []
    for line in (*left_out, *edited.notes, *(_below(result, shifts) if bars and result else ())):
        st.caption(line)


def _offer_noise(result: LabResult | None) -> None:
    """Say of which metrics no run tells how far they move by themselves, and lead to the audit that would."""
    if result is None or not (said := not_told(result)):
        return
    names = _unmeasured(result)
    ready = [name for name in names if name in ready_evaluators()]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(safe(said, limit=600), width="content")
        if may_operate():
            asked = {"evaluators": ",".join(ready)} if ready else {"own": "yes"}
            label = "Audit it" if len(names) == 1 else "Audit them"
            link_to(AUDIT, label, icon=":material/play_circle:", query_params=asked)


def _shifts(result: LabResult, name: str, names: Sequence[str]) -> pd.DataFrame:
    rows = result.shifts(name)
    return rows.set_index("probe", drop=False).loc[list(names)] if len(names) else rows


def _warn(result: LabResult) -> None:
    for name, sentence in result.failures.items():
        st.warning(f"**{safe(name)}** did not score: {safe(sentence, limit=600)}", icon=":material/block:")
    for note in result.notes.values():
        st.warning(f"Memory ran short, the scores are whole. {safe(note, limit=400)}", icon=":material/memory:")


def _bars(bench: Workbench, result: LabResult, name: str, rows: pd.DataFrame) -> Figure:
    reach = result.bands[name].reach if name in result.bands else math.nan
    said = rows.assign(
        title=[said_for(each, bench.item) for each in rows["probe"]],
        baseline=[said_for(each, bench.item) for each in rows["baseline"]],
    )
    return shift_bars(said, low=-reach, high=reach, colour=colours(result.evaluators)[name])


def _scale(name: str) -> tuple[float | None, float | None]:
    known = name in evaluators.catalogue() or name in own_metrics()
    return evaluators.find(name).spec.score_range if known else (None, None)


def _head(name: str, score: float | None) -> str:
    """The unedited score to a thousandth of its scale, and the scale."""
    low, high = _scale(name)
    if low is None:
        return number(score)
    if high is None or high <= 0:
        return f"{number(score)}, from {low:g} up"
    return f"{number(score, digits=max(3 - round(math.log10(high)), 0))} on {low:g} to {high:g}"


def _end(name: str, score: float | None) -> str:
    """Which end of its scale an evaluator's score lies at; empty where it lies at none."""
    low, high = _scale(name)
    if score is None:
        return ""
    return "maximum" if high is not None and score >= high else "minimum" if low is not None and score <= low else ""


def _below(result: LabResult, shifts: Mapping[str, pd.DataFrame]) -> list[str]:
    """What is to be known of the bars, a line each; of evaluators that share it, once."""
    told: dict[str, list[str]] = {}
    for name, rows in shifts.items():
        for line in _known(result, name, rows):
            told.setdefault(line, []).append(name)
    return [
        line if len(names) == len(shifts) else f"**{', '.join(map(safe, names))}**: {line}"
        for line, names in told.items()
    ]


SMALL = 0.1  # share of the evaluator's typical unedited score below which a percent change is told to mean little


def _known(result: LabResult, name: str, rows: pd.DataFrame) -> Iterator[str]:
    typical = result.bands[name].typical if name in result.bands else math.nan
    clean = next(row.score for row in result.rows if row.evaluator == name and row.probe == IDENTITY)
    if clean is not None and abs(clean) < SMALL * typical:
        yield (
            f"The unedited score, {number(clean)}, is under a tenth of what is usual ({number(typical)}): percent "
            "changes of so little are large whatever happened. Is the caption true of the picture?"
        )
    if zero := int(rows["zero_baseline"].sum()):
        yield f"{counted(zero, 'edit')} without % change: the baseline scores 0 or less."
    if unscored := int(rows["score"].isna().sum()):
        yield f"{counted(unscored, 'edit')} without a score, see the table."


def _spoken(name: str, bars: Figure) -> str:
    frame = bars.frame[bars.frame["value"].notna()]
    if frame.empty:
        return f"Percent change under {name}: none is defined for {counted(len(bars.frame), 'edit')}"
    beyond = f"{int((~frame['hollow']).sum())} of {counted(len(frame), 'edit')} by more than noise; "
    return f"Percent change under {name}: {beyond if bars.shades else ''}largest {furthest(frame) or 'none'}"

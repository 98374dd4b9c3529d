"""Calibration: how much of the sensitivity a correction of strength λ removes, and what it costs in agreement.

The sweep over λ is under the hand: what one gets in a line, two figures, what was measured, and the rest folded.
"""

import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.analysis.table import View
from core.charts.layout import legend_above
from core.charts.spec import Figure, colours
from core.errors import InvariscopeError
from core.evaluators.calibrated import OVER_ORBITS, refusal
from core.features.calibration.calibration_figures import sensitivity_along, spearman_along
from core.features.calibration.fit import Fit, sweep_table
from core.features.calibration.measured import Measured, Settled, settled
from core.features.calibration.measurement import composable
from core.features.calibration.orbits import calibrated_families
from core.features.calibration.readings import CHOSEN, CHOSEN_MEASURED, FIXED, calibrator
from core.features.calibration.sweep import LAMBDAS
from core.probes.titles import family_title
from core.statistics.bootstrap import LEAST_N
from pages.views.calibration import calibration_state
from pages.views.calibration.by_construction import draw_constructed, notices
from pages.views.calibration.measured_calibration import LED, Source, draw_measured, lead, measurement, rests_on, surely
from pages.views.common.collect import data_buttons, figure_buttons, figures_of, file_button, of_scores
from pages.views.common.layers import button, draw_folded
from pages.views.common.links import draw_no_run
from pages.views.common.open_runs import Signature, present, run_of, scores, store, under_all, view
from pages.views.common.page_drawings import draw_figure
from pages.views.common.page_head import Chips, chips, drawn, header
from pages.views.common.scope_chips import choose_scope, say_withheld
from pages.views.common.slice_filters import choose_slice, describe, offer_relaxing
from pages.views.common.text import counted, listed, safe
from pages.views.common.url_state import PageState

CONSTRUCTED = "calib.constructed"
_LONG = 200  # letters from which a caveat stands folded with what it is about


@st.fragment
def draw_sweep(
    state: PageState, found: Fit, bands: calibration_state.Bands, source: Source, choices: Callable[[], None]
) -> None:
    """Draw everything that follows λ; only this part runs again while λ moves. ``choices``: draws the folded table of
    every way to calibrate."""
    key = source.key
    own, stale = measurement(source, found)
    usual = settled(found, own)
    strength = float(usual.strength if state.get("strength") is None else state.get("strength"))
    changed = calibration_state.effect(key, strength, LED, found) if own is None else own.effect(strength, measures=LED)
    notice, tested = notices(found, strength, source.view())
    long = _lead(found, own, strength, changed, notice if tested else "")
    if not tested:
        st.warning(notice, icon=":material/hearing_disabled:")
    _controls(state, found, usual, strength, source, tested=tested)
    measured = {} if own is None else own.sweeps
    table = sweep_table(found, bands, measured=measured, allowed=usual.choice.allowed)
    # of unedited pairs every score was stored: what was measured of them is the same
    orders = table[(table["measure"] == "spearman") & (table["split"] == "test")].dropna(subset=["value"])
    rho = spearman_along(orders, strength=strength, chosen=usual.chosen, colour=colours(orders["name"]))
    _how_to_read(found, usual)
    left, right = st.columns(2, gap="medium")
    with left.container(border=True, height="stretch", gap="xsmall"):
        _sensitivity(state, source, found, own, strength, usual, 0 if orders.empty else legend_above(rho))
    with right.container(border=True, height="stretch", gap="xsmall"):
        _agreement(state, found, orders, rho, usual)
    numbers = draw_measured(source, found, strength, own, stale)
    if own is None:
        long = [rests_on(changed, strength, found.basis), *long]

    def constructed() -> None:
        for sentence in long:
            st.caption(sentence)
        changes = partial(calibration_state.effect, key, strength, _found=found)
        draw_constructed(state, found, table, usual, strength, changes, source)

    asked = state.get("measure") != "sensitivity"
    st.session_state.setdefault(CONSTRUCTED, asked)
    with st.expander(
        "Every number, and use in a shell", expanded=asked or state.get("ablation"), icon=":material/table:"
    ):
        if numbers is not None:
            draw_folded("Each kind of edit", numbers, key="calib.measured.numbers")
        draw_folded("By the formula: every measure", constructed, key=CONSTRUCTED)
        choices()
        shell = partial(_take_home, found, table, strength, source.fingerprint)
        draw_folded("Use in a shell", shell, key="calib.shell", icon=":material/terminal:")
    state.publish()


def _controls(state: PageState, found: Fit, usual: Settled, strength: float, source: Source, *, tested: bool) -> None:
    left, right = st.columns(2, gap="medium", vertical_alignment="bottom")
    state.slide(
        left,
        "strength",
        "Strength",
        LAMBDAS,
        strength,
        format_func=lambda value: f"{value:g}",
        help="λ of the paper: 0 leaves the score as it is, 1 is the full correction",
    )
    with right.container(horizontal=True):
        hint = _BACK[usual.whence]
        disabled = strength == usual.strength
        button(usual.named, "my_location", "calib.back", state.put, "strength", None, help=hint, disabled=disabled)
        if not tested:
            # an edit's own orbit is scored by the file, a known edit's shift is not
            names = [found.evaluator]
            if not refusal(calibrator(found.terms, strength=1.0, evaluator=found.evaluator)):
                names.append(f"{found.evaluator}-calibrator.json")
            asked = ["--corpus", source.scope.corpus, "--evaluators", ",".join(names), "--subject", "human"]
            command = shlex.join(["python", "-m", "core", "audit", *asked, "--probes", "directional,default"])
            st.popover("How to test it", icon=":material/terminal:", key="calib.to_test", type="primary").markdown(
                f"To test it, run `{command.replace('`', '')}`."
            )
        fingerprint = source.fingerprint
        model = calibrator(found.terms, strength=strength, evaluator=found.evaluator, fingerprint=fingerprint)
        file_button(
            "Download calibrator",
            lambda: model.model_dump_json(indent=2).encode(),
            f"{found.evaluator}-calibrator.json",
            type="primary" if tested else "secondary",
            icon="download",
            key="calib.json",
            help="JSON: reading, λ, weights, shifts and the metric's fingerprint",
        )


def _how_to_read(found: Fit, usual: Settled) -> None:
    grey = (
        " Grey: strengths that cost more agreement than the limit, or push a family past the 95 % interval of its "
        "uncalibrated shift, on dev."
    )
    rule = (
        "Nothing chose the strength: by construction every larger one lowers every change."
        if usual.chosen is None
        else f"Best: the largest fall in change that keeps agreement within {found.epsilon:g} and makes no kind of "
        "edit clearly worse, on the pictures used for fitting."
    )
    note = f"{safe(usual.choice.note).capitalize()}. " if usual.choice.note else ""
    st.caption(
        f"Pictures not used for fitting, with 95 % bands. {rule}{'' if usual.choice.allowed.all() else grey} A click "
        "on a line chooses its strength.",
        help=f"{note}SD: standard deviation of the metric’s own unedited scores of these pictures, at each strength "
        "anew.",
    )


def _lead(found: Fit, own: Measured | None, strength: float, changed: pd.DataFrame, notice: str) -> list[str]:
    said = found.caveats(strength, measured=own is not None)
    for sentence in said:  # before any number
        if len(sentence) < _LONG:
            st.warning(safe(sentence, limit=800), icon=":material/priority_high:")
    if told := lead(changed, found.evaluator):
        st.markdown(f"**{told}**")
    variants = calibrator(found.terms, strength=1.0, evaluator=found.evaluator).variants
    longer = f"Scoring takes {1 + variants} times as long: each picture and {counted(variants, 'variant')} of it."
    if more := " ".join(filter(None, (surely(changed), notice, (longer if variants else "")))):
        st.caption(more)
    return [safe(sentence, limit=800) for sentence in said if len(sentence) >= _LONG]


def _picked(state: PageState, opens: str) -> None:
    if float(opens) in LAMBDAS:
        state.put("strength", float(opens))


_LEAST = "Back to the smallest strength that minimises the total sensitivity among those allowed, on the dev split"
_BACK = {
    CHOSEN: _LEAST,
    CHOSEN_MEASURED: f"{_LEAST}, every score of it scored",
    FIXED: "Back to the strength that the formula favours among those allowed. It is no choice: by construction every "
    "larger strength lowers every shift, whatever the scores are",
}
"""What the usual strength is, by where it comes from."""


def _agreement(state: PageState, found: Fit, rows: pd.DataFrame, figure: Figure, usual: Settled) -> None:
    st.markdown("**Agreement with other metrics, by strength**")
    if rows.empty:
        few = f"Of fewer than {LEAST_N} items, or scores that are all the same, no correlation is known."
        st.info(few if found.others else "There is no other metric to hold the score to; audit a second one.")
        return
    alt = f"Spearman correlation with {', '.join(found.others)} along the strength, with a band; {usual.told}"
    draw_figure(figure, key="calib.spearman", alt=alt, picked=partial(_picked, state))
    if found.people:
        st.caption(found.people)
    figure_buttons(figure, rows, "calibration-spearman", title="Agreement by strength", key="calib.s")


def _sensitivity(
    state: PageState, source: Source, found: Fit, own: Measured | None, strength: float, usual: Settled, above: int
) -> None:
    """Draw the change; where the figure beside it has room for a legend above it, this one is as much higher."""
    st.markdown(f"**Typical change, by strength, {found.basis if own is None else 'measured'}**")
    rows = calibration_state.axis_lines(source.key, own.file.made if own else "", found, own)
    rows = rows.assign(allowed=rows["strength"].map(dict(zip(LAMBDAS, usual.choice.allowed, strict=True))))
    figure = sensitivity_along(
        rows, strength=strength, chosen=usual.chosen, colour=calibration_state.axis_colours(rows["name"])
    )
    figure = replace(figure, height=figure.height + max(above - legend_above(figure), 0))
    alt = f"Sensitivity of {', '.join(rows['name'].unique()) or 'no axis'} along the strength, with a band"
    draw_figure(figure, key="calib.sensitivity", alt=alt, picked=partial(_picked, state))
    figure_buttons(figure, rows, "calibration-sensitivity", title="Unwanted change by strength", key="calib.a")


def _take_home(found: Fit, table: pd.DataFrame, strength: float, fingerprint: str) -> None:
    name = found.evaluator
    why_not = refusal(calibrator(found.terms, strength=strength, evaluator=name, fingerprint=fingerprint))
    audit = "" if why_not else f"python -m core audit --evaluators {name}-calibrator.json\n"
    st.caption(
        f"The file corrects the scores of a run. It is no evaluator by itself: {safe(why_not, limit=300)}."
        if why_not
        else "The file is its own evaluator wherever one is named, and corrects the scores of a run:"
    )
    told = f"{audit}python -m core calibrate apply {name}-calibrator.json RUN -o calibrated.csv"
    st.code(told, language="shell", wrap_lines=True)
    data_buttons(table, f"{name}-sweep", key="calib.table")


FILTERS = ("axes", "families", "categories", "coverage_bins")


def draw() -> None:
    """Draw the view."""
    files = present()
    state = calibration_state.calib_state(files)
    state.restore()
    told = "How far can unwanted changes be reduced, and what agreement with other metrics does it cost?"
    header(told, state, words=("calibration", "SD"))
    with drawn(state):
        if not store(files).runs():
            draw_no_run(evaluators=("conse-lite0", "grounding-judge"))
            return
        row = chips(state)
        _draw(state, files, choose_scope(state, files, row=row, without=("evaluators",)).only(), row)


def _of_the_picture(state: PageState, chosen: Slice, seen: View, evaluator: str) -> tuple[str, ...]:
    """Families to open on where the reader chose none: those over whose orbits a metric can be measured. None where
    that is all of them, or the reading corrects a known edit."""
    if state.get("reading") not in OVER_ORBITS or chosen.axes or chosen.families:
        return ()
    every = calibrated_families(seen, evaluator)
    own = composable(every)
    return own if len(own) < len(every) else ()


def _draw(state: PageState, files: Signature, scope: Narrowed, row: Chips) -> None:
    say_withheld(files, scope)
    chosen = choose_slice(state, files, scope, row, fields=FILTERS, more=False)
    # a score is held to the others of its run, also to those that the reader did not choose to look at
    every = under_all(files, scope)
    there = scores(files, scope).evaluators
    shown = state.get("evaluator") if state.get("evaluator") in there else there[0]
    place = row.scope.popover(f"Metric: **{safe(shown, limit=40)}**", key="calib.chip")
    evaluator = state.choose(place, "evaluator", "Metric", there, help="Whose scores are calibrated")
    charts = st.container()
    options = st.expander("Method and constraints", icon=":material/tune:")
    with options:
        calibration_state.choose(state, evaluator, calibration_state.references(scores(files, every).evaluators))
    asked = (state.get(name) for name in ("reading", "weights", "epsilon"))
    how: tuple[Any, ...] = (evaluator, *asked, tuple(state.get("against")), calibration_state.votes_present())
    own = _of_the_picture(state, chosen, view(files, every, chosen), evaluator)
    if own:
        chosen = replace(chosen, families=own)
    try:
        found, bands = calibration_state.fitted(files, every, chosen, *how)
    except InvariscopeError as error:
        charts.error(safe(str(error), limit=600))
        with charts:
            offer_relaxing(state, files, scope, chosen)
        return
    with options:
        if own:
            named = safe(listed([family_title(each) for each in own]))
            st.caption(f"Calibrated for edits that need the picture alone: {named}. Choose others under *Filters*.")
        calibration_state.tell(state, found, calibration_state.word_order(files, every, tuple(state.get("against"))))
    state.publish()
    whole = Slice(families=tuple(found.scores.families))
    every_family = replace(chosen, axes=(), families=())
    source = Source(
        (files, every, chosen, *how),
        run_of(files, scope.run),
        scope,
        calibration_state.fingerprint_of(files, scope, evaluator),
        lambda: calibration_state.fitted(files, every, whole, *how)[0],
        lambda: view(files, every, every_family),
    )
    figures_of(of_scores(state, files, every, describe(chosen)))
    with charts:
        choices = partial(calibration_state.draw_choices, state, files, every, chosen, evaluator)
        draw_sweep(state, found, bands, source, choices)

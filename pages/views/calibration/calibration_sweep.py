"""The sweep over λ under the hand: what one gets in a sentence, two figures, what it does to selectivity."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.questions.directional import needs
from core.analysis.questions.selective import headline, plane
from core.analysis.selectivity import NONE_VERIFIED, VERIFIED_ONLY, lack
from core.analysis.table import View
from core.charts.spec import PALETTE, colours
from core.evaluators.calibrated import refusal
from core.features.calibration.calibration_figures import before_after_bars, sensitivity_along, spearman_along
from core.features.calibration.effect import MEASURES as EVERY
from core.features.calibration.effect import OF_AXES, OF_ORDER
from core.features.calibration.fit import Fit, sweep_table
from core.features.calibration.measured import Measured, Settled, settled
from core.features.calibration.readings import CHOSEN, CHOSEN_MEASURED, FIXED, calibrator
from core.features.calibration.selective import change, lacking, measured_beside, moved
from core.features.calibration.sweep import LAMBDAS
from core.statistics.bootstrap import Interval
from core.statistics.flip_risk import GAPS
from core.statistics.rank_agreement import BAND_RESAMPLES
from pages.views.calibration.calibration_state import MEASURES, Bands, effect
from pages.views.calibration.measured_calibration import OPENS, Source, draw_measured, measurement, opened
from pages.views.common.collect import data_buttons, figure_buttons
from pages.views.common.layers import draw_folded
from pages.views.common.links import pairs_behind
from pages.views.common.page_charts import draw
from pages.views.common.page_tables import draw_table
from pages.views.common.shown_answers import spoken
from pages.views.common.slice_filters import slice_link
from pages.views.common.text import counted, listed, number, safe
from pages.views.common.url_state import PageState

LED = (OF_AXES, "spearman")
"""Measures that the sentence is of."""


def lead(changed: pd.DataFrame, strength: float, basis: str) -> str:
    """Say how much less the axes move at a strength, and what becomes of the order of the unedited scores.

    Args:
        changed: ``core.features.calibration.effect.before_after`` of the held-out items, or what was measured of them:
            LED at least.
        strength: λ, in [0, 1].
        basis: how the numbers came about, e.g. ``by construction`` or ``measured``.

    Returns:
        Markdown, its names made safe; empty where nothing is known.
    """
    axes = changed[changed["measure"] == OF_AXES].to_dict("records")
    axes = [row for row in axes if float(row["before"]) > 0 and not math.isnan(float(row["after"]))]
    moved = [_moved(row) for row in axes]
    if not moved:
        return ""
    known = changed[changed["measure"] == "spearman"].dropna(subset=["before", "after"])
    kept = [_order(row) for row in known.to_dict("records")]
    counts = sorted({int(row["n"]) for row in axes})
    of = f"{counts[0]} to {counted(counts[-1], 'held-out item')}" if counts[1:] else counted(counts[0], "held-out item")
    said = listed(moved)
    order = f" Rank agreement (Spearman): {'; '.join(kept)}." if kept else ""
    return f"**{said[0].upper()}{said[1:]}** at strength {strength:g}, {safe(basis)}, on {of}.{order}"


def _moved(row: dict[Any, Any]) -> str:
    """How much less an axis moves, with the interval of the ratio; no more is claimed than that allows."""
    share = 100 * (float(row["after"]) / float(row["before"]) - 1)
    low, high = (float(row.get(name, math.nan)) for name in ("ratio_low", "ratio_high"))
    ends = f"{number(row['before'])} → {number(row['after'])} SD"
    between = "" if math.isnan(low) else f"; after / before {low:.2f} to {high:.2f}"
    if round(abs(share)) == 0:
        return f"{safe(row['axis'])} edits change the score as far as before ({ends}{between})"
    told = f"{abs(share):.0f} % {'less' if share < 0 else 'more'}"
    chance = ", which may be chance" if low <= 1 <= high else ""
    return f"{safe(row['axis'])} edits change the score {told}{chance} ({ends}{between or '; no interval'})"


def _order(row: dict[Any, Any]) -> str:
    change = float(row["after"]) - float(row["before"])
    told = "as it was" if round(change, 3) == 0 else f"{'+' if change > 0 else '−'}{abs(change):.3f}"
    return f"with {safe(row['name'])} {told} ({number(row['before'])} → {number(row['after'])})"


_NAMED = (
    (
        "Selectivity",
        "value",
        "Probability that a broken meaning costs more than a harmless edit",
    ),
    ("Nuisance, SD", "nuisance", "Median over items of an item's median shift under the calibrated edits"),
    ("Signal, SD", "signal", "Median over items of what a broken meaning costs; a correction of known edits leaves it"),
)


def draw_selectivity(found: Fit, strength: float, view: Callable[[], View]) -> None:
    """Draw selectivity, nuisance and signal before and after a strength, on the held-out items.

    Args:
        view: of the scores that the fit was made of, with every family that they hold.
    """
    st.markdown("**Stable or deaf: selectivity, held out**")
    held = view()
    if why := lacking(held, found):
        _audited(held, found, why)
        return
    made = change(held, found, strength)
    if not made.before.value.n:
        st.caption("No held-out item has both a broken meaning that is known to be one and a calibrated edit.")
        return
    after = f"strength {strength:g}"
    rows = moved(made, found.evaluator, after)
    _plane(rows, ((found.evaluator, after),), "calibration-plane")
    tiles = st.grid(3, min_column_width=200)
    for title, name, told in _NAMED:
        before, then = getattr(made.before, name), getattr(made.after, name)
        with tiles.container(border=True):
            st.markdown(title, help=told)
            st.markdown(f"{number(before.estimate, digits=3)} → **{number(then.estimate, digits=3)}**")
            st.caption(f"95 % CI {_ends(before)} → {_ends(then)}, n = {counted(before.n, 'item')}")
    chance = [f"{end.chance:.3f}" for end in (made.before, made.after)]
    st.caption(f"Selectivity by chance, right and wrong sides exchanged: {' → '.join(chance)}")
    said = f"Harms: {', '.join(made.families)}. Drops: broken meanings of the same items that are known to be broken"
    st.caption(safe(f"{said}; {found.basis}.", limit=500))


def _audited(held: View, found: Fit, why: str) -> None:
    """Draw what an audit measured of calibrated evaluators beside this one, or say why there is nothing."""
    beside = () if needs(held.table) or lack(held) else measured_beside(held, found)
    if not beside:
        st.caption(safe(why, limit=600))
        return
    rows = headline(held)
    own = rows[rows["evaluator"].isin([found.evaluator, *beside]) & (rows["of"] == VERIFIED_ONLY)]
    if own["value"].isna().all():
        st.caption(safe(f"{NONE_VERIFIED[:1].upper()}{NONE_VERIFIED[1:]}.", limit=200))
        return
    _plane(own, tuple((found.evaluator, name) for name in beside), "calibration-audited")
    st.caption(
        safe(
            f"Measured by the audit, every edit and every broken meaning with its own orbit, over all of its "
            f"items: {', '.join(beside)}. The strength here changes nothing of it.",
            limit=500,
        )
    )


def _plane(rows: pd.DataFrame, moves: tuple[tuple[str, str], ...], stem: str) -> None:
    figure = plane(rows, stem, "Nuisance and signal", "", moves=moves)
    if not len(figure.frame):
        return
    draw(figure, key=f"calib.{stem}", alt=f"Nuisance and signal before and after: {spoken(figure)}")
    figure_buttons(figure, rows, stem, title="Nuisance and signal", key=f"calib.{stem}.files")
    st.caption(
        "Across: how much the calibrated edits change the score; up: what a broken meaning costs, both with their "
        "intervals; along a slanted line signal to nuisance is the same. An arrow to the left is more stable; one that "
        "also leads down is deaf. A click opens nothing: a point is all pairs of an evaluator."
    )


def _ends(found: Interval) -> str:
    return f"{number(found.low, digits=3)} to {number(found.high, digits=3)}"


Changed = Callable[[tuple[str, ...]], pd.DataFrame]
"""What a strength changes of some measures; see :func:`pages.views.calibration.calibration_state.effect`."""

_AXES = {"spatial": PALETTE[0], "societal": PALETTE[1], "object": PALETTE[2], "surface": PALETTE[3], "null": PALETTE[7]}


def draw_lead(key: tuple[object, ...], found: Fit, source: Source) -> None:
    """Say what one gets at the usual strength, what limits it first of all."""
    own, _ = measurement(source, key, found)
    _lead(key, found, own, settled(found, own).strength)


def _lead(key: tuple[object, ...], found: Fit, own: Measured | None, strength: float) -> None:
    for sentence in found.caveats(strength, measured=own is not None):  # before any number
        _caveat(sentence)
    scored = lead(own.effect(strength, measures=LED), strength, "measured, every score scored") if own else ""
    st.markdown(scored or lead(effect(key, strength, LED, found), strength, found.basis))


def _caveat(sentence: str) -> None:
    """Draw what must be said before a number; of a long one the first words, the rest on a click."""
    first, _, rest = sentence.partition(": ")
    if len(sentence) < _LONG or not rest:
        st.warning(safe(sentence, limit=800), icon=":material/priority_high:")
        return
    with st.expander(f"{safe(first)}: what the formula does", icon=":material/priority_high:"):
        st.markdown(safe(f"{rest[0].upper()}{rest[1:]}", limit=800))


_LONG = 200
"""Letters from which a caveat is folded."""


@st.fragment
def draw_sweep(
    state: PageState,
    key: tuple[object, ...],
    found: Fit,
    bands: Bands,
    fingerprint: str,
    source: Source,
    view: Callable[[], View],
) -> None:
    """Draw everything that follows λ; only this part runs again while λ moves.

    What one gets stands above it for the usual strength (:func:`draw_lead`), and here for another one.
    """
    own, stale = measurement(source, key, found)
    usual = settled(found, own)
    strength = _slider(state, usual)
    changed = partial(effect, key, strength, _found=found)
    if strength != usual.strength:
        _lead(key, found, own, strength)
    measured = {} if own is None else own.sweeps
    table = sweep_table(found, bands, measured=measured, allowed=usual.choice.allowed)
    left, right = st.columns(2, gap="medium")
    with left.container(border=True, height="stretch"):
        _spearman(state, table, found, strength, usual)
    with right.container(border=True, height="stretch"):
        _sensitivity(state, table, strength, usual)
    st.caption(
        f"Solid: held-out test split, {counted(found.n_test, 'item')}, {found.basis}; dashed: dev split, "
        f"{counted(found.n_dev, 'item')}{', which chose the best one' if usual.whence == CHOSEN else ''}."
        f"{' Dotted: held out, every score scored.' if own else ''}"
        f"{' Dash and dot: dev, every score scored; it chose the best one.' if 'measured dev' in measured else ''} "
        f"{' '.join(filter(None, ('Nothing of one source is on both sides.', safe(found.left_out))))} "
        "Shaded: strengths that cost no agreement above the limit and push no family past the 95 % interval of its "
        "uncalibrated "
        "shift, on dev. Bands: 95 %, "
        f"{BAND_RESAMPLES} bootstrap samples of sources, one set for all strengths. A click on a line chooses its "
        f"strength."
    )
    draw_measured(source, key, found, strength, own, stale)
    st.header(f"Before and after, strength {strength:g}, {found.basis}", anchor=False)
    _tiles(changed((OF_AXES,)), usual, strength)
    draw_selectivity(found, strength, view)
    _changes(state, changed, found, source)
    _take_home(found, table, strength, fingerprint)
    state.publish()


def _slider(state: PageState, usual: Settled) -> float:
    chosen = usual.strength
    key = state.key("strength.widget")
    st.session_state[key] = chosen if state.get("strength") is None else state.get("strength")
    row = st.container(horizontal=True, vertical_alignment="bottom", key="calib_strength")
    row.select_slider(
        "Strength",
        LAMBDAS,
        key=key,
        format_func=lambda value: f"{value:g}",
        on_change=_dragged,
        args=(state, key),
        help="λ of the paper: 0 leaves the score as it is, 1 is the full correction",
    )
    row.button(
        usual.told,
        icon=":material/my_location:",
        key="calib.back",
        on_click=state.put,
        args=("strength", None),
        help=_BACK[usual.whence],
    )
    if usual.choice.note:
        st.caption(f"{safe(usual.choice.note).capitalize()}.")
    return float(st.session_state[key])


def _picked(state: PageState, opens: str) -> None:
    """Take the strength of the point that was clicked."""
    if float(opens) in LAMBDAS:
        state.put("strength", float(opens))


def _dragged(state: PageState, key: str) -> None:
    state.put("strength", st.session_state[key])


_LEAST = "Back to the smallest strength that minimises the total sensitivity among those allowed, on the dev split"
_BACK = {
    CHOSEN: _LEAST,
    CHOSEN_MEASURED: f"{_LEAST}, every score of it scored",
    FIXED: "Back to the strength that the formula favours among those allowed. It is no choice: by construction every "
    "larger strength lowers every shift, whatever the scores are",
}
"""What the usual strength is, by where it comes from."""


def _spearman(state: PageState, table: pd.DataFrame, found: Fit, strength: float, usual: Settled) -> None:
    st.markdown("**Agreement with other metrics, by strength**")
    # of unedited pairs every score was stored: what was measured of them is the same
    rows = table[(table["measure"] == "spearman") & table["split"].isin(("dev", "test"))]
    if rows.empty:
        st.info("There is no other evaluator to hold the score to; audit a second one.")
        return
    figure = spearman_along(rows, strength=strength, chosen=usual.chosen, colour=colours(rows["name"]))
    draw(
        figure,
        key="calib.spearman",
        alt=f"Spearman correlation with {', '.join(found.others)} along the strength, with a band; {usual.told}",
        picked=partial(_picked, state),
    )
    figure_buttons(figure, rows, "calibration-spearman", title="Agreement by strength", key="calib.s")


def _sensitivity(state: PageState, table: pd.DataFrame, strength: float, usual: Settled) -> None:
    st.markdown("**Unwanted change, by strength**")
    rows = table[table["measure"] == "axis sensitivity"]
    axes = {axis: _AXES.get(axis, PALETTE[4]) for axis in rows["name"].unique()}
    figure = sensitivity_along(rows, strength=strength, chosen=usual.chosen, colour=axes)
    draw(
        figure,
        key="calib.sensitivity",
        alt=f"Sensitivity of {', '.join(axes) or 'no axis'} along the strength",
        picked=partial(_picked, state),
    )
    figure_buttons(figure, rows, "calibration-sensitivity", title="Unwanted change by strength", key="calib.a")


def _tiles(axes: pd.DataFrame, usual: Settled, strength: float) -> None:
    tiles = st.grid(max(min(len(axes) + 1, 4), 1), min_column_width=180)
    at = LAMBDAS.index(strength)
    allowed = "yes" if usual.choice.allowed[at] else "no"
    tiles.metric(
        "Allowed on dev",
        allowed,
        border=True,
        height="stretch",
        help="Costs no agreement above the limit, and pushes no family further than the 95 % interval of its "
        "uncalibrated shift",
    )
    for row in axes.to_dict("records"):
        with tiles.container(border=True, height="stretch"):
            st.markdown(f"{safe(row['axis']).capitalize()} axis, median \\|Δ\\| in SD")
            st.markdown(f"{number(row['before'], digits=4)} → **{number(row['after'], digits=4)}**")
            st.caption(
                f"95 % CI {number(row['before_low'], digits=4)} to {number(row['before_high'], digits=4)} → "
                f"{number(row['after_low'], digits=4)} to {number(row['after_high'], digits=4)}, "
                f"n = {counted(row['n'], 'item')}"
            )


def _changes(state: PageState, changed: Changed, found: Fit, source: Source) -> None:
    colour = colours([found.evaluator])[found.evaluator]
    measure = state.switch(
        "measure", "Measure", {name: words for name, (words, *_) in MEASURES.items()}, label_visibility="collapsed"
    )
    rows = changed(OF_ORDER if measure == "agreement" else (str(measure),))
    _change(state, str(measure), rows.assign(opens=opened(rows["name"], found, source)), colour, found.basis, source)
    draw_folded("Every number", lambda: _numbers(changed(EVERY)), key="calib.every")


def _change(state: PageState, measure: str, rows: pd.DataFrame, colour: str, basis: str, source: Source) -> None:
    told = MEASURES[measure][1]
    if measure == "agreement":
        rows = rows.assign(
            name=rows["measure"].map(dict(zip(OF_ORDER, ("ρ", "τ_b", "τ_c"), strict=True))) + " with " + rows["name"]
        )
    if measure == "flip risk":
        gap = state.switch("gap", "Gap d", GAPS, format_func=lambda value: f"{100 * value:g} %")
        rows = rows[rows["gap"] == gap]
        sides = [f"{side}{end}" for side in ("before", "after") for end in ("", "_low", "_high")]
        rows = rows.assign(**{name: 100 * rows[name] for name in sides})
    rows = rows.dropna(subset=["before"])
    if rows.empty:
        st.caption("Nothing of this is known here.")
        return
    unit = " %" if measure in ("percent", "flip risk") else ""
    figure = before_after_bars(rows, colour=colour, unit=unit)
    draw(
        figure,
        key="calib.bars",
        alt=f"{told}, before and after calibration",
        clicked=partial(pairs_behind, chosen=slice_link(state), scope=source.link()),
    )
    gaps_shown = measure in ("sensitivity", "percent") and (rows["axis"] == "societal").any()
    societal = " The societal families' bars are the societal gaps." if gaps_shown else ""
    click = OPENS if rows["opens"].any() else " A click opens nothing: a bar is of unedited scores."
    st.caption(f"{told}; held-out split, {basis}, 95 % intervals over items, n on hover.{societal}{click}")
    figure_buttons(figure, rows, f"calibrated-{measure.replace(' ', '-')}", title=told, key="calib.f")


def _numbers(changed: pd.DataFrame) -> None:
    column = st.column_config.NumberColumn
    sides = [(side, end) for side in ("before", "after") for end in ("", "_low", "_high")]
    sides += [("ratio", end) for end in ("", "_low", "_high")]
    ends = {f"{side}{end}": column(f"{side}{end}".replace("_", " ").capitalize(), format="%.4f") for side, end in sides}
    draw_table(
        changed,
        alt="What the calibration changes, in numbers",
        column_config={
            "measure": "Measure",
            "axis": "Axis",
            "name": "Of",
            "gap": column("Gap", format="%g"),
            "n": column("n items"),
            **ends,
        },
    )
    data_buttons(changed, "calibration", key="calib.numbers")


def _take_home(found: Fit, table: pd.DataFrame, strength: float, fingerprint: str) -> None:
    st.header("Export", anchor=False)
    name = found.evaluator
    model = calibrator(found.terms, strength=strength, evaluator=name, fingerprint=fingerprint)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.download_button(
            "Calibrator as JSON",
            lambda: model.model_dump_json(indent=2).encode(),
            f"{name}-calibrator.json",
            "application/json",
            icon=":material/data_object:",
            on_click="ignore",
            key="calib.json",
            help="Reading, λ, weights, shifts and the evaluator's fingerprint",
        )
        data_buttons(table, f"{name}-sweep", key="calib.table")
    why_not = refusal(model)
    audit = "" if why_not else f"python -m core audit --evaluators {name}-calibrator.json\n"
    st.caption(
        f"The file corrects the scores of a run. It is no evaluator by itself: {safe(why_not, limit=300)}."
        if why_not
        else "The file is its own evaluator wherever one is named, and corrects the scores of a run:"
    )
    st.code(
        f"{audit}python -m core calibrate apply {name}-calibrator.json RUN -o calibrated.csv",
        language="shell",
        wrap_lines=True,
    )

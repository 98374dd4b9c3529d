"""What holds of a calibration by construction, and on the dev split: folded below what was measured."""

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from core.analysis.questions.directional import needs
from core.analysis.questions.selective import headline, plane
from core.analysis.selectivity import NONE_VERIFIED, VERIFIED_ONLY, lack
from core.analysis.table import View
from core.charts.spec import colours
from core.features.calibration.calibration_figures import before_after_dots, sensitivity_along, spearman_along
from core.features.calibration.effect import MEASURES as EVERY
from core.features.calibration.effect import OF_AXES, OF_ORDER
from core.features.calibration.fit import Fit, change, lacking, measured_beside, moved
from core.features.calibration.measured import Settled
from core.features.calibration.readings import CHOSEN
from core.features.calibration.sweep import LAMBDAS
from core.statistics.bootstrap import Interval
from core.statistics.flip_risk import GAPS
from core.statistics.rank_agreement import BAND_RESAMPLES
from pages.views.calibration.calibration_state import MEASURES, axis_colours
from pages.views.calibration.measured_calibration import OPENS, Source, opened
from pages.views.common.collect import data_buttons, figure_buttons
from pages.views.common.links import pairs_behind, scope_link
from pages.views.common.page_drawings import NUMBER, draw_figure, draw_table
from pages.views.common.shown_answers import spoken
from pages.views.common.slice_filters import slice_link
from pages.views.common.text import counted, number, safe
from pages.views.common.url_state import PageState

Changed = Callable[[tuple[str, ...]], pd.DataFrame]
"""What a strength changes of some measures; see :func:`pages.views.calibration.calibration_state.effect`."""


def draw_constructed(
    state: PageState, found: Fit, table: pd.DataFrame, usual: Settled, strength: float, changed: Changed, source: Source
) -> None:
    """Draw every line of both splits, every measure before and after, and selectivity."""
    rho, axes = (table[table["measure"] == name] for name in ("spearman", OF_AXES))
    rho = rho[rho["split"].isin(("dev", "test"))]  # of unedited pairs every score was stored: measured is the same
    for name, rows, figured, colour, title in (
        ("spearman", rho, spearman_along, colours(rho["name"]), "Agreement, both splits"),
        ("sensitivity", axes, sensitivity_along, axis_colours(axes["name"]), "Unwanted change, both splits"),
    ):
        if rows.empty:
            continue
        figure = figured(rows, strength=strength, chosen=usual.chosen, colour=colour)
        st.markdown(f"**{title}**")
        draw_figure(figure, key=f"calib.every.{name}", alt=f"{title}, along the strength")
        figure_buttons(figure, rows, f"calibration-{name}-splits", title=title, key=f"calib.every.{name}.files")
    measured = set(table["split"])
    st.caption(
        f"Solid: held-out test split, {counted(found.n_test, 'item')}, {found.basis}; dashed: dev split, "
        f"{counted(found.n_dev, 'item')}{', which chose the best one' if usual.whence == CHOSEN else ''}."
        f"{' Dotted: held out, every score scored.' if 'measured' in measured else ''}"
        f"{' Dash and dot: dev, every score scored; it chose the best one.' if 'measured dev' in measured else ''} "
        f"Bands: 95 %, {BAND_RESAMPLES} bootstrap samples of sources, one set for all strengths."
    )
    st.markdown(f"**Before and after, strength {strength:g}, {found.basis}**")
    _tiles(changed((OF_AXES,)), usual, strength)
    _change(state, changed, found, source)
    _draw_selectivity(found, strength, source.view)
    every = changed(EVERY)
    sides = [(side, end) for side in ("before", "after") for end in ("", "_low", "_high")]
    sides += [("ratio", end) for end in ("", "_low", "_high")]
    ends = {f"{side}{end}": NUMBER(f"{side}{end}".replace("_", " ").capitalize(), format="%.4f") for side, end in sides}
    columns = {
        "measure": "Measure",
        "axis": "Axis",
        "name": "Of",
        "gap": NUMBER("Gap", format="%g"),
        "n": NUMBER("n items"),
        **ends,
    }
    draw_table(every, alt="What the calibration changes, in numbers", column_config=columns)
    data_buttons(every, "calibration", key="calib.numbers")
    state.publish()


_NAMED = (
    ("Selectivity", "value", "Probability that a broken meaning costs more than a harmless edit"),
    ("Nuisance, SD", "nuisance", "Median over items of an item's median shift under the calibrated edits"),
    ("Signal, SD", "signal", "Median over items of what a broken meaning costs; a correction of known edits leaves it"),
)


def notices(found: Fit, strength: float, held: View) -> tuple[str, bool]:
    """Whether a calibrated score still falls at wrong captions, in a sentence; and whether that was tested at all."""
    if lacking(held, found):
        if needs(held.table) or lack(held) or not measured_beside(held, found):
            return "Not tested: whether it still notices wrong captions.", False
        return "Whether it still notices wrong captions is measured below, under *By the formula*.", True
    made = change(held, found, strength)
    before, after = made.before.signal, made.after.signal
    if not before.n:
        return "Not tested: whether it still notices wrong captions; too few pictures have both.", False
    return f"A wrong caption costs {number(before.estimate)} → {number(after.estimate)} SD of the score.", True


def _draw_selectivity(found: Fit, strength: float, view: Callable[[], View]) -> None:
    st.markdown("**Stable or deaf: selectivity, held out**")
    held = view()
    if why := lacking(held, found):
        # what an audit measured of calibrated evaluators beside this one, or why there is nothing
        beside = () if needs(held.table) or lack(held) else measured_beside(held, found)
        if not beside:
            st.caption(safe(why, limit=600))
            return
        audited = headline(held)
        own = audited[audited["evaluator"].isin([found.evaluator, *beside]) & (audited["of"] == VERIFIED_ONLY)]
        if own["value"].isna().all():
            st.caption(safe(f"{NONE_VERIFIED[:1].upper()}{NONE_VERIFIED[1:]}.", limit=200))
            return
        _plane(own, tuple((found.evaluator, name) for name in beside), "calibration-audited")
        said = "Measured by the audit, every edit and every broken meaning with its own orbit, over all of its items"
        st.caption(safe(f"{said}: {', '.join(beside)}. The strength here changes nothing of it.", limit=500))
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


def _plane(rows: pd.DataFrame, moves: tuple[tuple[str, str], ...], stem: str) -> None:
    figure = plane(rows, stem, "Nuisance and signal", "", moves=moves)
    if not len(figure.frame):
        return
    draw_figure(figure, key=f"calib.{stem}", alt=f"Nuisance and signal before and after: {spoken(figure)}")
    figure_buttons(figure, rows, stem, title="Nuisance and signal", key=f"calib.{stem}.files")
    st.caption(
        "Across: how much the calibrated edits change the score; up: what a broken meaning costs, both with their "
        "intervals; along a slanted line signal to nuisance is the same. An arrow to the left is more stable; one that "
        "also leads down is deaf. A click opens nothing: a point is all pairs of an evaluator."
    )


def _ends(found: Interval) -> str:
    return f"{number(found.low, digits=3)} to {number(found.high, digits=3)}"


def _tiles(axes: pd.DataFrame, usual: Settled, strength: float) -> None:
    tiles = st.grid(min(len(axes) + 1, 4), min_column_width=180)
    tiles.metric(
        "Allowed on dev",
        "yes" if usual.choice.allowed[LAMBDAS.index(strength)] else "no",
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


def _change(state: PageState, changed: Changed, found: Fit, source: Source) -> None:
    named = {name: words for name, (words, *_) in MEASURES.items()}
    measure = str(state.switch("measure", "Measure", named, label_visibility="collapsed"))
    rows = changed(OF_ORDER if measure == "agreement" else (measure,))
    rows, told = rows.assign(opens=opened(rows["name"], found, source)), MEASURES[measure][1]
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
    figure = before_after_dots(rows, colour=colours([found.evaluator])[found.evaluator], unit=unit)
    alt = f"{told}, before and after calibration"
    clicked = partial(pairs_behind, chosen=slice_link(state), scope=scope_link(source.scope))
    draw_figure(figure, key="calib.bars", alt=alt, clicked=clicked)
    gaps_shown = measure in ("sensitivity", "percent") and (rows["axis"] == "societal").any()
    societal = " The societal families' dots are the societal gaps." if gaps_shown else ""
    click = OPENS if rows["opens"].any() else " A click opens nothing: a dot is of unedited scores."
    st.caption(f"{told}; held-out split, {found.basis}, 95 % intervals over items, n on hover.{societal}{click}")
    figure_buttons(figure, rows, f"calibrated-{measure.replace(' ', '-')}", title=told, key="calib.f")

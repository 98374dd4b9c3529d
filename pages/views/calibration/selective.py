"""What a calibration does to selectivity, or why that is not known."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from core.analysis.questions.directional import needs
from core.analysis.questions.selective import headline, plane
from core.analysis.selectivity import NONE_VERIFIED, VERIFIED_ONLY, lack
from core.analysis.table import View
from core.calibration.fit import Fit
from core.calibration.selective import change, lacking, measured_beside, moved
from core.statistics.bootstrap import Interval
from pages.views.common.answers import spoken
from pages.views.common.downloads import figure_buttons
from pages.views.common.page_charts import draw
from pages.views.common.text import counted, number, safe

_NAMED = (
    ("Selectivity", "value", "Probability that a broken meaning costs more than a harmless edit moves; 0.5 is chance"),
    ("Nuisance, SD", "nuisance", "Median over items of an item's median shift under the calibrated edits"),
    ("Signal, SD", "signal", "Median over items of what a broken meaning costs; a correction of known edits leaves it"),
)


def draw_selectivity(found: Fit, strength: float, view: Callable[[], View]) -> None:
    """Draw selectivity, nuisance and signal before and after a strength, on the held-out items.

    Args:
        view: of the scores that the fit was made of, with every family that they hold.
    """
    st.markdown("**Calm or deaf: selectivity, held out**")
    held = view()
    if why := lacking(held, found):
        _audited(held, found, why)
        return
    made = change(held, found, strength)
    if not made.before.value.n:
        st.caption("No held-out item has both a broken meaning that is known to be one and a calibrated edit.")
        return
    after = f"λ = {strength:g}"
    rows = moved(made, found.evaluator, after)
    _plane(rows, ((found.evaluator, after),), "calibration-plane")
    tiles = st.grid(3, min_column_width=200)
    for title, name, told in _NAMED:
        before, then = getattr(made.before, name), getattr(made.after, name)
        with tiles.container(border=True):
            st.markdown(title, help=told)
            st.markdown(f"{number(before.estimate, digits=3)} → **{number(then.estimate, digits=3)}**")
            st.caption(f"95 % CI {_ends(before)} → {_ends(then)}, n = {counted(before.n, 'item')}")
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
    st.caption(safe(f"Measured by the audit, every edit and every broken meaning with its own orbit, over all of its "
                    f"items: {', '.join(beside)}. The strength here changes nothing of it.", limit=500))  # fmt: skip


def _plane(rows: pd.DataFrame, moves: tuple[tuple[str, str], ...], stem: str) -> None:
    figure = plane(rows, stem, "Nuisance and signal", "", moves=moves)
    if not len(figure.frame):
        return
    draw(figure, key=f"calib.{stem}", alt=f"Nuisance and signal before and after: {spoken(figure)}")
    figure_buttons(figure, rows, stem, title="Nuisance and signal", key=f"calib.{stem}.files")
    st.caption("Across: how far the calibrated edits move the score; up: what a broken meaning costs, both with their "
               "intervals; along a slanted line signal to nuisance is the same. An arrow to the left is calm; one that "
               "also leads down is deaf. A click opens nothing: a point is all pairs of an evaluator.")  # fmt: skip


def _ends(found: Interval) -> str:
    return f"{number(found.low, digits=3)} to {number(found.high, digits=3)}"

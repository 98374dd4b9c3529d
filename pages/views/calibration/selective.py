"""What a calibration does to selectivity, or why that is not known."""

from collections.abc import Callable

import streamlit as st

from core.analysis.table import View
from core.calibration.fit import Fit
from core.calibration.selective import change, lacking
from core.statistics.bootstrap import Interval
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
        st.caption(safe(why, limit=600))
        return
    made = change(held, found, strength)
    if not made.before.value.n:
        st.caption("No held-out item has both a broken meaning that is known to be one and a calibrated edit.")
        return
    tiles = st.grid(3, min_column_width=200)
    for title, name, told in _NAMED:
        before, after = getattr(made.before, name), getattr(made.after, name)
        with tiles.container(border=True):
            st.markdown(title, help=told)
            st.markdown(f"{number(before.estimate, digits=3)} → **{number(after.estimate, digits=3)}**")
            st.caption(f"95 % CI {_ends(before)} → {_ends(after)}, n = {counted(before.n, 'item')}")
    said = f"Harms: {', '.join(made.families)}. Drops: broken meanings of the same items that are known to be broken"
    st.caption(safe(f"{said}; {found.basis}.", limit=500))


def _ends(found: Interval) -> str:
    return f"{number(found.low, digits=3)} to {number(found.high, digits=3)}"

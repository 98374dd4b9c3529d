"""What a reader holds the findings against: the margin of the verdicts, and the fewest items of a finding."""

from dataclasses import dataclass

import streamlit as st

from core.analysis.verdicts import MARGIN
from core.statistics.bootstrap import LEAST_N
from pages.views.common.url_state import Field, PageState
from pages.views.results_parts import LARGEST_MARGIN, read_margin

LARGEST_LEAST = 10_000
"""Most items that a finding can be asked to rest on."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What findings and verdicts of the page are held against.

    Args:
        margin: equivalence margin in percent.
        least: fewest items of a finding and of a slice.
    """

    margin: float = MARGIN
    least: int = LEAST_N

    def said(self) -> str:
        """Both in words behind a sentence; empty where they are the usual ones."""
        if self == Thresholds():
            return ""
        return f" (yours: ±{self.margin:g} %, n ≥ {self.least})"


def threshold_fields() -> tuple[Field, ...]:
    """The fields of the link."""
    return (
        Field("margin", MARGIN, read_margin, lambda value: f"{value:g}"),
        Field("least", LEAST_N, _read_least),
    )


def thresholds(state: PageState) -> Thresholds:
    """What the link or the reader chose."""
    return Thresholds(float(state.get("margin")), int(state.get("least")))


def choose_thresholds(state: PageState) -> None:
    """Draw both, and say what follows from others than the usual ones."""
    with st.popover("Thresholds", icon=":material/tune:", type="tertiary"):
        st.number_input(
            "Margin, ± %", min_value=0.1, max_value=LARGEST_MARGIN, step=0.5, format="%g", key=state.key("margin"),
            help="A family is a finding where the interval of its median |%Δ| lies above this margin. How small a "
            "change would not matter to you?",
        )  # fmt: skip
        st.number_input(
            "Fewest items",
            min_value=LEAST_N,
            max_value=LARGEST_LEAST,
            step=10,
            key=state.key("least"),
            help=f"At least so many items with a %Δ behind a finding or a slice; under {LEAST_N} there is no interval.",
        )  # fmt: skip
        st.caption("Findings, slices and the verdicts of the fairness card on this page follow. The card to print and "
                   f"the report keep ±{MARGIN:g} % and n ≥ {LEAST_N}.")  # fmt: skip
    held = thresholds(state)
    if held != Thresholds():
        st.caption(
            f"Findings and verdicts of this page are held against a margin of ±{held.margin:g} % and rest on at least "
            f"{held.least} items; usual are ±{MARGIN:g} % and {LEAST_N}, which the card to print and the report keep."
        )


def _read_least(raw: str) -> tuple[int, str]:
    if raw.isascii() and raw.isdigit() and len(raw) <= 6 and LEAST_N <= int(raw) <= LARGEST_LEAST:
        return int(raw), ""
    return LEAST_N, f"The fewest items must be a number from {LEAST_N} to {LARGEST_LEAST}, got {raw[:40]!r}."

"""A metric checked before it is audited: the same as ``python -m core check``, as a job."""

from collections.abc import Sequence

import streamlit as st

from core.analysis.metric_breaks import MOST_FAILURES
from core.analysis.metric_check import ITEMS, PROBES, THRESHOLD
from core.errors import InvariscopeError
from core.jobs import jobs
from core.jobs.checking import CheckRequest, check_request
from core.probes import registry as probes
from core.probes.titles import family_title
from pages.views.common.callbacks import operators_only
from pages.views.common.text import safe

METRIC = "run.check.metric"
"""Session key of the metric that would be checked."""

_SAID = "run.check.said"


def draw_check(evaluators: Sequence[str]) -> None:
    """Draw the choice of a metric, the options of the check and its button; the job stands among the others.

    Args:
        evaluators: those chosen on the page, the metrics by path first.
    """
    with st.expander("Check my metric", icon=":material/rule:"):
        st.caption(
            "Tries every promise of a metric (shape, order, batches, determinism, range, NaN), then edits of the demo "
            "pictures and captions that change no meaning. It is a job: closing this page does not stop it."
        )
        if not evaluators:
            st.info("Choose an evaluator above, or name one by its path.", icon=":material/arrow_upward:")
            return
        if st.session_state.get(METRIC) not in evaluators:
            st.session_state[METRIC] = evaluators[0]
        chosen = st.selectbox("Metric", evaluators, key=METRIC, format_func=_short)
        left, middle, right = st.columns(3, vertical_alignment="bottom")
        threshold = left.number_input(
            "Threshold, %", 0.1, 1000.0, THRESHOLD, 0.5, key="run.check.threshold",
            help="Most that a family may move the score: the median over items of |%Δ|. A family fails where the 95 % "
            "interval lies above it, and is undecided where the interval lies astride or there are fewer than 10 "
            "items.",
        )  # fmt: skip
        items = middle.number_input(
            "Items", 3, 252, ITEMS, 1, key="run.check.items", help="Of the demo corpus, evenly spread."
        )
        strict = right.toggle("Strict", key="run.check.strict", help="An undecided family fails too.")
        families = st.multiselect(
            "Families", _families(), key="run.check.probes", format_func=family_title,
            placeholder=f"The usual ones: {', '.join(map(family_title, PROBES))}",
        )  # fmt: skip
        directional = st.toggle(
            "Also edits that break the meaning", key="run.check.directional", help="The score must drop."
        )
        most, least = _bounds() if directional else (MOST_FAILURES, None)
        request = _request(chosen, threshold, items, strict, families, directional, most, least)
        st.button(
            "Check it", key="run.check.start", icon=":material/play_arrow:", on_click=_start, args=(request,),
            disabled=request is None,
        )  # fmt: skip
        kind, said = st.session_state.pop(_SAID, ("", ""))
        if said:
            (st.error if kind == "error" else st.success)(safe(said, limit=600))
        if request is not None:
            st.code(request.shell(), language="shell", wrap_lines=True)


def _bounds() -> tuple[float, float | None]:
    left, right = st.columns(2)
    most = left.number_input(
        "Failures at most, %", 0.0, 100.0, MOST_FAILURES, 5.0, key="run.check.most",
        help="Of a family's comparisons, those in which the broken meaning scores at least as high; 50 is chance.",
    )  # fmt: skip
    least = right.number_input(
        "Selectivity at least", 0.0, 1.0, None, 0.05, key="run.check.least", placeholder="Not judged",
        help="Probability that a broken meaning costs more than a harmless edit moves the score; 0.5 is chance.",
    )  # fmt: skip
    return most, least


def _request(
    chosen: str, threshold: float, items: int, strict: bool, families: list[str], directional: bool, most: float,
    least: float | None,
) -> CheckRequest | None:  # fmt: skip
    try:
        return check_request(
            evaluator=chosen, threshold=threshold, items=items, strict=strict, probes=tuple(families),
            directional=directional, failures_at_most=most, selectivity_at_least=least,
        )  # fmt: skip
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600))
        return None


@operators_only
def _start(request: CheckRequest) -> None:
    """Put the check in line; a callback."""
    try:
        job = jobs.start(request)
    except InvariscopeError as error:
        st.session_state[_SAID] = ("error", str(error))
        return
    st.session_state[_SAID] = ("success", f"{job.id} was put in line, among the jobs. Its report appears there.")


def _families() -> tuple[str, ...]:
    return tuple(dict.fromkeys(probe.family for probe in probes.catalogue()))


def _short(reference: str) -> str:
    return reference.rpartition("/")[2] if ".py:" in reference else reference

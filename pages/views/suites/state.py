"""What the page remembers in its link: the suite, the measure of the figure, and what a job would be of."""

from collections.abc import Sequence

import streamlit as st

from core.analysis.suites.result import Files, SuiteResult, stored
from core.analysis.suites.tables import MEASURES
from core.evaluators.references import BY_WORDS
from pages.views.common.linked_paths import paths_of_link
from pages.views.common.url_state import Field, PageState, joined, one_of, some_of
from pages.views.probe_lab.state import default_evaluators, ready_evaluators

SUITES = "pages/suites.py"


@st.cache_data(max_entries=2, show_spinner="Reading the results …")
def held(files: Files) -> tuple[tuple[SuiteResult, ...], tuple[str, ...]]:
    """Every stored result, and a sentence for each file that is none."""
    return stored(files)


def suites_state(files: Files) -> PageState:
    """Fields of the page over these results."""
    ids = tuple(each.id for each in held(files)[0])
    return PageState(
        "suites",
        (
            Field("suite", None, one_of(lambda: ids, None, what="result of a suite")),
            Field("measure", None, one_of(lambda: tuple(MEASURES), None, what="measure")),
            Field("file", "", paths_of_link(limit=1000)),
            Field("folder", "", paths_of_link(limit=1000)),
            Field("judges", default_evaluators()[:1], some_of(judges, what="ready evaluator"), joined),
            Field("selves", False, lambda raw: (raw == "yes", ""), lambda value: "yes" if value else "no"),
        ),
    )


def judges() -> tuple[str, ...]:
    """What can be held to a suite here: evaluators that are ready, and metrics that read references alone."""
    ready = ready_evaluators()
    return (*ready, *(name for name in BY_WORDS if name not in ready))


def choose(state: PageState, results: Sequence[SuiteResult]) -> SuiteResult:
    """Draw the choice of a suite; return its result."""
    told = {each.id: each.told for each in results}
    chosen = state.choose(
        st.container(), "suite", "Suite", tuple(told), format_func=told.__getitem__,
        help="Judgements of people, read from these files in this way; each result is a file in the data folder.",
    )  # fmt: skip
    return next(each for each in results if each.id == chosen)

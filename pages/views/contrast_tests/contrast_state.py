"""What the page Does it notice? remembers in its link, the controls that set it, and what it says without a test."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from core.analysis.beside import every_caption
from core.analysis.comparisons import AUDIT, DIRECTIONAL, families
from core.analysis.facts import facts_of, unproven
from core.analysis.questions import Options
from core.analysis.questions.directional import needs
from core.analysis.scope import Narrowed, Scope, open_probes
from core.analysis.slices import CHOICES, Slice
from core.analysis.table import ScoreTable
from core.corpora.registry import catalogue
from core.features.metric_check.judged_families import MOST_FAILURES
from core.probes.titles import family_title
from pages.views.common import slice_filters
from pages.views.common.access import AUDIT as RUN_AUDIT
from pages.views.common.layers import button
from pages.views.common.links import CONTRAST, LAB, is_open, link_to
from pages.views.common.open_runs import KEYED, Signature, own_values, scores, store, stored_values, told_values, view
from pages.views.common.page_head import Chips, filter_panel
from pages.views.common.scope_chips import scope_fields
from pages.views.common.shown_answers import nothing, way_to
from pages.views.common.text import counted, safe
from pages.views.common.url_state import Field, PageState, checked, joined, one_of, some_of, switch_field, text, within

USUAL = Scope(directional=True)  # the scope of a reader who chose nothing: what holds directional probes
VIEWS = {"tests": "Tests", "selectivity": "Selectivity", "tables": "Every table"}
_ITEMS = {name: slice_filters.LABELS[name] for name in ("categories", "coverage_bins")}
_FACTS = {
    "knob": ("Knob", "The detail that is wrong in one picture of a pair, e.g. the count."),
    "domain": ("Domain", "What the pictures of a pair are of, e.g. animals."),
}
FILTERS = (*_ITEMS, *_FACTS, "bar", "verified", "upheld")  # fields that choose items and comparisons


def contrast_state(files: Signature) -> PageState:
    """Fields of the page over these runs."""

    def tests() -> tuple[str, ...]:
        rows = open_probes(store(files))
        return tuple(sorted(map(str, rows.loc[rows["expectation"] == DIRECTIONAL, "family"].unique())))

    def evaluators() -> tuple[str, ...]:
        return tuple(sorted(map(str, open_probes(store(files))["evaluator"].unique())))

    def values(name: str) -> tuple[str, ...]:
        return (stored_values(files) if name in _ITEMS else told_values(files, tuple(_FACTS)))[name]

    must, then = "The bar must be a percentage from 0 to 100", f"; {MOST_FAILURES:g} is used"
    fields = (
        *scope_fields(files),
        Field("show", "tests", one_of(lambda: tuple(VIEWS), "tests", what="view")),
        Field("test", None, one_of(tests, None, what="test")),
        Field("of", None, one_of(evaluators, None, what="evaluator")),
        Field("part", None, text(limit=80)),
        *(
            Field(name, [], some_of(partial(values, name), what=label.lower()), joined)
            for name, (label, _) in (_ITEMS | _FACTS).items()
        ),
        *slice_filters.own_fields(files),
        Field("bar", MOST_FAILURES, checked(within(0, 100), MOST_FAILURES, must, then=then), "{:g}".format),
        switch_field("verified"),
        Field("upheld", 0, slice_filters.percentage_of("upheld")),
    )
    return PageState("contrast", fields)


def choose_items(state: PageState, files: Signature, scope: Narrowed, row: Chips) -> Slice:
    """Draw the filters in their panel; return the slice that they make."""
    table = scores(files, scope)
    counts = _counts(files, scope)
    fields = (*_ITEMS, *_FACTS, "verified", "upheld")
    told = sum(bool(state.get(name)) for name in fields) + len(slice_filters.by_column(slice_filters.told_by(state)))
    about = "Every number on this page is of what the filters leave; a value's count is that of its items."
    with filter_panel(state, row, told=told, about=about):
        for name, (label, help_text) in (_ITEMS | _FACTS).items():
            items = counts[name]
            known = dict.fromkeys(state.get(name), 0) | dict(items)
            if len(known) > 1 or state.get(name):
                said = {value: f"{value} · {counted(n, 'item')}" for value, n in known.items()}.__getitem__
                key, every = state.key(name), f"All {len(known)}"
                st.multiselect(label, list(known), key=key, help=help_text, placeholder=every, format_func=said)
        slice_filters.choose_own(
            state, {key: {value: f" · {counted(n, 'item')}" for value, n in counts[key].items()} for key in table.own}
        )
        hint = (
            "Leaves out comparisons whose wrong side is not known to "
            "be wrong: those that are only presumed to be, and edits that tell nothing of it."
        )
        st.toggle("Verified only", key=state.key("verified"), help=hint)
        judged = int((~np.isnan(table.upheld)).sum())
        if judged or state.get("upheld"):
            slice_filters.percent_slider(
                state,
                "upheld",
                "Upheld by people, at least",
                "Share of people in a study who accept the right one and refuse the wrong one, or, where they were "
                "asked for a preference instead, prefer the right one. Where they rated single sides only, 100 % if "
                "the right one’s mean rating is higher, else 0 %. Above 0, comparisons that nobody judged are left "
                f"out; harmless edits are not filtered. Judged here: {counted(judged, 'comparison')}.",
            )
    return Slice(
        categories=tuple(state.get("categories")),
        coverage_bins=tuple(state.get("coverage_bins")),
        upheld=state.get("upheld") / 100 or None,
        told=(*((name, value) for name in _FACTS for value in state.get(name)), *slice_filters.told_by(state)),
    )


@st.cache_data(hash_funcs=KEYED, max_entries=8, show_spinner=False)
def _counts(files: Signature, scope: Narrowed) -> dict[str, dict[str, int]]:
    """Field of the filters -> its values, sorted, with how many items each has."""
    table = scores(files, scope)
    told = facts_of(table)
    values = {name: table.items[CHOICES.get(name, name)].dropna() for name in (*_ITEMS, *table.own)}
    for name in _FACTS:
        own = told.loc[told["key"] == name, ["corpus", "item", "value"]].astype(str).drop_duplicates()
        values[name] = own["value"]
    return {
        name: {str(value): int(n) for value, n in own.astype(str).value_counts().sort_index().items()}
        for name, own in values.items()
    }


def draw_nothing(files: Signature, scope: Narrowed, what: str) -> None:
    """Say that the filters leave nothing of something, and take them back on a click."""
    nothing([what])
    _clear(contrast_state(files), files, scope, what)


def _clear(state: PageState, files: Signature, scope: Narrowed, what: str) -> None:
    label = f"Clear filters ({counted(len(scores(files, scope).items), 'item')})"
    fields = (*(name for name in FILTERS if name != "bar"), *own_values(files))
    button(label, "filter_alt_off", f"contrast.relax.{what}", state.take_back, *fields)


def options_of(state: PageState, files: Signature, scope: Narrowed) -> Options:
    """What the reader set that changes an answer: where everything is verified, the verified ones are all."""
    return Options(known=bool(state.get("verified")) and _unproven(files, scope))


@st.cache_data(hash_funcs=KEYED, max_entries=8, show_spinner=False)
def _unproven(files: Signature, scope: Narrowed) -> bool:
    return any(map(unproven, every_caption(scores(files, scope))))


def tests_of(files: Signature, scope: Narrowed) -> dict[str, Narrowed]:
    """Every test that the runs of a scope hold -> the scope of its own caption, that of the page where it has it."""
    found: dict[str, Narrowed] = {}
    for table in every_caption(scores(files, scope)):
        found = dict.fromkeys(families(table.view()), table.scope) | found
    own = list(families(view(files, scope)))
    return {
        name: scope if name in own else found[name] for name in [*own, *(each for each in found if each not in own)]
    }


def choose_test(state: PageState, files: Signature, scope: Narrowed, first: Sequence[str]) -> tuple[str, str, Narrowed]:
    """Draw the choice of a test, some in their order first, and of an evaluator; return both, and the scope of the
    test's own caption."""
    scopes = tests_of(files, scope)
    scopes = {name: scopes[name] for name in dict.fromkeys((*first, *scopes)) if name in scopes}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        family = state.choose(
            st.container(width=280),
            "test",
            "Test",
            list(scopes),
            help="What breaks the meaning. A test that comes with its own caption names it.",
            format_func=lambda name: (
                family_title(name)
                + ("" if scopes[name].subject == scope.subject else f" (caption {scopes[name].subject})")
            ),
        )
        evaluator = choose_evaluator(state, scores(files, scopes[family]))
    return family, evaluator, scopes[family]


def choose_bar(state: PageState) -> float:
    """Draw the failures in percent that the reader accepts; return them."""
    st.number_input(
        "Your bar: failures at most, %",
        min_value=0.0,
        max_value=100.0,
        step=5.0,
        format="%g",
        width=220,
        key=state.key("bar"),
        help="How often may the broken side score as high before the metric is of no use to you? "
        "50 is chance. A row is within or beyond it by its whole interval.",
    )
    return float(state.get("bar"))


def choose_evaluator(state: PageState, table: ScoreTable) -> str:
    """Draw the choice of the evaluator that maps, histograms and failures are shown of; return it. Those that never see
    the image come last: they are there to be held against."""
    names = sorted(table.evaluators, key=lambda name: name in table.blind)
    return state.choose(
        st.container(width=280), "of", "Metric", names, help="Whose scores, orders, maps and worst failures are shown."
    )


def draw_no_test(files: Signature, scope: Narrowed) -> None:
    """Say why there is no test, and how one is audited in a shell or in the browser."""
    lack = needs(scores(files, scope))
    st.info(safe(f"{lack.what[:1].upper()}{lack.what[1:]}.", limit=600), icon=":material/rule:")
    way_to(CONTRAST, lack)
    st.markdown(
        "A directional probe breaks the meaning on purpose: words change places, an object that is not there "
        "is named, *no* is put in. The score must drop. This audits both halves, what breaks the meaning and "
        "what should not matter, on human captions:"
    )
    known, asked = catalogue(), "demo"  # for a corpus that is known by its stored run alone
    if scope.corpus in known:
        asked = f"{scope.corpus} --root path/to/{scope.corpus}" if known.get(scope.corpus).needs_root else scope.corpus
    st.code(AUDIT.replace("demo", asked), language="shell", wrap_lines=True)
    with st.container(horizontal=True):
        if is_open(RUN_AUDIT):
            link_to(RUN_AUDIT, "Run an audit", icon=":material/play_circle:")
        link_to(LAB, "Try one on a picture", icon=":material/science:")

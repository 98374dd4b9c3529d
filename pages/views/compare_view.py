"""Compare: two runs, evaluators or slices held against each other; Results pins what stands there as a side."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analysis.questions.columns import UNITS
from core.analysis.scope import Narrowed, Scope, holdings
from core.analysis.slices import CHOSEN_BY, Slice
from core.analysis.verdicts import NOT_REJECTED
from core.charts.layout import legend_above
from core.corpora.schema import OWN
from core.errors import InvalidInput
from core.features.compare import two_sides
from core.features.compare.comparison_figures import differences, dumbbell, of_scatter
from core.probes.titles import family_title
from core.report.document import p_value
from core.statistics.bootstrap import LEAST_N
from pages.views.common import open_runs, slice_filters
from pages.views.common.collect import Origin, figures_of, scores_of
from pages.views.common.links import draw_no_run
from pages.views.common.page_drawings import NUMBER, TEXT, draw_table
from pages.views.common.page_head import drawn, header
from pages.views.common.scope_chips import choose_scope, scope_fields
from pages.views.common.shown_answers import figure_block, interval
from pages.views.common.text import counted, safe
from pages.views.common.url_state import Field, PageState, joined, one_of, some_of
from pages.views.results_view import MANY, ONE, SIDES, choose_margin, margin_field

BY = {"family": "Family", "modifier": "Word", "probe": "Probe", "category": "Category", "coverage_bin": "Coverage"}
MEASURED = {"percent": "% change", "standardised": "Standardised Δ"}


@dataclass(frozen=True, slots=True)
class Side:
    """One side of the comparison."""

    scope: Narrowed  # one corpus, one run, one subject, one language
    chosen: Slice  # slice of one evaluator


def _compare_state(files: open_runs.Signature) -> PageState:

    def values(name: str) -> tuple[str, ...]:
        return open_runs.stored_values(files)[name]

    fields = []
    for side in SIDES:
        fields.append(Field(f"{side}_evaluator", None, one_of(partial(values, "evaluators"), None, what="evaluator")))
        for name, label in ONE.items():
            read = one_of(partial(open_runs.held_values, files, name), None, what=label.lower())
            fields.append(Field(f"{side}_{name}", None, read))
        for name, label in MANY.items():
            some = some_of(partial(values, name), what=label.lower())
            fields.append(Field(f"{side}_{name}", [], some, joined))
        fields += slice_filters.own_fields(files, side=f"{side}_")
    every = (
        *scope_fields(files),
        *fields,
        Field("by", "family", one_of(lambda: (*BY, *open_runs.own_values(files)), "family", what="level")),
        Field("measure", "percent", one_of(lambda: tuple(MEASURED), "percent", what="measure")),
        margin_field(),
    )
    return PageState("compare", every)


def side_scope(state: PageState, files: open_runs.Signature, scope: Narrowed, side: str) -> Narrowed:
    """The scope of one side: the page's, but for what the side chose otherwise. Raises InvalidInput if nothing is of
    all that the side chose."""
    own: Mapping[str, str | None] = {name: state.get(f"{side}_{name}") for name in ONE}
    rows = holdings(open_runs.store(files))
    runs: tuple[str, ...]
    if own["run"]:
        runs, corpus, rows = (own["run"],), own["corpus"], rows[rows["run"] == own["run"]]
    elif own["corpus"] and own["corpus"] not in dict(scope.runs):
        runs, corpus, rows = (), own["corpus"], rows[rows["corpus"] == own["corpus"]]
    else:
        runs, corpus = scope.run_ids, own["corpus"] or scope.corpus
    subject, language = (
        own[name] or (usual if usual in set(rows[name]) else None)
        for name, usual in (("subject", scope.subject), ("language", scope.language))
    )
    return open_runs.narrowed(files, Scope(runs=runs, corpus=corpus, subject=subject, language=language)).only()


def side_of(state: PageState, files: open_runs.Signature, scope: Narrowed, side: str) -> Side:
    """One side; without a chosen evaluator A has the first one of the scope and B the second. Raises InvalidInput as
    :func:`side_scope`."""
    own = side_scope(state, files, scope, side)
    many = {name: tuple(state.get(f"{side}_{name}")) for name in MANY}
    evaluator = state.get(f"{side}_evaluator") or _usual_evaluator(files, scope, own, side)
    told = slice_filters.told_by(state, side=f"{side}_")
    return Side(own, Slice(evaluators=(evaluator,), told=told, **many))  # type: ignore[arg-type]


def evaluators_of(files: open_runs.Signature, scope: Narrowed, own: Narrowed) -> tuple[str, ...]:
    """Evaluators of one side's run: those of the page's scope first."""
    there = open_runs.scores(files, own).evaluators
    return tuple(sorted(there, key=lambda name: (name not in scope.evaluators, name)))


def _usual_evaluator(files: open_runs.Signature, scope: Narrowed, own: Narrowed, side: str) -> str:
    return evaluators_of(files, scope, own)[: 2 if side == "b" else 1][-1]


def _swap(state: PageState) -> None:
    own = [field.name.removeprefix("a_") for field in state.fields if field.name.startswith(f"a_{OWN}")]
    for name in ("evaluator", *ONE, *MANY, *own):
        a, b = state.get(f"a_{name}"), state.get(f"b_{name}")
        state.put(f"a_{name}", b)
        state.put(f"b_{name}", a)


@st.cache_data(hash_funcs=open_runs.KEYED, max_entries=128, show_spinner="Holding the sides against each other …")
def _compared(files: open_runs.Signature, a: Side, b: Side, by: str, measure: str, margin: float) -> pd.DataFrame:
    one, other = (open_runs.view(files, side.scope, side.chosen) for side in (a, b))
    return two_sides.compare(one, other, by=by, measure=measure, margin=margin)  # type: ignore[arg-type]


def _side(state: PageState, files: open_runs.Signature, scope: Narrowed, side: str) -> bool:
    try:
        own = side_scope(state, files, scope, side)
        known = open_runs.known_values(files, own)
        said = f"Run {own.run}, corpus {own.corpus}, {own.subject} captions in {own.language}"
    except InvalidInput as error:
        own, known, said = None, {}, ""
        st.error(safe(str(error), limit=400))
    if own is not None:
        usual = _usual_evaluator(files, scope, own, side)
        options = [usual, *(name for name in evaluators_of(files, scope, own) if name != usual)]
        hint = "Whose scores this side holds: one of them."
        state.choose(st.container(), f"{side}_evaluator", "Metric", options, help=hint)
    set_ = any(state.get(f"{side}_{name}") for name in (*ONE, *MANY)) or slice_filters.told_by(state, side=f"{side}_")
    with st.expander("Run, edits and items", icon=":material/tune:", expanded=bool(set_)):
        for name in ONE:
            held = open_runs.held_values(files, name)
            if len(held) > 1:
                of_run = name != "run" and state.get(f"{side}_run")
                as_it_is = "What the run has" if of_run else f"As the page: {getattr(scope, name)}"
                st.selectbox(ONE[name], held, index=None, key=state.key(f"{side}_{name}"), placeholder=as_it_is)
        for name in MANY if known else ():
            chosen = state.get(f"{side}_{name}")
            if len(known[name]) > 1 or chosen:
                there = list(dict.fromkeys([*known[name], *chosen]))
                st.multiselect(
                    MANY[name],
                    there,
                    key=state.key(f"{side}_{name}"),
                    placeholder=f"All {len(known[name])}",
                    format_func=family_title if name == "families" else str,
                )
        if own is not None:
            slice_filters.choose_own(state, open_runs.scores(files, own).own, side=f"{side}_")
    if said:
        st.caption(safe(said, limit=200))
    return own is not None


def _level_name(by: str) -> str:
    return BY.get(by) or slice_filters.column_name(by)


def choose_how(state: PageState, own: Iterable[str]) -> None:
    """Draw the switches for levels, measure and margin. ``own``: keys of the columns of the items' owners, which make
    levels too."""
    levels = [*BY, *dict.fromkeys([*own, *([by] if (by := state.get("by")) not in BY else [])])]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.button("Swap sides", icon=":material/swap_horiz:", on_click=_swap, args=(state,), key="compare.swap")
        hint = "The levels that both sides have; all together stand above them."
        st.selectbox("A row for each", levels, format_func=_level_name, key=state.key("by"), width=150, help=hint)
        hint = (
            "Raw scores of two metrics have different scales, so sides are compared in percent of the "
            "baseline score, or in standard deviations of each side's own baseline scores."
        )
        state.switch("measure", "Measure", MEASURED, help=hint)
        hint = "Sides whose difference lies within this many percentage points are called alike."
        choose_margin(state, "Margin, ± points", width=140, disabled=state.get("measure") != "percent", help=hint)


_TITLES = {"drift": "signed change", "scatter": "size of the change"}


def draw_compared(table: pd.DataFrame, a: Side, b: Side, *, by: str, measure: str, margin: float) -> None:
    """Draw both sides' medians and their difference, of drift and of size, and the table of all. ``table``: of
    :func:`_compared`. ``a``, ``b``: its sides; a mark of one opens that side's pairs. ``margin``: equivalence margin in
    percentage points."""
    opens = {
        f"{name}_opens": [opened(side, by, str(label)) for label in table["label"]]
        for name, side in zip(SIDES, (a, b), strict=True)
    }
    unit, digits = UNITS[measure]
    names = two_sides.row_names(by, table["label"])
    what_by = by if by in BY else "own"  # it names files
    for of, what, rows in (("scatter", "size of the change", of_scatter(table)), ("drift", "change", table)):
        place = (
            st.container() if of == "scatter" else st.expander("Which way: signed change", icon=":material/swap_vert:")
        )
        cells, name = place.grid(2, min_column_width=330, gap="medium"), "" if of == "drift" else f"{of}-"
        with cells.container():
            figure = dumbbell(rows.assign(**opens), unit=unit, digits=digits, names=names, of=what)
            head = legend_above(figure)
            alt = f"Medians of {what} of both sides. {_spoken(rows, names)}"
            figure_block(figure, table, f"compare-{name}{what_by}", title=f"Both sides: {_TITLES[of]}", alt=alt)
        with cells.container():
            figure = differences(
                rows,
                unit=" pp" if measure == "percent" else unit,
                digits=digits,
                names=names,
                margin=margin if measure == "percent" else None,
            )
            figure = replace(figure, head=head)
            figure_block(
                figure,
                table,
                f"difference-{name}{what_by}",
                title=f"A − B: {_TITLES[of]}",
                alt=f"Difference of the sides with its 95 % interval. {_spoken(rows, names)}",
            )
    with st.expander("Every number, and how it was made", icon=":material/table:"):
        _rows(table, by, digits, names)
        ways = table["how"].value_counts()
        said = "; ".join(f"{way}: {count} of {len(table)} rows" for way, count in ways.items())
        st.caption(
            f"{said.capitalize()}. Paired: the median of the items' own differences, bootstrapped over items, those of "
            "one source together. Independent: the difference of the two medians, each side resampled by itself. 95 % "
            f"BCa intervals; Holm's correction is over {_corrected(table)}. Drift is of the signed change of an item, "
            "stability of its size: two sides can drift alike and differ in stability. A click on a mark of a side "
            "leads to its pairs; a difference is of two sets and opens nothing."
        )
        overlap = table.loc[(table["how"] == "independent") & (table["shared"] > 0), "shared"]
        if len(overlap):
            st.caption(
                f"Up to {int(overlap.max())} items stand on both sides and count on both, which draws the sides "
                "together."
            )


def opened(side: Side, by: str, label: str) -> str:
    """What a mark of a side opens: its pairs of one level, as the parameters of a link, a JSON object of texts. ``by``:
    of :data:`core.features.compare.two_sides.BY`. ``label``: of the level; that of all of them together asks for no
    level."""
    link = {name: getattr(side.chosen, name) for name in ("evaluators", *MANY)}
    told = side.chosen.told
    if label != two_sides.ALL and by in CHOSEN_BY:
        link[CHOSEN_BY[by]] = (label,)
    elif label != two_sides.ALL:
        told = (*(each for each in told if each[0] != by), (by, label))
    return json.dumps(
        {name: str(getattr(side.scope, name)) for name in ONE}
        | slice_filters.own_link(told)
        | {name: joined(values) for name, values in link.items() if values}
    )


def _corrected(table: pd.DataFrame) -> str:
    drift, scatter = (int(table[name].max()) for name in ("m_tests", "size_m_tests"))
    each = f"{counted(drift, 'test')} of drift and over {counted(scatter, 'test')} of stability, each by itself"
    aside = "; a control, and a row whose values are all equal, is none of them"
    return each + aside * (len(table) > min(drift, scatter))


def summary(table: pd.DataFrame, by: str, a: Side, b: Side) -> str:
    """In how many of the levels the sides are told apart, and which way; not a test of them together. ``table``: of
    :func:`_compared`."""
    rows = table[table["label"] != two_sides.ALL]
    if rows.empty:
        return ""
    apart = rows.loc[rows["scatter"] == two_sides.SCATTER_DIFFERS, "size_difference"]
    found = {
        "A is more stable": int((apart < 0).sum()),
        "B is more stable": int((apart > 0).sum()),
        "practically equal": int((rows["scatter"] == two_sides.SCATTER_ALIKE).sum()),
        "different by less than the margin": int((rows["scatter"] == two_sides.SCATTER_DIFFERS_WITHIN).sum()),
    }
    found["too close to call"] = len(rows) - sum(found.values())
    told = [f"{what} in {n}" for what, n in found.items() if n]
    told[0] += f" of {counted(len(rows), f'{safe(_level_name(by).lower())} row')}"
    one, other = (safe(side.chosen.evaluators[0]) for side in (a, b))
    who = "A and B" if one == other else f"{one} (A) and {other} (B)"
    back = rows[rows["size_conflict"] == NOT_REJECTED]
    if len(back):
        test = f"the test, corrected for the {counted(int(back['size_m_tests'].max()), 'row')} that allow one, does"
        told[-1] += f" (the interval leaves out 0 in {len(back)} of them; {test} not confirm it)"
    return f"**How far {who} move: {', '.join(told)}.**"


def _rows(table: pd.DataFrame, by: str, digits: int, names: Mapping[str, str]) -> None:
    signed = f"%+.{digits}f"
    numbers = [str(name) for name in table.select_dtypes("float") if name not in _P]
    # rounded, so that nothing reads as minus zero; the files keep every digit
    rounded = {name: table[name].round(3 if name == "cliffs_delta" else digits) + 0.0 for name in numbers}
    labels = [names.get(name, name) for name in table["label"]]
    shown = table.assign(**rounded, **{name: table[name].map(p_value) for name in _P}, label=labels)
    shown["ends"], look = interval(table, "low", "high", digits, signed=True)
    shown["size_ends"], _ = interval(table, "size_low", "size_high", digits, signed=True)
    columns = {
        "label": TEXT(_level_name(by), pinned=True, width=180),
        "a_value": NUMBER("Median A", format=signed),
        "b_value": NUMBER("Median B", format=signed),
        "difference": NUMBER("A − B", format=signed),
        "ends": look,
        "verdict": TEXT(
            "Drift",
            help="Differs: the 95 % interval of the difference excludes 0 and the corrected test rejects. "
            f"Alike: its 90 % interval lies within the margin. Below {LEAST_N} items on a side, or sources that "
            "they come from, no verdict is given.",
        ),
        "a_size": NUMBER("Median |Δ| A", format=f"%.{digits}f"),
        "b_size": NUMBER("Median |Δ| B", format=f"%.{digits}f"),
        "size_difference": NUMBER("|A| − |B|", format=signed),
        "size_ends": look,
        "scatter": TEXT("Stability", help="The same of how much items change, in either direction."),
        "a_n": NUMBER("n A", format="%d"),
        "b_n": NUMBER("n B", format="%d"),
        "how": "How",
        "n_items": NUMBER("n", format="%d", help="Pairs of the same item, or the items of both sides"),
        "test": "Test",
        "p": TEXT("p", alignment="right"),
        "p_holm": TEXT("p, Holm", alignment="right"),
        "m_tests": NUMBER("m", format="%d", help="Tests that Holm's correction runs over; 0 for a control"),
        "conflict": "Where interval and test differ",
        "cliffs_delta": NUMBER("Cliff’s δ", format="%+.3f", help="Of A over B, from −1 to 1"),
        "detectable": NUMBER(
            "It would have shown",
            format=f"%.{digits}f",
            help="Smallest true difference that these items and their spread show in four of five such runs",
        ),
        "needed": NUMBER(
            "n for the margin",
            format="%d",
            help="Items with which sides that do not differ are shown to be alike in four of five such runs",
        ),
        "note": TEXT("Remark", help="Why a number is missing, or what it cannot show"),
        "size_test": "Test, size",
        "size_p": TEXT("p, size", alignment="right"),
        "size_p_holm": TEXT("p, Holm, size", alignment="right"),
        "size_m_tests": NUMBER("m, size", format="%d"),
        "size_conflict": "Where they differ, size",
        "size_detectable": NUMBER("Size it would have shown", format=f"%.{digits}f"),
        "size_needed": NUMBER("n for the margin, size", format="%d"),
        "size_note": "Remark, size",
    }
    alt = "Both sides and their difference"
    draw_table(shown, alt=alt, key="compare.every", column_order=list(columns), column_config=columns)


_P = ("p", "p_holm", "size_p", "size_p_holm")


def _spoken(table: pd.DataFrame, names: Mapping[str, str]) -> str:
    said = []
    for row in table.head(12).to_dict("records"):
        ends = "no interval" if pd.isna(row["low"]) else f"{row['low']:+.2f} to {row['high']:+.2f}"
        said.append(
            f"{names.get(row['label'], row['label'])}: A {row['a_value']:+.2f}, B {row['b_value']:+.2f}, difference "
            f"{row['difference']:+.2f} ({ends}), {row['how']}, n {row['n_items']}"
        )
    return "; ".join(said)


def draw() -> None:
    """Draw the view."""
    files = open_runs.present()
    state = _compare_state(files)
    state.restore()
    header(
        "Two runs, two metrics or two slices: how much do they differ, and how sure is that?", state, words=("margin",)
    )
    with drawn(state):
        if not open_runs.store(files).runs():
            draw_no_run()
            return
        scope = choose_scope(state, files).only()
        answer, cells, found = st.container(), st.grid(2, min_column_width=300, gap="medium"), []
        for side in SIDES:
            with cells.container(border=True, height="stretch"):
                st.markdown(f"**Side {side.upper()}**")
                found.append(_side(state, files, scope, side))
        if all(found):
            a, b = (side_of(state, files, scope, side) for side in SIDES)
            _compare(state, files, a, b, answer)
            if a.scope.run == b.scope.run:
                return
            one, other = (open_runs.run_of(files, side.scope.run) for side in (a, b))
            st.markdown("## What the two runs were made with")
            table = two_sides.manifest_differences(one, other)
            if table.empty:
                st.caption("Nothing differs: the same corpus, edits, metrics, lexicons, seed and versions.")
                return
            columns = {"what": "What differs", "a": safe(f"A: {one.id}"), "b": safe(f"B: {other.id}")}
            draw_table(table, alt="What two runs were made with", key="compare.manifests", column_config=columns)


def _compare(state: PageState, files: open_runs.Signature, a: Side, b: Side, answer: DeltaGenerator) -> None:
    if a == b:
        st.info(
            "Both sides are the same. Choose another metric, run, family or kind of item on one of them.",
            icon=":material/balance:",
        )
        return
    choose_how(state, [key for side in (a, b) for key in open_runs.scores(files, side.scope).own])
    of = "; ".join(
        f"{name}: {scores_of(side.scope, slice_filters.describe(side.chosen))}" for name, side in (("A", a), ("B", b))
    )
    figures_of(Origin(state, of, files, (a.scope, b.scope)))
    by, measure, margin = state.get("by"), state.get("measure"), float(state.get("margin"))
    table = _compared(files, a, b, by, measure, margin)
    if table.empty:
        st.info("One side has no shift.", icon=":material/filter_alt:")
        for name, side in zip(SIDES, (a, b), strict=True):
            if not sum(open_runs.facet_counts(files, side.scope, side.chosen)["sign"].values()):
                slice_filters.offer_relaxing(state, files, side.scope, side.chosen, side=f"{name}_")
        return
    answer.markdown(summary(table, by, a, b))
    draw_compared(table, a, b, by=by, measure=measure, margin=margin)

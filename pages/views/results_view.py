"""Results: the questions of the audit with their answers, of whatever the filters leave."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analysis.lacks import Lack
from core.analysis.questions import SECTIONS, Drawing, Options, Question
from core.analysis.questions.columns import SIZES, Dots
from core.analysis.questions.families import PART as NOT_AUDITED
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.analysis.verdicts import MARGIN
from core.charts.spec import Reference, Shade
from core.probes.base import Axis
from core.probes.titles import family_title
from pages.views.common import shown_answers
from pages.views.common.collect import data_buttons, figures_of, of_scores
from pages.views.common.layers import button
from pages.views.common.links import FAILURES, RESULTS, draw_no_run, link_to
from pages.views.common.open_runs import Signature, facet_counts, held_values, present, scores, store, stored_values
from pages.views.common.page_head import chips, drawn, header
from pages.views.common.scope_chips import choose_scope, say_withheld, scope_fields
from pages.views.common.slice_filters import (
    Seen,
    choose_slice,
    describe,
    offer_relaxing,
    own_link,
    slice_fields,
    slice_link,
)
from pages.views.common.text import safe, thousands
from pages.views.common.url_state import Field, PageState, carried, checked, joined, one_of, switch_field, text, within

SHOWN = ("space", "object", "words", "corpora", "natural", "surface", "strength", "summary")
"""Sections on this page; flips and calibration have pages of their own."""

SIZE = "size"
MEASURED = {
    SIZE: "How far, %",
    "percent": "Which way, %",
    "standardised": "Which way, standardised",
    "delta": "Which way, score units",
}
"""What the figures show; how far items move, whichever way, where a figure of it is there."""
AGAINST = {"baseline": "Neutral of equal length", "bare": "Bare caption"}
LARGEST_MARGIN = 20.0
COMPARE = "compare"
SIDES = ("a", "b")
ONE = {"run": "Run", "corpus": "Corpus", "subject": "Subject caption", "language": "Language"}
"""What a side may have otherwise than the page's scope -> its label."""

MANY = {"families": "Family", "modifiers": "Modifier", "categories": "Category", "coverage_bins": "Coverage"}
"""Choice of a slice -> its label; a side has one evaluator and any number of these."""

_PINNED = "compare.pinned"


def _results_state(files: Signature) -> PageState:
    fields = (
        *scope_fields(files),
        *slice_fields(files),
        Field("question", SHOWN[0], one_of(lambda: SHOWN, SHOWN[0], what="section")),
        Field("part", None, text(limit=80)),
        Field("measure", SIZE, one_of(lambda: tuple(MEASURED), SIZE, what="measure")),
        switch_field("facets"),
        margin_field(),
        Field("against", "baseline", one_of(lambda: tuple(AGAINST), "baseline", what="baseline")),
        Field("of", None, one_of(partial(held_values, files, "evaluator"), None, what="evaluator")),
        Field("under", None, one_of(lambda: stored_values(files)["families"], None, what="family")),
        Field("reference", None, one_of(partial(held_values, files, "corpus"), None, what="corpus")),
    )
    return PageState("results", fields)


def choose_part(
    state: PageState, known: Mapping[str, Question], section: str
) -> tuple[tuple[Question, ...], DeltaGenerator]:
    """Draw the menu of what a section shows; return the questions of the chosen part, and the menu's place."""
    parts = list(dict.fromkeys(each.part for each in known.values() if each.section == section))
    parts.sort(key=lambda part: part == NOT_AUDITED)
    words = {name: f"{name[:1].upper()}{name[1:]}".replace("-", " ") for name in parts}
    now = words.get(state.get("part"), words[parts[0]])
    menu = st.popover(f"Show: **{safe(now)}**", icon=":material/tune:", key="results.menu")
    with menu:
        part = _choose_among(state, "part", "Part", words)
    asked = tuple(each for each in known.values() if each.section == section and each.part == part)
    return asked, menu


def _choose_among(state: PageState, name: str, label: str, options: Mapping[str, str], **drawn: Any) -> str:
    """Draw a switch whose options change with what is shown; the first stands for a choice that is not among them."""
    key, usual = f"{state.key(name)}.widget", next(iter(options))
    st.session_state[key] = state.get(name) if state.get(name) in options else usual
    return str(
        st.segmented_control(
            label,
            tuple(options),
            format_func=options.__getitem__,
            required=True,
            key=key,
            on_change=state.take,
            args=(name, key),
            **({"label_visibility": "collapsed"} | drawn),
        )
    )


def _choose_options(
    state: PageState, asked: Sequence[Question], corpora: Sequence[str], *, row: DeltaGenerator
) -> Options:
    names = {name for each in asked for name in each.asks}
    families = list(dict.fromkeys(name for each in asked for name in each.families))
    if names & {"measure", "margin"}:
        with row:
            drawings = [drawing for each in asked for drawing in each.figures]
            if "measure" in names:
                sized = any(map(_of_size, drawings))
                _choose_among(
                    state,
                    "measure",
                    "Measure",
                    {name: words for name, words in MEASURED.items() if sized or name != SIZE},
                    label_visibility="visible",
                    help="How far: the typical size of a change, up or down, in percent of the unedited score. Which "
                    "way: changes up and changes down offset each other. Standardised: over the standard deviation of "
                    "the metric's unedited scores, which compares metrics of different scales. Score units: on the "
                    "metric's own scale, a panel each.",
                )
                if any(map(_can_part, drawings)):
                    hint = "Metrics beside each other instead of on one line; the scale stays theirs together."
                    st.toggle("One panel per metric", key=state.key("facets"), help=hint)
            if "margin" in names:
                hint = (
                    "A median % change whose 90 % interval lies within this margin is called invariant. It is "
                    "yours to set: how small a change would not matter to you?"
                )
                choose_margin(state, "Margin, ± %", width=130, help=hint)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if "bare" in names:
            hint = (
                "The neutral word (typical, plain, ordinary) whose caption is closest in length, so that a "
                "longer caption is no excuse; or the caption without any word before the noun."
            )
            state.switch("against", "Held against", AGAINST, help=hint)
        family = reference = None
        if "family" in names and families:
            told = "The edits whose shifts are shown."
            family = state.choose(
                st.container(width=280), "under", "Family", families, help=told, format_func=family_title
            )
        if "reference" in names:
            told = "The corpus whose direction is held against the others."
            reference = state.choose(st.container(width=280), "reference", "Reference corpus", corpora, help=told)
    bare = "bare" in names and state.get("against") == "bare"
    return Options(margin=float(state.get("margin")), bare=bare, family=family, reference=reference)


def _of_size(drawing: Drawing) -> bool:
    return isinstance(drawing.make, Dots) and drawing.make.values == SIZES


def shown(question: Question, measure: str) -> tuple[Drawing, ...]:
    """Figures of a question that show this measure; all of one that has no figure of sizes."""
    if not any(map(_of_size, question.figures)):
        return question.figures
    return tuple(each for each in question.figures if _of_size(each) == (measure == SIZE))


def _can_part(drawing: Drawing) -> bool:
    return isinstance(drawing.make, Dots) and drawing.make.series == "evaluator" and not drawing.make.lines


def _parted(drawing: Drawing) -> Drawing:
    if not (_can_part(drawing) and isinstance(drawing.make, Dots)):
        return drawing
    panel = ("evaluator", *(name for name in drawing.make.panel if name != "evaluator"))
    return replace(drawing, make=replace(drawing.make, panel=panel))


def choose_margin(state: PageState, label: str, **drawn: Any) -> None:
    """Draw the field of a margin of :func:`margin_field`."""
    key = state.key("margin")
    st.number_input(label, min_value=0.1, max_value=LARGEST_MARGIN, step=0.5, format="%g", key=key, **drawn)


def margin_field() -> Field:
    """The field of a margin in percent."""
    must = f"The margin must be a percentage from 0.1 to {LARGEST_MARGIN:g}"
    return Field("margin", MARGIN, checked(within(0.1, LARGEST_MARGIN), MARGIN, must), "{:g}".format)


def _draw_questions(seen: Seen, asked: tuple[Question, ...], *, row: DeltaGenerator) -> None:
    state, files, scope, chosen = seen
    table = scores(files, scope)
    missing = {each.id: each.needs(table) for each in asked}
    there = tuple(each for each in asked if not missing[each.id])
    options = _choose_options(state, there, table.corpora, row=row) if there else Options()
    lacks = [Lack.of(reason) for reason in dict.fromkeys(filter(None, missing.values()))]
    ways = [lack.choose for lack in lacks]
    for place, (lack, way) in enumerate(zip(lacks, ways, strict=True)):
        st.info(safe(f"{lack.said[:1].upper()}{lack.said[1:]}", limit=600), icon=":material/library_add:")
        if lack.command:
            st.code(lack.command, language="shell", wrap_lines=True)
        if way and way not in ways[place + 1 :]:
            shown_answers.way_to(RESULTS, lack, question=state.get("question"))
    picked = [each for each in there if "evaluator" in each.pick]
    empty = dict[Question, Slice]()
    for question in there:
        own = chosen
        if question in picked:
            if question is picked[0]:
                told = "Whose map, curve or pairs of levels are shown."
                state.choose(st.container(width=280), "of", "Metric", table.evaluators, help=told)
            own = replace(chosen, evaluators=(_evaluator(state, table.evaluators),))
        frame = shown_answers.answer(files, scope, own, question.id, _asked(question, options))
        if frame.empty:
            empty[question] = own
            continue
        _draw(seen._replace(chosen=own), question, frame, options, several=len(table.corpora) > 1)
    if empty or not there:
        _draw_ways_out(seen, empty, options)


_EDITS = {Axis.SPATIAL: ("space", "picture"), Axis.SOCIETAL: ("words", "word"), Axis.SURFACE: ("surface", "surface")}
"""Edits -> the section that is of them, and what they are called on a button."""


def _draw_ways_out(seen: Seen, empty: Mapping[Question, Slice], options: Options) -> None:
    """Offer what fills a part whose questions are ``empty``: to take filters back, and other edits of the run."""
    state, files, scope, chosen = seen

    def fills(left: Slice) -> bool:
        return any(
            not shown_answers.answer(
                files, scope, replace(left, evaluators=own.evaluators), each.id, _asked(each, options)
            ).empty
            for each, own in empty.items()
        )

    if empty:
        shown_answers.nothing([each.title for each in empty])
        offer_relaxing(*seen, fills=fills)
    counts = facet_counts(files, scope, chosen)["axes"]
    with st.container(horizontal=True, gap="small"):
        for axis, (section, called) in _EDITS.items():
            if section != state.get("question") and (n := counts.get(axis.value, 0)):
                label = f"Show {called} edits ({thousands(n)})"
                button(label, "visibility", f"results.show.{section}", _show, state, section)


def _show(state: PageState, section: str) -> None:
    state.put("question", section)
    state.put("part", None)


def _asked(question: Question, options: Options) -> Options:
    """Of what a reader set, what changes this answer: the others need not be worked out again."""
    usual = Options()
    return replace(usual, **{name: getattr(options, name) for name in question.asks if name != "measure"})


def _draw(seen: Seen, question: Question, frame: pd.DataFrame, options: Options, *, several: bool) -> None:
    state, files, scope, chosen = seen
    chosen_measure = state.get("measure") if "measure" in question.asks else SIZE
    measure = "percent" if chosen_measure == SIZE else chosen_measure
    read = shown_answers.applied(files, scope, chosen, question, _asked(question, options))
    idle = [field.name for field in fields(Slice) if getattr(read, field.name) != getattr(chosen, field.name)]
    figures_of(of_scores(state, files, scope, describe(replace(read, evaluators=()))))
    link = {name: text for name, text in slice_link(state).items() if name not in idle}
    if not question.figures:
        st.markdown(f"**{safe(question.title)}**")
    for drawing in shown(question, chosen_measure):
        figure = (_parted(drawing) if state.get("facets") else drawing).figure(frame, measure=measure)
        if not figure.frame.empty:
            if "margin" in question.asks and measure == "percent" and figure.kind == "dots":
                least, sign = (0.0, "") if _of_size(drawing) else (-options.margin, "±")
                edge = Reference(
                    options.margin, text=f"median within {sign}{options.margin:g} %: unchanged", dash="dot"
                )
                figure = replace(figure, shades=(Shade(least, options.margin),), references=(*figure.references, edge))
            shown_answers.figure_block(
                figure,
                frame,
                drawing.id,
                title=drawing.title,
                alt=f"{drawing.title}. Medians: {shown_answers.spoken(figure)}",
                said=question.says(frame, options.margin),
                rule=question.rule.format(options.margin),
                chosen=link,
            )
    if idle:
        unused = describe(replace(Slice(), **{name: getattr(chosen, name) for name in idle}))
        st.caption(
            f":material/filter_alt_off: Not filtered here, for it changes nothing of it: {safe(unused, limit=300)}"
        )
    fold = (
        st.expander("Every number, and how it was made", icon=":material/table:")
        if question.figures
        else st.container()
    )
    with fold:
        if question.columns:
            shown_answers.answer_rows(question, frame, measure=measure, several=several)
        with st.container(horizontal=True, vertical_alignment="center"):
            if not question.figures:
                data_buttons(frame, question.id, key=f"results.{question.id}")
            st.caption(
                safe(" ".join(filter(None, (shown_answers.corrected(question, frame), question.note))), limit=2000)
            )


def _evaluator(state: PageState, names: tuple[str, ...]) -> str:
    return str(state.get("of")) if state.get("of") in names else names[0]


def pin(side: str, scope: Narrowed, chosen: Slice) -> None:
    """Pin a slice of a scope as one side; a callback. The side keeps its run, corpus, subject and language whatever the
    scope becomes. Where several evaluators are in view, the evaluator is left to the comparison."""
    kept = {name: value for name, value in pinned().items() if not name.startswith(f"{side}_")}
    link = {f"{side}_{name}": str(getattr(scope, name)) for name in ONE}
    link |= {f"{side}_{name}": joined(getattr(chosen, name)) for name in MANY if getattr(chosen, name)}
    link |= own_link(chosen.told, side=f"{side}_")
    evaluators = chosen.evaluators or scope.evaluators
    st.session_state[_PINNED] = kept | (link | ({f"{side}_evaluator": evaluators[0]} if len(evaluators) == 1 else {}))


def pinned() -> dict[str, str]:
    """What this reader pinned so far."""
    return dict(st.session_state.get(_PINNED, {}))


def draw_pins(
    state: PageState, scope: Narrowed, chosen: Slice, asked: Sequence[Question], families: Sequence[str]
) -> None:
    """Draw the buttons that pin this view; a part of one family pins that family, a test its evaluator."""
    family = next((each.part for each in asked if each.part in families), None)
    if family is None and any(each.families for each in asked):
        family = state.get("under")
    view = replace(chosen, families=(family,)) if family and not chosen.families else chosen
    if state.get("of") and any(each.pick for each in asked):
        view = replace(view, evaluators=(state.get("of"),))
    st.divider()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        hint = (
            "Pin it as one side, change the filters or the part, pin that as the other side, and open the comparison."
        )
        st.markdown("Compare with another view", width="content", help=hint)
        for side in ("a", "b"):
            held = any(name.startswith(f"{side}_") for name in pinned())
            icon = "keep" if held else "keep_off"
            button(f"Pin as {side.upper()}", icon, f"results.pin.{side}", pin, side, scope.only(), view)
        link_to(COMPARE, "Compare", icon=":material/compare_arrows:", query_params=carried() | pinned())


ACROSS = ("corpora", "natural")
"""Sections that hold corpora against each other or take them together; the others are of the corpus in view."""


def draw() -> None:
    """Draw the view."""
    files = present()
    state = _results_state(files)
    state.restore()
    header(SECTIONS[str(state.get("question"))][1], state, words=("family", "median", "interval", "noise band"))
    with drawn(state):
        if not store(files).runs():
            draw_no_run()
            return
        row = chips(state)
        whole = choose_scope(state, files, row=row, across=state.get("question") in ACROSS)
        beside = st.container(horizontal=True, vertical_alignment="center", gap="medium")
        with beside:
            sections = {name: SECTIONS[name][0] for name in SHOWN}
            state.switch("question", "Research question", sections, label_visibility="collapsed")
            section = str(state.get("question"))
        scope = whole if section in ACROSS else whole.only()
        say_withheld(files, scope)
        chosen = choose_slice(state, files, scope, row)
        if said := describe(chosen):
            st.caption(f"Filtered: {safe(said, limit=400)}")
        figures_of(of_scores(state, files, scope, describe(chosen)))
        with beside:
            asked, menu = choose_part(state, shown_answers.questions(files, scope), section)
            link_to(FAILURES, "See the pictures", icon=":material/photo_library:", query_params=carried(), primary=True)
        _draw_questions(Seen(state, files, scope, chosen), asked, row=menu)
        draw_pins(state, scope, chosen, asked, stored_values(files)["families"])

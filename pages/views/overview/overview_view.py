"""Start: which metrics are stable and sensitive, the worst finding with its pictures, the way in; more on a click."""

from collections.abc import Mapping
from dataclasses import replace
from html import escape

import pandas as pd
import streamlit as st

from core.analysis.both_demands import Answer, answers, demands, demands_figure, half_asked, verdict
from core.analysis.comparisons import families as broken_families
from core.analysis.overview import at_a_glance, not_on_card, shows_anything
from core.analysis.questions import Options
from core.analysis.questions.behind_the_scores import origins
from core.analysis.questions.selective import PLANE, unverified, usual
from core.analysis.scope import Narrowed, Scope
from core.analysis.selectivity import lack
from core.analysis.slices import Slice
from core.analysis.verdicts import passed
from core.charts.spec import Style, series_styles, sign
from core.errors import InvariscopeError
from core.probes.titles import family_title
from pages.views.common import open_runs
from pages.views.common.collect import figures_aside, figures_of, of_scores
from pages.views.common.layers import folded_part
from pages.views.common.links import CONTRAST, RUNS, draw_no_run, link_to, scope_link
from pages.views.common.page_head import header
from pages.views.common.scope_chips import CAPTIONS, choose_scope, say_withheld, scope_fields
from pages.views.common.shown_answers import answer, figure_block, spoken
from pages.views.common.text import counted, safe
from pages.views.common.url_state import PageState, switch_field
from pages.views.contrast_tests.contrast_tables import cells
from pages.views.overview import overview_findings
from pages.views.overview.overview_evaluators import Card, draw_card, draw_glance, draw_kinds
from pages.views.runs_view import warn_incomplete

FIRST = 4  # tiles that are always seen; those of further metrics open on a click


def _draw_answer(files: open_runs.Signature, both: Narrowed | None) -> None:
    if both is None:
        overview_findings.draw_ways()
        return
    seen = open_runs.view(files, both)
    found, styles = answers(demands(seen)), series_styles(demands_figure(seen))
    st.markdown(f"**{safe(verdict(demands(seen)), limit=1000)}**")
    coin = passed(cells(files, both, Slice(), Options()))
    tiles = [_tile(each, styles.get(each.evaluator), coin.get(each.evaluator, "")) for each in found]
    more = "".join(tiles[FIRST:])
    more = f"<details><summary>and {len(tiles) - FIRST} more</summary><ul>{more}</ul></details>" if more else ""
    st.html(f'<div class="tiles" style="--many:{min(len(tiles), FIRST)}"><ul>{"".join(tiles[:FIRST])}</ul>{more}</div>')
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="row_answer"):
        st.caption("On a typical picture. Guessing is right on half of the pairs.")
        overview_findings.draw_ways()


def _tile(answer: Answer, style: Style | None, coin: str) -> str:
    """One metric: its mark in the figure, its name, how many times, how sure, on how many tests it beats guessing."""
    mark, ends = sign(style) if style else "", f" (95 % interval {answer.ends})" if answer.ends else ""
    sentences = (f"{answer.said}{ends}", f"{coin[:1].upper()}{coin[1:]}")
    said = "".join(f"<small>{escape(each)}.</small>" for each in sentences if each)
    return f"<li><span>{mark}{escape(answer.evaluator)}</span><p><strong>{answer.told}</strong></p>{said}</li>"


def draw_plane(state: PageState, files: open_runs.Signature, scope: Narrowed, both: Narrowed | None) -> None:
    """Draw the plane of the scope or, where it holds one half of an audit alone, of what may stand in for it, named;
    where nothing does, the one axis alone with what was not asked."""
    own = both or scope
    seen = open_runs.view(files, own)
    figure = demands_figure(seen)
    if not len(figure.frame):
        st.caption(half_asked(seen) or "No item has both a broken meaning and a harmless edit with scores.")
        return
    if own != scope:
        named = f"run {own.run}, captions {CAPTIONS[own.subject]} ({own.language})"
        st.caption(safe(f"Of {named}: what is chosen above has no wrong captions.", limit=300))
    with figures_aside(of_scores(state, files, own)):
        said = f"{figure.title}: {spoken(figure)}"
        figure_block(figure, demands(seen), "overview-plane", title=figure.title, alt=said)
    st.caption(safe(figure.note, limit=500))
    if both is not None:
        link_to(CONTRAST, "Does it notice? All tests", icon=":material/rule:")


def falls_of(files: open_runs.Signature, scope: Narrowed) -> dict[str, str]:
    """What the scope says of each evaluator at broken meanings, in words that go on from its name."""
    found = demands(open_runs.view(files, scope))
    return dict(zip(found["evaluator"].astype(str), found["falls"], strict=True))


def selectivity(files: open_runs.Signature, scope: Narrowed) -> pd.DataFrame | None:
    """Selectivity an evaluator, column ``of`` says of which comparisons; None where no meaning is broken."""
    if lack(open_runs.view(files, scope)):
        return None
    found = usual(answer(files, scope, Slice(), f"{PLANE}-data", Options()))
    return found if len(found) else None


def with_both(files: open_runs.Signature, scope: Narrowed) -> Narrowed | None:
    """The scope where it holds both halves; else what may stand in for it; None where nothing does. Another run or
    caption stands in where it is of the same corpus and language, with those evaluators alone that the scope has too,
    with the same weights and code."""
    if not lack(open_runs.view(files, scope)):
        return scope
    wanted = Scope(corpus=scope.corpus, language=scope.language, directional=True, told=scope.told)
    try:
        other = open_runs.narrowed(files, wanted).only()
        own, there = _keys(files, scope), _keys(files, open_runs.under_all(files, other))
        shared = tuple(name for name in scope.evaluators if name in own and own[name] == there.get(name))
        other = replace(other, evaluators=shared)
        return other if shared and not lack(open_runs.view(files, other)) else None
    except InvariscopeError:  # no run that breaks meanings has such captions of these items
        return None


def _keys(files: open_runs.Signature, scope: Narrowed) -> dict[str, str]:
    about = open_runs.scores(files, scope).about["evaluators"]
    return dict(zip(about["evaluator"].astype(str), about["key"].astype(str), strict=True))


def draw() -> None:
    """Draw the view."""
    files = open_runs.present()
    opened = open_runs.store(files)
    more = (switch_field("more"), switch_field("card"))
    state = PageState("overview", (*scope_fields(files), *overview_findings.finding_fields(files), *more))
    state.restore()
    asked = "Which image-caption metrics ignore harmless edits, and notice wrong captions?"
    header(asked, state, words=("run", "SD", "interval"))
    if opened.runs():
        try:
            scope = choose_scope(state, files, usual=open_runs.opens_on(files))
            seen, held = scope.only(), overview_findings.thresholds(state)
            figures_of(of_scores(state, files, seen))
            say_withheld(files, seen)
            worst, both = open_runs.findings(files, seen, held.margin, held.least), with_both(files, seen)
            _draw_answer(files, both)
            first, second = st.columns([5, 4], gap="medium")
            with first:
                draw_plane(state, files, seen, both)
            with second:
                told = shows_anything(open_runs.families(files, seen, held.margin))
                falls, unsure = falls_of(files, both or seen), bool(open_runs.unsure_words(files, seen))
                overview_findings.draw_worst(worst, held, falls, scope_link(seen), told=told, aside=unsure)
            overview_findings.say_thresholds(held)
            if place := folded_part(
                "Other findings, and the least stable pictures", state, "more", icon=":material/photo_library:"
            ):
                with place:
                    overview_findings.choose_thresholds(state)
                    overview_findings.draw_findings(worst.iloc[1:], held, scope_link(seen))
                    overview_findings.draw_slices(state, files, seen, held)
            if place := folded_part("Every metric: fairness card and report", state, "card", icon=":material/badge:"):
                with place:
                    if open_runs.card(files, seen, held.margin).empty:
                        why = " ".join(not_on_card(open_runs.families(files, seen, held.margin)))
                        st.info(safe(why or "No family has a percent change yet.", limit=600))
                    else:
                        _glance(state, files, seen, held.margin, falls_of(files, seen))
                        _card(files, seen, held.margin)
                    overview_findings.draw_report(files, scope)
        except InvariscopeError as error:
            st.error(safe(str(error), limit=600))
        warn_incomplete(opened.runs())
    else:
        draw_no_run()
    if broken := len(opened.problems):
        left_out = f"{counted(broken, 'run or file is', 'runs or files are')} left out: see why"
        link_to(RUNS, left_out, icon=":material/warning:")
    state.publish()


def _glance(
    state: PageState, files: open_runs.Signature, scope: Narrowed, margin: float, falls: Mapping[str, str]
) -> None:
    table = open_runs.card(files, scope, margin)
    own = with_both(files, scope)
    measured = selectivity(files, own) if own is not None else None
    of = ""
    if own is not None and measured is not None:
        of = f"run {own.run}, captions {CAPTIONS[own.subject]}, {unverified(measured) or 'verified comparisons'}"
    rows = at_a_glance(table, open_runs.risks(files, scope, margin), measured)
    with figures_aside(of_scores(state, files, scope, beside=() if own is None else (own,))):
        draw_glance(rows, origins(open_runs.view(files, scope).table), of, falls, scope_link(scope))
    draw_kinds(table["evaluator"].unique())


def _card(files: open_runs.Signature, scope: Narrowed, margin: float) -> None:
    table = open_runs.card(files, scope, margin)
    contrasts, risk = open_runs.families(files, scope, margin), open_runs.risks(files, scope, margin)
    unsure = table["family"].isin(open_runs.unsure_words(files, scope))
    for family, what in open_runs.accepted_words(files, scope).items():
        st.caption(safe(f"{family_title(family)}: {what}.", limit=300))
    told, broken = open_runs.besides(files, scope, margin), bool(broken_families(open_runs.view(files, scope)))
    draw_card(Card(table.assign(may_be_true=unsure), contrasts, risk, told, scope_link(scope), broken))

"""The first ten seconds: what was found, against which thresholds, the worst slices; files brought and taken home."""

import io
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.both_demands import FALLS, NOT_ASKED
from core.analysis.facts import MAY_BE_TRUE, WHY
from core.analysis.questions import Options
from core.analysis.questions.families import SLICES
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.analysis.verdicts import MARGIN
from core.charts.canvas import thumbnail
from core.charts.spec import signed
from core.corpora.item_pictures import as_picture
from core.errors import InvariscopeError
from core.features.human.studies import list_studies
from core.features.suites.suite_result import changed, stored
from core.features.systems import system_file as leaderboards
from core.file_contents import Stamps
from core.probes.titles import deed, family_title, title
from core.report.build import build
from core.report.document import Report
from core.report.fairness_card import card_report
from core.report.html import html
from core.report.report_files import fill_report
from core.statistics.bootstrap import LEAST_N
from pages.views.common.collect import file_button
from pages.views.common.layers import button
from pages.views.common.links import FAILURES, LAB, failures_link, lab_link, link_to, link_to_audit, scope_link
from pages.views.common.open_runs import Signature, corpus_name_of, of_runs, scores, store, stored_values
from pages.views.common.scope_chips import CAPTIONS
from pages.views.common.shown_answers import answer, answer_rows, figure_block, questions, spoken
from pages.views.common.text import THE_PAPER, counted, listed, number, safe
from pages.views.common.url_state import Field, PageState, checked, one_of, whole
from pages.views.probe_lab.lab_state import item_and_edit, offered_probes
from pages.views.results_view import choose_margin, margin_field

LARGEST_LEAST = 10_000  # most items that a finding can be asked to rest on


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What findings and verdicts of the page are held against."""

    margin: float = MARGIN  # equivalence margin in percent
    least: int = LEAST_N  # fewest items of a finding and of a slice

    def said(self) -> str:
        """Both in words behind a sentence; empty where they are the usual ones."""
        return "" if self == Thresholds() else f" (yours: ±{self.margin:g} %, n ≥ {self.least})"


def finding_fields(files: Signature) -> tuple[Field, ...]:
    """The fields of the link: both thresholds, and whose slices are shown; None for the first evaluator's."""
    must = f"The fewest items must be a number from {LEAST_N} to {LARGEST_LEAST}"
    return (
        margin_field(),
        Field("least", LEAST_N, checked(whole(LEAST_N, LARGEST_LEAST), LEAST_N, must)),
        Field("of", None, one_of(lambda: stored_values(files)["evaluators"], None, what="evaluator")),
    )


def thresholds(state: PageState) -> Thresholds:
    """What the link or the reader chose."""
    return Thresholds(float(state.get("margin")), int(state.get("least")))


def choose_thresholds(state: PageState) -> None:
    """Draw both."""
    with st.popover("Thresholds", icon=":material/tune:", type="tertiary"):
        hint = (
            "A family is a finding where the interval of its median |% change| lies above this margin. How small "
            "a change would not matter to you?"
        )
        choose_margin(state, "Margin, ± %", help=hint)
        hint = (
            f"At least so many items with a % change behind a finding or a slice; under {LEAST_N} there is no interval."
        )
        st.number_input(
            "Fewest items", min_value=LEAST_N, max_value=LARGEST_LEAST, step=10, key=state.key("least"), help=hint
        )
        st.caption(
            "Findings, slices and the verdicts of the fairness card on this page follow. The card to print and "
            f"the report keep ±{MARGIN:g} % and n ≥ {LEAST_N}."
        )


def say_thresholds(held: Thresholds) -> None:
    """Say what follows from others than the usual ones."""
    if held != Thresholds():
        st.caption(
            f"Findings and verdicts of this page are held against a margin of ±{held.margin:g} % and rest on at least "
            f"{held.least} items. Usual are ±{MARGIN:g} % and {LEAST_N}, which the card to print and the report keep."
        )


_UNSURE = f"{WHY[0].upper()}{WHY[1:]}"
BEHIND = f"Words that may be true stand behind all others, however far they move a score. {_UNSURE}."
"""What stands behind the first finding, and why."""


def draw_worst(
    worst: pd.DataFrame,
    held: Thresholds,
    falls: Mapping[str, str],
    behind: Mapping[str, str],
    *,
    told: bool,
    aside: bool,
) -> None:
    """Draw the first of the worst findings: a sentence, that the evaluator is deaf where it is, two pictures.
    ``falls``: evaluator -> its verdict; one that is not here was not asked. ``behind``: link parameters of the scope
    whose pairs are behind it. ``told``: whether of any harmless edit there is enough to tell anything. ``aside``:
    whether words that may be true were put in too, which stand behind all others."""
    aside = aside and not (len(worst) and worst["may_be_true"].iloc[0])
    with st.container(key="worst_head"):
        st.markdown("**Worst finding here**", help=BEHIND if aside else None)
    if not told:
        st.info("Of no harmless edit is it known whether it changes a score by more than the margin.")
        return
    if worst.empty:
        st.info(f"No harmless edit is shown to change a score by more than the margin{held.said()}.")
        return
    row = worst.iloc[0]
    name, verdict = safe(row["evaluator"]), falls.get(str(row["evaluator"]), NOT_ASKED)
    also = "" if verdict == FALLS else f" {name} {verdict}."
    st.markdown(
        f"{_sentence(row)}{also}",
        help=f"{_interval(row)}. The first of the findings whose interval lies above ±{held.margin:g} %, by its lower "
        "end.",
    )
    _draw_example(row, behind)


def _sentence(row: pd.Series) -> str:
    """How far edits move a score, whether they should, and how far on the picture that is shown with it."""
    why = f". {_UNSURE if row['may_be_true'] else 'The edit is meant to be harmless'}"
    why += f": {safe(row['accepted'], limit=300)}" if row["accepted"] and not row["may_be_true"] else ""
    return (
        f"{safe(deed(row['family']))} changes **{safe(row['evaluator'])}**'s score by "
        f"**{number(row['median_abs_percent'], digits=0)}\u00a0%** on a typical picture; here, by "
        f"**{number(abs(row['percent']), digits=0)}\u00a0%**{why}."
    )


def _interval(row: pd.Series) -> str:
    return (
        f"Median \\|% change\\|, 95 % CI {number(row['abs_low'], digits=1)} to {number(row['abs_high'], digits=1)} %, "
        f"n = {counted(int(row['n_items']), 'item')}"
    )


def draw_ways() -> None:
    """Draw the ways in."""
    with st.container(horizontal=True, width="content", gap="small"):
        upload = {"source": "upload"}
        link_to(LAB, "Try your picture", icon=":material/add_photo_alternate:", query_params=upload, primary=True)
        link_to_audit()


EXAMPLE_HEIGHT, EXAMPLE_WIDTH = 230, 176
"""Of a picture of an example, in px at most, so that two stand beside each other."""


def draw_findings(found: pd.DataFrame, held: Thresholds, behind: Mapping[str, str]) -> None:
    """Draw each of the worst findings as a card with its example, linked into Try a picture."""
    if found.empty:
        st.info(
            f"No other family: of none does the interval of the median \\|% change\\| lie above the "
            f"margin{held.said()}."
        )
        return
    if found["may_be_true"].any():
        st.caption(BEHIND)
    cells = st.grid(len(found), min_column_width=290, gap="medium")
    for _, row in found.iterrows():
        with cells.container(border=True, height="stretch"):
            st.markdown(_sentence(row))
            if row["may_be_true"]:
                st.markdown(f":gray-badge[{MAY_BE_TRUE}]", help="No finding, as long as that is so.")
            st.caption(_interval(row))
            _draw_example(row, behind)


def _draw_example(row: pd.Series, behind: Mapping[str, str]) -> None:
    example = _example(row)
    if isinstance(example, str):
        st.caption(safe(example, limit=300))
    else:
        said = (f"Item {row['item']} as it is", f"Item {row['item']} after {title(row['probe']).lower()}")
        with st.container(horizontal=True, gap="small", key=f"finding_{row['evaluator']}_{row['family']}"):
            for pixels, alt, name in zip(example, said, ("Before", title(row["probe"])), strict=False):
                tall = round(EXAMPLE_HEIGHT * pixels.shape[1] / pixels.shape[0])
                st.image(pixels, name if len(example) > 1 else None, alt=alt, width=min(tall, EXAMPLE_WIDTH))
    if pd.notna(row["caption"]):  # a run made of scores from elsewhere may name none
        same = pd.isna(row["baseline_caption"]) or row["caption"] == row["baseline_caption"]
        st.text(f"Caption: {'' if same else row['baseline_caption'] + ' → '}{row['caption']}")
    st.markdown(
        f"Score: {number(row['baseline_score'])} → **{number(row['score'])}** ({signed(row['percent'])}); no other "
        "moved further"
    )
    with st.container(horizontal=True, gap="small", key=f"finding_ways_{row['evaluator']}_{row['family']}"):
        pairs = failures_link(row[["family", "evaluator"]]) | dict(behind)
        link_to(FAILURES, "See its pairs", icon=":material/photo_library:", query_params=pairs)
        if not isinstance(example, str):
            link_to(LAB, "Open in Try a picture", icon=":material/science:", query_params=lab_link(row))


def _example(row: pd.Series) -> list[np.ndarray] | str:
    corpus = corpus_name_of(row["run"], row["corpus"])
    if corpus is None:
        return f"The pictures of corpus {row['corpus']} are missing; put its folder at data/corpora/{row['corpus']}."
    try:
        found = item_and_edit(corpus, row["item"], offered_probes().get(row["probe"]))
    except InvariscopeError as error:
        return str(error)
    return [thumbnail(as_picture(pixels), side=320) for pixels in found if pixels is not None]


def draw_slices(state: PageState, files: Signature, scope: Narrowed, held: Thresholds) -> None:
    """Draw the slices of one evaluator as the question on Results answers it, or why there are none."""
    question, table = questions(files, scope)[SLICES], scores(files, scope)
    if reason := question.needs(table):
        st.info(safe(f"{reason[:1].upper()}{reason[1:]}.", limit=400))
        return
    name = state.choose(st.container(width=280), "of", "Metric", list(table.evaluators), help="Whose slices")
    frame = answer(files, scope, Slice(evaluators=(name,)), SLICES, Options(least=held.least))
    if frame.empty:
        st.info(f"No cell of category, coverage and family has {held.least} items with a % change, of as many sources.")
        return
    if frame["abs_low"].iloc[0] > 0:
        st.markdown(_said(frame.iloc[0], frame, held))
    drawing = question.figures[0]
    figure = drawing.figure(frame)
    alt = f"{drawing.title}: {spoken(figure)}"
    figure_block(figure, frame, "overview-slices", title=drawing.title, alt=alt, scope=scope_link(scope))
    with st.expander("Every number of these slices", icon=":material/table:"):
        answer_rows(question, frame, measure="percent", several=False)
    least = "" if held == Thresholds() else f" Here cells of fewer than {held.least} items are left out{held.said()}."
    st.caption(safe(f"{question.note}{least} A click on a mark opens its pairs.", limit=2000))


def _said(row: pd.Series, frame: pd.DataFrame, held: Thresholds) -> str:
    above = int((frame["abs_low"] > held.margin).sum())
    median, low, high = (number(row[name], digits=1) for name in ("median_abs_percent", "abs_low", "abs_high"))
    whole, least, most = (number(row[name], digits=1) for name in ("whole", "whole_low", "whole_high"))
    covers = safe(row["coverage_bin"].replace("-", " to "))
    same = int((frame["abs_low"] == row["abs_low"]).sum())
    which = "the one that changes" if same == 1 else f"the first of {same} alike by their lower bound, which change"
    return (
        f"Of **{row['n_cells']} groups**, {which} {safe(row['evaluator'])} most for certain. It is "
        f"*{safe(family_title(row['family']))}* on items of category {safe(row['category'])} whose object covers "
        f"{covers} % of the picture. Median \\|% change\\| **{median} %** (interval adjusted for "
        f"{row['n_cells']} groups: {low} to {high}, n = {row['n_items']} items). The whole family: {whole} % "
        f"(95 % CI {least} to {most}, n = {row['n_whole']}). "
        f"The intervals of {above} of the {len(frame)} groups shown lie above the margin of ±{held.margin:g} %."
    )


_MADE = "overview.report.made"


def draw_report(files: Signature, scope: Narrowed) -> None:
    """Draw the ways to take home the card of the corpus in view, and the report of every corpus of the scope."""
    card, whole = st.columns(2, gap="medium")
    with card.container(border=True, height="stretch"):
        st.markdown("**Fairness card**")
        st.caption("One page of what stands above, made for A4: print it, or save it as PDF from the browser.")
        file_button(
            "Card to print",
            lambda: card_report(store(files), scope, studies=list_studies()[0]).encode(),
            "fairness-card.html",
            icon="print",
            key="overview.card.print",
        )
    with whole.container(border=True, height="stretch"):
        st.markdown("**Report**")
        st.caption("A page in words, one figure, the papers' tables, their data, a signature to cite.", help=THE_PAPER)
        ids = scope.run_ids
        told = (
            f"Of {'run' if len(ids) == 1 else 'one run a corpus:'} {listed(ids)}; captions {CAPTIONS[scope.subject]}."
        )
        st.caption(safe(told, limit=300))
        wanted = (files, scope)
        button(
            "Make the report", "description", "overview.report.make", lambda: st.session_state.update({_MADE: wanted})
        )
        if st.session_state.get(_MADE) != wanted:
            return
        try:
            made, problems = _report(*wanted, changed(), leaderboards.changed())
        except InvariscopeError as error:
            st.error(safe(str(error), limit=600))
            return
        st.caption(
            f"{counted(len(made.short), 'table')} of the papers, and why these runs do not allow others. Every table: "
            "`python -m core report RUN --tables all`."
        )
        for problem in problems:
            st.warning(safe(problem, limit=600))
        st.code(made.signature, language=None, wrap_lines=True)
        stem = "-".join(("report", *ids))[:80]
        with st.container(horizontal=True, gap="small"):
            file_button("HTML", lambda: html(made).encode(), f"{stem}.html", key="overview.report.html")
            for name, label in (("md", "Markdown"), ("latex", "LaTeX")):
                file_button(label, partial(_zipped, made, name), f"{stem}-{name}.zip", key=f"overview.report.{name}")


@of_runs
@st.cache_resource(max_entries=2, show_spinner="Making the papers' tables …")
def _report(files: Signature, scope: Narrowed, suites: Stamps, boards: Stamps) -> tuple[Report, tuple[str, ...]]:
    """The report, and a sentence for each leaderboard that is not in it since its file cannot be read."""
    ranked, judged = leaderboards.kept(boards), stored(suites)[0]
    made = build(
        store(files), scope, whole=False, figures=False, studies=list_studies()[0], suites=judged, boards=ranked
    )
    return made, tuple(ranked.unread.values())


def _zipped(report: Report, name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        written = fill_report(report, Path(folder), formats=(name,))
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for each in written:
                archive.write(Path(folder, each), each)
    return content.getvalue()

"""Reading a study: what people found, how far they agree, who is competent, what it does to the scores."""

import json
from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.reading import read_table
from core.analysis.scope import Narrowed, Scope
from core.charts.spec import Figure
from core.errors import InvalidInput, NotAvailable
from core.features.human import mace, people_figures, study_outcomes
from core.features.human.crossed_votes import whom_it_is_about
from core.features.human.definition import ORIGINAL, VARIANT, StudyItem
from core.features.human.kinds import ACCEPTABILITY, PREFERENCE
from core.features.human.reanalysis import BOTH_FULLY_CORRECT, SCOPES, WITHOUT_ONE_SIDED, Reanalysis, reanalyse
from core.features.human.studies import Study
from core.features.human.votes import vote_table
from core.probes.titles import title
from core.statistics.agreement import LANDIS_KOCH, LEAST_CHANCE, in_words
from pages.views.common.collect import data_buttons, figure_buttons
from pages.views.common.links import pairs_behind
from pages.views.common.open_runs import Signature, narrowed, present, store
from pages.views.common.page_drawings import NUMBER, TEXT, draw_figure, draw_table, titled
from pages.views.common.shown_answers import interval
from pages.views.common.text import THE_PAPER, as_percent, counted, number, safe
from pages.views.common.url_state import PageState
from pages.views.human_validation.study_desk import STUDIED, desk

SHOWN = 12


def draw_gallery(study: Study, _state: PageState) -> None:
    """Draw the items that people disagree on most."""
    table = study_outcomes.disagreements(vote_table(study), count=200)
    if table.empty:
        st.info("Nobody disagrees with anybody yet, or no item has two votes.", icon=":material/handshake:")
        return
    st.caption(
        f"{counted(len(table), 'item')} on which votes differ, worst first: the share of unequal pairs of votes "
        "over all questions. Answers are those of the annotators in the order in which they voted."
    )
    pages = -(-len(table) // SHOWN)
    page = st.pagination(pages, key=f"study.gallery.{study.id}") if pages > 1 else 1
    cells = st.grid(3, min_column_width=300, gap="medium")
    for row in table.iloc[(page - 1) * SHOWN : page * SHOWN].itertuples():
        with cells.container(border=True, height="stretch"):
            _draw_card(study, study.definition.item(str(row.id)), row)
    data_buttons(
        table.assign(comments=table["comments"].map(" | ".join)), f"{study.id}-disagreements", key="study.gaps"
    )


def _draw_card(study: Study, item: StudyItem, row: object) -> None:
    told, kind = pd.Series(row._asdict()), study.definition.asked  # type: ignore[attr-defined]
    st.markdown(f"**{safe(item.item)}** · {safe(title(item.probe if item.shows != ORIGINAL else item.baseline))}")
    st.caption(f"Disagreement {as_percent(float(told['disagreement']))}, {counted(int(told['votes']), 'vote')}")
    versions = [ORIGINAL, VARIANT] if item.shows == "pair" else [item.shows]
    try:
        pictures = desk().pictures(study, item)
        with st.container(horizontal=True, gap="small", key=f"finding_study_{item.id}"):
            for version in versions[:1] if item.edits == "caption" else versions:
                st.image(pictures.of(version), alt=f"{version} of {item.item}", width=140)
    except NotAvailable as error:
        st.caption(safe(str(error), limit=300))
    for version in versions:
        answers = ", ".join(kind.scale[int(answer) - kind.lowest] for answer in str(told[version]).split())
        st.text(f"{version}: {item.caption(version)}\n{answers}")
    if told["preferred"]:
        st.text(f"preferred: {', '.join(str(told['preferred']).split())}")
    for comment in told["comments"]:
        st.caption(f"“{safe(comment, limit=300)}”")


_COMPETENCE = {
    "question": TEXT("Question"),
    "annotator": TEXT("Annotator"),
    "n": NUMBER("n", format="%d", help="Judged by this annotator and by others; versions of an item one by one"),
    "competence": NUMBER(
        "By knowing", format="%.0f %%", help="Estimated share of items answered by knowing rather than guessing"
    ),
    "ends": TEXT("95 % interval", alignment="right", help="95 % profile-likelihood interval, in percent"),
    "with_others": NUMBER("As the others", format="%.0f %%", help="Gave the one commonest answer of the others"),
    "n_others": NUMBER("n of these", format="%d", help="On which the others have one commonest answer"),
    "note": TEXT("Remark"),
}


def _draw_competence(study: Study) -> None:
    st.header(people_figures.COMPETENCE_TITLE, anchor=False)
    found = _competence(study)
    if found.people.empty:
        st.info("No item has two votes yet.", icon=":material/hourglass_empty:")
        return
    st.caption(people_figures.COMPETENCE_NOTE)
    for row in found.answers.to_dict("records"):
        st.markdown(_said(row))
    people = found.people
    if people["competence"].notna().any():
        figure = people_figures.competence_dots(people)
        draw_figure(figure, key="study.competence", alt="Estimated competence of every annotator with its interval")
        figure_buttons(figure, people, f"{study.id}-competence", title=figure.title, key="study.competence.files")
    shown = people.assign(ends=interval(people, "low", "high", 0, signed=False)[0])
    draw_table(shown, width="stretch", column_config=_COMPETENCE, column_order=tuple(_COMPETENCE))
    data_buttons(people, f"{study.id}-competences", key="study.competences")


def _said(row: Mapping[Hashable, Any]) -> str:
    judged = counted(int(row["n"]), "judgement")
    told = f"**{safe(str(row['question'])).capitalize()}**, {judged} with two votes or more. "
    if row["same"] != row["same"]:
        return f"{told}{safe(str(row['note'])[:1].upper() + str(row['note'])[1:], limit=300)}."
    warned = f" **{safe(str(row['note']), limit=300)}.**" if row["note"] else ""
    return (
        f"{told}The likeliest answer is the commonest one in {int(row['same'])} and another in {int(row['other'])}; in "
        f"{int(row['tied'])} the commonest answers are tied.{warned}"
    )


@st.cache_data(hash_funcs=STUDIED, show_spinner="Estimating competence …", max_entries=8)
def _competence(study: Study) -> mace.Competences:
    return mace.study_competence(vote_table(study), study.definition.asked)


_SCOPES = {"studied": "Only pairs that people judged", "run": "All of the run, less what fell out"}
_MEASURES = {
    "percent agreement": "Share of equal pairs of votes within an item.",
    "Fleiss κ": "Corrected for chance by the observed shares of answers. Near 0 when nearly all answers are alike.",
    "Randolph κ": "Corrected for chance as if every answer were equally likely. Survives skew.",
    "Gwet AC1": "Corrected for chance by how undecided the answers are. Survives skew.",
    "Krippendorff α": "Observed over expected disagreement; ordered answers by their distance. Takes missing votes.",
}

_LIMITS = "Poor below 0, " + ", ".join(f"{word} up to {most:.2f}" for most, word in LANDIS_KOCH)

_PAIRS = {
    "one": TEXT("Annotator"),
    "other": TEXT("and"),
    "n_items": NUMBER("n", help="Items that both judged"),
    "n": NUMBER("Versions", help="Of these items, one by one: what κ is computed over"),
    "kappa": NUMBER("Weighted κ", format="%.2f"),
    "ends": TEXT("95 % interval", alignment="right", help="The files have both ends"),
    "words": TEXT(
        "In words", help="After Landis and Koch, with the words of both ends of the interval where they differ"
    ),
    "note": TEXT("Remark"),
}

_REANALYSED = {
    "evaluator": TEXT("Evaluator", pinned=True),
    "axis": TEXT("Axis"),
    "family": TEXT("Family", pinned=True),
    "analysis": TEXT("Pairs left out"),
    "n_all": NUMBER("n, all"),
    "median_all": NUMBER("Median % change, all", format="%+.2f"),
    "low_all": NUMBER("95 % from", format="%+.2f"),
    "high_all": NUMBER("to", format="%+.2f"),
    "n_kept": NUMBER("n, kept"),
    "median_kept": NUMBER("Median % change, kept", format="%+.2f"),
    "low_kept": NUMBER("95 % from", format="%+.2f"),
    "high_kept": NUMBER("to", format="%+.2f"),
    "change": NUMBER("Change, points", format="%+.2f"),
    "flips": st.column_config.CheckboxColumn("Sign changes"),
    "direction": TEXT(
        "Direction", help="Same or turned where the interval of those kept lies on a side of 0, else it is unclear"
    ),
    "power": TEXT("Why it is unclear"),
    "note": TEXT("Remark"),
}


def draw_outcomes(study: Study, _state: PageState) -> None:
    """Draw the aggregates of section 6."""
    if _of_comparisons_alone(study):
        return
    if study.definition.asked is not ACCEPTABILITY:
        st.info("Majorities of acceptability are for studies that ask for it; see Agreement and Export.")
        return
    found = _aggregates(study)
    if not found.n_items:
        st.info(
            "No item has two votes yet; majorities show here as soon as some do.", icon=":material/hourglass_empty:"
        )
        return
    st.caption(
        f"An answer of partially or fully correct is acceptable; a majority is two thirds. n = "
        f"{counted(found.n_items, 'item')} with two votes or more"
        + (f"; {counted(found.n_short, 'item')} with fewer left out." if found.n_short else ".")
    )
    table = found.table()
    figure = people_figures.outcome_bars(table)
    draw_figure(figure, key="study.outcomes", alt="Shares of items by outcome, each with its 95 % interval")
    figure_buttons(figure, table, f"{study.id}-outcomes", title="Outcomes by majority", key="study.outcomes.files")
    shown = table.assign(**{name: 100 * table[name] for name in ("share", "low", "high")})
    shown["ends"], look = interval(shown, "low", "high", 1, signed=False)
    order = ("what", "share", "ends", "n", "note")
    columns = {
        "what": "Outcome",
        "share": NUMBER("Share of items, %", format="%.1f"),
        "ends": look,
        "n": "n items",
        "note": "To note",
    }
    draw_table(shown, alt="Outcomes by majority in numbers", width="stretch", column_order=order, column_config=columns)
    balance = found.variant_preferred
    if balance.n:
        p = "p < 0.001" if found.balance_p < 0.001 else f"p = {found.balance_p:.3f}"
        tested = f" (sign test over sources against one half: {p})" if found.balance_p >= 0 else ""
        st.markdown(
            f"Of {counted(balance.n, 'item')} that lean to one version, **{as_percent(balance.estimate)}** "
            f"lean to the variant{tested}."
        )
    st.caption(
        f"Every share counts items, each once; an item leans to the version that more of its votes prefer, ties aside. "
        f"{found.about}"
    )


def draw_agreement(study: Study, _state: PageState) -> None:
    """Draw what more annotators or items would do, and every measure of agreement beside its n and interval."""
    rows, pairs, rates = _agreements(study)
    for row in rows[rows["measure"] == "percent agreement"].to_dict("records"):
        if not pd.isna(row["estimate"]):
            answers = 3 if row["question"] == PREFERENCE else len(study.definition.asked.scale)
            st.markdown(
                f"**Two people give the same of {answers} answers in {as_percent(row['estimate'])} of cases** on "
                f"{safe(str(row['question']))} "
                f"({counted(int(row['n_items']), 'item')}, {counted(int(row['n_votes']), 'judgement')})."
            )
    _draw_rates(study, rates)
    st.caption(
        "κ counts agreement beyond chance: 0 is what lots would give, 1 is full agreement. No single number is enough: "
        "with nearly all votes alike, Fleiss’ κ is near 0 although nearly all agree. Intervals are 95 % bootstrap "
        "intervals over items, those of one source together. Words beside a κ are those of Landis and Koch (1977). "
        f"{_LIMITS}. They call these limits arbitrary; κ also falls where answers are skewed, so read the number first."
        + (" While votes come in, each of these intervals holds for one look and not for many." if study.live else "")
    )
    cells = st.grid(2, min_column_width=340, gap="medium")
    for question, table in rows.groupby("question", sort=False):
        with cells.container(border=True):
            st.markdown(
                f"**{safe(str(question)).capitalize()}**, {counted(int(table['n_items'].iloc[0]), 'item')}, "
                f"{counted(int(table['n_votes'].iloc[0]), 'judgement')}"
            )
            for row in table.to_dict("records"):
                called = f"{row['measure'][0].upper()}{row['measure'][1:]}"
                st.markdown(f"{called}: {_interval(row)}", help=_MEASURES[row["measure"]])
    data_buttons(rows, f"{study.id}-agreement", key="study.agreement")
    st.header("Pairs of annotators", anchor=False)
    st.caption(
        "Cohen’s κ on what both judged, where distant answers count as more disagreement than close ones (quadratic "
        "weights). Versions of an item count one by one."
    )
    if pairs.empty:
        st.info("No two annotators have judged the same items yet.")
        return
    st.caption("n counts the items that both judged; under 5 a cell is hollow.")
    if pairs["kappa"].notna().any():
        figure = people_figures.kappa_map(pairs)
        draw_figure(figure, key="study.kappa_map", alt="Weighted kappa of every pair of annotators, a cell each")
        figure_buttons(figure, pairs, f"{study.id}-kappa-map", title=figure.title, key="study.kappa_map.files")
    shown = pairs.assign(
        ends=interval(pairs, "low", "high", 2, signed=False)[0], words=[_words(row) for row in pairs.to_dict("records")]
    )
    draw_table(shown[list(_PAIRS)], alt="Weighted κ of every pair of annotators", width="stretch", column_config=_PAIRS)
    data_buttons(pairs, f"{study.id}-pairwise-kappa", key="study.kappas")
    _draw_competence(study)


def _draw_rates(study: Study, rates: pd.DataFrame) -> None:
    for row in rates.to_dict("records"):
        ends = "" if pd.isna(row["low"]) else f" ({row['low']:.0f} to {row['high']:.0f})"
        st.markdown(
            f"**{safe(str(row['question'])).capitalize()}: {row['rate']:.0f} %**{ends}, "
            f"{counted(int(row['n']), 'item')}, {counted(int(row['n_votes']), 'vote')}. {safe(row['more'], limit=400)}"
        )
    if len(rates):
        st.caption(whom_it_is_about(int(rates["annotators"].max()), live=study.live))
        data_buttons(rates, f"{study.id}-rates-of-votes", key="study.rates")
    else:
        st.caption("No item has two votes yet; what more annotators or items would do shows here as soon as some do.")


def draw_scores(study: Study, state: PageState) -> None:
    """Draw the two re-analyses: what the findings become without the pairs that people did not accept."""
    if _of_comparisons_alone(study):
        return
    if study.definition.asked is not ACCEPTABILITY:
        st.info("The re-analyses need a study of acceptability. Ratings of this study serve as H in Calibration.")
        return
    hint = f"The paper recomputes its main analyses without the items that fell out. {THE_PAPER}"
    st.radio(
        "Scores", SCOPES, key=state.key("scope"), horizontal=True, format_func=lambda name: _SCOPES[name], help=hint
    )
    try:
        found = _reanalysis(present(), study, state.get("scope"))
    except InvalidInput as error:
        st.info(safe(str(error), limit=300), icon=":material/hourglass_empty:")
        return
    for analysis in (WITHOUT_ONE_SIDED, BOTH_FULLY_CORRECT):
        change, flips, turned = found.largest_change(analysis), found.flips(analysis), found.turned(analysis)
        st.markdown(
            f"**{analysis.capitalize()}**: {counted(found.dropped[analysis], 'pair')} of {found.n_pairs} fall out; the "
            f"largest change of a median % change is {number(change, digits=2)} points, and {counted(flips, 'sign')} "
            f"{'changes' if flips == 1 else 'change'}, of which {turned} by an interval on the other side of 0."
        )
    if found.n_pairs < LEAST_CHANCE:
        st.caption(f"{counted(found.n_pairs, 'judged pair')} in all: of so few, a median moves by leaving any out.")
    figure = people_figures.reanalysis_dots(found.table)
    if state.get("scope") == "run":
        figure = with_all_opened(figure, narrowed(present(), Scope(runs=(study.definition.run,))).only())
    alt = "Median percent change of each family with and without the pairs left out"
    clicked = partial(pairs_behind, chosen={}, scope={})
    draw_figure(titled(figure, found.table["family"]), key="study.reanalysis", alt=alt, clicked=clicked)
    figure_buttons(
        figure, found.table, f"{study.id}-reanalysis", title="With and without", key="study.reanalysis.files"
    )
    with st.expander("Every number"):
        alt = "Every median with and without the pairs left out"
        draw_table(found.table, alt=alt, width="stretch", column_config=_REANALYSED)


def with_all_opened(figure: Figure, scope: Narrowed) -> Figure:
    """The re-analyses over a whole run, where a mark of all pairs opens them; others leave pairs out by votes."""
    held = {"run": scope.run, "corpus": scope.corpus, "subject": scope.subject, "language": scope.language}
    opens = [
        json.dumps({"evaluators": row.panel, "families": row.label, **held})
        if row.series == people_figures.ALL_PAIRS
        else ""
        for row in figure.frame.itertuples()
    ]
    return replace(figure, frame=figure.frame.assign(opens=opens))


def _of_comparisons_alone(study: Study) -> bool:
    """Say where a study without an edit that should not matter has its numbers; return whether it is one."""
    alone = all(item.directional or item.attention for item in study.definition.items)
    if alone:
        st.info(
            "This study asks about right and wrong sides alone; what people say of them is under "
            "*Results, Right and wrong*.",
            icon=":material/rule:",
        )
    return alone


def _interval(row: dict[Hashable, Any]) -> str:
    if pd.isna(row["estimate"]):
        return f"not defined: {safe(row['note'])}"
    told = f"**{number(row['estimate'], digits=2)}**"
    if not pd.isna(row["low"]):
        told += f" (95 % CI {number(row['low'], digits=2)} to {number(row['high'], digits=2)})"
    if "κ" in row["measure"]:
        told += f" · {_words(row)}"
    return told + (f", {safe(row['note'])}" if row["note"] else "")


def _words(row: Mapping[Hashable, Any]) -> str:
    """A κ in words, with those of both ends of its interval where they are not the same."""
    said = in_words(row["kappa"] if "kappa" in row else row["estimate"])
    low, high = (in_words(row[end]) for end in ("low", "high"))
    return f"{said} ({low} to {high})" if said and low and high and low != high else said


@st.cache_data(hash_funcs=STUDIED, show_spinner="Counting majorities …", max_entries=8)
def _aggregates(study: Study) -> study_outcomes.Aggregates:
    return study_outcomes.aggregates(vote_table(study), live=study.live)


@st.cache_data(hash_funcs=STUDIED, show_spinner="Computing agreement …", max_entries=8)
def _agreements(study: Study) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    votes, kind = vote_table(study), study.definition.asked
    rows = [row for each in study_outcomes.study_agreement(votes, kind) for row in each.rows()]
    rates = study_outcomes.vote_rates(votes, kind, live=study.live)
    return pd.DataFrame(rows), study_outcomes.study_kappas(votes, kind), rates


@st.cache_data(hash_funcs=STUDIED, show_spinner="Computing the contrasts again …", max_entries=8)
def _reanalysis(files: Signature, study: Study, scope: str) -> Reanalysis:
    table = read_table(store(files), Scope(runs=(study.definition.run,)))
    return reanalyse(table, study_outcomes.item_outcomes(vote_table(study)), scope=scope)

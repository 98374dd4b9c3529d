"""People beside evaluators: on comparisons that were judged, and for a whole run from votes on some of its pairs."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.judged_comparisons import evaluator_rows, judged_comparisons, people_rows, score_tables
from core.analysis.powered_votes import powered_rows, what_more_votes_buy
from core.analysis.reading import read_table
from core.analysis.scope import Scope
from core.charts.people_figures import comparison_dots, powered_dots
from core.errors import InvalidInput
from core.human.studies import Study
from core.human.votes import vote_table
from core.statistics.crossed_votes import whom_it_is_about
from pages.views.common.downloads import data_buttons, figure_buttons
from pages.views.common.open_runs import Signature, present, store
from pages.views.common.page_charts import draw, titled
from pages.views.common.page_tables import draw_table
from pages.views.common.text import counted, safe
from pages.views.common.url_state import PageState
from pages.views.human_validation.study_desk import desk

_SHARES = {
    "prefer": ("Prefer the right one", "Share of comparisons in which two thirds of the votes prefer the right side"),
    "against": ("Prefer the wrong one", "Two thirds of the votes prefer the wrong side"),
    "tied": ("Equally good", "Two thirds of the votes find both sides equally good"),
    "undecided": ("No majority", "No answer has two thirds of the votes"),
    "higher": ("Right one rated higher", "Share of comparisons whose right side has the higher mean rating"),
    "equal": ("Rated alike", "Both sides have the same mean rating"),
    "failure": ("Failures", "The wrong side scores at least as high"),
    "ties": ("Ties", "Both sides score the same; they are among the failures"),
}
"""Share -> its title and what it is; its interval's ends stand behind it."""

_RATED = {
    "mean_right": "Mean rating, right",
    "mean_wrong": "Mean rating, wrong",
    "gap": "Difference",
    "gap_low": "Difference from",
    "gap_high": "to (difference)",
}
_COUNTED = {
    "n": ("n", "Comparisons"),
    "n_items": ("Items", "Items of these comparisons"),
    "n_votes": ("Votes", "Of each comparison those on the side that has fewer"),
    "annotators": ("Annotators", "Whose votes these are"),
    "n_missing": ("No score", "Judged comparisons of which the evaluator has no score for a side"),
}
_WORDS = {"family": "Family", "evaluator": "Evaluator", "note": "Remark"}


def draw_comparisons(study: Study, _state: PageState) -> None:
    """Draw what people say of right and wrong sides, and how often the evaluators fail on the same comparisons."""
    if not any(item.directional for item in study.definition.items):
        st.info(
            "This study asks about no comparison of a right and a wrong side. A new study can: choose directional "
            "families for it.",
            icon=":material/rule:",
        )
        return
    people, evaluators, short = _compared_rows(present(), study.id, study.log_path.stat().st_size)
    if people.empty:
        st.info(
            "Both sides of no comparison have two votes yet; what people prefer shows here as soon as some have.",
            icon=":material/hourglass_empty:",
        )
        return
    st.caption(
        f"n = {counted(int(people['n'].iloc[-1]), 'comparison')} whose two sides have two votes or more each"
        + (f"; {counted(short, 'comparison')} with fewer left out." if short else ".")
    )
    figure = comparison_dots(people, evaluators)
    figure = titled(figure, people["family"])
    draw(
        figure,
        key="study.comparisons",
        alt="Share of comparisons in which the right side wins, for people and for "
        "each evaluator, each with its 95 % interval",
    )
    figure_buttons(
        figure, people, f"{study.id}-comparisons", title="People beside evaluators", key="study.comparisons.files"
    )
    _draw_people(people, live=study.live)
    _draw_evaluators(study, evaluators)


def _draw_people(people: pd.DataFrame, *, live: bool) -> None:
    st.header("People", anchor=False)
    shown = people.dropna(axis=1, how="all")
    draw_table(shown, width="stretch", column_config=_compared_columns(shown))
    st.caption(
        "Every share counts comparisons, each once. A majority is two thirds of the votes. Ratings lie between 0, the "
        f"worst answer of the scale, and 1, the best. {whom_it_is_about(int(people['annotators'].max()), live=live)}"
    )


def _draw_evaluators(study: Study, evaluators: pd.DataFrame) -> None:
    st.header("Evaluators on the same comparisons", anchor=False)
    if evaluators.empty:
        st.info(safe(f"The scores of run {study.definition.run} are not here, so no evaluator stands beside people."))
        return
    draw_table(evaluators, width="stretch", column_config=_compared_columns(evaluators))
    data_buttons(evaluators, f"{study.id}-failures", key="study.failures")


def _compared_columns(table: pd.DataFrame) -> dict[str, Any]:
    found: dict[str, Any] = {name: st.column_config.TextColumn(title) for name, title in _WORDS.items()}
    for place, (name, (title, told)) in enumerate(_SHARES.items()):
        blanks = " " * place  # no two columns of a table may have one title
        for column, head, of in (
            (name, title, told),
            (f"{name}_low", f"from{blanks}", f"{title}: lower end of the 95 % interval"),
            (f"{name}_high", f"to{blanks}", f"{title}: upper end of the 95 % interval"),
        ):
            found[column] = st.column_config.NumberColumn(head, format="%.1f %%", help=of)
    for name, title in _RATED.items():
        found[name] = st.column_config.NumberColumn(title, format="%.2f", help="On [0, 1]")
    for name, (title, told) in _COUNTED.items():
        found[name] = st.column_config.NumberColumn(title, help=told)
    return {name: column for name, column in found.items() if name in table.columns}


@st.cache_data(show_spinner="Comparing people and evaluators …", max_entries=8)
def _compared_rows(files: Signature, study: str, size: int) -> tuple[pd.DataFrame, pd.DataFrame, int]:  # noqa: ARG001  # the cache's key
    found = desk().studies()[study]
    judged, short = judged_comparisons(vote_table(found), found.definition.asked, live=found.live)
    tables = score_tables(store(files), found.definition.run, judged)
    return people_rows(judged), evaluator_rows(judged, tables), short


_POWERED_COLUMNS = {
    "question": ("Question", "", ""),
    "evaluator": ("Scores of", "", ""),
    "votes": ("Votes alone", "%.1f %%", "Rate over all items from the votes alone, each stratum by its part"),
    "votes_low": ("from", "%.1f %%", "Lower end of the 95 % interval"),
    "votes_high": ("to", "%.1f %%", "Upper end of the 95 % interval"),
    "joined": ("Joined with scores", "%.1f %%", "The same, corrected by the scores of all pairs"),
    "joined_low": ("from ", "%.1f %%", "Lower end of the 95 % interval"),
    "joined_high": ("to ", "%.1f %%", "Upper end of the 95 % interval"),
    "tuning": ("λ", "%.2f", "Weight of the scores, 0 to 1, that makes the interval shortest; 0: they buy nothing"),
    "shorter": ("Shorter by", "%.0f %%", "What the scores take off the interval's half-width"),
    "n": ("n", "%d", "Items with votes"),
    "n_votes": ("Votes", "%d", "On these items"),
    "n_all": ("Items", "%d", "All items of the strata, those without votes too"),
    "n_missing": ("No score", "%d", "Pairs without a score; they are predicted to be in the middle"),
    "note": ("Remark", "", ""),
}


def draw_powered(study: Study, _state: PageState) -> None:
    """Draw rates over all pairs from votes alone and joined with scores, and what more votes would buy."""
    st.caption(
        "Votes are on a sample; scores are there for every pair. The rate of people over all that the study could have "
        "drawn: from the votes alone, and joined with an evaluator's scores (prediction-powered inference)."
    )
    try:
        rows = _powered_rows(present(), study.id, study.log_path.stat().st_size)
    except InvalidInput as error:
        st.info(safe(f"{str(error)[:1].upper()}{str(error)[1:]}.", limit=400), icon=":material/hourglass_empty:")
        return
    if rows.empty:
        st.info(
            "No item has a vote yet; rates over all pairs show here as soon as every stratum has two.",
            icon=":material/hourglass_empty:",
        )
        return
    for question, own in rows.groupby("question", sort=False):
        best = int(own["shorter"].fillna(-1.0).to_numpy().argmax())
        st.markdown(_said(str(question), own.to_dict("records")[best]))
    figure = powered_dots(rows)
    alt = "Rates of people over all pairs, from votes alone and joined with scores, each with its 95 % interval"
    draw(figure, key="study.powered", alt=alt)
    figure_buttons(figure, rows, f"{study.id}-rates", title=figure.title, key="study.powered.files")
    draw_table(rows[list(_POWERED_COLUMNS)], width="stretch", column_config=_powered_columns())
    st.caption(
        "It rests on this alone: the items with votes were drawn at random within the strata, as the study drew them, "
        "and none was skipped for what it shows. The scores need not be right: those of a bad evaluator get a λ near 0 "
        "and leave the votes alone. Choose the evaluator before you look; the best of several looks a little better "
        "than it is. Each item of a stratum counts once. Intervals are about these items and people like the "
        "annotators, of whom it takes three; while the study is not closed they hold however often you look, and are "
        "wider for it."
    )


def _said(question: str, best: Mapping[Hashable, Any]) -> str:
    items = counted(int(best["n_all"]), "item")
    told = f"**{question.capitalize()}**: {best['votes']:.1f} % of {items} in the strata, from votes alone"
    if pd.isna(best["votes_low"]):
        return f"{told}; {safe(str(best['note']))}."
    told += f" ({best['votes_low']:.1f} to {best['votes_high']:.1f})"
    if best["note"]:
        told += "; no evaluator's scores buy anything here. "
    else:
        joined = f"{best['joined']:.1f} % ({best['joined_low']:.1f} to {best['joined_high']:.1f})"
        told += f", {joined} joined with {safe(str(best['evaluator']))}: {best['shorter']:.0f} % shorter. "
    return told + safe(what_more_votes_buy(best), limit=400)


def _powered_columns() -> dict[str, Any]:
    return {
        name: st.column_config.NumberColumn(title, format=form, help=told)
        if form
        else st.column_config.TextColumn(title)
        for name, (title, form, told) in _POWERED_COLUMNS.items()
    }


@st.cache_data(show_spinner="Joining votes and scores …", max_entries=8)
def _powered_rows(files: Signature, study: str, size: int) -> pd.DataFrame:  # noqa: ARG001  # the cache's key
    found = desk().studies()[study]
    first = found.definition.items[0]
    asked = next((item for item in found.definition.items if not item.attention), first)
    scope = Scope(runs=(found.definition.run,), subject=asked.subject, language=asked.language)
    return powered_rows(found, read_table(store(files), scope))

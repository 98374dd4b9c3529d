"""People of a study: invited, watched, reminded, withdrawn; and what their votes say beside evaluators' scores."""

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from core.analysis.reading import read_table
from core.analysis.scope import Scope
from core.errors import InvalidInput
from core.features.human.crossed_votes import whom_it_is_about
from core.features.human.judged_comparisons import evaluator_rows, judged_comparisons, people_rows, score_tables
from core.features.human.ledger import OPEN
from core.features.human.people_figures import comparison_dots, powered_dots
from core.features.human.powered_votes import powered_rows, what_more_votes_buy
from core.features.human.quality import coverage_table, quality_table
from core.features.human.studies import Study
from core.features.human.votes import vote_table
from pages.views.common.access import operators_only
from pages.views.common.collect import data_buttons, figure_buttons
from pages.views.common.layers import button, draw_folded, tell_refused, tried
from pages.views.common.open_runs import Signature, present, store
from pages.views.common.page_drawings import NUMBER, TEXT, draw_figure, draw_table, titled
from pages.views.common.page_head import annotators_address, code_svg, say_whom_links_reach
from pages.views.common.text import counted, listed, safe
from pages.views.common.url_state import PageState
from pages.views.human_validation.annotator_steps import draw_preview
from pages.views.human_validation.study_desk import STUDIED

_COLUMNS = {
    "annotator": TEXT("Id"),
    "name": TEXT("Name", help="Only you see it"),
    "pid": TEXT("Prolific ID", help="Only you see it; no export of votes holds it"),
    "state": TEXT("State"),
    "votes": NUMBER("Votes", help="Complete votes, attention items aside"),
    "planned": NUMBER("Planned", help="Votes given and still to give"),
    "skipped": NUMBER("Skipped"),
    "corrections": NUMBER("Corrections", help="Answers that replaced an earlier one"),
    "attention": TEXT("Attention", help="Attention items answered rightly, of those seen"),
    "median_seconds": NUMBER("Median s", format="%.1f", help="Seconds an item, median"),
    "longest_run": NUMBER(
        "Longest run", help="Most equal answers in a row. Where most pairs are equally good, long runs are honest"
    ),
    "same_share": NUMBER(
        "Same answer", format="%.0f %%", help="Share of the commonest answer; near 100 % may be straight-lining"
    ),
    "left_share": NUMBER(
        "Left share",
        format="%.0f %%",
        help="Preferences for the left version among those that are no tie; sides are "
        "random, so it should be near 50 %",
    ),
    "last": st.column_config.DatetimeColumn("Last answer (UTC)", format="YYYY-MM-DD HH:mm"),
}

_COVERAGE = {
    "stratum": "Stratum",
    "items": "Items",
    "id": "Id",
    "item": "Item",
    "probe": "Edit",
    "shows": "Shows",
    "votes": NUMBER("Votes", help="Complete votes of annotators who were not withdrawn"),
    "wanted": "Votes wanted",
    "planned": NUMBER("Planned", help="Votes still to give, by the queues that it waits in"),
    "skipped": "Skipped",
    "enough": "Items with enough votes",
}


def draw_people(study: Study, _state: PageState) -> None:
    """Draw the annotators, their links and their quality, and the coverage of the items."""
    with st.form("study.invite", clear_on_submit=True, border=False):
        names, send = st.columns([3, 1], vertical_alignment="bottom")
        hint = (
            "With commas between, for you only; or how many without a name. Each gets a personal link, and "
            "whoever has it answers as them"
        )
        names.text_input("Invite people", key="study.invite.names", placeholder="Names, e.g. Ada, Bo, Cy", help=hint)
        send.form_submit_button(
            "Create links",
            type="secondary" if study.state().annotators else "primary",
            icon=":material/person_add:",
            on_click=_invite,
            args=(study,),
            width="stretch",
        )
    tell_refused("study.people.problem", limit=400)
    quality = quality_table(study)
    seen = zip(quality["attention_hits"], quality["attention_seen"], strict=True)
    hits = [f"{hit} of {shown}" if shown else None for hit, shown in seen]
    last = pd.to_datetime(pd.to_numeric(quality["last"]), unit="s")
    shares = {name: 100 * quality[name] for name in ("same_share", "left_share")}
    shown = quality.assign(attention=pd.Series(hits, index=quality.index, dtype=object), last=last, **shares)[
        list(_COLUMNS)
    ]
    table = shown if quality["pid"].notna().any() else shown.drop(columns="pid")
    st.session_state.setdefault("study.preview", table.empty)
    draw_folded("What people see", partial(draw_preview, study), key="study.preview", icon=":material/preview:")
    if table.empty:
        return
    _draw_links(study)
    idle = [each.name or each.id for each in study.state().annotators.values() if study.has_nothing_for(each.id)]
    if idle and study.state().status == OPEN:
        st.warning(
            f"Nothing is left for {safe(listed(idle), limit=300)}: every item has its {study.definition.per_item} "
            "votes, or they are promised to others. Their link says so. To give them items, hand over what somebody "
            "else has left (*Change an annotator*), or create a study of the same run with more annotators an item.",
            icon=":material/person_off:",
        )
    links = {each.id: link for each in study.state().annotators.values() if (link := _link(study, each.id))}
    _draw_reminders(study, quality, links)
    st.header("Quality", anchor=False)
    st.caption("Signs to look at, no verdicts: nobody is left out without you.")
    draw_table(table, column_config=_COLUMNS, width="stretch")
    data_buttons(table, f"{study.id}-annotators", key="study.quality")
    _draw_actions(study)
    _draw_coverage(study)


def _draw_links(study: Study) -> None:
    rows = [(each.id, each.name, link) for each in study.state().annotators.values() if (link := _link(study, each.id))]
    begun = any(each.done for each in study.state().annotators.values())
    with st.expander(f"Links ({len(rows)})", expanded=not begun, icon=":material/link:"):
        st.caption(
            "A link opens one annotator's items and nothing else. Send each to its person only; revoke it below."
        )
        say_whom_links_reach()
        for name, told, link in rows:
            label, code = st.columns([1, 4], vertical_alignment="center")
            label.markdown(f"**{safe(name)}** {safe(told)}")
            code.code(link, language=None, wrap_lines=True)
        if rows:
            data_buttons(
                pd.DataFrame(rows, columns=["annotator", "name", "link"]), f"{study.id}-links", key="study.links"
            )
            links = {f"{name} {told}".strip(): link for name, told, link in rows}
            whose = st.selectbox(
                "As a QR code", tuple(links), index=None, key="study.links.code", placeholder="Nobody's", width=280
            )
            if whose is not None:
                st.image(code_svg(links[whose]), width=280, alt=f"QR code of the link of {whose}")


def _link(study: Study, annotator: str) -> str | None:
    token = study.token(annotator)
    return None if token is None else f"{annotators_address()}?{urlencode({'token': token})}"


def _draw_actions(study: Study) -> None:
    people = {
        each.id: f"{each.id} {each.name}".strip() for each in study.state().annotators.values() if not each.withdrawn
    }
    if not people:
        return
    with st.expander("Change an annotator", icon=":material/manage_accounts:"):
        key = f"study.who.{study.id}"
        who = st.selectbox("Annotator", list(people), format_func=lambda name: people[name], key=key)
        with st.container(horizontal=True):
            for label, act, key, told in (
                (
                    "Hand over what is left",
                    study.mark_away,
                    "study.away",
                    "The others get their open items; if they answer again, they are back",
                ),
                ("New link", study.renew, "study.renew", "The old link stops working"),
                ("Revoke the link", study.revoke, "study.revoke", "Votes stay and count"),
            ):
                st.button(label, on_click=_act, args=(act, who), key=key, help=told)
        sure = st.checkbox(f"Yes, take every vote of {safe(people[who])} out of this study", key=f"study.sure.{who}")
        looks = {"type": "primary", "disabled": not sure}
        hint = "Their rows stay in the log under a tombstone; none counts any more"
        button("Withdraw", "", "study.withdraw", _act, study.withdraw, who, help=hint, **looks)
    with st.expander("Attention items", icon=":material/visibility:"):
        rate = round(study.state().attention_rate * 100)
        st.slider(
            "Rate",
            0,
            50,
            rate,
            1,
            format="%d %%",
            key=f"study.rate.{study.id}",
            on_change=_set_rate,
            args=(study,),
            help="Share of what an annotator sees; holds for what is still to come",
        )


def _draw_coverage(study: Study) -> None:
    cover = coverage_table(study)
    st.header("Coverage", anchor=False)
    order = [name for name, *_ in study.definition.strata if name in set(cover["stratum"])]
    counts = cover.groupby("stratum", sort=False).agg(
        items=("id", "size"), votes=("votes", "sum"), planned=("planned", "sum"), skipped=("skipped", "sum")
    )
    short = cover[cover["votes"] + cover["planned"] < cover["wanted"]]
    enough = cover.assign(enough=cover["votes"] >= cover["wanted"]).groupby("stratum")["enough"].sum()
    table = counts.assign(enough=enough).loc[order or counts.index].reset_index()
    draw_table(table, alt="Items and votes by stratum", width="stretch", column_config=_COVERAGE)
    if len(short):
        st.caption(
            f"{counted(len(short), 'item')} will not reach {study.definition.per_item} votes with those who are "
            "here; invite more."
        )
    with st.expander("Item by item"):
        draw_table(cover, alt="Votes of every item", width="stretch", column_config=_COVERAGE)
        data_buttons(cover, f"{study.id}-coverage", key="study.coverage")


@operators_only
def _invite(study: Study) -> None:
    told = str(st.session_state.get("study.invite.names", "")).strip()
    names = [""] * min(int(told), 500) if told.isdigit() else [name.strip() for name in told.split(",") if name.strip()]
    _act(study.invite, names or [""])


@operators_only
def _set_rate(study: Study) -> None:
    _act(study.set_attention_rate, st.session_state[f"study.rate.{study.id}"] / 100)


@operators_only
def _act(action: Callable[[Any], object], value: Any) -> None:
    tried(lambda: action(value), "study.people.problem")


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
    people, evaluators, short = _compared_rows(present(), study)
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
    figure = titled(comparison_dots(people, evaluators), people["family"])
    alt = (
        "Share of comparisons in which the right side wins, for people and for "
        "each evaluator, each with its 95 % interval"
    )
    draw_figure(figure, key="study.comparisons", alt=alt)
    figure_buttons(
        figure, people, f"{study.id}-comparisons", title="People beside evaluators", key="study.comparisons.files"
    )
    st.header("People", anchor=False)
    shown = people.dropna(axis=1, how="all")
    draw_table(shown, width="stretch", column_config=_compared_columns(shown))
    st.caption(
        "Every share counts comparisons, each once. A majority is two thirds of the votes. Ratings lie between 0, the "
        f"worst answer of the scale, and 1, the best. "
        f"{whom_it_is_about(int(people['annotators'].max()), live=study.live)}"
    )
    st.header("Evaluators on the same comparisons", anchor=False)
    if evaluators.empty:
        st.info(safe(f"The scores of run {study.definition.run} are missing, so no evaluator stands beside people."))
        return
    draw_table(evaluators, width="stretch", column_config=_compared_columns(evaluators))
    data_buttons(evaluators, f"{study.id}-failures", key="study.failures")


def _compared_columns(table: pd.DataFrame) -> dict[str, Any]:
    found: dict[str, Any] = {name: TEXT(title) for name, title in _WORDS.items()}
    for place, (name, (title, told)) in enumerate(_SHARES.items()):
        blanks = " " * place  # no two columns of a table may have one title
        for column, head, of in (
            (name, title, told),
            (f"{name}_low", f"from{blanks}", f"{title}: lower end of the 95 % interval"),
            (f"{name}_high", f"to{blanks}", f"{title}: upper end of the 95 % interval"),
        ):
            found[column] = NUMBER(head, format="%.1f %%", help=of)
    found |= {name: NUMBER(title, format="%.2f", help="On [0, 1]") for name, title in _RATED.items()}
    found |= {name: NUMBER(title, help=told) for name, (title, told) in _COUNTED.items()}
    return {name: column for name, column in found.items() if name in table.columns}


@st.cache_data(hash_funcs=STUDIED, show_spinner="Comparing people and evaluators …", max_entries=8)
def _compared_rows(files: Signature, study: Study) -> tuple[pd.DataFrame, pd.DataFrame, int]:
    judged, short = judged_comparisons(vote_table(study), study.definition.asked, live=study.live)
    tables = score_tables(store(files), study.definition.run, judged)
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
        rows = _powered_rows(present(), study)
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
    draw_figure(figure, key="study.powered", alt=alt)
    figure_buttons(figure, rows, f"{study.id}-rates", title=figure.title, key="study.powered.files")
    columns = {
        name: NUMBER(title, format=form, help=told) if form else TEXT(title)
        for name, (title, form, told) in _POWERED_COLUMNS.items()
    }
    draw_table(rows[list(_POWERED_COLUMNS)], width="stretch", column_config=columns)
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


@st.cache_data(hash_funcs=STUDIED, show_spinner="Joining votes and scores …", max_entries=8)
def _powered_rows(files: Signature, study: Study) -> pd.DataFrame:
    first = study.definition.items[0]
    asked = next((item for item in study.definition.items if not item.attention), first)
    scope = Scope(runs=(study.definition.run,), subject=asked.subject, language=asked.language)
    return powered_rows(study, read_table(store(files), scope))


_WORKS = ("working", "not begun", "practising", "away")  # states of annotators who still have something to do


def _draw_reminders(study: Study, quality: pd.DataFrame, links: dict[str, str]) -> None:
    rows = [
        row
        for row in quality.to_dict("records")
        if row["annotator"] in links and row["state"] in _WORKS and row["planned"] > row["votes"]
    ]
    if not rows or study.state().status != OPEN:
        return
    with st.expander(f"Reminders ({len(rows)})", icon=":material/mail:"):
        st.caption("Copied and sent by you; nothing is sent from here. They name neither the study nor what is asked.")
        for row in rows:
            left = int(row["planned"] - row["votes"])
            st.markdown(f"**{safe(row['annotator'])}** {safe(row['name'])}: {counted(left, 'item')} left")
            told = reminder(str(row["name"]), int(row["votes"]), left, links[row["annotator"]])
            st.code(told, language=None, wrap_lines=True)


def reminder(name: str, given: int, left: int, link: str) -> str:
    """The text for one annotator. ``name``: as the coordinator calls them; empty for none."""
    so_far = f" Your {counted(given, 'answer')} so far {'is' if given == 1 else 'are'} kept." if given else ""
    return (
        f"Hello{' ' + name if name else ''},\n\nthank you for judging images and captions for us. "
        f"{counted(left, 'item')} {'is' if left == 1 else 'are'} left for you.{so_far}\n\n"
        f"Your link, for you alone:\n{link}\n\nYou can stop at any time and go on later."
    )

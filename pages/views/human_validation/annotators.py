"""Annotators of a study: invite, show links, watch, remind, hand work over, withdraw."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from core.errors import InvariscopeError
from core.human.ledger import OPEN
from core.human.quality import coverage_table, quality_table
from core.human.studies import Study
from pages.views.common.access import operators_only
from pages.views.common.downloads import data_buttons
from pages.views.common.page_address import annotators_address, code_svg
from pages.views.common.page_tables import draw_table
from pages.views.common.text import counted, safe
from pages.views.common.url_state import PageState

_WORKS = ("working", "not begun", "practising", "away")
"""States of annotators who still have something to do."""


def draw_reminders(study: Study, quality: pd.DataFrame, links: dict[str, str]) -> None:
    """Draw a reminder for everybody whose items are not all answered, while the study takes answers.

    Args:
        study: whose annotators.
        quality: ``core.human.quality.quality_table``.
        links: of those who have one, by id.
    """
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
            st.code(
                reminder(str(row["name"]), int(row["votes"]), left, links[row["annotator"]]),
                language=None,
                wrap_lines=True,
            )


def reminder(name: str, given: int, left: int, link: str) -> str:
    """The text for one annotator.

    Args:
        name: as the coordinator calls them; empty for none.
        given: answers so far.
        left: items still to judge.
        link: theirs.
    """
    so_far = f" Your {counted(given, 'answer')} so far {'is' if given == 1 else 'are'} kept." if given else ""
    return (
        f"Hello{' ' + name if name else ''},\n\nthank you for judging images and captions for us. "
        f"{counted(left, 'item')} {'is' if left == 1 else 'are'} left for you.{so_far}\n\n"
        f"Your link, for you alone:\n{link}\n\nYou can stop at any time and go on later."
    )


_COLUMNS = {
    "annotator": st.column_config.TextColumn("Id"),
    "name": st.column_config.TextColumn("Name", help="Only you see it"),
    "pid": st.column_config.TextColumn("Prolific ID", help="Only you see it; no export of votes holds it"),
    "state": st.column_config.TextColumn("State"),
    "votes": st.column_config.NumberColumn("Votes", help="Complete votes, attention items aside"),
    "planned": st.column_config.NumberColumn("Planned", help="Votes given and still to give"),
    "skipped": st.column_config.NumberColumn("Skipped"),
    "corrections": st.column_config.NumberColumn("Corrections", help="Answers that replaced an earlier one"),
    "attention": st.column_config.TextColumn("Attention", help="Attention items answered rightly, of those seen"),
    "median_seconds": st.column_config.NumberColumn("Median s", format="%.1f", help="Seconds an item, median"),
    "longest_run": st.column_config.NumberColumn(
        "Longest run", help="Most equal answers in a row. Where most pairs are equally good, long runs are honest"
    ),
    "same_share": st.column_config.NumberColumn(
        "Same answer", format="%.0f %%", help="Share of the commonest answer; near 100 % may be straight-lining"
    ),
    "left_share": st.column_config.NumberColumn(
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
    "votes": st.column_config.NumberColumn("Votes", help="Complete votes of annotators who were not withdrawn"),
    "wanted": "Votes wanted",
    "planned": st.column_config.NumberColumn("Planned", help="Votes still to give, by the queues that it waits in"),
    "skipped": "Skipped",
    "enough": "Items with enough votes",
}


def draw_people(study: Study, _state: PageState) -> None:
    """Draw the annotators, their links and their quality, and the coverage of the items."""
    _draw_invite(study)
    quality = quality_table(study)
    table = _shown(quality)
    if table.empty:
        st.info(
            "Nobody is invited yet. Each annotator gets a personal link: whoever has it answers as them.",
            icon=":material/person_add:",
        )
        return
    _draw_links(study)
    links = {each.id: link for each in study.state().annotators.values() if (link := _link(study, each.id))}
    draw_reminders(study, quality, links)
    st.header("Quality", anchor=False)
    st.caption("Signs to look at, no verdicts: nobody is left out without you.")
    draw_table(table, column_config=_COLUMNS, width="stretch")
    data_buttons(table, f"{study.id}-annotators", key="study.quality")
    _draw_actions(study)
    _draw_coverage(study)


def _draw_invite(study: Study) -> None:
    with st.form("study.invite", clear_on_submit=True, border=False):
        names, button = st.columns([3, 1], vertical_alignment="bottom")
        names.text_input(
            "Invite annotators",
            key="study.invite.names",
            placeholder="Ada, Bo, Cy",
            help="Names with commas between, for you only; or how many without a name",
        )
        button.form_submit_button(
            "Invite", icon=":material/person_add:", on_click=_invite, args=(study,), width="stretch"
        )
    if st.session_state.get("study.people.problem"):
        st.error(safe(st.session_state.pop("study.people.problem"), limit=400))


def _draw_links(study: Study) -> None:
    rows = [(each.id, each.name, link) for each in study.state().annotators.values() if (link := _link(study, each.id))]
    with st.expander(
        f"Links ({len(rows)})",
        expanded=not any(each.done for each in study.state().annotators.values()),
        icon=":material/link:",
    ):
        st.caption(
            "A link opens one annotator's items and nothing else. Send each to its person only; revoke it below."
        )
        for name, told, link in rows:
            label, code = st.columns([1, 4], vertical_alignment="center")
            label.markdown(f"**{safe(name)}** {safe(told)}")
            code.code(link, language=None, wrap_lines=True)
        if rows:
            data_buttons(
                pd.DataFrame(rows, columns=["annotator", "name", "link"]), f"{study.id}-links", key="study.links"
            )
            _draw_code({f"{name} {told}".strip(): link for name, told, link in rows})


def _draw_code(links: Mapping[str, str]) -> None:
    """Draw the link of one annotator for a phone that is held before the screen."""
    whose = st.selectbox(
        "As a QR code", tuple(links), index=None, key="study.links.code", placeholder="Nobody's", width=280
    )
    if whose is not None:
        st.image(code_svg(links[whose]), width=280, alt=f"QR code of the link of {whose}")


def _link(study: Study, annotator: str) -> str | None:
    token = study.token(annotator)
    if token is None:
        return None
    return f"{annotators_address()}?{urlencode({'token': token})}"


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
            st.button(
                "Hand over what is left",
                on_click=_act,
                args=(study.mark_away, who),
                key="study.away",
                help="The others get their open items; if they answer again, they are back",
            )
            st.button(
                "New link", on_click=_act, args=(study.renew, who), key="study.renew", help="The old link stops working"
            )
            st.button(
                "Revoke the link",
                on_click=_act,
                args=(study.revoke, who),
                key="study.revoke",
                help="Votes stay and count",
            )
        sure = st.checkbox(f"Yes, take every vote of {safe(people[who])} out of this study", key=f"study.sure.{who}")
        st.button(
            "Withdraw",
            type="primary",
            disabled=not sure,
            on_click=_act,
            args=(study.withdraw, who),
            key="study.withdraw",
            help="Their rows stay in the log under a tombstone; none counts any more",
        )
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


def _shown(table: pd.DataFrame) -> pd.DataFrame:
    seen = zip(table["attention_hits"], table["attention_seen"], strict=True)
    hits = [f"{hit} of {shown}" if shown else None for hit, shown in seen]
    last = pd.to_datetime(pd.to_numeric(table["last"]), unit="s")
    shares = {name: 100 * table[name] for name in ("same_share", "left_share")}
    shown = table.assign(attention=pd.Series(hits, index=table.index, dtype=object), last=last, **shares)[
        list(_COLUMNS)
    ]
    return shown if table["pid"].notna().any() else shown.drop(columns="pid")


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
    try:
        action(value)
    except InvariscopeError as error:
        st.session_state["study.people.problem"] = str(error)

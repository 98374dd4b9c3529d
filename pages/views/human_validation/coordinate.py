"""The coordinator's view: choose or create a study, and read it part by part."""

from dataclasses import replace

import streamlit as st

from core.analysis.scope import Scope
from core.errors import InvariscopeError
from core.human.ledger import CLOSED, OPEN, PAUSED
from core.human.quality import coverage_table
from core.human.studies import Study
from pages.views.common.access import draw_sign_out, operators_only
from pages.views.common.collect import Origin, figures_of
from pages.views.common.open_runs import narrowed, present
from pages.views.common.page_head import header
from pages.views.common.text import counted, moment, safe
from pages.views.common.url_state import Field, PageState, one_of
from pages.views.human_validation.comparisons import draw_comparisons
from pages.views.human_validation.create import draw_create
from pages.views.human_validation.desk import desk
from pages.views.human_validation.entrance import draw_entrance
from pages.views.human_validation.files import draw_files
from pages.views.human_validation.gallery import draw_gallery
from pages.views.human_validation.people import draw_people
from pages.views.human_validation.powered import draw_powered
from pages.views.human_validation.read import draw_agreement, draw_outcomes, draw_scores

PARTS = {
    "people": ("Annotators", draw_people),
    "entrance": ("Taking part", draw_entrance),
    "outcomes": ("Outcomes", draw_outcomes),
    "comparisons": ("Right and wrong", draw_comparisons),
    "powered": ("Whole run", draw_powered),
    "agreement": ("Agreement", draw_agreement),
    "scores": ("Votes and scores", draw_scores),
    "gallery": ("Disagreements", draw_gallery),
    "files": ("Files", draw_files),
}
_WITH_SCORES = ("comparisons", "powered", "scores")
"""Parts that hold votes against the scores of the study's run."""

_WORDS = {OPEN: "Open", PAUSED: "Paused", CLOSED: "Closed"}


def study_state() -> PageState:
    """Fields of the coordinator's view."""
    names = tuple(desk().studies())
    first = names[-1] if names else None
    return PageState(
        "study_page",
        (
            Field("study", first, one_of(lambda: names, first, what="study")),
            Field("part", "people", one_of(lambda: tuple(PARTS), "people", what="part")),
            Field("scope", "studied", one_of(lambda: ("studied", "run"), "studied", what="scope")),
        ),
    )


def draw_coordinator() -> None:
    """Draw the studies for those who run them."""
    state = study_state()
    state.restore()
    header(
        "Human validation",
        "Do people find the edited pairs as good as the original ones?",
        state,
        words=("study", "upheld"),
    )
    draw_sign_out()
    for problem in desk().problems():
        st.warning(safe(problem, limit=500))
    if state.get("study") is None:
        st.info("No study is here yet. One draws pairs from a run, and you send each annotator a personal link.",
                icon=":material/how_to_vote:")  # fmt: skip
        draw_create(state, first=True)
        state.publish()
        return
    names = tuple(desk().studies())
    choice, create = st.columns([3, 1], vertical_alignment="bottom")
    choice.selectbox("Study", names, key=state.key("study"), format_func=_titled)
    with create, st.popover("New study", icon=":material/add:", width="stretch"):
        draw_create(state)
    study = desk().studies()[state.get("study")]
    try:
        _draw_study(study, state)
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600))
    state.publish()


def _titled(name: str) -> str:
    study = desk().studies().get(name)
    return name if study is None or study.definition.title == name else f"{study.definition.title} ({name})"


def _draw_study(study: Study, state: PageState) -> None:
    for problem in study.problems():
        st.warning(safe(problem, limit=500))
    _draw_head(study)
    st.segmented_control(
        "Part", list(PARTS), key=state.key("part"), format_func=lambda name: PARTS[name][0],
        label_visibility="collapsed", required=True,
    )  # fmt: skip
    figures_of(_origin(study, state))
    PARTS[state.get("part")][1](study, state)


def _origin(study: Study, state: PageState) -> Origin:
    """Where the figures of a part come from: the votes so far, and the scores of the run where they are shown too."""
    definition, votes = study.definition, int(coverage_table(study)["votes"].sum())
    people = sum(not each.withdrawn for each in study.state().annotators.values())
    of = (f"{counted(votes, 'complete vote')} of {counted(people, 'annotator')} in study {study.id}, run "
          f"{definition.run}, seed {definition.seed}")  # fmt: skip
    own = Origin("pages/human_validation.py", state, of)
    if state.get("part") not in _WITH_SCORES:
        return own
    try:
        scope = narrowed(present(), Scope(runs=(definition.run,))).only()
    except InvariscopeError:  # the part says that the run is not here
        return own
    return replace(own, files=present(), scopes=(scope,))


@st.fragment(run_every=10)
def _draw_head(study: Study) -> None:
    """Live progress; drawn anew every ten seconds."""
    definition, ledger, cover = study.definition, study.state(), coverage_table(study)
    enough = int((cover["votes"] >= cover["wanted"]).sum())
    given, wanted = int(cover["votes"].clip(upper=cover["wanted"]).sum()), int(cover["wanted"].sum())
    people = [each for each in ledger.annotators.values() if not each.withdrawn]
    cells = st.grid(4, min_column_width=150, gap="small")
    cells.metric("Items", len(cover), help="Paired items, or single images; items with a known answer are not counted")
    cells.metric(
        "Votes", int(cover["votes"].sum()), help=f"Complete votes; wanted: {definition.per_item} an item, {wanted}"
    )
    cells.metric("Items with enough votes", f"{enough} of {len(cover)}" if len(cover) else "—")
    cells.metric("Annotators", len(people), help="Invited, imported or sent by Prolific, and not withdrawn")
    if wanted:
        st.progress(given / wanted, text=f"{given} of {wanted} wanted votes")
    words, status = st.columns([9, 4], vertical_alignment="center")
    words.caption(
        f"{definition.asked.title}. From run {safe(definition.run)}, {definition.per_item} annotators an item, "
        f"seed {definition.seed}, created {safe(moment(definition.created))}."
    )
    with status.container(horizontal=True, horizontal_alignment="right"):
        st.segmented_control(
            "Status", list(_WORDS), default=ledger.status, key=f"study.status.{study.id}.{ledger.status}",
            format_func=lambda name: _WORDS[name], on_change=_set_status, args=(study, ledger.status), required=True,
            label_visibility="collapsed", help="Paused and closed studies take no answers; nothing is lost",
        )  # fmt: skip


@operators_only
def _set_status(study: Study, before: str) -> None:
    chosen = st.session_state.get(f"study.status.{study.id}.{before}")
    if chosen and chosen != before:
        study.set_status(chosen)

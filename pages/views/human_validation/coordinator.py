"""The coordinator's view: choose or create a study, read it part by part, take votes out and in."""

import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from core.analysis.scope import Scope
from core.errors import InvalidInput, InvariscopeError
from core.features.human import sampling
from core.features.human.creation import labels_in_pictures, open_study, planned_precision
from core.features.human.definition import check_study_id
from core.features.human.exchange import FORMATS, MOST_BYTES, READ, export_votes, import_votes
from core.features.human.kinds import KINDS, kind_of
from core.features.human.ledger import CLOSED, OPEN, PAUSED
from core.features.human.quality import coverage_table
from core.features.human.studies import Study, studies_dir
from core.probes.titles import family_title
from core.seeds import RUN_SEED
from pages.views.common.access import draw_sign_out, operators_only
from pages.views.common.collect import Origin, figures_of, file_button
from pages.views.common.layers import button, tell_refused
from pages.views.common.links import draw_no_run
from pages.views.common.open_runs import Signature, narrowed, present, run_of, store
from pages.views.common.page_drawings import draw_table
from pages.views.common.page_head import drawn, header
from pages.views.common.text import THE_PAPER, counted, moment, safe
from pages.views.common.url_state import Field, PageState, one_of
from pages.views.human_validation.study_desk import desk, draw_entrance
from pages.views.human_validation.study_people import draw_comparisons, draw_people, draw_powered
from pages.views.human_validation.study_reading import draw_agreement, draw_gallery, draw_outcomes, draw_scores

PAPER, FAMILIES = "Strata of the paper", "Families of my choice"


def draw_create(state: PageState, *, first: bool = False) -> None:
    """Draw the form of a new study; ``first``: there is none yet, so it stands open on the page."""
    files = present()
    runs = [run.id for run in store(files).runs() if run.status == "complete"]
    if not runs:
        draw_no_run(none="No finished run yet for a study to draw its pairs from")
        return
    with st.container(width=720 if first else "stretch"):
        hint = "For you; annotators never see it"
        title = st.text_input(
            "Title", "Do the edits keep the meaning?", max_chars=120, key="study.new.title", help=hint
        )
        run = st.selectbox("Run", runs, key="study.new.run", help="The audit whose pairs people judge")
        hint = " ".join(f"**{each.title}**: {each.summary}" for each in KINDS.values())
        kind = st.selectbox(
            "Kind", list(KINDS), key="study.new.kind", format_func=lambda name: KINDS[name].title, help=hint
        )
        st.caption(f"{KINDS[kind].summary} Source: {KINDS[kind].source}.")
        strata = _choose_strata(files, run)
        if not strata:
            st.info("Choose at least one family.")
            return
        most = _largest(files, run, strata)
        wide, narrow = st.columns(2)
        hint = f"The paper has {sampling.TOTAL}; {most} fill every stratum here"
        total = wide.number_input(
            "Pairs", 1, 20_000, min(max(most, 1), sampling.TOTAL), key="study.new.total", help=hint
        )
        per_item = narrow.number_input("Annotators an item", 1, 20, 3, key="study.new.per_item")
        hint = (
            "Items with a known answer, a caption that names what is not there, as a share of what an annotator "
            "is shown. They come beside the pairs: at 5 %, whose share is 10 pairs is shown 11 items"
        )
        rate = wide.slider("Attention items", 0, 30, 5, 1, format="%d %%", key="study.new.rate", help=hint)
        hint = "The same seed draws the same items, sides and orders"
        seed = narrow.number_input("Seed", 0, 2**31 - 1, RUN_SEED, key="study.new.seed", help=hint)
        try:
            sample = _sample(files, run, kind, int(total), int(seed), strata, rate / 100)
        except InvariscopeError as error:
            st.error(safe(str(error), limit=400))
            return
        _draw_sample(sample)
        asked = sum(not item.attention for item in sample.items)
        for sentence in planned_precision(kind_of(kind), items=asked, annotators=int(per_item)):
            st.caption(sentence)

        def make() -> Study:
            return open_study(
                run_of(files, run),
                sample,
                study_id=_free_id(title),
                title=title,
                kind=kind,
                per_item=int(per_item),
                attention_rate=rate / 100,
                seed=int(seed),
                load=desk().corpus,
            )

        button("Create the study", "check", "study.new.create", _create, state, make, type="primary")
        tell_refused("study.new.problem", limit=400)


def _choose_strata(files: Signature, run: str) -> tuple[sampling.Stratum, ...]:
    hint = (
        "Spatial, blur control and societal in equal parts, as in the paper; or equal parts of chosen families, "
        f"of edits that should not matter and of edits that break the meaning. {THE_PAPER}"
    )
    which = st.radio("Drawn from", (PAPER, FAMILIES), key="study.new.strata", horizontal=True, help=hint)
    if which == PAPER:
        return sampling.PAPER_STRATA
    held = _families(files, run)
    hint = "Edits that should not matter"
    chosen = st.multiselect(
        "Families", held[sampling.INVARIANT], key="study.new.families", format_func=family_title, help=hint
    )
    broken = []
    if held[sampling.DIRECTIONAL]:
        broken = st.multiselect(
            "Directional families",
            held[sampling.DIRECTIONAL],
            key="study.new.directional",
            format_func=family_title,
            help="Comparisons of a right and a wrong side. Which is which is told to nobody: the side that stands left "
            "is random for each annotator and item, and recorded.",
        )
    return sampling.family_strata(chosen, broken) if chosen or broken else ()


def _draw_sample(sample: sampling.Sample) -> None:
    checks = sum(item.attention for item in sample.items)
    if sample.shortfall:
        st.warning(
            f"{counted(sample.shortfall, 'pair')} short of the target. What the run does not hold is not "
            "replaced by something else.",
            icon=":material/production_quantity_limits:",
        )
    with st.expander(
        f"Sample: {counted(len(sample.items) - checks, 'item')}, {counted(checks, 'attention item')} in reserve"
    ):
        table = pd.DataFrame(sample.strata, columns=["stratum", "target", "available", "taken"])
        draw_table(
            table.assign(short=table["target"] - table["taken"]),
            alt="What the sample takes of each stratum",
            width="stretch",
            column_config={
                "stratum": "Stratum",
                "target": "Wanted",
                "available": "In the run",
                "taken": "Taken",
                "short": "Short",
            },
        )


@st.cache_data(show_spinner="Drawing the sample …", max_entries=32)
def _sample(
    files: Signature, run: str, kind: str, total: int, seed: int, strata: tuple[sampling.Stratum, ...], rate: float
) -> sampling.Sample:
    known: Mapping[str, Collection[str]] = {}
    with suppress(InvariscopeError):  # labels of all that is annotated in each picture, where the corpus is here
        known = labels_in_pictures(run_of(files, run), load=desk().corpus)
    return sampling.draw_sample(
        store(files), run, kind=kind_of(kind), total=total, seed=seed, strata=strata, attention_rate=rate, present=known
    )


@st.cache_data(show_spinner="Counting what the run has …", max_entries=16)
def _largest(files: Signature, run: str, strata: tuple[sampling.Stratum, ...]) -> int:
    return sampling.largest_total(store(files), run, strata=strata)


@st.cache_data(show_spinner=False, max_entries=16)
def _families(files: Signature, run: str) -> dict[str, list[str]]:
    pairs = sampling.candidates(store(files), run)
    return {kind: sampling.families_of(pairs, kind) for kind in (sampling.INVARIANT, sampling.DIRECTIONAL)}


@operators_only
def _create(state: PageState, make: Callable[[], Study]) -> None:
    try:
        study = make()
    except (InvariscopeError, OSError) as error:
        st.session_state["study.new.problem"] = str(error)
        return
    state.put("study", study.id)
    state.put("part", "people")


def _free_id(title: str) -> str:
    stem = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].strip("-") or "study"
    taken = set(desk().studies())
    for number in range(1, 1000):
        name = stem if number == 1 else f"{stem}-{number}"
        if name not in taken and not (studies_dir() / name).exists():
            return check_study_id(name)
    raise InvalidInput(f"there are too many studies named {stem!r}; choose another title")


def _draw_files(study: Study, _state: PageState) -> None:
    st.header("Export", anchor=False)
    st.caption(
        "One row an annotator and item: sides, answers, times, comments. No link and no name leaves with it. "
        "JSON has the study's definition as well."
    )
    withdrawn = st.checkbox("With the rows of withdrawn annotators, marked", key="study.files.withdrawn")
    with st.container(horizontal=True):
        for form in FORMATS:
            file_button(
                form.upper() if form != "parquet" else "Parquet",
                partial(export_votes, study, form, withdrawn=withdrawn),
                f"{study.id}-votes.{form}",
                key=f"study.export.{form}",
            )
    st.header("Import", anchor=False)
    st.caption(
        "Votes made elsewhere, with the columns of an export: annotator, id, left, and a column a question; "
        "or as label-studio, potato, doccano or crowd-kit write them. The file is checked as a whole; one bad "
        "row refuses it, by its number."
    )
    given = st.file_uploader("File of votes", list(READ), key=f"study.import.{study.id}")
    if given is None:
        return
    if given.size > MOST_BYTES:
        st.error("The file is too large; split it.")
    elif st.button("Take these votes in", type="primary", key="study.import.go"):
        try:
            taken = import_votes(study, given.getvalue(), name=given.name)
            st.success(f"{counted(taken.count, 'vote')} new or changed.")
            for sentence in taken.told:
                st.warning(safe(sentence, limit=500))
        except InvariscopeError as error:
            st.error(safe(str(error), limit=500))


PARTS = {
    "people": ("Links and progress", draw_people),
    "entrance": ("Taking part", draw_entrance),
    "outcomes": ("Outcomes", draw_outcomes),
    "comparisons": ("Right and wrong", draw_comparisons),
    "powered": ("Whole run", draw_powered),
    "agreement": ("Agreement", draw_agreement),
    "scores": ("Votes and scores", draw_scores),
    "gallery": ("Disagreements", draw_gallery),
    "files": ("Files", _draw_files),
}
GROUPS = {
    "Invite": ("people",),
    "Taking part": ("entrance",),
    "Results": ("outcomes", "comparisons", "agreement", "gallery"),
    "Beside the scores": ("scores", "powered"),
    "Files": ("files",),
}
"""What a coordinator comes for -> the parts that stand under it, the first one first."""

_BEFORE_VOTES = ("Invite", "Taking part", "Files")  # groups that have something before the first vote
_WITH_SCORES = ("comparisons", "powered", "scores")  # parts that hold votes against the scores of the study's run
_WORDS = {OPEN: "Open", PAUSED: "Paused", CLOSED: "Closed"}


def _study_state() -> PageState:
    names = tuple(desk().studies())
    first = names[-1] if names else None
    fields = (
        Field("study", first, one_of(lambda: names, first, what="study")),
        Field("part", "people", one_of(lambda: tuple(PARTS), "people", what="part")),
        Field("scope", "studied", one_of(lambda: ("studied", "run"), "studied", what="scope")),
    )
    return PageState("study_page", fields)


def draw_coordinator() -> None:
    """Draw the studies for those who run them."""
    state = _study_state()
    state.restore()
    header(
        "Do people find the edited pairs as good as the original ones? If they do not find an edit harmless, "
        "discount its finding.",
        state,
    )
    draw_sign_out()
    for problem in desk().problems():
        st.warning(safe(problem, limit=500))
    if state.get("study") is None:
        st.info(
            "No studies yet. One draws pairs from a run, and you send each annotator a personal link.",
            icon=":material/how_to_vote:",
        )
        draw_create(state, first=True)
        state.publish()
        return
    row = st.container(horizontal=True, vertical_alignment="bottom", key="study_choice")
    row.selectbox("Study", tuple(desk().studies()), key=state.key("study"), format_func=_titled, width=320)
    study = desk().studies()[state.get("study")]
    status = study.state().status
    row.selectbox(
        "Status",
        list(_WORDS),
        index=list(_WORDS).index(status),
        key=f"study.status.{study.id}.{status}",
        format_func=lambda name: _WORDS[name],
        on_change=_set_status,
        args=(study, status),
        width=130,
    )
    with row.popover("New study", icon=":material/add:"):
        draw_create(state)
    if status != OPEN:
        st.caption(f"{_WORDS[status]}: it takes no answers; nothing is lost.")
    with drawn(state):
        _draw_study(study, state)


def _titled(name: str) -> str:
    study = desk().studies().get(name)
    return name if study is None or study.definition.title == name else f"{study.definition.title} ({name})"


def _draw_study(study: Study, state: PageState) -> None:
    for problem in study.problems():
        st.warning(safe(problem, limit=500))
    definition = study.definition
    _draw_head(study)
    st.caption(
        f"{definition.asked.summary} Pairs of run {safe(definition.run)}.",
        help=f"{counted(definition.per_item, 'annotator')} an item, seed {definition.seed}, created "
        f"{safe(moment(definition.created))}",
    )
    voted = bool(coverage_table(study)["votes"].sum())
    key = f"{state.key('part')}.group"
    now = next(name for name, parts in GROUPS.items() if state.get("part") in parts)
    groups = [name for name in GROUPS if voted or name in (now, *_BEFORE_VOTES)]
    st.session_state[key] = now

    def turned() -> None:
        state.put("part", GROUPS[st.session_state[key]][0])

    st.segmented_control("Group", groups, required=True, key=key, on_change=turned, label_visibility="collapsed")
    parts = GROUPS[st.session_state[key]]
    if len(parts) > 1:
        state.switch("part", "Part", {name: PARTS[name][0] for name in parts}, label_visibility="collapsed")
    figures_of(_origin(study, state))
    PARTS[state.get("part")][1](study, state)


def _origin(study: Study, state: PageState) -> Origin:
    definition, votes = study.definition, int(coverage_table(study)["votes"].sum())
    people = sum(not each.withdrawn for each in study.state().annotators.values())
    of = (
        f"{counted(votes, 'complete vote')} of {counted(people, 'annotator')} in study {study.id}, run "
        f"{definition.run}, seed {definition.seed}"
    )
    own = Origin(state, of)
    if state.get("part") not in _WITH_SCORES:
        return own
    try:
        scope = narrowed(present(), Scope(runs=(definition.run,))).only()
    except InvariscopeError:  # the part says that the run is not here
        return own
    return replace(own, files=present(), scopes=(scope,))


@st.fragment(run_every=10)
def _draw_head(study: Study) -> None:
    ledger, cover = study.state(), coverage_table(study)
    enough = int((cover["votes"] >= cover["wanted"]).sum())
    given, wanted = int(cover["votes"].clip(upper=cover["wanted"]).sum()), int(cover["wanted"].sum())
    people = [each for each in ledger.annotators.values() if not each.withdrawn]
    if not int(cover["votes"].sum()):
        invited = f"{counted(len(people), 'person', 'people')} invited" if people else "Invite people below"
        each, asked = study.definition.per_item, study.definition.asked
        what = counted(len(cover), "pair" if asked.sides == 2 else "picture")
        sum_of = f" ({what} × {counted(each, 'person', 'people')})" if len(cover) * each == wanted else ""
        st.markdown(f"**No answer yet: 0 of {wanted} votes{sum_of}.**")
        st.markdown(f"**1.** {invited}. **2.** Send each their link. **3.** The results appear here.")
        return
    cells = st.grid(4, min_column_width=150, gap="small")
    cells.metric("Items", len(cover), help="Paired items, or single images; items with a known answer are not counted")
    hint = (
        f"Complete votes, one of an annotator on an item; wanted: {study.definition.per_item} an item, {wanted}. "
        "Agreement counts judgements: a vote on a pair judges two versions"
    )
    cells.metric("Votes", int(cover["votes"].sum()), help=hint)
    cells.metric("Items with enough votes", f"{enough} of {len(cover)}" if len(cover) else "—")
    cells.metric("Annotators", len(people), help="Invited, imported or sent by Prolific, and not withdrawn")
    if wanted:
        st.progress(given / wanted, text=f"{given} of {wanted} wanted votes")


@operators_only
def _set_status(study: Study, before: str) -> None:
    chosen = st.session_state.get(f"study.status.{study.id}.{before}")
    if chosen and chosen != before:
        study.set_status(chosen)

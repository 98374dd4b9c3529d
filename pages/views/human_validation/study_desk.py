"""The desk of the studies, shared by all sessions, and taking part: consent, practice, the link for Prolific."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from core.corpora.schema import Corpus, Origin
from core.errors import InvariscopeError, NotAvailable
from core.features.human import entrance, prolific
from core.features.human.creation import Pictures, make_example, make_pictures
from core.features.human.definition import DEFINITION, ORIGINAL, VARIANT, Example, StudyItem
from core.features.human.first_steps import practice_table, set_consent, set_practice
from core.features.human.kinds import TIE, Value
from core.features.human.studies import Refused, Study, studies_dir
from core.probes.words.natural_captions import read_again
from pages.views.common.access import operators_only
from pages.views.common.collect import data_buttons
from pages.views.common.layers import button, tell_refused, tried
from pages.views.common.open_runs import Shelf
from pages.views.common.page_head import annotators_address, say_whom_links_reach
from pages.views.common.reader_uploads import LEAVING
from pages.views.common.text import counted, safe
from pages.views.common.url_state import PageState

_PROBLEM, _DONE = "study.settings.problem", "study.settings.done"


@operators_only
def act(action: Callable[[], None], done: str) -> None:
    """Do something; what fails is one sentence on the next screen."""
    if tried(action, _PROBLEM):
        st.session_state[_DONE] = done


_ANY = "any"
_ABOUT = {ORIGINAL: "The original is", VARIANT: "The variant is", entrance.PREFERRED: "Better is"}


def _draw_practice_setting(study: Study) -> None:
    st.header("Practice", anchor=False)
    st.caption(
        "Items that everybody judges first, with what was right and why after each. Answers are marked as "
        "practice and enter no number; a practice item is asked about nowhere else."
    )
    if practised := practice_table(study)["annotator"].nunique():
        st.info(
            f"{counted(practised, 'annotator')} practised already, so practice stays as it is: everybody does the "
            "same.",
            icon=":material/lock:",
        )
        _draw_exercises(study)
        data_buttons(practice_table(study), f"{study.id}-practice", key="study.practice.table")
        return
    known = entrance.by_construction(study.definition)
    practice = study.state().practice
    chosen = practice.exercises if practice else ()
    own = tuple(each for each in chosen if each.item not in {one.item for one in known})
    most = min(len(known), entrance.MOST_EXERCISES - len(own))
    st.caption(
        f"{counted(len(known), 'item')} of this study {'has' if len(known) == 1 else 'have'} an answer that follows by "
        "construction: a caption names what the picture does not show. Those for practice are no attention items any "
        "more."
    )
    with st.form(f"study.practice.{study.id}.{len(chosen)}", border=False):
        count, needed, tries = st.columns(3)
        count.number_input(
            "With a known answer", 0, most, min(len(chosen) - len(own), most), key=f"study.practice.count.{study.id}"
        )
        needed.number_input(
            "Right answers needed",
            0,
            entrance.MOST_EXERCISES,
            practice.needed if practice else 0,
            key=f"study.practice.needed.{study.id}",
            help="0: practice turns nobody away. An item is right when all its answers are",
        )
        tries.number_input(
            "Tries",
            1,
            entrance.MOST_TRIES,
            practice.tries if practice else 2,
            key=f"study.practice.tries.{study.id}",
            help="Prolific asks for two or more where somebody is turned away",
        )
        st.form_submit_button("Save practice", icon=":material/check:", on_click=_save_known, args=(study, known, own))
    _draw_exercises(study)
    _draw_own(study)


@operators_only
def _save_known(study: Study, known: tuple[entrance.Exercise, ...], own: tuple[entrance.Exercise, ...]) -> None:
    number, needed, tries = (
        int(st.session_state[f"study.practice.{name}.{study.id}"]) for name in ("count", "needed", "tries")
    )
    _save_practice(study, (*known[:number], *own), needed, tries)


def _draw_exercises(study: Study) -> None:
    state = study.state()
    if state.practice is None:
        st.caption("Nobody practises now.")
        return
    practice = state.practice
    many = f"**{counted(len(practice.exercises), 'practice item')}**"
    if practice.needed:
        tries = counted(practice.tries, "try", "tries")
        st.markdown(f"{many}, of which {practice.needed} must be right, in {tries} at most.")
    else:
        st.markdown(f"{many}; nobody is turned away.")
    for place, exercise in enumerate(practice.exercises):
        with st.container(horizontal=True, vertical_alignment="center", key=f"finding_practice_{place}"):
            item = state.by_id[exercise.item]
            right = "; ".join(
                f"{name}: {' or '.join(_word(study, name, value) for value in values)}"
                for name, values in exercise.right.items()
            )
            st.markdown(
                f"**{place + 1}.** {safe(item.item)}: “{safe(item.variant_caption)}” → {safe(right, limit=400)}"
            )
            if not any(each.rounds for each in state.annotators.values()):
                rest = tuple(each for each in practice.exercises if each.item != exercise.item)
                kept = (study, rest, min(practice.needed, len(rest)), practice.tries)
                button("Remove", "", f"study.practice.remove.{place}", _save_practice, *kept, type="tertiary")


def _draw_own(study: Study) -> None:
    state, kind = study.state(), study.definition.asked
    voted = {item for _, item in state.entries}
    free = [
        each
        for each in study.definition.items
        if not each.attention and each.id not in voted and each.id not in state.exercises
    ]
    with st.expander("Add an item of your choice", icon=":material/add:"):
        if not free:
            st.caption("Every item of this study has votes or is practised already.")
            return
        st.caption("It leaves the study: it is practised, and no longer asked about.")
        titles = {each.id: _titled(each) for each in free}
        key = f"study.practice.item.{study.id}"
        name = st.selectbox("Item", list(titles), key=key, format_func=titles.__getitem__)
        item = state.by_id[name]
        try:
            pictures = desk().pictures(study, item)
        except NotAvailable as error:
            st.caption(safe(str(error), limit=300))
        else:
            with st.container(horizontal=True, key="finding_practice_pictures"):
                for version in [item.shows] if item.shows != "pair" else [ORIGINAL, VARIANT]:
                    told = f"{version}: {safe(item.caption(version))}"
                    st.image(pictures.of(version), width=180, alt=f"{version} of {item.item}", caption=told)
        asked = entrance.asked_of(item, kind)
        cells = st.columns(len(asked))
        for cell, what in zip(cells, asked, strict=True):
            options, named = [_ANY, *map(str, entrance.answers_to(what, kind))], partial(_named, study, what)
            cell.selectbox(_ABOUT[what], options, key=f"study.practice.right.{name}.{what}", format_func=named)
        st.text_input("Why, told after the answer", key=f"study.practice.why.{name}", max_chars=entrance.WHY_LIMIT)
        button("Add it to practice", "add", "study.practice.add", _add, study, name, asked)


@operators_only
def _add(study: Study, name: str, asked: tuple[str, ...]) -> None:
    said = {what: st.session_state.get(f"study.practice.right.{name}.{what}", _ANY) for what in asked}
    values = {what: {str(each): each for each in entrance.answers_to(what, study.definition.asked)} for what in asked}
    right = {what: (values[what][str(value)],) for what, value in said.items() if value != _ANY}
    why = str(st.session_state.get(f"study.practice.why.{name}", ""))
    now = study.state().practice
    before, needed, tries = (now.exercises, now.needed, now.tries) if now else ((), 0, 2)
    _save_practice(study, (*before, entrance.Exercise(name, right, why)), needed, tries)


@operators_only
def _save_practice(study: Study, exercises: tuple[entrance.Exercise, ...], needed: int, tries: int) -> None:
    act(lambda: set_practice(study, exercises, needed=needed, tries=tries), "Practice is saved.")


def _titled(item: StudyItem) -> str:
    return f"{item.item} · {item.probe if item.shows != ORIGINAL else item.baseline}"


def _word(study: Study, what: str, value: Value) -> str:
    if what == entrance.PREFERRED:
        return "equally good" if value == TIE else f"the {value}"
    kind = study.definition.asked
    return kind.scale[int(value) - kind.lowest]


def _named(study: Study, what: str, value: str) -> str:
    known = {str(each): each for each in entrance.answers_to(what, study.definition.asked)}
    return "any answer" if value == _ANY else _word(study, what, known[value])


def _draw_prolific_setting(study: Study) -> None:
    st.header("Prolific", anchor=False)
    told = study.state().prolific
    opened = told is not None and told.digest is not None
    st.caption(
        "One link for everybody. Prolific puts each participant's id into it; the same id comes back to the same "
        "items. The code shows after the last item, and not before."
    )
    if opened:
        _draw_link(study)
    plain = sum(not each.attention for each in study.definition.items)
    with st.form(f"study.prolific.{study.id}.{opened}", border=False):
        first_code = (
            "" if told else st.session_state.setdefault(f"study.prolific.first.{study.id}", prolific.new_code())
        )
        first, second, third = st.columns(3)
        first.number_input(
            "Items a participant",
            1,
            prolific.MOST_ITEMS,
            told.items if told else min(plain, 40),
            key=f"study.prolific.items.{study.id}",
            help="Items with a known answer included; for those who come from now on",
        )
        second.text_input(
            "Completion code",
            told.completion if told else first_code,
            max_chars=40,
            key=f"study.prolific.code.{study.id}",
            help="Made here, or the one that Prolific gave you: both must be the same there",
        )
        third.text_input(
            "Screened-out code",
            told.screened_out if told else "",
            max_chars=40,
            key=f"study.prolific.out.{study.id}",
            help="For those whom practice turns away; empty: they are asked to return their submission",
        )
        st.caption(
            f"Who skips more than {100 * (1 - prolific.FEWEST_ANSWERED):.0f} % of their items is asked to go back to "
            "them before the code shows."
        )
        label = "Save" if opened else "Open the link"
        st.form_submit_button(label, icon=":material/check:", on_click=_save, args=(study,))
    if opened:
        button(
            "Close the link",
            "link_off",
            "study.prolific.close",
            act,
            lambda: prolific.close_link(study),
            "The link for Prolific is closed.",
            help="For those who joined too, who then see no code any more. Votes stay and count",
        )


@operators_only
def _save(study: Study) -> None:
    items, code, out = (st.session_state[f"study.prolific.{name}.{study.id}"] for name in ("items", "code", "out"))
    act(
        lambda: prolific.open_link(
            study, items=int(items), completion=str(code).strip(), screened_out=str(out).strip()
        ),
        "The link for Prolific is open.",
    )


def _draw_link(study: Study) -> None:
    query = prolific.link_query(study)
    if query is None:
        st.warning("The link works, but it cannot be shown: the study's secret is gone. Close it and open a new one.")
        return
    st.code(f"{annotators_address()}?{query}", language=None, wrap_lines=True)
    say_whom_links_reach()
    joined = [each for each in study.state().annotators.values() if each.pid is not None]
    st.caption(
        f"{counted(len(joined), 'participant')} joined. Paste the link as it stands into the study at Prolific; "
        "it fills the parts in double braces."
    )


def draw_entrance(study: Study, _state: PageState) -> None:
    """Draw what comes before the first vote, for the coordinator to set."""
    tell_refused(_PROBLEM, limit=400)
    if told := st.session_state.pop(_DONE, ""):
        st.success(safe(told, limit=400))
    st.header("Consent", anchor=False)
    state = study.state()
    agreed = sum(
        state.consent is not None and each.accepted == state.consent.digest for each in state.annotators.values()
    )
    st.caption(
        "Shown before anything else. Agreeing is logged with its time and the sha256 of the text; who does not agree "
        "ends there, and nothing of them is stored. Who agreed to another wording is asked again."
    )
    key = f"study.consent.{study.id}.{state.consent.digest[:8] if state.consent else ''}"
    st.text_area(
        "Text of consent",
        state.consent.text if state.consent else "",
        key=key,
        height=220,
        max_chars=entrance.CONSENT_LIMIT,
        help="Plain text; empty: no consent is asked",
        placeholder="Who runs the study and why, what is asked, how long it takes and what is paid, what is "
        "stored and for how long, that one may stop at any time, whom to ask.",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        button("Save the text", "check", "study.consent.save", _save_consent, study, key)
        if state.consent is not None:
            st.caption(f"{counted(agreed, 'annotator')} agreed to this wording (sha256 {state.consent.digest[:12]}…).")
        else:
            st.caption("No consent is asked now.")
    _draw_practice_setting(study)
    _draw_prolific_setting(study)


@operators_only
def _save_consent(study: Study, key: str) -> None:
    act(lambda: set_consent(study, str(st.session_state.get(key, ""))), "The text of consent is saved.")


class Desk:
    """The studies of one folder, each opened once; safe between threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._studies: dict[str, Study] = {}
        self._corpora: Shelf[Corpus] = Shelf(3)
        self._pictures: Shelf[Pictures] = Shelf(96)
        self._ahead = ThreadPoolExecutor(max_workers=1, thread_name_prefix="study-pictures")
        self._problems: tuple[str, ...] = ()

    def studies(self) -> dict[str, Study]:
        """Every study by id, with those that another process made."""
        with self._lock:
            names = sorted(path.parent.name for path in self._folder.glob(f"*/{DEFINITION}"))
            problems = []
            for name in names:
                if name not in self._studies:
                    try:
                        self._studies[name] = Study(self._folder / name)
                    except InvariscopeError as error:
                        problems.append(str(error))
            self._studies = {name: self._studies[name] for name in names if name in self._studies}
            self._problems = tuple(problems)
            return dict(self._studies)

    def problems(self) -> tuple[str, ...]:
        """Sentences about studies that cannot be opened."""
        return self._problems

    def whose(self, token: object, visit: prolific.Visit | None = None) -> tuple[Study, str | None]:
        """Study and annotator of a link; no annotator yet for who comes from Prolific for the first time. ``token``: of
        an annotator, or of a study's link for Prolific. Raises Refused if it is nobody's, or a personal link was given
        to Prolific."""
        for study in self.studies().values():
            if prolific.recruits(study, token):
                return study, prolific.participant(study, visit)
            with suppress(Refused):
                annotator = study.annotator_of(token)
                break
        else:
            raise Refused("This link is not valid, or not any more; ask the person who sent it to you for a new one.")
        if visit is not None:
            raise Refused(
                "This is the personal link of one annotator, so nothing was stored of you. Please tell the "
                "researcher through Prolific that they need the study's link for Prolific."
            )
        return study, annotator

    def pictures(self, study: Study, item: StudyItem) -> Pictures:
        """Pictures of an item, made once. Raises NotAvailable if they cannot be made any more."""
        key = (study.id, item.corpus, item.item, item.probe)
        return self._pictures.get_or(key, lambda: make_pictures(study.definition, item, load=self.corpus))

    def forget_pictures(self, nobody: bool) -> None:
        """Let go of them all where nobody is there; they are made again when an annotator comes."""
        if nobody:
            self._pictures.drop(lambda _: True)

    def example(self, study: Study, example: Example) -> bytes:
        """Picture of a worked example. Raises NotAvailable if it is not here any more."""
        return make_example(study.definition, example.corpus, example.item, load=self.corpus)

    def make_ahead(self, study: Study, items: tuple[StudyItem, ...]) -> None:
        """Make pictures while the annotator looks at others."""

        def quietly(item: StudyItem) -> None:
            with suppress(InvariscopeError):  # told when the item is shown
                self.pictures(study, item)

        for item in items:
            self._ahead.submit(quietly, item)

    def corpus(self, origin: Origin) -> Corpus:
        """Read a corpus once. Raises InvariscopeError if it cannot be read."""
        key = (origin.loader, origin.root, tuple(sorted(origin.options.items())))
        with self._lock:
            return self._corpora.get_or(key, lambda: read_again(origin))


def desk() -> Desk:
    """The desk of this server's data folder."""
    return _desk(studies_dir())


STUDIED: dict[str | type[Any], Callable[[Any], Any]] = {
    Study: lambda study: (study.id, study.log_path.stat().st_size)  # the log only grows: its size tells what was read
}
"""For ``hash_funcs`` of what is worked out of a study's votes."""


@st.cache_resource(show_spinner=False, max_entries=2)
def _desk(folder: Path) -> Desk:
    return Desk(folder)


LEAVING.also(lambda nobody: desk().forget_pictures(nobody))

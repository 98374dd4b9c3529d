"""What is asked of an audit and remembered in its link: the corpus, the captions, the evaluators, the probes."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.audit.fingerprints import cores
from core.audit.request import SUBJECT_CHOICES
from core.corpora import registry as corpora
from core.corpora.curation import balance, stratified
from core.corpora.labels import tied_in_words
from core.corpora.schema import Corpus, languages
from core.errors import InvalidInput, InvariscopeError
from core.jobs.request import AuditJob, audit_request, check_folder, read_options, short_patterns
from core.probes import registry as probes
from core.probes.base import Axis
from core.probes.families.inserted import in_own_caption
from core.probes.titles import family_title
from core.probes.words.natural_captions import labelled
from core.seeds import RUN_SEED
from core.settings import data_dir
from core.store.run_files import check_run_id
from pages.views.common.layers import tell_answer
from pages.views.common.open_runs import corpus_origins
from pages.views.common.page_drawings import draw_table
from pages.views.common.text import counted, safe
from pages.views.common.url_state import (
    Field,
    PageState,
    checked,
    joined,
    one_of,
    paths_of_link,
    some_of,
    switch_field,
    typed,
    whole,
)
from pages.views.probe_lab.lab_setup import choose_evaluators
from pages.views.probe_lab.lab_state import SUBJECTS, default_evaluators, ready_evaluators
from pages.views.run_audit.audit_brought import GET_SAID, bring_pictures, draw_get, draw_preview
from pages.views.run_audit.own_metric import FILES, draw_own_metric, split

CLUSTER = "run.cluster"
"""Session key of the cluster's address: not in the link, for the server speaks to whatever it names."""

CORPUS_FILE, PROBE_FILES = "run.corpus_file", "run.probe_files"
"""Session keys of a corpus and of probes by path, which are not in the link either."""

_HELD = "run.held"  # session key of the folder whose captions were looked for


class RunState(PageState):
    """The page's fields, and what is named by path."""

    def reset(self) -> None:
        """Set everything to its default; a callback."""
        PageState.reset(self)
        for key in (FILES, CORPUS_FILE, PROBE_FILES, CLUSTER):
            st.session_state[key] = ""


def run_state() -> PageState:
    """Return the page's fields, with the defaults of this machine."""
    many = "The number of items must be a whole number from 1"
    items = checked(whole(1, 10**9), None, many, then="; all are taken instead")
    machine = f"This machine takes 1 to {cores()} workers"
    fields = (
        Field("corpus", "demo", one_of(corpus_loaders, "demo", what="corpus")),
        Field("root", "", paths_of_link(limit=500)),
        Field("options", "", paths_of_link(limit=300, after="=")),
        Field("subject", "template", one_of(lambda: tuple(SUBJECT_CHOICES), "template", what="subject caption")),
        Field("evaluators", default_evaluators(), some_of(ready_evaluators, what="ready evaluator"), joined),
        Field("probes", usual_probes(), _read_probes, lambda names: ",".join(short_patterns(names))),
        Field("limit", None, items),
        Field("sample", None, items),
        Field("run_id", "", _read_run_id),
        Field("workers", 1, checked(whole(1, cores()), 1, machine, then="; one is taken")),
        switch_field("own"),
    )
    return RunState("run", fields)


def corpus_loaders() -> tuple[str, ...]:
    """Every corpus that can be read, the demo first, a plain folder second."""
    order = ("demo", "folder")
    return tuple(sorted(corpora.catalogue().names(), key=lambda name: (*(name != each for each in order), name)))


BREAKS = ("lexical", "foil", "negation", "order")
"""Probes that break the meaning of any caption that a person wrote; the template has too few words for them."""
_OF_SUBJECT = "run.probes.subject"  # session key of the subject whose usual probes were offered last


def usual_probes(subject: str = "template") -> list[str]:
    """Names of the usual probes of a subject caption, in catalogue order. Of human captions words are put into these,
    and what breaks the meaning stands beside what should not matter."""
    usual = probes.select(["default"])
    own = in_own_caption(usual) if subject != "template" else ()
    breaks = probes.select(BREAKS) if subject != "template" else ()
    kept = {*own, *breaks, *(usual if subject != "human" else ())}
    return [probe.name for probe in probes.catalogue() if probe in kept]


@st.cache_resource(show_spinner="Reading the corpus …", max_entries=4, ttl=900)
def _read_corpus(
    name: str,
    folder: Path | None,
    options: tuple[tuple[str, str], ...],
    changed: int,  # noqa: ARG001  # the cache's key
) -> Corpus:
    return labelled(corpora.catalogue().get(name).load(folder, **dict(options)))


def _changed(folder: Path | None) -> int:
    return 0 if folder is None else folder.stat().st_mtime_ns


def _read_probes(raw: str) -> tuple[list[str], str]:
    chosen: set[str] = set()
    lost = []
    for pattern in filter(None, raw.split(",")):
        try:
            chosen |= {probe.name for probe in probes.select([pattern])}
        except InvariscopeError:
            lost.append(pattern[:80])
    names = [probe.name for probe in probes.catalogue() if probe.name in chosen]
    return names, f"No such probe here, left out: {', '.join(lost[:5])}." if lost else ""


def _read_run_id(raw: str) -> tuple[str, str]:
    try:
        return check_run_id(raw), ""
    except InvalidInput as error:
        return "", f"{str(error)[:200]}."


_AXES = {
    Axis.SPATIAL: "The image is edited; its meaning stays.",
    Axis.OBJECT: "Another picture, or other objects of the picture in the caption.",
    Axis.SOCIETAL: "A word about culture, means, gender, emotion or work stands before the noun.",
    Axis.LEXICAL: "Words of the caption are repeated, left out or moved: the score must drop.",
    Axis.SEMANTIC: "The meaning of the caption is broken: the score must drop.",
    Axis.SURFACE: "How the picture was shrunk and saved, letters in it, words around the caption: the meaning stays.",
    Axis.NULL: "Edits that nobody can see: the noise floor of every comparison.",
}


def _choose_probes(state: PageState) -> list[str]:
    chosen = set(state.get("probes"))
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**{counted(len(chosen), 'edit')}** of {len(probes.catalogue())}", width="content")
        offered = {"Usual": usual_probes(state.get("subject")), "All": list(probes.catalogue().names()), "None": []}
        st.session_state[_OFFERED] = next((label for label, names in offered.items() if set(names) == chosen), None)
        given = (state, offered)
        st.segmented_control(
            "Edits", offered, key=_OFFERED, label_visibility="collapsed", width="content", on_change=_offer, args=given
        )
    with st.expander("Choose kinds of edits", icon=":material/category:"):
        for axis in Axis:
            families: dict[str, list[str]] = {}
            of_axis = [probe for probe in probes.catalogue() if probe.axis is axis and not probe.selector]
            for probe in sorted(of_axis, key=lambda probe: not probe.default):
                families.setdefault(probe.family, []).append(probe.name)
            if families:
                _draw_axis(state, axis, families, chosen)
    known = probes.catalogue()
    with st.expander(
        "Edit by edit, and your own", icon=":material/list:", expanded=bool(st.session_state.get(PROBE_FILES))
    ):
        st.multiselect(
            "Edits",
            known.names(),
            key=state.key("probes"),
            label_visibility="collapsed",
            placeholder="Search an edit",
            format_func=lambda name: f"{name} · {known.get(name).axis.value}",
        )
        st.caption("Edits that a chosen one is compared with are added by themselves.")
        written = "path/to/file.py:Name, further ones after a comma"
        st.text_input("Your own edits", key=PROBE_FILES, max_chars=1000, placeholder=written)
    for broken in known.broken:
        st.caption(f"{safe(broken.where)} is broken: {safe(broken.error, limit=300)}")
    return list(state.get("probes"))


_OFFERED = "run.probes.offered"  # session key of the edits that were chosen together: the usual ones, all or none


def _offer(state: PageState, offered: Mapping[str, list[str]]) -> None:
    if (label := st.session_state[_OFFERED]) is not None:
        _put(state, offered[label])


def _draw_axis(state: PageState, axis: Axis, families: Mapping[str, list[str]], chosen: set[str]) -> None:
    key = f"run.families.{axis.value}"
    st.session_state[key] = [family for family, names in families.items() if chosen & set(names)]
    st.pills(
        axis.value.capitalize(),
        list(families),
        selection_mode="multi",
        key=key,
        wrap=True,
        help=_AXES[axis],
        on_change=_toggle,
        args=(state, key, dict(families)),
        format_func=lambda family: _label(family, families[family], chosen),
    )


def _label(family: str, names: list[str], chosen: set[str]) -> str:
    inside = len(chosen & set(names))
    return f"{safe(family_title(family))} · {f'{inside} of ' if 0 < inside < len(names) else ''}{len(names)}"


def _toggle(state: PageState, key: str, families: dict[str, list[str]]) -> None:
    """A family that was switched on brings all its probes; one that was left on keeps those it had."""
    chosen = set(state.get("probes"))
    for family, names in families.items():
        on, was = family in st.session_state[key], bool(chosen & set(names))
        chosen = chosen | set(names) if on and not was else chosen - set(names) if was and not on else chosen
    _put(state, list(chosen))


def _put(state: PageState, names: list[str]) -> None:
    state.put("probes", [name for name in probes.catalogue().names() if name in names])


_SUBJECTS = {each: SUBJECTS.get(each, "Both") for each in SUBJECT_CHOICES}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the reader chose."""

    request: AuditJob | None = None  # the audit; None where something is missing or wrong
    # its items; None likewise, and where code of a file makes corpus or probes: the job alone runs that
    corpus: Corpus | None = None
    missing: str = ""  # what to do before it can be started, in a sentence; empty where nothing is
    wrong: bool = False  # whether ``missing`` is an error and not only something not chosen yet


def choose_audit(state: PageState) -> Asked:
    """Draw every choice; return what was chosen."""
    st.header("1. Pictures", anchor=False)
    place = st.container()
    bring_pictures(state)
    with place:
        folder = _corpus(state)
        _hold_captions(state, folder)
    more = _options(state)
    st.header("2. Metrics", anchor=False)
    named = choose_evaluators(state, get=draw_get)
    tell_answer(st.session_state.pop(GET_SAID, None))
    own, wrong = draw_own_metric(state, named)
    evaluators = [*named, *own]
    st.header("3. Captions", anchor=False)
    hint = (
        "The template “There is a …” with the object's name, "
        "the item's first caption in the corpus (in English, or in each language where none is English), or each in "
        "turn. The usual edits follow: words are put into the caption that is held."
    )
    state.switch("subject", "Which caption stays while the picture is edited", _SUBJECTS, help=hint)
    st.header("4. Edits", anchor=False)
    subject = str(state.get("subject"))
    before, st.session_state[_OF_SUBJECT] = st.session_state.get(_OF_SUBJECT, subject), subject
    if subject != before and state.get("probes") == usual_probes(before):
        _put(state, usual_probes(subject))
    chosen = _choose_probes(state)
    own_probes = split(st.session_state.get(PROBE_FILES))
    asked = _asked(state, folder, evaluators, [*short_patterns(chosen), *own_probes])
    if wrong:
        asked = Asked(missing="Your own metric cannot be used yet. Why stands at its file.", wrong=True)
    with place:
        if asked.corpus is not None:
            left_out = len(asked.corpus.rejected)
            words = [f"**{counted(len(asked.corpus.items), 'item')}** in the corpus"]
            words += [f"{counted(left_out, 'item')} left out by the loader"] if left_out else []
            words += [f"read from {safe(folder, limit=300)}"] if folder else []
            st.caption(" · ".join(words))
            if left_out:
                with st.popover("What was left out and why", type="tertiary"):
                    examples = {each.code: each.detail for each in reversed(asked.corpus.rejected)}
                    for code, count in asked.corpus.rejection_counts().items():
                        st.markdown(f"**{safe(code)}** · {counted(count, 'time')}")
                        st.caption(f"For example: {safe(examples[code], limit=300)}")
            if asked.corpus.remarks:
                with st.popover("Remarks of the loader", type="tertiary"):
                    st.caption("Entries that were corrected or passed over. No item is lost to these.")
                    for remark in asked.corpus.remarks:
                        st.markdown(f"**{safe(remark.code)}** · {counted(remark.count, 'time')}")
                        st.caption(f"For example, {safe(remark.subject, limit=100)}: {safe(remark.detail, limit=300)}")
        if asked.corpus is not None and folder:
            draw_preview(asked.corpus)
    with more:
        _tell_balance(asked)
    return asked


def _corpus(state: PageState) -> str | None:
    """Draw the choice of the corpus; return its folder, None where it needs none, empty where none is given."""
    given = ("root", "options")  # those of one corpus do not fit the next
    hint = "A named, ordered set of images with captions, labels and boxes."
    st.selectbox("Corpus", corpus_loaders(), key=state.key("corpus"), on_change=state.take_back, args=given, help=hint)
    loader = corpora.catalogue().get(state.get("corpus"))
    told = loader.summary.removesuffix(".")
    st.caption(safe(f"{told[:1].upper()}{told[1:]}.", limit=300))
    own = split(st.session_state.get(CORPUS_FILE))
    here = None if own else corpus_origins().get(loader.name)
    known = here.root if here else None
    folder: str | None = None
    if loader.needs_root or own:
        placeholder = str(known) if known else f"e.g. {data_dir().absolute() / 'corpora' / loader.name}"
        hint = "An absolute path on the machine that this page runs on. Images are only read, never copied."
        st.text_input("Folder on the server", key=state.key("root"), max_chars=500, placeholder=placeholder, help=hint)
        folder = state.get("root").strip() or (None if own else str(known) if known else "")
    typed(state.get("root"))
    return folder


def _options(state: PageState) -> DeltaGenerator:
    loader = corpora.catalogue().get(state.get("corpus"))
    set_here = any(state.get(name) for name in ("limit", "sample", "run_id", "options"))
    set_here = set_here or bool(st.session_state.get(CORPUS_FILE))
    place = st.expander("How many, run id, a corpus of your own", icon=":material/tune:", expanded=set_here)
    with place:
        left, middle, right = st.columns(3)
        left.number_input(
            "Number of items",
            min_value=1,
            max_value=10**9,
            step=1,
            key=state.key("limit"),
            placeholder="All",
            help="Only the first items of the corpus. Leave it empty to take all.",
        )
        hint = (
            "Draw so many items by the seed, the same number of each category and coverage bin as far as they go. "
            "Not together with the number of items."
        )
        middle.number_input(
            "Sample", min_value=1, max_value=10**9, step=1, key=state.key("sample"), placeholder="None", help=hint
        )
        hint = "Name of the run and of its folder: letters, digits, dots, dashes, underscores."
        right.text_input("Run id", key=state.key("run_id"), max_chars=100, placeholder="Corpus and time", help=hint)
        st.text_input(
            "Options of this corpus", key=state.key("options"), max_chars=300, placeholder="key=value, key=value"
        )
        st.caption("  \n".join(f"**{safe(key)}** · {safe(meaning)}" for key, meaning in loader.takes.items()))
        written = "path/to/file.py:Name, in place of the one chosen above"
        st.text_input("Your own corpus", key=CORPUS_FILE, max_chars=1000, placeholder=written)
    typed(state.get("options"))
    return place


def _hold_captions(state: PageState, folder: str | None) -> None:
    """Hold the captions that lie beside one's own pictures, once those became the corpus; a choice made then stays."""
    before, st.session_state[_HELD] = st.session_state.get(_HELD, folder), folder
    if state.get("corpus") != "folder" or not folder or folder == before or state.get("subject") == "both":
        return
    with suppress(InvariscopeError):  # told where the corpus is
        options = tuple(read_options(state.get("options")).items())
        corpus = _read_corpus("folder", check_folder(folder), options, _changed(Path(folder)))
        state.put("subject", "human" if languages(corpus.items) else "template")


def _asked(state: PageState, folder: str | None, evaluators: list[str], chosen: list[str]) -> Asked:
    if folder == "":
        return Asked(missing="Give the folder of the corpus.")
    for found, what in ((evaluators, "a metric"), (chosen, "an edit")):
        if not found:
            return Asked(missing=f"Choose {what}.")
    try:
        if folder is not None and not Path(folder).expanduser().is_absolute():
            raise InvalidInput(f"the folder must be an absolute path on the server, got {folder!r}")
        own = split(st.session_state.get(CORPUS_FILE))
        request = audit_request(
            corpus=own[0] if own else state.get("corpus"),
            root=folder,
            options=read_options(state.get("options")),
            probes=chosen,
            evaluators=evaluators,
            subject=state.get("subject"),
            limit=state.get("limit"),
            sample=state.get("sample"),
            run_id=state.get("run_id").strip() or None,
            workers=state.get("workers"),
            cluster=(st.session_state.get(CLUSTER) or "").strip() or None,
        )
        if request.limit is not None and request.sample is not None:
            raise InvalidInput("the number of items and the sample exclude each other; leave one empty")
        if request.own_code:
            return Asked(request)
        home = None if request.root is None else check_folder(request.root)
        corpus = _read_corpus(request.corpus, home, tuple(request.options.items()), _changed(home))
        known = languages(corpus.items)  # of the captions that are held: all that people wrote in where none is English
        if request.subject != "template" and "en" not in known and known:
            request = request.model_copy(update={"languages": known})
        return Asked(request, corpus)
    except InvariscopeError as error:
        return Asked(missing=str(error), wrong=True)


def _tell_balance(asked: Asked) -> None:
    if asked.corpus is None or asked.request is None or not asked.corpus.items:
        return
    request = asked.request
    seed = RUN_SEED if request.seed is None else request.seed
    drawn = stratified(asked.corpus, request.sample, seed=seed) if request.sample else asked.corpus
    items = drawn.items[: request.limit]
    bins, rows = balance(items)
    with st.popover("Items by category and coverage", type="tertiary"):
        st.caption(
            f"The {counted(len(items), 'item')} of this audit, by category and by the object's share of the image in "
            "percent. Where a category has few items in some bins, a difference between bins may be one between "
            "categories."
        )
        table = pd.DataFrame([counts for _, counts in rows], columns=list(bins), index=[name for name, _ in rows])
        draw_table(table.assign(items=table.sum(axis=1)).rename_axis("category"), hide_index=False)
        if ties := tied_in_words(replace(drawn, items=items)):
            st.caption(safe(ties, limit=2000))

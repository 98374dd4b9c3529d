"""Ways from one page into another: links that carry what is looked at, doors, no run yet, and *Find* by Ctrl+K."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st
from streamlit.navigation.page import StreamlitPage

from core.analysis.failures import PAIR
from core.analysis.scope import Narrowed, Scope
from core.errors import InvariscopeError
from core.features.feature import VIEW, address, entries, troubles, views
from core.file_contents import Stamps, stamps
from core.probes.titles import family_title, title
from core.stories.story import LOG, Story, stories
from pages.views.common import open_runs
from pages.views.common.access import AUDIT, START, may_operate, visible
from pages.views.common.layers import button, find, finding
from pages.views.common.text import component, counted, glossary, safe
from pages.views.common.url_state import LOOK, carried, joined

LAB = "probe_lab"
FAILURES = "failures"
CONTRAST = "contrast_tests"
RESULTS = "results"
OVERVIEW = "overview"
WORDS = "words"
STORIES = "stories"
RUNS = "runs"

_OF_TESTS = ("knob", "domain", "verified", "upheld", "bar")
"""Link parameters of Contrast tests that Failures does not have."""

_OF_SCOPE = ("run", "corpus", "subject", "language", "controls")  # of what a mark asks for: what its words leave out
_MANY = 4  # values of a field that the words of a link name; of more it says how many they are
Row = Mapping[str, Any] | pd.Series


def lab_link(row: Row, *, evaluators: Sequence[str] = (), files: open_runs.Signature | None = None) -> dict[str, str]:
    """Link parameters that open one shift in the Probe lab: its corpus, item, caption, probe and evaluators. ``row``:
    has run, corpus, item, probe, subject and evaluator; and axis: the lab always scores the null probes. ``files``: see
    :func:`pages.views.common.open_runs.corpus_origins`."""
    probes = "" if row["axis"] == "null" else row["probe"]
    link = {"item": row["item"], "probes": probes, "evaluators": ",".join(evaluators) or row["evaluator"]}
    corpus = open_runs.corpus_name_of(row["run"], row["corpus"], files) or row["corpus"]
    if corpus != open_runs.corpus_names(files)[0]:
        link = {"corpus": corpus, **link}
    return link | ({"subject": "human"} if row["subject"] == "human" else {})


def is_open(view: str) -> bool:
    """Whether this session has a view, by its name; a way to one that it has not is a fault to Streamlit."""
    return any(each.name == view for each in visible(views()))


def called(view: str) -> str:
    """What a view is called: as its entry is, and by its own title where the entry has several."""
    own = next(each for each in views() if each.name == view)
    entry = next(each for each in entries() if each.name == own.entry)
    several = sum(each.entry == entry.name for each in views()) > 1
    return f"{entry.title} · {own.title}" if several else entry.title


def link_to(
    view: str, label: str, *, icon: str, query_params: Mapping[str, str] | None = None, primary: bool = False
) -> None:
    """Draw a link to a view that :func:`is_open`, by its name. ``primary``: it is filled; one a page at most."""
    file, first = address(view)
    with st.container(width="content", key="primary_link") if primary else nullcontext():
        st.page_link(file, label=label, icon=icon, query_params=first | dict(query_params or {}))


def link_to_audit(*, primary: bool = False) -> None:
    """Draw the way to an audit of one's own metric, for those who may start one."""
    if may_operate():
        link_to(AUDIT, "Audit your metric", icon=":material/play_circle:", primary=primary)


def lead_on(view: str) -> None:
    """Open what a former address names: the entry that holds this view now, with the parameters that were given."""
    file, first = address(view)
    st.switch_page(file, query_params=first | formerly(st.query_params.to_dict()))


def formerly(given: Mapping[str, str]) -> dict[str, str]:
    """Parameters of a former address as they are called now: a page's own ``view`` was what ``show`` is."""
    return {"show" if name == VIEW else name: text for name, text in given.items()}


def former_addresses() -> list[StreamlitPage]:
    """Pages that no menu lists: a view's name as an address, which leads on to its entry; the first one's own name."""
    taken = {each.name for each in entries()}
    names = {each.name: each for each in visible(views()) if each.name not in taken}
    if OVERVIEW in names:  # the address of the first entry is the server's own
        names[START] = names[OVERVIEW]
    return [
        st.Page(partial(lead_on, view.name), title=view.title, url_path=name, visibility="hidden")
        for name, view in names.items()
    ]


def failures_link(row: Row) -> dict[str, str]:
    """Link parameters that open a finding in Failures, with the rest of the scope. ``row``: has family and evaluator;
    where it also has run, corpus, item, subject and probe, their record is opened."""
    link = carried() | {LOOK: "yes", "families": str(row["family"]), "evaluators": str(row["evaluator"])}
    return link | ({"record": record_text(row)} if all(name in row for name in PAIR) else {})


def scope_link(scope: Narrowed) -> dict[str, str]:
    """Link parameters of a scope: whose scores a figure is of, where another page would usually show others."""
    return {"run": joined(scope.run_ids), "subject": scope.subject, "language": scope.language}


def pairs_behind(opens: str, *, chosen: Mapping[str, str], scope: Mapping[str, str]) -> None:
    """Draw the ways to what a mark that was clicked stands for: pairs of harmless edits, the comparisons of a test.
    ``opens``: see ``core.analysis.questions.columns.opening``. ``chosen``, ``scope``: link parameters of what the
    reader chose beside it, and of whose scores it is; where both name one, the mark's holds."""
    asked = json.loads(opens)
    if test := asked.pop("test", ""):
        of = asked["evaluators"]
        said = safe(f"{of} · {family_title(test)}")
        query = carried() | dict(chosen) | {LOOK: "yes", "corpus": asked["corpus"], "test": test, "of": of}
        link_to(
            CONTRAST, f"Open this test, its worst failures below: {said}", icon=":material/rule:", query_params=query
        )
    told = {name: text for name, text in asked.items() if name not in _OF_SCOPE}
    if test and set(told) == {"evaluators"}:
        return
    named = safe(" · ".join(_named(name, text) for name, text in told.items()))
    known = {name: text for name, text in chosen.items() if name not in _OF_TESTS}
    query = carried() | dict(scope) | known | asked | {LOOK: "yes"}
    link_to(FAILURES, f"Open these pairs: {named}", icon=":material/photo_library:", query_params=query)


def _named(field: str, text: str) -> str:
    called, values = {"families": family_title, "probes": title}.get(field, str), text.split(",")
    many = f"{len(values)} {field.replace('_', ' ')}"
    return many if len(values) > _MANY else ", ".join(map(called, values))


def record_text(pair: Row) -> str:
    """Name a pair in a link."""
    return json.dumps([str(pair[name]) for name in PAIR], ensure_ascii=False, separators=(",", ":"))


def read_record(text: str) -> dict[str, str] | None:
    """Return the pair that :func:`record_text` named, or None for any other text."""
    try:
        parts = json.loads(text)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(parts, list) and len(parts) == len(PAIR) and all(isinstance(each, str) for each in parts)
    return dict(zip(PAIR, parts, strict=True)) if whole else None


@dataclass(frozen=True, slots=True)
class Door:
    """One door."""

    title: str  # what one does behind it, in our own words
    told: str  # a sentence below
    icon: str  # of Material Symbols
    view: str = ""  # name of the view that it leads to; empty for one that does something here
    link: Mapping[str, str] = field(default_factory=dict, hash=False)  # parameters of that view's link
    act: Callable[[], None] | None = None  # what it does here; a callback
    key: str = ""  # of its card


def draw_doors(doors: Sequence[Door]) -> None:
    """Draw them beside each other, on a phone below each other."""
    cells = st.grid(max(len(doors), 1), min_column_width=230, gap="small")
    for door in doors:
        key = door.key or door.view
        with cells.container(border=True, height="stretch", gap="xsmall", key=f"door_{key}"):
            if door.act is None:
                link_to(door.view, f"**{door.title}**", icon=door.icon, query_params=door.link)
            else:
                st.button(f"**{door.title}**", icon=door.icon, type="tertiary", key=f"door.{key}", on_click=door.act)
            st.caption(door.told)


def draw_no_run(
    *, none: str = "No runs yet", evaluators: tuple[str, ...] = ("conse-lite0",), command: str = "", here: str = ""
) -> None:
    """Say how a first run is made, in the browser or in a shell. ``none``: what is missing; ``evaluators``: that the
    command audits; ``here``: the page that says this, to which no door leads."""
    broken = len(open_runs.store(open_runs.present()).problems)
    if broken:
        none += f" that can be shown: {counted(broken, 'run or file', 'runs or files')} cannot be read whole"
    st.info(f"{none}.", icon=":material/insights:")
    told = "Of the demo corpus or your own photographs; the results appear here"
    doors = [Door("Run an audit", told, ":material/play_circle:", AUDIT)] if may_operate() else []
    told = "Try a picture needs no run: one picture, its edits, every score"
    doors.append(Door("Try a picture", told, ":material/science:", LAB))
    if here != RUNS and broken:
        told = "What cannot be read is named there, with what to do"
        doors.append(Door("See what was left out", told, ":material/warning:", RUNS))
    elif here != RUNS:
        doors.append(Door("Open a published file", "Runs that somebody handed you", ":material/file_open:", RUNS))
    draw_doors(doors)
    what = "one evaluator" if len(evaluators) == 1 else f"{len(evaluators)} evaluators"
    st.caption(f"Or in a shell, {what} on the demo corpus:")
    usual = f"python -m core audit --corpus demo --evaluators {','.join(evaluators)}"
    st.code(command or usual, language="shell", wrap_lines=True)


# A box that is opened by a key is typed into at once; Streamlit has no focus for a widget.
_focus = component("focus")


class Place(NamedTuple):
    """Something to be found."""

    name: str  # what the reader types a part of
    view: str  # name of the view that shows it
    link: dict[str, str]  # parameters of that view's link


_troubles = cache(partial(troubles, followed=True))


def tell_troubles() -> None:
    """Say in the rail which features are not there as a whole; nothing where all are."""
    for sentence in _troubles():
        st.sidebar.warning(safe(sentence, limit=300), icon=":material/extension_off:")


def draw_find() -> None:
    """Draw the button that opens the box, in the rail."""
    hint = "A page, a finding, an evaluator, an item or a word"
    with st.sidebar:
        button("Find", "search", "find", partial(find, now=True), shortcut="ctrl+k", type="tertiary", help=hint)
    if finding():
        _box()


def draw_foot() -> None:
    """Draw what stands at the rail's foot: what was collected, and what words mean."""
    slides = _collected(stamps(story.folder / LOG for story in stories()))
    with st.sidebar.container(key="rail_foot", gap="xsmall"):
        link_to(STORIES, f"Stories: {counted(slides, 'slide')}", icon=":material/collections_bookmark:")
        link_to(WORDS, "Words", icon=":material/menu_book:")


@st.cache_data(max_entries=4, show_spinner=False)
def _collected(logs: Stamps) -> int:
    """Slides of every story; read anew where one was written to, not at every step of a reader."""
    slides = 0
    for path, *_ in logs:
        with suppress(InvariscopeError):  # the page of stories says what cannot be read
            slides += len(Story(Path(path).parent).outline().slides)
    return slides


# It stays asked for until it is closed: a page that runs again meanwhile would take the box away.
@st.dialog("Find", width="medium", on_dismiss=partial(find, now=False))
def _box() -> None:
    shown = visible(views())
    pages = (Place(f"Page · {called(each.name)}", each.name, carried()) for each in shown)
    there = {each.name for each in shown}
    found = list[Place]()
    files = open_runs.present()
    if files:
        try:
            found = [place for kind in (_findings, _evaluators, _items) for place in kind(files) if place.view in there]
        except InvariscopeError as error:
            st.warning(safe(str(error), limit=300))
    words = (Place(f"Word · {term}", WORDS, {"find": term}) for term in glossary())
    places = [*pages, *found, *(place for place in words if place.view in there)]
    chosen = st.selectbox(
        "Find",
        places,
        index=None,
        format_func=lambda place: place.name,
        label_visibility="collapsed",
        placeholder="A page, a finding, an evaluator, an item, a word",
        key="find.chosen",
    )
    _focus(key="find.focus", height=1)
    if chosen is not None:
        find(now=False)
        file, first = address(chosen.view)
        st.switch_page(file, query_params=first | chosen.link)
    st.caption("Type a part of its name, then Enter. Items are those of the largest run of each corpus.")


def _findings(files: open_runs.Signature) -> list[Place]:
    rows = open_runs.findings(files, open_runs.narrowed(files, Scope()).only())
    return [
        Place(
            f"Finding · {row['evaluator']} changes by {row['median_abs_percent']:.1f} % under "
            f"{family_title(row['family'])}",
            FAILURES,
            failures_link(row),
        )
        for _, row in rows.iterrows()
    ]


def _evaluators(files: open_runs.Signature) -> list[Place]:
    names = open_runs.scores(files, open_runs.narrowed(files, Scope())).evaluators
    return [Place(f"Evaluator · {name}", RESULTS, {"evaluators": name}) for name in names]


@st.cache_data(hash_funcs=open_runs.KEYED, max_entries=4, show_spinner="Listing the items …")
def _items(files: open_runs.Signature) -> list[Place]:
    scope = open_runs.narrowed(files, Scope())
    rows = open_runs.scores(files, scope).items
    called = {corpus: open_runs.corpus_name_of(run, corpus, files) for corpus, run in scope.runs}
    return [
        Place(
            f"Item · {label or 'no label'} · {item} · {corpus}",
            LAB,
            {"corpus": called[corpus] or str(corpus), "item": str(item)},
        )
        for corpus, item, label in rows[["corpus", "item", "label"]].itertuples(index=False)
    ]

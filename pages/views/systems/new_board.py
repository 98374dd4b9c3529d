"""A new leaderboard, files of captions in, scores out, kept under a name; and what the page's link says."""

import json

import pandas as pd
import streamlit as st

from core.corpora.caption_tables import ENDINGS, System, parse_systems
from core.corpora.schema import Corpus
from core.corpora.table_cells import MOST_BYTES
from core.errors import InvariscopeError
from core.evaluators.pool import shared_pool
from core.features.systems import system_file
from core.features.systems.board_scores import PEOPLE, Entered, enter, score_board, score_references
from core.features.systems.system_file import joined as joined_parts
from core.features.systems.system_file import write_leaderboard
from core.features.systems.system_tables import made_with, tables
from core.probes.families.tails import tails, with_tail
from core.probes.titles import title
from core.probes.words.templates import base_caption
from core.seeds import RUN_SEED
from core.store.run_files import Run, signature
from pages.views.common.access import operates, operators_only
from pages.views.common.collect import csv_bytes, file_button
from pages.views.common.layers import button
from pages.views.common.open_runs import corpus_names, load_corpus, present, run_of, store
from pages.views.common.text import counted, safe
from pages.views.common.url_state import Field, PageState, count_field, joined, one_of, some_of, switch_field, text
from pages.views.probe_lab.lab_state import default_evaluators, linked_evaluators, own_ready, ready_evaluators
from pages.views.systems.kept_board import image_probes

SOURCES = {"upload": "My captions", "captions": "Captions from the corpus"}
FEW, MOST = 20, 2000  # pictures scored unless the reader asks for more, and at most


def systems_state() -> PageState:
    """Fields of the page, with the defaults of this machine."""
    corpora = corpus_names()
    corpus = corpora[0] if corpora else None
    fields = (
        Field("show", "kept", one_of(lambda: ("kept", "new"), "kept", what="view")),
        Field("board", None, one_of(boards, None, what="leaderboard")),
        Field("judge", None, text(limit=200)),
        Field("without", [], lambda raw: ([name for name in raw.split("\n") if name][:100], ""), "\n".join),
        Field("source", "upload", one_of(lambda: tuple(SOURCES), "upload", what="source of captions")),
        Field("images", corpus, one_of(corpus_names, corpus, what="corpus")),
        Field("judges", default_evaluators()[:1], some_of(linked_evaluators, what="ready evaluator"), joined),
        Field("edits", ["vflip", "hflip"], some_of(lambda: tuple(image_probes()), what="edit"), joined),
        switch_field("human"),
        switch_field("beside"),
        count_field("count", FEW, MOST, of="pictures"),
    )
    return PageState("systems", fields)


_EXAMPLE = "Example: "  # before the name of the run that is the example; no kept leaderboard's name has a blank


def boards() -> tuple[str, ...]:
    """Names of the leaderboards to choose from: those that are kept, the latest first, and the example."""
    files = present()
    run = system_file.example_run(store(files).runs()) if files else None
    return (*system_file.list_leaderboards(), *([f"{_EXAMPLE}{run.id}"] if run else []))


def is_example(name: str) -> bool:
    """Whether a leaderboard is the example."""
    return name.startswith(_EXAMPLE)


Known = tuple[str | int, ...]


def stamp(name: str) -> Known:
    """What a leaderboard is known by: its name with the sizes and times of its file, or of the run's that is it."""
    if is_example(name):
        return name, repr(signature(_run_of(name).path))
    told = system_file.path_of(name).stat()
    return name, told.st_size, told.st_mtime_ns


def _run_of(name: str) -> Run:
    return run_of(present(), name.removeprefix(_EXAMPLE))


@st.cache_resource(max_entries=2, show_spinner="Reading the leaderboard …")
def opened(known: Known) -> system_file.Leaderboard:
    """A leaderboard, read once for all sessions."""
    name = str(known[0])
    return (
        system_file.board_of_run(store(present()), _run_of(name))
        if is_example(name)
        else system_file.read_leaderboard(system_file.path_of(name))
    )


def computed(known: Known, systems: tuple[str, ...], name: str) -> pd.DataFrame:
    """One table of a leaderboard over some of its systems, by its name in ``system_tables.tables``."""
    return _computed(known, systems, made_with(name))[name]


@st.cache_data(max_entries=64, show_spinner="Drawing intervals …")
def _computed(known: Known, systems: tuple[str, ...], name: str) -> dict[str, pd.DataFrame]:
    return tables(opened(known), systems=systems, only=name)


FIRST = "first caption"  # system of the corpus's own captions, which are references too
SHOWN = 6  # sentences about captions that found no place that are shown; the rest is counted


def draw_new(state: PageState) -> None:
    """Draw the choices; score and keep a leaderboard when asked."""
    if not operates():
        return
    if not corpus_names() or not ready_evaluators():
        st.info(
            "A corpus with its pictures and a ready metric are needed: `python -m core corpora` and "
            "`python -m core evaluators` list them.",
            icon=":material/image:",
        )
        return
    row = st.container(horizontal=True, vertical_alignment="bottom", key="systems_source")
    state.switch("source", "Whose captions", SOURCES, place=row, label_visibility="collapsed")
    row.selectbox("Pictures of corpus", corpus_names(), key=state.key("images"), width=260)
    corpus = load_corpus(state.get("images"))
    systems = own_systems(corpus) if state.get("source") == "captions" else _uploaded(corpus)
    entered = enter(corpus, systems, people=state.get("human")) if systems else None
    if entered is None:
        return
    draw_sentences(entered.remarks)
    cells = st.columns([2, 3], vertical_alignment="bottom")
    offered = (*ready_evaluators(), *own_ready())
    state.put("judges", [each for each in state.get("judges") if each in offered])  # a file may have changed since
    cells[0].multiselect("Metrics", offered, key=state.key("judges"), placeholder="Choose at least one")
    cells[1].multiselect(
        "Harmless edits",
        tuple(image_probes()),
        key=state.key("edits"),
        placeholder="None",
        format_func=title,
        help="Each is applied to every picture; invisible edits are the noise floor",
    )
    cells = st.columns([2, 3], vertical_alignment="bottom")
    hint = "One reference of each picture, drawn by the seed, stands among the systems as human"
    cells[0].toggle("A row of people", key=state.key("human"), help=hint)
    hint = "BLEU, METEOR, ROUGE-L and CIDEr-D; the last two rank systems as metrics do"
    cells[0].toggle(
        "Beside references", key=state.key("beside"), disabled=not any(entered.references.values()), help=hint
    )
    most = min(MOST, len(entered.common or entered.items))
    if state.get("count") > most:
        state.put("count", most)
    if most > 1:
        cells[1].slider("Pictures", 1, most, key=state.key("count"), help="The first that all systems caption")
    items = (entered.common or entered.items)[: state.get("count")]
    button("Score and keep", "leaderboard", "systems.score", _ask, type="primary", disabled=not state.get("judges"))
    if st.session_state.pop("systems.asked", False):
        made = _scored(state, entered)
        st.session_state["systems.made"] = made.name
        st.rerun()
    captions = sum(len(held[item.id]) for held in entered.captions.values() for item in items if item.id in held)
    st.caption(
        f"{counted(len(entered.captions), 'system')}, {counted(len(items), 'picture')}, "
        f"{counted(captions, 'caption')}, {counted(len(state.get('edits')), 'edit')}. Captions and scores are "
        "kept as one file in this server's data folder."
    )


def draw_sentences(told: tuple[str, ...]) -> None:
    """Say what found no place, in sentences."""
    for sentence in told[:SHOWN]:
        st.caption(f"Mind: {safe(sentence, limit=300)}.")
    if len(told) > SHOWN:
        st.caption(f"and {len(told) - SHOWN} more")


def own_systems(corpus: Corpus) -> list[System]:
    """Systems to try the page with: first English captions, templates, and templates with a hollow tail."""
    people, bare, hollow = {}, {}, {}
    tail = tails("hollow")[0][0]
    for item in corpus.items:
        texts = item.captions.get("en", ())
        try:
            template = base_caption(item.label or "")
        except InvariscopeError:
            continue
        if texts:
            people[item.id], bare[item.id] = (texts[0],), (template,)
            hollow[item.id] = (with_tail(template, tail),)
    made = {FIRST: people, "template": bare, "template with a hollow tail": hollow}
    return [System(name, captions) for name, captions in made.items()]


@operators_only
def _ask() -> None:
    st.session_state["systems.asked"] = True


def example_table(corpus: Corpus) -> pd.DataFrame:
    """The example as a table that a reader can bring: image, and a column a system."""
    held = {each.name: {name: texts[0] for name, texts in each.captions.items()} for each in own_systems(corpus)}
    return pd.DataFrame(held).rename_axis("image").reset_index()


def _uploaded(corpus: Corpus) -> list[System]:
    files = st.file_uploader(
        "JSON, CSV or a text file: one per captioner, or a table with a column for each",
        type=[each.removeprefix(".") for each in ENDINGS],
        accept_multiple_files=True,
        key="systems.files",
        max_upload_size=MOST_BYTES >> 20,
    )
    if not files:
        example = corpus.items[0].id if corpus.items else "image"
        with st.expander("What a file looks like", icon=":material/description:"):
            st.markdown(
                "A JSON file has the captions of one captioner and is named after it; a CSV has the column image and "
                "one column per captioner. Keys are names of the pictures:"
            )
            st.code(json.dumps({example: "a caption"}, ensure_ascii=False), language="json", wrap_lines=True)
            file_button(
                "The example as a file",
                lambda: csv_bytes(example_table(corpus)),
                "captioners.csv",
                icon="download",
                key="systems.example",
                help="To bring back above, or to write your own after",
            )
            st.caption("Or in a shell:")
            told = "python -m core leaderboard a.json b.json --corpus demo --edits vflip,null"
            st.code(told, language="shell", wrap_lines=True)
        return []
    systems: list[System] = []
    for file in files:
        try:
            systems += parse_systems(file.getvalue(), name=file.name)
        except InvariscopeError as error:  # one bad file costs itself alone
            st.error(safe(str(error), limit=600))
    return systems


def _scored(state: PageState, entered: Entered) -> system_file.Leaderboard:
    probes = [image_probes()[name] for name in state.get("edits")]
    items = (entered.common or entered.items)[: state.get("count")]
    parts, prints, remarks, left_out = [], {}, list(entered.remarks), []
    bar = st.progress(0.0, "Loading …")
    for name in state.get("judges"):

        def told(done: int, total: int, name: str = name) -> None:
            bar.progress(done / total, f"{safe(name)}: {done} of {counted(total, 'picture')} scored")

        with shared_pool().lease(name) as evaluator:
            part = score_board(evaluator, entered, probes, items=items, progress=told)
            prints[evaluator.spec.name] = evaluator.fingerprint.key
        parts.append(part.rows)
        remarks += [each for each in part.edits if each not in remarks]
        left_out += list(part.left_out)
    bar.empty()
    corpus = state.get("images")
    found = score_references(parts[0], entered.references, people=(PEOPLE, FIRST)) if state.get("beside") else None
    if found and found.remark:
        remarks.append(found.remark)
    made = system_file.Leaderboard(
        system_file.free_name(corpus), joined_parts(parts), corpus, prints, tuple(remarks), tuple(left_out), RUN_SEED
    )
    if found:
        made = system_file.with_references(made, found)
    write_leaderboard(made)
    return made

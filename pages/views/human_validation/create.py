"""Creating a study: which run, which kind, how many, and what will be short, before anything is written."""

import re
from collections.abc import Collection, Mapping

import pandas as pd
import streamlit as st

from core.errors import InvalidInput, InvariscopeError
from core.human.creation import labels_in_pictures, open_study
from core.human.definition import check_study_id
from core.human.kinds import KINDS, kind_of
from core.human.precision import planned_precision
from core.human.sampling import (
    DIRECTIONAL,
    INVARIANT,
    PAPER_STRATA,
    TOTAL,
    Sample,
    Stratum,
    candidates,
    draw_sample,
    families_of,
    family_strata,
    largest_total,
)
from core.human.studies import studies_dir
from core.probes.titles import family_title
from core.seeds import RUN_SEED
from core.store.manifest import Run
from pages.views.common.access import operators_only
from pages.views.common.links import draw_no_run
from pages.views.common.open_runs import Signature, present, store
from pages.views.common.page_tables import draw_table
from pages.views.common.text import THE_PAPER, counted, safe
from pages.views.common.url_state import PageState
from pages.views.human_validation.desk import desk

PAPER = "Strata of the paper"
FAMILIES = "Families of my choice"
PARTS_HELP = (
    "Spatial, blur control and societal in equal parts, as in the paper; or equal parts of chosen families, of edits "
    "that should not matter and of edits that break the meaning. " + THE_PAPER
)
DIRECTIONAL_HELP = (
    "Comparisons of a right and a wrong side. Which is which is told to nobody: the side that stands left is random "
    "for each annotator and item, and recorded."
)


def draw_create(state: PageState, *, first: bool = False) -> None:
    """Draw the form of a new study; ``first``: there is none yet, so it stands open on the page."""
    files = present()
    runs = [run.id for run in store(files).runs() if run.status == "complete"]
    if not runs:
        draw_no_run(none="No finished run is here yet for a study to draw its pairs from")
        return
    with st.container(width=720 if first else "stretch"):
        title = st.text_input("Title", "Do the edits keep the meaning?", max_chars=120, key="study.new.title",
                              help="For you; annotators never see it")  # fmt: skip
        run = st.selectbox("Run", runs, key="study.new.run", help="The audit whose pairs people judge")
        kind = st.selectbox("Kind", list(KINDS), key="study.new.kind", format_func=lambda name: KINDS[name].title,
                            help=" ".join(f"**{each.title}**: {each.summary}" for each in KINDS.values()))  # fmt: skip
        st.caption(f"{KINDS[kind].summary} Source: {KINDS[kind].source}.")
        strata = _choose_strata(files, run)
        if not strata:
            st.info("Choose at least one family.")
            return
        most = _largest(files, run, strata)
        wide, narrow = st.columns(2)
        total = wide.number_input("Pairs", 1, 20_000, min(max(most, 1), TOTAL), key="study.new.total",
                                  help=f"The paper has {TOTAL}; {most} fill every stratum here")  # fmt: skip
        per_item = narrow.number_input("Annotators an item", 1, 20, 3, key="study.new.per_item")
        rate = wide.slider(
            "Attention items",
            0,
            30,
            5,
            1,
            format="%d %%",
            key="study.new.rate",
            help="Share of items with a known answer: a caption that names what is not there",
        )
        seed = narrow.number_input("Seed", 0, 2**31 - 1, RUN_SEED, key="study.new.seed",
                                   help="The same seed draws the same items, sides and orders")  # fmt: skip
        try:
            sample = _sample(files, run, kind, int(total), int(seed), strata, rate / 100)
        except InvariscopeError as error:
            st.error(safe(str(error), limit=400))
            return
        _draw_sample(sample)
        asked = sum(not item.attention for item in sample.items)
        for sentence in planned_precision(kind_of(kind), items=asked, annotators=int(per_item)):
            st.caption(sentence)
        st.button("Create the study", type="primary", icon=":material/check:", on_click=_create, key="study.new.create",
                  args=(state, files, title, run, kind, int(per_item), rate / 100, int(seed), sample))  # fmt: skip
        if st.session_state.get("study.new.problem"):
            st.error(safe(st.session_state.pop("study.new.problem"), limit=400))


def _choose_strata(files: Signature, run: str) -> tuple[Stratum, ...]:
    which = st.radio("Drawn from", (PAPER, FAMILIES), key="study.new.strata", horizontal=True, help=PARTS_HELP)
    if which == PAPER:
        return PAPER_STRATA
    held = _families(files, run)
    chosen = st.multiselect("Families", held[INVARIANT], key="study.new.families", format_func=family_title,
                            help="Edits that should not matter")  # fmt: skip
    broken = st.multiselect("Directional families", held[DIRECTIONAL], key="study.new.directional",
                            format_func=family_title, help=DIRECTIONAL_HELP) if held[DIRECTIONAL] else []  # fmt: skip
    return family_strata(chosen, broken) if chosen or broken else ()


def _draw_sample(sample: Sample) -> None:
    checks = sum(item.attention for item in sample.items)
    if sample.shortfall:
        st.warning(f"{counted(sample.shortfall, 'pair')} short of the target. What the run does not hold is not "
                   "replaced by something else.", icon=":material/production_quantity_limits:")  # fmt: skip
    with st.expander(
        f"Sample: {counted(len(sample.items) - checks, 'item')}, {counted(checks, 'attention item')} in reserve"
    ):
        table = pd.DataFrame(sample.strata, columns=["stratum", "target", "available", "taken"])
        draw_table(
            table.assign(short=table["target"] - table["taken"]), alt="What the sample takes of each stratum",
            width="stretch",
            column_config={"stratum": "Stratum", "target": "Wanted", "available": "In the run", "taken": "Taken",
                           "short": "Short"},
        )  # fmt: skip


@st.cache_data(show_spinner="Drawing the sample …", max_entries=32)
def _sample(
    files: Signature, run: str, kind: str, total: int, seed: int, strata: tuple[Stratum, ...], rate: float
) -> Sample:
    return draw_sample(
        store(files), run, kind=kind_of(kind), total=total, seed=seed, strata=strata, attention_rate=rate,
        present=_present(files, run),
    )  # fmt: skip


@st.cache_data(show_spinner="Counting what the run holds …", max_entries=16)
def _largest(files: Signature, run: str, strata: tuple[Stratum, ...]) -> int:
    return largest_total(store(files), run, strata=strata)


@st.cache_data(show_spinner=False, max_entries=16)
def _families(files: Signature, run: str) -> dict[str, list[str]]:
    pairs = candidates(store(files), run)
    return {kind: families_of(pairs, kind) for kind in (INVARIANT, DIRECTIONAL)}


def _present(files: Signature, run: str) -> Mapping[str, Collection[str]]:
    """Labels of everything annotated in each picture, where the corpus is here."""
    try:
        return labels_in_pictures(_run(files, run), load=desk().corpus)
    except InvariscopeError:
        return {}


def _run(files: Signature, name: str) -> Run:
    return next(each for each in store(files).runs() if each.id == name)


@operators_only
def _create(
    state: PageState, files: Signature, title: str, run: str, kind: str, per_item: int, rate: float, seed: int,
    sample: Sample,
) -> None:  # fmt: skip
    try:
        study = open_study(
            _run(files, run), sample, study_id=_free_id(title), title=title, kind=kind, per_item=per_item,
            attention_rate=rate, seed=seed, load=desk().corpus,
        )  # fmt: skip
    except (InvariscopeError, OSError) as error:
        st.session_state["study.new.problem"] = str(error)
        return
    state.put("study", study.id)
    state.put("part", "people")


def _free_id(title: str) -> str:
    """A folder name of the title's letters, numbered where it is taken."""
    stem = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].strip("-") or "study"
    taken = set(desk().studies())
    for number in range(1, 1000):
        name = stem if number == 1 else f"{stem}-{number}"
        if name not in taken and not (studies_dir() / name).exists():
            return check_study_id(name)
    raise InvalidInput(f"there are too many studies named {stem!r}; choose another title")

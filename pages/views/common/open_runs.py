"""What all sessions share: one store of the runs, opened again when a file behind it changes, their corpora as each run
read its own, and the latest values."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Any, Generic, TypeVar

import pandas as pd
import streamlit as st

from core.analysis import slices
from core.analysis.facts import known_words, may_be_true
from core.analysis.failures import scales
from core.analysis.overview import card_risks, fairness_card, family_contrasts, worst_findings
from core.analysis.questions import Options
from core.analysis.ranking import facets
from core.analysis.reading import evaluators_of, part_of, read_table
from core.analysis.scope import Narrowed, Scope, holdings, narrow, open_probes, purpose
from core.analysis.selectivity import lack
from core.analysis.slices import CHOICES, Slice, judged
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import MARGIN
from core.corpora import registry as corpora
from core.corpora.schema import Corpus, Origin
from core.errors import InvariscopeError, NotAvailable
from core.features.human.studies import list_studies, studies_dir
from core.features.human.study_outcomes import accepted_by_people
from core.features.human.votes import verdicts
from core.probes.base import Axis
from core.probes.words.natural_captions import read_again
from core.report.fairness_card import asked_besides
from core.settings import data_dir
from core.statistics.bootstrap import LEAST_N
from core.statistics.changes import SURE, NullBand
from core.store.run_files import Run, list_runs, seal_told
from core.store.run_files import Signature as Files
from core.store.run_sources import origin_of_run
from core.store.store import Store, default_store, run_paths, signature
from pages.views.common.text import moment

V = TypeVar("V")


class Shelf(Generic[V]):
    """At most ``size`` values by key, the least recently used dropped first; safe between threads. ``leave``: told of
    each value that is dropped, for what somebody may still hold."""

    def __init__(self, size: int, leave: Callable[[V], object] | None = None) -> None:
        self._size, self._leave = size, leave
        self._values: OrderedDict[Hashable, V] = OrderedDict()
        self._lock = RLock()

    def get(self, key: Hashable) -> V | None:
        """Return a value, or None where it is not (or no longer) there."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Hashable, value: V) -> V:
        """Keep a value and return it."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._size:
                _, dropped = self._values.popitem(last=False)
                if self._leave is not None:
                    self._leave(dropped)
            return value

    def drop(self, gone: Callable[[V], bool]) -> None:
        """Let go of every value of which that is true."""
        with self._lock:
            self._values = OrderedDict(each for each in self._values.items() if not gone(each[1]))

    def get_or(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return the value of a key, made now where it is missing; two sessions may make it twice, harmlessly."""
        found = self.get(key)
        return self.put(key, make()) if found is None else found


KEYED: dict[str | type[Any], Callable[[Any], Any]] = {Narrowed: repr, Scope: repr, Slice: repr, Options: repr}
"""For ``hash_funcs``: their text says all of them, in a hundredth of the time that hashing part by part takes."""


Signature = str
"""Digest of the files behind the store: every cache hashes it anew, thousands of paths would cost more than a query."""


def present() -> Signature:
    """What the store depends on now; empty where there is no run."""
    files = signature(run_paths())
    return _digest(files, _votes(studies_dir())) if files else ""


@lru_cache(maxsize=4)
def _digest(files: Files, votes: Files) -> Signature:
    return hashlib.sha256(repr((files, votes)).encode()).hexdigest()


# Looked at twice a minute: while people vote, not every vote opens the store anew.
@st.cache_data(ttl=30, show_spinner=False)
def _votes(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """The studies' logs: the store holds people's verdicts too."""
    return signature(folder.glob("*/log.jsonl"))


_OF_RUNS: list[Any] = []


def of_runs(cached: V) -> V:
    """Have a cache of what was made of the runs let go of it when others are opened: nobody asks for it by them."""
    _OF_RUNS.append(cached)
    return cached


# An old store is not closed but let go of: a session in the middle of its page may still ask it.
@st.cache_resource(max_entries=2, show_spinner="Opening the runs …", validate=lambda opened: not opened.outdated())
def store(files: Signature) -> Store:  # noqa: ARG001  # the cache's key
    """Return the store over exactly these files."""
    for each in _OF_RUNS:
        each.clear()
    return default_store(verdicts=verdicts(list_studies()[0]))


def run_of(files: Signature, name: str) -> Run:
    """A run that is there, by its id."""
    return next(each for each in store(files).runs() if each.id == name)


def held_values(files: Signature, column: str) -> tuple[str, ...]:
    """What the scores of all runs have of ``run``, ``corpus``, ``subject``, ``language`` or ``evaluator``, sorted."""
    return tuple(sorted(map(str, holdings(store(files))[column].unique())))


@st.cache_data(hash_funcs=KEYED, max_entries=256, show_spinner=False)
def narrowed(files: Signature, scope: Scope) -> Narrowed:
    """What a scope comes to in these runs; see ``core.analysis.scope.narrow``."""
    return narrow(store(files), scope)


def scores(files: Signature, scope: Narrowed) -> ScoreTable:
    """Every score of a scope; see ``core.analysis.reading.read_table``."""
    whole = under_all(files, scope)
    there = tuple(name for name in scope.evaluators if name in whole.evaluators)  # the others scored other corpora
    return _read(files, whole) if there == whole.evaluators else _part(files, whole, replace(scope, evaluators=there))


@of_runs
@st.cache_resource(hash_funcs=KEYED, max_entries=4, show_spinner=False)
def _read(files: Signature, scope: Narrowed) -> ScoreTable:
    return _rows(files, replace(scope, corpus=scope.runs[0][0], left_out=(), left_out_in_view=())).seen(scope)


# Shared and never changed: 2 million scores are 32 MB. Which corpus is in view, and what is said, changes no row.
@of_runs
@st.cache_resource(hash_funcs=KEYED, max_entries=3, show_spinner="Reading the scores …")
def _rows(files: Signature, scope: Narrowed) -> ScoreTable:
    return read_table(store(files), scope)


# Fewer evaluators are a part of what was read: choosing some reads nothing again.
@of_runs
@st.cache_resource(hash_funcs=KEYED, max_entries=4, show_spinner=False)
def _part(files: Signature, whole: Narrowed, scope: Narrowed) -> ScoreTable:
    return part_of(_read(files, whole), scope)


def under_all(files: Signature, scope: Narrowed) -> Narrowed:
    """The scope with every evaluator of its runs, whichever the reader chose."""
    whole = Scope(runs=scope.run_ids, corpus=scope.corpus, subject=scope.subject, language=scope.language)
    return replace(scope, evaluators=narrowed(files, whole).evaluators)


def view(files: Signature, scope: Narrowed, chosen: Slice | None = None) -> View:
    """The part of a scope's scores that a slice keeps."""
    return scores(files, scope).view(chosen)


@st.cache_data(hash_funcs=KEYED, max_entries=4, show_spinner="Computing the fairness card …")
def card(files: Signature, scope: Narrowed, margin: float = MARGIN) -> pd.DataFrame:
    """Fairness card of a scope; see ``core.analysis.overview.fairness_card``."""
    return fairness_card(view(files, scope), families=families(files, scope, margin), margin=margin)


@st.cache_data(hash_funcs=KEYED, max_entries=4, show_spinner="Computing the contrasts …")
def families(files: Signature, scope: Narrowed, margin: float = MARGIN) -> pd.DataFrame:
    """Contrast of every family; see ``core.analysis.overview.family_contrasts``."""
    return family_contrasts(view(files, scope), margin=margin)


@st.cache_data(hash_funcs=KEYED, max_entries=4, show_spinner="Computing the flip risks …")
def risks(files: Signature, scope: Narrowed, margin: float = MARGIN) -> pd.DataFrame:
    """Flip risk of the families on the fairness card; see ``core.analysis.overview.card_risks``."""
    return card_risks(view(files, scope), card(files, scope, margin))


@st.cache_data(hash_funcs=KEYED, max_entries=4, show_spinner="Looking for what it fails to see …")
def besides(files: Signature, scope: Narrowed, margin: float = MARGIN) -> dict[str, tuple[str, ...]]:
    """What each evaluator was asked besides, in sentences."""
    return asked_besides(view(files, scope), margin=margin)


@st.cache_data(hash_funcs=KEYED, max_entries=4, show_spinner="Looking for the worst findings …")
def findings(files: Signature, scope: Narrowed, margin: float = MARGIN, least: int = LEAST_N) -> pd.DataFrame:
    """Worst three findings of a scope; see ``core.analysis.overview.worst_findings``."""
    known, accepted = families(files, scope, margin), accepted_words(files, scope)
    seen = view(files, scope)
    return worst_findings(store(files), seen, families=known, margin=margin, least=least, accepted=accepted)


@st.cache_data(hash_funcs=KEYED, max_entries=4, show_spinner=False)
def unsure_words(files: Signature, scope: Narrowed) -> frozenset[str]:
    """Families whose word may be true and that people did not accept; see ``core.analysis.facts``."""
    return may_be_true(scores(files, scope), accepted_words(files, scope))


@st.cache_data(hash_funcs=KEYED, max_entries=4, show_spinner=False)
def accepted_words(files: Signature, scope: Narrowed) -> dict[str, str]:
    """Words that people accept, by family, with what they said; see ``core.analysis.facts.known_words``."""
    return known_words(scores(files, scope), accepted_by_people(list_studies()[0], scope.run_ids))


@st.cache_data(hash_funcs=KEYED, max_entries=64, show_spinner=False)
def noise_band(files: Signature, key: str) -> NullBand | None:
    """Noise band of single pairs of the evaluator whose fingerprint has a key; None where no run tells it. Of the usual
    scope of those runs alone that made invisible edits under it; fewer than SURE of them tell nothing."""
    if not files:
        return None
    opened = store(files)
    rows = open_probes(opened)
    edited = rows[rows["axis"] == Axis.NULL.value].groupby("evaluator")["run"].unique()
    known = evaluators_of(opened.runs())
    for name, own in known[known["key"] == key].groupby("evaluator"):
        told = tuple(each for each in own["run"].unique() if each in edited.get(name, ()))
        try:
            found = scales(scores(files, narrowed(files, Scope(runs=told, evaluators=(str(name),))).only()))
        except InvariscopeError:
            continue
        for row in found[found["n_null"] >= SURE].to_dict("records"):
            return NullBand(row["null_percent"], row["n_null"], row["typical"])
    return None


@st.cache_data(hash_funcs=KEYED, max_entries=256, show_spinner=False)
def facet_counts(files: Signature, scope: Narrowed, chosen: Slice) -> dict[str, dict[str, int]]:
    """Counts beside every value of every filter; see ``core.analysis.ranking.facets``."""
    return facets(scores(files, scope), chosen)


@st.cache_data(hash_funcs=KEYED, max_entries=8, show_spinner=False)
def known_values(files: Signature, scope: Narrowed) -> dict[str, tuple[str, ...]]:
    """Values that each choice of a slice can take in a scope. ``judged`` is not empty where people judged pairs,
    ``tied`` where some item's label has two categories."""
    counts = facet_counts(files, scope, Slice(controls=True))
    return {name: tuple(counts[name]) for name in CHOICES} | {
        "judged": ("yes",) if any_judged(files) else (),
        "tied": ("yes",) if scores(files, scope).tied.any() else (),
    }


@st.cache_data(max_entries=2, show_spinner=False)
def any_judged(files: Signature) -> bool:
    """Whether people judged a pair of any run; see ``core.analysis.slices.judged``."""
    return judged(store(files))


@st.cache_data(max_entries=2, show_spinner=False)
def stored_values(files: Signature) -> dict[str, tuple[str, ...]]:
    """Values of each choice of a slice in any run: what a link may name, whatever its scope holds."""
    return slices.stored_values(store(files))


@st.cache_data(max_entries=8, show_spinner=False)
def told_values(files: Signature, keys: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Values that variants of any run tell of some facts: what a link may name."""
    return slices.told_values(store(files), keys)


@st.cache_data(max_entries=2, show_spinner=False)
def own_values(files: Signature) -> dict[str, tuple[str, ...]]:
    """Columns of their owners that items of any run tell, with their values: what a link may name."""
    try:
        return slices.own_values(store(files)) if files else {}
    except InvariscopeError:  # the page says what is wrong with the runs
        return {}


def run_table(runs: tuple[Run, ...]) -> pd.DataFrame:
    """One row a run, as its manifest tells."""
    rows = []
    for run in runs:
        counts, corpus = run.manifest["counts"], run.manifest["corpus"]
        probes = run.manifest.get("probes")
        told = {
            "run": run.id,
            "tests": purpose(run.manifest) or "—",
            "status": run.status,
            "seal": seal_told(run),
            "corpus": str(corpus.get("name", "—")),
            "items": counts.get("items_kept"),
            "left_out": counts.get("items_rejected"),
            "evaluators": ", ".join(_evaluators(run)) or "—",
            "probes": len(probes) if isinstance(probes, list) else None,
            "pairs": counts.get("pairs"),
            "unscored": counts.get("scores_null"),
            "created": moment(str(run.manifest.get("created", "—"))),
        }
        rows.append(told)
    return pd.DataFrame(rows)


def evaluator_names(runs: tuple[Run, ...]) -> tuple[str, ...]:
    """Evaluators of all runs, sorted."""
    return tuple(sorted({name for run in runs for name in _evaluators(run)}))


def _evaluators(run: Run) -> list[str]:
    listed = run.manifest.get("evaluators")
    entries = listed if isinstance(listed, list) else []
    return [str(each["name"]) for each in entries if isinstance(each, dict) and "name" in each]


def opens_on(files: Signature) -> Scope:
    """The scope on which Start opens by itself: one that holds both halves of the question, if any does."""
    both = Scope(directional=True)
    try:
        return Scope() if lack(view(files, narrowed(files, both).only())) else both
    except InvariscopeError:
        return Scope()


def corpus_origins(files: Signature | None = None) -> Mapping[str, Origin]:
    """Corpora that can be read here by their names, and how, the demo first. A corpus that needs a folder is looked for
    in ``data/corpora/<name>``, then where a run read it, the newest first. One that a run read otherwise, from another
    folder or with other options, has its own name: ``coco of RUN``. ``files``: what
    :func:`pages.views.common.open_runs.present` told the page; None: the runs are looked at again, every shard of
    them."""
    return _here(present() if files is None else files)[0]


def corpus_name_of(run: str, corpus: str, files: Signature | None = None) -> str | None:
    """The name under which the corpus of a run can be read here; None where it cannot. ``corpus``: what the run calls
    its corpus; for a run that is not open. ``files``: see :func:`corpus_origins`."""
    origins, of_run = _here(present() if files is None else files)
    return of_run.get(run, corpus if corpus in origins and run not in of_run else None)


def corpus_holding(corpus: str, item: str) -> str:
    """The name of a corpus that holds an item, of those that are the named one, as any run read it; else that name."""
    alike = [name for name in corpus_origins() if name == corpus or name.startswith(f"{corpus} of ")]
    return next((name for name in alike if item in item_ids(name)), corpus)


@st.cache_data(show_spinner=False, max_entries=2, ttl=30)
def _here(files: Signature) -> tuple[dict[str, Origin], dict[str, str]]:
    """Name -> what reads the corpus here, the demo first; run -> the name under which its corpus stands there."""
    known = {loader.name: loader for loader in sorted(corpora.catalogue(), key=lambda each: each.name != "demo")}
    found = {name: Origin(name) for name, loader in known.items() if not loader.needs_root}
    for name in sorted(known.keys() - found.keys()):
        if (folder := data_dir() / "corpora" / name).is_dir():
            found[name] = Origin(name, folder)
    of_run = dict[str, str]()
    try:
        runs = store(files).runs() if files else ()
    except InvariscopeError:
        runs = list_runs()
    for run in sorted(runs, key=lambda each: str(each.manifest.get("created")), reverse=True):
        try:
            origin = origin_of_run(run)
        except NotAvailable:
            continue
        name = str(run.manifest["corpus"].get("name"))
        alike = (each for each, other in found.items() if other == origin)
        of_run[run.id] = next(alike, name if name not in found else f"{name} of {run.id}")
        found.setdefault(of_run[run.id], origin)
    return found, of_run


def corpus_names(files: Signature | None = None) -> tuple[str, ...]:
    """Corpora that can be read here, the demo first; ``files`` as of :func:`corpus_origins`."""
    return tuple(corpus_origins(files))


def load_corpus(name: str) -> Corpus:
    """Read a corpus once for all sessions. Raises InvariscopeError if it cannot be read."""
    return _load(Origin(name) if ships(name) else corpus_origins().get(name) or Origin(name))


def ships(name: str) -> bool:
    """Whether a corpus of that name needs no folder: then no run can have read another one by the name."""
    known = corpora.catalogue()
    return name in known and not known.get(name).needs_root


def load_corpus_of(run: Run) -> Corpus:
    """Read a run's corpus as the run read it, once for all sessions. Raises InvariscopeError if it is not here."""
    return _load(origin_of_run(run))


def _load(origin: Origin) -> Corpus:
    return _load_corpus(origin.loader, origin.root, tuple(sorted(origin.options.items())))


@st.cache_resource(show_spinner="Reading the corpus …", max_entries=4)
def _load_corpus(loader: str, root: Path | None, options: tuple[tuple[str, str], ...]) -> Corpus:
    return read_again(Origin(loader, root, dict(options)))


def item_ids(corpus: str) -> tuple[str, ...]:
    """Ids of a corpus, empty where it cannot be read."""
    try:
        return tuple(item.id for item in load_corpus(corpus).items)
    except InvariscopeError:
        return ()

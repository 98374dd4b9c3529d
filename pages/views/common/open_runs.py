"""What all sessions share: one store of the runs, opened again when a file behind it changes, and the latest values."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Any, Generic, Protocol, TypeVar

import pandas as pd
import streamlit as st

from core.analysis import slices
from core.analysis.facets import facets
from core.analysis.facts import known_words, may_be_true
from core.analysis.failures import scales
from core.analysis.overview import card_risks, fairness_card, family_contrasts, worst_findings
from core.analysis.questions import Options
from core.analysis.reading import evaluators_of, part_of, read_table
from core.analysis.run_purpose import purpose
from core.analysis.scope import Narrowed, Scope, holdings, narrow, open_probes
from core.analysis.selectivity import lack
from core.analysis.slices import CHOICES, Slice, judged
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import MARGIN
from core.errors import InvariscopeError
from core.features.human.studies import list_studies, studies_dir
from core.features.human.study_outcomes import accepted_by_people
from core.features.human.votes import verdicts
from core.probes.base import Axis
from core.report.fairness_card import asked_besides
from core.statistics.bootstrap import LEAST_N
from core.statistics.changes import SURE, NullBand
from core.store.run_files import Run, seal_told
from core.store.run_files import Signature as Files
from core.store.store import Store, default_store, run_paths, signature
from pages.views.common.text import moment

V = TypeVar("V")


class Shelf(Generic[V]):
    """At most ``size`` values by key, the least recently used dropped first; safe between threads.

    Args:
        leave: told of each value that is dropped, for what somebody may still hold.
    """

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


class _Cached(Protocol):
    def clear(self) -> None: ...


C = TypeVar("C", bound=_Cached)
_OF_RUNS: list[_Cached] = []


def of_runs(cached: C) -> C:
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
    return worst_findings(
        store(files),
        view(files, scope),
        families=families(files, scope, margin),
        margin=margin,
        least=least,
        accepted=accepted_words(files, scope),
    )


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
    """Noise band of single pairs of the evaluator whose fingerprint has a key; None where no run tells it.

    Of the usual scope of those runs alone that made invisible edits under it; fewer than SURE of them tell nothing.
    """
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
    """Counts beside every value of every filter; see ``core.analysis.facets.facets``."""
    return facets(scores(files, scope), chosen)


@st.cache_data(hash_funcs=KEYED, max_entries=8, show_spinner=False)
def known_values(files: Signature, scope: Narrowed) -> dict[str, tuple[str, ...]]:
    """Values that each choice of a slice can take in a scope.

    ``judged`` is not empty where people judged pairs, ``tied`` where some item's label has two categories.
    """
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
    return pd.DataFrame([_row(run) for run in runs])


def evaluator_names(runs: tuple[Run, ...]) -> tuple[str, ...]:
    """Evaluators of all runs, sorted."""
    return tuple(sorted({name for run in runs for name in _evaluators(run)}))


def _evaluators(run: Run) -> list[str]:
    listed = run.manifest.get("evaluators")
    entries = listed if isinstance(listed, list) else []
    return [str(each["name"]) for each in entries if isinstance(each, dict) and "name" in each]


def _row(run: Run) -> dict[str, Any]:
    counts, corpus = run.manifest["counts"], run.manifest["corpus"]
    probes = run.manifest.get("probes")
    return {
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


def opens_on(files: Signature) -> Scope:
    """The scope on which Start opens by itself: one that holds both halves of the question, if any does."""
    both = Scope(directional=True)
    try:
        return Scope() if lack(view(files, narrowed(files, both).only())) else both
    except InvariscopeError:
        return Scope()

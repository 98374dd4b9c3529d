"""The runs that the pages read: one store for all sessions, opened again when a file behind it changes."""

import hashlib
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.facets import facets
from core.analysis.overview import card_risks, fairness_card, family_contrasts, worst_findings
from core.analysis.slices import CHOICES, Slice, judged
from core.audit.manifest import Run
from core.audit.store import Store, default_store, run_paths, signature
from core.human.ratings import verdicts
from core.human.studies import list_studies, studies_dir

Signature = str
"""Digest of the files behind the store: every cache hashes it anew, thousands of paths would cost more than a query."""


def present() -> Signature:
    """What the store depends on now; empty where there is no run."""
    files = signature(run_paths())
    return hashlib.sha256(repr((files, _votes(studies_dir()))).encode()).hexdigest() if files else ""


# Looked at twice a minute: while people vote, not every vote opens the store anew.
@st.cache_data(ttl=30, show_spinner=False)
def _votes(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """The studies' logs: the store holds people's verdicts too."""
    return signature(folder.glob("*/log.jsonl"))


# An old store is not closed but let go of: a session in the middle of its page may still ask it.
@st.cache_resource(max_entries=2, show_spinner="Opening the runs …", validate=lambda opened: not opened.outdated())
def store(files: Signature) -> Store:
    """Return the store over exactly these files."""
    return default_store(verdicts=verdicts(list_studies()[0]))


@st.cache_data(max_entries=4, show_spinner="Computing the fairness card …")
def card(files: Signature) -> pd.DataFrame:
    """Fairness card of these runs; see ``core.analysis.overview.fairness_card``."""
    return fairness_card(store(files), families=families(files))


@st.cache_data(max_entries=4, show_spinner="Computing the contrasts …")
def families(files: Signature) -> pd.DataFrame:
    """Contrast of every family in these runs; see ``core.analysis.overview.family_contrasts``."""
    return family_contrasts(store(files))


@st.cache_data(max_entries=4, show_spinner="Computing the flip risks …")
def risks(files: Signature) -> pd.DataFrame:
    """Flip risk of the families on the fairness card; see ``core.analysis.overview.card_risks``."""
    return card_risks(store(files), card(files))


@st.cache_data(max_entries=4, show_spinner="Looking for the worst findings …")
def findings(files: Signature) -> pd.DataFrame:
    """Worst three findings of these runs; see ``core.analysis.overview.worst_findings``."""
    return worst_findings(store(files), families=families(files))


@st.cache_data(max_entries=256, show_spinner=False)
def facet_counts(files: Signature, chosen: Slice) -> dict[str, dict[str, int]]:
    """Counts beside every value of every filter; see ``core.analysis.facets.facets``."""
    return facets(store(files), chosen)


@st.cache_data(max_entries=4, show_spinner=False)
def known_values(files: Signature) -> dict[str, tuple[str, ...]]:
    """Values that each choice of a slice can take in these runs; ``judged`` is not empty where people judged pairs."""
    counts = facet_counts(files, Slice(controls=True))
    return {name: tuple(counts[name]) for name in CHOICES} | {"judged": ("yes",) if judged(store(files)) else ()}


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
        "status": run.status,
        "corpus": str(corpus.get("name", "—")),
        "items": counts.get("items_kept"),
        "left_out": counts.get("items_rejected"),
        "evaluators": ", ".join(_evaluators(run)) or "—",
        "probes": len(probes) if isinstance(probes, list) else None,
        "pairs": counts.get("pairs"),
        "unscored": counts.get("scores_null"),
        "created": str(run.manifest.get("created", "—")),
    }

"""Ways from one page into another, with what the reader looks at carried along."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.analysis.failures import PAIR
from core.probes.titles import family_title, title
from core.settings import ROOT
from pages.views.common.corpora import corpus_name_of, corpus_names
from pages.views.common.runs import Signature
from pages.views.common.text import safe
from pages.views.common.url_state import carried

LAB = "pages/probe_lab.py"
FAILURES = "pages/failures.py"
CONTRAST = "pages/contrast_tests.py"
RESULTS = "pages/results.py"

_OF_TESTS = ("knob", "domain", "verified", "upheld", "bar")
"""Link parameters of Contrast tests that Failures does not have."""

_OF_SCOPE = ("run", "corpus", "subject", "language", "controls")
"""Of what a mark asks for: what its words leave out."""

_MANY = 4
"""Values of a field that the words of a link name; of more it says how many they are."""

Row = Mapping[str, Any] | pd.Series


def lab_link(row: Row, *, evaluators: Sequence[str] = (), files: Signature | None = None) -> dict[str, str]:
    """Link parameters that open one shift in the Probe lab: its corpus, item, caption, probe and evaluators.

    Args:
        row: has run, corpus, item, probe, subject and evaluator; and axis: the lab always scores the null probes.
        evaluators: to show instead of the row's own.
        files: see :func:`pages.views.common.corpora.corpus_origins`.
    """
    probes = "" if row["axis"] == "null" else row["probe"]
    link = {"item": row["item"], "probes": probes, "evaluators": ",".join(evaluators) or row["evaluator"]}
    corpus = corpus_name_of(row["run"], row["corpus"], files) or row["corpus"]
    if corpus != corpus_names(files)[0]:
        link = {"corpus": corpus, **link}
    return link | ({"subject": "human"} if row["subject"] == "human" else {})


def is_listed(page: str) -> bool:
    """Whether this session has a page, by its file: viewers have none that starts audits, stories name former ones.

    A way to a page that is not listed is a fault to Streamlit.
    """
    context = get_script_run_ctx()
    listed = context.pages_manager.get_pages().values() if context else ()
    return any(Path(each["script_path"]) == ROOT / page for each in listed)


def failures_link(row: Row) -> dict[str, str]:
    """Link parameters that open a finding in Failures: its family under its evaluator, and its pair if it names one.

    The rest of the scope comes along.

    Args:
        row: has family and evaluator; where it also has run, corpus, item, subject and probe, their record is opened.
    """
    link = carried() | {"families": str(row["family"]), "evaluators": str(row["evaluator"])}
    return link | ({"record": record_text(row)} if all(name in row for name in PAIR) else {})


def pairs_behind(opens: str, *, chosen: Mapping[str, str], scope: Mapping[str, str]) -> None:
    """Draw the ways to what a mark that was clicked stands for: pairs of harmless edits, the comparisons of a test.

    Args:
        opens: of the mark; see ``core.analysis.questions.columns.opening``.
        chosen: link parameters of what the reader chose beside it; where both name one, the mark's holds.
        scope: likewise of whose scores the mark is, where Failures would usually show others.
    """
    asked = json.loads(opens)
    if test := asked.pop("test", ""):
        of = asked["evaluators"]
        said = safe(f"{of} · {family_title(test)}")
        st.page_link(CONTRAST, label=f"Open this test, its worst failures below: {said}",
                     icon=":material/rule:",
                     query_params=carried() | dict(chosen) | {"corpus": asked["corpus"], "test": test, "of": of},
                     )  # fmt: skip
    told = {name: text for name, text in asked.items() if name not in _OF_SCOPE}
    if test and set(told) == {"evaluators"}:
        return
    named = safe(" · ".join(_named(name, text) for name, text in told.items()))
    known = {name: text for name, text in chosen.items() if name not in _OF_TESTS}
    st.page_link(FAILURES, label=f"Open these pairs: {named}", icon=":material/photo_library:",
                 query_params=carried() | dict(scope) | known | asked)  # fmt: skip


def _named(field: str, text: str) -> str:
    """What a link asks of a field, in words; many values are counted."""
    called, values = {"families": family_title, "probes": title}.get(field, str), text.split(",")
    if len(values) > _MANY:
        return f"{len(values)} {field.replace('_', ' ')}"
    return ", ".join(map(called, values))


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

"""What the page Run an audit remembers in its link, and what it reads once for all sessions."""

from pathlib import Path

import streamlit as st

from core.audit.machine import cores
from core.audit.plan import SUBJECT_CHOICES
from core.corpora import registry as corpora
from core.corpora.schema import Corpus
from core.errors import InvalidInput, InvariscopeError
from core.jobs.request import AuditRequest, check_folder, short_patterns
from core.probes import registry as probes
from core.probes.caption_labels import labelled
from core.store.manifest import check_run_id
from pages.views.common.linked_paths import options_of_link, paths_of_link
from pages.views.common.url_state import Field, PageState, joined, one_of, some_of
from pages.views.probe_lab.state import default_evaluators, ready_evaluators

CLUSTER = "run.cluster"
"""Session key of the cluster's address: not in the link, for the server speaks to whatever it names."""

FILES = "run.files"
"""Session key of the evaluators by path: not in the link, for naming a file runs it."""


CORPUS_FILE, PROBE_FILES = "run.corpus_file", "run.probe_files"
"""Session keys of a corpus and of probes by path, which are not in the link either."""


class RunState(PageState):
    """The page's fields, and what is named by path."""

    def reset(self) -> None:
        """Set everything to its default; a callback."""
        PageState.reset(self)
        for key in (FILES, CORPUS_FILE, PROBE_FILES, CLUSTER):
            st.session_state[key] = ""


def run_state() -> PageState:
    """Return the page's fields, with the defaults of this machine."""
    return RunState(
        "run",
        (
            Field("corpus", "demo", one_of(corpus_loaders, "demo", what="corpus")),
            Field("root", "", paths_of_link(limit=500)),
            Field("options", "", options_of_link(limit=300)),
            Field("subject", "template", one_of(lambda: tuple(SUBJECT_CHOICES), "template", what="subject caption")),
            Field("evaluators", default_evaluators(), some_of(ready_evaluators, what="ready evaluator"), joined),
            Field("probes", usual_probes(), _read_probes, lambda names: ",".join(short_patterns(names))),
            Field("limit", None, _read_limit),
            Field("sample", None, _read_limit),
            Field("run_id", "", _read_run_id),
            Field("workers", 1, _read_workers),
        ),
    )


def corpus_loaders() -> tuple[str, ...]:
    """Every corpus that can be read, the demo first, a plain folder second."""
    order = ("demo", "folder")
    return tuple(sorted(corpora.catalogue().names(), key=lambda name: (*(name != each for each in order), name)))


def usual_probes() -> list[str]:
    """Names of the usual probes, in catalogue order."""
    return [probe.name for probe in probes.select(["default"])]


def read_corpus(request: AuditRequest) -> Corpus:
    """Read a request's corpus, once for all sessions while its folder does not change.

    Raises:
        InvariscopeError: if the folder or an option cannot be used.
    """
    folder = None if request.root is None else check_folder(request.root)
    return _read_corpus(request.corpus, folder, tuple(request.options.items()), _changed(folder))


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


def _read_limit(raw: str) -> tuple[int | None, str]:
    if raw.isascii() and raw.isdigit() and 1 <= int(raw[:10]) <= 10**9:
        return int(raw), ""
    return None, f"The number of items must be a whole number from 1, got {raw[:40]!r}; all are taken instead."


def _read_workers(raw: str) -> tuple[int, str]:
    if raw.isascii() and raw.isdigit() and 1 <= int(raw[:10]) <= cores():
        return int(raw), ""
    return 1, f"This machine takes 1 to {cores()} workers, got {raw[:40]!r}; one is taken."


def _read_run_id(raw: str) -> tuple[str, str]:
    try:
        return check_run_id(raw), ""
    except InvalidInput as error:
        return "", f"{str(error)[:200]}."

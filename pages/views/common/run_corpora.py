"""The corpora that the pages can show pictures of: by name, and as each run read its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from core.corpora import registry as corpora
from core.corpora.schema import Corpus, Origin
from core.errors import InvariscopeError, NotAvailable
from core.probes.words.natural_captions import read_again
from core.settings import data_dir
from core.store.run_files import Run, list_runs
from core.store.run_sources import origin_of_run
from pages.views.common.open_runs import Signature, present, store


@dataclass(frozen=True, slots=True)
class Here:
    """What can be read here."""

    origins: Mapping[str, Origin]  # name -> what reads it, the demo first
    of_run: Mapping[str, str]  # run -> the name under which its corpus stands there


def corpus_origins(files: Signature | None = None) -> Mapping[str, Origin]:
    """Corpora that can be read here by their names, and how, the demo first.

    A corpus that needs a folder is looked for in ``data/corpora/<name>``, then where a run read it, the newest first.
    One that a run read otherwise, from another folder or with other options, has its own name: ``coco of RUN``.

    Args:
        files: what :func:`pages.views.common.open_runs.present` told the page; None: the runs are looked at again,
            every shard of them.
    """
    return _here(present() if files is None else files).origins


def corpus_name_of(run: str, corpus: str, files: Signature | None = None) -> str | None:
    """The name under which the corpus of a run can be read here; None where it cannot.

    Args:
        run: its id.
        corpus: what the run calls its corpus; for a run that is not open.
        files: see :func:`corpus_origins`.
    """
    here = _here(present() if files is None else files)
    return here.of_run.get(run, corpus if corpus in here.origins and run not in here.of_run else None)


def corpus_holding(corpus: str, item: str) -> str:
    """The name of a corpus that holds an item, of those that are the named one, as any run read it; else that name."""
    alike = [name for name in corpus_origins() if name == corpus or name.startswith(f"{corpus} of ")]
    return next((name for name in alike if item in item_ids(name)), corpus)


@st.cache_data(show_spinner=False, max_entries=2, ttl=30)
def _here(files: Signature) -> Here:
    known = {loader.name: loader for loader in sorted(corpora.catalogue(), key=lambda each: each.name != "demo")}
    found = {name: Origin(name) for name, loader in known.items() if not loader.needs_root}
    for name in sorted(known.keys() - found.keys()):
        if (folder := data_dir() / "corpora" / name).is_dir():
            found[name] = Origin(name, folder)
    of_run = dict[str, str]()
    for run in sorted(_runs(files), key=lambda each: str(each.manifest.get("created")), reverse=True):
        try:
            origin = origin_of_run(run)
        except NotAvailable:
            continue
        name = str(run.manifest["corpus"].get("name"))
        alike = (each for each, other in found.items() if other == origin)
        of_run[run.id] = next(alike, name if name not in found else f"{name} of {run.id}")
        found.setdefault(of_run[run.id], origin)
    return Here(found, of_run)


def _runs(files: Signature) -> tuple[Run, ...]:
    try:
        return store(files).runs() if files else ()
    except InvariscopeError:
        return list_runs()


def corpus_names(files: Signature | None = None) -> tuple[str, ...]:
    """Corpora that can be read here, the demo first; ``files`` as of :func:`corpus_origins`."""
    return tuple(corpus_origins(files))


def load_corpus(name: str) -> Corpus:
    """Read a corpus once for all sessions.

    Raises:
        InvariscopeError: if it cannot be read.
    """
    return _load(Origin(name) if ships(name) else corpus_origins().get(name) or Origin(name))


def ships(name: str) -> bool:
    """Whether a corpus of that name needs no folder: then no run can have read another one by the name."""
    known = corpora.catalogue()
    return name in known and not known.get(name).needs_root


def load_corpus_of(run: Run) -> Corpus:
    """Read the corpus of a run as the run read it, once for all sessions.

    Raises:
        InvariscopeError: if it cannot be read here.
    """
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

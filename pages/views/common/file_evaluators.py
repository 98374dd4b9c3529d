"""Evaluators of files that stored runs were given by path: an operator scores with them by their names.

The server imports no such file: what a page scores with one is scored in a process of its own. Viewers see their stored
scores alone. A link may name one whose file is, byte for byte, the one that the run was made with.
"""

from collections.abc import Sequence

import streamlit as st

from core.evaluators import registry
from core.store import run_sources as stored
from core.store.run_sources import OwnMetric
from pages.views.common.access import may_operate
from pages.views.common.caches import KEYED
from pages.views.common.open_runs import Signature, present, store

Stamps = tuple[tuple[str, str], ...]
"""Evaluators by path: name and digest of the file of each."""


def own_metrics() -> dict[str, OwnMetric]:
    """Those of this data folder's runs by name, for an operator; each says whether it can still be asked."""
    files = present()
    return _told(files) if files and may_operate() else {}


@st.cache_data(hash_funcs=KEYED, max_entries=4, show_spinner=False)
def _told(files: Signature) -> dict[str, OwnMetric]:
    folders = (run for run in store(files).runs() if run.path.is_dir())  # a published file is from elsewhere
    found = stored.own_metrics(folders)
    return {name: each for name, each in found.items() if name not in registry.catalogue()}


def own_ready() -> tuple[str, ...]:
    """Names of those that can be asked; from now on this server finds them by these."""
    able = {name: each for name, each in own_metrics().items() if not each.problem}
    for name, each in able.items():
        registry.know(name, each.reference)
    return tuple(able)


def own_of_links() -> tuple[str, ...]:
    """Names that a link may hold: of files that are known to be unchanged since the operator audited with them."""
    able, told = own_ready(), own_metrics()
    return tuple(name for name in able if told[name].sha256 is not None)


def problems() -> dict[str, str]:
    """Name -> why it cannot be asked any more, for an operator."""
    return {name: said for name, each in own_metrics().items() if (said := each.problem)}


def stamps(names: Sequence[str]) -> Stamps:
    """(name, digest of its file) of those among some evaluators: what is kept of their scores is of these files."""
    told = own_metrics()
    return tuple((name, stored.file_sha256(told[name].path)) for name in names if name in told)


def barred_encoders() -> dict[str, str]:
    """Name -> why its text encoder cannot be asked, in words about the file; for whoever looks."""
    files = present()
    told = _told(files) if files else {}
    return {name: said for name, each in told.items() if (said := _barred(each))}


def _barred(metric: OwnMetric) -> str:
    if metric.text_encoder is False:
        return "it was given by path and has no text encoder: it scores a pair at once"
    if not may_operate():
        return "it was given by path, and only the operator has its file asked"
    return metric.problem

"""Answers of the results, worked out once for each slice and shared by all sessions."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from core.analysis.people.baseline import with_baseline, with_people
from core.analysis.questions import Options, Question, catalogue
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.human.studies import list_studies
from pages.views.common.keys import KEYED
from pages.views.common.runs import Signature, scores, view

_KEPT = 256
"""Answers, tables of a few hundred rows, that are kept."""


@st.cache_resource(hash_funcs=KEYED, max_entries=4, show_spinner=False)
def questions(files: Signature, scope: Narrowed) -> Mapping[str, Question]:
    """Every question to the scores of a scope, by id; see ``core.analysis.questions.catalogue``."""
    return {each.id: each for each in catalogue(scores(files, scope))}


def people_beside(
    files: Signature, scope: Narrowed, chosen: Slice, options: Options, means: pd.DataFrame
) -> pd.DataFrame:
    """Means of both sides with people's ratings below; see :func:`core.analysis.people.baseline.with_people`."""
    # without a study nothing is added: looking for one costs less than the key of the means
    return _people_beside(files, scope, chosen, options, means) if list_studies()[0] else means


# The key names the studies' logs too: a vote makes it another.
@st.cache_data(hash_funcs=KEYED, max_entries=16, show_spinner=False)
def _people_beside(
    files: Signature, scope: Narrowed, chosen: Slice, options: Options, means: pd.DataFrame
) -> pd.DataFrame:
    return with_people(means, view(files, scope, chosen), list_studies()[0], known=options.known)


def baseline_beside(
    files: Signature, scope: Narrowed, chosen: Slice, options: Options, rates: pd.DataFrame
) -> pd.DataFrame:
    """Failure rates with how often people fail; see :func:`core.analysis.people.baseline.with_baseline`."""
    return _baseline_beside(files, scope, chosen, options, rates) if list_studies()[0] else rates


@st.cache_data(hash_funcs=KEYED, max_entries=16, show_spinner=False)
def _baseline_beside(
    files: Signature, scope: Narrowed, chosen: Slice, options: Options, rates: pd.DataFrame
) -> pd.DataFrame:
    return with_baseline(rates, view(files, scope, chosen), list_studies()[0], known=options.known)


def answer(files: Signature, scope: Narrowed, chosen: Slice, id_: str, options: Options) -> pd.DataFrame:
    """The answer to one question about what a slice leaves of a scope: the frame that a report writes of it."""
    return _answer(files, scope, questions(files, scope)[id_].read(chosen), id_, options)


@st.cache_data(hash_funcs=KEYED, max_entries=_KEPT, show_spinner="Working it out …")
def _answer(files: Signature, scope: Narrowed, chosen: Slice, id_: str, options: Options) -> pd.DataFrame:
    return questions(files, scope)[id_].compute(view(files, scope, chosen), options)

"""Failure rates as the page shows them, each part as deep as it is shown, and the whole of them for its files.

A cell of the matrix says how often a test fails, its row in the table much more, one test in depth nearly all. No part
shows how far the drop of means may lie, whose intervals take most of the time: whoever asks for a file gets them with
all else.
"""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from core.analysis.questions import Options
from core.analysis.questions.directional import in_depth, matrix
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from pages.views.common.caches import KEYED
from pages.views.common.open_runs import Signature, view

NUMBERS = "contrast.numbers"
"""Key of the table behind the matrix, where it is folded; in the session, whether it is open."""


def cells(files: Signature, scope: Narrowed, chosen: Slice, options: Options) -> pd.DataFrame:
    """What the cells of the matrix say of the answer to :data:`core.analysis.questions.directional.RATES`.

    Where the table is open its rows are asked for in any case, and say the same.
    """
    return (shown if st.session_state.get(NUMBERS) else _cells)(files, scope, chosen, options)


@st.cache_data(hash_funcs=KEYED, max_entries=64, show_spinner="Working it out …")
def _cells(files: Signature, scope: Narrowed, chosen: Slice, options: Options) -> pd.DataFrame:
    return matrix(view(files, scope, chosen), options, depth="cells")


@st.cache_data(hash_funcs=KEYED, max_entries=64, show_spinner="Working it out …")
def of_test(files: Signature, scope: Narrowed, chosen: Slice, options: Options, family: str) -> pd.DataFrame:
    """One test; see :func:`core.analysis.questions.directional.in_depth`."""
    return in_depth(view(files, scope, chosen), options, family)


@st.cache_data(hash_funcs=KEYED, max_entries=64, show_spinner="Working it out …")
def shown(files: Signature, scope: Narrowed, chosen: Slice, options: Options) -> pd.DataFrame:
    """The whole answer but for the intervals of the drops."""
    return matrix(view(files, scope, chosen), options, depth="rows")


def whole(files: Signature, scope: Narrowed, chosen: Slice, options: Options) -> Callable[[], pd.DataFrame]:
    """What makes the answer with the intervals of the drops."""
    seen = view(files, scope, chosen)
    return lambda: matrix(seen, options)

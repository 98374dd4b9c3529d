"""Failure rates as the page shows them, and the whole of them for its files.

No cell of the matrix shows how far the drop of means may lie, and drawing those intervals takes most of the time: the
page leaves them out, and whoever asks for a file gets them with all else.
"""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from core.analysis.questions import Options
from core.analysis.questions.directional import matrix
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from pages.views.common.keys import KEYED
from pages.views.common.runs import Signature
from pages.views.results.data import seen


@st.cache_data(hash_funcs=KEYED, max_entries=64, show_spinner="Working it out …")
def shown(files: Signature, scope: Narrowed, chosen: Slice, options: Options) -> pd.DataFrame:
    """The answer to :data:`core.analysis.questions.directional.RATES` but for the intervals of the drops."""
    return matrix(seen(files, scope, chosen), options, drops=False)


def whole(files: Signature, scope: Narrowed, chosen: Slice, options: Options) -> Callable[[], pd.DataFrame]:
    """What makes the answer with the intervals of the drops."""
    view = seen(files, scope, chosen)
    return lambda: matrix(view, options)

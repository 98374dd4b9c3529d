"""Human-labelled caption suites, as their publishers lay them out; the files are brought by the reader.

It imports :mod:`core.corpora` alone. Start at :mod:`core.corpora.suites.model` for what a suite is, and at
:mod:`core.corpora.suites.suite_files` for how a file becomes one.
"""

from core.corpora.suites.model import (
    ACCURACY,
    ENGLISH,
    PUBLISHED,
    TAU_B,
    TAU_B_RATERS,
    TAU_C,
    Compared,
    Decision,
    Rated,
    Sentence,
    Suite,
    only_images,
    with_references,
)
from core.corpora.suites.suite_files import read_suite, read_suites, with_companions, without_companions

__all__ = [
    "ACCURACY",
    "ENGLISH",
    "PUBLISHED",
    "TAU_B",
    "TAU_B_RATERS",
    "TAU_C",
    "Compared",
    "Decision",
    "Rated",
    "Sentence",
    "Suite",
    "only_images",
    "read_suite",
    "read_suites",
    "with_companions",
    "with_references",
    "without_companions",
]

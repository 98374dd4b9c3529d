"""Human-labelled caption suites, as their publishers lay them out; the files are brought by the reader.

It imports :mod:`core.corpora` alone. Start at :mod:`core.corpora.suites.model` for what a suite is, and at
:mod:`core.corpora.suites.suite_files` for how a file becomes one.
"""

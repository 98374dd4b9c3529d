"""Audits: a plan of what will be scored, its variants, the run that scores them and the record that it leaves.

It may import the corpora, probes, evaluators and the store's schema, and nothing that reads results or draws them.
Start at :mod:`core.audit.request`, then :mod:`core.audit.plan` and :mod:`core.audit.run`; :mod:`core.audit.export`
writes the same pairs out for a metric that runs elsewhere, :mod:`core.audit.imports` reads its scores back.
"""

__all__ = ["estimate", "export", "imports", "plan", "request", "run"]

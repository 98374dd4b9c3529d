"""The commands of ``python -m core`` and ``invariscope``, one file a command.

They may import every room, like the pages, and do so inside the functions, so that ``--help`` is quick.
Start at :mod:`core.commands.audit`; what all share is in :mod:`core.commands._shared`.
"""

__all__ = ["app", "audit", "corpora", "doctor", "evaluators", "export_pairs", "import_scores", "jobs", "probes"]
__all__ += ["publish", "regions", "report", "runs", "score", "verify"]

"""Audits that outlive the browser, the server and their own worker: a job is a folder, one runs, the others wait.

It may import the audit, whose command it starts as its own process.
Start at :mod:`core.jobs.job_queue`, which holds the worker too.
"""

__all__ = ["job_queue", "request"]

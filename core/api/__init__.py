"""Audits from Python, as a notebook calls them: ``import invariscope`` offers what stands here.

It may import every room but the commands, which stand beside the pages at the right end.
Start at :mod:`core.api.auditing`; what a run answers is in :mod:`core.api.opened_run`.
"""

__all__ = ["auditing", "opened_run", "progress_lines"]

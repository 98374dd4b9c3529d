"""The whole report of any runs: tables and figures as data, and writers for Markdown, HTML and LaTeX.

It may import every other room, for it is the last of them; pages and commands ask it and it asks neither.
Start at :mod:`core.report.build`.
"""

__all__ = ["build", "document", "fairness_card", "html", "report_files"]

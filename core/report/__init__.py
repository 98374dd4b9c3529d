"""The whole report of any runs: tables and figures as data, and writers for Markdown, HTML and LaTeX."""

"""Views of the page Findings, Pictures."""

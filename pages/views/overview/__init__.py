"""Views of the page Findings."""

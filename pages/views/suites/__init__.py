"""Views of the page Suites."""

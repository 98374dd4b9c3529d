"""Views of the page Failures."""

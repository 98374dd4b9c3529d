"""Views of the page Contrast tests."""

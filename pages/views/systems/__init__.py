"""Views of the page Systems."""

"""Views of the page Results."""

"""Views of the page Video."""

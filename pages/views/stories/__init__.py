"""Views of the page Stories."""

"""Views of the page People."""

"""Views of the page Compare."""

"""Views of the page Run audit."""

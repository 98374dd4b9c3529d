"""Views of the page Try a picture."""

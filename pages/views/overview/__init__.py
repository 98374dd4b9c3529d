"""Views of the page Overview."""

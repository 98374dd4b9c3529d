"""Views of the page Human validation."""

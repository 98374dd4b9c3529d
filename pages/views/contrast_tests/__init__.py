"""Views of the page Does it notice?."""

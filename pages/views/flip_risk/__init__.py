"""Views of the page Flip risk."""

"""Views of the page Calibrate."""

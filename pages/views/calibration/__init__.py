"""Views of the page Calibration."""

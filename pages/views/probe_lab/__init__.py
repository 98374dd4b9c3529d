"""Views of the page Probe lab."""

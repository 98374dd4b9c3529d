"""Views of the page Geometry."""

"""Figures: pure functions from a table to a plotly figure."""

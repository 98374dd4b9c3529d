"""Figures: pure functions from a table to a figure, and the two ways to draw one.

A function such as ``lab_figures.shift_bars`` makes a :class:`core.charts.spec.Figure`: data, axes, panels, no pixels.
``interactive.plot`` draws it for a page, ``still.drawing`` for paper; ``panels`` places the marks for both.
It may import nothing but the foundation. Start at :mod:`core.charts.spec`.
"""

__all__ = ["interactive", "panels", "spec", "still"]

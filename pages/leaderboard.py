"""Leaderboard: captioners in their order, and how easily it turns over."""

from pages.views.common.entry import draw_entry

draw_entry("leaderboard")

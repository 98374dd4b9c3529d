"""Leaderboard: captioners in their order, and how easily it turns over."""

from pages.views.common.page_head import draw_entry

draw_entry("leaderboard")

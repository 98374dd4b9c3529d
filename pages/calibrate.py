"""Calibrate: less of the unwanted change, and what it costs."""

from pages.views.common.page_head import draw_entry

draw_entry("calibrate")

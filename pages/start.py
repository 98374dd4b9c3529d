"""Start: what this is, what it found, and where to begin."""

from pages.views.common.page_head import draw_entry

draw_entry("start")

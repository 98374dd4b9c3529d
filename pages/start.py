"""Start: what this is, what it found, and where to begin."""

from pages.views.common.entry import draw_entry

draw_entry("start")

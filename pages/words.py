"""Words: what the coined words mean."""

from pages.views.common.entry import draw_entry

draw_entry("words")

"""Words: what the coined words mean."""

from pages.views.common.page_head import draw_entry

draw_entry("words")

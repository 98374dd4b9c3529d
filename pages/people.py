"""People: studies in which people judge edited pairs."""

from pages.views.common.page_head import draw_entry

draw_entry("people")

"""People: studies in which people judge edited pairs."""

from pages.views.common.entry import draw_entry

draw_entry("people")

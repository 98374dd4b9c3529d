"""Does it notice?: whether a score falls where the meaning breaks, and agrees with people."""

from pages.views.common.page_head import draw_entry

draw_entry("does_it_notice")

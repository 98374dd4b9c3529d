"""Try a picture: one picture or video, its edits, every score, now."""

from pages.views.common.page_head import draw_entry

draw_entry("try_a_picture")

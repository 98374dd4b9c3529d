"""Stories: what was collected, in order, to be shown and handed on."""

from pages.views.common.page_head import draw_entry

draw_entry("stories")

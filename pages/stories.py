"""Stories: what was collected, in order, to be shown and handed on."""

from pages.views.common.entry import draw_entry

draw_entry("stories")

"""Findings: what the runs say, as figures, as pictures, and one side beside another."""

from pages.views.common.page_head import draw_entry

draw_entry("findings")

"""Runs: the audits on this machine, and a new one."""

from pages.views.common.page_head import draw_entry

draw_entry("runs")

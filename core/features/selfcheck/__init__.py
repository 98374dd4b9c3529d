"""Selfcheck: what it hands to the trunk."""

from core.features.feature import Command, Feature, Part, View

TOLD = "a report's methods hold one line of it; the command selfcheck prints all"
PARTS = (Part("planted", name="Self-check", reason=TOLD),)
CODE = "core.features.selfcheck.selfcheck_command:selfcheck"
FEATURE = Feature(
    name="selfcheck",
    summary="What this tool finds of planted evaluators at the n at hand: detection, false alarms, the smallest fall.",
    views=(View("selfcheck", "Self-check", "pages.views.selfcheck_view:draw", entry="runs", place=30, parts=PARTS),),
    commands=(Command("selfcheck", CODE, "Say what this tool would find at this n, by planted evaluators.", place=75),),
    methods=("core.features.selfcheck.detection:methods_line",),
)

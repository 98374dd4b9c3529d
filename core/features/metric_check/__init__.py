"""Metric check: what it hands to the trunk."""

from core.features.feature import Command, Feature, JobKind, Part, View

PARTS = (
    Part("tests", ("section:contrast",)),
    Part("selectivity", ("section:selectivity",)),
    Part("tables", ("section:contrast",)),
    Part("failures", name="Worst failures", reason="single comparisons with their pictures are on the page"),
)
DRAWN = "pages.views.contrast_tests.contrast_view:draw"
CODE = "core.features.metric_check.check_command:check"
FEATURE = Feature(
    name="metric_check",
    summary="Whether a metric drops where the meaning breaks: contrast tests, and the check of one's own metric.",
    views=(View("contrast_tests", "Contrast tests", DRAWN, entry="does_it_notice", place=10, parts=PARTS),),
    commands=(Command("check", CODE, "Test your own metric; the exit code says whether it passed.", place=70),),
    jobs=(JobKind("check", "core.jobs.command_jobs:CheckRequest"),),
)

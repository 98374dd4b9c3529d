"""Suites: what it hands to the trunk."""

from core.features.feature import Command, Feature, JobKind, Part, View

TOLD = "they are brought to Does it notice?, Suites, which keeps what they reach"
PARTS = (
    Part("reached", ("C9", "C10", "C11", "C12", "S-caparena", "S-two-pictures")),
    Part("calibrated", ("T17",)),
    Part("risks", ("S-suite-risks",)),
    Part("captioners", ("S-suite-ranks",)),
    Part("decisions", ("S-suite-decisions",)),
    Part("upload", name="Scores held to a suite", reason=TOLD),
)
HELD, PRINTED = "core.features.suites.suite_command:suite", "core.features.suites.reproduce_command:reproduce"
FEATURE = Feature(
    name="suites",
    summary="How far an evaluator agrees with people's judgements of captions.",
    views=(View("suites", "Suites", "pages.views.suites_view:draw", entry="does_it_notice", place=20, parts=PARTS),),
    commands=(
        Command("suite", HELD, "Hold an evaluator to people's judgements of captions.", place=60),
        Command(
            "reproduce", PRINTED, "List what papers print of metrics on suites, beside what was reached here.", place=65
        ),
    ),
    jobs=(JobKind("suite", "core.jobs.command_jobs:SuiteRequest"),),
)

"""Compare: what it hands to the trunk."""

from core.features.feature import Command, Feature, Part, View

FEATURE = Feature(
    name="compare",
    summary="Two sides of the same scores beside each other.",
    views=(
        View(
            "compare",
            "Compare",
            "pages.views.compare_view:draw",
            entry="findings",
            place=30,
            parts=(
                Part(
                    "sides", name="Compare", reason="which two sides are held against each other is a reader's choice"
                ),
            ),
        ),
    ),
    commands=(
        Command(
            "compare",
            "core.features.compare.compare_command:compare",
            "Hold two runs, evaluators, slices or files of scores against each other.",
            place=85,
        ),
    ),
)

"""Compare: what it hands to the trunk."""

from core.features.feature import Command, Feature, Part, View

PARTS = (Part("sides", name="Compare", reason="which two sides are held against each other is a reader's choice"),)
CODE = "core.features.compare.compare_command:compare"
FEATURE = Feature(
    name="compare",
    summary="Two sides of the same scores beside each other.",
    views=(View("compare", "Compare", "pages.views.compare_view:draw", entry="findings", place=30, parts=PARTS),),
    commands=(
        Command("compare", CODE, "Hold two runs, evaluators, slices or files of scores against each other.", place=85),
    ),
)

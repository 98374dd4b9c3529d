"""Compare: what it hands to the trunk."""

from core.features.feature import Feature, Part, View

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
)

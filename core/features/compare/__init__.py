"""Compare: what it hands to the trunk."""

from core.features.feature import Feature, Page, Part

FEATURE = Feature(
    name="compare",
    summary="Two sides of the same scores beside each other.",
    pages=(
        Page(
            file="pages/compare.py",
            title="Compare",
            icon=":material/compare_arrows:",
            section="Explore",
            place=50,
            parts=(
                Part(
                    "sides", name="Compare", reason="which two sides are held against each other is a reader's choice"
                ),
            ),
        ),
    ),
)

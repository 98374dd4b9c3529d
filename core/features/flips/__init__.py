"""Flip risk: what it hands to the trunk."""

from core.features.feature import Feature, Part, QuestionMaker, View

FEATURE = Feature(
    name="flips",
    summary="How often an edit that should not matter turns a near tie over.",
    views=(
        View(
            "flip_risk",
            "Flip risk",
            "pages.views.flip_risk.flip_risk_view:draw",
            entry="leaderboard",
            place=20,
            parts=(Part("gap", ("T13", "S10", "S-turned")),),
        ),
    ),
    questions=(
        QuestionMaker(
            "core.features.flips.flip_questions:questions", before="core.analysis.questions.families:of_slices"
        ),
    ),
)

"""Flip risk: what it hands to the trunk."""

from core.features.feature import Feature, Part, QuestionMaker, View

PARTS = (Part("gap", ("T13", "S10", "S-turned")),)
DRAWN = "pages.views.flip_risk.flip_risk_view:draw"
ASKED = "core.features.flips.flip_questions:questions"
FEATURE = Feature(
    name="flips",
    summary="How often an edit that should not matter turns a near tie over.",
    views=(View("flip_risk", "Flip risk", DRAWN, entry="leaderboard", place=20, parts=PARTS),),
    questions=(QuestionMaker(ASKED, before="core.analysis.questions.families:of_slices"),),
)

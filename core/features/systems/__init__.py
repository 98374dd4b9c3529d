"""Leaderboards of captioners: what it hands to the trunk."""

from core.features.feature import Command, Feature, Part, View

TOLD = "a run has no captions of several systems; the page Leaderboard and the command leaderboard rank files of them"
PARTS = (Part("standings", ("C13", "C14", "C15"), name="Leaderboards of captioners", reason=TOLD),)
DRAWN = "pages.views.systems.systems_view:draw"
CODE = "core.features.systems.leaderboard_command:leaderboard"
FEATURE = Feature(
    name="systems",
    summary="Captioners in their order, with what may be said of it.",
    views=(View("systems", "Systems", DRAWN, entry="leaderboard", place=10, parts=PARTS),),
    commands=(Command("leaderboard", CODE, "Rank captioners, with intervals, under harmless edits.", place=50),),
)

"""Leaderboards of captioners: what it hands to the trunk."""

from core.features.feature import Command, Feature, Page, Part

FEATURE = Feature(
    name="systems",
    summary="Captioners in their order, with what may be said of it.",
    pages=(
        Page(
            file="pages/systems.py",
            title="Systems",
            icon=":material/leaderboard:",
            section="Measure",
            place=80,
            parts=(
                Part(
                    "standings",
                    ("C13", "C14", "C15"),
                    name="Leaderboards of captioners",
                    reason=(
                        "a run holds no captions of several systems; the page Systems and the command leaderboard "
                        "rank files of them"
                    ),
                ),
            ),
        ),
    ),
    commands=(
        Command(
            "leaderboard",
            "core.features.systems.leaderboard_command:leaderboard",
            "Rank captioners, with intervals, under harmless edits.",
            place=50,
        ),
    ),
)
